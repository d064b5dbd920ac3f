//! Types of objects: which fields they have, how lists and maps merge, what is filled in, how zero values are written.
//!
//! One model serves the built-in kinds (from the generated table), custom resources (from their structural schemas)
//! and objects nobody has a schema for ([`Type::any`], upstream's "deduced" type).

mod decode;
mod structural;
pub(crate) mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

pub use self::decode::{DecodeError, Decoded, decode, encode};
pub use self::structural::from_json_schema;

/// A type of value.
#[derive(Debug, Clone)]
pub enum Type {
    /// Anything; merges as its content suggests: objects field by field, lists as a whole.
    Any,
    /// A single value.
    Scalar(Scalar),
    /// An object.
    Object(Object),
    /// A list.
    List(List),
    /// A type of the generated table.
    Named(u32),
}

/// Kinds of single values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// Text.
    String,
    /// True or false.
    Boolean,
    /// Integer of 32 bits.
    Int32,
    /// Integer of 64 bits.
    Int64,
    /// Any number.
    Number,
    /// Integer or text.
    IntOrString,
    /// A [`crate::quantity::Quantity`].
    Quantity,
    /// RFC 3339 time with seconds.
    Time,
    /// RFC 3339 time with microseconds.
    MicroTime,
    /// Bytes in base64.
    Bytes,
    /// Anything that is merged as one value.
    Untyped,
}

/// An object with known fields, arbitrary keys, or both.
#[derive(Debug, Clone, Default)]
pub struct Object {
    /// Known fields.
    pub fields: BTreeMap<String, Field>,
    /// Type of the values under any other key; `None`: there are no others.
    pub rest: Option<Arc<Type>>,
    /// Whether null is one of those values.
    pub rest_nullable: bool,
    /// Owned and replaced as a whole.
    pub atomic: bool,
    /// A Kubernetes object inside another: its `metadata` is an object's metadata.
    pub embedded: bool,
    /// Unknown fields stay.
    pub preserve: bool,
}

/// A list.
#[derive(Debug, Clone)]
pub struct List {
    /// Type of the items.
    pub item: Arc<Type>,
    /// How it merges.
    pub kind: ListKind,
}

/// How a list merges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind {
    /// As a whole.
    Atomic,
    /// By value.
    Set,
    /// By these fields of its items.
    Map(Vec<String>),
}

/// How a strategic merge patch treats a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strategy {
    /// Lists merge instead of being replaced.
    pub merge: bool,
    /// `$retainKeys` clears the fields that are not named.
    pub retain_keys: bool,
    /// The field that identifies an item; none for lists of scalars.
    pub merge_key: Option<String>,
}

/// How the reference implementation writes a field that has no value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Zero {
    /// A value is kept even if it is false, 0, "" or empty.
    pub pointer: bool,
    /// An absent value is left out; otherwise it is written as its zero.
    pub omit: bool,
    /// Absent lists and maps are written as null.
    pub collection: bool,
}

/// A field of an object.
#[derive(Debug, Clone)]
pub struct Field {
    /// Type of its value.
    pub schema: Arc<Type>,
    /// What the schema fills in.
    pub default: Option<Value>,
    /// Whether null is a value of its own.
    pub nullable: bool,
    /// Whether the schema demands it.
    pub required: bool,
    /// The allowed values, if they are enumerated.
    pub choices: Vec<String>,
    /// Strategic merge.
    pub strategy: Strategy,
    /// Zero values.
    pub zero: Zero,
}

impl Field {
    /// A field of which only the type is known.
    pub fn of(schema: Type) -> Self {
        Field {
            schema: Arc::new(schema),
            default: None,
            nullable: false,
            required: false,
            choices: Vec::new(),
            strategy: Strategy::default(),
            zero: Zero {
                omit: true,
                pointer: true,
                collection: false,
            },
        }
    }
}

impl Type {
    /// The type nothing is known about.
    pub fn any() -> &'static Type {
        &Type::Any
    }

    /// The type itself, looked up if it is a name.
    pub fn resolve(&self) -> &Type {
        match self {
            Type::Named(index) => table::named(*index),
            other => other,
        }
    }

    /// The OpenAPI name of a type of the generated table.
    pub fn name(&self) -> Option<&'static str> {
        match self {
            Type::Named(index) => table::name(*index),
            other => table::name_of(other),
        }
    }

    /// The type of the value under `key`, if this is an object that may have it.
    pub fn child(&self, key: &str) -> Option<&Type> {
        match self.resolve() {
            Type::Any => Some(&Type::Any),
            Type::Object(object) => match object.fields.get(key) {
                Some(field) => Some(field.schema.resolve()),
                None => object.rest.as_deref().map(Type::resolve),
            },
            _ => None,
        }
    }

    /// The field `key` of an object with known fields.
    pub fn field(&self, key: &str) -> Option<&Field> {
        match self.resolve() {
            Type::Object(object) => object.fields.get(key),
            _ => None,
        }
    }

    /// The type of a list's items.
    pub fn item(&self) -> Option<&Type> {
        match self.resolve() {
            Type::Any => Some(&Type::Any),
            Type::List(list) => Some(list.item.resolve()),
            _ => None,
        }
    }
}
