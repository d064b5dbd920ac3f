//! Patches that users write into bundles.

use serde_json::Value;

use crate::object::ObjectKey;

/// Applies an overlay's patch: a list is a JSON patch, anything else is merged.
///
/// # Errors
/// What does not fit.
pub(crate) fn overlay(object: &Value, change: &Value) -> Result<Value, String> {
    if change.is_array() {
        return Err("JSON patches are not applied yet".to_owned());
    }
    let mut result = object.clone();
    merge(&mut result, change);
    Ok(result)
}

/// JSON merge patch.
pub(crate) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(map) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

/// Whether the server knows the kind's merge keys.
pub(crate) fn is_built_in(_key: &ObjectKey) -> bool {
    false
}

/// The patch that takes `live` from `original` to `desired`, leaving alone what neither names.
///
/// # Errors
/// What does not fit.
pub(crate) fn three_way(_key: &ObjectKey, original: &Value, desired: &Value, live: &Value) -> Result<Value, String> {
    Ok(difference(original, desired, live).unwrap_or_else(|| Value::Object(serde_json::Map::new())))
}

/// JSON merge patch from `live` to `desired`; keys that only `original` has are removed.
pub(crate) fn difference(original: &Value, desired: &Value, live: &Value) -> Option<Value> {
    let (Value::Object(wanted), Value::Object(there)) = (desired, live) else {
        return (desired != live).then(|| desired.clone());
    };
    let mut patch = serde_json::Map::new();
    for (key, value) in wanted {
        let before = original.get(key).unwrap_or(&Value::Null);
        match there.get(key) {
            Some(now) => {
                if let Some(change) = difference(before, value, now) {
                    patch.insert(key.clone(), change);
                }
            }
            None if value.is_null() => {}
            None => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    for key in original.as_object().into_iter().flat_map(serde_json::Map::keys) {
        if !wanted.contains_key(key) && there.contains_key(key) {
            patch.insert(key.clone(), Value::Null);
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}
