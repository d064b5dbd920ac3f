//! Patches: the difference of two states, applied to the first, gives the second; that of three, applied to the last,
//! leaves nothing to do.

use std::collections::BTreeSet;

use kubeschema::kinds;
use kubeschema::patch::{difference, json, merge, strategic};
use kubeschema::schema::Type;
use kubeschema::smd;
use serde_json::Value;

use crate::null::has_null;
use crate::section;

/// An object of a built-in kind, a patch, and another state of the object.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let [object, patch, other] = section::parts(text);
    let read = |text: &str| goyaml::parse(text).ok();
    let (Some(object), Some(patch), Some(other)) = (read(&object), read(&patch), read(&other)) else {
        return;
    };
    apply_json(&object, &patch);
    apply_merge(&object, &patch, &other);
    let word = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
    let schema = kinds::schema_of(&word("apiVersion"), &word("kind")).unwrap_or_else(|| Type::any());
    apply_strategic(schema, &object, &patch, &other);
}

fn apply_json(object: &Value, patch: &Value) {
    let mut once = object.clone();
    let done = json::apply(&mut once, patch);
    let mut twice = object.clone();
    let again = json::apply(&mut twice, patch);
    assert_eq!(done.is_ok(), again.is_ok());
    if done.is_ok() {
        assert_eq!(once, twice, "not the same twice");
    }
}

fn apply_merge(object: &Value, patch: &Value, other: &Value) {
    let mut once = object.clone();
    merge::apply(&mut once, patch);
    let mut twice = once.clone();
    merge::apply(&mut twice, patch);
    assert_eq!(twice, once, "a merge patch applied again changes something");
    if object.is_object() && other.is_object() && !has_null(other) {
        let mut reached = object.clone();
        merge::apply(&mut reached, &merge::between(object, other));
        assert_eq!(reached, *other, "the difference does not lead to the other state");
        assert_eq!(merge::between(other, other), Value::Object(serde_json::Map::new()));
    }
    if !has_null(patch) {
        let mut reached = other.clone();
        merge::apply(&mut reached, &merge::three_way(object, patch, other));
        assert_eq!(
            merge::three_way(patch, patch, &reached),
            Value::Object(serde_json::Map::new()),
            "something is left to do at {reached}"
        );
    }
}

fn apply_strategic(schema: &Type, object: &Value, patch: &Value, other: &Value) {
    if !object.is_object() {
        return;
    }
    let mut once = object.clone();
    let _ = strategic::apply(schema, &mut once, patch);
    let sound = |value: &Value| {
        value.is_object()
            && !has_null(value)
            && !has_directive(value)
            && smd::validate(schema, value, false).is_empty()
            && is_identified(schema, value)
    };
    if !sound(object) || !sound(other) {
        let _ = difference::three_way(schema, patch, other, object);
        return;
    }
    let difference = difference::two_way(schema, object, other);
    let reached = patched(schema, object, &difference);
    let left = smd::compare(schema, other, &reached);
    assert!(
        left.added.is_empty() && left.modified.is_empty() && left.removed.is_empty(),
        "{difference} made of {object}\n{reached}\ninstead of\n{other}"
    );
    if sound(patch) {
        let difference = difference::three_way(schema, object, patch, other);
        let reached = patched(schema, other, &difference);
        let left = difference::three_way(schema, patch, patch, &reached);
        assert_eq!(
            left,
            Value::Object(serde_json::Map::new()),
            "left to do after {difference} made of {other}\n{reached}\nfor\n{patch}"
        );
    }
}

fn patched(schema: &Type, object: &Value, difference: &Value) -> Value {
    let mut reached = object.clone();
    if let Err(error) = strategic::apply(schema, &mut reached, difference) {
        panic!("{error} when applying {difference} to {object}");
    }
    reached
}

/// Whether the items of every list that merges have what tells them from each other.
fn is_identified(schema: &Type, value: &Value) -> bool {
    match value {
        Value::Object(entries) => entries.iter().all(|(name, value)| {
            let strategy = schema.field(name).map(|field| &field.strategy);
            let listed = match (value, strategy) {
                (Value::Array(items), Some(strategy)) if strategy.merge => match &strategy.merge_key {
                    Some(key) => {
                        items.iter().all(|item| item.get(key).is_some())
                            && are_different(items.iter().filter_map(|item| item.get(key)))
                    }
                    None => are_different(items.iter()),
                },
                _ => true,
            };
            listed && schema.child(name).is_none_or(|inner| is_identified(inner, value))
        }),
        Value::Array(items) => {
            let schema = schema.item();
            items
                .iter()
                .all(|item| schema.is_none_or(|schema| is_identified(schema, item)))
        }
        _ => true,
    }
}

fn are_different<'v>(values: impl Iterator<Item = &'v Value>) -> bool {
    let mut seen = BTreeSet::new();
    values.map(Value::to_string).all(|value| seen.insert(value))
}

/// Fields that a patch takes for orders.
fn has_directive(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_directive),
        Value::Object(entries) => entries
            .iter()
            .any(|(key, value)| key.starts_with('$') || has_directive(value)),
        _ => false,
    }
}
