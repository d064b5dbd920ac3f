//! The files a build may see, and the rule which of them a kustomization may read: its own directory and below. Bases
//! may lie anywhere within the root that the caller gives. Nothing is ever fetched.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::Error;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A file, with its path after links were followed.
    File(String),
    /// A directory, with its path after links were followed.
    Directory(String),
}

/// Files below a root. Paths are relative to it, with `/`, without `.` and `..`.
pub trait Files {
    /// What is at a path; `None` if there is nothing, or if links lead out of the root.
    fn find(&self, path: &str) -> Option<Found>;

    /// The content of a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read(&self, path: &str) -> Result<Cow<'_, [u8]>, String>;
}

impl Files for BTreeMap<String, Vec<u8>> {
    fn find(&self, path: &str) -> Option<Found> {
        if self.contains_key(path) {
            return Some(Found::File(path.to_owned()));
        }
        let prefix = format!("{path}/");
        let inside = |key: &String| path.is_empty() || key.starts_with(&prefix);
        let below = if path.is_empty() { String::new() } else { prefix.clone() };
        let next = self.range(below..).next();
        (path.is_empty() || next.is_some_and(|(key, _)| inside(key))).then(|| Found::Directory(path.to_owned()))
    }

    fn read(&self, path: &str) -> Result<Cow<'_, [u8]>, String> {
        match self.get(path) {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => Err("it does not exist".to_owned()),
        }
    }
}

/// Files of a directory of this machine.
#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
}

/// Larger files have no business in a kustomization.
const MAX_FILE_BYTES: u64 = 64 << 20;

impl Disk {
    /// Everything below a directory, `/` for all.
    ///
    /// # Errors
    /// It does not exist.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        Ok(Self { root })
    }
}

impl Files for Disk {
    fn find(&self, path: &str) -> Option<Found> {
        let real = self.root.join(path).canonicalize().ok()?;
        let parts = real.strip_prefix(&self.root).ok()?.components();
        let name = |part: Component<'_>| part.as_os_str().to_str().map(str::to_owned);
        let path = parts.map(name).collect::<Option<Vec<_>>>()?.join("/");
        if real.is_dir() {
            Some(Found::Directory(path))
        } else if real.is_file() {
            Some(Found::File(path))
        } else {
            None
        }
    }

    fn read(&self, path: &str) -> Result<Cow<'_, [u8]>, String> {
        let full = self.root.join(path);
        let size = fs::metadata(&full).map_err(|error| error.to_string())?.len();
        if size > MAX_FILE_BYTES {
            return Err(format!("it has more than {MAX_FILE_BYTES} bytes"));
        }
        fs::read(&full).map(Cow::Owned).map_err(|error| error.to_string())
    }
}

/// The view of one kustomization: its directory and how it was reached.
#[derive(Clone)]
pub(crate) struct Loader<'a> {
    files: &'a dyn Files,
    /// Directory of the kustomization.
    pub(crate) dir: String,
    /// Directories of the kustomizations around it.
    parents: Vec<String>,
}

const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// Kustomizations inside of kustomizations; more is a mistake.
const MAX_DEPTH: usize = 50;

impl<'a> Loader<'a> {
    /// # Errors
    /// There is no such directory.
    pub(crate) fn new(files: &'a dyn Files, dir: &str) -> Result<Self, Error> {
        match join("", dir).and_then(|path| files.find(&path)) {
            Some(Found::Directory(dir)) => Ok(Self {
                files,
                dir,
                parents: Vec::new(),
            }),
            _ => Err(Error::file(dir, "it is no directory of the files")),
        }
    }

    /// The kustomization file: its path and its text.
    pub(crate) fn kustomization(&self) -> Result<(String, String), Error> {
        let found: Vec<&str> = NAMES
            .into_iter()
            .filter(|name| {
                let path = join(&self.dir, name);
                matches!(path.and_then(|path| self.files.find(&path)), Some(Found::File(_)))
            })
            .collect();
        let dir = if self.dir.is_empty() { "." } else { &self.dir };
        match found.as_slice() {
            [name] => {
                let path = join(&self.dir, name).unwrap_or_default();
                let text = self.text(name).map_err(|message| Error::file(&path, message))?;
                Ok((path, text))
            }
            [] => Err(Error::file(
                dir,
                format!("directory '{dir}' has none of {}", NAMES.join(", ")),
            )),
            _ => Err(Error::file(
                dir,
                format!("directory '{dir}' has more than one kustomization file"),
            )),
        }
    }

    /// The content of a file in or below the directory.
    ///
    /// # Errors
    /// The path is remote, leads elsewhere, or to nothing.
    pub(crate) fn bytes(&self, path: &str) -> Result<Cow<'a, [u8]>, String> {
        if is_url(path) {
            return Err(format!("'{path}' is remote; nothing is fetched"));
        }
        let outside = || {
            let dir = if self.dir.is_empty() { "." } else { &self.dir };
            format!("file '{path}' is not in or below '{dir}'")
        };
        let full = join(&self.dir, path).ok_or_else(outside)?;
        let real = match self.files.find(&full) {
            Some(Found::File(real)) => real,
            Some(Found::Directory(_)) => return Err(format!("'{path}' is a directory, not a file")),
            None => return Err(format!("file '{path}' does not exist")),
        };
        if !self.dir.is_empty() && !real.strip_prefix(&self.dir).is_some_and(|rest| rest.starts_with('/')) {
            return Err(outside());
        }
        self.files
            .read(&real)
            .map_err(|message| format!("file '{path}' cannot be read: {message}"))
    }

    /// The text of a file in or below the directory.
    ///
    /// # Errors
    /// As [`Loader::bytes`]; it is no UTF-8.
    pub(crate) fn text(&self, path: &str) -> Result<String, String> {
        let bytes = self.bytes(path)?;
        String::from_utf8(bytes.into_owned()).map_err(|_| format!("file '{path}' is not UTF-8"))
    }

    /// The view of another kustomization.
    ///
    /// # Errors
    /// The path is remote, absolute, leads to no directory, or back to where it is used.
    pub(crate) fn enter(&self, path: &str) -> Result<Self, String> {
        if is_remote(path) {
            return Err(format!("'{path}' is remote; nothing is fetched"));
        }
        if path.is_empty() {
            return Err("the path is empty".to_owned());
        }
        if path.starts_with('/') {
            return Err(format!("directory '{path}' must not be absolute"));
        }
        let full = join(&self.dir, path).ok_or_else(|| format!("'{path}' leads out of the files"))?;
        let dir = match self.files.find(&full) {
            Some(Found::Directory(dir)) => dir,
            Some(Found::File(_)) => return Err(format!("'{path}' is a file, not a directory")),
            None => return Err(format!("'{path}' does not exist")),
        };
        let mut parents = self.parents.clone();
        parents.push(self.dir.clone());
        let contains = |parent: &String| {
            dir.is_empty() || *parent == dir || parent.strip_prefix(&dir).is_some_and(|rest| rest.starts_with('/'))
        };
        if parents.iter().any(contains) {
            return Err(format!("cycle: '{path}' contains a kustomization that uses it"));
        }
        if parents.len() > MAX_DEPTH {
            return Err(format!("kustomizations are nested more than {MAX_DEPTH} deep"));
        }
        Ok(Self {
            files: self.files,
            dir,
            parents,
        })
    }
}

/// A relative path seen from a directory; an absolute one is seen from the root. `None` if it leads out of the root.
pub(crate) fn join(dir: &str, path: &str) -> Option<String> {
    let dir = if path.starts_with('/') { "" } else { dir };
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn is_url(path: &str) -> bool {
    path.starts_with("http://") || path.starts_with("https://")
}

/// Whether a path is one that would have to be fetched.
fn is_remote(path: &str) -> bool {
    path.contains("://") || path.starts_with("git@") || path.starts_with("git::") || path.starts_with("github.com")
}
