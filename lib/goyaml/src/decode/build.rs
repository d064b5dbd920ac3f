//! What a reader makes of a document: JSON values, or values of its own without that detour.

use std::borrow::Cow;
use std::vec::Drain;

use serde_json::{Number, Value};

/// Makes values out of a document's parts, inner ones first. [`parse_as`](crate::parse_as) calls it while it walks the
/// document; what it is given are JSON's kinds, resolved by the rules of the dialect.
///
/// Keys come as text in the order of the document. A key may come more than once: the last one counts, as in Go.
/// Aliases are expanded before, so each value is made anew wherever it is used.
pub trait Build {
    /// What is made.
    type Value;

    /// `null`, `~` or nothing.
    fn null(&mut self) -> Self::Value;
    /// A boolean.
    fn bool(&mut self, value: bool) -> Self::Value;
    /// A number; a whole one is an integer however it was written, as far as `int64` goes.
    fn number(&mut self, number: Number) -> Self::Value;
    /// A text.
    fn text(&mut self, text: &str) -> Self::Value;
    /// A list.
    fn list(&mut self, items: Drain<'_, Self::Value>) -> Self::Value;
    /// A mapping.
    fn map(&mut self, entries: Drain<'_, (Cow<'_, str>, Self::Value)>) -> Self::Value;
}

/// Makes nothing: for what is only checked.
pub(super) struct Nothing;

impl Build for Nothing {
    type Value = ();

    fn null(&mut self) {}

    fn bool(&mut self, _: bool) {}

    fn number(&mut self, _: Number) {}

    fn text(&mut self, _: &str) {}

    fn list(&mut self, _: Drain<'_, ()>) {}

    fn map(&mut self, _: Drain<'_, (Cow<'_, str>, ())>) {}
}

/// Makes JSON values.
pub(super) struct Json;

impl Build for Json {
    type Value = Value;

    fn null(&mut self) -> Value {
        Value::Null
    }

    fn bool(&mut self, value: bool) -> Value {
        Value::Bool(value)
    }

    fn number(&mut self, number: Number) -> Value {
        Value::Number(number)
    }

    fn text(&mut self, text: &str) -> Value {
        Value::String(text.to_owned())
    }

    fn list(&mut self, items: Drain<'_, Value>) -> Value {
        Value::Array(items.collect())
    }

    fn map(&mut self, entries: Drain<'_, (Cow<'_, str>, Value)>) -> Value {
        Value::Object(entries.map(|(key, value)| (key.into_owned(), value)).collect())
    }
}
