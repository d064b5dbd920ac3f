//! Scalars without quotes, and which kind of scalar stands at a place.

use std::borrow::Cow;

use super::Parser;
use super::cursor::is_blank;
use crate::Error;

impl<'a> Parser<'a> {
    /// The scalar that stands here and whether it is a plain one. `indent` is that of the collection it belongs to.
    pub(super) fn scalar(&mut self, indent: isize) -> Result<(Cow<'a, str>, bool), Error> {
        let quoted = match self.byte(0) {
            b'\'' => self.single_quoted()?,
            b'"' => self.double_quoted()?,
            b'|' | b'>' if self.flow == 0 => return Ok((self.block_scalar(indent)?, false)),
            _ if self.starts_plain() => return Ok((self.plain(indent)?, true)),
            _ => {
                return Err(self.scanner_error(self.at, self.at, "found character that cannot start any token"));
            }
        };
        self.key_allowed = false;
        Ok((quoted, false))
    }

    fn starts_plain(&self) -> bool {
        match self.byte(0) {
            b'-' => !is_blank(self.byte(1)),
            b'?' | b':' => self.flow == 0 && !self.is_space(1),
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@'
            | b'`' => false,
            _ => !self.is_space(0),
        }
    }

    /// Text up to an indicator, a comment or a line that is not indented enough; lines are folded.
    fn plain(&mut self, indent: isize) -> Result<Cow<'a, str>, Error> {
        let start = self.at;
        self.key_allowed = false;
        let first = self.words();
        let mut folded: Option<String> = None;
        // Goes on behind the blanks that follow the text, as a reader of tokens does.
        loop {
            self.pass_blanks();
            if !self.is_break(0) {
                // A comment, an indicator or the end: `words` took every word of the line.
                break;
            }
            let mut breaks = String::new();
            self.take_break(&mut breaks);
            self.key_allowed = true;
            let first_break = breaks.len();
            loop {
                while self.byte(0) == b' ' || self.byte(0) == b'\t' {
                    if self.byte(0) == b'\t' && self.column() <= indent {
                        return Err(self.scanner_error(
                            start,
                            self.at,
                            "found a tab character that violates indentation",
                        ));
                    }
                    self.at += 1;
                }
                if !self.is_break(0) {
                    break;
                }
                self.take_break(&mut breaks);
            }
            if self.flow == 0 && self.column() <= indent
                || self.is_marker(b"---")
                || self.is_marker(b"...")
                || self.byte(0) == b'#'
            {
                break;
            }
            let words = self.words();
            if words.is_empty() {
                break;
            }
            let text = folded.get_or_insert_with(|| first.to_owned());
            fold(text, &breaks, first_break);
            text.push_str(words);
            self.key_allowed = false;
        }
        Ok(folded.map_or(Cow::Borrowed(first), Cow::Owned))
    }

    /// The rest of the line up to an indicator or a comment, without blanks at its end.
    fn words(&mut self) -> &'a str {
        let start = self.at;
        let mut end = start;
        loop {
            let byte = self.byte(0);
            match byte {
                b' ' | b'\t' => {
                    self.pass_blanks();
                    if self.byte(0) == b'#' {
                        break;
                    }
                    continue;
                }
                b':' if self.is_space(1) => break,
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if self.flow > 0 => break,
                0..=b' ' => break,
                0xc2.. if self.is_break(0) => break,
                _ => {}
            }
            self.at += 1;
            end = self.at;
        }
        self.at = end;
        &self.text[start..end]
    }
}

/// Joins lines: a single break becomes a blank, of several the first is dropped. Breaks that are not line feeds stay.
pub(super) fn fold(text: &mut String, breaks: &str, first: usize) {
    if breaks.starts_with('\n') {
        if breaks.len() == first {
            text.push(' ');
        } else {
            text.push_str(&breaks[first..]);
        }
    } else {
        text.push_str(breaks);
    }
}
