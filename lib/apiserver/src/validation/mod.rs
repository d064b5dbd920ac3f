//! Validation of built-in kinds: an object becomes the list of everything that is wrong with it.
//!
//! Metadata and enumerations are judged for every kind from the table of kinds; what else the reference checks lives
//! in one module per family of kinds. Never changes an object, never looks anything up.

mod advice;
mod by_type;
mod place;
mod rules;

mod admission;
mod autoscaler;
mod data;
mod flow;
mod job;
pub(crate) mod metadata;
mod network;
mod node;
mod pod;
mod policy;
mod quota;
mod rbac;
mod service;
mod status;
mod storage;
mod workload;

use kubeschema::field::FieldError;
use kubeschema::kinds;
use serde_json::Value;

pub(crate) use self::advice::advice;

use self::metadata::Name;
use self::place::Place;
use crate::crd;
use crate::registry::Resource;
use crate::scaler;
use crate::status::Cause;

/// Everything wrong with an object, immutable fields included when there is an old one.
#[must_use]
pub fn validate(resource: &Resource, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    faults(&resource.group, &resource.version, &resource.kind, object, old)
        .iter()
        .map(crd::cause)
        .collect()
}

fn faults(group: &str, version: &str, kind: &str, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    if (group, version, kind) == ("autoscaling", "v1", "HorizontalPodAutoscaler") {
        // The older face is judged by what it stands for.
        let mut stored = object.clone();
        scaler::to_stored(&mut stored);
        return faults(group, "v2", kind, &stored, old);
    }
    let mut errors = metadata::validate(object, old, true, name_rule(group, kind));
    metadata::qualified_finalizers(&object["metadata"], &mut errors);
    if let Some(schema) = kinds::schema(group, version, kind) {
        let mounted = (kind == "StatefulSet").then(|| workload::with_claims(object));
        by_type::check(schema, mounted.as_ref().unwrap_or(object), &mut errors);
    }
    let place = Place::new(object, "");
    match (group, kind) {
        ("", "ConfigMap") => data::config_map(object, old, &mut errors),
        ("", "Secret") => data::secret(object, old, &mut errors),
        ("", "Service") => service::check(object, old, &mut errors),
        ("", "Pod") => {
            pod::volume::own_claims(&place, &mut errors);
            pod::unchanged(object, old, &mut errors);
        }
        ("", "PersistentVolumeClaim") => storage::claim(object, old, &mut errors),
        ("", "PersistentVolume") => storage::volume(&place, old, &mut errors),
        ("", "LimitRange") => quota::limits(&place, &mut errors),
        ("", "ResourceQuota") => quota::check(&place, old, &mut errors),
        ("", "Endpoints") => network::endpoints(object, &mut errors),
        ("" | "events.k8s.io", "Event") => policy::event(group, &place, old, &mut errors),
        ("discovery.k8s.io", "EndpointSlice") => network::slice(&place, old, &mut errors),
        ("networking.k8s.io", "Ingress") => network::ingress(object, &mut errors),
        ("networking.k8s.io", "IngressClass") => network::class(object, old, &mut errors),
        ("networking.k8s.io", "NetworkPolicy") => network::policy(object, &mut errors),
        ("policy", "PodDisruptionBudget") => policy::disruption(object, &mut errors),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::check(&place, &mut errors),
        ("coordination.k8s.io", "Lease") => policy::lease(object, &mut errors),
        ("", "Node") => node::check(&place, old, &mut errors),
        ("", "Namespace") => node::namespace(&place, &mut errors),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => admission::annotations(&place, &mut errors),
        ("node.k8s.io", "RuntimeClass") => node::runtime(&place, old, &mut errors),
        ("apiregistration.k8s.io", "APIService") => admission::service(&place, &mut errors),
        ("storage.k8s.io", "CSIDriver") => storage::driver(&place, &mut errors),
        ("storage.k8s.io", "CSIStorageCapacity") => storage::capacity(&place, &mut errors),
        ("storage.k8s.io", "StorageClass") => storage::class(object, old, &mut errors),
        ("scheduling.k8s.io", "PriorityClass") => storage::priority(object, old, &mut errors),
        ("apps" | "batch", _) | ("", "ReplicationController") => workload::check(kind, object, old, &mut errors),
        ("rbac.authorization.k8s.io", _) => rbac::check(kind, object, old, &mut errors),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => crd::definition::check(object, old, &mut errors),
        _ => {}
    }
    status::check(kind, object, old, &mut errors);
    errors
}

fn name_rule(group: &str, kind: &str) -> Name {
    match (group, kind) {
        ("rbac.authorization.k8s.io" | "certificates.k8s.io", _)
        | ("", "Event")
        | ("policy", "PodDisruptionBudget") => Name::Segment,
        ("", "Namespace" | "Service") => Name::Label,
        _ => Name::Subdomain,
    }
}

/// A field that may not change once it is set.
fn immutable(path: &str, pointer: &str, object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let Some(old) = old else { return };
    let (before, now) = (old.pointer(pointer), object.pointer(pointer));
    if before != now {
        errors.push(FieldError::invalid(
            path,
            now.cloned().unwrap_or(Value::Null),
            "field is immutable",
        ));
    }
}

#[cfg(test)]
mod tests;
