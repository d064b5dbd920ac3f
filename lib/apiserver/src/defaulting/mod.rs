//! Defaults of built-in kinds: what a client left out, and what follows once an object has its identity.
//!
//! The rules are `kubeschema::defaulting`'s; here they meet the server's resources. Mirrors upstream's typed decoding,
//! scheme defaulting and the parts of `PrepareForCreate` that need a uid or the time. Never looks anything up.

use kubeschema::defaulting::normalise;
use kubeschema::schema::DecodeError;
use serde_json::{Value, json};

use crate::registry::Resource;

/// Fills in what kube-apiserver fills in for a built-in kind (typed decoding included: normalised quantities, dropped
/// empty fields, Secret `stringData`). Gives the paths of unknown and duplicate fields, which it removes.
///
/// Values of wrong types are left as they are; [`decode`] refuses them.
pub fn apply(resource: &Resource, object: &mut Value) -> Vec<String> {
    let before = object.clone();
    decode(resource, object).unwrap_or_else(|_| {
        *object = before;
        Vec::new()
    })
}

/// As [`apply`], for what clients send.
///
/// # Errors
/// The first value that is not of its field's type. The object is unspecified then.
pub fn decode(resource: &Resource, object: &mut Value) -> Result<Vec<String>, DecodeError> {
    normalise(&resource.group, &resource.version, &resource.kind, object).map(|decoded| decoded.unknown)
}

/// What a new object gets once it has its uid and creation time.
pub fn identified(resource: &Resource, object: &mut Value) {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("batch", "Job") => job(object),
        ("", "PersistentVolume") => {
            object["status"] =
                json!({"phase": "Pending", "lastPhaseTransitionTime": object["metadata"]["creationTimestamp"]});
            protect(object, "kubernetes.io/pv-protection");
        }
        ("", "PersistentVolumeClaim") => {
            object["status"] = json!({"phase": "Pending"});
            protect(object, "kubernetes.io/pvc-protection");
        }
        ("apps", "DaemonSet") => count_template(object, 1),
        ("", "Pod") => pod(object),
        ("", "Node") => node(object),
        _ => {}
    }
}

/// What an update of an object carries over from its stored state.
pub fn updated(resource: &Resource, live: &Value, object: &mut Value) {
    if resource.is("", "pods") {
        tolerate(&mut object["spec"]);
        for field in ["priority", "preemptionPolicy"] {
            if let Some(value) = live["spec"].get(field) {
                object["spec"][field] = value.clone();
            }
        }
    }
    if resource.group == "apps" && resource.kind == "DaemonSet" {
        let counted = live["metadata"]["annotations"][TEMPLATE_COUNT]
            .as_str()
            .and_then(|text| text.parse::<i64>().ok());
        let changed = live["spec"] != object["spec"];
        count_template(object, counted.unwrap_or_default() + i64::from(changed));
    }
}

const TEMPLATE_COUNT: &str = "deprecated.daemonset.template.generation";

/// DaemonSets count the changes of their spec in an annotation, for old clients.
fn count_template(object: &mut Value, count: i64) {
    let annotations = &mut object["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = json!({});
    }
    annotations[TEMPLATE_COUNT] = count.to_string().into();
}

/// Storage objects stay while they are in use.
fn protect(object: &mut Value, finalizer: &str) {
    let finalizers = &mut object["metadata"]["finalizers"];
    match finalizers.as_array_mut() {
        Some(list) if list.iter().any(|name| name == finalizer) => {}
        Some(list) => list.push(finalizer.into()),
        None => *finalizers = json!([finalizer]),
    }
}

/// A job picks its pods by its own uid, unless its author picks them.
fn job(object: &mut Value) {
    if object["spec"]["manualSelector"] == true {
        return;
    }
    let (uid, name) = (object["metadata"]["uid"].clone(), object["metadata"]["name"].clone());
    // A job without labels shares its template's, if that has any.
    let none = |labels: &Value| labels.as_object().is_none_or(serde_json::Map::is_empty);
    let shared = none(&object["metadata"]["labels"]) && !none(&object["spec"]["template"]["metadata"]["labels"]);
    let labels = &mut object["spec"]["template"]["metadata"]["labels"];
    if !labels.is_object() {
        *labels = json!({});
    }
    for (key, value) in [
        ("controller-uid", &uid),
        ("job-name", &name),
        ("batch.kubernetes.io/controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
    ] {
        labels[key] = value.clone();
    }
    let labels = labels.clone();
    object["spec"]["selector"] = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
    if shared {
        object["metadata"]["labels"] = labels;
    }
}

/// What a new object gets once it was found valid.
pub fn admitted(resource: &Resource, object: &mut Value) {
    if resource.is("batch", "jobs") && object["metadata"]["labels"].is_null() {
        let labels = object["spec"]["template"]["metadata"]["labels"].clone();
        object["metadata"]["labels"] = labels;
    }
}

fn pod(object: &mut Value) {
    let class = quality(&object["spec"]);
    object["status"] = json!({"phase": "Pending", "qosClass": class});
    if object["spec"]["schedulingGates"]
        .as_array()
        .is_some_and(|gates| !gates.is_empty())
    {
        let message = "Scheduling is blocked due to non-empty scheduling gates";
        object["status"]["conditions"] = json!([{"type": "PodScheduled", "status": "False", "lastProbeTime": null,
            "lastTransitionTime": object["metadata"]["creationTimestamp"], "reason": "SchedulingGated", "message": message}]);
    }
    tolerate(&mut object["spec"]);
}

/// Pods bear nodes that are gone for five minutes, unless they say how long.
fn tolerate(spec: &mut Value) {
    const SECONDS: u64 = 300;
    if !spec.is_object() {
        return;
    }
    let given = spec["tolerations"].as_array().cloned().unwrap_or_default();
    let mut tolerations = given.clone();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let covers = |toleration: &Value| {
            let about = toleration["key"].as_str().unwrap_or_default();
            let effect = toleration["effect"].as_str().unwrap_or_default();
            (about == key || about.is_empty()) && matches!(effect, "NoExecute" | "")
        };
        if !given.iter().any(covers) {
            tolerations
                .push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS}));
        }
    }
    spec["tolerations"] = tolerations.into();
}

/// Quality of service: by whether containers say what they need at least and at most.
fn quality(spec: &Value) -> &'static str {
    let containers = ["containers", "initContainers"].map(|list| spec[list].as_array().into_iter().flatten());
    let mut any = false;
    let mut all = true;
    for container in containers.into_iter().flatten() {
        for name in ["cpu", "memory"] {
            let (limit, request) = (
                &container["resources"]["limits"][name],
                &container["resources"]["requests"][name],
            );
            any |= limit.is_string() || request.is_string();
            all &= limit.is_string() && (request.is_null() || request == limit);
        }
    }
    match (any, all) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// A new node is not ready.
fn node(object: &mut Value) {
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    if !object["spec"].is_object() {
        object["spec"] = json!({});
    }
    match object["spec"]["taints"].as_array_mut() {
        Some(taints)
            if taints
                .iter()
                .any(|t| t["key"] == taint["key"] && t["effect"] == taint["effect"]) => {}
        Some(taints) => taints.push(taint),
        None => object["spec"]["taints"] = json!([taint]),
    }
}
