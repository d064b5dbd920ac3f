//! Strategic merge patch, made: from two or three states of an object to the patch that leads to the wanted one.
//!
//! Mirrors upstream's two-way and three-way merge patches: additions and changes come from comparing the wanted state
//! with the live one, deletions from comparing it with what was wanted before.

use serde_json::{Map, Value, json};

use super::order::same;
use super::strategic::{DELETE_FROM, DIRECTIVE, ORDER, RETAIN_KEYS, merging};
use crate::schema::{Field, Type};

/// The patch that turns `from` into `to`; `{}` when they are equal.
pub fn two_way(schema: &Type, from: &Value, to: &Value) -> Value {
    three_way(schema, from, to, from)
}

/// The patch for an object in state `current` that brings what `modified` says and removes what `original` said and
/// `modified` no longer does. What others added stays. A conflict is decided for `modified`.
pub fn three_way(schema: &Type, original: &Value, modified: &Value, current: &Value) -> Value {
    let empty = Map::new();
    Value::Object(maps(
        schema,
        original.as_object().unwrap_or(&empty),
        modified.as_object().unwrap_or(&empty),
        current.as_object().unwrap_or(&empty),
    ))
}

type Object = Map<String, Value>;

fn maps(schema: &Type, original: &Object, modified: &Object, current: &Object) -> Object {
    let empty = Map::new();
    let mut patch = Map::new();
    for (key, wanted) in modified {
        let field = schema.field(key);
        match (current.get(key), wanted) {
            (Some(Value::Object(live)), Value::Object(target)) => {
                let before = original.get(key).and_then(Value::as_object).unwrap_or(&empty);
                let mut deeper = maps(schema.child(key).unwrap_or(&Type::Any), before, target, live);
                if field.is_some_and(|field| field.strategy.retain_keys) && !deeper.is_empty() {
                    deeper.insert(RETAIN_KEYS.to_owned(), target.keys().cloned().collect());
                }
                if !deeper.is_empty() {
                    patch.insert(key.clone(), Value::Object(deeper));
                }
            }
            (Some(Value::Array(live)), Value::Array(target)) if merging(field).is_some() => {
                let before = original
                    .get(key)
                    .and_then(Value::as_array)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                lists(key, field, [before, target, live], &mut patch);
            }
            (Some(live), _) if live == wanted => {}
            _ => {
                patch.insert(key.clone(), wanted.clone());
            }
        }
    }
    for key in original.keys().filter(|key| !modified.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    patch
}

/// Compares lists that merge, and writes the changes and the directives of field `name`.
fn lists(name: &str, field: Option<&Field>, [original, modified, current]: [&[Value]; 3], patch: &mut Object) {
    let empty = Map::new();
    let key = merging(field).flatten();
    let in_list = |list: &[Value], item: &Value| list.iter().any(|other| same(other, item, key));
    let mut changes: Vec<Value> = Vec::new();
    let item_type = field.and_then(|field| field.schema.item()).unwrap_or(&Type::Any);
    for wanted in modified {
        let live = current.iter().find(|item| same(item, wanted, key));
        match (key, live.and_then(Value::as_object), wanted.as_object()) {
            (Some(key), Some(live), Some(target)) => {
                let before = original.iter().find(|item| same(item, wanted, Some(key)));
                let before = before.and_then(Value::as_object).unwrap_or(&empty);
                let mut deeper = maps(item_type, before, target, live);
                if !deeper.is_empty() {
                    deeper.insert(key.to_owned(), target.get(key).cloned().unwrap_or(Value::Null));
                    changes.push(Value::Object(deeper));
                }
            }
            _ if live.is_some() => {}
            _ => changes.push(wanted.clone()),
        }
    }
    let gone: Vec<&Value> = original.iter().filter(|item| !in_list(modified, item)).collect();
    let kept: Vec<&Value> = current.iter().filter(|item| in_list(modified, item)).collect();
    let reordered = kept.len() == modified.len() && !kept.iter().zip(modified).all(|(a, b)| same(a, b, key));
    if changes.is_empty() && gone.is_empty() && !reordered {
        return;
    }
    let order = modified.iter().map(|item| match key {
        Some(key) => json!({ key: item.get(key).cloned().unwrap_or(Value::Null) }),
        None => item.clone(),
    });
    patch.insert(format!("{ORDER}{name}"), order.collect());
    match key {
        Some(key) => changes.extend(
            gone.iter()
                .map(|item| json!({ key: item.get(key).cloned().unwrap_or(Value::Null), DIRECTIVE: "delete" })),
        ),
        None if !gone.is_empty() => {
            patch.insert(format!("{DELETE_FROM}{name}"), gone.into_iter().cloned().collect());
        }
        None => {}
    }
    if !changes.is_empty() {
        patch.insert(name.to_owned(), Value::Array(changes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;
    use crate::patch::strategic;

    fn deployment() -> &'static Type {
        kinds::schema_of("apps/v1", "Deployment").unwrap()
    }

    #[test]
    fn a_made_patch_leads_where_it_should() {
        let states = [
            json!({"spec": {"replicas": 1, "strategy": {"type": "Recreate"}}}),
            json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}, "metadata": {"finalizers": ["a", "b"]}}),
            json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "x", "args": ["1"]}, {"name": "b"}]}}}, "metadata": {"finalizers": ["b"]}}),
            json!({"spec": {"template": {"spec": {"containers": [{"name": "b", "env": [{"name": "E"}]}, {"name": "a", "image": "y"}, {"name": "c"}]}}}}),
            json!({}),
        ];
        for from in &states {
            for to in &states {
                let patch = two_way(deployment(), from, to);
                let mut document = from.clone();
                strategic::apply(deployment(), &mut document, &patch).unwrap();
                assert_eq!(&document, to, "{from} by {patch}");
                assert_eq!(from == to, patch == json!({}), "{from} {to} {patch}");
            }
        }
    }

    #[test]
    fn three_ways_keep_items_others_added_and_delete_what_is_no_longer_wanted() {
        let list = |items: Value| json!({"spec": {"template": {"spec": {"containers": items}}}});
        let original = list(json!([{"name": "a", "image": "1"}, {"name": "old"}]));
        let modified = list(json!([{"name": "a", "image": "2"}]));
        let current = list(json!([{"name": "a", "image": "1", "tty": true}, {"name": "old"}, {"name": "injected"}]));
        let patch = three_way(deployment(), &original, &modified, &current);
        let mut document = current;
        strategic::apply(deployment(), &mut document, &patch).unwrap();
        assert_eq!(
            document,
            list(json!([{"name": "a", "image": "2", "tty": true}, {"name": "injected"}]))
        );
    }

    #[test]
    fn what_is_deleted_elsewhere_already_is_still_asked_for() {
        let patch = three_way(
            deployment(),
            &json!({"spec": {"paused": true}}),
            &json!({"spec": {}}),
            &json!({"spec": {}}),
        );
        assert_eq!(patch, json!({"spec": {"paused": null}}));
    }
}
