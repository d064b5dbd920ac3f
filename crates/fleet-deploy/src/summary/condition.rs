//! Conditions → state and flags. Three families: those whose falsehood is an error, those that
//! are true while something goes on, and those whose falsehood is a step on the way.

use serde_json::Value;

use super::Summary;
use crate::object;

/// Conditions that mean trouble when they are false, and a state while they are unknown.
const PROGRESS: [(&str, &str); 38] = [
    ("Active", "activating"),
    ("AddonDeploy", "provisioning"),
    ("AgentDeployed", "provisioning"),
    ("BackingNamespaceCreated", "configuring"),
    ("Built", "building"),
    ("CertsGenerated", "provisioning"),
    ("ConfigOK", "configuring"),
    ("Created", "creating"),
    ("CreatorMadeOwner", "configuring"),
    ("DefaultNamespaceAssigned", "configuring"),
    ("DefaultNetworkPolicyCreated", "configuring"),
    ("DefaultProjectCreated", "configuring"),
    ("Deployed", "deploying"),
    ("DockerProvisioned", "provisioning"),
    ("Downloaded", "downloading"),
    ("Drained", "draining"),
    ("etcd", "provisioning"),
    ("Inactive", "deactivating"),
    ("Initialized", "initializing"),
    ("Installed", "installing"),
    ("NodesCreated", "provisioning"),
    ("Pending", "pending"),
    ("PodScheduled", "scheduling"),
    ("Provisioned", "provisioning"),
    ("Reconciled", "reconciling"),
    ("Refreshed", "refreshed"),
    ("Registered", "registering"),
    ("Removed", "removing"),
    ("Saved", "saving"),
    ("Updated", "updating"),
    ("Updating", "updating"),
    ("Upgraded", "upgrading"),
    ("Waiting", "waiting"),
    ("InitialRolesPopulated", "activating"),
    ("ScalingActive", "pending"),
    ("AbleToScale", "pending"),
    ("RunCompleted", "running"),
    ("Processed", "processed"),
];

/// Conditions whose falsehood is a step on the way.
const STEPS: [(&str, &str); 5] = [
    ("Completed", "activating"),
    ("Available", "updating"),
    ("BootstrapReady", ""),
    ("InfrastructureReady", ""),
    ("NodeHealthy", ""),
];

/// One condition; what is absent is empty.
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
}

impl<'a> Condition<'a> {
    fn of(value: &'a Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        Self {
            kind: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
        }
    }
}

/// An annotation in which an object may keep conditions that its kind has no place for.
pub(super) fn annotated(object: &Value) -> Value {
    object::annotation(object, "cattle.io/status")
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// All conditions: of the status, then of the annotation.
pub(super) fn all<'a>(object: &'a Value, annotated: &'a Value) -> Vec<Condition<'a>> {
    [object.pointer("/status/conditions"), annotated.get("conditions")]
        .into_iter()
        .flatten()
        .filter_map(Value::as_array)
        .flatten()
        .map(Condition::of)
        .collect()
}

/// What conditions say about something going on.
pub(super) fn moving(conditions: &[Condition<'_>], summary: &mut Summary) {
    for condition in conditions {
        let Some((_, state)) = PROGRESS.iter().find(|(kind, _)| *kind == condition.kind) else {
            continue;
        };
        match condition.status {
            "False" => summary.fail(state, condition.message),
            "Unknown" if summary.state.is_empty() => summary.moves(state, condition.message),
            _ => {}
        }
    }
    for condition in conditions {
        if summary.state.is_empty() && condition.kind == "Reconciling" && condition.status == "True" {
            summary.moves("reconciling", condition.message);
        }
    }
    for condition in conditions {
        if summary.state.is_empty() {
            step(condition, summary);
        }
    }
    // Readiness is the least telling of them: it speaks when nothing else did.
    let unready = |condition: &&Condition<'_>| condition.kind == "Ready" && condition.status == "False";
    if summary.state.is_empty()
        && let Some(ready) = conditions.iter().rfind(unready)
    {
        summary.moves("unavailable", ready.message);
    }
}

fn step(condition: &Condition<'_>, summary: &mut Summary) {
    if condition.kind == "Ready" {
        if condition.status == "Unknown" {
            summary.fail("unavailable", condition.message);
        }
        return;
    }
    let Some((_, state)) = STEPS.iter().find(|(kind, _)| *kind == condition.kind) else {
        return;
    };
    let state = if state.is_empty() { condition.reason } else { state };
    match condition.status {
        "False" => summary.moves(state, condition.message),
        "Unknown" => summary.fail(state, condition.message),
        _ => {}
    }
}
