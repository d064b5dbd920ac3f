//! A directory tree → bundles: finds the directories that make one (upstream's classic and driven
//! scan), assembles each, keeps the order of the paths.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::assemble;
pub use crate::child::Scanned;
use crate::options::{ApplyOptions, ChartAuth, Scan};
use crate::path;
use crate::pattern;

/// Why a tree makes no bundles.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path with too many parts.
    #[error("invalid bundle path: {path:?}: write directory or directory{separator}file")]
    SplitPath {
        /// As given.
        path: String,
        /// Between directory and options file.
        separator: String,
    },
    /// A malformed pattern.
    #[error("path {path:?}")]
    MatchPath {
        /// As given.
        path: String,
        /// The cause.
        source: pattern::BadPattern,
    },
    /// A path that leaves the repository.
    #[error("path {path:?} leaves the repository")]
    Leave {
        /// As given.
        path: String,
    },
    /// A directory that cannot be listed.
    #[error("list directory {path:?}")]
    List {
        /// Relative to the root.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// A directory that makes no bundle though it should.
    #[error("process bundle in {directory:?}")]
    Assemble {
        /// Relative to the root.
        directory: String,
        /// The cause.
        source: Box<assemble::Error>,
    },
    /// No directory made a bundle.
    #[error("no resource found at the following paths to deploy: [{}]: is there a fleet.yaml or a YAML file, and is the path right?", paths.join(" "))]
    FindNothing {
        /// As given.
        paths: Vec<String>,
    },
}

impl Error {
    /// The file it is about, and the line in it.
    #[must_use]
    pub fn place(&self) -> (Option<String>, Option<usize>) {
        match self {
            Self::Assemble { source, .. } => source.place(),
            Self::SplitPath { path, .. }
            | Self::MatchPath { path, .. }
            | Self::Leave { path }
            | Self::List { path, .. } => (Some(path.clone()), None),
            Self::FindNothing { .. } => (None, None),
        }
    }
}

/// What became of one directory.
type Made = Result<Option<Scanned>, Error>;

/// The bundles of a tree, none if no directory makes one. Nothing outside of `root` is read.
///
/// # Errors
/// The first directory, in the order of paths, that cannot be turned into a bundle.
pub fn bundles(root: &Path, options: &ApplyOptions) -> Result<Vec<Scanned>, Error> {
    bundles_within(root, root, options)
}

/// Like [`bundles`], for a root inside of a larger tree that files may be taken from.
///
/// # Errors
/// As [`bundles`].
pub fn bundles_within(root: &Path, boundary: &Path, options: &ApplyOptions) -> Result<Vec<Scanned>, Error> {
    let places = places(root, options)?;
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Made>>> = places.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((directory, file)) = places.get(index) else {
                return;
            };
            let place = assemble::Place {
                root,
                boundary,
                directory,
                options_file: file,
            };
            let made =
                assemble::bundle(&place, options, auth_for(options, directory)).map_err(|source| Error::Assemble {
                    directory: directory.clone(),
                    source: Box::new(source),
                });
            *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
        }
    };
    let workers = options.concurrency.clamp(1, 64).min(places.len());
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    let mut bundles = Vec::new();
    for result in results {
        if let Some(result) = result.into_inner().unwrap_or_else(PoisonError::into_inner) {
            bundles.extend(result?);
        }
    }
    Ok(bundles)
}

/// The error for a run that made no bundle.
#[must_use]
pub fn nothing(options: &ApplyOptions) -> Error {
    Error::FindNothing { paths: paths(options) }
}

/// The paths as given, `.` if there are none.
fn paths(options: &ApplyOptions) -> Vec<String> {
    if options.paths.is_empty() {
        vec![".".to_owned()]
    } else {
        options.paths.clone()
    }
}

/// Directories and their options files.
fn places(root: &Path, options: &ApplyOptions) -> Result<Vec<(String, String)>, Error> {
    let mut places = Vec::new();
    for given in paths(options) {
        match &options.scan {
            Scan::Driven { separator } => {
                let parts: Vec<&str> = if separator.is_empty() {
                    vec![given.as_str()]
                } else {
                    given.split(separator.as_str()).collect()
                };
                let (directory, file) = match parts[..] {
                    [directory] => (directory, options.bundle_file.as_str()),
                    [directory, file] => (directory, file),
                    _ => {
                        return Err(Error::SplitPath {
                            path: given.clone(),
                            separator: separator.clone(),
                        });
                    }
                };
                places.push((path::clean(directory.trim_start_matches('/')), file.to_owned()));
            }
            Scan::Classic => {
                let trimmed = given.trim_start_matches('/');
                for base in matching_directories(root, trimmed, &given)? {
                    let mut found = Vec::new();
                    walk(root, &base, true, &mut found)?;
                    places.extend(
                        found
                            .into_iter()
                            .map(|directory| (directory, options.bundle_file.clone())),
                    );
                }
            }
        }
    }
    Ok(places)
}

/// Directories below the root that match a pattern, sorted.
fn matching_directories(root: &Path, given: &str, original: &str) -> Result<Vec<String>, Error> {
    let cleaned = path::clean(given);
    let mut found = vec![String::new()];
    for part in cleaned.split('/') {
        let mut next = Vec::new();
        for base in &found {
            if !pattern::has_meta(part) {
                next.push(path::join(&[base, part]));
                continue;
            }
            // A malformed pattern is an error even where there is nothing to match.
            pattern::matches(part, "").map_err(|source| Error::MatchPath {
                path: original.to_owned(),
                source,
            })?;
            for name in list(root, if base.is_empty() { "." } else { base }).unwrap_or_default() {
                let hit = pattern::matches(part, &name.0);
                if hit.map_err(|source| Error::MatchPath {
                    path: original.to_owned(),
                    source,
                })? {
                    next.push(path::join(&[base, &name.0]));
                }
            }
        }
        found = next;
    }
    found.retain(|directory| root.join(directory).is_dir());
    Ok(found)
}

/// Directories from `base` down that make a bundle.
fn walk(root: &Path, base: &str, first: bool, found: &mut Vec<String>) -> Result<(), Error> {
    if path::base(base) == ".git" {
        return Ok(());
    }
    if has_options_file(root, base) || (first && has_yaml(root, base)?) {
        found.push(base.to_owned());
    }
    for (name, is_directory) in list(root, base)? {
        if is_directory {
            walk(root, &path::join(&[base, &name]), false, found)?;
        }
    }
    Ok(())
}

fn has_options_file(root: &Path, directory: &str) -> bool {
    ["fleet.yaml", "fleet.yml"]
        .iter()
        .any(|name| root.join(directory).join(name).exists())
}

/// Whether there is a YAML file in the directory or below, not looking into bundles of their own.
fn has_yaml(root: &Path, directory: &str) -> Result<bool, Error> {
    let entries = list(root, directory)?;
    let is_yaml = |name: &str| name.ends_with(".yaml") || name.ends_with(".yml");
    if entries
        .iter()
        .any(|(name, is_directory)| !is_directory && is_yaml(name))
    {
        return Ok(true);
    }
    for (name, is_directory) in entries {
        let below = path::join(&[directory, &name]);
        if is_directory && !has_options_file(root, &below) && has_yaml(root, &below)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Names in a directory with whether each is a directory itself, sorted. Links are none.
fn list(root: &Path, directory: &str) -> Result<Vec<(String, bool)>, Error> {
    let fail = |source| Error::List {
        path: directory.to_owned(),
        source,
    };
    let mut entries = Vec::new();
    for entry in fs::read_dir(root.join(directory)).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let is_directory = entry.file_type().map_err(fail)?.is_dir();
        entries.push((entry.file_name().to_string_lossy().into_owned(), is_directory));
    }
    entries.sort();
    Ok(entries)
}

/// Credentials for a directory: those of its exact path, else of the first pattern that matches.
fn auth_for<'a>(options: &'a ApplyOptions, directory: &str) -> &'a ChartAuth {
    static NONE: std::sync::LazyLock<ChartAuth> = std::sync::LazyLock::new(ChartAuth::default);
    let Some(by_path) = &options.charts.by_path else {
        return &options.charts.auth;
    };
    by_path.get(directory).unwrap_or_else(|| {
        let mut patterns = by_path.iter();
        patterns
            .find(|(key, _)| pattern::matches(key, directory) == Ok(true))
            .map_or(&NONE, |(_, auth)| auth)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in files {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        dir
    }

    fn names(dir: &tempfile::TempDir, options: ApplyOptions) -> Vec<String> {
        let options = ApplyOptions {
            name: "app".to_owned(),
            ..options
        };
        let made = bundles(dir.path(), &options).unwrap();
        made.into_iter()
            .map(|scanned| scanned.bundle.metadata.name.unwrap())
            .collect()
    }

    fn at(paths: &[&str]) -> ApplyOptions {
        ApplyOptions {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            ..ApplyOptions::default()
        }
    }

    #[test]
    fn a_parent_without_options_is_one_bundle_and_nested_options_make_more() {
        let dir = tree(&[
            "a/x.yaml",
            "a/b/fleet.yaml",
            "a/b/y.yaml",
            "a/c/z.yaml",
            ".git/fleet.yaml",
        ]);
        assert_eq!(names(&dir, at(&[])), ["app", "app-a-b"]);
        assert_eq!(names(&dir, at(&["a/c"])), ["app-a-c"]);
        assert_eq!(names(&dir, at(&["/a/*"])), ["app-a-b", "app-a-c"]);
        assert_eq!(names(&dir, at(&["none"])), Vec::<String>::new());
    }

    #[test]
    fn a_parent_whose_yaml_lies_in_nested_bundles_only_makes_none() {
        let dir = tree(&["a/b/fleet.yaml", "a/b/y.yaml", "a/README"]);
        assert_eq!(names(&dir, at(&["a"])), ["app-a-b"]);
    }

    #[test]
    fn a_driven_scan_does_not_recurse() {
        let dir = tree(&["a/x.yaml", "a/dev.yaml", "a/b/fleet.yaml"]);
        let driven = |paths: &[&str]| ApplyOptions {
            scan: Scan::Driven {
                separator: ":".to_owned(),
            },
            ..at(paths)
        };
        assert_eq!(names(&dir, driven(&["a", "a:dev.yaml"])), ["app-a", "app-a-dev"]);
        assert!(matches!(
            bundles(dir.path(), &driven(&["a:b:c"])),
            Err(Error::SplitPath { .. })
        ));
    }

    #[test]
    fn credentials_go_by_exact_path_then_by_pattern() {
        let auth = |username: &str| ChartAuth {
            username: username.to_owned(),
            ..ChartAuth::default()
        };
        let mut options = ApplyOptions::default();
        options.charts.by_path = Some([("a/*".to_owned(), auth("pattern")), ("a/b".to_owned(), auth("exact"))].into());
        assert_eq!(auth_for(&options, "a/b").username, "exact");
        assert_eq!(auth_for(&options, "a/c").username, "pattern");
        assert_eq!(auth_for(&options, "x").username, "");
    }
}
