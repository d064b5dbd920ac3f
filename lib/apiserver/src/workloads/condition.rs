//! Conditions that keep their times while they say the same.

use serde_json::{Value, json};

/// What a condition says.
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: String,
}

impl<'a> Condition<'a> {
    pub(super) fn new(kind: &'a str, holds: bool, reason: &'a str, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: if holds { "True" } else { "False" },
            reason,
            message: message.into(),
        }
    }
}

/// The second time that a kind's conditions carry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamp {
    /// `lastUpdateTime`, of Deployments.
    Update,
    /// `lastProbeTime`, of Jobs.
    Probe,
    /// `lastProbeTime: null`, of Pods.
    NoProbe,
}

/// The conditions as a list, with the times of those in `known` that say the same.
pub(super) fn list(conditions: &[Condition<'_>], known: Option<&Value>, stamp: Stamp, now: &str) -> Value {
    let known = known.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    conditions
        .iter()
        .map(|condition| {
            let before = known.iter().find(|known| known["type"] == condition.kind);
            let same_status = before.filter(|known| known["status"] == condition.status);
            let same = same_status.filter(|known| {
                text(known, "reason") == condition.reason && text(known, "message") == condition.message
            });
            let time = |known: Option<&Value>, field: &str| {
                known.and_then(|known| known[field].as_str()).unwrap_or(now).to_owned()
            };
            let mut value = json!({
                "type": condition.kind, "status": condition.status,
                "lastTransitionTime": time(same_status, "lastTransitionTime"),
            });
            match stamp {
                Stamp::Update => value["lastUpdateTime"] = time(same, "lastUpdateTime").into(),
                Stamp::Probe => value["lastProbeTime"] = time(same, "lastProbeTime").into(),
                Stamp::NoProbe => value["lastProbeTime"] = Value::Null,
            }
            for (field, content) in [("reason", condition.reason), ("message", &condition.message)] {
                if !content.is_empty() {
                    value[field] = content.into();
                }
            }
            value
        })
        .collect()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
