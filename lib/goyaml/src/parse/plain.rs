//! Scalars without quotes, and which kind of scalar stands at a place.

use super::Parser;
use super::cursor::{break_width, is_blank, pass_spaces};
use crate::Error;
use crate::tape::Kind;

/// Bytes that can only be part of a plain scalar, whatever stands around them.
const ORDINARY: [bool; 256] = {
    let mut ordinary = [true; 256];
    let special = b":#,?[]{}\xc2\xe2";
    let mut at = 0;
    while at <= b' ' as usize {
        ordinary[at] = false;
        at += 1;
    }
    at = 0;
    while at < special.len() {
        ordinary[special[at] as usize] = false;
        at += 1;
    }
    ordinary
};

/// The same and blanks, which may be part of one.
const ORDINARY_OR_BLANK: [bool; 256] = {
    let mut ordinary = ORDINARY;
    ordinary[b' ' as usize] = true;
    ordinary
};

/// Goes over what can only be part of a plain scalar.
pub(super) fn pass_ordinary(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| ORDINARY[usize::from(*byte)]) {
        at += 1;
    }
    at
}

impl Parser<'_> {
    /// The scalar that stands here. `indent` is that of the collection it belongs to.
    pub(super) fn scalar(&mut self, indent: isize) -> Result<Kind, Error> {
        let quoted = match self.byte(0) {
            quote @ (b'\'' | b'"') => self.quoted(quote)?,
            b'|' | b'>' if self.flow == 0 => return self.block_scalar(indent),
            _ if self.starts_plain() => return self.plain(indent),
            _ => {
                return Err(self.scanner_error(self.at, self.at, "found character that cannot start any token"));
            }
        };
        self.key_allowed = false;
        Ok(quoted)
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
    pub(super) fn plain(&mut self, indent: isize) -> Result<Kind, Error> {
        let start = self.at;
        self.key_allowed = false;
        self.words();
        let end = self.at;
        // Where the folded text begins, once there is more than one line.
        let mut folded = None;
        // Goes on behind the blanks that follow the text, as a reader of tokens does.
        loop {
            self.pass_blanks();
            if !self.is_break(0) {
                // A comment, an indicator or the end: `words` took every word of the line.
                break;
            }
            let breaks = self.at;
            self.pass_break();
            self.key_allowed = true;
            loop {
                self.pass_spaces();
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
                self.pass_break();
            }
            if self.flow == 0 && self.column() <= indent
                || self.is_marker(b"---")
                || self.is_marker(b"...")
                || self.byte(0) == b'#'
            {
                break;
            }
            let here = self.at;
            self.words();
            if self.at == here {
                break;
            }
            if folded.is_none() {
                folded = Some(self.tape.made.len());
                self.make(start, end);
            }
            self.fold(breaks, here);
            self.make(here, self.at);
            self.key_allowed = false;
        }
        let (start, end) = folded.map_or((start, end), |start| (start, self.tape.made.len()));
        Ok(Kind::Scalar {
            start,
            end,
            made: folded.is_some(),
            plain: true,
            folded: false,
        })
    }

    /// Goes over the rest of the line up to an indicator or a comment, but not over blanks at its end.
    fn words(&mut self) {
        let (bytes, start) = (self.bytes, self.at);
        let mut at = start;
        let is_break = |at: usize| matches!(bytes[at], b'\n' | b'\r') || break_width(bytes, at) > 0;
        loop {
            while bytes.get(at).is_some_and(|byte| ORDINARY_OR_BLANK[usize::from(*byte)]) {
                at += 1;
            }
            match bytes.get(at).copied().unwrap_or(0) {
                b'\t' => {}
                b'#' if at > start && is_blank(bytes[at - 1]) => break,
                b':' if bytes.get(at + 1).is_none_or(|byte| *byte <= b' ' || is_break(at + 1)) => break,
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if self.flow > 0 => break,
                0..=b' ' => break,
                0xc2.. if is_break(at) => break,
                _ => {}
            }
            at += 1;
        }
        while at > start && is_blank(bytes[at - 1]) {
            at -= 1;
        }
        self.at = at;
    }

    /// Adds a part of the text to what is being put together.
    pub(super) fn make(&mut self, from: usize, to: usize) {
        self.tape.made.push_str(&self.text[from..to]);
    }

    /// Adds the line breaks of a part of the text that has nothing else but blanks, as they are kept in text.
    pub(super) fn make_breaks(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            match break_width(self.bytes, at) {
                // A blank.
                0 => at = pass_spaces(self.bytes, at + 1).min(to),
                3 => {
                    self.make(at, at + 3);
                    at += 3;
                }
                width => {
                    self.tape.made.push('\n');
                    at += width;
                }
            }
        }
    }

    /// Joins lines over such a part that begins with a break: a single one becomes a blank, of several the first is
    /// dropped. Breaks that are not line feeds stay.
    pub(super) fn fold(&mut self, from: usize, to: usize) {
        let width = break_width(self.bytes, from);
        let before = self.tape.made.len();
        if width == 3 {
            return self.make_breaks(from, to);
        }
        self.make_breaks(from + width, to);
        if self.tape.made.len() == before {
            self.tape.made.push(' ');
        }
    }
}
