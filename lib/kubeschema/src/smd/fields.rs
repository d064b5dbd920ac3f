//! The paths a configuration sets, and whether it fits its type.

use serde_json::Value;

use super::compare::{Form, form};
use super::path::{of_field, of_item, show};
use super::set::Set;
use crate::schema::{List, ListKind, Scalar, Type};

/// The paths that a configuration sets.
pub fn field_set(schema: &Type, value: &Value) -> Set {
    let mut set = Set::default();
    collect(schema, value, &mut Vec::new(), &mut set);
    set
}

fn collect(schema: &Type, value: &Value, path: &mut Vec<String>, set: &mut Set) {
    match (form(schema, value), schema.resolve(), value) {
        (Form::Map, _, Value::Object(map)) => {
            for (key, child) in map {
                let declared = schema.field(key).is_some();
                path.push(of_field(key));
                collect(schema.child(key).unwrap_or(&Type::Any), child, path, set);
                let empty = child.is_null() || child.as_object().is_some_and(serde_json::Map::is_empty);
                if empty || !declared {
                    set.insert(path);
                }
                path.pop();
            }
        }
        (Form::Items, Type::List(list), Value::Array(items)) => {
            let mut seen: Vec<(String, bool)> = Vec::new();
            for item in items {
                let Ok(element) = of_item(list, item) else { continue };
                match seen.iter_mut().find(|(known, _)| *known == element) {
                    Some((_, repeated)) => *repeated = true,
                    None => seen.push((element, false)),
                }
            }
            for item in items {
                let Ok(element) = of_item(list, item) else { continue };
                let repeated = seen.iter().any(|(known, repeated)| *known == element && *repeated);
                path.push(element);
                if !repeated {
                    collect(&list.item, item, path, set);
                }
                set.insert(path);
                path.pop();
            }
        }
        (Form::Leaf, _, _) => set.insert(path),
        _ => {}
    }
}

/// What does not fit the type: texts that start with the path. Items that share a name are a fault unless
/// `duplicates` are accepted.
pub fn validate(schema: &Type, value: &Value, duplicates: bool) -> Vec<String> {
    let mut faults = Vec::new();
    check(schema, value, "", duplicates, &mut faults);
    faults
}

fn check(schema: &Type, value: &Value, path: &str, duplicates: bool, faults: &mut Vec<String>) {
    match (schema.resolve(), value) {
        (Type::Any | Type::Named(_), _) | (_, Value::Null) => {}
        (Type::Object(object), Value::Object(map)) => {
            for (key, child) in map {
                let here = format!("{path}.{key}");
                match object
                    .fields
                    .get(key)
                    .map(|field| &field.schema)
                    .or(object.rest.as_ref())
                {
                    Some(inner) => check(inner, child, &here, duplicates, faults),
                    None => faults.push(format!("{here}: field not declared in schema")),
                }
            }
        }
        (Type::Object(_), other) => faults.push(format!("{path}: expected map, got &{{{}}}", go(other))),
        (Type::List(list), Value::Array(items)) => check_items(list, items, path, duplicates, faults),
        (Type::List(_), other) => faults.push(format!("{path}: expected list, got &{{{}}}", go(other))),
        (Type::Scalar(scalar), other) => {
            if let Some(fault) = scalar_fault(*scalar, other) {
                faults.push(format!("{path}: {fault}"));
            }
        }
    }
}

fn check_items(list: &List, items: &[Value], path: &str, duplicates: bool, faults: &mut Vec<String>) {
    let mut seen: Vec<String> = Vec::new();
    for (position, item) in items.iter().enumerate() {
        let element = if list.kind == ListKind::Atomic {
            format!("i:{position}")
        } else {
            match of_item(list, item) {
                Ok(element) => element,
                Err(fault) => {
                    faults.push(format!("{path}: element {position}: {fault}"));
                    return;
                }
            }
        };
        if seen.contains(&element) && !duplicates {
            faults.push(format!("{path}: duplicate entries for key {}", show(&element)));
        }
        check(
            &list.item,
            item,
            &format!("{path}{}", show(&element)),
            duplicates,
            faults,
        );
        seen.push(element);
    }
}

fn scalar_fault(scalar: Scalar, value: &Value) -> Option<String> {
    let fault = match scalar {
        Scalar::Untyped => return None,
        Scalar::Int32 | Scalar::Int64 | Scalar::Number if !value.is_number() => {
            format!("expected numeric (int or float), got {}", go_type(value))
        }
        Scalar::Boolean if !value.is_boolean() => format!("expected boolean, got &{{{}}}", go(value)),
        Scalar::String | Scalar::Time | Scalar::MicroTime | Scalar::Bytes if !value.is_string() => {
            format!("expected string, got &value.valueUnstructured{{Value:{}}}", go(value))
        }
        Scalar::IntOrString | Scalar::Quantity if value.is_object() || value.is_array() => {
            format!("expected any scalar, got &{{{}}}", go(value))
        }
        _ => return None,
    };
    Some(fault)
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        _ => "<nil>",
    }
}

fn go(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds;

    #[test]
    fn empty_maps_and_nulls_are_owned() {
        let schema = kinds::schema_of("v1", "ConfigMap").unwrap();
        let set = field_set(
            schema,
            &json!({"metadata": {"labels": {}, "annotations": null}, "data": {}}),
        );
        assert_eq!(
            set.to_fields_v1(),
            json!({"f:data": {}, "f:metadata": {"f:annotations": {}, "f:labels": {}}})
        );
    }

    #[test]
    fn items_are_named_by_their_keys_and_defaults() {
        let schema = kinds::schema_of("v1", "Service").unwrap();
        let set = field_set(
            schema,
            &json!({"spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}}),
        );
        assert_eq!(
            set.to_fields_v1(),
            json!({"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}, "f:selector": {}}})
        );
    }

    #[test]
    fn misfits_are_told_with_their_path() {
        let pod = kinds::schema_of("v1", "Pod").unwrap();
        for (value, fault) in [
            (json!({"spac": {}}), ".spac: field not declared in schema"),
            (
                json!({"spec": {"containers": [{"image": "x"}]}}),
                ".spec.containers: element 0: associative list with keys has an element that omits all key fields [\"name\"] (and doesn't have default values for any key fields)",
            ),
            (
                json!({"spec": {"containers": [{"name": "x"}, {"name": "x"}]}}),
                ".spec.containers: duplicate entries for key [name=\"x\"]",
            ),
            (
                json!({"spec": {"priority": "x"}}),
                ".spec.priority: expected numeric (int or float), got string",
            ),
        ] {
            assert_eq!(validate(pod, &value, false), [fault]);
        }
    }
}
