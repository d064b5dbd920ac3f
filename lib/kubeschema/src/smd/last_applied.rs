//! The annotation of client-side apply: while `kubectl apply --server-side` takes an object over, what the annotation
//! says counts as kubectl's own, and the annotation is kept up to date.

use serde_json::Value;

use super::compare::compare;
use super::fields::{field_set, validate};
use super::set::Set;
use crate::schema::Type;

/// The only manager this is for.
pub(super) const MANAGER: &str = "kubectl";
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// More than this does not fit annotations any more.
const MAXIMUM: usize = 256 * 1024;

fn text(object: &Value) -> Option<&str> {
    object["metadata"]["annotations"][ANNOTATION]
        .as_str()
        .filter(|text| !text.is_empty())
}

/// The paths that the annotation sets to what the live object still has.
pub(super) fn owned(schema: &Type, api_version: &str, live: &Value) -> Set {
    let Some(last) = text(live).and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return Set::default();
    };
    if last["apiVersion"] != api_version || !validate(schema, &last, false).is_empty() {
        return Set::default();
    }
    let found = compare(schema, &last, live);
    field_set(schema, &last)
        .difference(&found.modified)
        .difference(&found.added)
        .difference(&found.removed)
}

/// Brings the annotation up to date, if the object has one.
pub(super) fn refresh(object: &mut Value, config: &Value) {
    if text(object).is_none() {
        return;
    }
    let mut config = config.clone();
    if let Some(metadata) = config.get_mut("metadata").and_then(Value::as_object_mut) {
        let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
        let left = annotations.map(|annotations| {
            annotations.remove(ANNOTATION);
            annotations.len()
        });
        if left == Some(0) {
            metadata.remove("annotations");
        }
    }
    let text = format!("{config}\n");
    let annotations = &mut object["metadata"]["annotations"];
    if let Some(annotations) = annotations.as_object_mut() {
        let others: usize = annotations
            .iter()
            .filter(|(key, _)| *key != ANNOTATION)
            .map(|(key, value)| key.len() + value.as_str().map_or(0, str::len))
            .sum();
        if others + ANNOTATION.len() + text.len() > MAXIMUM {
            annotations.remove(ANNOTATION);
        } else {
            annotations.insert(ANNOTATION.to_owned(), Value::String(text));
        }
    }
}
