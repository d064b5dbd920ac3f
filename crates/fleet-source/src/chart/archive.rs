//! A packed chart or directory → its files; and a chart → its package. Refuses paths that leave
//! the archive, links, and more than a bundle may hold.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::path;
use crate::resources::Files;

/// Most that an archive may hold, in bytes.
const MAX_BYTES: u64 = 512 << 20;
/// Most entries of an archive.
const MAX_ENTRIES: usize = 100_000;

/// Why an archive cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not what it seems.
    #[error("unpack archive")]
    Read {
        /// The cause.
        source: std::io::Error,
    },
    /// A form that is not known here.
    #[error("archives of this kind ({kind}) are not supported: use .tgz")]
    Kind {
        /// By its first bytes.
        kind: &'static str,
    },
    /// A path or link that leaves the archive.
    #[error("the archive's entry {entry:?} leaves the archive or is a link")]
    Leave {
        /// Its name.
        entry: String,
    },
    /// Too much.
    #[error("the archive holds more than {limit} {what}")]
    Exceed {
        /// How much is allowed.
        limit: u64,
        /// Of what.
        what: &'static str,
    },
}

/// The files of a (gzipped) tar archive; `None` if it is none, but a single file.
///
/// # Errors
/// A broken or hostile archive.
pub fn unpack(bytes: &[u8]) -> Result<Option<Files>, Error> {
    let kind = match bytes {
        [0x50, 0x4b, 3, 4, ..] => Some("zip"),
        [0x42, 0x5a, 0x68, ..] => Some("bzip2"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
        [0xfd, 0x37, 0x7a, 0x58, 0x5a, ..] => Some("xz"),
        _ => None,
    };
    if let Some(kind) = kind {
        return Err(Error::Kind { kind });
    }
    let plain = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        let read = MultiGzDecoder::new(bytes).take(MAX_BYTES + 1).read_to_end(&mut plain);
        if read.map_err(|source| Error::Read { source })? as u64 > MAX_BYTES {
            return Err(Error::Exceed {
                limit: MAX_BYTES,
                what: "bytes",
            });
        }
        plain
    } else {
        bytes.to_vec()
    };
    if plain.get(257..262) != Some(b"ustar") {
        return Ok(None);
    }
    let fail = |source| Error::Read { source };
    let mut files = Files::new();
    let mut total = 0;
    for entry in tar::Archive::new(plain.as_slice()).entries().map_err(fail)? {
        let mut entry = entry.map_err(fail)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        let clean = path::clean(&name);
        if !kind.is_file() || clean.starts_with('/') || clean == ".." || clean.starts_with("../") || clean == "." {
            return Err(Error::Leave { entry: name });
        }
        let mut content = Vec::new();
        total += entry.read_to_end(&mut content).map_err(fail)? as u64;
        files.insert(clean, content);
        if total > MAX_BYTES || files.len() > MAX_ENTRIES {
            return Err(Error::Exceed {
                limit: MAX_ENTRIES as u64,
                what: "files",
            });
        }
    }
    Ok(Some(files))
}

/// A gzipped tar archive of the files, the same bytes for the same files.
///
/// # Errors
/// A name that does not fit into an archive.
pub fn pack(files: &Files) -> std::io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (name, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        builder.append_data(&mut header, name, content.as_slice())?;
    }
    let mut gzip = builder.into_inner()?;
    gzip.flush()?;
    gzip.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_come_back_and_hostile_ones_are_refused() {
        let files: Files = [("a/b".to_owned(), b"x".to_vec())].into();
        assert_eq!(unpack(&pack(&files).unwrap()).unwrap(), Some(files));
        assert_eq!(unpack(b"kind: A").unwrap(), None);
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_size(0);
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_link_name("/etc/passwd").unwrap();
        builder.append_data(&mut header, "x", &b""[..]).unwrap();
        assert!(matches!(
            unpack(&builder.into_inner().unwrap()),
            Err(Error::Leave { .. })
        ));
        assert!(matches!(unpack(&[0x50, 0x4b, 3, 4]), Err(Error::Kind { kind: "zip" })));
    }
}
