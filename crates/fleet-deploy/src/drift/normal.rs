//! One form for both sides of a comparison: what the server, other controllers or different
//! spellings add is taken away before fields are compared.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeschema::kinds;
use kubeschema::schema::decode;
use serde_json::{Map, Value};

use crate::object;

/// Fields of the metadata that only the server writes.
const SERVER: [&str; 8] = [
    "creationTimestamp",
    "uid",
    "resourceVersion",
    "generation",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Brings both sides into one form.
pub(super) fn normalize(desired: &mut Value, live: &mut Value) {
    for side in [&mut *desired, &mut *live] {
        if object::kind(side) == "Secret" {
            secret(side);
        }
        typed(side);
        strip(side);
        if matches!(object::kind(side), "Role" | "ClusterRole") {
            rules(side);
        }
    }
    match object::kind(live) {
        "Pod" => tolerated(desired, live),
        _ => injected(desired, live),
    }
    // The namespace may come from the release.
    let namespace = object::namespace(live).to_owned();
    if namespace.is_empty() {
        if let Some(metadata) = desired.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("namespace");
        }
    } else {
        object::set_namespace(desired, &namespace);
    }
}

/// One spelling of every value of a known kind. A side with fields its kind does not have is
/// left as it is.
fn typed(side: &mut Value) {
    let Some(schema) = kinds::schema_of(object::api_version(side), object::kind(side)) else {
        return;
    };
    let mut decoded = side.clone();
    if decode(schema, &mut decoded).is_ok_and(|found| found.unknown.is_empty()) {
        for field in ["apiVersion", "kind"] {
            if let (Some(map), Some(value)) = (decoded.as_object_mut(), side.get(field)) {
                map.insert(field.to_owned(), value.clone());
            }
        }
        *side = decoded;
    }
}

fn strip(side: &mut Value) {
    let Some(map) = side.as_object_mut() else { return };
    map.remove("status");
    let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    for field in SERVER {
        metadata.remove(field);
    }
    for section in ["labels", "annotations"] {
        if metadata
            .get(section)
            .is_some_and(|value| value.is_null() || value.as_object().is_some_and(Map::is_empty))
        {
            metadata.remove(section);
        }
    }
}

/// `stringData` becomes part of `data`; null values become empty ones; base64 is spelled in one
/// line.
fn secret(side: &mut Value) {
    let Some(map) = side.as_object_mut() else { return };
    let plain = map.remove("stringData");
    let slot = map.entry("data").or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    if let Value::Object(data) = slot {
        for (key, value) in plain.as_ref().and_then(Value::as_object).into_iter().flatten() {
            if let Some(text) = value.as_str() {
                data.insert(key.clone(), STANDARD.encode(text).into());
            }
        }
        for value in data.values_mut() {
            match value {
                Value::Null => *value = "".into(),
                Value::String(text) => text.retain(|character| !character.is_ascii_whitespace()),
                _ => {}
            }
        }
    }
}

/// Rules that are empty or aggregated are not compared.
fn rules(side: &mut Value) {
    let aggregated = side.get("aggregationRule").is_some_and(|rule| !rule.is_null());
    let Some(map) = side.as_object_mut() else { return };
    let empty = map
        .get("rules")
        .is_none_or(|rules| rules.as_array().is_some_and(Vec::is_empty));
    if aggregated || empty {
        map.remove("rules");
    }
}

/// Every pod gets two tolerations at its admission, unless it has its own of that name.
fn tolerated(desired: &Value, live: &mut Value) {
    const GIVEN: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
    let wanted = desired.pointer("/spec/tolerations").and_then(Value::as_array);
    let names = |key: &Value| wanted.is_some_and(|wanted| wanted.iter().any(|one| one.get("key") == Some(key)));
    if let Some(there) = live.pointer_mut("/spec/tolerations").and_then(Value::as_array_mut) {
        there.retain(|one| {
            let key = one.get("key").unwrap_or(&Value::Null);
            !key.as_str().is_some_and(|key| GIVEN.contains(&key)) || names(key)
        });
    }
}

/// A certificate put into an object that came without one, or with a placeholder, is no
/// difference: of webhooks, of definitions that convert, of API services.
fn injected(desired: &mut Value, live: &mut Value) {
    match object::kind(live) {
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            for webhook in webhooks(live) {
                let name = webhook["name"].clone();
                let given = webhooks(desired)
                    .find(|wanted| wanted["name"] == name)
                    .is_some_and(|wanted| keeps_bundle(wanted, "/clientConfig"));
                if !given {
                    remove_bundle(webhook, "/clientConfig");
                }
            }
        }
        "CustomResourceDefinition" => injected_at(desired, live, "/spec/conversion/webhook/clientConfig"),
        "APIService" => injected_at(desired, live, "/spec"),
        _ => {}
    }
}

fn injected_at(desired: &mut Value, live: &mut Value, place: &str) {
    if !keeps_bundle(desired, place) {
        remove_bundle(live, place);
    }
}

fn webhooks(side: &mut Value) -> impl Iterator<Item = &mut Value> {
    side.get_mut("webhooks")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
}

/// Whether a side gives certificates. What is none is removed: an empty text, or the line end
/// that charts write so that the field exists.
fn keeps_bundle(side: &mut Value, place: &str) -> bool {
    let bundle = side.pointer(&format!("{place}/caBundle")).and_then(Value::as_str);
    let given = bundle.is_some_and(|bundle| !matches!(bundle.trim(), "" | "Cg=="));
    if !given {
        remove_bundle(side, place);
    }
    given
}

fn remove_bundle(side: &mut Value, place: &str) {
    if let Some(client) = side.pointer_mut(place).and_then(Value::as_object_mut) {
        client.remove("caBundle");
    }
}

/// What kubectl wrote down as the last applied state of a live object.
pub(super) fn last_applied(live: &Value) -> Option<Value> {
    serde_json::from_str(object::annotation(live, LAST_APPLIED)?).ok()
}

/// Annotations of the object set are bookkeeping, not content.
pub(super) fn drop_bookkeeping(change: &mut Value) {
    let Some(map) = change.as_object_mut() else { return };
    map.remove("status");
    let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.retain(|key, _| !key.starts_with("objectset.rio.cattle.io/"));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    if metadata.is_empty() {
        map.remove("metadata");
    }
}
