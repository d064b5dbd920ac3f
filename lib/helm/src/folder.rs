//! A chart on disk, a directory or a packed one, becomes a [`Chart`]. The one module here that reads files.
//!
//! Upstream concept: Helm's loader of directories and archives. Links are followed, as Helm does, but a directory never
//! into itself; what `.helmignore` names is left out; sizes are limited.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::chart::{self, Chart};
use crate::ignore::{self, Rules};

/// Helm's limit for one file.
const MAX_FILE: u64 = 5 << 20;

/// Files a chart may have.
const MAX_FILES: usize = 20_000;

/// Why there is no chart at a path.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing, or it cannot be read.
    #[error("{action} {}", path.display())]
    Read {
        /// What was tried: `open`, `read`, `list`.
        action: &'static str,
        /// Of what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// `.helmignore` is broken.
    #[error(transparent)]
    Ignore(ignore::Error),
    /// A pipe, socket or device lies in the directory.
    #[error("cannot load irregular file {0} as it has file mode type bits set")]
    Irregular(String),
    /// A file is too large.
    #[error("chart file \"{0}\" is larger than the maximum file size {MAX_FILE}")]
    FileSize(String),
    /// Too many files.
    #[error("the directory has more than {MAX_FILES} files")]
    Count,
    /// The files are no chart.
    #[error(transparent)]
    Load(#[from] chart::Error),
}

/// Loads the chart at `path`: a directory, or a file as `helm package` writes it.
///
/// # Errors
/// It cannot be read or is no chart.
pub fn load(path: &Path) -> Result<Chart, Error> {
    let wrong = |source| Error::Read {
        action: "open",
        path: path.to_owned(),
        source,
    };
    if fs::metadata(path).map_err(wrong)?.is_dir() {
        return Ok(Chart::from_files(read(path)?)?);
    }
    Ok(Chart::from_archive(&fs::read(path).map_err(wrong)?)?)
}

/// The files of a chart's directory by their path in it.
///
/// # Errors
/// Something cannot be read, is no plain file, or is too large.
pub fn read(root: &Path) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let rules = match fs::read(root.join(".helmignore")) {
        Ok(text) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(source) => {
            return Err(Error::Read {
                action: "read",
                path: root.join(".helmignore"),
                source,
            });
        }
    };
    let mut reader = Reader {
        rules: Rules::parse(&rules).map_err(Error::Ignore)?,
        files: BTreeMap::new(),
        open: Vec::new(),
    };
    reader.directory(root, "")?;
    Ok(reader.files)
}

struct Reader {
    rules: Rules,
    files: BTreeMap<String, Vec<u8>>,
    /// The real directories on the way here: a link back to one of them would never end.
    open: Vec<PathBuf>,
}

impl Reader {
    fn directory(&mut self, directory: &Path, inside: &str) -> Result<(), Error> {
        let wrong = |source| Error::Read {
            action: "list",
            path: directory.to_owned(),
            source,
        };
        let real = fs::canonicalize(directory).map_err(wrong)?;
        if self.open.contains(&real) {
            return Ok(());
        }
        self.open.push(real);
        for entry in fs::read_dir(directory).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if inside.is_empty() {
                name
            } else {
                format!("{inside}/{name}")
            };
            self.entry(&entry.path(), name)?;
        }
        self.open.pop();
        Ok(())
    }

    fn entry(&mut self, path: &Path, name: String) -> Result<(), Error> {
        let wrong = |source| Error::Read {
            action: "read",
            path: path.to_owned(),
            source,
        };
        let about = fs::metadata(path).map_err(wrong)?;
        if self.rules.ignores(&name, about.is_dir()) {
            return Ok(());
        }
        if about.is_dir() {
            return self.directory(path, &name);
        }
        if !about.is_file() {
            return Err(Error::Irregular(name));
        }
        if about.len() > MAX_FILE {
            return Err(Error::FileSize(base(&name).to_owned()));
        }
        if self.files.len() >= MAX_FILES {
            return Err(Error::Count);
        }
        let mut data = fs::read(path).map_err(wrong)?;
        if let Some(text) = data.strip_prefix(b"\xef\xbb\xbf") {
            data = text.to_vec();
        }
        self.files.insert(name, data);
        Ok(())
    }
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
