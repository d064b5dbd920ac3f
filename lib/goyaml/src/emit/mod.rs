//! Values → the bytes that go-yaml writes for them: natural key order, its choice of quotes, folding at 80 columns,
//! lists not indented under their key.
//!
//! Mirrors what `sigs.k8s.io/yaml` does for `yaml.Marshal`: the value goes through JSON first, which decides how numbers
//! are spelled and which characters are refused.

mod detour;
mod part;
mod scalar;

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Number, Value};

pub use self::part::{Emit, Part};
use crate::parse::MAX_DEPTH;
use crate::style::Look;
use crate::{Dialect, Error, number, order};

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
    to_yaml_of(dialect, value)
}

/// [`to_yaml_with`] of a value that is not JSON's.
///
/// # Errors
/// As [`to_yaml`], and where a part has no JSON form. The first in the order of writing is told.
pub fn to_yaml_of<T: Emit>(dialect: Dialect, value: T) -> Result<String, T::Failure> {
    let mut emitter = Emitter {
        out: String::with_capacity(128),
        column: 0,
        indent: None,
        whitespace: true,
        indention: true,
        dialect,
        entries: Vec::new(),
    };
    emitter.node(value, Place::Root, 0)?;
    emitter.write_indent();
    Ok(emitter.out)
}

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

struct Emitter<T: Emit> {
    out: String,
    column: usize,
    indent: Option<usize>,
    /// The last thing written was a blank or an indicator that counts as one.
    whitespace: bool,
    /// Nothing but indentation and indicators stands on this line.
    indention: bool,
    dialect: Dialect,
    /// Entries of all open mappings that are not written yet, inner ones behind outer ones, the next one last.
    entries: Vec<(T::Key, T)>,
}

impl<T: Emit> Emitter<T> {
    fn node(&mut self, value: T, place: Place, depth: usize) -> Result<(), T::Failure> {
        if depth > MAX_DEPTH {
            return Err(Error::at(0, 0, format!("nested more than {MAX_DEPTH} levels deep")).into());
        }
        match value.part()? {
            Part::Null => self.word("null"),
            Part::Bool(true) => self.word("true"),
            Part::Bool(false) => self.word("false"),
            Part::Number(number) => self.number(&number),
            Part::Text(text) => {
                let text = text.as_ref();
                let look = Look::of(text);
                // Only the older dialect goes through JSON.
                if self.dialect == Dialect::V2 && !look.is_ascii() {
                    let text = detour::text(text)?;
                    self.text(&text, Look::of(&text), place);
                } else {
                    self.text(text, look, place);
                }
            }
            Part::List(items) => return self.sequence(items, place, depth),
            Part::Map(entries) => return self.mapping(entries, depth),
        }
        Ok(())
    }

    fn empty(&mut self, pair: &str) {
        self.indicator(pair, true, false, false);
    }

    fn sequence(&mut self, items: T::Items, place: Place, depth: usize) -> Result<(), T::Failure> {
        let mut items = items.into_iter().peekable();
        if items.peek().is_none() {
            self.empty("[]");
            return Ok(());
        }
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

    fn mapping(&mut self, entries: T::Entries, depth: usize) -> Result<(), T::Failure> {
        let start = self.entries.len();
        self.entries.extend(entries);
        if self.entries.len() == start {
            self.empty("{}");
            return Ok(());
        }
        order::sort_tail(&mut self.entries, start, self.dialect);
        self.entries[start..].reverse();
        let outer = self.indent;
        self.deeper();
        while self.entries.len() > start
            && let Some((key, value)) = self.entries.pop()
        {
            self.write_indent();
            self.key(key.as_ref())?;
            self.node(value, Place::Value, depth + 1)?;
        }
        self.indent = outer;
        Ok(())
    }

    fn key(&mut self, key: &str) -> Result<(), Error> {
        let mut look = Look::of(key);
        let mut key = Cow::Borrowed(key);
        if self.dialect == Dialect::V2 && (!look.is_ascii() || key.len() > SIMPLE_KEY_BYTES) {
            key = Cow::Owned(detour::key(&key)?.into_owned());
            look = Look::of(&key);
        }
        if key.len() <= SIMPLE_KEY_BYTES && !look.has_break(&key) {
            self.text(&key, look, Place::SimpleKey);
            self.indicator(":", false, false, false);
        } else {
            self.indicator("?", true, false, true);
            self.text(&key, look, Place::ComplexKey);
            self.write_indent();
            self.indicator(":", true, false, true);
        }
        Ok(())
    }

    fn number(&mut self, n: &Number) {
        if n.is_f64() {
            let text = match self.dialect {
                Dialect::V2 => detour::float(n),
                Dialect::V3 => number::format_g(n.as_f64().unwrap_or_default()),
            };
            return self.word(&text);
        }
        self.word("");
        let start = self.out.len();
        // A string takes everything.
        let _ = write!(self.out, "{n}");
        self.column += self.out.len() - start;
    }

    /// Text without quotes of one line, not to be folded.
    fn word(&mut self, text: &str) {
        if !self.whitespace {
            self.put(' ');
        }
        self.put_all(text);
        self.whitespace = false;
        self.indention = false;
    }

    fn deeper(&mut self) {
        self.indent = Some(self.indent.map_or(0, |indent| indent + STEP));
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
