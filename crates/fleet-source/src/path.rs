//! Paths as text with `/`, cleaned lexically, because they become names: of bundles, of files in
//! bundles, of credentials. Never looks at a file system.

/// The shortest equal path: no `.`, no doubled or trailing `/`, `..` resolved where possible.
/// Nothing is `.`.
#[must_use]
pub fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(last) if *last != ".." => {
                    parts.pop();
                }
                _ if rooted => {}
                _ => parts.push(".."),
            },
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// The parts joined by `/` and cleaned; empty parts do not count.
#[must_use]
pub fn join(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        String::new()
    } else {
        clean(&parts.join("/"))
    }
}

/// Everything after the last `/`.
#[must_use]
pub fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The path without the extension of its last part.
#[must_use]
pub fn without_extension(path: &str) -> &str {
    let start = path.len() - base(path).len();
    match base(path).rfind('.') {
        Some(dot) => &path[..start + dot],
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_lexically() {
        for (path, expected) in [
            ("", "."),
            ("./a/", "a"),
            ("a/../b//c/.", "b/c"),
            ("../a", "../a"),
            ("/..", "/"),
            ("a/..", "."),
            (".", "."),
        ] {
            assert_eq!(clean(path), expected, "{path}");
        }
        assert_eq!(join(&["app", "."]), "app");
        assert_eq!(join(&["app", "a", "env/dev"]), "app/a/env/dev");
        assert_eq!(without_extension("env.d/dev.yaml"), "env.d/dev");
        assert_eq!(without_extension("env.d/dev"), "env.d/dev");
    }
}
