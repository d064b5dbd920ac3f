//! Workloads: what runs pods from a template.

use kubeschema::field::{self, FieldError};
use kubeschema::selector::LabelSelector;
use serde_json::{Value, json};

use super::immutable;
use super::pod::{negative, template};

pub(super) fn check(kind: &str, object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    let count =
        |field: &str, errors: &mut Vec<FieldError>| negative(spec[field].as_i64(), &format!("spec.{field}"), errors);
    match kind {
        "Deployment" => {
            for field in ["replicas", "minReadySeconds", "revisionHistoryLimit"] {
                count(field, errors);
            }
            strategy(&spec["strategy"], "spec.strategy", errors);
            selected(object, "deployment", errors);
            always(object, errors);
            immutable("spec.selector", "/spec/selector", object, old, errors);
        }
        "ReplicaSet" | "DaemonSet" | "StatefulSet" => {
            for field in ["replicas", "minReadySeconds"] {
                count(field, errors);
            }
            selected(object, &kind.to_lowercase(), errors);
            always(object, errors);
            if kind == "StatefulSet" {
                // Its volumes also come from claim templates, so mounts cannot be checked against the template's own.
                errors.retain(|error| error.kind != field::Kind::NotFound || !error.field.contains(".volumeMounts["));
                fixed(object, old, errors);
            } else {
                immutable("spec.selector", "/spec/selector", object, old, errors);
            }
        }
        "ReplicationController" => {
            count("replicas", errors);
            let labels = &spec["template"]["metadata"]["labels"];
            let picked = spec["selector"]
                .as_object()
                .is_some_and(|map| map.iter().all(|(key, value)| labels[key] == *value));
            match spec["selector"].as_object().is_none_or(serde_json::Map::is_empty) {
                true => errors.push(FieldError::required("spec.selector", "")),
                false if !picked => {
                    let why = "`selector` does not match template `labels`";
                    errors.push(FieldError::invalid(
                        "spec.template.metadata.labels",
                        labels.clone(),
                        why,
                    ));
                }
                false => {}
            }
            template(&spec["template"], "spec.template", errors);
            always(object, errors);
        }
        "Job" => job(object, old, errors),
        "CronJob" => cron(object, errors),
        _ => {}
    }
}

/// The selector must be there and pick the template's labels.
fn selected(object: &Value, noun: &str, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    let selector = &spec["selector"];
    if selector.is_null() {
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
            super::network::selector(selector, "spec.selector", errors);
            errors.push(FieldError::invalid(
                "spec.selector",
                selector.clone(),
                "invalid label selector",
            ));
        }
    }
    template(&spec["template"], "spec.template", errors);
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

fn strategy(strategy: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if strategy["type"] == "Recreate" && strategy["rollingUpdate"].is_object() {
        let why = "may not be specified when strategy `type` is 'Recreate'";
        errors.push(FieldError::forbidden(format!("{path}.rollingUpdate"), why));
    }
    let zero = |field: &str| {
        matches!(&strategy["rollingUpdate"][field], Value::Number(n) if n.as_i64() == Some(0))
            || strategy["rollingUpdate"][field] == "0%"
    };
    if strategy["type"] == "RollingUpdate" && zero("maxUnavailable") && zero("maxSurge") {
        let path = format!("{path}.rollingUpdate.maxUnavailable");
        let shown = strategy["rollingUpdate"]["maxUnavailable"].clone();
        errors.push(FieldError::invalid(path, shown, "may not be 0 when `maxSurge` is 0"));
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

fn job(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    job_spec(&object["spec"], "spec", errors);
    for field in [
        "completions",
        "selector",
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        // An indexed job may be resized together with its parallelism.
        let resized = field == "completions"
            && object["spec"]["completionMode"] == "Indexed"
            && object["spec"]["completions"] == object["spec"]["parallelism"];
        if !resized {
            immutable(&format!("spec.{field}"), &format!("/spec/{field}"), object, old, errors);
        }
    }
    if !old.is_some_and(|old| old["spec"]["suspend"] == true) {
        immutable("spec.template", "/spec/template", object, old, errors);
    }
}

fn job_spec(spec: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
    ] {
        negative(spec[field].as_i64(), &format!("{path}.{field}"), errors);
    }
    let inner = format!("{path}.template");
    template(&spec["template"], &inner, errors);
    let place = format!("{inner}.spec.restartPolicy");
    match spec["template"]["spec"]["restartPolicy"].as_str() {
        None | Some("Always") => {
            errors.push(FieldError::required(place, "valid values: \"OnFailure\", \"Never\""));
        }
        Some("OnFailure" | "Never") => {}
        Some(other) => errors.push(FieldError::not_supported(place, other, &["OnFailure", "Never"])),
    }
}

fn cron(object: &Value, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    match spec["schedule"].as_str().unwrap_or_default() {
        "" => errors.push(FieldError::required("spec.schedule", "")),
        text if text.starts_with('@') => {}
        text => {
            let fields = text
                .split_whitespace()
                .filter(|part| !part.starts_with("TZ=") && !part.starts_with("CRON_TZ="));
            let found = fields.count();
            if found != 5 {
                let why = format!(
                    "expected exactly 5 fields, found {found}: {:?}",
                    text.split_whitespace().collect::<Vec<_>>()
                );
                errors.push(FieldError::invalid("spec.schedule", text, why));
            }
        }
    }
    for field in [
        "startingDeadlineSeconds",
        "successfulJobsHistoryLimit",
        "failedJobsHistoryLimit",
    ] {
        negative(spec[field].as_i64(), &format!("spec.{field}"), errors);
    }
    job_spec(&spec["jobTemplate"]["spec"], "spec.jobTemplate.spec", errors);
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    if name.len() > 52 {
        errors.push(FieldError::invalid(
            "metadata.name",
            name,
            "must be no more than 52 characters",
        ));
    }
}
