//! Whether one live object has reached what its spec says: turns the object into a standing and
//! one message. Pure. Agrees with the library upstream uses (kstatus 0.37) for the built-in
//! kinds and for any kind that follows its conventions: what all kinds share comes first, then
//! the kind's own rules, then a `Ready` condition.

mod condition;
mod workload;

use jiff::Timestamp;
use serde_json::Value;

use self::condition::Conditions;
use crate::object;

/// How far an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There.
    Current,
    /// On its way.
    InProgress,
    /// Will not get there by itself.
    Failed,
    /// Being removed.
    Terminating,
    /// Not there.
    NotFound,
    /// Its status cannot be read.
    Unknown,
}

impl Standing {
    /// As messages spell it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Current => "Current",
            Self::InProgress => "InProgress",
            Self::Failed => "Failed",
            Self::Terminating => "Terminating",
            Self::NotFound => "NotFound",
            Self::Unknown => "Unknown",
        }
    }
}

/// Standing and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Result {
    /// How far.
    pub standing: Standing,
    /// One line for people.
    pub message: String,
}

impl Result {
    fn of(standing: Standing, message: impl Into<String>) -> Self {
        Self {
            standing,
            message: message.into(),
        }
    }
}

fn current(message: impl Into<String>) -> Result {
    Result::of(Standing::Current, message)
}

fn progress(message: impl Into<String>) -> Result {
    Result::of(Standing::InProgress, message)
}

fn failed(message: impl Into<String>) -> Result {
    Result::of(Standing::Failed, message)
}

fn unknown(message: impl Into<String>) -> Result {
    Result::of(Standing::Unknown, message)
}

fn number(object: &Value, pointer: &str, default: i64) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(default)
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The object's standing at a moment.
#[must_use]
pub fn compute(object: &Value, now: Timestamp) -> Result {
    if object
        .pointer("/metadata/deletionTimestamp")
        .is_some_and(|time| !time.is_null() && time != "")
    {
        return Result::of(Standing::Terminating, "Resource scheduled for deletion");
    }
    if let Some(found) = generation(object) {
        return found;
    }
    let conditions = match Conditions::of(object) {
        Ok(conditions) => conditions,
        Err(message) => return unknown(message),
    };
    for found in conditions.iter().filter(|found| found.status == "True") {
        match found.kind {
            "Reconciling" => return progress(found.message),
            "Stalled" => return failed(found.message),
            _ => {}
        }
    }
    let (group, _) = object::split_api_version(object::api_version(object));
    match (group, object::kind(object)) {
        ("", "Secret" | "ConfigMap") | ("batch", "CronJob") => current("Resource is always ready"),
        ("", "Service") => service(object),
        ("", "Pod") => workload::pod(object, &conditions, now),
        ("", "PersistentVolumeClaim") => claim(object),
        ("apps", "StatefulSet") => workload::stateful_set(object),
        ("apps" | "extensions", "DaemonSet") => workload::daemon_set(object),
        ("apps" | "extensions", "Deployment") => workload::deployment(object, &conditions),
        ("apps" | "extensions", "ReplicaSet") => workload::replica_set(object, &conditions),
        ("policy", "PodDisruptionBudget") => current("AllowedDisruptions has been computed."),
        ("batch", "Job") => workload::job(object, &conditions),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(&conditions),
        _ => any(&conditions),
    }
}

/// What speaks against the status being about the present spec.
fn generation(object: &Value) -> Option<Result> {
    let read = |pointer: &str| match object.pointer(pointer) {
        None => Ok(None),
        Some(value) => value
            .as_i64()
            .map(Some)
            .ok_or_else(|| unknown(format!("{pointer} is no integer"))),
    };
    let generation = match read("/metadata/generation") {
        Ok(found) => found?,
        Err(fault) => return Some(fault),
    };
    let observed = match read("/status/observedGeneration") {
        Ok(found) => found?,
        Err(fault) => return Some(fault),
    };
    (observed != generation).then(|| {
        let kind = object::kind(object);
        progress(format!(
            "{kind} generation is {generation}, but latest observed generation is {observed}"
        ))
    })
}

/// A kind without rules of its own: its `Ready` condition, if it has one.
fn any(conditions: &Conditions<'_>) -> Result {
    for ready in conditions.of_kind("Ready") {
        match ready.status {
            "True" => return current("Resource is Ready"),
            "False" | "Unknown" => return progress(ready.message),
            _ => {}
        }
    }
    current("Resource is current")
}

fn service(object: &Value) -> Result {
    if text(object, "/spec/type") == "LoadBalancer" && text(object, "/spec/clusterIP").is_empty() {
        return progress("ClusterIP not set. Service type: LoadBalancer");
    }
    current("Service is ready")
}

fn claim(object: &Value) -> Result {
    match object
        .pointer("/status/phase")
        .and_then(Value::as_str)
        .unwrap_or("unknown")
    {
        "Bound" => current("PVC is Bound"),
        phase => progress(format!("PVC is not Bound. phase: {phase}")),
    }
}

fn definition(conditions: &Conditions<'_>) -> Result {
    for found in conditions.iter() {
        match (found.kind, found.status) {
            ("NamesAccepted", "False") => return failed(found.message),
            ("Established", "False") if found.reason != "Installing" => return failed(found.message),
            ("Established", "True") => return current("CRD is established"),
            _ => {}
        }
    }
    progress("Install in progress")
}

/// Whether a job ended well.
#[must_use]
pub fn job_complete(object: &Value) -> bool {
    Conditions::of(object).is_ok_and(|conditions| conditions.holds("Complete"))
}

#[cfg(test)]
mod tests;
