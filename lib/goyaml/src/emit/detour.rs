//! The detour through JSON that `sigs.k8s.io/yaml` takes, and what it does to texts and numbers.

use std::borrow::Cow;

use serde_json::Number;

use crate::{Error, json, number};

/// A number that is no integer as it comes out: in Go's shortest form.
pub(super) fn float(n: &Number) -> String {
    let value = n.as_f64().unwrap_or_default();
    // JSON spells floats up to 10²¹ without an exponent; those that fit 64 bits are then read as integers.
    let text = number::format_json(value);
    if value == 0.0 {
        "0".to_owned()
    } else if text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok() {
        text
    } else {
        number::format_g(value)
    }
}

/// What is left of a text that is written as JSON and read as YAML on the way.
///
/// YAML's reader refuses some control characters, and takes U+0085 inside quotes for a line break to be folded.
pub(super) fn text(text: &str) -> Result<Cow<'_, str>, Error> {
    for c in text.chars() {
        if matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}') {
            return Err(Error::at(
                0,
                0,
                format!("control character U+{:04X} is not allowed", u32::from(c)),
            ));
        }
    }
    if !text.contains(NEXT_LINE) {
        return Ok(Cow::Borrowed(text));
    }
    let mut lines = text.split(NEXT_LINE);
    let mut folded = lines.next().unwrap_or_default().trim_end_matches(' ').to_owned();
    let mut empty = 0;
    let count = text.matches(NEXT_LINE).count();
    for (at, line) in lines.enumerate() {
        let line = line.trim_start_matches(' ');
        let last = at + 1 == count;
        if line.is_empty() && !last {
            empty += 1;
            continue;
        }
        folded.push_str(&if empty == 0 { " ".to_owned() } else { "\n".repeat(empty) });
        empty = 0;
        folded.push_str(if last { line } else { line.trim_end_matches(' ') });
    }
    Ok(Cow::Owned(folded))
}

/// A key as it comes out of the same detour, in which it must be short and stand on one line.
pub(super) fn key(key: &str) -> Result<Cow<'_, str>, Error> {
    if key.contains(NEXT_LINE) {
        return Err(Error::at(0, 0, "a key must not contain a line separator"));
    }
    if key.len() > JSON_KEY_CHARACTERS / 6 && json::to_string(key).chars().count() > JSON_KEY_CHARACTERS {
        return Err(Error::at(
            0,
            0,
            format!("a key must not be longer than {JSON_KEY_CHARACTERS} characters"),
        ));
    }
    text(key)
}

/// YAML's reader looks this far for the colon after a key.
const JSON_KEY_CHARACTERS: usize = 1024;
const NEXT_LINE: char = '\u{85}';
