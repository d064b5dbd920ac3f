//! The state of one live object in words: turns an object into state, error, transitioning and
//! messages. Each rule may add to what the rules before it found. Mirrors upstream's
//! summarisers, in their order, with kstatus at the end of every one. Relations between objects
//! are not collected: no status shows them.

mod condition;
mod errors;

use fleet_api::ResourceSummary;
use jiff::Timestamp;
use serde_json::Value;

use self::condition::Condition;
pub use self::errors::ErrorConditions;
use crate::kstatus::{self, Standing};
use crate::object;

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

    fn fail(&mut self, state: &str, message: &str) {
        self.error = true;
        state.clone_into(&mut self.state);
        self.say(message);
    }

    fn moves(&mut self, state: &str, message: &str) {
        self.transitioning = true;
        state.clone_into(&mut self.state);
        self.say(message);
    }
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The summary of a live object.
#[must_use]
pub fn summarize(object: &Value, errors: &ErrorConditions, now: Timestamp) -> ResourceSummary {
    let annotated = condition::annotated(object);
    let conditions = condition::all(object, &annotated);
    let mut summary = Summary::default();
    shown(object, &mut summary);
    for condition in conditions.iter().filter(|found| errors.includes(object, found)) {
        summary.error = true;
        summary.say(condition.message);
        if matches!(summary.state.as_str(), "" | "active") {
            "error".clone_into(&mut summary.state);
        }
    }
    condition::moving(&conditions, &mut summary);
    active(object, &mut summary);
    phase(object, &mut summary);
    young(object, &conditions, &mut summary, now);
    removing(object, &conditions, &mut summary, now);
    let status = kstatus::compute(object, now);
    standard(object, &status, &mut summary);
    balancer(object, &mut summary);
    match status.standing {
        Standing::InProgress | Standing::Terminating => summary.transitioning = true,
        Standing::Failed => summary.error = true,
        Standing::Current | Standing::NotFound | Standing::Unknown => {}
    }
    if status.standing != Standing::Unknown {
        summary.say(&without_repeats(&status.message));
    }
    finish(&summary)
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
        Value::String(flag) => flag.eq_ignore_ascii_case("true"),
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

/// A kind that can be switched off.
fn active(object: &Value, summary: &mut Summary) {
    let state = match object.pointer("/spec/active") {
        Some(Value::Bool(true)) => "active",
        Some(Value::Bool(false)) => "inactive",
        Some(Value::String(text)) if text == "true" => "active",
        Some(Value::String(text)) if text == "false" => "inactive",
        _ => return,
    };
    if summary.state.is_empty() {
        state.clone_into(&mut summary.state);
    }
}

fn phase(object: &Value, summary: &mut Summary) {
    match text(object, "/status/phase") {
        "" => {}
        phase @ ("Succeeded" | "Bound") => {
            phase.clone_into(&mut summary.state);
            summary.transitioning = false;
        }
        phase if summary.state.is_empty() => phase.clone_into(&mut summary.state),
        _ => {}
    }
}

/// Rancher's own kinds show nothing in their first seconds.
fn young(object: &Value, conditions: &[Condition<'_>], summary: &mut Summary, now: Timestamp) {
    let kept = object.pointer("/status/conditions").is_some();
    if !object::api_version(object).contains("cattle.io")
        || !kept
        || !conditions.is_empty()
        || !summary.state.is_empty()
    {
        return;
    }
    let created = text(object, "/metadata/created").parse::<Timestamp>();
    if created.is_ok_and(|created| now.as_second() - created.as_second() < 5) {
        "initializing".clone_into(&mut summary.state);
        summary.transitioning = true;
    }
}

/// Rancher's own way of saying that an object is on its way out.
fn removing(object: &Value, conditions: &[Condition<'_>], summary: &mut Summary, now: Timestamp) {
    let removed = text(object, "/metadata/removed");
    if removed.is_empty() {
        return;
    }
    "removing".clone_into(&mut summary.state);
    summary.transitioning = true;
    for condition in conditions {
        if condition.kind == "Removed" && matches!(condition.status, "Unknown" | "False") {
            summary.say(condition.message);
        }
    }
    let first = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let Some(finalizer) = first("/metadata/finalizers/0").or_else(|| first("/spec/finalizers/0")) else {
        return;
    };
    let (_, short) = finalizer.split_once("controller.cattle.io/").unwrap_or(("", finalizer));
    let what = if short == "foregroundDeletion" {
        "object cleanup"
    } else {
        short
    };
    summary.say(&format!("waiting on {what}"));
    if removed
        .parse::<Timestamp>()
        .is_ok_and(|removed| now.as_second() - removed.as_second() > 300)
    {
        summary.error = true;
    }
}

/// What kstatus says of an object that nothing was said of yet.
fn standard(object: &Value, status: &kstatus::Result, summary: &mut Summary) {
    // Objects of Rancher's older API carry a path here.
    if !summary.state.is_empty() || text(object, "/type").starts_with('/') {
        return;
    }
    let state = match status.standing {
        Standing::InProgress => "in-progress",
        Standing::Failed => "failed",
        Standing::Terminating => "removing",
        Standing::Current => "active",
        Standing::NotFound | Standing::Unknown => return,
    };
    state.clone_into(&mut summary.state);
    summary.say(&status.message);
}

fn balancer(object: &Value, summary: &mut Summary) {
    let wanted = ["/spec/type", "/spec/serviceKind"]
        .iter()
        .any(|pointer| text(object, pointer) == "LoadBalancer");
    let addresses = object.pointer("/status/loadBalancer/ingress").and_then(Value::as_array);
    if object::kind(object) == "Service"
        && wanted
        && addresses.is_none_or(Vec::is_empty)
        && matches!(summary.state.as_str(), "active" | "")
    {
        summary.moves("pending", "Load balancer is being provisioned");
    }
}

/// A message that joins many, each of them once.
fn without_repeats(message: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in message.split("; ") {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join("; ")
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
mod tests;
