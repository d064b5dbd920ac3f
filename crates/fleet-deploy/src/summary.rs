//! The state of one live object in words: turns an object into state, error, transitioning and
//! messages. Each rule may add to what the rules before it found. Mirrors upstream's
//! summarisers, in their order, with kstatus at the end of every one.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::ResourceSummary;
use jiff::Timestamp;
use serde_json::Value;

use crate::kstatus::{self, Standing};
use crate::object;

/// Statuses that make a condition an error, by kind and condition type; the kind is spelled
/// `group/version, Kind=Kind`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorConditions {
    kinds: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

fn set(statuses: &[&str]) -> BTreeSet<String> {
    statuses.iter().map(|status| (*status).to_owned()).collect()
}

impl Default for ErrorConditions {
    fn default() -> Self {
        let kind = |name: &str, conditions: &[(&str, &[&str])]| {
            let conditions = conditions
                .iter()
                .map(|(condition, statuses)| ((*condition).to_owned(), set(statuses)))
                .collect();
            (name.to_owned(), conditions)
        };
        Self {
            kinds: BTreeMap::from([
                kind(
                    "helm.cattle.io/v1, Kind=HelmChart",
                    &[("JobCreated", &[]), ("Failed", &["True"])],
                ),
                kind(
                    "/v1, Kind=Node",
                    &[
                        ("OutOfDisk", &["True"]),
                        ("MemoryPressure", &["True"]),
                        ("DiskPressure", &["True"]),
                        ("NetworkUnavailable", &["True"]),
                    ],
                ),
                kind(
                    "apps/v1, Kind=Deployment",
                    &[("ReplicaFailure", &["True"]), ("Progressing", &["False"])],
                ),
                kind("apps/v1, Kind=ReplicaSet", &[("ReplicaFailure", &["True"])]),
                kind("", &[("Stalled", &["True"]), ("Failed", &["True"])]),
            ]),
        }
    }
}

impl ErrorConditions {
    /// The defaults with the entries of a JSON list
    /// `[{"gvk": "…", "conditionMappings": [{"type": "…", "status": ["…"]}]}]`. A text that
    /// cannot be read changes nothing.
    #[must_use]
    pub fn with(json: &str) -> Self {
        let mut found = Self::default();
        let Ok(Value::Array(entries)) = serde_json::from_str(json) else {
            return found;
        };
        for entry in &entries {
            let kind = entry["gvk"].as_str().unwrap_or_default().to_owned();
            let conditions = found.kinds.entry(kind).or_default();
            for mapping in entry["conditionMappings"].as_array().into_iter().flatten() {
                let Some(condition) = mapping["type"].as_str() else {
                    continue;
                };
                let statuses = mapping["status"].as_array().into_iter().flatten();
                conditions.insert(
                    condition.to_owned(),
                    statuses
                        .filter_map(|status| status.as_str().map(str::to_owned))
                        .collect(),
                );
            }
        }
        found
    }

    fn of(&self, object: &Value) -> Option<&BTreeMap<String, BTreeSet<String>>> {
        self.kinds
            .get(&object::ObjectKey::of(object).gvk())
            .or_else(|| self.kinds.get(""))
    }
}

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

struct Condition<'a> {
    kind: &'a str,
    status: &'a str,
    reason: &'a str,
    message: &'a str,
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

#[derive(Default)]
struct Summary {
    state: String,
    error: bool,
    transitioning: bool,
    message: Vec<String>,
}

impl Summary {
    fn say(&mut self, message: &str) {
        self.message.push(message.to_owned());
    }
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The summary of a live object.
#[must_use]
pub fn summarize(object: &Value, errors: &ErrorConditions, now: Timestamp) -> ResourceSummary {
    let more: Value = object::annotation(object, "cattle.io/status")
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let lists = [object.pointer("/status/conditions"), more.get("conditions")];
    let conditions: Vec<Condition<'_>> = lists
        .into_iter()
        .flatten()
        .filter_map(Value::as_array)
        .flatten()
        .map(Condition::of)
        .collect();
    let mut summary = Summary::default();
    shown(object, &mut summary);
    failed_conditions(object, &conditions, errors, &mut summary);
    moving_conditions(&conditions, &mut summary);
    if summary.state.is_empty() {
        match object
            .pointer("/spec/active")
            .map(std::string::ToString::to_string)
            .as_deref()
        {
            Some("true" | "\"true\"") => "active".clone_into(&mut summary.state),
            Some("false" | "\"false\"") => "inactive".clone_into(&mut summary.state),
            _ => {}
        }
    }
    match text(object, "/status/phase") {
        "" => {}
        phase @ ("Succeeded" | "Bound") => {
            phase.clone_into(&mut summary.state);
            summary.transitioning = false;
        }
        phase if summary.state.is_empty() => phase.clone_into(&mut summary.state),
        _ => {}
    }
    young(object, &mut summary, now);
    removing(object, &mut summary, now);
    let status = kstatus::compute(object);
    if summary.state.is_empty() {
        let state = match status.standing {
            Standing::InProgress => "in-progress",
            Standing::Failed => "failed",
            Standing::Terminating => "removing",
            Standing::Current | Standing::NotFound => "active",
        };
        state.clone_into(&mut summary.state);
        summary.say(&status.message);
    }
    if object::kind(object) == "Service"
        && text(object, "/spec/type") == "LoadBalancer"
        && object
            .pointer("/status/loadBalancer/ingress")
            .and_then(Value::as_array)
            .is_none_or(Vec::is_empty)
        && matches!(summary.state.as_str(), "active" | "")
    {
        "pending".clone_into(&mut summary.state);
        summary.transitioning = true;
        summary.say("Load balancer is being provisioned");
    }
    match status.standing {
        Standing::InProgress | Standing::Terminating => summary.transitioning = true,
        Standing::Failed => summary.error = true,
        Standing::Current | Standing::NotFound => {}
    }
    summary.say(&status.message);
    finish(&summary)
}

fn finish(summary: &Summary) -> ResourceSummary {
    let mut messages: Vec<String> = Vec::new();
    for part in &summary.message {
        let part = part.trim();
        if !part.is_empty() && !messages.iter().any(|known| known == part) {
            messages.push(part.to_owned());
        }
    }
    let state = if summary.state.is_empty() {
        "active".to_owned()
    } else {
        summary.state.to_lowercase()
    };
    ResourceSummary {
        state,
        error: summary.error,
        transitioning: summary.transitioning,
        message: messages,
    }
}

/// An object that says itself how it is to be shown.
fn shown(object: &Value, summary: &mut Summary) {
    let Some(display) = ["/status/display", "/status/summary"]
        .iter()
        .filter_map(|pointer| object.pointer(pointer))
        .find(|display| display.as_object().is_some_and(|map| !map.is_empty()))
    else {
        return;
    };
    let flag = |key: &str| match &display[key] {
        Value::Bool(flag) => *flag,
        Value::String(flag) => flag == "true",
        _ => false,
    };
    text(display, "/state").clone_into(&mut summary.state);
    summary.transitioning = flag("transitioning");
    summary.error = flag("error");
    match &display["message"] {
        Value::String(message) => summary.say(message),
        Value::Array(messages) => {
            for message in messages.iter().filter_map(Value::as_str) {
                summary.say(message);
            }
        }
        _ => {}
    }
}

fn failed_conditions(object: &Value, conditions: &[Condition<'_>], errors: &ErrorConditions, summary: &mut Summary) {
    let mapped = errors.of(object);
    for condition in conditions {
        let is_error = match mapped.and_then(|mapped| mapped.get(condition.kind)) {
            Some(statuses) => statuses.contains(condition.status),
            None => condition.reason == "Error",
        };
        if is_error {
            summary.error = true;
            summary.say(condition.message);
            if matches!(summary.state.as_str(), "" | "active") {
                "error".clone_into(&mut summary.state);
            }
        }
    }
}

fn moving_conditions(conditions: &[Condition<'_>], summary: &mut Summary) {
    for condition in conditions {
        let Some((_, state)) = PROGRESS.iter().find(|(kind, _)| *kind == condition.kind) else {
            continue;
        };
        match condition.status {
            "False" => {
                summary.error = true;
                (*state).clone_into(&mut summary.state);
                summary.say(condition.message);
            }
            "Unknown" if summary.state.is_empty() => {
                summary.transitioning = true;
                (*state).clone_into(&mut summary.state);
                summary.say(condition.message);
            }
            _ => {}
        }
    }
    for condition in conditions {
        if summary.state.is_empty() && condition.kind == "Reconciling" && condition.status == "True" {
            summary.transitioning = true;
            "reconciling".clone_into(&mut summary.state);
            summary.say(condition.message);
        }
    }
    for condition in conditions {
        if !summary.state.is_empty() {
            break;
        }
        if condition.kind == "Ready" && condition.status == "Unknown" {
            summary.error = true;
            "unavailable".clone_into(&mut summary.state);
            summary.say(condition.message);
            continue;
        }
        let Some((_, state)) = STEPS.iter().find(|(kind, _)| *kind == condition.kind) else {
            continue;
        };
        let state = if state.is_empty() { condition.reason } else { state };
        match condition.status {
            "False" => {
                summary.transitioning = true;
                state.clone_into(&mut summary.state);
                summary.say(condition.message);
            }
            "Unknown" => {
                summary.error = true;
                state.clone_into(&mut summary.state);
                summary.say(condition.message);
            }
            _ => {}
        }
    }
    for condition in conditions {
        if summary.state.is_empty() && condition.kind == "Ready" && condition.status == "False" {
            summary.transitioning = true;
            "unavailable".clone_into(&mut summary.state);
            summary.say(condition.message);
        }
    }
}

/// Rancher's own kinds show nothing in their first seconds.
fn young(object: &Value, summary: &mut Summary, now: Timestamp) {
    let group = object::split_api_version(object::api_version(object)).0;
    let empty = object
        .pointer("/status/conditions")
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty);
    if !group.ends_with("cattle.io") || !empty || !summary.state.is_empty() {
        return;
    }
    let created = text(object, "/metadata/created").parse::<Timestamp>();
    if created.is_ok_and(|created| now.as_second() - created.as_second() < 5) {
        "initializing".clone_into(&mut summary.state);
        summary.transitioning = true;
    }
}

fn removing(object: &Value, summary: &mut Summary, now: Timestamp) {
    let removed = text(object, "/metadata/removed");
    if removed.is_empty() {
        return;
    }
    "removing".clone_into(&mut summary.state);
    summary.transitioning = true;
    let Some(finalizer) = object.pointer("/metadata/finalizers/0").and_then(Value::as_str) else {
        return;
    };
    summary.say(&format!("waiting on {finalizer}"));
    if removed
        .parse::<Timestamp>()
        .is_ok_and(|removed| now.as_second() - removed.as_second() > 300)
    {
        summary.error = true;
    }
}

/// The summary as one text, with upstream's own brackets.
#[must_use]
pub fn text_of(summary: &ResourceSummary) -> String {
    let mark = match (summary.transitioning, summary.error) {
        (false, false) => return summary.state.clone(),
        (true, false) => "[progressing]",
        (true, true) => "[progressing,error]",
        (false, true) => "error]",
    };
    if summary.message.is_empty() {
        mark.to_owned()
    } else {
        format!("{mark} {}", summary.message.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn says(object: &Value) -> String {
        text_of(&summarize(object, &ErrorConditions::default(), Timestamp::UNIX_EPOCH))
    }

    fn thing(conditions: &Value) -> Value {
        json!({"apiVersion": "case.test/v1", "kind": "Thing", "metadata": {"name": "x"}, "status": {"conditions": conditions}})
    }

    #[test]
    fn conditions_speak_for_any_kind() {
        assert_eq!(says(&thing(&json!([]))), "active");
        assert_eq!(
            says(&thing(
                &json!([{"type": "Created", "status": "Unknown", "message": "making it"}])
            )),
            "[progressing] making it, Resource is current"
        );
        assert_eq!(
            says(&thing(
                &json!([{"type": "Created", "status": "False", "message": "could not"}])
            )),
            "error] could not, Resource is current"
        );
        assert_eq!(
            says(&thing(
                &json!([{"type": "Ready", "status": "Unknown", "message": "lost contact"}])
            )),
            "[progressing,error] lost contact"
        );
        assert_eq!(
            says(&thing(
                &json!([{"type": "Synced", "status": "False", "reason": "Error", "message": "sync broke"}])
            )),
            "error] sync broke, Resource is current"
        );
    }

    #[test]
    fn a_service_waits_for_its_load_balancer() {
        let service =
            json!({"apiVersion": "v1", "kind": "Service", "spec": {"type": "LoadBalancer", "clusterIP": "10.0.0.1"}});
        assert_eq!(
            says(&service),
            "[progressing] Service is ready, Load balancer is being provisioned"
        );
    }

    #[test]
    fn the_map_of_error_conditions_can_be_extended() {
        let more = ErrorConditions::with(
            r#"[{"gvk":"case.test/v1, Kind=Thing","conditionMappings":[{"type":"Broken","status":["True"]}]}]"#,
        );
        let object = thing(&json!([{"type": "Broken", "status": "True", "message": "it is"}]));
        assert_eq!(
            text_of(&summarize(&object, &more, Timestamp::UNIX_EPOCH)),
            "error] it is, Resource is current"
        );
        assert_eq!(ErrorConditions::with("{"), ErrorConditions::default());
    }
}
