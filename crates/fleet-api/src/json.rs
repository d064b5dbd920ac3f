//! JSON as Go's `encoding/json` writes it. Hashes are taken over such text, so escaping and the
//! printing of numbers are part of the wire format. Field order is that of the Rust struct; map
//! keys are sorted because all maps here are ordered.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// The value without a final newline, like `json.Marshal`.
#[must_use]
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Go);
    value
        .serialize(&mut serializer)
        .expect("the API's types have string keys and a vector takes every byte");
    String::from_utf8(bytes).expect("JSON of Rust strings is UTF-8")
}

/// The value with a final newline, like a `json.Encoder`.
#[must_use]
pub fn encode<T: Serialize + ?Sized>(value: &T) -> String {
    let mut text = to_string(value);
    text.push('\n');
    text
}

/// Largest integer below which every integer is a float64.
const EXACT: u64 = 1 << 53;

struct Go;

impl Formatter for Go {
    fn write_f64<W: Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let size = value.abs();
        if size != 0.0 && !(1e-6..1e21).contains(&size) {
            let text = format!("{value:e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            write!(writer, "{digits}e{sign}{exponent}")
        } else {
            write!(writer, "{value}")
        }
    }

    // Numbers of values were float64 in Go before they were written.
    fn write_i64<W: Write + ?Sized>(&mut self, writer: &mut W, value: i64) -> io::Result<()> {
        if value.unsigned_abs() > EXACT {
            self.write_f64(writer, value as f64)
        } else {
            write!(writer, "{value}")
        }
    }

    fn write_u64<W: Write + ?Sized>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        if value > EXACT {
            self.write_f64(writer, value as f64)
        } else {
            write!(writer, "{value}")
        }
    }

    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut start = 0;
        for (index, c) in fragment.char_indices() {
            if matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}') {
                writer.write_all(&fragment.as_bytes()[start..index])?;
                write!(writer, "\\u{:04x}", c as u32)?;
                start = index + c.len_utf8();
            }
        }
        writer.write_all(&fragment.as_bytes()[start..])
    }

    fn write_char_escape<W: Write + ?Sized>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        match escape {
            CharEscape::Quote => writer.write_all(b"\\\""),
            CharEscape::ReverseSolidus => writer.write_all(b"\\\\"),
            CharEscape::Solidus => writer.write_all(b"/"),
            CharEscape::Backspace => writer.write_all(b"\\b"),
            CharEscape::FormFeed => writer.write_all(b"\\f"),
            CharEscape::LineFeed => writer.write_all(b"\\n"),
            CharEscape::CarriageReturn => writer.write_all(b"\\r"),
            CharEscape::Tab => writer.write_all(b"\\t"),
            CharEscape::AsciiControl(byte) => write!(writer, "\\u{byte:04x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_are_gos() {
        let value = serde_json::json!({"a": "<&>\u{2028}\u{1}\u{8}\"", "b": 1.0, "c": 1e21, "d": 1e-7, "e": 1.5, "f": 9007199254740993_i64, "g": 0.0});
        assert_eq!(
            to_string(&value),
            r#"{"a":"\u003c\u0026\u003e\u2028\u0001\b\"","b":1,"c":1e+21,"d":1e-7,"e":1.5,"f":9007199254740992,"g":0}"#
        );
    }
}
