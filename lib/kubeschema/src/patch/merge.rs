//! JSON merge patch: a partial document; null removes, objects merge, everything else replaces.

use serde_json::{Map, Value};

/// Applies a patch in place.
pub fn apply(document: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *document = patch.clone();
        return;
    };
    if !document.is_object() {
        *document = Value::Object(Map::new());
    }
    if let Value::Object(map) = document {
        for (key, change) in changes {
            if change.is_null() {
                map.remove(key);
            } else {
                apply(map.entry(key.clone()).or_insert(Value::Null), change);
            }
        }
    }
}

/// The patch that turns `from` into `to`; `{}` when they are equal.
pub fn between(from: &Value, to: &Value) -> Value {
    three_way(from, to, from)
}

/// The patch for an object in state `current` that brings what `modified` says and removes what `original` said and
/// `modified` no longer does.
pub fn three_way(original: &Value, modified: &Value, current: &Value) -> Value {
    let empty = Map::new();
    let object = |value: &'_ Value| value.as_object().cloned().unwrap_or_else(|| empty.clone());
    let (original, modified, current) = (object(original), object(modified), object(current));
    let mut patch = Map::new();
    for (key, wanted) in &modified {
        match current.get(key) {
            Some(live) if live.is_object() && wanted.is_object() => {
                let before = original.get(key).unwrap_or(&Value::Null);
                let deeper = three_way(before, wanted, live);
                if deeper.as_object().is_some_and(|map| !map.is_empty()) {
                    patch.insert(key.clone(), deeper);
                }
            }
            Some(live) if live == wanted => {}
            _ => {
                patch.insert(key.clone(), wanted.clone());
            }
        }
    }
    for key in original.keys().filter(|key| !modified.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nulls_remove_objects_merge_lists_replace() {
        let mut document = json!({"a": 1, "b": {"c": 1, "d": 2}, "l": [1, 2]});
        apply(
            &mut document,
            &json!({"a": null, "b": {"c": null, "e": {"f": null, "g": 1}}, "l": [null], "n": null}),
        );
        assert_eq!(document, json!({"b": {"d": 2, "e": {"g": 1}}, "l": [null]}));
    }

    #[test]
    fn a_made_patch_leads_where_it_should() {
        for (from, to) in [
            (json!({"a": 1, "b": {"c": 1}}), json!({"b": {"c": 2, "d": []}})),
            (json!({}), json!({"x": {"y": 1}})),
            (json!({"a": {"b": 1}}), json!({"a": "text"})),
        ] {
            let mut document = from.clone();
            apply(&mut document, &between(&from, &to));
            assert_eq!(document, to);
        }
        assert_eq!(between(&json!({"a": 1}), &json!({"a": 1})), json!({}));
    }

    #[test]
    fn three_ways_keep_what_others_added() {
        let patch = three_way(
            &json!({"a": 1, "b": 1}),
            &json!({"a": 2}),
            &json!({"a": 1, "b": 1, "other": 1}),
        );
        assert_eq!(patch, json!({"a": 2, "b": null}));
    }
}
