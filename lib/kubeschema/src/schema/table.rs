//! The generated table of built-in types, read once.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};

use super::{Field, List, ListKind, Object, Scalar, Strategy, Type, Zero};

static TEXT: &str = include_str!("../../data/kinds.json");

pub(crate) struct Table {
    types: Vec<Type>,
    names: BTreeMap<String, u32>,
    labels: Vec<String>,
    /// The discovery part, as generated.
    pub(crate) versions: Vec<Value>,
}

pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(&document()));

/// The table as generated.
pub(crate) fn document() -> Value {
    serde_json::from_str(TEXT).unwrap_or(Value::Null)
}

/// A type by its position.
pub(super) fn named(index: u32) -> &'static Type {
    TABLE.types.get(index as usize).unwrap_or(&Type::Any)
}

/// The name of a type, by its position.
pub(super) fn name(index: u32) -> Option<&'static str> {
    TABLE.labels.get(index as usize).map(String::as_str)
}

/// The name of a type that was looked up before: it lies in the table.
pub(super) fn name_of(schema: &Type) -> Option<&'static str> {
    let position = TABLE.types.iter().position(|known| std::ptr::eq(known, schema))?;
    name(u32::try_from(position).ok()?)
}

/// A type by its OpenAPI name.
pub(crate) fn lookup(name: &str) -> Option<&'static Type> {
    TABLE.names.get(name).map(|index| named(*index))
}

impl Table {
    fn read(document: &Value) -> Table {
        let empty = Map::new();
        let entries = document["types"].as_object().unwrap_or(&empty);
        let names: BTreeMap<String, u32> = entries
            .keys()
            .zip(0u32..)
            .map(|(name, index)| (name.clone(), index))
            .collect();
        let types = entries.values().map(|entry| read_type(entry, &names)).collect();
        let versions = document["versions"].as_array().cloned().unwrap_or_default();
        let labels = entries.keys().cloned().collect();
        Table {
            types,
            names,
            labels,
            versions,
        }
    }
}

fn read_type(entry: &Value, names: &BTreeMap<String, u32>) -> Type {
    if let Some(alias) = entry["alias"].as_str() {
        return expression(alias, ListKind::Atomic, names);
    }
    let fields = entry["fields"].as_object().into_iter().flatten();
    let required = entry["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    Type::Object(Object {
        fields: fields
            .map(|(name, field)| (name.clone(), read_field(name, field, required, names)))
            .collect(),
        atomic: entry["atomic"] == true,
        ..Object::default()
    })
}

fn read_field(name: &str, entry: &Value, required: &[Value], names: &BTreeMap<String, u32>) -> Field {
    let texts = |key: &str| -> Vec<String> {
        entry[key]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    let flags = entry["g"].as_str().unwrap_or_default();
    let strategy = entry["p"].as_str().unwrap_or_default();
    let kind = match entry["l"].as_str() {
        Some("map") => ListKind::Map(texts("k")),
        Some("set") => ListKind::Set,
        _ => ListKind::Atomic,
    };
    let mut schema = expression(entry["t"].as_str().unwrap_or("a"), kind, names);
    if entry["a"] == "atomic" {
        schema = atomic(schema);
    }
    Field {
        schema: Arc::new(schema),
        default: entry.get("d").cloned(),
        nullable: false,
        required: required.iter().any(|required| required == name),
        choices: texts("e"),
        strategy: Strategy {
            merge: strategy.split(',').any(|s| s == "merge"),
            retain_keys: strategy.split(',').any(|s| s == "retainKeys"),
            merge_key: entry["m"].as_str().map(str::to_owned),
        },
        zero: Zero {
            // An empty list of managers is a request of its own: to forget them.
            pointer: flags.contains('p') || (name == "managedFields" && flags == "co"),
            collection: flags.contains('c'),
            // A struct that is no pointer is always written, whatever omitempty says.
            omit: flags.contains('z') || (flags.contains('o') && !flags.contains('s')),
        },
    }
}

/// A field may make a map atomic that is not atomic elsewhere.
fn atomic(schema: Type) -> Type {
    match schema {
        Type::Object(object) => Type::Object(Object { atomic: true, ..object }),
        Type::Named(_) | Type::Any => Type::Scalar(Scalar::Untyped),
        other => other,
    }
}

fn expression(text: &str, kind: ListKind, names: &BTreeMap<String, u32>) -> Type {
    if let Some(item) = text.strip_prefix("[]") {
        return Type::List(List {
            item: Arc::new(expression(item, ListKind::Atomic, names)),
            kind,
        });
    }
    if let Some(value) = text.strip_prefix("{}") {
        let rest = Some(Arc::new(expression(value, ListKind::Atomic, names)));
        return Type::Object(Object {
            rest,
            ..Object::default()
        });
    }
    if let Some(name) = text.strip_prefix('@') {
        return names.get(name).map_or(Type::Any, |index| Type::Named(*index));
    }
    Type::Scalar(match text {
        "s" => Scalar::String,
        "b" => Scalar::Boolean,
        "i" => Scalar::Int32,
        "l" => Scalar::Int64,
        "n" => Scalar::Number,
        "x" => Scalar::IntOrString,
        "q" => Scalar::Quantity,
        "t" => Scalar::Time,
        "u" => Scalar::MicroTime,
        "y" => Scalar::Bytes,
        // Free-form JSON of built-in kinds is owned as a whole.
        _ => Scalar::Untyped,
    })
}
