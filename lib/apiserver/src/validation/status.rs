//! What controllers report, as far as it can be wrong: counts below zero or above the whole, addresses that are none,
//! jobs that are over and still run.

use kubeschema::field::FieldError;
use kubeschema::quantity::Quantity;
use serde_json::Value;

use super::place::{Errors, Place};

/// Counts of a kind, and which of them may not exceed which.
type Counts = (
    &'static str,
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
);

const COUNTS: &[Counts] = &[
    (
        "StatefulSet",
        &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
        &[
            ("readyReplicas", "replicas"),
            ("currentReplicas", "replicas"),
            ("updatedReplicas", "replicas"),
            ("availableReplicas", "replicas"),
            ("availableReplicas", "readyReplicas"),
        ],
    ),
    (
        "DaemonSet",
        &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
        &[],
    ),
    ("ReplicaSet", REPLICAS, OF_REPLICAS),
    ("ReplicationController", REPLICAS, OF_REPLICAS),
    (
        "Deployment",
        &[
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
        &[
            ("updatedReplicas", "replicas"),
            ("readyReplicas", "replicas"),
            ("availableReplicas", "replicas"),
            ("availableReplicas", "readyReplicas"),
        ],
    ),
    (
        "PodDisruptionBudget",
        &["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"],
        &[],
    ),
];

const REPLICAS: &[&str] = &[
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
];
const OF_REPLICAS: &[(&str, &str)] = &[
    ("fullyLabeledReplicas", "replicas"),
    ("readyReplicas", "replicas"),
    ("availableReplicas", "replicas"),
    ("availableReplicas", "readyReplicas"),
];

/// Judges a status that changed.
pub(super) fn check(kind: &str, object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let Some(old) = old.filter(|old| old["status"] != object["status"]) else {
        return;
    };
    let status = Place::new(&object["status"], "status");
    for (_, names, limits) in COUNTS.iter().filter(|(counted, ..)| *counted == kind) {
        for name in *names {
            status.at(name).natural(errors);
        }
        for (part, whole) in *limits {
            let amount = status.number(part).unwrap_or_default();
            if amount > status.number(whole).unwrap_or_default() {
                let why = format!("cannot be greater than status.{whole}");
                errors.push(FieldError::invalid(status.at(part).path, amount, why));
            }
        }
    }
    match kind {
        "Service" => {
            for ingress in status.at("loadBalancer").each("ingress") {
                address(&ingress.at("ip"), errors);
            }
        }
        "Pod" => {
            for (position, ip) in status.each("podIPs").iter().enumerate() {
                address(
                    &Place::new(ip.at("ip").value, format!("status.podIPs[{position}]")),
                    errors,
                );
            }
        }
        "PersistentVolumeClaim" => {
            for (_, amount) in status.at("capacity").entries() {
                if Quantity::parse(amount.own()).is_ok_and(|amount| amount.nano() < 0) {
                    errors.push(amount.invalid("must be a valid resource quantity"));
                }
            }
        }
        "Namespace" => phase(object, errors),
        "Job" => job(object, old, errors),
        _ => {}
    }
}

fn address(place: &Place<'_>, errors: &mut Errors) {
    if !place.empty() && place.own().parse::<std::net::IpAddr>().is_err() {
        errors.push(place.invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
    }
}

/// A namespace ends when and only when it was deleted.
fn phase(namespace: &Value, errors: &mut Errors) {
    let place = Place::new(&namespace["status"]["phase"], "status.Phase");
    let deleted = namespace["metadata"]["deletionTimestamp"].is_string();
    let wanted = if deleted { "Terminating" } else { "Active" };
    if !place.empty() && place.own() != wanted {
        let when = if deleted { "not empty" } else { "empty" };
        errors.push(place.invalid(format!("may only be '{wanted}' if `deletionTimestamp` is {when}")));
    }
}

/// What is over stays over.
fn job(object: &Value, old: &Value, errors: &mut Errors) {
    let holds = |job: &Value, kind: &str| crate::crd::condition(job, kind);
    let status = Place::new(&object["status"], "status");
    for kind in ["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"] {
        if holds(old, kind) && !holds(object, kind) {
            let terminal = if matches!(kind, "Complete" | "Failed") {
                "terminal "
            } else {
                ""
            };
            let why = format!("cannot disable the {terminal}{kind}=True condition");
            errors.push(FieldError::invalid(status.at("conditions").path, Value::Null, why));
        }
    }
    let active = status.number("active").unwrap_or_default();
    if active > 0 && (holds(object, "Complete") || holds(object, "Failed")) {
        let why = "active>0 is invalid for finished job";
        errors.push(status.at("active").invalid(why));
    }
    if status.has("completionTime") && !holds(object, "Complete") {
        let why = "cannot set completionTime when there is no Complete=True condition";
        errors.push(status.at("completionTime").invalid(why));
    }
}
