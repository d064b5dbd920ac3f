//! Patches that users write into bundles.

use serde_json::{Map, Value};

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
pub(crate) fn three_way(key: &ObjectKey, original: &Value, desired: &Value, live: &Value) -> Result<Value, String> {
    let mut predicted = predicted(key, desired, live);
    forget(&mut predicted, original, desired);
    Ok(changes(live, &predicted).unwrap_or_else(|| Value::Object(Map::new())))
}

/// Removes what `original` named and `desired` does not.
pub(crate) fn forget(predicted: &mut Value, original: &Value, desired: &Value) {
    let (Value::Object(map), Value::Object(before)) = (predicted, original) else { return };
    for (key, value) in before {
        match desired.get(key) {
            None => {
                map.remove(key);
            }
            Some(wanted) => {
                if let Some(slot) = map.get_mut(key) {
                    forget(slot, value, wanted);
                }
            }
        }
    }
}

/// `live` after `desired` was merged into it: what the object would be if the bundle were
/// applied now.
pub(crate) fn predicted(_key: &ObjectKey, desired: &Value, live: &Value) -> Value {
    combined(desired, live)
}

/// Keys by which elements of a list are the same element.
const KEYS: [&str; 4] = ["name", "containerPort", "mountPath", "devicePath"];

fn combined(desired: &Value, live: &Value) -> Value {
    match (desired, live) {
        (Value::Object(wanted), Value::Object(there)) => {
            let mut result = there.clone();
            for (key, value) in wanted {
                match (value, result.get(key)) {
                    (Value::Null, _) => {
                        result.remove(key);
                    }
                    (Value::Object(map), None) if map.is_empty() => {}
                    (Value::Array(list), None) if list.is_empty() => {}
                    (value, Some(now)) => {
                        let merged = combined(value, now);
                        result.insert(key.clone(), merged);
                    }
                    (value, None) => {
                        result.insert(key.clone(), value.clone());
                    }
                }
            }
            Value::Object(result)
        }
        (Value::Array(wanted), Value::Array(there)) => list(wanted, there),
        _ => desired.clone(),
    }
}

fn list(wanted: &[Value], there: &[Value]) -> Value {
    let key = KEYS.iter().find(|key| {
        !wanted.is_empty() && wanted.iter().chain(there).all(|element| element.get(**key).is_some_and(|v| !v.is_null()))
    });
    let Some(key) = key else {
        if wanted.len() == there.len() && wanted.iter().chain(there).all(Value::is_object) {
            return wanted.iter().zip(there).map(|(wanted, there)| combined(wanted, there)).collect();
        }
        return Value::Array(wanted.to_vec());
    };
    let mut result = there.to_vec();
    for element in wanted {
        match result.iter_mut().find(|other| other[*key] == element[*key]) {
            Some(slot) => *slot = combined(element, slot),
            None => result.push(element.clone()),
        }
    }
    Value::Array(result)
}

/// JSON merge patch from `from` to `to`.
pub(crate) fn changes(from: &Value, to: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (from, to) else {
        return (from != to).then(|| to.clone());
    };
    let mut patch = Map::new();
    for (key, value) in after {
        match before.get(key) {
            Some(now) => {
                if let Some(change) = changes(now, value) {
                    patch.insert(key.clone(), change);
                }
            }
            None => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn tokens(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect()
}

fn parent<'a>(side: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    let mut at = side;
    for token in path {
        at = match at {
            Value::Object(map) => map.get_mut(token)?,
            Value::Array(list) => list.get_mut(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}

/// Removes what a JSON pointer names; false if it is not there.
pub(crate) fn remove_at(side: &mut Value, pointer: &str) -> bool {
    let tokens = tokens(pointer);
    let Some((last, path)) = tokens.split_last() else { return false };
    match parent(side, path) {
        Some(Value::Object(map)) => map.remove(last).is_some(),
        Some(Value::Array(list)) => match last.parse::<usize>() {
            Ok(index) if index < list.len() => {
                list.remove(index);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// One operation of a JSON patch; false if it does not fit. `value` is JSON, or text if it is
/// none.
pub(crate) fn operate(side: &mut Value, operation: &str, pointer: &str, value: &str) -> bool {
    let value = || serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    let tokens = tokens(pointer);
    let Some((last, path)) = tokens.split_last() else { return false };
    match operation {
        "remove" => remove_at(side, pointer),
        "add" => match parent(side, path) {
            Some(Value::Object(map)) => {
                map.insert(last.clone(), value());
                true
            }
            Some(Value::Array(list)) if last == "-" => {
                list.push(value());
                true
            }
            Some(Value::Array(list)) => match last.parse::<usize>() {
                Ok(index) if index <= list.len() => {
                    list.insert(index, value());
                    true
                }
                _ => false,
            },
            _ => false,
        },
        "replace" => match parent(side, &tokens) {
            Some(slot) => {
                *slot = value();
                true
            }
            None => false,
        },
        _ => false,
    }
}
