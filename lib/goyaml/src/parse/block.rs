//! Collections and nodes that are arranged by indentation.

use super::Parser;
use super::plain::pass_ordinary;
use super::property::Properties;
use crate::tape::{Kind, Node};
use crate::{Dialect, Error};

/// An implicit key ends within so many characters.
const KEY_CHARACTERS: usize = 1024;

/// Where an implicit key may have begun.
#[derive(Clone, Copy)]
pub(super) struct KeyStart {
    offset: usize,
    line: usize,
}

impl<'a> Parser<'a> {
    /// The node that stands here, in a collection of indentation `indent`. `same_column` says that a list may stand in
    /// the column of the collection (the value of a mapping).
    pub(super) fn block_node(&mut self, indent: isize, same_column: bool) -> Result<(), Error> {
        if self.byte(0).is_ascii_alphanumeric() {
            return self.block_word(indent);
        }
        // Properties on earlier lines are the node's own; those on its first line may be its first key's.
        let mut outer = Properties::default();
        let mut inner = Properties::default();
        let (mut key, mut key_column) = (self.key_start(), self.column());
        while matches!(self.byte(0), b'&' | b'!') {
            let again = if self.byte(0) == b'&' {
                outer.anchor.is_some() || inner.anchor.is_some()
            } else {
                outer.tag.is_some() || inner.tag.is_some()
            };
            if again {
                // One anchor and one tag: the rest stands where nothing should.
                return self.leave_empty(merged(outer, inner));
            }
            let line = self.line_start;
            self.property(&mut inner)?;
            self.skip_to_token();
            if self.line_start != line {
                outer = merged(outer, std::mem::take(&mut inner));
                if self.is_outside(indent, same_column) {
                    return self.leave_empty(outer);
                }
                (key, key_column) = (self.key_start(), self.column());
            }
        }
        if self.is_item() {
            self.may_stand("block sequence entries are not allowed in this context")?;
            return self.block_sequence(indent, merged(outer, inner));
        }
        if self.is_key() {
            self.may_stand("mapping keys are not allowed in this context")?;
            return self.block_mapping(merged(outer, inner));
        }
        if self.is_value() && (inner.is_empty() || key.is_none()) {
            // A value needs a key, if only a `?`.
            self.may_stand("mapping values are not allowed in this context")?;
            return Err(self.parser_error(Some(self.at), self.at, "did not find expected key"));
        }
        let at = self.tape.len();
        let start = outer.start;
        if let Some(name) = outer.anchor {
            // Of the mapping if a key follows, else of what follows: both will be the next node.
            self.tape.anchor(name);
        }
        let names = self.tape.names();
        if self.is_value() {
            self.leave_empty(inner)?;
        } else if self.starts_content() {
            self.content(indent, inner)?;
        } else if outer.is_empty() && inner.is_empty() {
            let here = self.at;
            self.token()?;
            return Err(self.parser_error(Some(here), here, "did not find expected node content"));
        } else {
            self.leave_empty(inner)?;
        }
        if self.is_no_key(at, key) {
            return Ok(());
        }
        if self.ends_key(key)? {
            outer.anchor = None;
            return self.mapping_from((at, names), key_column, outer);
        }
        // No key after all: everything belongs to this one node.
        let node = &mut self.tape.nodes[at];
        if outer.tag.is_some() {
            node.tag = outer.tag;
        }
        node.offset = start.unwrap_or(node.offset);
        Ok(())
    }

    /// The node that a letter or digit begins here: a plain scalar, or a mapping if that is a key.
    fn block_word(&mut self, indent: isize) -> Result<(), Error> {
        let (key, key_column) = (self.key_start(), self.column());
        let (at, names) = (self.tape.len(), self.tape.names());
        let offset = self.at;
        let kind = self.plain(indent)?;
        self.push(kind, offset, Properties::default());
        self.lost_key = false;
        if self.ends_key(key)? {
            return self.mapping_from((at, names), key_column, Properties::default());
        }
        Ok(())
    }

    /// Where a key begins if it begins here.
    pub(super) fn key_start(&self) -> Option<KeyStart> {
        self.key_allowed.then_some(KeyStart {
            offset: self.at,
            line: self.line_start,
        })
    }

    /// Whether the node that was read since `start` is a key: a colon follows on the same line.
    pub(super) fn ends_key(&mut self, start: Option<KeyStart>) -> Result<bool, Error> {
        let Some(start) = start else { return Ok(false) };
        // A required key that is none is noticed where the search for its colon ends.
        self.search_end = self.at;
        if start.line != self.line_start {
            return Ok(false);
        }
        self.skip_to_token();
        let near = self.at - start.offset <= KEY_CHARACTERS
            || self.text[start.offset..self.at].chars().count() <= KEY_CHARACTERS;
        if start.line == self.line_start && near && self.is_value() {
            return Ok(true);
        }
        let ended = self.is_end() || self.flow > 0 && matches!(self.byte(0), b',' | b']' | b'}');
        self.search_end = self.at;
        if start.line == self.line_start && near && !ended {
            self.rest_of_line(start)?;
        }
        Ok(false)
    }

    /// go-yaml v2 loses sight of a key that is an empty collection: the collection stands for itself, and its colon where
    /// nothing should.
    fn is_no_key(&mut self, at: usize, key: Option<KeyStart>) -> bool {
        let node = &self.tape.nodes[at];
        let lost = self.dialect == Dialect::V2
            && matches!(node.kind, Kind::Sequence(end) | Kind::Mapping(end) if end == at + 1)
            && key.is_some_and(|key| key.offset == node.offset);
        self.lost_key = lost && self.is_value_behind_blanks();
        lost
    }

    fn is_value_behind_blanks(&mut self) -> bool {
        self.pass_blanks();
        self.is_value()
    }

    /// Reads the tokens after what may have been a key, for the problem in one of them: it is reported before what was
    /// read before is looked at. Nothing but a comment stands here in a sound document.
    fn rest_of_line(&mut self, start: KeyStart) -> Result<(), Error> {
        let before = (self.at, self.line_start, self.key_allowed, self.flow);
        while !self.is_end() {
            let same_level = self.flow == before.3;
            if same_level && self.flow == 0 && self.is_value() {
                return Err(self.parser_error(Some(start.offset), before.0, "did not find expected key"));
            }
            let ends_search = same_level
                && (matches!(self.byte(0), b',' | b']' | b'}') || self.is_item() || self.is_key() || self.is_value());
            self.token()?;
            if ends_search || self.line_start != before.1 {
                break;
            }
            self.skip_to_token();
        }
        self.search_end = self.at;
        (self.at, self.line_start, self.key_allowed, self.flow) = before;
        Ok(())
    }

    /// Whether what stands here belongs to an outer collection than the one of that indentation.
    fn is_outside(&self, indent: isize, same_column: bool) -> bool {
        let column = self.column();
        // A block scalar can be no key: it belongs to whoever waits for a node, however far left it stands.
        let inside = same_column && self.is_item() || matches!(self.byte(0), b'|' | b'>');
        self.is_document_edge() || column < indent || column == indent && !inside
    }

    pub(super) fn starts_content(&self) -> bool {
        !(self.is_end()
            || matches!(self.byte(0), b']' | b'}' | b',')
            || self.is_item()
            || self.is_key()
            || self.is_value()
            || matches!(self.byte(0), b'&' | b'!')
            || self.column() == 0 && self.is_document_edge())
    }

    /// A scalar, an alias or a flow collection.
    pub(super) fn content(&mut self, indent: isize, properties: Properties<'a>) -> Result<(), Error> {
        let offset = properties.start.unwrap_or(self.at);
        match self.byte(0) {
            b'*' => {
                if !properties.is_empty() {
                    return self.leave_empty(properties);
                }
                let key = self.key_start();
                let start = self.at + 1;
                let name = self.anchor()?;
                self.key_allowed = false;
                let Some(target) = self.tape.anchored(name) else {
                    self.ends_key(key)?;
                    let (line, column) = self.place(offset);
                    return Err(Error::at(line, column, format!("unknown anchor '{name}' referenced")));
                };
                self.push(Kind::Alias(target, start), offset, Properties::default());
                Ok(())
            }
            b'[' | b'{' => {
                if self.flow == 0 {
                    self.flow_indent = indent;
                }
                self.flow_collection(properties)
            }
            _ => {
                let kind = self.scalar(indent)?;
                self.push(kind, offset, properties);
                Ok(())
            }
        }
    }

    /// A node of which only the properties are written.
    pub(super) fn leave_empty(&mut self, properties: Properties<'a>) -> Result<(), Error> {
        self.push(Kind::EMPTY, self.at, properties);
        Ok(())
    }

    /// Begins a collection.
    pub(super) fn open(&mut self, kind: Kind, offset: usize, properties: Properties<'a>) -> Result<usize, Error> {
        self.deeper()?;
        let at = self.tape.len();
        self.push(kind, offset, properties);
        Ok(at)
    }

    fn push(&mut self, kind: Kind, offset: usize, properties: Properties<'a>) {
        if let Some(name) = properties.anchor {
            self.tape.anchor(name);
        }
        self.tape.push(Node {
            kind,
            tag: properties.tag,
            offset: properties.start.unwrap_or(offset),
        });
    }

    /// Ends it.
    pub(super) fn close(&mut self, at: usize) {
        self.depth -= 1;
        self.tape.close(at);
    }

    /// Items in the column of the first `-`.
    fn block_sequence(&mut self, parent: isize, properties: Properties<'a>) -> Result<(), Error> {
        let start = self.at;
        let column = self.column();
        // In the column of its mapping a list is one until anything else comes.
        let indentless = column == parent;
        let at = self.open(Kind::Sequence(0), start, properties)?;
        loop {
            self.at += 1;
            self.key_allowed = true;
            self.skip_to_token();
            if self.is_document_edge()
                || self.column() < column
                || self.column() == column && (self.is_item() || indentless)
            {
                self.empty(self.at);
            } else if self.column() == column {
                self.check_key()?;
                return Err(self.parser_error(Some(self.at), self.at, "did not find expected node content"));
            } else {
                self.block_node(column, false)?;
                self.skip_to_token();
            }
            if self.is_document_edge() || self.column() < column {
                break;
            }
            if self.column() == column && self.is_item() && self.key_allowed {
                continue;
            }
            if indentless {
                break;
            }
            self.stray(column)?;
            return Err(self.parser_error(Some(start), self.at, "did not find expected '-' indicator"));
        }
        self.close(at);
        Ok(())
    }

    /// A mapping that begins with `?`.
    fn block_mapping(&mut self, properties: Properties<'a>) -> Result<(), Error> {
        let (start, column) = (self.at, self.column());
        let at = self.open(Kind::Mapping(0), start, properties)?;
        self.entries(column, start)?;
        self.close(at);
        Ok(())
    }

    /// A mapping whose first key was read already, from a place on the tape on; its colon stands here.
    fn mapping_from(
        &mut self,
        (at, names): (usize, usize),
        column: isize,
        properties: Properties<'a>,
    ) -> Result<(), Error> {
        self.deeper()?;
        let first = self.tape.nodes[at].offset;
        let node = Node {
            kind: Kind::Mapping(0),
            tag: properties.tag,
            offset: properties.start.unwrap_or(first),
        };
        self.tape.wrap(at, names, node);
        self.at += 1;
        self.key_allowed = false;
        self.value(column)?;
        self.entries(column, first)?;
        self.close(at);
        Ok(())
    }

    /// Entries in a column until something stands further left.
    fn entries(&mut self, column: isize, start: usize) -> Result<(), Error> {
        loop {
            self.skip_to_token();
            if self.is_document_edge() || self.column() < column {
                return Ok(());
            }
            if self.column() > column || !self.key_allowed {
                self.stray(column)?;
                return Err(self.parser_error(Some(start), self.at, "did not find expected key"));
            }
            if self.is_key() {
                self.at += 1;
                self.key_allowed = true;
                self.skip_to_token();
                if self.is_outside(column, true) {
                    self.empty(self.at);
                } else {
                    self.block_node(column, true)?;
                    self.skip_to_token();
                }
                if !self.is_document_edge() && self.column() == column && self.key_allowed && self.is_value() {
                    self.at += 1;
                    self.key_allowed = true;
                    self.value(column)?;
                } else {
                    self.empty(self.at);
                }
            } else if matches!(self.byte(0), b'|' | b'>' | b']' | b'}' | b',') || self.is_item() || self.is_value() {
                let here = self.at;
                self.token()?;
                return Err(self.parser_error(Some(start), here, "did not find expected key"));
            } else {
                if !self.word_key() {
                    self.simple_key(column)?;
                }
                self.at += 1;
                self.key_allowed = false;
                self.value(column)?;
            }
        }
    }

    /// Pushes the key that stands here if it is a word right before its colon, as nearly every key is.
    fn word_key(&mut self) -> bool {
        let (start, end) = (self.at, pass_ordinary(self.bytes, self.at));
        let is_key = self.byte(0).is_ascii_alphanumeric()
            && self.bytes.get(end) == Some(&b':')
            && self.is_space(end + 1 - start)
            && end - start <= KEY_CHARACTERS;
        if is_key {
            let kind = Kind::Scalar {
                start,
                end,
                made: false,
                plain: true,
                folded: false,
            };
            self.push(kind, start, Properties::default());
            (self.at, self.search_end) = (end, end);
            self.key_allowed = false;
        }
        is_key
    }

    /// A key that must be one, because it stands in the column of keys.
    fn simple_key(&mut self, column: isize) -> Result<(), Error> {
        let key = self.key_start();
        let start = self.at;
        let mut properties = Properties::default();
        while self.property(&mut properties)? {
            self.skip_to_token();
            if self.at_other_line(key) {
                return Err(self.missing_colon(start, self.at));
            }
        }
        if self.is_value() && !properties.is_empty() {
            return self.leave_empty(properties);
        }
        if !self.starts_content() {
            self.token()?;
            return Err(self.missing_colon(start, self.at));
        }
        self.content(column, properties)?;
        if self.ends_key(key)? {
            Ok(())
        } else {
            Err(self.missing_colon(start, self.search_end))
        }
    }

    fn at_other_line(&self, key: Option<KeyStart>) -> bool {
        key.is_some_and(|key| key.line != self.line_start)
    }

    /// What stands after a colon.
    fn value(&mut self, column: isize) -> Result<(), Error> {
        self.skip_to_token();
        if self.is_outside(column, true) {
            self.empty(self.at);
            Ok(())
        } else {
            self.block_node(column, true)
        }
    }

    /// Reads what stands where nothing should, for the problem in it that is reported first.
    fn stray(&mut self, column: isize) -> Result<(), Error> {
        if self.column() == column && self.key_allowed {
            return self.check_key();
        }
        let here = (self.at, self.line_start, self.flow);
        self.token()?;
        (self.at, self.line_start, self.flow) = here;
        Ok(())
    }

    /// In the column of a collection everything but an indicator must be a key.
    fn check_key(&mut self) -> Result<(), Error> {
        let here = (self.at, self.line_start, self.tape.len());
        if self.starts_content() && !matches!(self.byte(0), b'|' | b'>') || matches!(self.byte(0), b'&' | b'!') {
            self.simple_key(self.column())?;
        } else {
            self.token()?;
        }
        (self.at, self.line_start) = (here.0, here.1);
        Ok(())
    }
}

fn merged<'a>(outer: Properties<'a>, inner: Properties<'a>) -> Properties<'a> {
    Properties {
        anchor: outer.anchor.or(inner.anchor),
        tag: outer.tag.or(inner.tag),
        start: outer.start.or(inner.start),
    }
}
