//! Regular expressions as Go reads them, for a matcher that reads sets of characters differently.
//!
//! Inside brackets Go takes `[`, `&`, `-` and `~` as themselves, where this matcher nests and intersects sets.

use regex::Regex;

/// Reads an expression of Go's dialect.
///
/// # Errors
/// What is no regular expression in either dialect.
pub(super) fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    Regex::new(&translated(pattern))
}

fn translated(pattern: &str) -> String {
    let mut written = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        if character == '[' {
            let end = set(rest, &mut written);
            rest = &rest[end..];
        } else {
            let end = escape(rest);
            written.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    written
}

/// How long the character is that a text starts with, an escaped one with its backslash.
fn escape(text: &str) -> usize {
    let mut characters = text.chars();
    let first = characters.next().map_or(0, char::len_utf8);
    if text.starts_with('\\') {
        first + characters.next().map_or(0, char::len_utf8)
    } else {
        first
    }
}

/// Writes the set that a text starts with; gives where it ends.
fn set(text: &str, written: &mut String) -> usize {
    let start = if text.starts_with("[^") { 2 } else { 1 };
    written.push_str(&text[..start]);
    let mut at = start;
    while let Some(character) = text[at..].chars().next() {
        match character {
            // A bracket that comes first is a character.
            ']' if at > start => {
                written.push(']');
                return at + 1;
            }
            ']' => {
                written.push_str("\\]");
                at += 1;
            }
            '[' if text[at..].starts_with("[:") => {
                let end = text[at..].find(":]").map_or(text.len(), |end| at + end + 2);
                written.push_str(&text[at..end]);
                at = end;
            }
            '[' | '&' | '~' => {
                written.push('\\');
                written.push(character);
                at += 1;
            }
            _ => {
                let end = at + escape(&text[at..]);
                written.push_str(&text[at..end]);
                at = end;
            }
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_go_puts_into_them() {
        for (pattern, fits, differs) in [
            (r#"^[^()<>@,;:\\\"\/[\]?={} \t\x7f\x00]+$"#, "token", "a[b"),
            (r"^[a&&b]+$", "a&b", "c"),
            (r"^[[:alpha:]_]+$", "a_b", "a1"),
            (r"^[]a]+$", "a]", "b"),
            (r"^[[]$", "[", "]"),
            (r"^[~~a]+$", "~a", "b"),
            (r"^\[a\]$", "[a]", "a"),
        ] {
            let regex = compile(pattern).unwrap();
            assert!(regex.is_match(fits), "{pattern} {fits}");
            assert!(!regex.is_match(differs), "{pattern} {differs}");
        }
    }

    #[test]
    fn what_is_broken_stays_broken() {
        for pattern in ["[a", "(a", "[", "[^", "\\"] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }
}
