//! The OpenAPI v2 document, for clients that know no v3: all versions in one, in the older dialect.
//!
//! The older dialect has no alternatives, so what allows several types is told as upstream tells it there. Written as
//! JSON only.

use serde_json::{Map, Value, json};

use super::VERSION;
use crate::registry::Registry;

/// `/openapi/v2`.
pub(crate) fn document(registry: &Registry) -> Value {
    let (mut paths, mut definitions) = (Map::new(), Map::new());
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for resource in registry.resources() {
        let version = (resource.group.as_str(), resource.version.as_str());
        if seen.contains(&version) {
            continue;
        }
        seen.push(version);
        let Some(mut document) = super::document(registry, version.0, version.1) else {
            continue;
        };
        if let Value::Object(found) = document["components"]["schemas"].take() {
            definitions.extend(found.into_iter().map(|(name, schema)| (name, older(schema))));
        }
        if let Value::Object(found) = document["paths"].take() {
            paths.extend(found.into_iter().map(|(path, item)| (path, operations(item))));
        }
    }
    json!({
        "swagger": "2.0", "info": {"title": "Kubernetes", "version": VERSION},
        "paths": paths, "definitions": definitions,
    })
}

/// Operations with their parameters in the older form.
fn operations(mut item: Value) -> Value {
    for operation in item.as_object_mut().into_iter().flat_map(Map::values_mut) {
        let parameters = operation["parameters"].as_array_mut().into_iter().flatten();
        for parameter in parameters {
            if let Value::Object(schema) = parameter["schema"].take()
                && let Some(fields) = parameter.as_object_mut()
            {
                fields.remove("schema");
                fields.extend(schema);
            }
        }
    }
    item
}

/// A schema in the older dialect.
fn older(schema: Value) -> Value {
    match schema {
        Value::Object(fields) => object(fields),
        Value::Array(items) => items.into_iter().map(older).collect(),
        other => other,
    }
}

fn object(mut fields: Map<String, Value>) -> Value {
    // A reference with a default stands in a list of one.
    let only = fields
        .get("allOf")
        .and_then(Value::as_array)
        .filter(|list| list.len() == 1)
        .and_then(|list| list.first()?.get("$ref").cloned());
    if let Some(reference) = only {
        fields.insert("$ref".to_owned(), reference);
    }
    if let Some(Value::String(reference)) = fields.get_mut("$ref") {
        *reference = reference.replace("#/components/schemas/", "#/definitions/");
    }
    let several = fields.contains_key("oneOf") && !fields.contains_key("type");
    for key in ["allOf", "anyOf", "oneOf", "not", "nullable"] {
        fields.remove(key);
    }
    if several || fields.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        fields.insert("type".to_owned(), "string".into());
    }
    if fields.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true)) {
        // Clients would refuse what only the server knows.
        for key in ["type", "properties", "items"] {
            fields.remove(key);
        }
    }
    fields
        .into_iter()
        .map(|(name, value)| match (name.as_str(), value) {
            // Names of properties are not words of the dialect.
            ("properties", Value::Object(inner)) => {
                let inner: Map<_, _> = inner.into_iter().map(|(name, schema)| (name, older(schema))).collect();
                (name, inner.into())
            }
            ("default" | "enum", value) => (name, value),
            (_, value) => (name, older(value)),
        })
        .collect::<Map<_, _>>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_alternatives_are_told_the_older_way() {
        let newer = json!({"type": "object", "properties": {
            "metadata": {"allOf": [{"$ref": "#/components/schemas/Meta"}], "default": {}},
            "port": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
            "size": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {}}},
            "old": {"type": "string", "nullable": true},
            "not": {"type": "string"},
        }});
        assert_eq!(
            older(newer),
            json!({"type": "object", "properties": {
                "metadata": {"$ref": "#/definitions/Meta", "default": {}},
                "port": {"type": "string", "format": "int-or-string"},
                "size": {"type": "string", "x-kubernetes-int-or-string": true},
                "free": {"x-kubernetes-preserve-unknown-fields": true},
                "old": {"type": "string"},
                "not": {"type": "string"},
            }})
        );
    }

    #[test]
    fn one_document_holds_all_versions() {
        let document = document(&Registry::builtin());
        assert_eq!(document["swagger"], "2.0");
        let definitions = &document["definitions"];
        for name in ["io.k8s.api.core.v1.Pod", "io.k8s.api.apps.v1.Deployment"] {
            assert_eq!(definitions[name]["type"], "object", "{name}");
        }
        let patch = &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
        assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Deployment");
        let force = patch["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .find(|p| p["name"] == "force");
        assert_eq!(force.unwrap()["type"], "boolean");
        assert!(!document.to_string().contains("#/components/"));
    }
}
