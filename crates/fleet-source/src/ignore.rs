//! `.fleetignore`: which files and directories a bundle leaves out. One file per directory, whose
//! rules hold for everything whose path begins with that directory's path as text (so rules of
//! `foo` reach a sibling `foobar`, as they do upstream).

use crate::path::base;
use crate::pattern;

/// Name of the files.
pub const FILE: &str = ".fleetignore";

/// Rules of the directories seen so far.
#[derive(Debug, Default)]
pub struct Rules {
    directories: Vec<(String, Vec<String>)>,
}

impl Rules {
    /// Adds the rules of a directory, from the text of its file.
    pub fn add(&mut self, directory: &str, text: &str) {
        let entries: Vec<String> = text
            .lines()
            .map(trim_end)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(str::to_owned)
            .collect();
        if !entries.is_empty() {
            self.directories.push((directory.to_owned(), entries));
        }
    }

    /// Whether a path (relative to the bundle) is left out. `is_directory` rules `name/*`.
    ///
    /// # Errors
    /// A malformed pattern, with its text.
    pub fn ignored(&self, path: &str, is_directory: bool) -> Result<bool, String> {
        let name = base(path);
        for (directory, entries) in &self.directories {
            if !(directory == "." || path.starts_with(directory.as_str())) {
                continue;
            }
            for entry in entries {
                let hit = match entry.strip_suffix("/*").filter(|folder| !folder.is_empty()) {
                    Some(folder) => is_directory && folder == name,
                    None => pattern::matches(entry, name).map_err(|_| entry.clone())?,
                };
                if hit {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Without trailing white space, unless a backslash keeps the first of it.
fn trim_end(line: &str) -> &str {
    let trimmed = line.trim_end();
    let rest = &line[trimmed.len()..];
    match rest.chars().next() {
        Some(c) if trimmed.ends_with('\\') => &line[..trimmed.len() + c.len_utf8()],
        _ => trimmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_hold_for_names_below_their_directory() {
        let mut rules = Rules::default();
        rules.add(".", "# c\n\n*.md\nskip.yaml   \nspace\\ \n  lead\ngone/*\n");
        rules.add("foo", "x.yaml");
        for (path, directory, expected) in [
            ("a.md", false, true),
            ("deep/skip.yaml", false, true),
            ("space ", false, true),
            ("lead", false, false),
            ("deep/gone", true, true),
            ("gone", false, false),
            ("foo/x.yaml", false, true),
            ("foobar/x.yaml", false, true),
            ("bar/x.yaml", false, false),
        ] {
            assert_eq!(rules.ignored(path, directory), Ok(expected), "{path}");
        }
    }
}
