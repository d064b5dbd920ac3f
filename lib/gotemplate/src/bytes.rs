//! Bytes that are no UTF-8, carried inside Rust's strings.
//!
//! Go's strings are bytes: a picture read from a file, or half a letter cut off by `trunc`, is a string there. Here
//! each byte that is no part of valid UTF-8 stands as one character from the end of Unicode's last private plane
//! (U+10FF80 for 0x80 to U+10FFFF for 0xff), so that it survives every function between where it was read and where it
//! is encoded, hashed or measured. What is printed at the end shows U+FFFD, as a decoder of Go's output would.

use std::borrow::Cow;

/// How every stand-in begins in UTF-8; no other character in use does.
const LEAD: [u8; 2] = [0xf4, 0x8f];

/// Whether `text` may hold stand-ins: almost no text does.
fn suspicious(text: &str) -> bool {
    memchr::memchr(LEAD[0], text.as_bytes()).is_some()
}

/// The byte a four-byte sequence stands for.
fn stood_for(sequence: &[u8]) -> Option<u8> {
    match sequence {
        [0xf4, 0x8f, third @ 0xbe..=0xbf, fourth, ..] => Some(0x80 | (third & 1) << 6 | (fourth & 0x3f)),
        _ => None,
    }
}

/// The byte that `character` stands for, if it is a stand-in.
pub(crate) fn stood_in(character: char) -> Option<u8> {
    stood_for(character.encode_utf8(&mut [0; 4]).as_bytes())
}

fn push(out: &mut String, byte: u8) {
    out.extend(char::from_u32(0x0010_ff00 | u32::from(byte)));
}

/// The text for a Go string of these bytes.
pub fn text(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        if suspicious(valid) {
            // A stand-in in the source itself is text of four bytes, not one byte.
            for character in valid.chars() {
                let mut buffer = [0; 4];
                let sequence = character.encode_utf8(&mut buffer).as_bytes();
                if stood_for(sequence).is_some() {
                    sequence.iter().for_each(|byte| push(&mut out, *byte));
                } else {
                    out.push(character);
                }
            }
        } else {
            out.push_str(valid);
        }
        for byte in chunk.invalid() {
            push(&mut out, *byte);
        }
    }
    out
}

/// The bytes of the Go string that `text` stands for.
pub fn of(text: &str) -> Cow<'_, [u8]> {
    let source = text.as_bytes();
    if !suspicious(text) {
        return Cow::Borrowed(source);
    }
    let mut out = Vec::with_capacity(source.len());
    let mut rest = source;
    while let Some((first, tail)) = rest.split_first() {
        if let Some(byte) = stood_for(rest) {
            out.push(byte);
            rest = rest.get(4..).unwrap_or_default();
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    Cow::Owned(out)
}

/// The length of the Go string in bytes.
pub fn len(text: &str) -> usize {
    if suspicious(text) { of(text).len() } else { text.len() }
}

/// The text without stand-ins, as somebody reads it who decodes Go's output.
pub fn lossy(text: &str) -> Cow<'_, str> {
    if suspicious(text) {
        Cow::Owned(String::from_utf8_lossy(&of(text)).into_owned())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_survive_as_text() {
        let all: Vec<u8> = (0..=255).collect();
        for bytes in [
            &all[..],
            b"plain",
            "h\u{e9}llo \u{10ff80} \u{10ffff}".as_bytes(),
            &[0xf4, 0x8f],
            b"",
        ] {
            assert_eq!(of(&text(bytes)), bytes);
            assert_eq!(len(&text(bytes)), bytes.len());
        }
    }

    #[test]
    fn halves_of_a_letter_meet_again() {
        let joined = text(&[b'a', 0xc3]) + &text(&[0xa9]);
        assert_eq!(lossy(&joined), "a\u{e9}");
        assert_eq!(lossy(&text(&[b'a', 0xff])), "a\u{fffd}");
    }
}
