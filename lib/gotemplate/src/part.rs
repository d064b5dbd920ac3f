//! A value as writers of JSON and YAML see it: what it is, one level at a time, with bounds on depth, number of nodes
//! and length of their texts: a value tied into itself, or one that shares a part many times, must not be followed for
//! ever.
//!
//! Upstream concept: what `encoding/json` makes of a value by its Go type.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use goyaml::{Emit, Part};

use crate::failure::Failure;
use crate::object::{GoObject, Kind};
use crate::value::{Element, List, Text, Value};
use crate::{bytes, number, print};

/// Nesting at which writers give up.
const MAX_DEPTH: usize = 1_000;

/// Nodes at which writers give up.
const MAX_NODES: usize = 1_000_000;

/// Bytes of all texts together at which writers give up.
const MAX_TEXT: usize = 64 << 20;

/// What writers saw so far.
#[derive(Default)]
pub(crate) struct Seen {
    nodes: Cell<usize>,
    /// Bytes of texts, and of the indentation that they may be written with.
    text: Cell<usize>,
}

impl Seen {
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.get()
    }

    fn node(&self, depth: usize) -> Result<(), Failure> {
        self.nodes.update(|nodes| nodes + 1);
        if depth > MAX_DEPTH {
            return Err("json: unsupported value: encountered a cycle".into());
        }
        if self.nodes.get() > MAX_NODES {
            return Err(Failure::Limit(format!("a value of more than {MAX_NODES} nodes")));
        }
        self.text(2 * depth)
    }

    fn text(&self, bytes: usize) -> Result<(), Failure> {
        self.text.update(|text| text.saturating_add(bytes));
        if self.text.get() > MAX_TEXT {
            return Err(Failure::Limit(format!("a value of more than {MAX_TEXT} bytes of text")));
        }
        Ok(())
    }
}

/// A value inside a value that is being written.
pub(crate) struct Node<'s> {
    value: Value,
    depth: usize,
    seen: &'s Seen,
}

impl<'s> Node<'s> {
    /// The value that is to be written.
    pub(crate) fn root(value: &Value, seen: &'s Seen) -> Self {
        let value = value.clone();
        Self { value, depth: 0, seen }
    }

    /// A value inside this one.
    fn inner(depth: usize, seen: &'s Seen, value: &Value) -> Self {
        Self {
            value: value.clone(),
            depth: depth + 1,
            seen,
        }
    }
}

impl<'s> Emit for Node<'s> {
    type Text = Text;
    type Items = Vec<Self>;
    type Key = Text;
    type Entries = Vec<(Text, Self)>;
    type Failure = Failure;

    /// A float that is a whole number becomes an integer where it fits, as in Go's JSON.
    fn part(self) -> Result<Part<Self>, Failure> {
        let Self { value, depth, seen } = self;
        seen.node(depth)?;
        Ok(match value {
            Value::Missing | Value::Nil => Part::Null,
            Value::Bool(value) => Part::Bool(value),
            Value::Int(number) | Value::Int64(number) | Value::Sized(_, number) => Part::Number(number.into()),
            Value::Uint(number) => Part::Number(number.into()),
            Value::Float(float) => {
                Part::Number(goyaml::number::of_f64(float).ok_or_else(|| {
                    Failure::new(format!("json: unsupported value: {}", number::general(float, None)))
                })?)
            }
            Value::Str(text) => {
                seen.text(text.len())?;
                if let Cow::Owned(lossy) = bytes::lossy(&text) {
                    return Ok(Part::Text(lossy.into()));
                }
                Part::Text(text)
            }
            Value::List(list) if list.element() == Element::Byte => Part::Text(base64(&list)),
            Value::List(list) if list.is_absent() => Part::Null,
            Value::List(list) => Part::List(list.each(|item| Self::inner(depth, seen, item))),
            Value::Map(map) => {
                let entries = map.each(|key, value| (key.clone(), Self::inner(depth, seen, value)));
                entries.iter().try_for_each(|(key, _)| seen.text(key.len()))?;
                Part::Map(entries)
            }
            Value::Object(object) => {
                if let Some(value) = object.json() {
                    return Self::inner(depth, seen, &value).part();
                }
                let fields = fields(&*object)?.into_iter();
                Part::Map(
                    fields
                        .map(|(key, value)| (key, Self::inner(depth, seen, &value)))
                        .collect(),
                )
            }
        })
    }
}

fn base64(list: &List) -> Text {
    let bytes = list.each(|item| item.as_integer().and_then(|item| u8::try_from(item).ok()));
    let bytes: Vec<u8> = bytes.into_iter().flatten().collect();
    base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes).into()
}

/// The entries of an object by their names.
fn fields(object: &dyn GoObject) -> Result<BTreeMap<Text, Value>, Failure> {
    if object.kind() == Kind::Func {
        return Err(Failure::new(format!("json: unsupported type: {}", object.type_name())));
    }
    let entries = object.entries().into_iter();
    Ok(entries
        .map(|(key, value)| match key {
            Value::Str(name) => (name, value),
            other => (print::shown(&other).into(), value),
        })
        .collect())
}
