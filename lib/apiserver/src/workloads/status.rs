//! The status of a workload: what its controller would write, given how many of its pods are how far.
//!
//! Pure. Zero counts are left out where upstream's types leave them out.

use serde_json::{Map, Value, json};

use crate::workloads::condition::{Condition, Stamp, list};

/// How far a workload's pods are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// That should exist.
    pub(super) desired: i64,
    /// That exist.
    pub(super) current: i64,
    /// That are of the present template.
    pub(super) updated: i64,
    /// That are ready, and therefore available.
    pub(super) ready: i64,
}

/// What a status is made from.
pub(super) struct Facts<'a> {
    pub(super) object: &'a Value,
    pub(super) counts: Counts,
    /// Why it shall fail.
    pub(super) fault: Option<&'a str>,
    /// In the API's form.
    pub(super) now: String,
}

impl Facts<'_> {
    fn generation(&self) -> Value {
        self.object.pointer("/metadata/generation").cloned().unwrap_or_default()
    }

    fn known(&self) -> Option<&Value> {
        self.object.pointer("/status/conditions")
    }

    fn number(&self, pointer: &str, default: i64) -> i64 {
        self.object.pointer(pointer).and_then(Value::as_i64).unwrap_or(default)
    }

    fn conditions(&self, conditions: &[Condition<'_>], stamp: Stamp) -> Value {
        list(conditions, self.known(), stamp, &self.now)
    }
}

/// `spec.replicas`, 1 if absent.
pub(super) fn replicas(object: &Value) -> i64 {
    object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1)
}

/// Of a Deployment with the ReplicaSet `name`.
pub(super) fn deployment(facts: &Facts<'_>, name: &str) -> Value {
    let Counts {
        desired,
        current,
        updated,
        ready,
    } = facts.counts;
    let unavailable = (desired.max(current) - ready).max(0);
    let available = ready >= desired - max_unavailable(facts.object, desired);
    let complete = updated == desired && ready == desired && current == desired;
    let progressing = if complete {
        let text = format!("ReplicaSet \"{name}\" has successfully progressed.");
        Condition::new("Progressing", true, "NewReplicaSetAvailable", text)
    } else if facts.fault == Some("ProgressDeadlineExceeded") {
        let text = format!("ReplicaSet \"{name}\" has timed out progressing.");
        Condition::new("Progressing", false, "ProgressDeadlineExceeded", text)
    } else {
        Condition::new(
            "Progressing",
            true,
            "ReplicaSetUpdated",
            format!("ReplicaSet \"{name}\" is progressing."),
        )
    };
    let available = if available {
        Condition::new(
            "Available",
            true,
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
        )
    } else {
        let text = "Deployment does not have minimum availability.";
        Condition::new("Available", false, "MinimumReplicasUnavailable", text)
    };
    let mut status = Map::new();
    status.insert("observedGeneration".to_owned(), facts.generation());
    counts(
        &mut status,
        &[
            ("replicas", current),
            ("updatedReplicas", updated),
            ("readyReplicas", ready),
            ("availableReplicas", ready),
            ("unavailableReplicas", unavailable),
        ],
    );
    status.insert(
        "conditions".to_owned(),
        facts.conditions(&[available, progressing], Stamp::Update),
    );
    Value::Object(status)
}

/// Of a ReplicaSet.
pub(super) fn replica_set(facts: &Facts<'_>) -> Value {
    let Counts { current, ready, .. } = facts.counts;
    let mut status = Map::new();
    status.insert("observedGeneration".to_owned(), facts.generation());
    status.insert("replicas".to_owned(), current.into());
    counts(
        &mut status,
        &[
            ("fullyLabeledReplicas", current),
            ("readyReplicas", ready),
            ("availableReplicas", ready),
        ],
    );
    Value::Object(status)
}

/// Of a StatefulSet whose present template has the name `revision`.
pub(super) fn stateful_set(facts: &Facts<'_>, revision: &str) -> Value {
    let Counts {
        desired,
        current,
        updated,
        ready,
    } = facts.counts;
    let complete = updated == desired && ready == desired;
    let before = facts.object.pointer("/status/currentRevision").and_then(Value::as_str);
    let mut status = Map::new();
    status.insert("observedGeneration".to_owned(), facts.generation());
    status.insert("replicas".to_owned(), current.into());
    status.insert("availableReplicas".to_owned(), ready.into());
    status.insert("collisionCount".to_owned(), 0.into());
    status.insert("updateRevision".to_owned(), revision.into());
    let current_revision = if complete { revision } else { before.unwrap_or(revision) };
    status.insert("currentRevision".to_owned(), current_revision.into());
    let of_current = if current_revision == revision {
        updated
    } else {
        current - updated
    };
    counts(
        &mut status,
        &[
            ("readyReplicas", ready),
            ("currentReplicas", of_current),
            ("updatedReplicas", updated),
        ],
    );
    Value::Object(status)
}

/// Of a DaemonSet.
pub(super) fn daemon_set(facts: &Facts<'_>) -> Value {
    let Counts {
        desired,
        current,
        updated,
        ready,
    } = facts.counts;
    let mut status = Map::new();
    status.insert("observedGeneration".to_owned(), facts.generation());
    status.insert("currentNumberScheduled".to_owned(), current.into());
    status.insert("desiredNumberScheduled".to_owned(), desired.into());
    status.insert("numberMisscheduled".to_owned(), 0.into());
    status.insert("numberReady".to_owned(), ready.into());
    counts(
        &mut status,
        &[
            ("updatedNumberScheduled", updated),
            ("numberAvailable", ready),
            ("numberUnavailable", (desired - ready).max(0)),
        ],
    );
    Value::Object(status)
}

/// Of a Job; finished (well, or not if there is a fault) or still at work.
pub(super) fn job(facts: &Facts<'_>, finished: bool) -> Value {
    let parallelism = facts.number("/spec/parallelism", 1);
    let completions = facts.number("/spec/completions", parallelism.max(1));
    let start = facts
        .object
        .pointer("/status/startTime")
        .and_then(Value::as_str)
        .unwrap_or(&facts.now);
    let suspended = facts
        .object
        .pointer("/spec/suspend")
        .and_then(Value::as_bool)
        .unwrap_or_default();
    if suspended {
        let condition = Condition::new("Suspended", true, "JobSuspended", "Job suspended");
        return json!({
            "conditions": facts.conditions(&[condition], Stamp::Probe),
            "ready": 0, "terminating": 0, "uncountedTerminatedPods": {},
        });
    }
    let mut status = json!({"startTime": start, "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}});
    if !finished {
        let active = parallelism.min(completions);
        status["active"] = active.into();
        status["ready"] = active.into();
        return status;
    }
    if facts.fault.is_some() {
        const TEXT: &str = "Job has reached the specified backoff limit";
        let conditions =
            ["FailureTarget", "Failed"].map(|kind| Condition::new(kind, true, "BackoffLimitExceeded", TEXT));
        status["failed"] = (facts.number("/spec/backoffLimit", 6) + 1).into();
        status["conditions"] = facts.conditions(&conditions, Stamp::Probe);
        return status;
    }
    const TEXT: &str = "Reached expected number of succeeded pods";
    let conditions =
        ["SuccessCriteriaMet", "Complete"].map(|kind| Condition::new(kind, true, "CompletionsReached", TEXT));
    let end = facts
        .object
        .pointer("/status/completionTime")
        .and_then(Value::as_str)
        .unwrap_or(&facts.now);
    status["succeeded"] = completions.into();
    status["completionTime"] = end.into();
    status["conditions"] = facts.conditions(&conditions, Stamp::Probe);
    status
}

/// Of a claim that has, or has not, got its volume.
pub(super) fn claim(object: &Value, bound: bool) -> Value {
    if !bound {
        return json!({"phase": "Pending"});
    }
    let mut status = json!({"phase": "Bound"});
    if let Some(modes) = object.pointer("/spec/accessModes") {
        status["accessModes"] = modes.clone();
    }
    if let Some(requests) = object.pointer("/spec/resources/requests") {
        status["capacity"] = requests.clone();
    }
    status
}

/// Of a Service of type LoadBalancer; the address follows from the uid.
pub(super) fn load_balancer(object: &Value) -> Value {
    let uid = object
        .pointer("/metadata/uid")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let [a, b] = uid
        .bytes()
        .fold(0_u16, |sum, byte| sum.wrapping_mul(31).wrapping_add(u16::from(byte)))
        .to_be_bytes();
    // 198.18.0.0/15 is set aside for benchmarks and routed nowhere.
    json!({"loadBalancer": {"ingress": [{"ip": format!("198.18.{a}.{}", b.clamp(1, 254)), "ipMode": "VIP"}]}})
}

/// How many pods a Deployment may lack and count as available: a number or a percentage, rounded down.
fn max_unavailable(object: &Value, desired: i64) -> i64 {
    if object.pointer("/spec/strategy/type").and_then(Value::as_str) == Some("Recreate") {
        return 0;
    }
    let percent = |text: &str| text.strip_suffix('%').and_then(|number| number.parse::<i64>().ok());
    match object.pointer("/spec/strategy/rollingUpdate/maxUnavailable") {
        Some(Value::Number(number)) => number.as_i64().unwrap_or_default(),
        Some(Value::String(text)) => desired * percent(text).unwrap_or_default() / 100,
        _ => desired / 4,
    }
}

fn counts(status: &mut Map<String, Value>, counts: &[(&str, i64)]) {
    for (field, count) in counts {
        if *count != 0 {
            status.insert((*field).to_owned(), (*count).into());
        }
    }
}
