//! Whether one live object has reached what its spec says: turns the object into a standing and
//! one message. Pure, except that the age of an unschedulable pod is taken from its own times.
//! Agrees with the library upstream uses (kstatus 0.37) for the built-in kinds and for any kind
//! that follows its conventions.

use jiff::Timestamp;
use serde_json::Value;

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

fn current(message: impl Into<String>) -> Result {
    Result {
        standing: Standing::Current,
        message: message.into(),
    }
}

fn progress(message: impl Into<String>) -> Result {
    Result {
        standing: Standing::InProgress,
        message: message.into(),
    }
}

fn failed(message: impl Into<String>) -> Result {
    Result {
        standing: Standing::Failed,
        message: message.into(),
    }
}

fn number(object: &Value, pointer: &str, default: i64) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(default)
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object
        .pointer("/status/conditions")?
        .as_array()?
        .iter()
        .find(|condition| condition["type"] == kind)
}

fn holds(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|condition| condition["status"] == "True")
}

fn message_of(condition: &Value) -> String {
    condition["message"].as_str().unwrap_or_default().to_owned()
}

/// The object's standing.
#[must_use]
pub fn compute(object: &Value) -> Result {
    if object
        .pointer("/metadata/deletionTimestamp")
        .is_some_and(|time| !time.is_null())
    {
        return Result {
            standing: Standing::Terminating,
            message: "Resource scheduled for deletion".into(),
        };
    }
    let generation = number(object, "/metadata/generation", 0);
    if let Some(observed) = object.pointer("/status/observedGeneration").and_then(Value::as_i64)
        && observed != generation
    {
        let kind = object::kind(object);
        return progress(format!(
            "{kind} generation is {generation}, but latest observed generation is {observed}"
        ));
    }
    if let Some(condition) = condition(object, "Reconciling").filter(|condition| condition["status"] == "True") {
        return progress(message_of(condition));
    }
    if let Some(condition) = condition(object, "Stalled").filter(|condition| condition["status"] == "True") {
        return failed(message_of(condition));
    }
    let (group, _) = object::split_api_version(object::api_version(object));
    match (group, object::kind(object)) {
        ("", "Secret" | "ConfigMap") | ("batch", "CronJob") => current("Resource is always ready"),
        ("", "Service") => service(object),
        ("", "Pod") => pod(object),
        ("", "PersistentVolumeClaim") => match text(object, "/status/phase") {
            "Bound" => current("PVC is Bound"),
            phase => progress(format!("PVC is not Bound. phase: {phase}")),
        },
        ("apps", "StatefulSet") => stateful_set(object),
        ("apps", "DaemonSet") => daemon_set(object),
        ("apps", "Deployment") => deployment(object),
        ("apps", "ReplicaSet") => replica_set(object),
        ("policy", "PodDisruptionBudget") => current("AllowedDisruptions has been computed."),
        ("batch", "Job") => job(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(object),
        _ => match condition(object, "Ready") {
            Some(ready) if ready["status"] == "True" => current("Resource is Ready"),
            Some(ready) if ready["status"] == "False" || ready["status"] == "Unknown" => progress(message_of(ready)),
            _ => current("Resource is current"),
        },
    }
}

fn service(object: &Value) -> Result {
    if text(object, "/spec/type") == "LoadBalancer" && text(object, "/spec/clusterIP").is_empty() {
        return progress("ClusterIP not set. Service type: LoadBalancer");
    }
    current("Service is ready")
}

fn pod(object: &Value) -> Result {
    match text(object, "/status/phase") {
        "Succeeded" => current("Pod has completed successfully"),
        "Failed" => current("Pod has completed, but not successfully"),
        "Running" if holds(object, "Ready") => current("Pod is Ready"),
        "Running" => {
            let crashing = crashing(object);
            if crashing.is_empty() {
                progress("Pod is running but is not Ready")
            } else {
                failed(format!("Containers in CrashLoop state: {}", crashing.join(",")))
            }
        }
        "Pending" => match condition(object, "PodScheduled") {
            Some(scheduled) if scheduled["status"] == "False" && scheduled["reason"] == "Unschedulable" => {
                let since = text(scheduled, "/lastTransitionTime").parse::<Timestamp>().ok();
                let waiting = since.is_some_and(|since| Timestamp::now().as_second() - since.as_second() < 15);
                if waiting {
                    progress("Pod has not been scheduled")
                } else {
                    failed("Pod could not be scheduled")
                }
            }
            _ => progress("Pod is in the Pending phase"),
        },
        _ => progress("Pod phase not available"),
    }
}

fn crashing(object: &Value) -> Vec<String> {
    ["/status/initContainerStatuses", "/status/containerStatuses"]
        .iter()
        .filter_map(|pointer| object.pointer(pointer)?.as_array())
        .flatten()
        .filter(|status| text(status, "/state/waiting/reason") == "CrashLoopBackOff")
        .map(|status| text(status, "/name").to_owned())
        .collect()
}

fn stateful_set(object: &Value) -> Result {
    if text(object, "/spec/updateStrategy/type") == "OnDelete" {
        return current("StatefulSet is using the ondelete update strategy");
    }
    let wanted = number(object, "/spec/replicas", 1);
    let there = number(object, "/status/replicas", 0);
    let ready = number(object, "/status/readyReplicas", 0);
    let current_replicas = number(object, "/status/currentReplicas", 0);
    let updated = number(object, "/status/updatedReplicas", 0);
    let partition = number(object, "/spec/updateStrategy/rollingUpdate/partition", -1);
    if wanted > there {
        return progress(format!("Replicas: {there}/{wanted}"));
    }
    if wanted > ready {
        return progress(format!("Ready: {ready}/{wanted}"));
    }
    if there > wanted {
        return progress(format!("Pending termination: {}", there - wanted));
    }
    if partition != -1 {
        if updated < wanted - partition {
            return progress(format!("updated: {updated}/{}", wanted - partition));
        }
        return current(format!("Partition rollout complete. updated: {updated}"));
    }
    if wanted > current_replicas {
        return progress(format!("current: {current_replicas}/{wanted}"));
    }
    if text(object, "/status/currentRevision") != text(object, "/status/updateRevision") {
        return progress("Waiting for updated revision to match current");
    }
    current(format!("All replicas scheduled as expected. Replicas: {there}"))
}

fn daemon_set(object: &Value) -> Result {
    if object.pointer("/status/observedGeneration").is_none() {
        return progress("DaemonSet status.observedGeneration not found");
    }
    let wanted = number(object, "/status/desiredNumberScheduled", -1);
    if wanted == -1 {
        return progress("Missing .status.desiredNumberScheduled");
    }
    for (label, pointer) in [
        ("Current", "/status/currentNumberScheduled"),
        ("Updated", "/status/updatedNumberScheduled"),
        ("Available", "/status/numberAvailable"),
        ("Ready", "/status/numberReady"),
    ] {
        let there = number(object, pointer, 0);
        if wanted > there {
            return progress(format!("{label}: {there}/{wanted}"));
        }
    }
    current(format!("All replicas scheduled as expected. Replicas: {wanted}"))
}

fn deployment(object: &Value) -> Result {
    let progressing = condition(object, "Progressing");
    if progressing.is_some_and(|found| found["reason"] == "ProgressDeadlineExceeded") {
        return failed("Progress deadline exceeded");
    }
    let unlimited = number(object, "/spec/progressDeadlineSeconds", i64::from(i32::MAX)) == i64::from(i32::MAX);
    let rolled_out = unlimited
        || progressing.is_some_and(|found| found["status"] == "True" && found["reason"] == "NewReplicaSetAvailable");
    let wanted = number(object, "/spec/replicas", 1);
    let there = number(object, "/status/replicas", 0);
    let updated = number(object, "/status/updatedReplicas", 0);
    let ready = number(object, "/status/readyReplicas", 0);
    let available = number(object, "/status/availableReplicas", 0);
    if wanted > there {
        return progress(format!("Replicas: {there}/{wanted}"));
    }
    if wanted > updated {
        return progress(format!("Updated: {updated}/{wanted}"));
    }
    if there > wanted {
        return progress(format!("Pending termination: {}", there - wanted));
    }
    if updated > available {
        return progress(format!("Available: {available}/{updated}"));
    }
    if wanted > ready {
        return progress(format!("Ready: {ready}/{wanted}"));
    }
    if !rolled_out {
        return progress("ReplicaSet not Available");
    }
    if !holds(object, "Available") {
        return progress("Deployment not Available");
    }
    current(format!("Deployment is available. Replicas: {there}"))
}

fn replica_set(object: &Value) -> Result {
    if holds(object, "ReplicaFailure") {
        return progress("Replica Failure condition. Check Pods");
    }
    let wanted = number(object, "/spec/replicas", 1);
    let there = number(object, "/status/replicas", 0);
    for (label, pointer) in [
        ("Labelled", "/status/fullyLabeledReplicas"),
        ("Available", "/status/availableReplicas"),
        ("Ready", "/status/readyReplicas"),
    ] {
        let count = number(object, pointer, 0);
        if wanted > count {
            return progress(format!("{label}: {count}/{wanted}"));
        }
    }
    if there > wanted {
        return progress(format!("Pending termination: {}", there - wanted));
    }
    current(format!("ReplicaSet is available. Replicas: {there}"))
}

/// Whether a job ended well.
#[must_use]
pub fn job_complete(object: &Value) -> bool {
    holds(object, "Complete")
}

fn job(object: &Value) -> Result {
    let wanted = number(object, "/spec/completions", 1);
    let succeeded = number(object, "/status/succeeded", 0);
    let active = number(object, "/status/active", 0);
    let lost = number(object, "/status/failed", 0);
    if holds(object, "Complete") {
        return current(format!("Job Completed. succeeded: {succeeded}/{wanted}"));
    }
    if holds(object, "Failed") {
        return failed(format!("Job Failed. failed: {lost}/{wanted}"));
    }
    if text(object, "/status/startTime").is_empty() {
        return progress("Job not started");
    }
    current(format!(
        "Job in progress. success:{succeeded}, active: {active}, failed: {lost}"
    ))
}

fn definition(object: &Value) -> Result {
    for found in object
        .pointer("/status/conditions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if found["type"] == "NamesAccepted" && found["status"] == "False" {
            return failed(message_of(found));
        }
        if found["type"] == "Established" {
            if found["status"] == "False" && found["reason"] != "Installing" {
                return failed(message_of(found));
            }
            if found["status"] == "True" {
                return current("CRD is established");
            }
        }
    }
    progress("Install in progress")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(object: &Value, standing: Standing, message: &str) {
        let found = compute(object);
        assert_eq!(
            (found.standing, found.message.as_str()),
            (standing, message),
            "{object}"
        );
    }

    #[test]
    fn workloads_count_their_replicas() {
        let mut d = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"generation": 2},
            "spec": {"replicas": 2, "progressDeadlineSeconds": 600}, "status": {}});
        check(&d, Standing::InProgress, "Replicas: 0/2");
        d["status"] = json!({"observedGeneration": 1});
        check(
            &d,
            Standing::InProgress,
            "Deployment generation is 2, but latest observed generation is 1",
        );
        d["status"] = json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2});
        check(&d, Standing::InProgress, "Pending termination: 1");
        d["status"]["replicas"] = 2.into();
        check(&d, Standing::InProgress, "ReplicaSet not Available");
        d["status"]["conditions"] = json!([{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}, {"type": "Available", "status": "True"}]);
        check(&d, Standing::Current, "Deployment is available. Replicas: 2");
    }

    #[test]
    fn any_kind_may_say_ready() {
        let thing = |status: &str| json!({"apiVersion": "a.b/v1", "kind": "Thing", "status": {"conditions": [{"type": "Ready", "status": status, "message": "m"}]}});
        check(&thing("True"), Standing::Current, "Resource is Ready");
        check(&thing("False"), Standing::InProgress, "m");
        check(&json!({"kind": "Thing"}), Standing::Current, "Resource is current");
        check(
            &json!({"kind": "Thing", "metadata": {"deletionTimestamp": "x"}}),
            Standing::Terminating,
            "Resource scheduled for deletion",
        );
    }
}
