//! One form for both sides of a comparison: what the server, other controllers or different
//! spellings add is taken away before fields are compared.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::object;

/// Fields of the metadata that only the server writes.
const SERVER: [&str; 7] = [
    "creationTimestamp",
    "uid",
    "resourceVersion",
    "generation",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
];
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Brings both sides into one form.
pub(crate) fn normalize(desired: &mut Value, live: &mut Value) {
    for side in [&mut *desired, &mut *live] {
        typed(side);
        strip(side);
        match object::kind(side) {
            "Secret" => secret(side),
            "Role" | "ClusterRole" => rules(side),
            "Endpoints" => endpoints(side),
            "RoleBinding" | "ClusterRoleBinding" => subjects(side),
            "NetworkPolicy" => policy_ports(side),
            _ => {}
        }
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
    let Some(schema) = kubeschema::kinds::schema_of(object::api_version(side), object::kind(side)) else {
        return;
    };
    let mut decoded = side.clone();
    if kubeschema::schema::decode(schema, &mut decoded).is_ok_and(|found| found.unknown.is_empty()) {
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

/// `stringData` becomes part of `data`; null values become empty ones.
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
            if value.is_null() {
                *value = "".into();
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

/// The group of a subject follows from its kind.
fn subjects(side: &mut Value) {
    for subject in side
        .get_mut("subjects")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(subject) = subject.as_object_mut() {
            let group = subject.get("apiGroup").and_then(Value::as_str).unwrap_or_default();
            if matches!(group, "" | "rbac.authorization.k8s.io") {
                subject.remove("apiGroup");
            }
        }
    }
}

fn policy_ports(side: &mut Value) {
    for direction in ["/spec/ingress", "/spec/egress"] {
        for rule in side
            .pointer_mut(direction)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            for port in rule
                .get_mut("ports")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                if let Some(port) = port.as_object_mut() {
                    port.entry("protocol").or_insert_with(|| "TCP".into());
                }
            }
        }
    }
}

fn endpoints(side: &mut Value) {
    for subset in side
        .get_mut("subsets")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        for port in subset
            .get_mut("ports")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Some(port) = port.as_object_mut() {
                port.entry("protocol").or_insert_with(|| "TCP".into());
            }
        }
    }
}

/// What kubectl wrote down as the last applied state of a live object.
pub(crate) fn last_applied(live: &Value) -> Option<Value> {
    serde_json::from_str(object::annotation(live, LAST_APPLIED)?).ok()
}

/// Annotations of the object set are bookkeeping, not content.
pub(crate) fn drop_bookkeeping(change: &mut Value) {
    if let Some(map) = change.as_object_mut() {
        map.remove("status");
    }
    let Some(metadata) = change.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.retain(|key, _| !key.starts_with("objectset.rio.cattle.io/"));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    if metadata.is_empty()
        && let Some(change) = change.as_object_mut()
    {
        change.remove("metadata");
    }
}

/// A certificate that was put into a webhook which came without one is no difference.
pub(crate) fn drop_injected(desired: &Value, live: &Value, change: &mut Value) {
    if !matches!(
        object::kind(desired),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration"
    ) {
        return;
    }
    let Some(Value::Array(wanted)) = change.get("webhooks").cloned() else {
        return;
    };
    let strip = |list: &[Value], other: &Value| -> Vec<Value> {
        list.iter()
            .enumerate()
            .map(|(index, webhook)| {
                let mut webhook = webhook.clone();
                let given = other.pointer(&format!("/webhooks/{index}/clientConfig/caBundle"));
                let given = given
                    .and_then(Value::as_str)
                    .is_some_and(|bundle| !bundle.trim().is_empty());
                if !given && let Some(client) = webhook.get_mut("clientConfig").and_then(Value::as_object_mut) {
                    client.remove("caBundle");
                }
                webhook
            })
            .collect()
    };
    let there = live
        .get("webhooks")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    if strip(&wanted, desired) == strip(there, desired)
        && let Some(change) = change.as_object_mut()
    {
        change.remove("webhooks");
    }
}
