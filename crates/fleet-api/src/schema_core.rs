//! Structural schemas of the Kubernetes types that a Cluster carries for its agent's pods.
//! Facts of the core API; kept as small as validation and pruning allow.

use serde_json::{Value, json};

#[expect(clippy::needless_pass_by_value, reason = "the callers build the value in place")]
fn list(items: Value) -> Value {
    json!({"type": "array", "x-kubernetes-list-type": "atomic", "items": items})
}

fn strings() -> Value {
    list(json!({"type": "string"}))
}

fn quantity() -> Value {
    json!({
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
        "x-kubernetes-int-or-string": true,
    })
}

pub(crate) fn env_var() -> Value {
    let key = json!({
        "type": "object", "x-kubernetes-map-type": "atomic", "required": ["key"],
        "properties": {"name": {"type": "string", "default": ""}, "key": {"type": "string"}, "optional": {"type": "boolean"}}
    });
    json!({
        "type": "object", "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "value": {"type": "string"},
            "valueFrom": {"type": "object", "properties": {
                "configMapKeyRef": key.clone(),
                "secretKeyRef": key,
                "fieldRef": {"type": "object", "x-kubernetes-map-type": "atomic", "required": ["fieldPath"],
                    "properties": {"apiVersion": {"type": "string"}, "fieldPath": {"type": "string"}}},
                "resourceFieldRef": {"type": "object", "x-kubernetes-map-type": "atomic", "required": ["resource"],
                    "properties": {"containerName": {"type": "string"}, "divisor": quantity(), "resource": {"type": "string"}}},
                "fileKeyRef": {"type": "object", "x-kubernetes-map-type": "atomic", "required": ["key", "path", "volumeName"],
                    "properties": {"key": {"type": "string"}, "path": {"type": "string"}, "volumeName": {"type": "string"},
                        "optional": {"type": "boolean", "default": false}}},
            }},
        }
    })
}

pub(crate) fn toleration() -> Value {
    json!({"type": "object", "properties": {
        "key": {"type": "string"}, "operator": {"type": "string"}, "value": {"type": "string"},
        "effect": {"type": "string"}, "tolerationSeconds": {"type": "integer", "format": "int64"},
    }})
}

pub(crate) fn resources() -> Value {
    let quantities = json!({"type": "object", "additionalProperties": quantity()});
    json!({"type": "object", "properties": {
        "limits": quantities.clone(),
        "requests": quantities,
        "claims": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
            "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "request": {"type": "string"}}}},
    }})
}

fn node_term() -> Value {
    let requirement = json!({"type": "object", "required": ["key", "operator"], "properties": {
        "key": {"type": "string"}, "operator": {"type": "string"}, "values": strings()}});
    json!({"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
        "matchExpressions": list(requirement.clone()), "matchFields": list(requirement)}})
}

fn pod_term() -> Value {
    let selector =
        <k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector as crate::schema::Described>::schema();
    json!({"type": "object", "required": ["topologyKey"], "properties": {
        "labelSelector": selector.clone(), "namespaceSelector": selector, "namespaces": strings(),
        "topologyKey": {"type": "string"}, "matchLabelKeys": strings(), "mismatchLabelKeys": strings()}})
}

fn pod_affinity() -> Value {
    json!({"type": "object", "properties": {
        "requiredDuringSchedulingIgnoredDuringExecution": list(pod_term()),
        "preferredDuringSchedulingIgnoredDuringExecution": list(json!({
            "type": "object", "required": ["podAffinityTerm", "weight"],
            "properties": {"podAffinityTerm": pod_term(), "weight": {"type": "integer", "format": "int32"}}})),
    }})
}

pub(crate) fn affinity() -> Value {
    json!({"type": "object", "properties": {
        "nodeAffinity": {"type": "object", "properties": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "type": "object", "x-kubernetes-map-type": "atomic", "required": ["nodeSelectorTerms"],
                "properties": {"nodeSelectorTerms": list(node_term())}},
            "preferredDuringSchedulingIgnoredDuringExecution": list(json!({
                "type": "object", "required": ["preference", "weight"],
                "properties": {"preference": node_term(), "weight": {"type": "integer", "format": "int32"}}})),
        }},
        "podAffinity": pod_affinity(),
        "podAntiAffinity": pod_affinity(),
    }})
}
