//! Workloads: what runs pods from a template.

use kubeschema::field::FieldError;
use kubeschema::name;
use kubeschema::selector::LabelSelector;
use serde_json::{Value, json};

use super::immutable;
use super::job;
use super::place::{Errors, Place};

pub(super) fn check(kind: &str, object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    let count = |field: &str, errors: &mut Errors| Place::new(&spec[field], format!("spec.{field}")).natural(errors);
    match kind {
        "Deployment" => {
            for field in ["replicas", "minReadySeconds", "revisionHistoryLimit"] {
                count(field, errors);
            }
            strategy(&spec["strategy"], "spec.strategy", errors);
            deadline(&Place::new(spec, "spec"), errors);
            selected(object, "deployment", errors);
            always(object, errors);
            immutable("spec.selector", "/spec/selector", object, old, errors);
        }
        "ReplicaSet" | "DaemonSet" | "StatefulSet" => {
            for field in ["replicas", "minReadySeconds"] {
                count(field, errors);
            }
            if kind == "DaemonSet" {
                count("revisionHistoryLimit", errors);
            }
            selected(object, &kind.to_lowercase(), errors);
            always(object, errors);
            if kind == "StatefulSet" {
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                if old.is_none() && name.contains('.') {
                    // Its pods are named after it, and have to be labels.
                    errors.push(FieldError::invalid("metadata.name", name, "must not contain dots"));
                }
                stateful(&Place::new(spec, "spec"), errors);
                if old.is_some() {
                    // What cannot change is not judged again.
                    let fixed = ["spec.volumeClaimTemplates", "spec.serviceName"];
                    errors.retain(|error| !fixed.iter().any(|field| error.field.starts_with(field)));
                }
                fixed(object, old, errors);
            } else {
                immutable("spec.selector", "/spec/selector", object, old, errors);
            }
        }
        "ReplicationController" => {
            count("replicas", errors);
            count("minReadySeconds", errors);
            let labels = &spec["template"]["metadata"]["labels"];
            let picked = spec["selector"]
                .as_object()
                .is_some_and(|map| map.iter().all(|(key, value)| labels[key] == *value));
            if spec["template"].is_null() {
                errors.push(FieldError::required("spec.template", ""));
            }
            match spec["selector"].as_object().is_none_or(serde_json::Map::is_empty) {
                true => errors.push(FieldError::required("spec.selector", "")),
                false if !picked && !spec["template"].is_null() => {
                    let why = "`selector` does not match template `labels`";
                    errors.push(FieldError::invalid(
                        "spec.template.metadata.labels",
                        labels.clone(),
                        why,
                    ));
                }
                false => {}
            }
            always(object, errors);
        }
        "Job" => job::check(object, old, errors),
        "CronJob" => job::cron(&Place::new(object, ""), old, errors),
        "ControllerRevision" => {
            Place::new(&object["revision"], "revision").natural(errors);
            if old.is_none() && object["data"].is_null() {
                errors.push(FieldError::required("data", "data is mandatory"));
            }
            immutable("data", "/data", object, old, errors);
        }
        _ => {}
    }
}

/// The selector must be there and pick the template's labels.
fn selected(object: &Value, noun: &str, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    let selector = &spec["selector"];
    if selector.is_null() && noun == "daemonset" {
        // Its template cannot match what is not there.
    } else if selector.is_null() {
        errors.push(FieldError::required("spec.selector", ""));
    } else if selector.as_object().is_some_and(|map| {
        map.values().all(|part| {
            part.as_object().is_none_or(serde_json::Map::is_empty) && part.as_array().is_none_or(Vec::is_empty)
        })
    }) {
        errors.push(FieldError::invalid(
            "spec.selector",
            json!({}),
            format!("empty selector is invalid for {noun}"),
        ));
    }
    match LabelSelector::from_json(selector) {
        Ok(parsed) => {
            let labels = &spec["template"]["metadata"]["labels"];
            if !parsed.matches(labels) {
                let why = "`selector` does not match template `labels`";
                errors.push(FieldError::invalid(
                    "spec.template.metadata.labels",
                    labels.clone(),
                    why,
                ));
            }
        }
        Err(_) => {
            if noun != "daemonset" {
                let why = "invalid label selector";
                errors.push(FieldError::invalid("spec.selector", selector.clone(), why));
            }
        }
    }
    if !spec["template"].is_object() {
        errors.push(FieldError::required("spec.template.spec.containers", ""));
    }
}

/// Pods of these kinds are always restarted.
fn always(object: &Value, errors: &mut Vec<FieldError>) {
    let policy = object["spec"]["template"]["spec"]["restartPolicy"]
        .as_str()
        .unwrap_or("Always");
    if policy != "Always" {
        let choices = ["Always"];
        errors.push(FieldError::not_supported(
            "spec.template.spec.restartPolicy",
            policy,
            &choices,
        ));
    }
}

/// A roll-out has to take longer than a pod needs to count as available.
fn deadline(spec: &Place<'_>, errors: &mut Errors) {
    let limit = spec.at("progressDeadlineSeconds");
    limit.natural(errors);
    let ready = spec.number("minReadySeconds").unwrap_or_default();
    if limit.value.as_i64().is_some_and(|seconds| seconds <= ready) {
        errors.push(limit.invalid("must be greater than minReadySeconds"));
    }
}

fn strategy(strategy: &Value, path: &str, errors: &mut Errors) {
    let kind = strategy["type"].as_str().unwrap_or_default();
    let update = Place::new(&strategy["rollingUpdate"], format!("{path}.rollingUpdate"));
    match kind {
        "Recreate" => {
            if update.value.is_object() {
                errors.push(update.forbidden("may not be specified when strategy `type` is 'Recreate'"));
            }
        }
        "RollingUpdate" => {
            let (unavailable, surge) = (update.at("maxUnavailable"), update.at("maxSurge"));
            share(&unavailable, true, errors);
            share(&surge, false, errors);
            if is_zero(unavailable.value) && is_zero(surge.value) {
                errors.push(unavailable.invalid("may not be 0 when `maxSurge` is 0"));
            }
        }
        // Refused as a whole.
        _ => errors.push(FieldError::not_supported(
            path,
            strategy.clone(),
            &["Recreate", "RollingUpdate"],
        )),
    }
}

fn is_zero(value: &Value) -> bool {
    value.as_i64() == Some(0) || value == "0%"
}

/// Whether a number or share comes to nothing, for what cannot be read as well.
fn is_nothing(value: &Value) -> bool {
    let digits = |text: &str| text.strip_suffix('%').and_then(|digits| digits.parse::<u32>().ok());
    match value {
        Value::String(text) => digits(text).unwrap_or_default() == 0,
        _ => is_zero(value),
    }
}

/// A number or a share of something.
fn share(place: &Place<'_>, at_most_all: bool, errors: &mut Errors) {
    match place.value {
        Value::String(given) => {
            let digits = given.strip_suffix('%').unwrap_or_default();
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                let why = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  \
                           or '93%', regex used for validation is '[0-9]+%')";
                errors.push(place.invalid(why));
            } else if at_most_all && digits.parse::<u32>().is_ok_and(|percent| percent > 100) {
                errors.push(place.invalid("must not be greater than 100%"));
            }
        }
        _ => place.natural(errors),
    }
}

/// How pods of a DaemonSet are replaced; refused as a whole.
pub(super) fn daemon_strategy(strategy: &Place<'_>, errors: &mut Errors) {
    let update = strategy.at("rollingUpdate");
    match strategy.text("type") {
        "OnDelete" => {}
        "RollingUpdate" => {
            if !update.value.is_object() {
                errors.push(update.required(""));
                return;
            }
            let (unavailable, surge) = (update.at("maxUnavailable"), update.at("maxSurge"));
            share(&unavailable, true, errors);
            share(&surge, true, errors);
            match (is_nothing(unavailable.value), is_nothing(surge.value)) {
                (true, true) => errors.push(unavailable.required("cannot be 0 when maxSurge is 0")),
                (false, false) => {
                    errors.push(surge.invalid("may not be set when maxUnavailable is non-zero"));
                }
                _ => {}
            }
        }
        _ => errors.push(strategy.not_supported(&["RollingUpdate", "OnDelete"])),
    }
}

/// How pods of a StatefulSet are replaced; refused as a whole.
pub(super) fn stateful_strategy(strategy: &Place<'_>, errors: &mut Errors) {
    match strategy.text("type") {
        "" => errors.push(strategy.required("")),
        "OnDelete" => {
            if strategy.has("rollingUpdate") {
                let why = "only allowed for updateStrategy 'RollingUpdate'";
                errors.push(strategy.at("rollingUpdate").invalid(why));
            }
        }
        "RollingUpdate" => {}
        _ => errors.push(strategy.invalid("must be 'RollingUpdate' or 'OnDelete'")),
    }
}

/// What only StatefulSets have.
fn stateful(spec: &Place<'_>, errors: &mut Errors) {
    let policy = spec.at("podManagementPolicy");
    match policy.own() {
        "" => errors.push(policy.required("")),
        "OrderedReady" | "Parallel" => {}
        _ => errors.push(policy.invalid("must be 'OrderedReady' or 'Parallel'")),
    }
    spec.at("serviceName").perhaps(name::dns_label, errors);
    let kept = spec.at("persistentVolumeClaimRetentionPolicy");
    for field in ["whenDeleted", "whenScaled"] {
        if kept.value.is_object() {
            kept.at(field).choice(&["Retain", "Delete"], errors);
        }
    }
}

/// What of a StatefulSet may not change.
fn fixed(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    const CHANGEABLE: [&str; 7] = [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    let rest = |object: &Value| {
        let mut spec = object["spec"].clone();
        if let Some(map) = spec.as_object_mut() {
            map.retain(|key, _| !CHANGEABLE.contains(&key.as_str()));
        }
        spec
    };
    if old.is_some_and(|old| rest(old) != rest(object)) {
        let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                   'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                   'minReadySeconds' are forbidden";
        errors.push(FieldError::forbidden("spec", why));
    }
}
/// A stateful set whose template has the volumes that its claim templates bring: they come first, and replace those of
/// the same name.
pub(super) fn with_claims(object: &Value) -> Value {
    let claims = object["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten();
    let mut volumes: Vec<Value> = Vec::new();
    for claim in claims {
        let name = &claim["metadata"]["name"];
        if !volumes.iter().any(|volume| volume["name"] == *name) {
            let source = if name.is_null() {
                json!({})
            } else {
                json!({ "claimName": name })
            };
            let mut volume = json!({ "persistentVolumeClaim": source });
            if !name.is_null() {
                volume["name"] = name.clone();
            }
            volumes.push(volume);
        }
    }
    if volumes.is_empty() || !object["spec"]["template"]["spec"].is_object() {
        return object.clone();
    }
    let mut object = object.clone();
    let spec = &mut object["spec"]["template"]["spec"];
    for own in spec["volumes"].as_array().into_iter().flatten() {
        if !volumes.iter().any(|volume| volume["name"] == own["name"]) {
            volumes.push(own.clone());
        }
    }
    spec["volumes"] = volumes.into();
    object
}
