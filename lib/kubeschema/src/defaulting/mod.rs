//! Defaulting of built-in kinds: what an API server fills in where an object says nothing.
//!
//! Most defaults belong to a type wherever it occurs and are a table; those that depend on other fields are functions
//! in [`kind`]. What needs an identity, an address or the clock is not here. Expects a decoded object (see
//! [`crate::schema::decode`]); nothing is ever overwritten.

mod kind;
mod table;

use serde_json::{Map, Value};

use crate::kinds;
use crate::schema::{DecodeError, Decoded, Type, decode, encode};

/// Reads an object of a built-in kind as the reference would, fills in its defaults and writes what is never left out.
///
/// Kinds nobody knows are left as they are.
///
/// # Errors
/// The first value that is not of its field's type.
pub fn normalise(group: &str, version: &str, kind: &str, object: &mut Value) -> Result<Decoded, DecodeError> {
    let Some(schema) = kinds::schema(group, version, kind) else {
        return Ok(Decoded::default());
    };
    let emptied = kind::emptied(group, kind, object);
    let decoded = decode(schema, object)?;
    default(group, version, kind, object);
    encode(schema, object);
    for pointer in emptied {
        if let Some(list) = object.pointer_mut(pointer) {
            *list = Value::Array(Vec::new());
        }
    }
    Ok(decoded)
}

/// Fills in the defaults of a decoded object.
pub fn default(group: &str, version: &str, kind: &str, object: &mut Value) {
    let Some(schema) = kinds::schema(group, version, kind) else {
        return;
    };
    kind::before(group, kind, object);
    walk(schema, object);
    kind::after(group, version, kind, object);
}

/// Applies the table to a value and everything in it.
fn walk(schema: &Type, value: &mut Value) {
    match (schema.resolve(), value) {
        (Type::Object(object), Value::Object(map)) => {
            let name = if object.fields.is_empty() { None } else { schema.name() };
            let entries = name.map(table::of).unwrap_or_default();
            for (field, default) in &object.fields {
                // A struct that is no pointer is always there, and so are its defaults.
                let part = matches!(default.schema.resolve(), Type::Object(inner) if inner.rest.is_none());
                if part && !default.zero.pointer && !default.zero.omit && map.get(field).is_none_or(Value::is_null) {
                    map.insert(field.clone(), Value::Object(Map::new()));
                }
                if let (Some(default), false) = (&default.default, map.contains_key(field)) {
                    map.insert(field.clone(), default.clone());
                }
            }
            for (field, default) in entries {
                if !map.contains_key(*field) {
                    map.insert((*field).to_owned(), default.clone());
                }
            }
            if let Some(name) = name {
                dependent(name, map);
            }
            for (field, child) in map.iter_mut() {
                if let Some(inner) = object
                    .fields
                    .get(field)
                    .map(|field| &field.schema)
                    .or(object.rest.as_ref())
                {
                    walk(inner, child);
                }
            }
        }
        (Type::List(list), Value::Array(items)) => {
            for item in items {
                walk(&list.item, item);
            }
        }
        _ => {}
    }
}

/// Defaults of a type that depend on its other fields.
fn dependent(name: &str, map: &mut Map<String, Value>) {
    match name {
        "io.k8s.api.core.v1.Container"
        | "io.k8s.api.core.v1.EphemeralContainer"
        | "io.k8s.api.core.v1.ImageVolumeSource" => {
            let (source, policy_field) = if name.ends_with("ImageVolumeSource") {
                ("reference", "pullPolicy")
            } else {
                ("image", "imagePullPolicy")
            };
            if map.contains_key(policy_field) {
                return;
            }
            let image = map.get(source).and_then(Value::as_str).unwrap_or_default();
            let policy = if is_reference(image) && tag(image) == "latest" {
                "Always"
            } else {
                "IfNotPresent"
            };
            map.insert(policy_field.to_owned(), policy.into());
        }
        // The account has an old name as well; either says the other.
        "io.k8s.api.core.v1.PodSpec" => {
            let named = ["serviceAccountName", "serviceAccount"]
                .iter()
                .find_map(|key| map.get(*key).and_then(Value::as_str).filter(|name| !name.is_empty()))
                .map(str::to_owned);
            if let Some(named) = named {
                map.insert("serviceAccountName".to_owned(), named.as_str().into());
                map.insert("serviceAccount".to_owned(), named.into());
            }
        }
        "io.k8s.api.core.v1.Volume" if map.keys().all(|key| key == "name") => {
            map.insert("emptyDir".to_owned(), Value::Object(Map::new()));
        }
        "io.k8s.api.rbac.v1.Subject" => {
            let known = matches!(map.get("kind").and_then(Value::as_str), Some("User" | "Group"));
            if known && !map.contains_key("apiGroup") {
                map.insert("apiGroup".to_owned(), "rbac.authorization.k8s.io".into());
            }
        }
        _ => {}
    }
}

/// Whether a text names an image at all; what does not is never pulled anew.
fn is_reference(image: &str) -> bool {
    const LONGEST: usize = 255;
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    let (path, last) = name.rsplit_once('/').map_or(("", name), |(path, last)| (path, last));
    let last = last.split_once(':').map_or(last, |(last, _)| last);
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let component = |text: &str| {
        let bytes = text.as_bytes();
        bytes.first().is_some_and(|b| plain(*b))
            && bytes.last().is_some_and(|b| plain(*b))
            && bytes.iter().all(|b| plain(*b) || matches!(b, b'.' | b'_' | b'-'))
    };
    let mut parents = path.split('/');
    // What comes first may be a server, which has capitals and a port.
    let server = |text: &str| {
        component(text)
            || (text.contains(['.', ':']) || text == "localhost")
                && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
                && text
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']'))
    };
    let above = path.is_empty() || (parents.next().is_some_and(server) && parents.all(component));
    above && component(last) && path.len() + last.len() < LONGEST
}

/// The tag of an image; `latest` if it has neither tag nor digest.
fn tag(image: &str) -> &str {
    let (name, digest) = image.split_once('@').unwrap_or((image, ""));
    let last = name.rsplit('/').next().unwrap_or(name);
    match last.split_once(':') {
        Some((_, tag)) => tag,
        None if digest.is_empty() => "latest",
        None => "",
    }
}

#[cfg(test)]
mod tests;
