//! A directory → its files, by name relative to it. Leaves out hidden files, what `.fleetignore`
//! names and the files that configure the bundle; follows symbolic links only to files inside the
//! directory. Never reads anything but regular files, never writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::dependency;
use crate::ignore;

/// Files by name, in the order of bundles.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Why a directory cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory.
    #[error("read {path:?}")]
    Read {
        /// Relative to the directory.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// A link to nowhere.
    #[error("resolve symbolic link {path:?} to {target:?}")]
    ResolveLink {
        /// Relative to the directory.
        path: String,
        /// What the link says.
        target: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A link that leaves the directory.
    #[error("symbolic link {path:?} leaves the directory of the bundle: links may only lead to files inside it")]
    FollowLink {
        /// Relative to the directory.
        path: String,
    },
    /// A pipe, socket, device, or a link to a directory.
    #[error("{path:?} is {what}, not a file: leave it out with .fleetignore")]
    ReadSpecial {
        /// Relative to the directory.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// A name that is not UTF-8.
    #[error("the name {path:?} is not UTF-8")]
    ReadName {
        /// Relative to the directory.
        path: PathBuf,
    },
    /// A malformed pattern.
    #[error("{path:?}: syntax error in pattern {pattern:?}")]
    ReadIgnore {
        /// The ignore file's directory.
        path: String,
        /// The pattern.
        pattern: String,
    },
    /// Dependencies of a chart.
    #[error("update dependencies of chart {path:?}")]
    UpdateDependencies {
        /// Directory of the chart.
        path: String,
        /// The cause.
        source: Box<dependency::Error>,
    },
    /// More or larger files than allowed.
    #[error("more than {limit} {what} in one bundle")]
    Exceed {
        /// How many.
        limit: u64,
        /// Of what.
        what: &'static str,
    },
}

/// Most bytes of the files of one bundle: far more than a cluster can store.
const MAX_BYTES: u64 = 512 << 20;
/// Most files of one bundle.
const MAX_FILES: u64 = 100_000;

/// What to leave out and what to add.
#[derive(Debug, Default)]
pub struct Selection<'a> {
    /// Names, relative to the directory, of files that configure the bundle.
    pub configuration: BTreeSet<String>,
    /// How to fetch missing dependencies of charts; not at all if absent.
    pub dependencies: Option<dependency::Access<'a>>,
}

/// The files of a directory. `hidden` says that the directory itself begins with a dot: it has no
/// files then, as upstream has it.
///
/// # Errors
/// The first file that cannot be read.
pub fn read_directory(directory: &Path, hidden: bool, selection: &Selection<'_>) -> Result<Files, Error> {
    let real = fs::canonicalize(directory).map_err(|source| Error::Read {
        path: ".".to_owned(),
        source,
    })?;
    let mut walk = Walk {
        root: directory,
        real,
        selection,
        rules: ignore::Rules::default(),
        files: Files::new(),
        bytes: 0,
    };
    walk.directory(".", hidden)?;
    Ok(walk.files)
}

struct Walk<'a> {
    root: &'a Path,
    real: PathBuf,
    selection: &'a Selection<'a>,
    rules: ignore::Rules,
    files: Files,
    bytes: u64,
}

impl Walk<'_> {
    fn read_error(path: &str) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        |source| Error::Read { path, source }
    }

    fn directory(&mut self, path: &str, hidden: bool) -> Result<(), Error> {
        let full = self.root.join(path);
        // Upstream updates charts before it looks at what is hidden or ignored, so a hidden
        // directory's chart is checked too; its files are still left out.
        let extra = match &self.selection.dependencies {
            Some(access) if is_file(&full.join("Chart.yaml")) => {
                dependency::missing(&full, access).map_err(|source| Error::UpdateDependencies {
                    path: path.to_owned(),
                    source: Box::new(source),
                })?
            }
            _ => Files::new(),
        };
        if hidden || (path != "." && self.ignored(path, true)?) {
            return Ok(());
        }
        let ignore_file = full.join(ignore::FILE);
        if is_file(&ignore_file) {
            let text = fs::read(&ignore_file).map_err(Self::read_error(&child(path, ignore::FILE)))?;
            self.rules.add(path, &String::from_utf8_lossy(&text));
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(&full).map_err(Self::read_error(path))? {
            let entry = entry.map_err(Self::read_error(path))?;
            let name = entry.file_name().into_string().map_err(|name| Error::ReadName {
                path: PathBuf::from(name),
            })?;
            entries.push((name, entry.file_type().map_err(Self::read_error(path))?));
        }
        entries.sort_by(|left, right| left.0.cmp(&right.0));
        for (name, file_type) in entries {
            let path = child(path, &name);
            let hidden = name.starts_with('.');
            if file_type.is_dir() {
                self.directory(&path, hidden)?;
            } else if !hidden && !self.ignored(&path, false)? && !self.selection.configuration.contains(&path) {
                let bytes = self.file(&path, file_type)?;
                self.add(path, bytes)?;
            }
        }
        for (name, bytes) in extra {
            self.add(child(path, &name), bytes)?;
        }
        Ok(())
    }

    fn add(&mut self, path: String, bytes: Vec<u8>) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        if self.bytes > MAX_BYTES {
            return Err(Error::Exceed {
                limit: MAX_BYTES,
                what: "bytes",
            });
        }
        self.files.insert(path, bytes);
        if self.files.len() as u64 > MAX_FILES {
            return Err(Error::Exceed {
                limit: MAX_FILES,
                what: "files",
            });
        }
        Ok(())
    }

    fn ignored(&self, path: &str, is_directory: bool) -> Result<bool, Error> {
        self.rules
            .ignored(path, is_directory)
            .map_err(|pattern| Error::ReadIgnore {
                path: path.to_owned(),
                pattern,
            })
    }

    fn file(&self, path: &str, file_type: fs::FileType) -> Result<Vec<u8>, Error> {
        let full = self.root.join(path);
        let special = |what| Error::ReadSpecial {
            path: path.to_owned(),
            what,
        };
        let full = if file_type.is_symlink() {
            let target = || fs::read_link(&full).unwrap_or_default();
            let real = fs::canonicalize(&full).map_err(|source| Error::ResolveLink {
                path: path.to_owned(),
                target: target(),
                source,
            })?;
            if !real.starts_with(&self.real) {
                return Err(Error::FollowLink { path: path.to_owned() });
            }
            real
        } else {
            full
        };
        let metadata = fs::metadata(&full).map_err(Self::read_error(path))?;
        if metadata.is_dir() {
            return Err(special("a link to a directory"));
        }
        if !metadata.is_file() {
            return Err(special("a pipe, socket or device"));
        }
        if metadata.len() > MAX_BYTES {
            return Err(Error::Exceed {
                limit: MAX_BYTES,
                what: "bytes",
            });
        }
        fs::read(&full).map_err(Self::read_error(path))
    }
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

fn child(directory: &str, name: &str) -> String {
    if directory == "." {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn names(dir: &tempfile::TempDir) -> Vec<String> {
        read_directory(dir.path(), false, &Selection::default())
            .unwrap()
            .into_keys()
            .collect()
    }

    #[test]
    fn hidden_and_ignored_files_stay_out() {
        let dir = tree(&[
            ("a.yaml", ""),
            (".b", ""),
            (".c/d", ""),
            ("e/f", ""),
            ("e/g.md", ""),
            (".fleetignore", "*.md"),
        ]);
        assert_eq!(names(&dir), ["a.yaml", "e/f"]);
        assert!(
            read_directory(dir.path(), true, &Selection::default())
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn links_stay_inside() {
        let dir = tree(&[("in/a", "x"), ("out", "secret")]);
        std::os::unix::fs::symlink("a", dir.path().join("in/b")).unwrap();
        assert_eq!(
            read_directory(&dir.path().join("in"), false, &Selection::default()).unwrap()["b"],
            b"x"
        );
        std::os::unix::fs::symlink("../out", dir.path().join("in/c")).unwrap();
        let error = read_directory(&dir.path().join("in"), false, &Selection::default()).unwrap_err();
        assert!(matches!(error, Error::FollowLink { path } if path == "c"));
    }

    #[test]
    fn a_pipe_is_refused_instead_of_waited_for() {
        let dir = tree(&[("a", "")]);
        std::os::unix::net::UnixListener::bind(dir.path().join("s")).unwrap();
        assert!(matches!(
            read_directory(dir.path(), false, &Selection::default()),
            Err(Error::ReadSpecial { .. })
        ));
    }
}
