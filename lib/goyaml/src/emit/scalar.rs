//! Scalars in the four styles, folded at 80 columns.

use super::{Emit, Emitter, Place, STEP};
use crate::Dialect;
use crate::style::{self, Look, Style};

/// Lines longer than this are folded at the next space; the newer dialect does not fold.
const WIDTH: usize = 80;

impl<T: Emit> Emitter<T> {
    /// Whether a line has become so long that it ends at the next space.
    fn is_full(&self) -> bool {
        self.dialect == Dialect::V2 && self.column > WIDTH
    }

    pub(super) fn text(&mut self, text: &str, look: Look, place: Place) {
        let key = place == Place::SimpleKey;
        // What continues on further lines is indented one step more than what it belongs to.
        let outer = self.indent;
        self.indent = Some(outer.map_or(STEP, |indent| indent + STEP));
        match style::of_text(text, look, self.dialect, key) {
            Style::Plain => self.plain(text, look, place),
            Style::Single => self.single(text, look, !key),
            Style::Double => self.double(text, look, !key),
            Style::Literal => self.literal(text, look),
        }
        self.indent = outer;
    }

    fn plain(&mut self, text: &str, look: Look, place: Place) {
        if !self.whitespace {
            self.put(' ');
        }
        self.folded(text, look, place != Place::SimpleKey);
        self.whitespace = false;
        self.indention = false;
    }

    fn single(&mut self, text: &str, look: Look, may_break: bool) {
        self.indicator("'", true, false, false);
        if text.contains('\'') {
            self.folded(&text.replace('\'', "''"), look, may_break);
        } else {
            self.folded(text, look, may_break);
        }
        self.indicator("'", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    /// Text without escapes; a line beyond the width ends at the next single space.
    fn folded(&mut self, text: &str, look: Look, may_break: bool) {
        let may_break = may_break && self.dialect == Dialect::V2 && look.has_blank();
        if look.is_one_line() {
            if may_break {
                self.words(text);
            } else {
                self.put_all(text);
            }
            return;
        }
        let mut after_space = false;
        let mut after_break = false;
        let mut characters = text.chars().enumerate().peekable();
        while let Some((at, c)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            if c == ' ' {
                let foldable = at > 0 && next.is_some_and(|next| next != ' ');
                if may_break && !after_space && self.is_full() && foldable {
                    self.write_indent();
                } else {
                    self.put(c);
                }
                after_space = true;
            } else if style::is_break(c) {
                if !after_break && c == '\n' {
                    self.put_break();
                }
                self.out.push(c);
                self.column = 0;
                self.indention = true;
                after_break = true;
            } else {
                if after_break {
                    self.write_indent();
                }
                self.put(c);
                self.indention = false;
                after_space = false;
                after_break = false;
            }
        }
    }

    /// [`Self::folded`] for one line with one byte per character.
    fn words(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut start = 0;
        loop {
            // Nothing can end a line before it is full.
            let from = start + (WIDTH + 1).saturating_sub(self.column);
            let blank = |at: &usize| {
                let single = *at > 0 && bytes[*at - 1] != b' ' && bytes.get(*at + 1).is_some_and(|next| *next != b' ');
                bytes[*at] == b' ' && single
            };
            let Some(end) = (from..bytes.len()).find(blank) else {
                return self.put_all(&text[start..]);
            };
            self.put_all(&text[start..end]);
            self.indention = false;
            self.write_indent();
            start = end + 1;
        }
    }

    fn double(&mut self, text: &str, look: Look, may_break: bool) {
        self.indicator("\"", true, false, false);
        if look.needs_no_escape() && !(may_break && look.has_blank() && self.dialect == Dialect::V2) {
            self.put_all(text);
            self.indicator("\"", false, false, false);
            self.whitespace = false;
            self.indention = false;
            return;
        }
        let mut after_space = false;
        // go-yaml looks for a byte order mark at the start only, and then escapes everything.
        let escape_all = text.starts_with('\u{feff}');
        let mut characters = text.chars().enumerate().peekable();
        while let Some((at, c)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            if escape_all || !style::is_printable(c) || style::is_break(c) || matches!(c, '"' | '\\' | '\u{feff}') {
                self.escape(c);
                after_space = false;
            } else if c == ' ' {
                if may_break && !after_space && self.is_full() && at > 0 && next.is_some() {
                    self.write_indent();
                    if next == Some(' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                after_space = true;
            } else {
                self.put(c);
                after_space = false;
            }
        }
        self.indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn escape(&mut self, c: char) {
        let short = match c {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let code = u32::from(c);
                let text = match code {
                    0..=0xff => format!("\\x{code:02X}"),
                    0x100..=0xffff => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                self.column += text.len();
                self.out.push_str(&text);
                return;
            }
        };
        self.put('\\');
        self.put(short);
    }

    fn literal(&mut self, text: &str, look: Look) {
        self.indicator("|", true, false, false);
        if text.starts_with(|c| c == ' ' || style::is_break(c)) {
            self.put(char::from(b'0' + STEP as u8));
        }
        let mut from_end = text.chars().rev();
        match (from_end.next().is_some_and(style::is_break), from_end.next()) {
            (false, _) => self.put('-'),
            (true, before) if before.is_none_or(style::is_break) => self.put('+'),
            _ => {}
        }
        self.put_break();
        self.indention = true;
        self.whitespace = true;
        if look.is_ascii() && !look.has_return() {
            return self.lines(text);
        }
        let mut after_break = true;
        for c in text.chars() {
            if style::is_break(c) {
                if c == '\n' {
                    self.put_break();
                } else {
                    self.out.push(c);
                    self.column = 0;
                }
                self.indention = true;
                after_break = true;
            } else {
                if after_break {
                    self.write_indent();
                }
                self.put(c);
                self.indention = false;
                after_break = false;
            }
        }
    }

    /// Lines as they are, each that is not empty with indentation.
    fn lines(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            let (content, ended) = line.strip_suffix('\n').map_or((line, false), |content| (content, true));
            if !content.is_empty() {
                self.write_indent();
                self.put_all(content);
                self.indention = false;
            }
            if ended {
                self.put_break();
                self.indention = true;
            }
        }
    }
}
