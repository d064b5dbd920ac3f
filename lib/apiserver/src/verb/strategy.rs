//! What the server itself decides about fields, per kind: identity, generation, status, what may not change.
//!
//! Mirrors upstream's `rest.BeforeCreate`, `rest.BeforeUpdate` and the strategies' `PrepareFor…`.

use serde_json::{Map, Value, json};

use crate::cluster::Cluster;
use crate::defaulting;
use crate::object::{metadata_mut, text};
use crate::registry::Resource;

/// Kinds whose `metadata.generation` counts changes of the spec.
const COUNTED: &[&str] = &[
    "CronJob",
    "CustomResourceDefinition",
    "DaemonSet",
    "Deployment",
    "Ingress",
    "IngressClass",
    "Job",
    "MutatingWebhookConfiguration",
    "NetworkPolicy",
    "Pod",
    "PodDisruptionBudget",
    "PodTemplate",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "MutatingAdmissionPolicy",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "EndpointSlice",
    "PriorityClass",
    "DeviceClass",
    "ResourceSlice",
];

/// Metadata that belongs to the server and survives every update.
const KEPT: &[&str] = &["uid", "creationTimestamp"];

/// Kinds that a PUT may make.
const MADE_BY_PUT: &[&str] = &[
    "ClusterRole",
    "ClusterRoleBinding",
    "Endpoints",
    "Event",
    "Lease",
    "LimitRange",
    "Role",
    "RoleBinding",
    "RuntimeClass",
    "Service",
];

/// Kinds whose updates must name a version.
const CONDITIONAL: &[&str] = &[
    "CustomResourceDefinition",
    "Lease",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "MutatingWebhookConfiguration",
    "PodDisruptionBudget",
    "RuntimeClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
    "APIService",
];

/// Whether generation counts changes.
pub(super) fn counts_generation(resource: &Resource) -> bool {
    resource.custom.is_some() || COUNTED.contains(&resource.kind.as_str())
}

/// Whether PUT makes what is not there.
pub(super) fn made_by_put(resource: &Resource) -> bool {
    resource.custom.is_none() && MADE_BY_PUT.contains(&resource.kind.as_str())
}

/// Whether an update without a version wins.
pub(super) fn unconditional(resource: &Resource) -> bool {
    resource.custom.is_none() && !CONDITIONAL.contains(&resource.kind.as_str())
}

/// Before a create and before defaults: drops what clients may not set.
pub(super) fn clear(resource: &Resource, object: &mut Value) {
    // A node comes with what it can do.
    if resource.status
        && !resource.is("", "nodes")
        && let Some(fields) = object.as_object_mut()
        && fields.remove("status").is_some()
    {
        // What Go shows of a status that says nothing.
        defaulting::apply(resource, object);
    }
    let metadata = metadata_mut(object);
    for field in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "resourceVersion",
    ] {
        metadata.remove(field);
    }
    drop_empty(metadata);
}

/// Limits without a name are given one.
pub(super) fn name(cluster: &Cluster, resource: &Resource, object: &mut Value) {
    let named = |field: &str| !text(object, &format!("/metadata/{field}")).is_empty();
    if resource.is("", "limitranges") && !named("name") && !named("generateName") {
        metadata_mut(object).insert("name".to_owned(), cluster.uid().into());
    }
}

/// Gives a new object its identity and first state.
pub(super) fn found(cluster: &Cluster, resource: &Resource, object: &mut Value) {
    let now = cluster.timestamp();
    let uid = cluster.uid();
    let metadata = metadata_mut(object);
    metadata.insert("uid".to_owned(), uid.into());
    metadata.insert("creationTimestamp".to_owned(), now.into());
    if counts_generation(resource) {
        metadata.insert("generation".to_owned(), 1.into());
    }
    if resource.is("", "namespaces") {
        object["status"] = json!({"phase": "Active"});
        keep_open(object);
    }
    label_namespace(resource, object);
    if resource.is("coordination.k8s.io", "leases")
        && let Some(spec) = object["spec"].as_object_mut()
    {
        // Coordinated elections are not turned on.
        spec.remove("strategy");
        spec.remove("preferredHolder");
    }
    defaulting::identified(resource, object);
}

/// A namespace stays until the server's own finalizer is gone.
fn keep_open(namespace: &mut Value) {
    const OWN: &str = "kubernetes";
    let mut finalizers = namespace["spec"]["finalizers"].as_array().cloned().unwrap_or_default();
    if !finalizers.iter().any(|finalizer| finalizer == OWN) {
        finalizers.push(OWN.into());
    }
    namespace["spec"] = json!({ "finalizers": finalizers });
}

/// After an update: restores what only the server sets, decides about status and generation.
pub(super) fn settle(resource: &Resource, live: &Value, object: &mut Value, subresource: &str) {
    match subresource {
        "status" => keep_all_but_status(resource, live, object),
        "finalize" => {
            keep(live, object, "status");
        }
        "ephemeralcontainers" => only_ephemeral(live, object),
        "resize" => only_resources(live, object),
        "" if resource.status => keep(live, object, "status"),
        _ => {}
    }
    if subresource.is_empty() {
        defaulting::updated(resource, live, object);
    }
    let metadata = metadata_mut(object);
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        // One that is left out stays; another one is refused.
        if metadata.get(field).is_none_or(Value::is_null)
            && let Some(value) = live["metadata"].get(field)
        {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    for field in KEPT {
        match live["metadata"].get(field) {
            Some(value) => metadata.insert((*field).to_owned(), value.clone()),
            None => metadata.remove(*field),
        };
    }
    metadata.remove("selfLink");
    drop_empty(metadata);
    if resource.is("", "namespaces") && subresource != "finalize" {
        keep_field(live, object, "spec", "finalizers");
    }
    label_namespace(resource, object);
    let generation = live["metadata"]["generation"].as_i64();
    if counts_generation(resource) {
        let annotated =
            resource.is("apps", "deployments") && live["metadata"]["annotations"] != object["metadata"]["annotations"];
        let grown = i64::from(annotated || content(resource, live) != content(resource, object));
        metadata_mut(object).insert("generation".to_owned(), (generation.unwrap_or_default() + grown).into());
    } else if object["metadata"].get("generation").is_none()
        && let Some(generation) = generation
    {
        metadata_mut(object).insert("generation".to_owned(), generation.into());
    }
}

/// Metadata as Go's types write it: nothing empty.
fn drop_empty(metadata: &mut Map<String, Value>) {
    metadata.retain(|_, value| match value {
        Value::Null => false,
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    });
}

fn keep(live: &Value, object: &mut Value, field: &str) {
    let Some(fields) = object.as_object_mut() else { return };
    match live.get(field) {
        Some(value) => fields.insert(field.to_owned(), value.clone()),
        None => fields.remove(field),
    };
}

fn keep_field(live: &Value, object: &mut Value, part: &str, field: &str) {
    let kept = live.get(part).and_then(|part| part.get(field)).cloned();
    if let Some(fields) = object.get_mut(part).and_then(Value::as_object_mut) {
        match kept {
            Some(value) => fields.insert(field.to_owned(), value),
            None => fields.remove(field),
        };
    } else if let Some(value) = kept {
        object[part] = json!({ field: value });
    }
}

fn keep_all_but_status(resource: &Resource, live: &Value, object: &mut Value) {
    let status = object.get("status").cloned();
    let given = object["metadata"].clone();
    *object = live.clone();
    if let Some(fields) = object.as_object_mut() {
        match status {
            Some(status) => fields.insert("status".to_owned(), status),
            None => fields.remove("status"),
        };
    }
    let metadata = metadata_mut(object);
    // Built-in kinds let metadata through with the status, custom resources only who manages which field.
    let through: &[&str] = if resource.custom.is_some() {
        &["managedFields"]
    } else {
        &["managedFields", "annotations", "labels", "finalizers"]
    };
    for field in through {
        match given.get(field) {
            Some(value) => metadata.insert((*field).to_owned(), value.clone()),
            None => metadata.remove(*field),
        };
    }
}

/// What validation compares a new state with: what a sub-resource may change counts as unchanged.
pub(super) fn compared(live: &Value, object: &Value, subresource: &str) -> Value {
    let mut old = live.clone();
    if matches!(subresource, "ephemeralcontainers" | "resize") {
        old["spec"] = object["spec"].clone();
    }
    old
}

/// Containers to look into a running pod with come by a way of their own, and stay.
fn only_ephemeral(live: &Value, object: &mut Value) {
    let given = object["spec"]["ephemeralContainers"].clone();
    keep_but_managers(live, object);
    if given.is_array() {
        object["spec"]["ephemeralContainers"] = given;
    } else if let Some(spec) = object["spec"].as_object_mut() {
        spec.remove("ephemeralContainers");
    }
}

/// Containers get other resources while they run.
fn only_resources(live: &Value, object: &mut Value) {
    let given = object["spec"].clone();
    keep_but_managers(live, object);
    for list in ["containers", "initContainers"] {
        let wanted = given[list].as_array().cloned().unwrap_or_default();
        let containers = object["spec"].get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let Some(other) = wanted.iter().find(|other| other["name"] == container["name"]) else {
                continue;
            };
            for field in ["resources", "resizePolicy"] {
                if !other[field].is_null() {
                    container[field] = other[field].clone();
                }
            }
        }
    }
}

fn keep_but_managers(live: &Value, object: &mut Value) {
    let managers = object["metadata"]["managedFields"].take();
    *object = live.clone();
    if managers.is_array() {
        object["metadata"]["managedFields"] = managers;
    }
}

/// The part of an object whose changes count.
fn content(resource: &Resource, object: &Value) -> Value {
    if resource.custom.is_none() {
        return match resource.kind.as_str() {
            "CustomResourceDefinition" => object.get("spec").cloned().unwrap_or_default(),
            // What it may change does not count.
            "PriorityClass" => Value::Null,
            "EndpointSlice" => {
                let mut counted = rest(object, true);
                counted["labels"] = object["metadata"]["labels"].clone();
                counted
            }
            _ if object.get("spec").is_some() => object["spec"].clone(),
            _ => rest(object, true),
        };
    }
    rest(object, resource.status)
}

fn rest(object: &Value, without_status: bool) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        for field in ["metadata", "apiVersion", "kind"] {
            fields.remove(field);
        }
        if without_status {
            fields.remove("status");
        }
    }
    object
}

/// A namespace's name is also a label, so that selectors can name it.
fn label_namespace(resource: &Resource, object: &mut Value) {
    if resource.is("", "namespaces") {
        let name = text(object, "/metadata/name").to_owned();
        let metadata = metadata_mut(object);
        let labels = metadata.entry("labels").or_insert_with(|| json!({}));
        labels["kubernetes.io/metadata.name"] = name.into();
    }
}
