//! Two states of an object → which paths were added, changed and removed.

use serde_json::Value;

use super::path::{of_field, of_item};
use super::set::Set;
use crate::schema::{List, ListKind, Type};

/// What differs between two states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Only in the newer.
    pub added: Set,
    /// In both, with different values.
    pub modified: Set,
    /// Only in the older.
    pub removed: Set,
}

impl Comparison {
    /// Leaves out all paths in and below `ignored`.
    #[must_use]
    pub(super) fn without(self, ignored: &Set) -> Comparison {
        if ignored.is_empty() {
            return self;
        }
        Comparison {
            added: self.added.without(ignored),
            modified: self.modified.without(ignored),
            removed: self.removed.without(ignored),
        }
    }
}

/// Compares two states of an object of a type.
pub fn compare(schema: &Type, older: &Value, newer: &Value) -> Comparison {
    let mut walk = Walk {
        path: Vec::new(),
        found: Comparison::default(),
    };
    walk.values(schema, Some(older), Some(newer));
    walk.found
}

/// Equality of values, numbers by amount.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| equal(x, y)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| equal(x, y)))
        }
        _ => a == b,
    }
}

/// What a value is treated as under a type: the type decides, and where it leaves it open, the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Leaf,
    Map,
    Items,
}

pub(super) fn form(schema: &Type, value: &Value) -> Form {
    match (schema.resolve(), value) {
        (Type::Object(object), Value::Object(_) | Value::Null) if !object.atomic => Form::Map,
        (Type::List(list), Value::Array(_) | Value::Null) if list.kind != ListKind::Atomic => Form::Items,
        (Type::Any, Value::Object(_)) => Form::Map,
        _ => Form::Leaf,
    }
}

pub(super) fn is_vacant(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(map)) => map.is_empty(),
        Some(_) => false,
    }
}

struct Walk {
    path: Vec<String>,
    found: Comparison,
}

impl Walk {
    fn values(&mut self, schema: &Type, older: Option<&Value>, newer: Option<&Value>) {
        let forms = (
            older.map(|value| form(schema, value)),
            newer.map(|value| form(schema, value)),
        );
        let one = match forms {
            (Some(a), Some(b)) if a == b => a,
            (Some(a), None) => a,
            (None, Some(b)) => b,
            (Some(_), Some(_)) => {
                // Another kind of value than before: what was inside is gone, the value itself is changed.
                self.values(schema, older, None);
                self.values(schema, None, newer);
                self.found.removed = self.found.removed.difference(&self.only());
                self.found.added = self.found.added.difference(&self.only());
                self.found.modified.insert(&self.path);
                return;
            }
            (None, None) => return,
        };
        if one == Form::Leaf || (is_vacant(older) && is_vacant(newer)) {
            match (older, newer) {
                (None, _) => self.found.added.insert(&self.path),
                (_, None) => self.found.removed.insert(&self.path),
                (Some(a), Some(b)) if !equal(a, b) => self.found.modified.insert(&self.path),
                _ => {}
            }
            return;
        }
        match (one, schema.resolve()) {
            (Form::Items, Type::List(list)) => self.items(list, older, newer),
            _ => self.map(schema, older, newer),
        }
        if older.is_none() {
            self.found.added.insert(&self.path);
        } else if newer.is_none() {
            self.found.removed.insert(&self.path);
        }
    }

    /// The set of the current path alone.
    fn only(&self) -> Set {
        let mut set = Set::default();
        set.insert(&self.path);
        set
    }

    fn map(&mut self, schema: &Type, older: Option<&Value>, newer: Option<&Value>) {
        let older = older.and_then(Value::as_object);
        let newer = newer.and_then(Value::as_object);
        let keys = older.into_iter().flat_map(|map| map.keys());
        let new_keys = newer
            .into_iter()
            .flat_map(|map| map.keys())
            .filter(|key| !older.is_some_and(|map| map.contains_key(*key)));
        for key in keys.chain(new_keys) {
            let child = schema.child(key).unwrap_or(&Type::Any);
            self.path.push(of_field(key));
            self.values(
                child,
                older.and_then(|map| map.get(key)),
                newer.and_then(|map| map.get(key)),
            );
            self.path.pop();
        }
    }

    fn items(&mut self, list: &List, older: Option<&Value>, newer: Option<&Value>) {
        let (older, newer) = (indexed(list, older), indexed(list, newer));
        let new_elements = newer
            .iter()
            .map(|(element, _)| element)
            .filter(|element| !older.iter().any(|(e, _)| e == *element));
        let elements: Vec<String> = older
            .iter()
            .map(|(element, _)| element)
            .chain(new_elements)
            .cloned()
            .collect();
        for element in elements {
            let before = values_of(&older, &element);
            let after = values_of(&newer, &element);
            self.path.push(element);
            // Items that share a name are one leaf together.
            match (before, after) {
                ([_, _, ..], [_, _, ..]) => {
                    if before.len() != after.len() || !before.iter().zip(after).all(|(a, b)| equal(a, b)) {
                        self.found.modified.insert(&self.path);
                    }
                }
                ([_, _, ..], after) => {
                    if let Some(item) = after.first() {
                        self.values(&list.item, None, Some(*item));
                    }
                    self.found.removed.insert(&self.path);
                }
                (before, [_, _, ..]) => {
                    if let Some(item) = before.first() {
                        self.values(&list.item, Some(*item), None);
                    }
                    self.found.added.insert(&self.path);
                }
                (before, after) => self.values(&list.item, before.first().copied(), after.first().copied()),
            }
            self.path.pop();
        }
    }
}

type Indexed<'a> = Vec<(String, Vec<&'a Value>)>;

/// Items by element, in order of their first appearance; items without a name are left out.
pub(super) fn indexed<'a>(list: &List, value: Option<&'a Value>) -> Indexed<'a> {
    let mut found: Indexed<'a> = Vec::new();
    for item in value.and_then(Value::as_array).into_iter().flatten() {
        let Ok(element) = of_item(list, item) else { continue };
        match found.iter_mut().find(|(known, _)| *known == element) {
            Some((_, items)) => items.push(item),
            None => found.push((element, vec![item])),
        }
    }
    found
}

fn values_of<'i, 'a>(indexed: &'i Indexed<'a>, element: &str) -> &'i [&'a Value] {
    indexed
        .iter()
        .find(|(known, _)| known == element)
        .map(|(_, items)| items.as_slice())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds;

    #[test]
    fn lists_with_keys_compare_item_by_item_and_others_as_a_whole() {
        let schema = kinds::schema_of("v1", "Pod").unwrap();
        let pod = |containers: Value| json!({"spec": {"containers": containers}});
        let found = compare(
            schema,
            &pod(json!([{"name": "a", "args": ["1"]}, {"name": "gone"}])),
            &pod(json!([{"name": "new"}, {"name": "a", "args": ["1", "2"]}])),
        );
        let containers = |below: Value| json!({"f:spec": {"f:containers": below}});
        assert_eq!(
            found.modified.to_fields_v1(),
            containers(json!({"k:{\"name\":\"a\"}": {"f:args": {}}}))
        );
        assert_eq!(
            found.added.to_fields_v1(),
            containers(json!({"k:{\"name\":\"new\"}": {".": {}, "f:name": {}}}))
        );
        assert_eq!(
            found.removed.to_fields_v1(),
            containers(json!({"k:{\"name\":\"gone\"}": {".": {}, "f:name": {}}}))
        );
    }

    #[test]
    fn without_a_type_the_values_decide() {
        let found = compare(
            &Type::Any,
            &json!({"a": {"b": 1}, "c": [1], "n": 1}),
            &json!({"a": 2, "c": [2], "n": 1.0}),
        );
        assert_eq!(found.modified.to_fields_v1(), json!({"f:a": {}, "f:c": {}}));
        assert_eq!(found.removed.to_fields_v1(), json!({"f:a": {"f:b": {}}}));
        assert!(found.added.is_empty());
    }

    #[test]
    fn an_empty_map_is_a_value() {
        let schema = kinds::schema_of("v1", "ConfigMap").unwrap();
        let found = compare(schema, &json!({}), &json!({"data": {}}));
        assert_eq!(found.added.to_fields_v1(), json!({"f:data": {}}));
    }
}
