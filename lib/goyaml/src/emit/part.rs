//! What a writer is given: JSON values, or values of the caller's own without that detour.

use std::slice;

use serde_json::{Number, Value, map};

use crate::Error;

/// A value that [`to_yaml_of`](crate::to_yaml_of) can write: it says what it is, one level at a time.
///
/// Implemented by `&serde_json::Value`; a type of shared values implements it itself and hands out clones of its parts.
/// Whoever lets parts be shared or tied into themselves bounds their number: only the depth is bounded here.
pub trait Emit: Sized {
    /// A text.
    type Text: AsRef<str>;
    /// The items of a list.
    type Items: IntoIterator<Item = Self>;
    /// A key.
    type Key: AsRef<str>;
    /// The entries of a mapping, each key once, in the order of the keys' bytes.
    type Entries: IntoIterator<Item = (Self::Key, Self)>;
    /// Why it cannot be written: for reasons of its own, or because YAML has no form for it.
    type Failure: From<Error>;

    /// What it is.
    ///
    /// # Errors
    /// It has no JSON form.
    fn part(self) -> Result<Part<Self>, Self::Failure>;
}

/// What a value is.
pub enum Part<T: Emit> {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number; [`number::of_f64`](crate::number::of_f64) makes one of a float as Go's JSON would.
    Number(Number),
    /// A text.
    Text(T::Text),
    /// A list.
    List(T::Items),
    /// A mapping.
    Map(T::Entries),
}

impl<'v> Emit for &'v Value {
    type Text = &'v String;
    type Items = slice::Iter<'v, Value>;
    type Key = &'v String;
    type Entries = map::Iter<'v>;
    type Failure = Error;

    fn part(self) -> Result<Part<Self>, Error> {
        Ok(match self {
            Value::Null => Part::Null,
            Value::Bool(value) => Part::Bool(*value),
            Value::Number(number) => Part::Number(number.clone()),
            Value::String(text) => Part::Text(text),
            Value::Array(items) => Part::List(items.iter()),
            Value::Object(entries) => Part::Map(entries.iter()),
        })
    }
}
