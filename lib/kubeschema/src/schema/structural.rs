//! JSON schemas of custom resources → types.
//!
//! Reads only what decides about structure: types, list and map kinds, defaults, embedded objects, free-form parts.
//! Value rules (minimum, pattern, …) are the validator's.

use std::sync::Arc;

use serde_json::Value;

use super::{Field, List, ListKind, Object, Scalar, Type, table};

/// The type that a structural schema (`openAPIV3Schema`) describes.
pub fn from_json_schema(schema: &Value) -> Type {
    let mut read = read(schema);
    if let Type::Object(object) = &mut read {
        embed(object);
    }
    read
}

fn read(schema: &Value) -> Type {
    if schema["x-kubernetes-int-or-string"] == true {
        return Type::Scalar(Scalar::IntOrString);
    }
    let preserve = schema["x-kubernetes-preserve-unknown-fields"] == true;
    match schema["type"].as_str() {
        Some("object") => {
            let mut object = Object {
                atomic: schema["x-kubernetes-map-type"] == "atomic",
                embedded: schema["x-kubernetes-embedded-resource"] == true,
                preserve,
                ..Object::default()
            };
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let mut field = Field::of(read(property));
                field.default = property.get("default").cloned();
                field.nullable = property["nullable"] == true;
                object.fields.insert(name.clone(), field);
            }
            let required = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            for name in required {
                if let Some(field) = object.fields.get_mut(name) {
                    field.required = true;
                }
            }
            object.rest = match schema.get("additionalProperties") {
                Some(Value::Bool(true)) => Some(Arc::new(Type::Any)),
                Some(rest @ Value::Object(_)) => Some(Arc::new(read(rest))),
                _ if preserve => Some(Arc::new(Type::Any)),
                _ => None,
            };
            object.rest_nullable = schema["additionalProperties"]["nullable"] == true;
            if object.embedded {
                embed(&mut object);
            }
            Type::Object(object)
        }
        Some("array") => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
            let kind = match schema["x-kubernetes-list-type"].as_str() {
                Some("map") => ListKind::Map(keys.filter_map(Value::as_str).map(str::to_owned).collect()),
                Some("set") => ListKind::Set,
                _ => ListKind::Atomic,
            };
            Type::List(List {
                item: Arc::new(read(&schema["items"])),
                kind,
            })
        }
        Some("string") => Type::Scalar(Scalar::String),
        Some("boolean") => Type::Scalar(Scalar::Boolean),
        Some("integer") => Type::Scalar(Scalar::Int64),
        Some("number") => Type::Scalar(Scalar::Number),
        _ => Type::Any,
    }
}

/// Gives an object the three fields every Kubernetes object has.
fn embed(object: &mut Object) {
    let metadata = table::lookup("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
        .cloned()
        .unwrap_or(Type::Any);
    object.fields.insert("metadata".to_owned(), Field::of(metadata));
    for name in ["apiVersion", "kind"] {
        object
            .fields
            .insert(name.to_owned(), Field::of(Type::Scalar(Scalar::String)));
    }
}
