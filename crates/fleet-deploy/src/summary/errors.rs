//! Which statuses make a condition an error: defaults per kind, and what the agent's user adds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::condition::Condition;
use crate::object::ObjectKey;

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

    /// Whether a condition of this object is an error.
    pub(super) fn includes(&self, object: &Value, condition: &Condition<'_>) -> bool {
        let mapped = self
            .kinds
            .get(&ObjectKey::of(object).gvk())
            .or_else(|| self.kinds.get(""));
        let statuses = mapped.and_then(|mapped| mapped.get(condition.kind));
        condition.reason == "Error" || statuses.is_some_and(|statuses| statuses.contains(condition.status))
    }
}
