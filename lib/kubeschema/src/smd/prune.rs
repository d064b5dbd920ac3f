//! What an applier no longer applies and nobody else owns → removed from the object.

use serde_json::{Map, Value};

use super::compare::{Form, form};
use super::fields::field_set;
use super::path::{of_field, of_item, step};
use super::set::Set;
use crate::schema::Type;

/// Removes what was in `last` unless `owned` (everything any manager owns now) holds it or something in it.
pub(super) fn prune(schema: &Type, merged: &Value, last: &Set, owned: &Set) -> Value {
    let last = named(schema, last);
    let owned = named(schema, owned);
    let all = named(schema, &field_set(schema, merged));
    let pruned = remove(schema, merged, &last);
    let remaining = named(schema, &field_set(schema, &pruned));
    // Back comes what is owned …
    let pruned = remove(schema, merged, &all.difference(&remaining.union(&owned)));
    // … and what the applier had never owned itself.
    let remaining = named(schema, &field_set(schema, &pruned));
    remove(schema, merged, &all.difference(&remaining).intersection(&last))
}

/// The set with the declared fields on the way to its paths as members.
fn named(schema: &Type, set: &Set) -> Set {
    set.rebuild(|element, member, below| {
        let (inner, declared) = step(schema, element);
        (member || (declared && !below.is_empty()), named(inner, below))
    })
}

/// The value without the set's paths.
fn remove(schema: &Type, value: &Value, set: &Set) -> Value {
    match (form(schema, value), schema.resolve(), value) {
        (Form::Map, _, Value::Object(map)) if !map.is_empty() => {
            let mut kept = Map::new();
            for (key, child) in map {
                let element = of_field(key);
                if set.has_here(&element) {
                    continue;
                }
                let child = match set.below(&element) {
                    Some(below) => remove(schema.child(key).unwrap_or(&Type::Any), child, below),
                    None => child.clone(),
                };
                kept.insert(key.clone(), child);
            }
            if kept.is_empty() {
                Value::Null
            } else {
                Value::Object(kept)
            }
        }
        (Form::Items, Type::List(list), Value::Array(items)) if !items.is_empty() => {
            let mut kept = Vec::new();
            for item in items {
                let element = of_item(list, item).unwrap_or_default();
                if set.has_here(&element) {
                    continue;
                }
                kept.push(match set.below(&element) {
                    Some(below) => remove(&list.item, item, below),
                    None => item.clone(),
                });
            }
            if kept.is_empty() {
                Value::Null
            } else {
                Value::Array(kept)
            }
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds;

    #[test]
    fn what_nobody_owns_any_more_goes_with_its_empty_parents() {
        let schema = kinds::schema_of("v1", "ConfigMap").unwrap();
        let set = |fields: Value| Set::from_fields_v1(&fields);
        let object = json!({"metadata": {"labels": {"x": "y"}}, "data": {"k": "v", "l": "w"}});
        let last = set(json!({"f:metadata": {"f:labels": {"f:x": {}}}, "f:data": {"f:k": {}, "f:l": {}}}));
        let owned = set(json!({"f:data": {"f:l": {}}}));
        assert_eq!(prune(schema, &object, &last, &owned), json!({"data": {"l": "w"}}));
    }

    #[test]
    fn an_item_stays_while_somebody_owns_it_with_what_they_set() {
        let schema = kinds::schema_of("v1", "Pod").unwrap();
        let set = |fields: Value| Set::from_fields_v1(&json!({"f:spec": {"f:containers": fields}}));
        let object = json!({"spec": {"containers": [{"name": "a", "image": "i", "tty": true}, {"name": "b"}]}});
        let last = set(
            json!({"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:image": {}}, "k:{\"name\":\"b\"}": {".": {}, "f:name": {}}}),
        );
        let owned = set(json!({"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:tty": {}}}));
        let after = prune(schema, &object, &last, &owned);
        assert_eq!(after, json!({"spec": {"containers": [{"name": "a", "tty": true}]}}));
    }
}
