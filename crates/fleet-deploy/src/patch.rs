//! Patches: those that users write into bundles, those that bring a live object to what a
//! release wants, and the difference between two states. Built-in kinds merge as the API server
//! merges them; of other kinds only plain JSON is known.

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

/// `live` after `desired` was merged into it, and `live` itself, both as the server would fill
/// them in: what the object would be if the bundle were applied now, and what it is.
pub(crate) fn predicted(key: &ObjectKey, desired: &Value, live: &Value, original: Option<&Value>) -> (Value, Value) {
    let mut live = live.clone();
    let mut result = match schema(key) {
        Some(schema) => {
            let mut result = live.clone();
            match strategic::apply(schema, &mut result, desired) {
                Ok(()) => result,
                Err(_) => combined(desired, &live),
            }
        }
        None => combined(desired, &live),
    };
    // A rule that somebody narrowed or widened is a difference even if every field we set is there.
    if !matches!(key.kind.as_str(), "Role" | "ClusterRole" | "CustomResourceDefinition") {
        tolerate(&mut result, &live);
    }
    if let Some(original) = original {
        forget(&mut result, original, desired);
    }
    if let Some(schema) = schema(key) {
        for side in [&mut result, &mut live] {
            fill(schema, side);
            kubeschema::schema::encode(schema, side);
        }
    }
    (result, live)
}

/// Items of lists that merge as a whole get what the server filled in: no table here knows all
/// of it, and a difference that is none is worse than one that is overlooked.
fn tolerate(result: &mut Value, live: &Value) {
    match (result, live) {
        (Value::Object(map), Value::Object(there)) => {
            for (key, value) in map.iter_mut() {
                if let Some(now) = there.get(key) {
                    tolerate(value, now);
                }
            }
        }
        (Value::Array(items), Value::Array(there)) if items.len() == there.len() => {
            for (item, now) in items.iter_mut().zip(there) {
                if item.is_object() && now.is_object() {
                    *item = combined(item, now);
                }
            }
        }
        _ => {}
    }
}

/// Fills in what the schema fills in.
fn fill(schema: &Type, value: &mut Value) {
    match (schema.resolve(), value) {
        (Type::Object(object), Value::Object(map)) => {
            for (name, field) in &object.fields {
                if let Some(default) = field.default.as_ref().filter(|_| !map.contains_key(name))
                    && !default.as_object().is_some_and(Map::is_empty)
                {
                    map.insert(name.clone(), default.clone());
                }
                if let Some(present) = map.get_mut(name) {
                    fill(&field.schema, present);
                }
            }
            if let Some(rest) = &object.rest {
                for (_, present) in map.iter_mut().filter(|(name, _)| !object.fields.contains_key(*name)) {
                    fill(rest, present);
                }
            }
        }
        (Type::List(list), Value::Array(items)) => {
            for item in items {
                fill(&list.item, item);
            }
        }
        _ => {}
    }
}

/// Removes what `original` named and `desired` does not.
fn forget(predicted: &mut Value, original: &Value, desired: &Value) {
    let (Value::Object(map), Value::Object(before)) = (predicted, original) else {
        return;
    };
    for (key, value) in before {
        match desired.get(key) {
            None if matches!(key.as_str(), "metadata" | "status") => {}
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

/// Merges as far as JSON alone allows: maps by key, lists of the same length element by
/// element, so that what a schema filled in inside of them does not count.
fn combined(desired: &Value, live: &Value) -> Value {
    match (desired, live) {
        (Value::Object(wanted), Value::Object(there)) => {
            let mut result = there.clone();
            for (key, value) in wanted {
                match (value, result.get(key)) {
                    (Value::Null, _) => {
                        result.remove(key);
                    }
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
        (Value::Array(wanted), Value::Array(there)) if wanted.len() == there.len() => wanted
            .iter()
            .zip(there)
            .map(|(wanted, there)| combined(wanted, there))
            .collect(),
        (Value::Number(wanted), Value::Number(there)) if wanted.as_f64() == there.as_f64() => live.clone(),
        _ => desired.clone(),
    }
}

/// JSON merge patch from `from` to `to`.
pub(crate) fn changes(from: &Value, to: &Value) -> Option<Value> {
    if let (Value::Number(before), Value::Number(after)) = (from, to)
        && before.as_f64() == after.as_f64()
    {
        return None;
    }
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
    pointer
        .split('/')
        .skip(1)
        .map(|token| token.replace("~1", "/").replace("~0", "~"))
        .collect()
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
    let Some((last, path)) = tokens.split_last() else {
        return false;
    };
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
    let Some((last, path)) = tokens.split_last() else {
        return false;
    };
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
