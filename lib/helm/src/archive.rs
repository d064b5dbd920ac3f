//! A packed chart (gzip, tar) becomes a map of paths, within Helm's limits on size.
//!
//! It never follows links and refuses paths that leave the archive.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::MultiGzDecoder;

/// Helm's limit for one file.
const MAX_FILE: u64 = 5 << 20;

/// Helm's limit for all files.
const MAX_TOTAL: u64 = 100 << 20;

/// Files an archive may have.
const MAX_FILES: usize = 20_000;

/// Why an archive cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not a gzipped tar archive.
    #[error("gzip: invalid header")]
    Read(#[source] std::io::Error),
    /// A path points outside.
    #[error("chart illegally references parent directory")]
    LeavePath,
    /// A file is too large.
    #[error("decompressed chart file \"{0}\" is larger than the maximum file size {MAX_FILE}")]
    FileSize(String),
    /// All files together are too large.
    #[error("decompressed chart is larger than the maximum size {MAX_TOTAL}")]
    TotalSize,
    /// There is nothing in it.
    #[error("no files in chart archive")]
    Empty,
    /// `Chart.yaml` does not lie in a folder.
    #[error("chart yaml not in base directory")]
    Base,
}

/// Unpacks a chart; the folder at the root of the archive is taken off.
pub(crate) fn unpack(bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut files = BTreeMap::new();
    let mut total = 0u64;
    let mut archive = tar::Archive::new(MultiGzDecoder::new(bytes).take(MAX_TOTAL + (64 << 20)));
    for entry in archive.entries().map_err(Error::Read)? {
        let mut entry = entry.map_err(Error::Read)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).replace('\\', "/");
        let Some((_, inner)) = path.split_once('/') else {
            if path == "Chart.yaml" {
                return Err(Error::Base);
            }
            continue;
        };
        let parts: Vec<&str> = inner
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        if path.split('/').any(|part| part == "..") {
            return Err(Error::LeavePath);
        }
        if parts.is_empty() {
            continue;
        }
        let name = parts.join("/");
        let mut data = Vec::new();
        entry
            .by_ref()
            .take(MAX_FILE + 1)
            .read_to_end(&mut data)
            .map_err(Error::Read)?;
        if data.len() as u64 > MAX_FILE {
            return Err(Error::FileSize(name));
        }
        total += data.len() as u64;
        if total > MAX_TOTAL || files.len() >= MAX_FILES {
            return Err(Error::TotalSize);
        }
        if let Some(text) = data.strip_prefix(b"\xef\xbb\xbf") {
            data = text.to_vec();
        }
        files.insert(name, data);
    }
    if files.is_empty() { Err(Error::Empty) } else { Ok(files) }
}
