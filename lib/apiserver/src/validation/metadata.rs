//! Metadata of any object: names, labels, annotations, finalizers, owners.

use kubeschema::field::{self, FieldError};
use kubeschema::name;
use serde_json::Value;

/// What an object may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// A DNS subdomain: most kinds.
    Subdomain,
    /// A DNS label.
    Label,
    /// Whatever can be one segment of a path.
    Segment,
}

/// All annotations of an object together.
const MAXIMUM_ANNOTATIONS: usize = 256 * 1024;

/// Judges an object's metadata; `old` is its stored state.
pub(crate) fn validate(object: &Value, old: Option<&Value>, _namespaced: bool, rule: Name) -> Vec<FieldError> {
    let metadata = &object["metadata"];
    let mut errors = Vec::new();
    let given = metadata["name"].as_str().unwrap_or_default();
    if old.is_none() && !given.is_empty() {
        let problems = match rule {
            Name::Subdomain => name::dns_subdomain(given),
            Name::Label => name::dns_label(given),
            Name::Segment => name::path_segment(given),
        };
        errors.extend(
            problems
                .into_iter()
                .map(|why| FieldError::invalid("metadata.name", given, why)),
        );
    }
    maps(metadata, "metadata", &mut errors);
    owners(metadata, &mut errors);
    finalizers(metadata, old, &mut errors);
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        if old.is_some_and(|old| old["metadata"][field] != metadata[field]) {
            let why = "field is immutable";
            errors.push(FieldError::invalid(
                field::child("metadata", field),
                metadata[field].clone(),
                why,
            ));
        }
    }
    errors
}

/// Judges the metadata of an object inside another.
pub(crate) fn embedded(metadata: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    maps(metadata, path, &mut errors);
    errors
}

/// Labels and annotations of a template.
pub(crate) fn maps(metadata: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let labels = field::child(path, "labels");
    labels_at(&metadata["labels"], &labels, errors);
    let annotations = field::child(path, "annotations");
    let mut size = 0;
    for (key, value) in metadata["annotations"].as_object().into_iter().flatten() {
        let problems = name::qualified(&key.to_lowercase());
        errors.extend(
            problems
                .into_iter()
                .map(|why| FieldError::invalid(annotations.as_str(), key.as_str(), why)),
        );
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > MAXIMUM_ANNOTATIONS {
        errors.push(FieldError::too_long(annotations, MAXIMUM_ANNOTATIONS));
    }
}

/// A map of labels.
pub(crate) fn labels_at(labels: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (key, value) in labels.as_object().into_iter().flatten() {
        errors.extend(
            name::qualified(key)
                .into_iter()
                .map(|why| FieldError::invalid(path, key.as_str(), why)),
        );
        let text = value.as_str().unwrap_or_default();
        errors.extend(
            name::label_value(text)
                .into_iter()
                .map(|why| FieldError::invalid(path, text, why)),
        );
    }
}

fn owners(metadata: &Value, errors: &mut Vec<FieldError>) {
    const PATH: &str = "metadata.ownerReferences";
    let references = &metadata["ownerReferences"];
    let list = references.as_array().map(Vec::as_slice).unwrap_or_default();
    for reference in list {
        let text = |key: &str| reference[key].as_str().unwrap_or_default();
        for (key, why) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if text(key).is_empty() {
                errors.push(FieldError::invalid(field::child(PATH, key), "", why));
            }
        }
        if text("apiVersion").matches('/').count() > 1 {
            let why = "version must not be empty";
            errors.push(FieldError::invalid(
                field::child(PATH, "apiVersion"),
                text("apiVersion"),
                why,
            ));
        }
        if text("kind") == "Event" && text("apiVersion") == "v1" {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            errors.push(FieldError::invalid(PATH, reference.clone(), why));
        }
    }
    let controllers: Vec<&str> = list
        .iter()
        .filter(|r| r["controller"] == true)
        .map(|r| r["name"].as_str().unwrap_or_default())
        .collect();
    if let [first, second, ..] = controllers.as_slice() {
        let why = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        errors.push(FieldError::invalid(PATH, references.clone(), why));
    }
}

fn finalizers(metadata: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    const PATH: &str = "metadata.finalizers";
    let names = |metadata: &Value| -> Vec<String> {
        let list = metadata["finalizers"].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let given = names(metadata);
    for finalizer in &given {
        let problems = name::qualified(finalizer);
        errors.extend(
            problems
                .into_iter()
                .map(|why| FieldError::invalid(PATH, finalizer.as_str(), why)),
        );
    }
    let has = |name: &str| given.iter().any(|finalizer| finalizer == name);
    if has("orphan") && has("foregroundDeletion") {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid(PATH, given.clone(), why));
    }
    let Some(stored) = old.map(|old| &old["metadata"]) else {
        return;
    };
    if stored["deletionTimestamp"].is_string() {
        let before = names(stored);
        let added: Vec<String> = given
            .iter()
            .filter(|name| !before.contains(name))
            .map(|name| format!("{name:?}"))
            .collect();
        if !added.is_empty() {
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
            );
            errors.push(FieldError::forbidden(PATH, why));
        }
    }
}

/// Built-in kinds also want finalizers to be qualified or well known.
pub(super) fn qualified_finalizers(metadata: &Value, errors: &mut Vec<FieldError>) {
    const KNOWN: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];
    let list = metadata["finalizers"].as_array().into_iter().flatten();
    for (position, finalizer) in list.filter_map(Value::as_str).enumerate() {
        if !finalizer.contains('/') && !KNOWN.contains(&finalizer) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(
                field::index("metadata.finalizers", position),
                finalizer,
                why,
            ));
        }
    }
}
