//! Objects as stored bytes and back.
//!
//! Stored is the object's JSON with `metadata` first and without `apiVersion`, `kind` and `metadata.resourceVersion`:
//! these three follow from the resource and the revision, so an answer is the stored bytes with a few put in front,
//! and one stored object serves every version of its resource.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::registry::Resource;
use crate::status::{Result, Status};
use crate::store::Entry;
use crate::{event, scaler};

/// What every stored value begins with.
const PREFIX: &str = "{\"metadata\":{";

/// The part of an object that selectors look at.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Metadata {
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) namespace: String,
    #[serde(default)]
    pub(crate) labels: Option<BTreeMap<String, String>>,
}

/// The bytes to store.
pub(crate) fn encode(resource: &Resource, object: &Value) -> Bytes {
    if event::is_newer(resource) {
        let mut object = object.clone();
        event::to_stored(&mut object);
        return bytes_of(&object);
    }
    if scaler::is_older(resource) {
        let mut object = object.clone();
        scaler::to_stored(&mut object);
        return bytes_of(&object);
    }
    if let Some(custom) = resource.custom.as_ref().filter(|custom| custom.schema.converts()) {
        let mut object = object.clone();
        custom.schema.convert(&mut object);
        return bytes_of(&object);
    }
    bytes_of(object)
}

fn bytes_of(object: &Value) -> Bytes {
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(b"{\"metadata\":");
    let empty = Map::new();
    let fields = object.as_object().unwrap_or(&empty);
    match fields.get("metadata") {
        Some(Value::Object(metadata)) if metadata.contains_key("resourceVersion") => {
            let mut metadata = metadata.clone();
            metadata.remove("resourceVersion");
            append(&mut out, &Value::Object(metadata));
        }
        Some(metadata) => append(&mut out, metadata),
        None => out.extend_from_slice(b"{}"),
    }
    for (name, value) in fields {
        if !matches!(name.as_str(), "metadata" | "apiVersion" | "kind") {
            out.push(b',');
            append(&mut out, &Value::String(name.clone()));
            out.push(b':');
            append(&mut out, value);
        }
    }
    out.push(b'}');
    out.into()
}

/// The whole object.
pub(crate) fn decode(resource: &Resource, entry: &Entry) -> Result<Value> {
    let mut object: Value = serde_json::from_slice(&entry.value).map_err(|error| Box::new(Status::internal(error)))?;
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".to_owned(), resource.api_version().into());
        fields.insert("kind".to_owned(), resource.kind.as_str().into());
    }
    if event::is_newer(resource) {
        event::to_newer(&mut object);
    }
    if scaler::is_older(resource) {
        scaler::to_older(&mut object);
    }
    if let Some(custom) = resource.custom.as_ref().filter(|custom| custom.differs()) {
        custom.schema.read(&mut object);
    }
    set_version(&mut object, entry.modified);
    Ok(object)
}

/// Sets `metadata.resourceVersion`; removes it for revision 0.
pub(crate) fn set_version(object: &mut Value, revision: u64) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        if revision == 0 {
            metadata.remove("resourceVersion");
        } else {
            metadata.insert("resourceVersion".to_owned(), revision.to_string().into());
        }
    }
}

/// Appends the object's JSON, with or without `apiVersion` and `kind`.
pub(crate) fn write(out: &mut Vec<u8>, resource: &Resource, entry: &Entry, typed: bool) {
    if (event::is_newer(resource)
        || scaler::is_older(resource)
        || resource.custom.as_ref().is_some_and(|custom| custom.differs()))
        && let Ok(object) = decode(resource, entry)
    {
        return append(out, &object);
    }
    let kind = typed.then(|| (resource.kind.clone(), resource.api_version()));
    splice(out, kind, entry, entry.value.get(PREFIX.len()..).unwrap_or(b"}}"));
}

/// Appends the object as `PartialObjectMetadata`.
pub(crate) fn write_metadata(out: &mut Vec<u8>, entry: &Entry, version: &str, typed: bool) {
    let kind = typed.then(|| ("PartialObjectMetadata".to_owned(), format!("meta.k8s.io/{version}")));
    let end = metadata_end(&entry.value);
    splice(out, kind, entry, entry.value.get(PREFIX.len()..end).unwrap_or(b"}"));
    out.push(b'}');
}

/// Reads the part that selectors look at.
pub(crate) fn metadata(entry: &Entry) -> Metadata {
    let end = metadata_end(&entry.value);
    entry
        .value
        .get(PREFIX.len() - 1..end)
        .and_then(|bytes| serde_json::from_slice(bytes).ok())
        .unwrap_or_default()
}

fn splice(out: &mut Vec<u8>, kind: Option<(String, String)>, entry: &Entry, rest: &[u8]) {
    out.push(b'{');
    if let Some((kind, version)) = kind {
        out.extend_from_slice(b"\"kind\":");
        append(out, &kind.into());
        out.extend_from_slice(b",\"apiVersion\":");
        append(out, &version.into());
        out.push(b',');
    }
    out.extend_from_slice(b"\"metadata\":{");
    if entry.modified > 0 {
        out.extend_from_slice(format!("\"resourceVersion\":\"{}\"", entry.modified).as_bytes());
        if rest.first() != Some(&b'}') {
            out.push(b',');
        }
    }
    out.extend_from_slice(rest);
}

/// Where the value of `metadata` ends.
fn metadata_end(value: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for (at, byte) in value.iter().enumerate().skip(PREFIX.len() - 1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    value.len()
}

fn append(out: &mut Vec<u8>, value: &Value) {
    // Writing JSON into memory cannot fail: keys are strings and numbers are finite.
    let _ = serde_json::to_writer(out, value);
}

/// Text at a JSON pointer, empty if there is none.
pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The object's metadata, made if missing.
pub(crate) fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    if !object["metadata"].is_object() {
        object["metadata"] = Value::Object(Map::new());
    }
    match &mut object["metadata"] {
        Value::Object(metadata) => metadata,
        _ => unreachable!("was just made an object"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::Registry;

    #[test]
    fn stored_and_read_again_is_the_same() {
        let registry = Registry::builtin();
        let resource = registry.find("", "v1", "configmaps").unwrap();
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "}\"{"},
            "metadata": {"name": "a", "annotations": {"x": "\\\"}"}, "resourceVersion": "7"},
        });
        let entry = Entry {
            value: encode(resource, &object),
            created: 7,
            modified: 7,
        };
        assert_eq!(decode(resource, &entry).unwrap(), object);
        let mut out = Vec::new();
        write(&mut out, resource, &entry, true);
        assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), object);
        out.clear();
        write_metadata(&mut out, &entry, "v1", false);
        assert_eq!(
            serde_json::from_slice::<Value>(&out).unwrap(),
            json!({ "metadata": object["metadata"] })
        );
        assert_eq!(metadata(&entry).name, "a");
    }
}
