//! What was seen → the status of the deployment. Pure.

use std::collections::BTreeSet;

use fleet_api::{
    BundleDeploymentOptions, BundleDeploymentResource, BundleDeploymentStatus, ModifiedStatus, NonReadyStatus,
    ResourceCounts, condition,
};
use jiff::Timestamp;
use serde_json::Value;

use super::{Difference, Seen};
use crate::object::{self, ObjectKey};
use crate::summary::{self, ErrorConditions};

/// Longest list of a status.
const LONGEST: usize = 10;

fn without_ignored(object: &Value, options: &BundleDeploymentOptions) -> Value {
    let mut object = object.clone();
    let ignored = options
        .ignore
        .as_ref()
        .map(|ignore| ignore.conditions.as_slice())
        .unwrap_or_default();
    if let Some(conditions) = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
        conditions.retain(|condition| {
            !ignored.iter().any(|pattern| {
                pattern
                    .iter()
                    .all(|(key, value)| condition.get(key).and_then(Value::as_str) == Some(value))
            })
        });
    }
    object
}

/// Secrets' contents never reach a status: the keys do, the values do not.
fn shown_patch(key: &ObjectKey, patch: &Value) -> String {
    let mut patch = patch.clone();
    if key.kind == "Secret" && key.api_version == "v1" {
        for section in ["data", "stringData"] {
            for value in patch
                .get_mut(section)
                .and_then(Value::as_object_mut)
                .into_iter()
                .flat_map(|map| map.values_mut())
            {
                if !value.is_null() {
                    *value = "(hidden)".into();
                }
            }
        }
    }
    patch.to_string()
}

fn modified(key: &ObjectKey, difference: &Difference) -> ModifiedStatus {
    let mut status = ModifiedStatus {
        kind: key.kind.clone(),
        api_version: key.api_version.clone(),
        namespace: key.namespace.clone(),
        name: key.name.clone(),
        ..ModifiedStatus::default()
    };
    match difference {
        Difference::Missing { exists } => {
            status.missing = true;
            status.exist = *exists;
        }
        Difference::Extra => status.delete = true,
        Difference::Modified(patch) => status.patch = shown_patch(key, patch),
    }
    status
}

fn modified_text(key: &ObjectKey, status: &ModifiedStatus) -> String {
    let name = key.display();
    match (status.missing, status.exist, status.delete) {
        (true, true, _) => format!("{name} is not owned by us"),
        (true, false, _) => format!("{name} missing"),
        (_, _, true) => format!("{name} extra"),
        _ => format!("{name} modified {}", status.patch),
    }
}

/// Writes into `status` what was seen. Fields that say what was deployed are left alone.
pub fn derive(
    seen: &Seen,
    options: &BundleDeploymentOptions,
    errors: &ErrorConditions,
    now: Timestamp,
    status: &mut BundleDeploymentStatus,
) {
    let mut not_ready: Vec<(ObjectKey, NonReadyStatus)> = Vec::new();
    for object in &seen.live {
        let summary = summary::summarize(&without_ignored(object, options), errors, now);
        if summary.error || summary.transitioning {
            let key = ObjectKey::of(object);
            let entry = NonReadyStatus {
                uid: object::uid(object).to_owned(),
                kind: key.kind.clone(),
                api_version: key.api_version.clone(),
                namespace: key.namespace.clone(),
                name: key.name.clone(),
                summary: Some(summary),
            };
            not_ready.push((key, entry));
        }
    }
    not_ready.sort_by(|a, b| a.1.uid.cmp(&b.1.uid));
    let mut differences: Vec<(ObjectKey, ModifiedStatus)> = seen
        .differences
        .iter()
        .map(|(key, difference)| (key.clone(), modified(key, difference)))
        .collect();
    differences.sort_by_key(|(key, _)| format!("{}/{}/{}/{}", key.api_version, key.kind, key.namespace, key.name));

    status.resources = resources(seen);
    status.resource_counts = Some(counts(seen, &not_ready));
    status.sync_generation = Some(options.force_sync_generation);
    status.ready = not_ready.is_empty();
    status.non_modified = differences.is_empty();
    if not_ready.len() > LONGEST || differences.len() > LONGEST {
        status.incomplete_state = true;
    }
    let message = if let Some((key, entry)) = not_ready.first() {
        let summary = entry.summary.as_ref().map(summary::text_of).unwrap_or_default();
        Some(format!("{} {summary}", key.display()))
    } else {
        differences.first().map(|(key, entry)| modified_text(key, entry))
    };
    status.non_ready_status = not_ready.into_iter().take(LONGEST).map(|(_, entry)| entry).collect();
    status.modified_status = differences.into_iter().take(LONGEST).map(|(_, entry)| entry).collect();
    condition::set_error(&mut status.conditions, condition::READY, "", message.as_deref(), now);
}

fn resources(seen: &Seen) -> Vec<BundleDeploymentResource> {
    seen.live
        .iter()
        .map(|object| {
            let key = ObjectKey::of(object);
            BundleDeploymentResource {
                kind: key.kind,
                api_version: key.api_version,
                namespace: key.namespace,
                name: key.name,
                created_at: object
                    .pointer("/metadata/creationTimestamp")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
            }
        })
        .collect()
}

fn counts(seen: &Seen, not_ready: &[(ObjectKey, NonReadyStatus)]) -> ResourceCounts {
    let mut counts = ResourceCounts::default();
    let mut counted: BTreeSet<&ObjectKey> = BTreeSet::new();
    let mut wanted: BTreeSet<ObjectKey> = seen.live.iter().map(ObjectKey::of).collect();
    for (key, difference) in &seen.differences {
        match difference {
            Difference::Missing { .. } => {
                wanted.insert(key.clone());
                counts.missing += 1;
            }
            Difference::Extra => counts.orphaned += 1,
            Difference::Modified(_) => counts.modified += 1,
        }
        counted.insert(key);
    }
    for (key, _) in not_ready {
        if counted.insert(key) {
            counts.not_ready += 1;
        }
    }
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    counts.desired_ready = number(wanted.len());
    counts.ready = number(wanted.iter().filter(|key| !counted.contains(key)).count());
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn live(name: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "n", "uid": name,
            "creationTimestamp": "2026-01-01T00:00:00Z"}})
    }

    fn key(name: &str) -> ObjectKey {
        ObjectKey::of(&live(name))
    }

    fn status_of(seen: &Seen) -> BundleDeploymentStatus {
        let mut status = BundleDeploymentStatus::default();
        let options = BundleDeploymentOptions::default();
        derive(
            seen,
            &options,
            &ErrorConditions::default(),
            Timestamp::UNIX_EPOCH,
            &mut status,
        );
        status
    }

    #[test]
    fn everything_in_place_is_ready() {
        let status = status_of(&Seen {
            live: vec![live("a"), live("b")],
            ..Seen::default()
        });
        assert!(status.ready && status.non_modified);
        assert_eq!(status.resources[0].created_at, "2026-01-01T00:00:00Z");
        let counts = status.resource_counts.unwrap();
        assert_eq!((counts.desired_ready, counts.ready), (2, 2));
        assert_eq!(condition::status(&status.conditions, "Ready"), "True");
    }

    #[test]
    fn differences_are_told_and_counted() {
        let seen = Seen {
            live: vec![live("b")],
            differences: vec![
                (key("b"), Difference::Modified(json!({"data": {"k": "v"}}))),
                (key("a"), Difference::Missing { exists: false }),
                (key("c"), Difference::Extra),
            ],
            ..Seen::default()
        };
        let status = status_of(&seen);
        assert_eq!(
            condition::message(&status.conditions, "Ready"),
            "configmap.v1 n/a missing"
        );
        let counts = status.resource_counts.unwrap();
        assert_eq!(
            (
                counts.desired_ready,
                counts.missing,
                counts.modified,
                counts.orphaned,
                counts.ready
            ),
            (2, 1, 1, 1, 0)
        );
        assert_eq!(status.modified_status[1].patch, r#"{"data":{"k":"v"}}"#);
    }

    #[test]
    fn secret_values_are_hidden() {
        let secret = ObjectKey {
            api_version: "v1".into(),
            kind: "Secret".into(),
            namespace: "n".into(),
            name: "s".into(),
        };
        assert_eq!(
            shown_patch(&secret, &json!({"data": {"p": "cmlnaHQ="}})),
            r#"{"data":{"p":"(hidden)"}}"#
        );
    }
}
