//! Go's quoted string literals: writing them (`%q`) and reading them.

use std::borrow::Cow;

/// Whether Go's `strconv.IsPrint` holds, near enough: no control, format, private or unassigned characters.
fn printable(character: char) -> bool {
    match character {
        ' '..='~' => true,
        '\u{a0}' | '\u{ad}' => false,
        _ if character.is_control() => false,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => false,
        '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{fffb}' | '\u{f0000}'.. => false,
        _ => !character.is_whitespace(),
    }
}

/// The text as a double-quoted Go literal.
pub(crate) fn quote(text: &str) -> String {
    quote_with(text, '"', false)
}

/// The text as a Go literal in `mark`; with `ascii`, only ASCII characters stay as they are.
pub(crate) fn quote_with(text: &str, mark: char, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(mark);
    for character in text.chars() {
        if let Some(byte) = crate::bytes::stood_in(character) {
            out.push_str(&format!("\\x{byte:02x}"));
        } else {
            push_escaped(&mut out, character, mark, ascii);
        }
    }
    out.push(mark);
    out
}

fn push_escaped(out: &mut String, character: char, mark: char, ascii: bool) {
    match character {
        '\\' => out.push_str("\\\\"),
        _ if character == mark => {
            out.push('\\');
            out.push(character);
        }
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        _ if printable(character) && (!ascii || character.is_ascii()) => out.push(character),
        _ => {
            let code = u32::from(character);
            out.push_str(&match code {
                0..0x20 | 0x7f => format!("\\x{code:02x}"),
                0..0x10000 => format!("\\u{code:04x}"),
                _ => format!("\\U{code:08x}"),
            });
        }
    }
}

/// `U+0041 'A'`, as `%#U` prints it.
pub(crate) fn code_point(character: char) -> String {
    let code = u32::from(character);
    if printable(character) {
        format!("U+{code:04X} '{character}'")
    } else {
        format!("U+{code:04X}")
    }
}

/// The value of a Go literal in double quotes, single quotes or backticks. `None` if it is not one.
pub(crate) fn unquote(literal: &str) -> Option<Cow<'_, str>> {
    let [mark, .., last] = *literal.as_bytes() else {
        return None;
    };
    if mark != last || !mark.is_ascii() {
        return None;
    }
    let inner = literal.get(1..literal.len() - 1)?;
    if mark == b'`' {
        return Some(if inner.contains('\r') {
            Cow::Owned(inner.replace('\r', ""))
        } else {
            Cow::Borrowed(inner)
        });
    }
    if memchr::memchr3(b'\\', b'\n', mark, inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    let mark = char::from(mark);
    let mut bytes = Vec::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(character) = chars.next() {
        if character == mark || character == '\n' {
            return None;
        }
        if character != '\\' {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let escape = chars.next()?;
        let simple = match escape {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            '\\' => b'\\',
            '\'' | '"' if escape == mark => escape as u8,
            'x' => number(&mut chars, 2, 16).and_then(|code| u8::try_from(code).ok())?,
            '0'..='7' => {
                let high = escape.to_digit(8)?;
                u8::try_from(high * 64 + number(&mut chars, 2, 8)?).ok()?
            }
            'u' | 'U' => {
                let code = number(&mut chars, if escape == 'u' { 4 } else { 8 }, 16)?;
                bytes.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return None,
        };
        bytes.push(simple);
    }
    Some(Cow::Owned(crate::bytes::text(&bytes)))
}

fn number(chars: &mut std::str::Chars<'_>, count: usize, radix: u32) -> Option<u32> {
    (0..count).try_fold(0u32, |value, _| Some(value * radix + chars.next()?.to_digit(radix)?))
}
