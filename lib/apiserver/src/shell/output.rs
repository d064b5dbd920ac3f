//! Answers as bytes: whole objects, metadata only, lists, watch events.

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::negotiate::Shape;
use crate::object;
use crate::query::Query;
use crate::registry::Resource;
use crate::status::{Result, Status};
use crate::store::Entry;
use crate::table::Printer;
use crate::verb::{Change, Item, List, Watch};

/// How tables are made for one request.
pub(super) struct Tabular {
    printer: Printer,
    include: Include,
    now: Timestamp,
}

/// What of an object goes with its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Include {
    None,
    Metadata,
    Object,
}

impl Tabular {
    /// Reads `includeObject`.
    ///
    /// # Errors
    /// 400 for a value that means nothing.
    pub(super) fn new(resource: &Resource, query: &Query, now: Timestamp) -> Result<Self> {
        let include = match query.get("includeObject") {
            "" | "Metadata" => Include::Metadata,
            "None" => Include::None,
            "Object" => Include::Object,
            other => {
                let why =
                    format!("includeObject: Invalid value: {other:?}: must be 'Metadata', 'Object', 'None', or empty");
                return Err(Box::new(Status::bad_request(format!(
                    "Unable to convert to Table as requested: {why}"
                ))));
            }
        };
        Ok(Self {
            printer: Printer::of(resource),
            include,
            now,
        })
    }

    /// A table of entries; later ones of a watch need no heads.
    pub(super) fn table<'a>(
        &self,
        resource: &Resource,
        entries: impl Iterator<Item = &'a Entry>,
        metadata: &Value,
        heads: Heads,
    ) -> Result<Value> {
        let rows = entries
            .map(|entry| self.row(resource, entry))
            .collect::<Result<Vec<Value>>>()?;
        let columns = if heads == Heads::Shown {
            self.printer.columns()
        } else {
            Value::Null
        };
        Ok(json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": columns, "rows": rows,
        }))
    }

    fn row(&self, resource: &Resource, entry: &Entry) -> Result<Value> {
        let object = object::decode(resource, entry)?;
        let mut row = json!({"cells": self.printer.cells(&object, self.now)});
        if let Some(conditions) = self.printer.conditions(&object) {
            row["conditions"] = conditions;
        }
        row["object"] = match self.include {
            Include::None => Value::Null,
            Include::Object => object,
            Include::Metadata => {
                json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
            }
        };
        Ok(row)
    }
}

/// Whether a table says what its columns are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heads {
    Shown,
    Known,
}

/// One object.
pub(super) fn object(resource: &Resource, entry: &Entry, shape: &Shape) -> Vec<u8> {
    let mut out = Vec::with_capacity(entry.value.len() + 128);
    match shape {
        Shape::Metadata(version) => object::write_metadata(&mut out, entry, version, true),
        _ => object::write(&mut out, resource, entry, true),
    }
    out
}

/// `metadata` of a list.
pub(super) fn list_metadata(list: &List, shape: &Shape) -> Value {
    let mut metadata = json!({"resourceVersion": list.revision.to_string()});
    if !list.next.is_empty() || (list.resource.custom.is_some() && *shape == Shape::Whole) {
        metadata["continue"] = list.next.as_str().into();
    }
    if let Some(remaining) = list.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    metadata
}

/// A list.
pub(super) fn list(list: &List, shape: &Shape) -> Vec<u8> {
    let metadata = list_metadata(list, shape);
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

/// One line of a watch; `tables` for those that show tables, and whether it is the first line.
pub(super) fn event(watch: &Watch, item: &Item, shape: &Shape, tables: Option<(&Tabular, Heads)>) -> Result<Bytes> {
    match (item, tables) {
        (Item::Object(change, entry, _), Some((tables, heads))) => {
            let metadata = json!({"resourceVersion": entry.modified.to_string()});
            let table = tables.table(&watch.resource, std::iter::once(entry), &metadata, heads)?;
            Ok(value_line(word(*change), &table))
        }
        (Item::Object(change, entry, Some(event)), None) if watch.is_plain() => {
            let form = u64::from(watch.resource.id) << 8 | shape_bits(shape) << 2 | change_bits(*change);
            Ok(event.encoded(form, || line(&watch.resource, *change, entry, shape)))
        }
        (Item::Object(change, entry, _), None) => Ok(line(&watch.resource, *change, entry, shape)),
        (Item::Bookmark(revision, end), _) => Ok(value_line(
            "BOOKMARK",
            &bookmark(&watch.resource, *revision, *end, shape),
        )),
        (Item::Error(status), _) => Ok(value_line("ERROR", &status.to_value())),
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
