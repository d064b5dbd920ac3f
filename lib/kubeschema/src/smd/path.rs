//! Path elements: how an item of a list is named, and how a path reads in a message.

use serde_json::{Map, Value};

use crate::schema::{List, ListKind, Type};

/// The element of a field.
pub(super) fn of_field(name: &str) -> String {
    format!("f:{name}")
}

/// The element of an item of a list that is no atomic one.
pub(super) fn of_item(list: &List, item: &Value) -> Result<String, String> {
    match &list.kind {
        ListKind::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        ListKind::Set => match item {
            Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
            Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
            scalar => Ok(format!("v:{scalar}")),
        },
        ListKind::Map(keys) => {
            let Value::Object(fields) = item else {
                let what = if item.is_null() {
                    "a null element"
                } else {
                    "non-map elements"
                };
                return Err(format!("associative list with keys may not have {what}"));
            };
            let mut found = Map::new();
            for key in keys {
                let default = || list.item.field(key).and_then(|field| field.default.as_ref());
                if let Some(value) = fields.get(key).or_else(default) {
                    found.insert(key.clone(), value.clone());
                }
            }
            if found.is_empty() {
                let quoted: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
                return Err(format!(
                    "associative list with keys has an element that omits all key fields [{}] (and doesn't have \
                     default values for any key fields)",
                    quoted.join(" ")
                ));
            }
            Ok(format!("k:{}", Value::Object(found)))
        }
    }
}

/// The type of what an element leads to, and whether it is a field the type declares.
pub(super) fn step<'a>(schema: &'a Type, element: &str) -> (&'a Type, bool) {
    match (schema.resolve(), element.strip_prefix("f:")) {
        (Type::Object(object), Some(name)) => match object.fields.get(name) {
            Some(field) => (field.schema.resolve(), true),
            None => (object.rest.as_deref().map_or(&Type::Any, Type::resolve), false),
        },
        (Type::List(list), None) => (list.item.resolve(), false),
        _ => (&Type::Any, false),
    }
}

/// One element as messages show it.
pub(super) fn show(element: &str) -> String {
    let (kind, rest) = element.split_at_checked(2).unwrap_or((element, ""));
    match kind {
        "f:" => format!(".{rest}"),
        "v:" => format!("[={rest}]"),
        "i:" => format!("[{rest}]"),
        "k:" => {
            let fields: Map<String, Value> = serde_json::from_str(rest).unwrap_or_default();
            let parts: Vec<String> = fields.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("[{}]", parts.join(","))
        }
        _ => element.to_owned(),
    }
}

/// A path as messages show it: `.spec.ports[port=80].name`.
pub(super) fn text(path: &[String]) -> String {
    path.iter().map(|element| show(element)).collect()
}
