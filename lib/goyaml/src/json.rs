//! Go's `encoding/json` as a writer: no spaces, `<`, `>`, `&` and the two Unicode line separators escaped, floats in
//! Go's spelling. Content hashes are taken over these bytes.
//!
//! Field order is that of the type (structs) or of the map; the maps of `serde_json::Value` are sorted, as Go sorts.

use std::io;

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

use crate::number::{self, EXACT};

/// What `json.Marshal` returns for the same value.
///
/// Assumption: the type is JSON-shaped (map keys are strings or numbers), as every type that has a wire form is.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> String {
    write(value, GoFormatter { floats_only: false })
}

/// [`to_string`] of what `json.Unmarshal` made of the same value in an `interface{}`: every number is a float, so
/// integers beyond 2⁵³ are rounded.
pub fn to_string_of_floats<T: Serialize + ?Sized>(value: &T) -> String {
    write(value, GoFormatter { floats_only: true })
}

/// What `json.Encoder.Encode` writes: [`to_string`] and a line feed.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> String {
    let mut text = to_string(value);
    text.push('\n');
    text
}

fn write<T: Serialize + ?Sized>(value: &T, formatter: GoFormatter) -> String {
    let mut bytes = Vec::with_capacity(128);
    value
        .serialize(&mut Serializer::with_formatter(&mut bytes, formatter))
        .expect("JSON-shaped types encode and a vector takes every byte");
    // serde_json writes whole characters and the formatter adds ASCII only.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Bytes that are escaped though JSON needs it not, or begin such a character: the two separators are 0xe2 0x80 0xa8
/// and 0xe2 0x80 0xa9.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    special[b'<' as usize] = true;
    special[b'>' as usize] = true;
    special[b'&' as usize] = true;
    special[0xe2] = true;
    special
};

struct GoFormatter {
    floats_only: bool,
}

impl Formatter for GoFormatter {
    fn write_i64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: i64) -> io::Result<()> {
        if self.floats_only && value.unsigned_abs() > EXACT {
            return self.write_f64(writer, value as f64);
        }
        write!(writer, "{value}")
    }

    fn write_u64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        if self.floats_only && value > EXACT {
            return self.write_f64(writer, value as f64);
        }
        write!(writer, "{value}")
    }

    fn write_f32<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(writer, f64::from(value))
    }

    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(number::format_json(value).as_bytes())
    }

    fn write_string_fragment<W: io::Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment.as_bytes();
        // Nearly no text has anything special in it.
        while let Some(at) = rest.iter().position(|byte| SPECIAL[usize::from(*byte)]) {
            let (escape, width): (&[u8], usize) = match &rest[at..] {
                [b'<', ..] => (b"\\u003c", 1),
                [b'>', ..] => (b"\\u003e", 1),
                [b'&', ..] => (b"\\u0026", 1),
                [_, 0x80, 0xa8, ..] => (b"\\u2028", 3),
                [_, 0x80, 0xa9, ..] => (b"\\u2029", 3),
                _ => (&rest[at..=at], 1),
            };
            writer.write_all(&rest[..at])?;
            writer.write_all(escape)?;
            rest = &rest[at + width..];
        }
        writer.write_all(rest)
    }

    fn write_char_escape<W: io::Write + ?Sized>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        let text: &[u8] = match escape {
            CharEscape::Quote => b"\\\"",
            CharEscape::ReverseSolidus => b"\\\\",
            CharEscape::Solidus => b"/",
            CharEscape::Backspace => b"\\b",
            CharEscape::FormFeed => b"\\f",
            CharEscape::LineFeed => b"\\n",
            CharEscape::CarriageReturn => b"\\r",
            CharEscape::Tab => b"\\t",
            CharEscape::AsciiControl(byte) => return write!(writer, "\\u{byte:04x}"),
        };
        writer.write_all(text)
    }
}
