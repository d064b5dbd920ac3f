//! Nulls in a value: patches and merges take them for something else than a value.

use serde_json::Value;

/// Whether there is a null anywhere in it.
pub(crate) fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(entries) => entries.values().any(has_null),
        _ => false,
    }
}
