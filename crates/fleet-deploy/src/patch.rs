//! Patches: those that users write into bundles, and those that bring a live object to what a
//! release wants. Built-in kinds merge as the API server merges them; of other kinds only plain
//! JSON is known.

use kubeschema::kinds;
use kubeschema::patch::{difference, json, merge, strategic};
use kubeschema::schema::Type;
use serde_json::{Map, Value};

use crate::object::{self, ObjectKey};

fn schema(key: &ObjectKey) -> Option<&'static Type> {
    kinds::schema_of(&key.api_version, &key.kind)
}

/// Applies an overlay's patch: a list is a JSON patch; anything else is merged, as a strategic
/// patch where the kind is known.
///
/// # Errors
/// What does not fit.
pub(crate) fn overlay(target: &Value, change: &Value) -> Result<Value, String> {
    let mut result = target.clone();
    if change.is_array() {
        json::apply(&mut result, change).map_err(|error| error.to_string())?;
        return Ok(result);
    }
    match kinds::schema_of(object::api_version(target), object::kind(target)) {
        Some(schema) => strategic::apply(schema, &mut result, change).map_err(|error| error.to_string())?,
        None => merge::apply(&mut result, change),
    }
    Ok(result)
}

/// Whether the server knows the kind's merge keys.
pub(crate) fn is_built_in(key: &ObjectKey) -> bool {
    schema(key).is_some()
}

/// The patch that takes `live` from `original` to `desired`, leaving alone what neither names.
///
/// # Errors
/// What does not fit.
pub(crate) fn three_way(key: &ObjectKey, original: &Value, desired: &Value, live: &Value) -> Result<Value, String> {
    let empty = Value::Object(Map::new());
    let original = if original.is_object() { original } else { &empty };
    Ok(match schema(key) {
        Some(schema) => difference::three_way(schema, original, desired, live),
        None => merge::three_way(original, desired, live),
    })
}
