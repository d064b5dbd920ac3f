//! Files by path, and the rule which of them a kustomization may read: its own directory and below.

use std::collections::BTreeMap;

/// The files a build may see.
pub(crate) struct Tree<'a> {
    files: &'a BTreeMap<String, Vec<u8>>,
}

const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

impl<'a> Tree<'a> {
    pub(crate) fn new(files: &'a BTreeMap<String, Vec<u8>>) -> Self {
        Self { files }
    }

    /// The kustomization file of a directory.
    pub(crate) fn kustomization(&self, dir: &str) -> Result<String, String> {
        let mut found = NAMES
            .iter()
            .filter_map(|name| join(dir, name))
            .filter(|path| self.files.contains_key(path));
        match (found.next(), found.next()) {
            (Some(path), None) => Ok(path),
            (Some(_), Some(_)) => Err(format!("directory '{dir}' has more than one kustomization file")),
            (None, _) => Err(format!(
                "directory '{dir}' has none of kustomization.yaml, kustomization.yml, Kustomization"
            )),
        }
    }

    /// Whether a path names a directory.
    pub(crate) fn is_directory(&self, path: &str) -> bool {
        if path.is_empty() {
            return true;
        }
        let prefix = format!("{path}/");
        self.files
            .range(prefix.clone()..)
            .next()
            .is_some_and(|(file, _)| file.starts_with(&prefix))
    }

    /// The bytes of a file that `path` names from `dir`, and its full path.
    pub(crate) fn read(&self, dir: &str, path: &str) -> Result<(String, &'a [u8]), String> {
        let full = join(dir, path).ok_or_else(|| outside(path, dir))?;
        if !dir.is_empty() && !full.starts_with(&format!("{dir}/")) {
            return Err(outside(path, dir));
        }
        match self.files.get(&full) {
            Some(bytes) => Ok((full, bytes)),
            None => Err(format!("file '{path}' does not exist")),
        }
    }

    /// The text of a file.
    pub(crate) fn text(&self, dir: &str, path: &str) -> Result<(String, &'a str), String> {
        let (full, bytes) = self.read(dir, path)?;
        let text = std::str::from_utf8(bytes).map_err(|_| format!("file '{path}' is not UTF-8"))?;
        Ok((full, text))
    }
}

fn outside(path: &str, dir: &str) -> String {
    format!(
        "file '{path}' is not in or below '{}'",
        if dir.is_empty() { "." } else { dir }
    )
}

/// A relative path seen from a directory; `None` if it leads out of the root.
pub(crate) fn join(dir: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
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

/// Whether a resource is to be fetched from elsewhere.
pub(crate) fn is_remote(path: &str) -> bool {
    path.contains("://") || path.starts_with("git@") || path.starts_with("git::") || path.starts_with("github.com")
}
