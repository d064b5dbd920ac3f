//! A live object and a configuration → the object with the configuration in it.
//!
//! Items of lists with keys keep the live order where it does not contradict the configuration's; atomic parts are
//! replaced.

use serde_json::{Map, Value};

use super::compare::{Form, form, indexed, is_vacant};
use super::path::of_item;
use crate::schema::{List, Type};

/// Merges a configuration into a live object of a type.
pub fn merge(schema: &Type, live: &Value, config: &Value) -> Value {
    values(schema, Some(live), Some(config)).unwrap_or(Value::Null)
}

fn values(schema: &Type, live: Option<&Value>, config: Option<&Value>) -> Option<Value> {
    let (Some(old), Some(new)) = (live, config) else {
        return config.or(live).cloned();
    };
    let same = form(schema, old) == form(schema, new);
    let leaf = !same || form(schema, new) == Form::Leaf || (is_vacant(live) && is_vacant(config));
    if leaf {
        return Some(new.clone());
    }
    match (schema.resolve(), form(schema, new)) {
        (Type::List(list), Form::Items) => Some(Value::Array(items(list, old, new))),
        _ => {
            let empty = Map::new();
            let (old, new) = (old.as_object().unwrap_or(&empty), new.as_object().unwrap_or(&empty));
            let mut merged = Map::new();
            for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
                let child = schema.child(key).unwrap_or(&Type::Any);
                if let Some(value) = values(child, old.get(key), new.get(key)) {
                    merged.insert(key.clone(), value);
                }
            }
            Some(Value::Object(merged))
        }
    }
}

/// Interleaves: the configuration's items come in its order; an item only the live object has stays behind the live
/// item it followed.
fn items(list: &List, live: &Value, config: &Value) -> Vec<Value> {
    let wanted = indexed(list, Some(config));
    let known = indexed(list, Some(live));
    let in_wanted = |element: &str| wanted.iter().position(|(e, _)| e == element);
    let merged_with = |element: &str, item: &Value| {
        let before = known
            .iter()
            .find(|(e, _)| e == element)
            .map(|(_, items)| items.as_slice())
            .unwrap_or_default();
        // Live items that share a name are replaced by the configuration's one.
        let before = if let [one] = before { Some(*one) } else { None };
        values(&list.item, before, Some(item))
    };
    let mut merged = Vec::new();
    let mut taken = 0;
    let mut take = |until: usize, merged: &mut Vec<Value>| {
        while taken < until {
            if let Some((element, items)) = wanted.get(taken) {
                merged.extend(items.first().and_then(|item| merged_with(element, item)));
            }
            taken += 1;
        }
        taken
    };
    for item in live.as_array().into_iter().flatten() {
        match of_item(list, item).ok().as_deref().and_then(in_wanted) {
            None => merged.push(item.clone()),
            // Also everything the configuration lists before it; nothing if it was taken already.
            Some(position) => {
                take(position + 1, &mut merged);
            }
        }
    }
    take(wanted.len(), &mut merged);
    merged
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds;

    fn names(live: &[&str], config: &[&str]) -> Vec<String> {
        let pod = |names: &[&str]| {
            let containers: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
            json!({"spec": {"containers": containers}})
        };
        let merged = merge(kinds::schema_of("v1", "Pod").unwrap(), &pod(live), &pod(config));
        let containers = merged["spec"]["containers"].as_array().unwrap().clone();
        containers
            .iter()
            .map(|c| c["name"].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn the_configurations_order_wins_and_others_stay_where_they_were() {
        assert_eq!(names(&["a", "b"], &["b", "a"]), ["b", "a"]);
        assert_eq!(names(&["a", "x", "b"], &["a", "b", "c"]), ["a", "x", "b", "c"]);
        assert_eq!(names(&["x", "a"], &["n", "a"]), ["x", "n", "a"]);
        assert_eq!(names(&[], &["a"]), ["a"]);
        assert_eq!(names(&["a"], &[]), ["a"]);
    }

    #[test]
    fn atomic_parts_are_replaced_and_maps_united() {
        let schema = kinds::schema_of("v1", "Pod").unwrap();
        let merged = merge(
            schema,
            &json!({"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "c", "args": ["1"], "image": "i"}]}}),
            &json!({"metadata": {"labels": {"b": "2"}}, "spec": {"containers": [{"name": "c", "args": []}]}}),
        );
        assert_eq!(
            merged,
            json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"containers": [{"name": "c", "args": [], "image": "i"}]}})
        );
    }
}
