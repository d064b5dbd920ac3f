//! The values a template works on, typed as Go's are: `int`, `int64` and `float64` print, compare and convert differently.
//!
//! Upstream concept: `reflect.Value` as `text/template` sees it.

use std::fmt;
use std::rc::Rc;

pub use crate::container::{Element, List, Map, MapType};
use crate::object::GoObject;

/// A shared, unchanging string; a short one lies in place.
pub type Text = ecow::EcoString;

/// One value.
#[derive(Clone, Default)]
pub enum Value {
    /// No value at all: a missing key, an empty pipeline. Prints `<no value>`.
    #[default]
    Missing,
    /// An interface that holds nil.
    Nil,
    /// `bool`
    Bool(bool),
    /// `int`: literals in templates, results of `len`, loop indexes.
    Int(i64),
    /// `int64`: results of sprig's arithmetic.
    Int64(i64),
    /// Another integer type.
    Sized(Width, i64),
    /// `uint64`
    Uint(u64),
    /// `float64`: every number of a values file.
    Float(f64),
    /// `string`
    Str(Text),
    /// A slice.
    List(List),
    /// A map with string keys.
    Map(Map),
    /// A Go value with fields and methods.
    Object(Rc<dyn GoObject>),
}

/// Integer types that occur rarely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// `uint8`: a byte of a string.
    Byte,
    /// `int32`: a rune.
    Rune,
    /// `time.Duration`
    Duration,
    /// `time.Month`
    Month,
    /// `time.Weekday`
    Weekday,
}

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

impl Width {
    /// What the type's `String` method makes of a value, where it has one.
    pub(crate) fn text(self, value: i64) -> Option<String> {
        let named = |names: &[&str], place: i64| {
            let name = usize::try_from(place).ok().and_then(|place| names.get(place))?;
            Some((*name).to_owned())
        };
        match self {
            Self::Byte | Self::Rune => None,
            Self::Duration => Some(crate::number::duration(value)),
            Self::Month => named(&MONTHS, value - 1),
            Self::Weekday => named(&WEEKDAYS, value),
        }
    }
}

impl Value {
    /// A string value.
    pub fn str(text: &str) -> Self {
        Self::Str(text.into())
    }

    /// The concrete type as Go's `%T` prints it; `<nil>` for none.
    pub fn type_name(&self) -> String {
        match self {
            Self::Missing | Self::Nil => "<nil>".into(),
            Self::Bool(_) => "bool".into(),
            Self::Int(_) => "int".into(),
            Self::Int64(_) => "int64".into(),
            Self::Sized(Width::Byte, _) => "uint8".into(),
            Self::Sized(Width::Rune, _) => "int32".into(),
            Self::Sized(Width::Duration, _) => "time.Duration".into(),
            Self::Sized(Width::Month, _) => "time.Month".into(),
            Self::Sized(Width::Weekday, _) => "time.Weekday".into(),
            Self::Uint(_) => "uint64".into(),
            Self::Float(_) => "float64".into(),
            Self::Str(_) => "string".into(),
            Self::List(list) => list.element().slice_name().into(),
            Self::Map(map) => map.kind().name().into(),
            Self::Object(object) => object.type_name(),
        }
    }

    /// The kind as Go's `reflect.Kind` prints it.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Missing | Self::Nil => "invalid",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Sized(Width::Month | Width::Weekday, _) => "int",
            Self::Int64(_) | Self::Sized(Width::Duration, _) => "int64",
            Self::Sized(Width::Byte, _) => "uint8",
            Self::Sized(Width::Rune, _) => "int32",
            Self::Uint(_) => "uint64",
            Self::Float(_) => "float64",
            Self::Str(_) => "string",
            Self::List(_) => "slice",
            Self::Map(_) => "map",
            Self::Object(object) => object.kind().name(),
        }
    }

    /// Whether a condition holds, by Go's rule: not the zero value, not an empty container.
    pub fn truth(&self) -> bool {
        match self {
            Self::Missing | Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(value) | Self::Int64(value) | Self::Sized(_, value) => *value != 0,
            Self::Uint(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Str(value) => !value.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Object(object) => object.truth(),
        }
    }

    /// Whether there is neither a value nor an interface with one.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Missing | Self::Nil)
    }

    /// The string inside, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The integer inside, of whatever integer type.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Int(value) | Self::Int64(value) | Self::Sized(_, value) => Some(*value),
            Self::Uint(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::str(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text.into())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::Str(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::List(List::new(items))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Str(text) => write!(f, "{text:?}"),
            Self::Missing => f.write_str("<missing>"),
            other => write!(f, "{}", other.type_name()),
        }
    }
}
