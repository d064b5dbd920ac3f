//! Standing of the kinds that run pods: their counts compared with what was asked for, in the
//! order in which a roll-out reaches them.

use jiff::Timestamp;
use serde_json::Value;

use super::condition::Conditions;
use super::{Result, current, failed, number, progress, text, unknown};

/// Seconds a pod has to be scheduled before it counts as unschedulable.
const SCHEDULE_WINDOW: i64 = 15;

pub(super) fn pod(object: &Value, conditions: &Conditions<'_>, now: Timestamp) -> Result {
    match text(object, "/status/phase") {
        "Succeeded" => current("Pod has completed successfully"),
        "Failed" => current("Pod has completed, but not successfully"),
        "Running" if conditions.holds("Ready") => current("Pod is Ready"),
        "Running" => {
            let crashing = crashing(object);
            if crashing.is_empty() {
                progress("Pod is running but is not Ready")
            } else {
                failed(format!("Containers in CrashLoop state: {}", crashing.join(",")))
            }
        }
        "Pending" => pending(object, conditions, now),
        "" => progress("Pod phase not available"),
        other => unknown(format!("unknown phase {other}")),
    }
}

fn pending(object: &Value, conditions: &Conditions<'_>, now: Timestamp) -> Result {
    let scheduled = conditions.of_kind("PodScheduled").find(|found| found.status == "False");
    let Some(scheduled) = scheduled.filter(|scheduled| scheduled.reason == "Unschedulable") else {
        return progress("Pod is in the Pending phase");
    };
    // The scheduler says so the moment it first tries: upstream counts from the pod's creation.
    let times = [scheduled.since, text(object, "/metadata/creationTimestamp")];
    let since = times.iter().find_map(|time| time.parse::<Timestamp>().ok());
    if since.is_some_and(|since| now.as_second() - since.as_second() < SCHEDULE_WINDOW) {
        progress("Pod has not been scheduled")
    } else {
        failed("Pod could not be scheduled")
    }
}

fn crashing(object: &Value) -> Vec<&str> {
    object
        .pointer("/status/containerStatuses")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|status| text(status, "/state/waiting/reason") == "CrashLoopBackOff")
        .filter_map(|status| status.get("name")?.as_str())
        .collect()
}

/// The first of the counts that is below what is wanted, as a message.
fn first_below(wanted: i64, counts: &[(&str, i64)]) -> Option<Result> {
    counts
        .iter()
        .find(|(_, count)| wanted > *count)
        .map(|(label, count)| progress(format!("{label}: {count}/{wanted}")))
}

/// Pods that are too many.
fn excess(wanted: i64, there: i64) -> Option<Result> {
    (there > wanted).then(|| progress(format!("Pending termination: {}", there - wanted)))
}

pub(super) fn stateful_set(object: &Value) -> Result {
    if text(object, "/spec/updateStrategy/type") == "OnDelete" {
        return current("StatefulSet is using the ondelete update strategy");
    }
    let count = |field: &str| number(object, &format!("/status/{field}"), 0);
    let wanted = number(object, "/spec/replicas", 1);
    let there = count("replicas");
    let updated = count("updatedReplicas");
    let found = first_below(wanted, &[("Replicas", there), ("Ready", count("readyReplicas"))]);
    if let Some(found) = found.or_else(|| excess(wanted, there)) {
        return found;
    }
    let partition = number(object, "/spec/updateStrategy/rollingUpdate/partition", -1);
    if partition != -1 {
        return first_below(wanted - partition, &[("updated", updated)])
            .unwrap_or_else(|| current(format!("Partition rollout complete. updated: {updated}")));
    }
    if let Some(found) = first_below(wanted, &[("current", count("currentReplicas"))]) {
        return found;
    }
    if text(object, "/status/currentRevision") != text(object, "/status/updateRevision") {
        return progress("Waiting for updated revision to match current");
    }
    current(format!("All replicas scheduled as expected. Replicas: {there}"))
}

pub(super) fn daemon_set(object: &Value) -> Result {
    for (pointer, name) in [
        ("/metadata/generation", "metadata.generation"),
        ("/status/observedGeneration", "status.observedGeneration"),
    ] {
        if object.pointer(pointer).is_none() {
            return progress(format!("DaemonSet {name} not found"));
        }
    }
    let count = |field: &str| number(object, &format!("/status/{field}"), 0);
    let wanted = number(object, "/status/desiredNumberScheduled", -1);
    if wanted == -1 {
        return progress("Missing .status.desiredNumberScheduled");
    }
    let counts = [
        ("Current", count("currentNumberScheduled")),
        ("Updated", count("updatedNumberScheduled")),
        ("Available", count("numberAvailable")),
        ("Ready", count("numberReady")),
    ];
    first_below(wanted, &counts)
        .unwrap_or_else(|| current(format!("All replicas scheduled as expected. Replicas: {wanted}")))
}

pub(super) fn deployment(object: &Value, conditions: &Conditions<'_>) -> Result {
    let progressing = || conditions.of_kind("Progressing");
    if progressing().any(|found| found.reason == "ProgressDeadlineExceeded") {
        return failed("Progress deadline exceeded");
    }
    // Without a deadline the controller keeps no such condition.
    let unlimited = i64::from(i32::MAX);
    let rolled_out = number(object, "/spec/progressDeadlineSeconds", unlimited) == unlimited
        || progressing().any(|found| found.status == "True" && found.reason == "NewReplicaSetAvailable");
    let count = |field: &str| number(object, &format!("/status/{field}"), 0);
    let wanted = number(object, "/spec/replicas", 1);
    let there = count("replicas");
    let updated = count("updatedReplicas");
    let found = first_below(wanted, &[("Replicas", there), ("Updated", updated)])
        .or_else(|| excess(wanted, there))
        .or_else(|| first_below(updated, &[("Available", count("availableReplicas"))]))
        .or_else(|| first_below(wanted, &[("Ready", count("readyReplicas"))]));
    if let Some(found) = found {
        return found;
    }
    if !rolled_out {
        return progress("ReplicaSet not Available");
    }
    if !conditions.holds("Available") {
        return progress("Deployment not Available");
    }
    current(format!("Deployment is available. Replicas: {there}"))
}

pub(super) fn replica_set(object: &Value, conditions: &Conditions<'_>) -> Result {
    if conditions.holds("ReplicaFailure") {
        return progress("Replica Failure condition. Check Pods");
    }
    let count = |field: &str| number(object, &format!("/status/{field}"), 0);
    let wanted = number(object, "/spec/replicas", 1);
    let there = count("replicas");
    let counts = [
        ("Labelled", count("fullyLabeledReplicas")),
        ("Available", count("availableReplicas")),
        ("Ready", count("readyReplicas")),
    ];
    first_below(wanted, &counts)
        .or_else(|| excess(wanted, there))
        .unwrap_or_else(|| current(format!("ReplicaSet is available. Replicas: {there}")))
}

/// A job that runs is current: it does what it was made for. One that is suspended before its
/// start waits.
pub(super) fn job(object: &Value, conditions: &Conditions<'_>) -> Result {
    let parallelism = number(object, "/spec/parallelism", 1);
    let wanted = number(object, "/spec/completions", parallelism);
    let count = |field: &str| number(object, &format!("/status/{field}"), 0);
    let (succeeded, lost) = (count("succeeded"), count("failed"));
    for found in conditions.iter().filter(|found| found.status == "True") {
        match found.kind {
            "Complete" => return current(format!("Job Completed. succeeded: {succeeded}/{wanted}")),
            "Failed" => return failed(format!("Job Failed. failed: {lost}/{wanted}")),
            _ => {}
        }
    }
    if text(object, "/status/startTime").is_empty() {
        return progress("Job not started");
    }
    current(format!(
        "Job in progress. success:{succeeded}, active: {}, failed: {lost}",
        count("active")
    ))
}
