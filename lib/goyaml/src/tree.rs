//! YAML text → trees that keep how every scalar is spelled, for programs that edit documents before they decode them:
//! `0777` stays `0777` until somebody asks for its number.
//!
//! Aliases and merge keys are expanded (an explicit key wins over a merged one, as in go-yaml v3); how much they may
//! add is bounded. Which scalar is a number, a boolean or a date follows go-yaml v3.
//!
//! Programs that keep the spelling write a document with go-yaml v3 and read it again before they decode it. Only folded
//! texts are not always the same afterwards (`fold`); they come as that leaves them.

use crate::fold;
use crate::parse::{MAX_DEPTH, Parser};
use crate::resolve::{self, Scalar as Meaning};
use crate::tape::{Kind, Node, Tape};
use crate::{Dialect, Error, timestamp};

/// A document or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// A single value.
    Scalar(Scalar),
    /// A list.
    List(Vec<Tree>),
    /// Entries in the order of the text. A key stands once.
    Map(Vec<(Scalar, Tree)>),
}

/// A single value as it is spelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// Its text, without quotes.
    pub text: String,
    /// What it is.
    pub tag: Tag,
}

/// What a scalar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// Nothing: `null`, `~` or no text at all.
    Null,
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int,
    /// Another number.
    Float,
    /// A date or a time.
    Time,
    /// Bytes in base64.
    Binary,
    /// Text.
    Text,
}

/// A number as its text says it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Within `int64` or `uint64`.
    Int(i128),
    /// Anything else; may be infinite or not a number.
    Float(f64),
}

/// How many nodes aliases may add to a stream. Real documents stay far below.
const MAX_ALIASED: usize = 200_000;

/// Reads every document of a stream with the line it starts on. Documents that hold nothing are left out.
///
/// # Errors
/// Where the text is not YAML, repeats a key, or expands without bound.
pub fn documents(text: &str) -> Result<Vec<(Tree, usize)>, Error> {
    let mut parser = Parser::new(Dialect::V3, text);
    let mut documents = Vec::new();
    // Counted over the whole stream.
    let mut aliased = 0;
    while let Some((tape, line)) = parser.next_document()? {
        let mut reader = Reader {
            tape,
            aliased,
            alias_depth: 0,
            depth: 0,
        };
        let read = reader.tree(0);
        aliased = reader.aliased;
        let tree = read.map_err(|(offset, message)| {
            let (line, column) = parser.place(offset);
            Error::at(line, column, message)
        })?;
        if !matches!(&tree, Tree::Scalar(scalar) if scalar.tag == Tag::Null) {
            documents.push((tree, line));
        }
    }
    Ok(documents)
}

/// What an unquoted text is.
pub fn tag_of(text: &str) -> Tag {
    match resolve::resolve(text, Dialect::V3) {
        Meaning::Null => Tag::Null,
        Meaning::Bool(_) => Tag::Bool,
        Meaning::Int(_) => Tag::Int,
        Meaning::Float(_) => Tag::Float,
        Meaning::Text if timestamp::is_timestamp(text) => Tag::Time,
        Meaning::Text => Tag::Text,
    }
}

/// The number a text spells, if it spells one.
pub fn number_of(text: &str) -> Option<Number> {
    match resolve::resolve(text, Dialect::V3) {
        Meaning::Int(value) => Some(Number::Int(value)),
        Meaning::Float(value) => Some(Number::Float(value)),
        Meaning::Null | Meaning::Bool(_) | Meaning::Text => None,
    }
}

struct Reader<'t, 'a> {
    tape: &'t Tape<'a>,
    aliased: usize,
    alias_depth: usize,
    depth: usize,
}

/// A problem and its place in the text.
type Fault = (usize, String);

impl Reader<'_, '_> {
    fn fault(&self, at: usize, message: impl Into<String>) -> Fault {
        (self.tape.nodes[at].offset, message.into())
    }

    fn tree(&mut self, at: usize) -> Result<Tree, Fault> {
        if self.alias_depth > 0 {
            self.aliased += 1;
            if self.aliased > MAX_ALIASED {
                return Err(self.fault(at, "document contains excessive aliasing"));
            }
        }
        // Aliases may put deep values into deep values.
        self.depth += 1;
        if self.depth > MAX_DEPTH + 1 {
            return Err(self.fault(at, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let tree = self.content(at);
        self.depth -= 1;
        tree
    }

    fn content(&mut self, at: usize) -> Result<Tree, Fault> {
        let node = &self.tape.nodes[at];
        match node.kind {
            Kind::Scalar { plain, folded, .. } => {
                let mut scalar = scalar(node, self.tape.text(at), plain);
                if folded {
                    scalar.text = fold::written_and_read(&scalar.text);
                }
                Ok(Tree::Scalar(scalar))
            }
            Kind::Sequence(end) => {
                let mut items = Vec::new();
                let mut item = at + 1;
                while item < end {
                    items.push(self.tree(item)?);
                    item = self.tape.after(item);
                }
                Ok(Tree::List(items))
            }
            Kind::Mapping(end) => self.map(at + 1, end).map(Tree::Map),
            Kind::Alias(target, _) => {
                if self.tape.after(target) > at {
                    let name = self.tape.text(at);
                    return Err(self.fault(at, format!("anchor '{name}' value contains itself")));
                }
                self.alias_depth += 1;
                self.depth -= 1;
                let tree = self.tree(target);
                self.depth += 1;
                self.alias_depth -= 1;
                tree
            }
        }
    }

    fn map(&mut self, start: usize, end: usize) -> Result<Vec<(Scalar, Tree)>, Fault> {
        let mut keys = std::collections::BTreeSet::new();
        let mut map = Vec::new();
        let mut merged: Vec<(Scalar, Tree)> = Vec::new();
        let mut next = start;
        while next < end {
            let (key, value) = (next, self.tape.after(next));
            next = self.tape.after(value);
            let Tree::Scalar(name) = self.tree(key)? else {
                return Err(self.fault(key, "a mapping key must be a scalar"));
            };
            let plain = matches!(&self.tape.nodes[key].kind, Kind::Scalar { plain: true, .. });
            if plain && name.text == "<<" {
                self.merge(value, &mut merged)?;
                continue;
            }
            if !keys.insert(name.text.clone()) {
                return Err(self.fault(key, format!("mapping key '{}' already defined", name.text)));
            }
            let value = self.tree(value)?;
            map.push((name, value));
        }
        map.extend(merged.into_iter().filter(|(name, _)| keys.insert(name.text.clone())));
        Ok(map)
    }

    /// Entries of a merged mapping, or of a list of such: the first that has a key gives it.
    fn merge(&mut self, value: usize, merged: &mut Vec<(Scalar, Tree)>) -> Result<(), Fault> {
        let refusal = self.fault(value, "map merge requires map or sequence of maps as the value");
        let mut add = |tree: Tree| match tree {
            Tree::Map(entries) => {
                merged.extend(entries);
                Ok(())
            }
            Tree::List(_) | Tree::Scalar(_) => Err(refusal.clone()),
        };
        match self.tree(value)? {
            Tree::List(items) => items.into_iter().try_for_each(add),
            tree => add(tree),
        }
    }
}

fn scalar(node: &Node<'_>, text: &str, plain: bool) -> Scalar {
    let tag = match node.tag() {
        None if plain => tag_of(text),
        None => Tag::Text,
        Some(tag) => match tag.strip_prefix("tag:yaml.org,2002:") {
            Some("null") => Tag::Null,
            Some("bool") => Tag::Bool,
            Some("int") => Tag::Int,
            Some("float") => Tag::Float,
            Some("timestamp") => Tag::Time,
            Some("binary") => Tag::Binary,
            _ => Tag::Text,
        },
    };
    Scalar {
        text: text.to_owned(),
        tag,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Tree {
        documents(text).unwrap().remove(0).0
    }

    fn scalar(text: &str, tag: Tag) -> Scalar {
        let text = text.to_owned();
        Scalar { text, tag }
    }

    #[test]
    fn scalars_keep_their_spelling() {
        let read = first("[0777, 1.10, yes, '5', 2020-01-01, ~, !!str 7]");
        let expected = [
            ("0777", Tag::Int),
            ("1.10", Tag::Float),
            ("yes", Tag::Text),
            ("5", Tag::Text),
            ("2020-01-01", Tag::Time),
            ("~", Tag::Null),
            ("7", Tag::Text),
        ];
        let expected = expected.iter().map(|(text, tag)| Tree::Scalar(scalar(text, *tag)));
        assert_eq!(read, Tree::List(expected.collect()));
        assert_eq!(number_of("0777"), Some(Number::Int(511)));
        assert_eq!(number_of("x"), None);
    }

    #[test]
    fn an_explicit_key_wins_over_a_merged_one() {
        let Tree::Map(entries) = first("a: &a {x: 1, y: 2}\nb:\n  y: 3\n  <<: *a\n") else {
            panic!("not a map")
        };
        let Tree::Map(merged) = &entries[1].1 else {
            panic!("not a map")
        };
        let read: Vec<(&str, &Tree)> = merged.iter().map(|(key, value)| (key.text.as_str(), value)).collect();
        let value = |text| Tree::Scalar(scalar(text, Tag::Int));
        assert_eq!(read, [("y", &value("3")), ("x", &value("1"))]);
    }

    #[test]
    fn a_repeated_key_is_an_error() {
        let error = documents("a: 1\na: 2\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2, column 1: mapping key 'a' already defined");
    }

    #[test]
    fn aliases_do_not_explode() {
        let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..9 {
            let before = format!("*a{},", level - 1).repeat(10);
            text.push_str(&format!("a{level}: &a{level} [{before}]\n"));
        }
        assert!(documents(&text).unwrap_err().to_string().contains("excessive aliasing"));
    }

    #[test]
    fn empty_documents_are_left_out() {
        let read = documents("---\n# nothing\n---\na: 1\n---\n").unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].1, 3);
    }
}
