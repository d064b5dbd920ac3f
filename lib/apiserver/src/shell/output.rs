//! Answers as bytes: whole objects, metadata only, lists, watch events.

use bytes::Bytes;
use serde_json::{Value, json};

use super::negotiate::Shape;
use crate::object;
use crate::registry::Resource;
use crate::status::Result;
use crate::store::Entry;
use crate::verb::{Change, Item, List, Watch};

/// One object.
pub(super) fn object(resource: &Resource, entry: &Entry, shape: &Shape) -> Vec<u8> {
    let mut out = Vec::with_capacity(entry.value.len() + 128);
    match shape {
        Shape::Metadata(version) => object::write_metadata(&mut out, entry, version, true),
        _ => object::write(&mut out, resource, entry, true),
    }
    out
}

/// A list.
pub(super) fn list(list: &List, shape: &Shape) -> Vec<u8> {
    let mut metadata = json!({"resourceVersion": list.revision.to_string()});
    if !list.next.is_empty() || list.resource.custom.is_some() {
        metadata["continue"] = list.next.as_str().into();
    }
    if let Some(remaining) = list.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    let (kind, version) = match shape {
        Shape::Metadata(version) => ("PartialObjectMetadataList".to_owned(), format!("meta.k8s.io/{version}")),
        _ => (list.resource.list_kind.clone(), list.resource.api_version()),
    };
    let head = json!({"kind": kind, "apiVersion": version, "metadata": metadata}).to_string();
    let size: usize = list.entries.iter().map(|entry| entry.value.len() + 64).sum();
    let mut out = Vec::with_capacity(size + head.len() + 16);
    out.extend_from_slice(head.trim_end_matches('}').as_bytes());
    // The head ends with the braces of `metadata` and of itself; the first one stays.
    out.extend_from_slice(b"},\"items\":[");
    for (at, entry) in list.entries.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match shape {
            Shape::Metadata(version) => object::write_metadata(&mut out, entry, version, true),
            _ => object::write(&mut out, &list.resource, entry, list.resource.custom.is_some()),
        }
    }
    out.extend_from_slice(b"]}");
    out
}

/// One line of a watch.
pub(super) fn event(watch: &Watch, item: &Item, shape: &Shape) -> Result<Bytes> {
    match item {
        Item::Object(change, entry, Some(event)) if watch.is_plain() && !matches!(shape, Shape::Table(_)) => {
            let form = u64::from(watch.resource.id) << 8 | shape_bits(shape) << 2 | change_bits(*change);
            Ok(event.encoded(form, || line(&watch.resource, *change, entry, shape)))
        }
        Item::Object(change, entry, _) => Ok(line(&watch.resource, *change, entry, shape)),
        Item::Bookmark(revision, end) => Ok(value_line(
            "BOOKMARK",
            &bookmark(&watch.resource, *revision, *end, shape),
        )),
        Item::Error(status) => Ok(value_line("ERROR", &status.to_value())),
    }
}

fn line(resource: &Resource, change: Change, entry: &Entry, shape: &Shape) -> Bytes {
    let mut out = Vec::with_capacity(entry.value.len() + 160);
    out.extend_from_slice(format!("{{\"type\":\"{}\",\"object\":", word(change)).as_bytes());
    match shape {
        Shape::Metadata(version) => object::write_metadata(&mut out, entry, version, true),
        _ => object::write(&mut out, resource, entry, true),
    }
    out.extend_from_slice(b"}\n");
    out.into()
}

/// A line around a value.
pub(super) fn value_line(kind: &str, value: &Value) -> Bytes {
    format!("{{\"type\":\"{kind}\",\"object\":{value}}}\n").into()
}

/// The word of a change.
pub(super) fn word(change: Change) -> &'static str {
    match change {
        Change::Added => "ADDED",
        Change::Modified => "MODIFIED",
        Change::Deleted => "DELETED",
    }
}

/// The object of a bookmark.
pub(super) fn bookmark(resource: &Resource, revision: u64, end: bool, shape: &Shape) -> Value {
    let (kind, version) = match shape {
        Shape::Metadata(version) => ("PartialObjectMetadata".to_owned(), format!("meta.k8s.io/{version}")),
        _ => (resource.kind.clone(), resource.api_version()),
    };
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    if end {
        metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    let mut object = json!({"kind": kind, "apiVersion": version, "metadata": metadata});
    if *shape == Shape::Whole
        && let Some(fields) = object.as_object_mut()
    {
        fields.extend(zero(resource));
    }
    object
}

/// What Go's zero value of a kind shows beside metadata.
fn zero(resource: &Resource) -> serde_json::Map<String, Value> {
    let value = if resource.is("apiextensions.k8s.io", "customresourcedefinitions") {
        let names = json!({"kind": "", "plural": ""});
        json!({
            "spec": {"group": "", "names": names, "scope": "", "versions": null},
            "status": {"acceptedNames": names, "conditions": null, "storedVersions": null},
        })
    } else {
        json!({})
    };
    value.as_object().cloned().unwrap_or_default()
}

fn shape_bits(shape: &Shape) -> u64 {
    match shape {
        Shape::Whole | Shape::Other { .. } => 0,
        Shape::Table(_) => 1,
        Shape::Metadata(version) if version == "v1" => 2,
        Shape::Metadata(_) => 3,
    }
}

fn change_bits(change: Change) -> u64 {
    match change {
        Change::Added => 0,
        Change::Modified => 1,
        Change::Deleted => 2,
    }
}
