//! Strings.

use super::number::to_int64;
use super::{any, int, string, text_of};
use crate::bytes;
use crate::failure::Failure;
use crate::function::Native;
use crate::machine::Machine;
use crate::quote;
use crate::value::{List, Map, MapType, Text, Value};

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("toString", "a", |_, args| Ok(text_of(any(args, 0)).into())),
    ("trim", "s", |_, args| Ok(string(args, 0).trim().into())),
    ("trimAll", "ss", trim_all),
    ("trimall", "ss", trim_all),
    ("trimSuffix", "ss", |_, args| {
        let text = string(args, 1);
        Ok(text.strip_suffix(string(args, 0)).unwrap_or(text).into())
    }),
    ("trimPrefix", "ss", |_, args| {
        let text = string(args, 1);
        Ok(text.strip_prefix(string(args, 0)).unwrap_or(text).into())
    }),
    ("upper", "s", |_, args| Ok(upper(string(args, 0)).into())),
    ("lower", "s", |_, args| Ok(string(args, 0).to_lowercase().into())),
    ("title", "s", |_, args| Ok(title(string(args, 0)).into())),
    ("untitle", "s", |_, args| {
        Ok(each_word(string(args, 0), |first| first.to_lowercase().collect()).into())
    }),
    ("swapcase", "s", |_, args| Ok(swap_case(string(args, 0)).into())),
    ("nospace", "s", |_, args| {
        // Go's library takes each byte for a character.
        let bytes = bytes::of(string(args, 0));
        let chars = bytes.iter().map(|byte| char::from(*byte));
        Ok(chars.filter(|c| !c.is_whitespace()).collect::<String>().into())
    }),
    ("initials", "s", |_, args| {
        Ok(string(args, 0)
            .split_whitespace()
            .filter_map(|word| word.bytes().next())
            .map(char::from)
            .collect::<String>()
            .into())
    }),
    ("snakecase", "s", |_, args| Ok(separated(string(args, 0), '_').into())),
    ("kebabcase", "s", |_, args| Ok(separated(string(args, 0), '-').into())),
    ("camelcase", "s", |_, args| Ok(camel(string(args, 0)).into())),
    ("substr", "iis", substring),
    ("trunc", "is", |_, args| {
        Ok(truncated(int(args, 0), string(args, 1)).into())
    }),
    ("abbrev", "is", |_, args| {
        Ok(abbreviated(0, int(args, 0), string(args, 1)).into())
    }),
    ("abbrevboth", "iis", |_, args| {
        Ok(abbreviated(int(args, 0), int(args, 1), string(args, 2)).into())
    }),
    ("repeat", "is", |machine, args| {
        let count = int(args, 0);
        let count = usize::try_from(count).map_err(|_| Failure::new("strings: negative Repeat count"))?;
        machine.reserve(count.saturating_mul(string(args, 1).len()))?;
        Ok(string(args, 1).repeat(count).into())
    }),
    ("contains", "ss", |_, args| {
        Ok(string(args, 1).contains(string(args, 0)).into())
    }),
    ("hasPrefix", "ss", |_, args| {
        Ok(string(args, 1).starts_with(string(args, 0)).into())
    }),
    ("hasSuffix", "ss", |_, args| {
        Ok(string(args, 1).ends_with(string(args, 0)).into())
    }),
    ("quote", "a*", |_, args| {
        Ok(quoted(args, |value| quote::quote(&text_of(value))).into())
    }),
    ("squote", "a*", |_, args| {
        Ok(quoted(args, |value| format!("'{}'", text_of(value))).into())
    }),
    ("cat", "a*", |_, args| {
        let parts: Vec<String> = args.iter().filter(|value| !value.is_nil()).map(text_of).collect();
        Ok(parts.join(" ").into())
    }),
    ("indent", "is", |machine, args| Ok(indented(machine, args, "")?.into())),
    ("nindent", "is", |machine, args| {
        Ok(indented(machine, args, "\n")?.into())
    }),
    ("replace", "sss", replace),
    ("plural", "ssi", |_, args| {
        Ok(string(args, usize::from(int(args, 2) != 1)).into())
    }),
    ("wrap", "is", |machine, args| {
        Ok(wrapped(machine, int(args, 0), string(args, 1), "\n", false)?.into())
    }),
    ("wrapWith", "iss", |machine, args| {
        Ok(wrapped(machine, int(args, 0), string(args, 2), string(args, 1), true)?.into())
    }),
    ("join", "sa", |machine, args| {
        let parts = texts(any(args, 1));
        let separators = string(args, 0).len().saturating_mul(parts.len());
        machine.reserve(parts.iter().map(String::len).sum::<usize>() + separators)?;
        Ok(parts.join(string(args, 0)).into())
    }),
    (
        "toStrings",
        "a",
        |_, args| Ok(List::strings(texts(any(args, 0))).into()),
    ),
    ("split", "ss", |_, args| {
        Ok(numbered(go_split(string(args, 1), string(args, 0), None)))
    }),
    ("splitn", "sis", |_, args| {
        let limit = int(args, 1);
        let parts = match usize::try_from(limit) {
            Ok(0) => Vec::new(),
            Ok(limit) => go_split(string(args, 2), string(args, 0), Some(limit)),
            Err(_) => go_split(string(args, 2), string(args, 0), None),
        };
        Ok(numbered(parts))
    }),
    ("splitList", "ss", |_, args| {
        Ok(List::strings(go_split(string(args, 1), string(args, 0), None)).into())
    }),
    ("sortAlpha", "a", |_, args| {
        let mut parts = match any(args, 0) {
            Value::List(_) => texts(any(args, 0)),
            other => vec![text_of(other)],
        };
        parts.sort_unstable();
        Ok(List::strings(parts).into())
    }),
    ("seq", "i*", |machine, args| sequence(machine, args)),
    ("atoi", "s", |_, args| {
        Ok(Value::Int(string(args, 0).parse().unwrap_or(0)))
    }),
    ("toDecimal", "a", |_, args| {
        Ok(Value::Int64(
            i64::from_str_radix(text_of(any(args, 0)).trim(), 8).unwrap_or(0),
        ))
    }),
];

fn trim_all(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let set = string(args, 0);
    Ok(string(args, 1).trim_matches(|character| set.contains(character)).into())
}

/// Go changes letters one by one: where Unicode wants two for one, the letter stays.
fn upper(text: &str) -> String {
    text.chars().map(upper_letter).collect()
}

fn upper_letter(letter: char) -> char {
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(only), None) => only,
        _ => letter,
    }
}

/// Upper case at the start of every word, where a word starts after anything that is no letter, digit or `_`.
fn title(text: &str) -> String {
    let mut inside = false;
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if inside {
            out.push(character);
        } else {
            out.push(upper_letter(character));
        }
        inside = character.is_alphanumeric() || character == '_' || character == '\'';
    }
    out
}

fn each_word(text: &str, change: fn(char) -> String) -> String {
    let mut inside = false;
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if inside || character.is_whitespace() {
            out.push(character);
        } else {
            out.push_str(&change(character));
        }
        inside = !character.is_whitespace();
    }
    out
}

fn swap_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_uppercase() {
            out.extend(character.to_lowercase());
        } else if character.is_lowercase() {
            out.push(upper_letter(character));
        } else {
            out.push(character);
        }
    }
    out
}

/// `FirstName` → `first_name`: a separator before each capital that starts a word, and for each run of separators.
fn separated(text: &str, separator: char) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len() + 4);
    for (index, &character) in chars.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|at| chars.get(at)).copied();
        let after = chars.get(index + 1).copied();
        if character == ' ' || character == '_' || character == '-' {
            out.push(separator);
            continue;
        }
        let starts = character.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_uppercase() && after.is_some_and(char::is_lowercase))
            });
        if starts && !out.ends_with(separator) {
            out.push(separator);
        }
        out.extend(character.to_lowercase());
    }
    out
}

fn camel(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let leading = text.len() - text.trim_start_matches(['_', ' ', '-']).len();
    out.push_str(&text[..leading]);
    let mut upper = true;
    for character in text[leading..].chars() {
        if matches!(character, '_' | ' ' | '-') {
            upper = true;
        } else if upper {
            out.push(upper_letter(character));
            upper = false;
        } else {
            out.push(character);
        }
    }
    out
}

fn substring(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let (start, end, bytes) = (int(args, 0), int(args, 1), bytes::of(string(args, 2)));
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let (from, to) = if start < 0 {
        (0, end)
    } else if end < 0 || end > size {
        (start, size)
    } else {
        (start, end)
    };
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let part = range.and_then(|(from, to)| bytes.get(from..to));
    let to = to.min(size);
    part.map(|part| bytes::text(part).into())
        .ok_or_else(|| Failure::new(format!("runtime error: slice bounds out of range [{from}:{to}]")))
}

fn truncated(count: i64, text: &str) -> String {
    let bytes = bytes::of(text);
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let range = if count < 0 && size + count > 0 {
        size + count..size
    } else if count >= 0 && size > count {
        0..count
    } else {
        return text.to_owned();
    };
    let range = usize::try_from(range.start).unwrap_or(0)..usize::try_from(range.end).unwrap_or(0);
    bytes::text(bytes.get(range).unwrap_or_default())
}

fn abbreviated(offset: i64, width: i64, text: &str) -> String {
    let bytes = bytes::of(text);
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    if width < 4 || (offset > 0 && width < 7) || size <= width {
        return text.to_owned();
    }
    let cut = |from: i64, to: i64| -> String {
        let (from, to) = (
            usize::try_from(from.max(0)).unwrap_or(0),
            usize::try_from(to.max(0)).unwrap_or(0),
        );
        bytes::text(bytes.get(from..to.min(bytes.len())).unwrap_or_default())
    };
    let mut offset = offset.min(size);
    if size - offset < width - 3 {
        offset = size - (width - 3);
    }
    if offset <= 4 {
        return cut(0, width - 3) + "...";
    }
    if offset + width - 3 < size {
        return format!("...{}...", cut(offset, offset + width - 6));
    }
    format!("...{}", cut(size - (width - 3), size))
}

fn quoted(args: &[Value], quote: impl Fn(&Value) -> String) -> String {
    let parts: Vec<String> = args.iter().filter(|value| !value.is_nil()).map(quote).collect();
    parts.join(" ")
}

fn indented(machine: &mut Machine<'_>, args: &[Value], before: &str) -> Result<Text, Failure> {
    let text = string(args, 1);
    let width = usize::try_from(int(args, 0)).map_err(|_| Failure::new("strings: negative Repeat count"))?;
    let lines = 1 + memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let length = text.len().saturating_add(lines.saturating_mul(width));
    machine.reserve(length)?;
    let pad = " ".repeat(width);
    let mut out = Text::with_capacity(before.len() + length);
    out.push_str(before);
    for line in text.split_inclusive('\n') {
        out.push_str(&pad);
        out.push_str(line);
    }
    // What stands behind the last line feed is a line, too.
    if text.is_empty() || text.ends_with('\n') {
        out.push_str(&pad);
    }
    Ok(out)
}

fn replace(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let (old, new, text) = (string(args, 0), string(args, 1), string(args, 2));
    let count = text.matches(old).count();
    machine.reserve(text.len().saturating_add(count.saturating_mul(new.len())))?;
    Ok(text.replace(old, new).into())
}

/// Breaks lines after at most `width` characters, at spaces; with `long`, words that are longer are cut.
fn wrapped(machine: &mut Machine<'_>, width: i64, text: &str, newline: &str, long: bool) -> Result<String, Failure> {
    let width = usize::try_from(width.max(1)).unwrap_or(1);
    let chars: Vec<char> = text.chars().collect();
    let limit = machine.text_limit();
    let mut out = String::new();
    let mut at = 0;
    while chars.len() - at > width {
        if out.len() > limit {
            // More than it may make: this says so.
            machine.reserve(out.len())?;
        }
        if chars[at] == ' ' {
            at += 1;
            continue;
        }
        let window = &chars[at..=at + width];
        if let Some(space) = window.iter().rposition(|c| *c == ' ') {
            out.extend(&chars[at..at + space]);
            out.push_str(newline);
            at += space + 1;
        } else if long {
            out.extend(&chars[at..at + width]);
            out.push_str(newline);
            at += width;
        } else if let Some(space) = chars[at + width..].iter().position(|c| *c == ' ') {
            out.extend(&chars[at..at + width + space]);
            out.push_str(newline);
            at += width + space + 1;
        } else {
            break;
        }
    }
    out.extend(&chars[at..]);
    Ok(out)
}

/// The texts of a list's items without nils; anything else is a list of one.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::List(list) => list
            .to_vec()
            .iter()
            .filter(|item| !item.is_nil())
            .map(text_of)
            .collect(),
        Value::Missing | Value::Nil => Vec::new(),
        other => vec![text_of(other)],
    }
}

/// Go's split: an empty separator splits after every character.
fn go_split(text: &str, separator: &str, limit: Option<usize>) -> Vec<String> {
    let limit = limit.unwrap_or(usize::MAX);
    if separator.is_empty() {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if parts.len() + 1 >= limit {
                parts.push(rest.to_owned());
                return parts;
            }
            parts.push(first.to_string());
            rest = &rest[first.len_utf8()..];
        }
        return parts;
    }
    text.splitn(limit, separator).map(str::to_owned).collect()
}

fn numbered(parts: Vec<String>) -> Value {
    let map = Map::typed(MapType::Str);
    for (index, part) in parts.into_iter().enumerate() {
        map.insert(&format!("_{index}"), part);
    }
    map.into()
}

fn sequence(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let numbers: Vec<i64> = args.iter().map(to_int64).collect();
    let step_to = |start: i64, end: i64| if end < start { -1 } else { 1 };
    let (start, step, end) = match numbers[..] {
        [] => return Ok("".into()),
        [end] => (1, step_to(1, end), end),
        [start, end] => (start, step_to(start, end), end),
        [start, step, end] => {
            if (end < start && step > 0) || step == 0 {
                return Ok("".into());
            }
            (start, step, end)
        }
        _ => return Ok("".into()),
    };
    let numbers = steps(machine, start, end.saturating_add(step.signum()), step)?;
    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    Ok(texts.join(" ").into())
}

/// The numbers from `start` to before `end`.
pub(super) fn steps(machine: &mut Machine<'_>, start: i64, end: i64, step: i64) -> Result<Vec<i64>, Failure> {
    let rising = step > 0 && start < end;
    let falling = step < 0 && start > end;
    if !rising && !falling {
        return Ok(Vec::new());
    }
    let count = (end.abs_diff(start)).div_ceil(step.unsigned_abs());
    machine.reserve(usize::try_from(count.saturating_mul(32)).unwrap_or(usize::MAX))?;
    Ok((0..count)
        .map(|index| start + step * i64::try_from(index).unwrap_or(0))
        .collect())
}
