//! Patterns in Go's syntax become patterns of the `regex` crate, which differs in details: Go's `\d`, `\w`, `\s` and
//! `\b` know ASCII only, a class has no operators, and a brace that begins no repetition is a brace.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use regex::{Regex, RegexBuilder};

/// Bytes of a compiled pattern; a larger one is refused, as Go refuses what repeats too much.
const SIZE: usize = 2 << 20;

/// Bytes of the tables a search may build.
const TABLES: usize = 256 << 10;

/// Compiled patterns that are kept, and the longest of them: charts use the same few again and again.
const KEPT: usize = 64;
const LONGEST_KEPT: usize = 256;

/// The compiled pattern; errors are in Go's words where the mistake is a common one.
pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    static CACHE: OnceLock<Mutex<BTreeMap<String, Regex>>> = OnceLock::new();
    let cache = CACHE.get_or_init(Mutex::default);
    if let Some(known) = cache.lock().unwrap_or_else(PoisonError::into_inner).get(pattern) {
        return Ok(known.clone());
    }
    let regex = RegexBuilder::new(&translated(pattern))
        .size_limit(SIZE)
        .dfa_size_limit(TABLES)
        .build()
        .map_err(|error| format!("error parsing regexp: {}", reason(pattern, &error)))?;
    if pattern.len() <= LONGEST_KEPT {
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= KEPT {
            cache.clear();
        }
        cache.insert(pattern.to_owned(), regex.clone());
    }
    Ok(regex)
}

fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(character) = rest.chars().next() {
        let tail = &rest[character.len_utf8()..];
        rest = tail;
        match character {
            '\\' => {
                let Some(escaped) = tail.chars().next() else {
                    out.push('\\');
                    break;
                };
                rest = &tail[escaped.len_utf8()..];
                if escaped == 'Q' && !in_class {
                    let (literal, after) = rest.split_once("\\E").unwrap_or((rest, ""));
                    out.push_str(&regex::escape(literal));
                    rest = after;
                    continue;
                }
                escape(&mut out, escaped, in_class);
            }
            '[' if in_class => {
                // Only the name of a class such as [:alpha:] is more than a bracket.
                let named = tail.strip_prefix(':').and_then(|name| name.find(":]"));
                match named {
                    Some(length) => {
                        let length = length + 3;
                        out.push('[');
                        out.push_str(&tail[..length]);
                        rest = &tail[length..];
                    }
                    None => out.push_str("\\["),
                }
            }
            '[' => {
                in_class = true;
                out.push('[');
                if let Some(after) = rest.strip_prefix('^') {
                    out.push('^');
                    rest = after;
                }
                if let Some(after) = rest.strip_prefix(']') {
                    out.push_str("\\]");
                    rest = after;
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(character);
            }
            '-' if in_class && tail.starts_with('-') => out.push_str("\\-"),
            '{' if !in_class && !is_repetition(tail) => out.push_str("\\{"),
            '}' if !in_class && !closes_repetition(&out) => out.push_str("\\}"),
            _ => out.push(character),
        }
    }
    out
}

fn escape(out: &mut String, escaped: char, in_class: bool) {
    let class = match escaped {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        's' => "\\t\\n\\f\\r ",
        'D' | 'W' | 'S' if in_class => {
            // The ASCII classes' opposites, which are classes of their own.
            out.push_str("[^");
            escape(out, escaped.to_ascii_lowercase(), true);
            out.push(']');
            return;
        }
        'D' | 'W' | 'S' => {
            out.push_str("[^");
            escape(out, escaped.to_ascii_lowercase(), true);
            out.push(']');
            return;
        }
        'b' | 'B' if !in_class => {
            out.push_str("(?-u:\\");
            out.push(escaped);
            out.push(')');
            return;
        }
        '<' | '>' => {
            out.push(escaped);
            return;
        }
        _ => {
            out.push('\\');
            out.push(escaped);
            return;
        }
    };
    if in_class {
        out.push_str(class);
    } else {
        out.push('[');
        out.push_str(class);
        out.push(']');
    }
}

/// Whether `{` is followed by `n}`, `n,}` or `n,m}`.
fn is_repetition(tail: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(tail);
    let after = &tail[first..];
    if first == 0 {
        return false;
    }
    if after.starts_with('}') {
        return true;
    }
    after
        .strip_prefix(',')
        .is_some_and(|after| after[digits(after)..].starts_with('}'))
}

/// Whether the text so far ends in an open repetition.
fn closes_repetition(out: &str) -> bool {
    let inner = out.trim_end_matches(|character: char| character.is_ascii_digit() || character == ',');
    inner.len() < out.len() && inner.ends_with('{') && !inner.ends_with("\\{")
}

/// RE2's words for the mistakes that are made most.
fn reason(pattern: &str, error: &regex::Error) -> String {
    if matches!(error, regex::Error::CompiledTooBig(_)) {
        return "expression too large".into();
    }
    let text = error.to_string();
    let text = text
        .lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned();
    match text.as_str() {
        "unclosed group" => format!("missing closing ): `{pattern}`"),
        "unopened group" => format!("unexpected ): `{pattern}`"),
        "unclosed character class" => {
            format!(
                "missing closing ]: `{}`",
                pattern.rfind('[').map_or(pattern, |at| &pattern[at..])
            )
        }
        text if text.starts_with("repetition operator missing") => {
            format!(
                "missing argument to repetition operator: `{}`",
                pattern.chars().next().unwrap_or('*')
            )
        }
        text if text.starts_with("look-around") => {
            let at = pattern.find("(?").unwrap_or(0);
            let operator: String = pattern[at..]
                .chars()
                .take(if pattern[at..].starts_with("(?<") { 4 } else { 3 })
                .collect();
            format!("invalid or unsupported Perl syntax: `{operator}`")
        }
        text => format!("{text}: `{pattern}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_ascii() {
        assert!(!compile(r"^\d$").unwrap().is_match("٣"));
        assert!(!compile(r"^[\w]$").unwrap().is_match("é"));
        assert!(compile(r"^\W$").unwrap().is_match("é"));
        assert!(compile(r"^.$").unwrap().is_match("é"));
    }

    #[test]
    fn braces_and_brackets_that_mean_nothing_stand_for_themselves() {
        for (pattern, text) in [
            ("^a{$", "a{"),
            ("^{{x}}$", "{{x}}"),
            ("^a{,5}$", "a{,5}"),
            ("^a{2}$", "aa"),
            ("^[[a]$", "["),
            ("^[&&]$", "&"),
            ("^[a--]$", "-"),
            ("^[]a]$", "]"),
            ("^[[:alpha:]]$", "x"),
            (r"^\Qa.b\E$", "a.b"),
            (r"^\<$", "<"),
        ] {
            assert!(compile(pattern).unwrap().is_match(text), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_explodes_is_refused() {
        assert_eq!(
            compile("((a{1000}){1000}){1000}").unwrap_err(),
            "error parsing regexp: expression too large"
        );
    }
}
