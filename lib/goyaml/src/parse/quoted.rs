//! Scalars in single and in double quotes.

use std::borrow::Cow;

use super::Parser;
use super::plain::fold;
use crate::Error;

impl<'a> Parser<'a> {
    pub(super) fn single_quoted(&mut self) -> Result<Cow<'a, str>, Error> {
        self.quoted(b'\'')
    }

    pub(super) fn double_quoted(&mut self) -> Result<Cow<'a, str>, Error> {
        self.quoted(b'"')
    }

    fn quoted(&mut self, quote: u8) -> Result<Cow<'a, str>, Error> {
        let start = self.at;
        self.at += 1;
        let first = self.at;
        self.pass_ordinary(quote);
        if self.byte(0) == quote && !(quote == b'\'' && self.byte(1) == quote) {
            self.at += 1;
            return Ok(Cow::Borrowed(&self.text[first..self.at - 1]));
        }
        self.at = first;
        let mut text = String::new();
        loop {
            let from = self.at;
            self.pass_ordinary(quote);
            text.push_str(&self.text[from..self.at]);
            match self.byte(0) {
                0 if self.is_end() => {
                    return Err(self.scanner_error(start, self.at, "found unexpected end of stream"));
                }
                byte if byte == quote => {
                    self.at += 1;
                    if quote == b'\'' && self.byte(0) == quote {
                        text.push('\'');
                        self.at += 1;
                        continue;
                    }
                    return Ok(Cow::Owned(text));
                }
                b'\\' => {
                    self.at += 1;
                    if self.is_break(0) {
                        // An escaped break joins lines without a blank.
                        self.pass_break();
                        self.lines_between(start, &mut text, String::new())?;
                    } else {
                        self.escape(start, &mut text)?;
                    }
                }
                _ => {
                    // Blanks before a break do not count, unless they were escaped.
                    let kept = text.len() - (self.at - from);
                    let blanks = text[kept..].trim_end_matches([' ', '\t']).len();
                    text.truncate(kept + blanks);
                    let mut breaks = String::new();
                    self.take_break(&mut breaks);
                    self.lines_between(start, &mut text, breaks)?;
                }
            }
        }
    }

    /// Goes to the next quote, escape or line break.
    fn pass_ordinary(&mut self, quote: u8) {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' if quote == b'"' => return,
                b'\n' | b'\r' => return,
                0xc2 | 0xe2 if self.is_break(0) => return,
                byte if *byte == quote => return,
                _ => self.at += 1,
            }
        }
    }

    /// Goes to the first character of the next line that is not empty. `breaks` is the break before it, if it counts.
    fn lines_between(&mut self, start: usize, text: &mut String, mut breaks: String) -> Result<(), Error> {
        let first = breaks.len();
        loop {
            if self.is_marker(b"---") || self.is_marker(b"...") {
                return Err(self.scanner_error(start, self.at, "found unexpected document indicator"));
            }
            self.pass_blanks();
            if !self.is_break(0) {
                break;
            }
            self.take_break(&mut breaks);
        }
        if first == 0 {
            text.push_str(&breaks);
        } else {
            fold(text, &breaks, first);
        }
        Ok(())
    }

    /// One character after a backslash.
    fn escape(&mut self, start: usize, text: &mut String) -> Result<(), Error> {
        let digits = match self.byte(0) {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            byte => {
                let character = match byte {
                    b'0' => '\0',
                    b'a' => '\u{7}',
                    b'b' => '\u{8}',
                    b't' | b'\t' => '\t',
                    b'n' => '\n',
                    b'v' => '\u{b}',
                    b'f' => '\u{c}',
                    b'r' => '\r',
                    b'e' => '\u{1b}',
                    b' ' => ' ',
                    b'"' => '"',
                    b'\'' => '\'',
                    b'\\' => '\\',
                    b'N' => '\u{85}',
                    b'_' => '\u{a0}',
                    b'L' => '\u{2028}',
                    b'P' => '\u{2029}',
                    _ => return Err(self.scanner_error(start, self.at - 1, "found unknown escape character")),
                };
                self.at += 1;
                text.push(character);
                return Ok(());
            }
        };
        self.at += 1;
        let mut code = 0_u32;
        for ahead in 0..digits {
            let Some(digit) = char::from(self.byte(ahead)).to_digit(16) else {
                return Err(self.scanner_error(start, self.at, "did not find expected hexdecimal number"));
            };
            code = code.wrapping_mul(16).wrapping_add(digit);
        }
        let Some(character) = char::from_u32(code) else {
            return Err(self.scanner_error(start, self.at, "found invalid Unicode character escape code"));
        };
        self.at += digits;
        text.push(character);
        Ok(())
    }
}
