//! The table of built-in types, written back as OpenAPI v3 schemas: what `kubectl explain` reads, descriptions left out.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::schema::table::document;

/// The schemas of all types that the kinds of one version use, by name.
///
/// Reads the whole table; callers keep the result.
pub fn schemas(group: &str, version: &str) -> Map<String, Value> {
    let table = document();
    let empty = Map::new();
    let types = table["types"].as_object().unwrap_or(&empty);
    let mut kinds: Vec<(String, Value)> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for entry in table["versions"].as_array().into_iter().flatten() {
        for resource in entry["resources"].as_array().into_iter().flatten() {
            let Some(name) = resource["type"].as_str() else {
                continue;
            };
            let part = |key: &str| resource.get(key).unwrap_or(&entry[key]).clone();
            let id = json!({"group": part("group"), "kind": resource["kind"], "version": part("version")});
            if entry["group"] == group && entry["version"] == version {
                open.push(name.to_owned());
                open.push(format!("{name}List"));
            }
            let mut list = id.clone();
            list["kind"] = json!(format!("{}List", resource["kind"].as_str().unwrap_or_default()));
            kinds.push((format!("{name}List"), list));
            kinds.push((name.to_owned(), id));
        }
    }
    let mut found = Map::new();
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        let Some(entry) = types.get(&name).filter(|_| seen.insert(name.clone())) else {
            continue;
        };
        let mut schema = schema(&name, entry, types, &mut open);
        if let Some((_, id)) = kinds.iter().find(|(known, _)| *known == name) {
            schema["x-kubernetes-group-version-kind"] = json!([id]);
        }
        found.insert(name, schema);
    }
    found
}

fn schema(name: &str, entry: &Value, types: &Map<String, Value>, open: &mut Vec<String>) -> Value {
    match entry["alias"].as_str() {
        Some("q") => return json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        Some("x") => return json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]}),
        Some("t" | "u") => return json!({"type": "string", "format": "date-time"}),
        // Free-form JSON; schemas inside definitions may be anything at all.
        Some(_) if name.contains("JSON") => return json!({}),
        Some(_) => return json!({"type": "object"}),
        None => {}
    }
    let mut properties = Map::new();
    for (field, facts) in entry["fields"].as_object().into_iter().flatten() {
        properties.insert(field.clone(), property(facts, types, open));
    }
    let mut schema = json!({"type": "object"});
    if !properties.is_empty() {
        schema["properties"] = Value::Object(properties);
    }
    for (short, long) in [("required", "required"), ("unions", "x-kubernetes-unions")] {
        if let Some(value) = entry.get(short) {
            schema[long] = value.clone();
        }
    }
    if entry["atomic"] == true {
        schema["x-kubernetes-map-type"] = json!("atomic");
    }
    schema
}

fn property(facts: &Value, types: &Map<String, Value>, open: &mut Vec<String>) -> Value {
    let text = facts["t"].as_str().unwrap_or("a");
    let flags = facts["g"].as_str().unwrap_or_default();
    let mut schema = of(text, types, open);
    let pointer = flags.contains('p') || flags.contains('c');
    if let Some(default) = facts.get("d") {
        schema["default"] = default.clone();
    } else if (facts["z"] == true || (!pointer && (!flags.contains('o') || flags.contains('s'))))
        && let Some(zero) = zero(text, types)
    {
        schema["default"] = zero;
    }
    if let Some(choices) = facts.get("i") {
        let inside = if schema["type"] == "array" {
            "items"
        } else {
            "additionalProperties"
        };
        schema[inside]["enum"] = choices.clone();
    }
    for (short, long) in [
        ("l", "x-kubernetes-list-type"),
        ("k", "x-kubernetes-list-map-keys"),
        ("m", "x-kubernetes-patch-merge-key"),
        ("p", "x-kubernetes-patch-strategy"),
        ("a", "x-kubernetes-map-type"),
        ("e", "enum"),
    ] {
        if let Some(value) = facts.get(short) {
            schema[long] = value.clone();
        }
    }
    schema
}

fn of(text: &str, types: &Map<String, Value>, open: &mut Vec<String>) -> Value {
    if let Some(item) = text.strip_prefix("[]") {
        return json!({"type": "array", "items": inner(item, types, open)});
    }
    if let Some(value) = text.strip_prefix("{}") {
        return json!({"type": "object", "additionalProperties": inner(value, types, open)});
    }
    if let Some(name) = text.strip_prefix('@') {
        open.push(name.to_owned());
        return json!({"allOf": [{"$ref": format!("#/components/schemas/{name}")}]});
    }
    match text {
        "s" => json!({"type": "string"}),
        "y" => json!({"type": "string", "format": "byte"}),
        "t" => json!({"type": "string", "format": "date-time"}),
        "b" => json!({"type": "boolean"}),
        "i" => json!({"type": "integer", "format": "int32"}),
        "l" => json!({"type": "integer", "format": "int64"}),
        "n" => json!({"type": "number", "format": "double"}),
        _ => json!({"type": "object"}),
    }
}

/// The schema of items and map values: with their zero as default, references bare where they have none.
fn inner(text: &str, types: &Map<String, Value>, open: &mut Vec<String>) -> Value {
    let mut schema = of(text, types, open);
    match (zero(text, types), text.strip_prefix('@')) {
        (Some(zero), _) => schema["default"] = zero,
        (None, Some(_)) => schema = schema["allOf"][0].take(),
        (None, None) => {}
    }
    schema
}

fn zero(text: &str, types: &Map<String, Value>) -> Option<Value> {
    match text {
        "s" => Some(json!("")),
        "i" | "l" | "n" => Some(json!(0)),
        "b" => Some(json!(false)),
        _ => {
            let alias = types.get(text.strip_prefix('@')?)?.get("alias");
            alias.is_none().then(|| json!({}))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_written_as_a_real_server_writes_them() {
        let core = schemas("", "v1");
        assert_eq!(
            core["io.k8s.api.core.v1.ConfigMap"],
            json!({
                "type": "object",
                "properties": {
                    "apiVersion": {"type": "string"},
                    "binaryData": {"type": "object", "additionalProperties": {"type": "string", "format": "byte"}},
                    "data": {"type": "object", "additionalProperties": {"type": "string", "default": ""}},
                    "immutable": {"type": "boolean"},
                    "kind": {"type": "string"},
                    "metadata": {
                        "allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}],
                        "default": {},
                    },
                },
                "x-kubernetes-group-version-kind": [{"group": "", "kind": "ConfigMap", "version": "v1"}],
            })
        );
        let port = &core["io.k8s.api.core.v1.ServicePort"];
        assert_eq!(port["required"], json!(["port"]));
        assert_eq!(
            port["properties"]["port"],
            json!({"type": "integer", "format": "int32", "default": 0})
        );
        assert!(
            core.contains_key("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
            "what is used is there too"
        );
        assert!(!core.contains_key("io.k8s.api.apps.v1.Deployment"));
    }
}
