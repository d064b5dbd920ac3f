//! JSON values → the bytes that go-yaml writes for them: natural key order, its choice of quotes, folding at 80 columns,
//! lists not indented under their key.
//!
//! Mirrors what `sigs.k8s.io/yaml` does for `yaml.Marshal`: the value goes through JSON first, which decides how numbers
//! are spelled and which characters are refused.

use std::borrow::Cow;

use serde_json::{Number, Value};

use crate::parse::MAX_DEPTH;
use crate::style::{self, Style};
use crate::{Dialect, Error, json, number, order};

/// A value as YAML, ending in a line feed.
///
/// # Errors
/// Text with characters that YAML cannot carry (most control characters from 0x7f on), nesting without end.
pub fn to_yaml(value: &Value) -> Result<String, Error> {
    to_yaml_with(Dialect::V2, value)
}

/// [`to_yaml`] in the style of a dialect.
///
/// # Errors
/// As [`to_yaml`].
pub fn to_yaml_with(dialect: Dialect, value: &Value) -> Result<String, Error> {
    let mut emitter = Emitter {
        out: String::new(),
        column: 0,
        indent: None,
        whitespace: true,
        indention: true,
        dialect,
    };
    emitter.node(value, Place::Root, 0)?;
    emitter.write_indent();
    Ok(emitter.out)
}

/// Lines longer than this are folded at the next space; the newer dialect does not fold.
const WIDTH: usize = 80;
const STEP: usize = 2;
/// Keys longer than this are written as `? key`.
const SIMPLE_KEY_BYTES: usize = 128;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    /// The key of an entry, before a colon on the same line.
    SimpleKey,
    /// A key after `? `.
    ComplexKey,
    Value,
}

struct Emitter {
    out: String,
    column: usize,
    indent: Option<usize>,
    /// The last thing written was a blank or an indicator that counts as one.
    whitespace: bool,
    /// Nothing but indentation and indicators stands on this line.
    indention: bool,
    dialect: Dialect,
}

impl Emitter {
    fn node(&mut self, value: &Value, place: Place, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(Error::at(0, 0, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        match value {
            Value::Null => self.plain("null", place),
            Value::Bool(true) => self.plain("true", place),
            Value::Bool(false) => self.plain("false", place),
            Value::Number(n) => self.plain(&self.number_text(n), place),
            Value::String(text) => self.text(&self.carried(text)?, place),
            Value::Array(items) if items.is_empty() => self.empty("["),
            Value::Array(items) => return self.sequence(items, place, depth),
            Value::Object(entries) if entries.is_empty() => self.empty("{"),
            Value::Object(entries) => {
                let mut sorted = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    sorted.push((key.as_str(), value));
                }
                order::sort(&mut sorted, self.dialect);
                return self.mapping(&sorted, depth);
            }
        }
        Ok(())
    }

    fn empty(&mut self, open: &str) {
        self.indicator(open, true, true, false);
        self.indicator(if open == "[" { "]" } else { "}" }, false, false, false);
    }

    fn sequence(&mut self, items: &[Value], place: Place, depth: usize) -> Result<(), Error> {
        // A list under a simple key keeps the indentation of its mapping.
        let outer = self.indent;
        if !(place == Place::Value && !self.indention && self.dialect == Dialect::V2) {
            self.deeper();
        }
        for item in items {
            self.write_indent();
            self.indicator("-", true, false, true);
            self.node(item, Place::Item, depth + 1)?;
        }
        self.indent = outer;
        Ok(())
    }

    fn mapping(&mut self, entries: &[(&str, &Value)], depth: usize) -> Result<(), Error> {
        let outer = self.indent;
        self.deeper();
        for (key, value) in entries {
            let key = self.carried_key(key)?;
            self.write_indent();
            if key.len() <= SIMPLE_KEY_BYTES && !has_break(&key) {
                self.text(&key, Place::SimpleKey);
                self.indicator(":", false, false, false);
            } else {
                self.indicator("?", true, false, true);
                self.text(&key, Place::ComplexKey);
                self.write_indent();
                self.indicator(":", true, false, true);
            }
            self.node(value, Place::Value, depth + 1)?;
        }
        self.indent = outer;
        Ok(())
    }

    /// What is left of a text on the way; only the older dialect goes through JSON.
    fn carried<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, Error> {
        match self.dialect {
            Dialect::V2 => through_json(text),
            Dialect::V3 => Ok(Cow::Borrowed(text)),
        }
    }

    fn carried_key<'t>(&self, key: &'t str) -> Result<Cow<'t, str>, Error> {
        match self.dialect {
            Dialect::V2 => key_through_json(key),
            Dialect::V3 => Ok(Cow::Borrowed(key)),
        }
    }

    fn number_text(&self, n: &Number) -> String {
        match self.dialect {
            Dialect::V3 if n.is_f64() => number::format_g(n.as_f64().unwrap_or_default()),
            _ => number_text(n),
        }
    }

    /// Whether a line has become so long that it ends at the next space.
    fn is_full(&self) -> bool {
        self.dialect == Dialect::V2 && self.column > WIDTH
    }

    fn deeper(&mut self) {
        self.indent = Some(self.indent.map_or(0, |indent| indent + STEP));
    }

    fn text(&mut self, text: &str, place: Place) {
        let key = place == Place::SimpleKey;
        // What continues on further lines is indented one step more than what it belongs to.
        let outer = self.indent;
        self.indent = Some(outer.map_or(STEP, |indent| indent + STEP));
        match style::of_text(text, self.dialect, key) {
            Style::Plain => self.plain(text, place),
            Style::Single => self.single(text, !key),
            Style::Double => self.double(text, !key),
            Style::Literal => self.literal(text),
        }
        self.indent = outer;
    }

    fn plain(&mut self, text: &str, place: Place) {
        if !self.whitespace {
            self.put(' ');
        }
        self.folded(text, place != Place::SimpleKey);
        self.whitespace = false;
        self.indention = false;
    }

    fn single(&mut self, text: &str, may_break: bool) {
        self.indicator("'", true, false, false);
        if text.contains('\'') {
            self.folded(&text.replace('\'', "''"), may_break);
        } else {
            self.folded(text, may_break);
        }
        self.indicator("'", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    /// Text without escapes; a line beyond the width ends at the next single space.
    fn folded(&mut self, text: &str, may_break: bool) {
        let foldable =
            may_break && self.dialect == Dialect::V2 && self.column + text.len() > WIDTH && text.contains(' ');
        if !foldable && text.is_ascii() && !text.contains(['\n', '\r']) {
            return self.put_all(text);
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

    fn double(&mut self, text: &str, may_break: bool) {
        self.indicator("\"", true, false, false);
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

    fn literal(&mut self, text: &str) {
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
        if text.is_ascii() && !text.contains('\r') {
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

    /// Starts a new line at the current indentation, unless this line holds nothing but that.
    fn write_indent(&mut self) {
        let indent = self.indent.unwrap_or(0);
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.put_break();
        }
        const BLANKS: &str = "                                ";
        while self.column < indent {
            self.put_all(&BLANKS[..BLANKS.len().min(indent - self.column)]);
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn indicator(&mut self, text: &str, blank_before: bool, whitespace: bool, indention: bool) {
        if blank_before && !self.whitespace {
            self.put(' ');
        }
        self.put_all(text);
        self.whitespace = whitespace;
        self.indention = self.indention && indention;
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    /// Text of one line, one byte per character.
    fn put_all(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.len();
    }

    fn put_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }
}

fn has_break(text: &str) -> bool {
    if text.is_ascii() {
        text.bytes().any(|byte| matches!(byte, b'\n' | b'\r'))
    } else {
        text.chars().any(style::is_break)
    }
}

/// A number as it comes out after JSON: integers as they are, other floats in Go's shortest form.
fn number_text(n: &Number) -> String {
    if n.is_f64() {
        let value = n.as_f64().unwrap_or_default();
        // JSON spells floats up to 10²¹ without an exponent; those that fit 64 bits are then read as integers.
        let text = number::format_json(value);
        if value == 0.0 {
            "0".to_owned()
        } else if text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok() {
            text
        } else {
            number::format_g(value)
        }
    } else {
        n.to_string()
    }
}

/// What is left of a text that is written as JSON and read as YAML on the way.
///
/// YAML's reader refuses some control characters, and takes U+0085 inside quotes for a line break to be folded.
fn through_json(text: &str) -> Result<Cow<'_, str>, Error> {
    if text.bytes().all(|byte| byte < 0x7f) {
        return Ok(Cow::Borrowed(text));
    }
    for c in text.chars() {
        if matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}') {
            return Err(Error::at(
                0,
                0,
                format!("control character U+{:04X} is not allowed", u32::from(c)),
            ));
        }
    }
    if !text.contains(NEXT_LINE) {
        return Ok(Cow::Borrowed(text));
    }
    let mut lines = text.split(NEXT_LINE);
    let mut folded = lines.next().unwrap_or_default().trim_end_matches(' ').to_owned();
    let mut empty = 0;
    let count = text.matches(NEXT_LINE).count();
    for (at, line) in lines.enumerate() {
        let line = line.trim_start_matches(' ');
        let last = at + 1 == count;
        if line.is_empty() && !last {
            empty += 1;
            continue;
        }
        folded.push_str(&if empty == 0 { " ".to_owned() } else { "\n".repeat(empty) });
        empty = 0;
        folded.push_str(if last { line } else { line.trim_end_matches(' ') });
    }
    Ok(Cow::Owned(folded))
}

/// A key as it comes out of the same detour, in which it must be short and stand on one line.
fn key_through_json(key: &str) -> Result<Cow<'_, str>, Error> {
    if key.contains(NEXT_LINE) {
        return Err(Error::at(0, 0, "a key must not contain a line separator"));
    }
    if key.len() > JSON_KEY_CHARACTERS / 6 && json::to_string(key).chars().count() > JSON_KEY_CHARACTERS {
        return Err(Error::at(
            0,
            0,
            format!("a key must not be longer than {JSON_KEY_CHARACTERS} characters"),
        ));
    }
    through_json(key)
}

/// YAML's reader looks this far for the colon after a key.
const JSON_KEY_CHARACTERS: usize = 1024;
const NEXT_LINE: char = '\u{85}';
