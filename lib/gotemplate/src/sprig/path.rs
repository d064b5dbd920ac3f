//! Slash-separated paths, by Go's `path` (and, on the platforms we run on, `path/filepath`).

use super::string;
use crate::function::Native;

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("base", "s", |_, args| Ok(base(string(args, 0)).into())),
    ("osBase", "s", |_, args| Ok(base(string(args, 0)).into())),
    ("dir", "s", |_, args| Ok(dir(string(args, 0)).into())),
    ("osDir", "s", |_, args| Ok(dir(string(args, 0)).into())),
    ("clean", "s", |_, args| Ok(clean(string(args, 0)).into())),
    ("osClean", "s", |_, args| Ok(clean(string(args, 0)).into())),
    ("ext", "s", |_, args| Ok(ext(string(args, 0)).into())),
    ("osExt", "s", |_, args| Ok(ext(string(args, 0)).into())),
    ("isAbs", "s", |_, args| Ok(string(args, 0).starts_with('/').into())),
    ("osIsAbs", "s", |_, args| Ok(string(args, 0).starts_with('/').into())),
];

/// The last element; `.` for an empty path, `/` for the root.
pub fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() {
        "/"
    } else {
        trimmed.rsplit('/').next().unwrap_or(trimmed)
    }
}

fn dir(path: &str) -> String {
    clean(path.rfind('/').map_or("", |at| &path[..=at]))
}

fn ext(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').map_or("", |at| &name[at..])
}

/// The shortest path that means the same.
pub fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".into(),
        (false, false) => parts.join("/"),
    }
}
