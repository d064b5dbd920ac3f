//! A chart on disk, a directory or a packed one, becomes a [`Chart`]. The one module here that reads files.
//!
//! Upstream concept: Helm's loader of directories and archives. Links are followed, as Helm does, but a directory never
//! into itself; what `.helmignore` names is left out; sizes are limited.

use std::collections::BTreeMap;
use std::fs::{self, FileType};
use std::io::Read as _;
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
    /// The directories on the way here: a link back to one of them would never end.
    open: Vec<PathBuf>,
}

impl Reader {
    fn directory(&mut self, directory: &Path, inside: &str) -> Result<(), Error> {
        let wrong = |source| Error::Read {
            action: "list",
            path: directory.to_owned(),
            source,
        };
        self.open.push(directory.to_owned());
        for entry in fs::read_dir(directory).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if inside.is_empty() {
                name
            } else {
                format!("{inside}/{name}")
            };
            self.entry(&entry.path(), entry.file_type().map_err(wrong)?, name)?;
        }
        self.open.pop();
        Ok(())
    }

    /// Takes what lies at `path`. A listing tells what it is, so that only links have to be asked about.
    fn entry(&mut self, path: &Path, listed: FileType, name: String) -> Result<(), Error> {
        let wrong = |source| Error::Read {
            action: "read",
            path: path.to_owned(),
            source,
        };
        let kind = if listed.is_symlink() {
            fs::metadata(path).map_err(wrong)?.file_type()
        } else {
            listed
        };
        if self.rules.ignores(&name, kind.is_dir()) {
            return Ok(());
        }
        if kind.is_dir() {
            if listed.is_symlink() && self.leads_back(path).map_err(wrong)? {
                return Ok(());
            }
            return self.directory(path, &name);
        }
        if !kind.is_file() {
            return Err(Error::Irregular(name));
        }
        if self.files.len() >= MAX_FILES {
            return Err(Error::Count);
        }
        let mut data = contents(path)
            .map_err(wrong)?
            .ok_or_else(|| Error::FileSize(base(&name).to_owned()))?;
        if let Some(text) = data.strip_prefix(b"\xef\xbb\xbf") {
            data = text.to_vec();
        }
        self.files.insert(name, data);
        Ok(())
    }

    /// Whether a link leads to a directory that is being read.
    fn leads_back(&self, link: &Path) -> std::io::Result<bool> {
        let real = fs::canonicalize(link)?;
        for open in &self.open {
            if fs::canonicalize(open)? == real {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The bytes of a file; none if it is too large.
fn contents(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let file = fs::File::open(path)?;
    let size = file.metadata()?.len();
    let Some(size) = usize::try_from(size).ok().filter(|_| size <= MAX_FILE) else {
        return Ok(None);
    };
    let mut data = Vec::with_capacity(size + 1);
    file.take(MAX_FILE + 1).read_to_end(&mut data)?;
    Ok((data.len() as u64 <= MAX_FILE).then_some(data))
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
