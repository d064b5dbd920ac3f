//! Which way of writing a scalar is possible and which one go-yaml chooses: plain, single quoted, double quoted or
//! literal block.

use crate::resolve::{self, Scalar};
use crate::{Dialect, timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// What kinds of bytes a text has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look(u8);

/// Not ASCII, or the last ASCII character, which is a control character.
const WIDE: u8 = 1;
/// A space, and a colon: harmless before what is seen.
const BLANK: u8 = 2;
const COLON: u8 = 4;
const LINE_FEED: u8 = 8;
const RETURN: u8 = 16;
/// A tab or another control character.
const CONTROL: u8 = 32;
/// Escaped in double quotes.
const ESCAPED: u8 = 64;
/// Anything else that may need quotes.
const SIGN: u8 = 128;

/// The kind of each byte; 0 for letters, digits and signs that mean nothing.
const KINDS: [u8; 256] = {
    let mut kinds = [SIGN; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'\n' => LINE_FEED,
            b'\r' => RETURN,
            0..b' ' => CONTROL,
            b' ' => BLANK,
            b':' => COLON,
            b'"' | b'\\' => ESCAPED,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' | b'+' | b'=' | b',' | b'(' | b')' => 0,
            0x7f.. => WIDE,
            _ => SIGN,
        };
        byte += 1;
    }
    kinds
};

impl Look {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.bytes().fold(0, |seen, byte| seen | KINDS[usize::from(byte)]))
    }

    fn has(self, kinds: u8) -> bool {
        self.0 & kinds != 0
    }

    /// Nothing from 0x7f on.
    pub(crate) fn is_ascii(self) -> bool {
        !self.has(WIDE)
    }

    pub(crate) fn has_blank(self) -> bool {
        self.has(BLANK)
    }

    pub(crate) fn has_return(self) -> bool {
        self.has(RETURN)
    }

    pub(crate) fn has_break(self, text: &str) -> bool {
        self.has(LINE_FEED | RETURN) || self.has(WIDE) && text.chars().any(is_break)
    }

    /// One byte per character, none of them a line break.
    pub(crate) fn is_one_line(self) -> bool {
        !self.has(WIDE | LINE_FEED | RETURN)
    }

    /// Stands between double quotes as it is.
    pub(crate) fn needs_no_escape(self) -> bool {
        !self.has(WIDE | LINE_FEED | RETURN | CONTROL | ESCAPED)
    }
}

/// The style of a text. `key` says that it stands where it must fit on one line before a colon.
pub(crate) fn of_text(text: &str, look: Look, dialect: Dialect, key: bool) -> Style {
    if is_ordinary(text, look) {
        let misread = resolve::resolve(text, dialect) != Scalar::Text || dialect == Dialect::V3 && is_old_bool(text);
        return if misread { Style::Double } else { Style::Plain };
    }
    if look.has(LINE_FEED) && look.is_ascii() {
        let special = look.has(RETURN) || has_control(text, look, dialect);
        let blank_at_end = text.ends_with(' ') || text.contains(" \n");
        return if special || blank_at_end || key {
            Style::Double
        } else {
            Style::Literal
        };
    }
    let misread = resolve::resolve(text, dialect) != Scalar::Text
        || resolve::is_base_60(text)
        || timestamp::is_timestamp(text)
        || (dialect == Dialect::V3 && is_old_bool(text));
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if misread {
        Style::Double
    } else {
        Style::Plain
    };
    let shape = Shape::of(text, dialect);
    match wanted {
        Style::Plain if !shape.multiline_key(key) && shape.plain && !text.is_empty() => Style::Plain,
        Style::Plain if shape.single && !shape.multiline_key(key) => Style::Single,
        Style::Literal if shape.block && !key => Style::Literal,
        _ => Style::Double,
    }
}

/// Whether go-yaml v3 writes a text over several lines, as it stands or folded, where it may.
pub(crate) fn fits_block(text: &str) -> bool {
    Shape::of(text, Dialect::V3).block
}

/// Whether there is a control character that is no line break; tabs are none to the newer dialect.
fn has_control(text: &str, look: Look, dialect: Dialect) -> bool {
    look.has(CONTROL)
        && (dialect == Dialect::V2
            || text
                .bytes()
                .any(|byte| byte != b'\t' && KINDS[usize::from(byte)] == CONTROL))
}

/// Whether a text begins with a letter and has nothing in it that could need quotes: what most texts are like.
fn is_ordinary(text: &str, look: Look) -> bool {
    let bytes = text.as_bytes();
    if look.has(!(BLANK | COLON)) || !bytes.first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    // Something visible must follow; a `#` would be a sign.
    let harmless = |pair: &[u8]| KINDS[usize::from(pair[0])] == 0 || pair[1] != b' ';
    !look.has(BLANK | COLON)
        || bytes.windows(2).all(harmless) && bytes.last().is_some_and(|last| KINDS[usize::from(*last)] == 0)
}

/// Words that older readers take for booleans: go-yaml v3 reads them as text but quotes them.
fn is_old_bool(text: &str) -> bool {
    matches!(
        text,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF"
    )
}

/// Characters that are written as they are; all others only inside double quotes, escaped.
pub(crate) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

pub(crate) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What the characters of a text allow.
struct Shape {
    plain: bool,
    single: bool,
    block: bool,
    multiline: bool,
}

impl Shape {
    fn multiline_key(&self, key: bool) -> bool {
        key && self.multiline
    }

    fn of(text: &str, dialect: Dialect) -> Self {
        if text.is_ascii() {
            return Self::of_ascii(text.as_bytes(), dialect);
        }
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let (mut special, mut tabs, mut breaks) = (false, false, false);
        let (mut break_then_space, mut space_then_break) = (false, false);
        let mut previous: Option<char> = None;
        let mut characters = text.chars().peekable();
        while let Some(c) = characters.next() {
            let blank_next = characters
                .peek()
                .is_none_or(|n| matches!(n, ' ' | '\t') || is_break(*n));
            indicators |= match (previous, c) {
                (
                    None,
                    '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`',
                ) => true,
                (None, '?' | ':' | '-') | (Some(_), ':') => blank_next,
                (Some(before), '#') => matches!(before, ' ' | '\t') || is_break(before),
                _ => false,
            };
            if c == '\t' && dialect == Dialect::V3 {
                tabs = true;
            } else if !is_printable(c) {
                special = true;
            }
            breaks |= is_break(c);
            if let Some(before) = previous {
                break_then_space |= is_break(before) && c == ' ';
                space_then_break |= before == ' ' && is_break(c);
            }
            previous = Some(c);
        }
        let at_edge = |c: Option<char>| c.is_some_and(|c| c == ' ' || is_break(c));
        let edges = at_edge(text.chars().next()) || at_edge(previous);
        let unquotable = space_then_break || special;
        Self {
            plain: !(edges || break_then_space || unquotable || tabs || breaks || indicators),
            single: !(break_then_space || unquotable || tabs),
            block: !(unquotable || previous == Some(' ') || text.is_empty()),
            multiline: breaks,
        }
    }

    /// The same for text of one byte per character.
    fn of_ascii(text: &[u8], dialect: Dialect) -> Self {
        let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let blank_at = |at: usize| text.get(at).is_none_or(|byte| blank(*byte));
        let line_break = |byte: u8| matches!(byte, b'\r' | b'\n');
        let mut indicators = text.starts_with(b"---")
            || text.starts_with(b"...")
            || text.first().is_some_and(|first| match first {
                b'?' | b':' | b'-' => blank_at(1),
                first => b"#,[]{}&*!|>'\"%@`".contains(first),
            });
        let (mut special, mut tabs, mut breaks) = (false, false, false);
        let (mut break_then_space, mut space_then_break) = (false, false);
        let mut before = b'x';
        for (at, byte) in text.iter().enumerate() {
            match byte {
                b'!'..=b'~' => match byte {
                    b':' => indicators |= at > 0 && blank_at(at + 1),
                    b'#' => indicators |= at > 0 && blank(before),
                    _ => {}
                },
                b' ' => break_then_space |= at > 0 && line_break(before),
                b'\n' | b'\r' => {
                    special |= *byte == b'\r';
                    breaks = true;
                    space_then_break |= before == b' ';
                }
                b'\t' if dialect == Dialect::V3 => tabs = true,
                _ => special = true,
            }
            before = *byte;
        }
        let at_edge = |byte: Option<&u8>| byte.is_some_and(|byte| *byte == b' ' || line_break(*byte));
        let edges = at_edge(text.first()) || at_edge(text.last());
        let unquotable = space_then_break || special;
        Self {
            plain: !(edges || break_then_space || unquotable || tabs || breaks || indicators),
            single: !(break_then_space || unquotable || tabs),
            block: !(unquotable || text.last() == Some(&b' ') || text.is_empty()),
            multiline: breaks,
        }
    }
}
