//! Pruning and defaulting of custom resources: what the schema does not know goes, what it defaults comes.

use kubeschema::kinds;
use kubeschema::schema::{DecodeError, Type, decode};
use serde_json::{Map, Value};

/// Removes unknown fields outside of metadata, and gives their paths.
pub(super) fn prune(structure: &Type, object: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    let metadata = object.as_object_mut().and_then(|map| map.remove("metadata"));
    walk(structure, object, "", &mut unknown);
    if let (Some(metadata), Some(map)) = (metadata, object.as_object_mut()) {
        map.insert("metadata".to_owned(), metadata);
    }
    unknown.sort();
    let mut inside = Vec::new();
    embedded(structure, object, "", &mut inside);
    unknown.extend(inside);
    unknown
}

/// Reads the object's metadata as the typed one it is, and gives the paths of unknown fields, which it removes.
pub(super) fn metadata(object: &mut Value) -> Result<Vec<String>, DecodeError> {
    let schema = kinds::schema_of("v1", "ConfigMap").and_then(|schema| schema.child("metadata"));
    match (schema, object.get_mut("metadata")) {
        (Some(schema), Some(metadata)) if !metadata.is_null() => {
            let decoded = decode(schema, metadata)?;
            Ok(decoded
                .unknown
                .into_iter()
                .map(|path| format!("metadata.{path}"))
                .collect())
        }
        _ => Ok(Vec::new()),
    }
}

fn join(path: &str, name: &str) -> String {
    kubeschema::field::child(path, name)
}

fn walk(structure: &Type, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    match (structure.resolve(), value) {
        (Type::Object(object), Value::Object(map)) => {
            let names: Vec<String> = map.keys().cloned().collect();
            for name in names {
                let here = join(path, &name);
                // Embedded metadata is read as what it is, afterwards.
                if object.embedded && name == "metadata" && !path.is_empty() {
                    continue;
                }
                match object
                    .fields
                    .get(&name)
                    .map(|field| &field.schema)
                    .or(object.rest.as_ref())
                {
                    Some(inner) => {
                        if let Some(child) = map.get_mut(&name) {
                            walk(inner, child, &here, unknown);
                        }
                    }
                    None => {
                        map.remove(&name);
                        unknown.push(here);
                    }
                }
            }
        }
        (Type::List(list), Value::Array(items)) => {
            for (position, item) in items.iter_mut().enumerate() {
                walk(&list.item, item, &kubeschema::field::index(path, position), unknown);
            }
        }
        (_, Value::Object(map)) => {
            for (_, child) in map.iter_mut() {
                walk(&Type::Any, child, path, unknown);
            }
        }
        (_, Value::Array(items)) => {
            for item in items {
                walk(&Type::Any, item, path, unknown);
            }
        }
        (_, Value::Number(number)) => {
            // Go has one number type here: 2.0 is written as 2.
            if let Some(float) = number
                .as_f64()
                .filter(|f| number.is_f64() && f.fract() == 0.0 && f.abs() < 9.0e15)
            {
                #[expect(clippy::cast_possible_truncation, reason = "guarded by the range check")]
                let integer = float as i64;
                *number = integer.into();
            }
        }
        _ => {}
    }
}

/// Prunes the metadata of embedded resources.
fn embedded(structure: &Type, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    match (structure.resolve(), value) {
        (Type::Object(object), Value::Object(map)) => {
            for (name, child) in map.iter_mut() {
                let here = join(path, name);
                let inner = object
                    .fields
                    .get(name)
                    .map(|field| &field.schema)
                    .or(object.rest.as_ref());
                if let Some(inner) = inner {
                    if object.embedded && name == "metadata" && !path.is_empty() {
                        if let Ok(decoded) = decode(inner, child) {
                            unknown.extend(decoded.unknown.into_iter().map(|field| join(&here, &field)));
                        }
                    } else {
                        embedded(inner, child, &here, unknown);
                    }
                }
            }
        }
        (Type::List(list), Value::Array(items)) => {
            for (position, item) in items.iter_mut().enumerate() {
                embedded(&list.item, item, &kubeschema::field::index(path, position), unknown);
            }
        }
        _ => {}
    }
}

/// Fills in defaults, and drops nulls where null is no value.
pub(super) fn default(structure: &Type, value: &mut Value) {
    match (structure.resolve(), value) {
        (Type::Object(object), Value::Object(map)) => {
            for (name, field) in &object.fields {
                if !field.nullable && map.get(name).is_some_and(Value::is_null) {
                    map.remove(name);
                }
                if let (Some(default), false) = (&field.default, map.contains_key(name)) {
                    map.insert(name.clone(), default.clone());
                }
            }
            if let Some(rest) = &object.rest
                && !object.rest_nullable
                && !matches!(rest.resolve(), Type::Any)
            {
                map.retain(|name, value| object.fields.contains_key(name) || !value.is_null());
            }
            descend(object, map);
        }
        (Type::List(list), Value::Array(items)) => {
            for item in items {
                default(&list.item, item);
            }
        }
        _ => {}
    }
}

fn descend(object: &kubeschema::schema::Object, map: &mut Map<String, Value>) {
    for (name, child) in map.iter_mut() {
        if object.embedded && name == "metadata" {
            continue;
        }
        if let Some(inner) = object
            .fields
            .get(name)
            .map(|field| &field.schema)
            .or(object.rest.as_ref())
        {
            default(inner, child);
        }
    }
}

#[cfg(test)]
mod tests {
    use kubeschema::schema::from_json_schema;
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_fill_objects_that_are_there_and_replace_forbidden_nulls() {
        let schema = from_json_schema(
            &json!({"type": "object", "properties": {"spec": {"type": "object", "default": {}, "properties": {
                "n": {"type": "integer", "default": 3},
                "o": {"type": "object", "properties": {"in": {"type": "boolean", "default": true}}},
                "l": {"type": "array", "items": {"type": "object", "properties": {"p": {"type": "string", "default": "TCP"}}}},
                "nul": {"type": "string", "nullable": true, "default": "d"},
                "m": {"type": "object", "additionalProperties": {"type": "object", "properties": {"v": {"type": "integer", "default": 9}}}},
            }}}}),
        );
        let filled = |mut value: Value| {
            default(&schema, &mut value);
            value["spec"].take()
        };
        assert_eq!(filled(json!({})), json!({"n": 3, "nul": "d"}));
        assert_eq!(
            filled(json!({"spec": {"n": null, "o": {}, "l": [{}, {"p": "UDP"}], "nul": null, "m": {"x": {}}}})),
            json!({"n": 3, "o": {"in": true}, "l": [{"p": "TCP"}, {"p": "UDP"}], "nul": null, "m": {"x": {"v": 9}}})
        );
        assert_eq!(
            filled(json!({"spec": {"o": null, "nul": "x"}})),
            json!({"n": 3, "nul": "x"})
        );
    }

    #[test]
    fn unknown_fields_go_except_where_the_schema_keeps_them() {
        let schema = from_json_schema(
            &json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "a": {"type": "string"},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "tpl": {"type": "object", "x-kubernetes-embedded-resource": true},
            }}}}),
        );
        let mut object = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "labls": {}}, "more": 1,
            "spec": {"a": "b", "c": 1, "free": {"x": {"y": 2.0}}, "tpl": {"kind": "K", "metadata": {"name": "n", "what": 1}, "z": 1}}});
        let mut unknown = prune(&schema, &mut object);
        unknown.extend(metadata(&mut object).unwrap());
        assert_eq!(
            unknown,
            [
                "more",
                "spec.c",
                "spec.tpl.z",
                "spec.tpl.metadata.what",
                "metadata.labls"
            ]
        );
        assert_eq!(
            object,
            json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"},
                "spec": {"a": "b", "free": {"x": {"y": 2}}, "tpl": {"kind": "K", "metadata": {"name": "n"}}}})
        );
    }
}
