//! The characters that YAML treats specially, and moving over what stands between tokens.

use super::Parser;
use crate::Error;

/// Bytes of the line break at a place: `\n`, `\r`, `\r\n`, U+0085, U+2028 and U+2029; 0 if there is none.
pub(super) fn break_width(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'\n') => 1,
        Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => 2,
        Some(b'\r') => 1,
        Some(0xc2) if bytes.get(at + 1) == Some(&0x85) => 2,
        Some(0xe2) if bytes.get(at + 1) == Some(&0x80) && matches!(bytes.get(at + 2), Some(0xa8 | 0xa9)) => 3,
        _ => 0,
    }
}

/// What is known of a whole text before it is read.
pub(super) struct Survey {
    /// The first character that may not stand in a text at all, not even in quotes.
    pub(super) forbidden: Option<usize>,
    /// Lines end with line feeds alone, so that a line's end is found at once.
    pub(super) only_line_feeds: bool,
}

pub(super) fn survey(text: &str) -> Survey {
    /// Bytes that are looked at together; without branches the compiler takes them all at once.
    const TOGETHER: usize = 32;
    let bytes = text.as_bytes();
    let mut only_line_feeds = true;
    let mut at = 0;
    while at < bytes.len() {
        let together = &bytes[at..bytes.len().min(at + TOGETHER)];
        // A carriage return tells something only once.
        let suspicious = |byte: u8| {
            (byte < b' ') & (byte != b'\t') & (byte != b'\n') & ((byte != b'\r') | only_line_feeds) | (byte >= 0x7f)
        };
        if !together.iter().fold(false, |found, byte| found | suspicious(*byte)) {
            at += together.len();
            continue;
        }
        let end = at + together.len();
        while at < end {
            // Two-byte characters up to U+009F begin with 0xc2; U+FFFE and U+FFFF with 0xef 0xbf.
            let (width, allowed) = match (bytes[at], bytes.get(at + 1), bytes.get(at + 2)) {
                (0xc2, Some(0x85 | 0xa0..), _) => (2, true),
                (0xc2, ..) | (0xef, Some(0xbf), Some(0xbe | 0xbf)) => (1, false),
                (byte, ..) => (1, byte >= 0x80 || matches!(byte, b'\t' | b'\n' | b'\r' | b' '..0x7f)),
            };
            if !allowed {
                // Nothing behind it is read; what stands before it may be read in any way.
                return Survey {
                    forbidden: Some(at),
                    only_line_feeds: false,
                };
            }
            only_line_feeds &= bytes[at] == b'\n' || break_width(bytes, at) == 0;
            at += width;
        }
    }
    Survey {
        forbidden: None,
        only_line_feeds,
    }
}

/// Goes over spaces, eight at a time: most of them are indentation.
pub(super) fn pass_spaces(bytes: &[u8], mut at: usize) -> usize {
    const SPACES: u64 = u64::from_ne_bytes([b' '; 8]);
    while let Some(together) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let differing = u64::from_le_bytes(*together) ^ SPACES;
        if differing != 0 {
            return at + differing.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

impl Parser<'_> {
    /// The byte so many places ahead; 0 at the end of the text, which cannot contain it.
    #[inline]
    pub(super) fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn is_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    #[inline]
    pub(super) fn is_break(&self, ahead: usize) -> bool {
        match self.byte(ahead) {
            b'\n' | b'\r' => true,
            0xc2 | 0xe2 => break_width(self.bytes, self.at + ahead) > 0,
            _ => false,
        }
    }

    /// Whether a blank, a line break or the end of the text stands so many places ahead.
    #[inline]
    pub(super) fn is_space(&self, ahead: usize) -> bool {
        let byte = self.byte(ahead);
        byte <= b' ' || byte >= 0xc2 && self.is_break(ahead)
    }

    /// How far right in its line the place is. In bytes: only indentation and indicators stand before a place whose
    /// column matters.
    #[inline]
    pub(super) fn column(&self) -> isize {
        (self.at - self.line_start) as isize
    }

    /// Whether `---` or `...` stands here, alone.
    pub(super) fn is_marker(&self, marker: &[u8; 3]) -> bool {
        self.at == self.line_start
            && self.byte(0) == marker[0]
            && self.bytes[self.at.min(self.bytes.len())..].starts_with(marker)
            && self.is_space(3)
    }

    pub(super) fn is_line_start(&self, offset: usize) -> bool {
        offset == 0 || (1..=3).any(|width| width <= offset && break_width(self.bytes, offset - width) == width)
    }

    /// Goes over the line break here.
    #[inline]
    pub(super) fn pass_break(&mut self) {
        self.at += match self.byte(0) {
            b'\n' => 1,
            _ => break_width(self.bytes, self.at),
        };
        self.line_start = self.at;
    }

    #[inline]
    pub(super) fn pass_spaces(&mut self) {
        if self.byte(0) == b' ' {
            self.at = pass_spaces(self.bytes, self.at + 1);
        }
    }

    /// Goes to the end of the line.
    pub(super) fn pass_line(&mut self) {
        loop {
            let rest = &self.bytes[self.at.min(self.bytes.len())..];
            if self.only_line_feeds {
                self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                return;
            }
            let stop = |byte: &u8| matches!(byte, b'\n' | b'\r' | 0xc2 | 0xe2);
            self.at += rest.iter().position(stop).unwrap_or(rest.len());
            if self.is_end() || self.is_break(0) {
                return;
            }
            self.at += 1;
        }
    }

    /// Goes over blanks, comments and line breaks.
    pub(super) fn skip_to_token(&mut self) {
        loop {
            self.pass_spaces();
            while self.byte(0) == b'\t' && (self.flow > 0 || !self.key_allowed) {
                self.at += 1;
                self.pass_spaces();
            }
            match self.byte(0) {
                b'\n' => {}
                b'#' => {
                    self.pass_line();
                    if self.is_end() {
                        return;
                    }
                }
                b'\r' | 0xc2 | 0xe2 if self.is_break(0) => {}
                _ => return,
            }
            self.pass_break();
            if self.flow == 0 {
                self.key_allowed = true;
            }
        }
    }

    /// Whether `-` as the mark of an item stands here.
    #[inline]
    pub(super) fn is_item(&self) -> bool {
        self.byte(0) == b'-' && self.is_space(1)
    }

    /// Whether `?` as the mark of a key stands here.
    #[inline]
    pub(super) fn is_key(&self) -> bool {
        self.byte(0) == b'?' && (self.flow > 0 || self.is_space(1))
    }

    /// Whether `:` as the mark of a value stands here.
    #[inline]
    pub(super) fn is_value(&self) -> bool {
        self.byte(0) == b':' && (self.flow > 0 || self.is_space(1))
    }

    /// Reads one token and forgets it, for the problem that may be in it: what cannot be read is reported before what
    /// stands in the wrong place.
    pub(super) fn token(&mut self) -> Result<(), Error> {
        match self.byte(0) {
            0 if self.is_end() => {}
            b'%' if self.column() == 0 => {
                self.directive()?;
            }
            b'[' | b'{' => self.indicator(self.flow + 1),
            b']' | b'}' => self.indicator(self.flow.saturating_sub(1)),
            b',' => self.indicator(self.flow),
            b'-' | b'.' if self.is_marker(b"---") || self.is_marker(b"...") => self.at += 3,
            _ if self.is_item() => self.misplaced("block sequence entries are not allowed in this context")?,
            _ if self.is_key() => self.misplaced("mapping keys are not allowed in this context")?,
            _ if self.is_value() => self.misplaced("mapping values are not allowed in this context")?,
            b'*' | b'&' => {
                self.anchor()?;
                self.key_allowed = false;
            }
            b'!' => {
                self.tag()?;
                self.key_allowed = false;
            }
            _ => {
                self.scalar(-1)?;
            }
        }
        Ok(())
    }

    fn indicator(&mut self, flow: usize) {
        self.at += 1;
        self.flow = flow;
        self.key_allowed = false;
    }

    fn misplaced(&mut self, refusal: &str) -> Result<(), Error> {
        if self.flow == 0 {
            self.may_stand(refusal)?;
        }
        self.at += 1;
        Ok(())
    }

    /// Refuses an indicator that stands where no key could.
    pub(super) fn may_stand(&self, refusal: &str) -> Result<(), Error> {
        if self.key_allowed {
            Ok(())
        } else {
            Err(self.scanner_error(self.at, self.at, refusal))
        }
    }
}
