//! A chart on disk, a directory or a packed one, becomes a [`Chart`]. The one module here that reads files.
//!
//! Upstream concept: Helm's loader of directories and archives. Links are followed, as Helm does, but a directory never
//! into itself; what `.helmignore` names is left out; sizes are limited.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::CStr;
use std::fs;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::fast::RandomState;
use gotemplate::sprig::path;
use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;

use crate::ahead::Ahead;
use crate::chart::{self, Chart, File};
use crate::file::Code;
use crate::ignore::{self, Rules};
use crate::render;

/// Helm's limit for one file.
const MAX_FILE: usize = 5 << 20;

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
        return Ok(Chart::from_parts(read(path)?)?);
    }
    Ok(Chart::from_archive(&fs::read(path).map_err(wrong)?)?)
}

/// The files of a chart's directory, in the order of their paths in it. Templates and schemas are made ready
/// meanwhile: whoever loads a folder wants to render it.
fn read(root: &Path) -> Result<Vec<File>, Error> {
    let mut reader = Reader {
        root,
        rules: Rules::default(),
        files: Vec::new(),
        ahead: Ahead::new(render::engine()),
        texts: HashMap::with_capacity_and_hasher(TEXTS, RandomState::default()),
        buffer: vec![0; BUFFER].into(),
    };
    let flags = READ.union(OFlags::DIRECTORY);
    let directory = openat(CWD, root, flags, Mode::empty()).map_err(|error| reader.wrong("list", "", error))?;
    let rules = match reader.contents(directory.as_fd(), IGNORE) {
        Err(Errno::NOENT) => Ok(Some(Vec::new())),
        other => other,
    };
    let rules = rules
        .map_err(|error| reader.wrong("read", IGNORE, error))?
        .ok_or_else(|| Error::FileSize(IGNORE.to_owned()))?;
    reader.rules = Rules::parse(&String::from_utf8_lossy(&rules)).map_err(Error::Ignore)?;
    reader.directory(directory, "", None)?;
    reader.files.sort_unstable_by(|left, right| left.name.cmp(&right.name));
    Ok(reader.files)
}

const IGNORE: &str = ".helmignore";

const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);

/// Bytes that a file is asked for at first; few files of charts are larger.
const BUFFER: usize = 64 << 10;

/// Templates and schemas that most charts have at most: a table that grows hashes all texts again.
const TEXTS: usize = 200;

/// Everything is opened by its name in the directory it was listed in: that is cheaper than by its whole path, and
/// nobody can exchange the directories on the way.
struct Reader<'r> {
    root: &'r Path,
    rules: Rules,
    files: Vec<File>,
    ahead: Ahead,
    /// The templates and schemas so far.
    texts: HashMap<Arc<Vec<u8>>, Arc<Code>, RandomState>,
    /// Where a file is read into.
    buffer: Box<[u8]>,
}

/// A directory that is being read, and those it lies in.
struct Level<'l> {
    directory: BorrowedFd<'l>,
    above: Option<&'l Level<'l>>,
}

impl Reader<'_> {
    /// What went wrong with what lies at a path in the chart.
    fn wrong(&self, action: &'static str, inside: &str, error: Errno) -> Error {
        let path = match inside {
            "" => self.root.to_owned(),
            _ => self.root.join(inside),
        };
        Error::Read {
            action,
            path,
            source: error.into(),
        }
    }

    fn directory(&mut self, directory: OwnedFd, inside: &str, above: Option<&Level<'_>>) -> Result<(), Error> {
        let mut listing = Dir::new(directory).map_err(|error| self.wrong("list", inside, error))?;
        let entries: Result<Vec<_>, Errno> = listing.by_ref().collect();
        let entries = entries.map_err(|error| self.wrong("list", inside, error))?;
        let level = Level {
            directory: listing.fd().map_err(|error| self.wrong("list", inside, error))?,
            above,
        };
        for entry in entries {
            let base = entry.file_name();
            if base == c"." || base == c".." {
                continue;
            }
            let name = base.to_string_lossy();
            let name = match inside {
                "" => name.into_owned(),
                _ => format!("{inside}/{name}"),
            };
            self.entry(&level, base, entry.file_type(), name)?;
        }
        Ok(())
    }

    /// Takes what lies in a directory under `base`. A listing tells what it is, so that only links have to be asked
    /// about.
    fn entry(&mut self, level: &Level<'_>, base: &CStr, listed: FileType, name: String) -> Result<(), Error> {
        let kind = if matches!(listed, FileType::Symlink | FileType::Unknown) {
            let found = statat(level.directory, base, AtFlags::empty());
            let found = found.map_err(|error| self.wrong("read", &name, error))?;
            FileType::from_raw_mode(found.st_mode)
        } else {
            listed
        };
        if self.rules.ignores(&name, kind.is_dir()) {
            return Ok(());
        }
        if kind.is_dir() {
            let flags = READ.union(OFlags::DIRECTORY);
            let directory = openat(level.directory, base, flags, Mode::empty());
            let directory = directory.map_err(|error| self.wrong("list", &name, error))?;
            let back = !listed.is_dir()
                && level
                    .holds(&directory)
                    .map_err(|error| self.wrong("read", &name, error))?;
            return if back {
                Ok(())
            } else {
                self.directory(directory, &name, Some(level))
            };
        }
        if !kind.is_file() {
            return Err(Error::Irregular(name));
        }
        if self.files.len() >= MAX_FILES {
            return Err(Error::Count);
        }
        match self.contents(level.directory, base) {
            Ok(Some(data)) => {
                let mut file = File::new(name, Arc::new(data));
                if let Some(role) = chart::role(&file.name)
                    && self.keep(&mut file)
                {
                    self.ahead.offer(role, &file.data, &file.code);
                }
                self.files.push(file);
            }
            Ok(None) => return Err(Error::FileSize(path::base(&name).to_owned())),
            Err(error) => return Err(self.wrong("read", &name, error)),
        }
        Ok(())
    }

    /// Keeps equal texts, and what is made of them, once: charts inside a chart often carry the same library. Whether this
    /// one is the first.
    fn keep(&mut self, file: &mut File) -> bool {
        match self.texts.entry(Arc::clone(&file.data)) {
            Entry::Occupied(known) => {
                file.data = Arc::clone(known.key());
                file.code = Arc::clone(known.get());
                false
            }
            Entry::Vacant(new) => {
                new.insert(Arc::clone(&file.code));
                true
            }
        }
    }

    /// The bytes of a file without a mark of their order; none if it is too large.
    fn contents(&mut self, directory: BorrowedFd<'_>, base: impl Arg) -> Result<Option<Vec<u8>>, Errno> {
        let file = openat(directory, base, READ, Mode::empty())?;
        let mut filled = 0;
        while filled < BUFFER {
            match retry_on_intr(|| rustix::io::read(&file, &mut self.buffer[filled..]))? {
                0 => return Ok(Some(unmarked(&self.buffer[..filled]).to_vec())),
                more => filled += more,
            }
        }
        // The rest of a long file goes where it stays.
        let size = usize::try_from(fstat(&file)?.st_size).unwrap_or(usize::MAX);
        if size > MAX_FILE {
            return Ok(None);
        }
        let mut data = Vec::with_capacity(size.max(BUFFER) + 1);
        data.extend_from_slice(unmarked(&self.buffer));
        while retry_on_intr(|| rustix::io::read(&file, spare_capacity(&mut data)))? > 0 {
            if data.len() > MAX_FILE {
                return Ok(None);
            }
            data.reserve(1);
        }
        Ok(Some(data))
    }
}

fn unmarked(data: &[u8]) -> &[u8] {
    data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data)
}

impl Level<'_> {
    /// Whether a directory is this one or one that it lies in.
    fn holds(&self, directory: &OwnedFd) -> Result<bool, Errno> {
        let wanted = fstat(directory)?;
        let mut level = Some(self);
        while let Some(one) = level {
            let found = fstat(one.directory)?;
            if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino) {
                return Ok(true);
            }
            level = one.above;
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(root: &Path) -> Vec<String> {
        read(root).unwrap().into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn a_file_comes_whole_however_long_and_without_a_mark() {
        let folder = tempfile::tempdir().unwrap();
        for size in [0, 1, BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER, MAX_FILE] {
            let text: Vec<u8> = (0..=250).cycle().take(size).collect();
            fs::write(folder.path().join("a.txt"), &text).unwrap();
            assert_eq!(*read(folder.path()).unwrap()[0].data, text, "{size}");
        }
        fs::write(folder.path().join("a.txt"), "\u{feff}x").unwrap();
        assert_eq!(*read(folder.path()).unwrap()[0].data, b"x");
        fs::write(folder.path().join("a.txt"), vec![b'x'; MAX_FILE + 1]).unwrap();
        assert!(matches!(read(folder.path()), Err(Error::FileSize(name)) if name == "a.txt"));
    }

    #[test]
    fn equal_templates_are_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        for (place, text) in [
            ("templates/a.yaml", "{{ 1 }}"),
            ("charts/x/templates/b.yaml", "{{ 1 }}"),
            ("charts/y/templates/b.yaml", "{{ 2 }}"),
        ] {
            let path = folder.path().join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let files = read(folder.path()).unwrap();
        let file = |name: &str| files.iter().find(|file| file.name == name).unwrap();
        let (one, same) = (file("templates/a.yaml"), file("charts/x/templates/b.yaml"));
        let other = file("charts/y/templates/b.yaml");
        assert!(Arc::ptr_eq(&one.data, &same.data) && Arc::ptr_eq(&one.code, &same.code));
        assert!(!Arc::ptr_eq(&one.code, &other.code));
    }

    #[test]
    fn links_are_followed_but_never_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir_all(folder.path().join("beside/deep")).unwrap();
        fs::write(folder.path().join("beside/deep/x"), "x").unwrap();
        fs::write(root.join("a/b/y"), "y").unwrap();
        symlink("../beside", root.join("linked")).unwrap();
        symlink("../a", root.join("a/back")).unwrap();
        symlink("../..", root.join("a/b/top")).unwrap();
        symlink("a/b/y", root.join("z")).unwrap();
        assert_eq!(names(&root), ["a/b/y", "linked/deep/x", "z"]);
        symlink("nowhere", root.join("broken")).unwrap();
        let error = read(&root).unwrap_err();
        assert_eq!(error.to_string(), format!("read {}", root.join("broken").display()));
    }

    #[test]
    fn what_is_no_file_is_refused_and_what_is_ignored_is_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        fs::write(folder.path().join("a"), "a").unwrap();
        assert!(matches!(read(folder.path()), Err(Error::Irregular(name)) if name == "socket"));
        fs::write(folder.path().join(".helmignore"), "socket\n.helmignore\n").unwrap();
        assert_eq!(names(folder.path()), ["a"]);
        assert!(matches!(
            read(&folder.path().join("none")),
            Err(Error::Read { action: "list", .. })
        ));
    }
}
