//! Scalars in single and in double quotes.

use super::Parser;
use crate::Error;
use crate::tape::Kind;

impl Parser<'_> {
    pub(super) fn quoted(&mut self, quote: u8) -> Result<Kind, Error> {
        let start = self.at;
        self.at += 1;
        let first = self.at;
        self.pass_ordinary(quote);
        if self.byte(0) == quote && !(quote == b'\'' && self.byte(1) == quote) {
            self.at += 1;
            return Ok(Kind::Scalar {
                start: first,
                end: self.at - 1,
                made: false,
                plain: false,
                folded: false,
            });
        }
        self.at = first;
        let first = self.tape.made.len();
        loop {
            let (from, made) = (self.at, self.tape.made.len());
            self.pass_ordinary(quote);
            self.make(from, self.at);
            match self.byte(0) {
                0 if self.is_end() => {
                    return Err(self.scanner_error(start, self.at, "found unexpected end of stream"));
                }
                byte if byte == quote => {
                    self.at += 1;
                    if quote == b'\'' && self.byte(0) == quote {
                        self.tape.made.push('\'');
                        self.at += 1;
                        continue;
                    }
                    return Ok(Kind::Scalar {
                        start: first,
                        end: self.tape.made.len(),
                        made: true,
                        plain: false,
                        folded: false,
                    });
                }
                b'\\' => {
                    self.at += 1;
                    if self.is_break(0) {
                        // An escaped break joins lines without a blank.
                        self.pass_break();
                        let breaks = self.at;
                        self.next_line(start)?;
                        self.make_breaks(breaks, self.at);
                    } else {
                        self.escape(start)?;
                    }
                }
                _ => {
                    // Blanks before a break do not count, unless they were escaped.
                    let kept = self.tape.made[made..].trim_end_matches([' ', '\t']).len();
                    self.tape.made.truncate(made + kept);
                    let breaks = self.at;
                    self.pass_break();
                    self.next_line(start)?;
                    self.fold(breaks, self.at);
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

    /// Goes over breaks and blanks to the first character of the next line that is not empty.
    fn next_line(&mut self, start: usize) -> Result<(), Error> {
        loop {
            if self.is_marker(b"---") || self.is_marker(b"...") {
                return Err(self.scanner_error(start, self.at, "found unexpected document indicator"));
            }
            self.pass_blanks();
            if !self.is_break(0) {
                return Ok(());
            }
            self.pass_break();
        }
    }

    /// One character after a backslash.
    fn escape(&mut self, start: usize) -> Result<(), Error> {
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
                self.tape.made.push(character);
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
        self.tape.made.push(character);
        Ok(())
    }
}
