//! Looking at a release again: its objects as they are, compared with its manifest. [`observe`]
//! reads; [`derive`] makes the status out of what was read, and is pure. Mirrors upstream's
//! desired set and its monitor.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::{
    BundleDeploymentOptions, BundleDeploymentResource, BundleDeploymentStatus, ModifiedStatus, NonReadyStatus,
    ResourceCounts, condition, labels,
};
use helm::release::Release;
use jiff::Timestamp;
use serde_json::Value;

use crate::cluster::{self, Cluster};
use crate::drift;
use crate::object::{self, ObjectKey};
use crate::postrender::{self, ObjectSet};
use crate::summary::{self, ErrorConditions};

/// Longest list of a status.
const LONGEST: usize = 10;

/// Why a release cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A kind is not served.
    #[error("look up {}", .0.display())]
    Kind(Box<ObjectKey>, #[source] cluster::Error),
    /// Live objects cannot be listed.
    #[error("list {kind} ({api_version}) in namespace '{namespace}'")]
    List {
        /// Kind.
        kind: String,
        /// Group and version.
        api_version: String,
        /// Namespace.
        namespace: String,
        /// Cause.
        #[source]
        source: cluster::Error,
    },
    /// The record cannot be read.
    #[error("read manifest of release '{0}'")]
    Manifest(String, #[source] goyaml::Error),
}

/// One object that differs.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// Wanted, not there (or there without the bundle's label: `exists`).
    Missing {
        /// Somebody else's object has the name.
        exists: bool,
    },
    /// There with the bundle's label, not wanted.
    Extra,
    /// There, with other values.
    Modified(Value),
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Live objects, in order of the manifest's kinds, then by key.
    pub live: Vec<Value>,
    /// Every object that differs.
    pub differences: Vec<(ObjectKey, Difference)>,
    /// Wanted objects by key, namespaces filled in.
    pub desired: BTreeMap<ObjectKey, Value>,
    /// Namespace of the release.
    pub namespace: String,
}

/// Reads the objects of a release: one list per kind and namespace, by the bundle's label.
///
/// # Errors
/// What cannot be read.
pub async fn observe(
    cluster: &Cluster,
    release: &Release,
    previous: Option<&Release>,
    options: &BundleDeploymentOptions,
    set: &ObjectSet,
) -> Result<Seen, Error> {
    let manifest = |release: &Release| {
        postrender::objects_of(&release.manifest).map_err(|source| Error::Manifest(release.name.clone(), source))
    };
    let mut seen = Seen {
        namespace: release.namespace.clone(),
        ..Seen::default()
    };
    let mut kinds: Vec<(String, String, bool)> = Vec::new();
    for mut object in manifest(release)? {
        let mut key = ObjectKey::of(&object);
        let kind = cluster
            .kind(&key.api_version, &key.kind)
            .await
            .map_err(|source| Error::Kind(Box::new(key.clone()), source))?;
        if !kind.namespaced {
            key.namespace.clear();
        } else if key.namespace.is_empty() {
            key.namespace.clone_from(&release.namespace);
            object::set_namespace(&mut object, &release.namespace);
        }
        let entry = (key.api_version.clone(), key.kind.clone(), kind.namespaced);
        if !kinds.contains(&entry) {
            kinds.push(entry);
        }
        seen.desired.insert(key, object);
    }
    let before: BTreeSet<(String, String)> = match previous {
        Some(previous) => manifest(previous)?
            .iter()
            .map(|object| (object::kind(object).to_owned(), object::name(object).to_owned()))
            .collect(),
        None => BTreeSet::new(),
    };
    let selector = format!("{}={}", labels::OBJECT_SET_HASH, set.hash);
    for (api_version, kind, _) in &kinds {
        let mut wanted: Vec<ObjectKey> = seen
            .desired
            .keys()
            .filter(|key| (&key.api_version, &key.kind) == (api_version, kind))
            .cloned()
            .collect();
        wanted.sort_by_key(place);
        let namespaces: BTreeSet<&str> = wanted.iter().map(|key| key.namespace.as_str()).collect();
        let mut live = BTreeMap::new();
        for namespace in namespaces {
            let found = cluster
                .list(api_version, kind, namespace, &selector)
                .await
                .map_err(|source| Error::List {
                    kind: kind.clone(),
                    api_version: api_version.clone(),
                    namespace: namespace.to_owned(),
                    source,
                })?;
            live.extend(found.into_iter().map(|object| (ObjectKey::of(&object), object)));
        }
        compare(cluster, &wanted, live, options, &before, &mut seen).await;
    }
    Ok(seen)
}

/// How upstream sorts the objects of one kind: by one text, in which `-` comes before `/`.
fn place(key: &ObjectKey) -> String {
    if key.namespace.is_empty() {
        key.name.clone()
    } else {
        format!("{}/{}", key.namespace, key.name)
    }
}

async fn compare(
    cluster: &Cluster,
    wanted: &[ObjectKey],
    mut live: BTreeMap<ObjectKey, Value>,
    options: &BundleDeploymentOptions,
    before: &BTreeSet<(String, String)>,
    seen: &mut Seen,
) {
    for key in wanted {
        let Some(object) = live.remove(key) else {
            if !drift::absence_is_ignored(key, options.diff.as_ref()) {
                // Whatever stands in the way of looking counts as an object that exists.
                let exists = !matches!(cluster.get(key).await, Ok(None));
                seen.differences.push((key.clone(), Difference::Missing { exists }));
            }
            continue;
        };
        if let Some(desired) = seen.desired.get(key)
            && let Some(patch) = drift::difference(desired, &object, options.diff.as_ref())
        {
            seen.differences.push((key.clone(), Difference::Modified(patch)));
        }
        seen.live.push(object);
    }
    for (key, object) in live {
        let other_version = seen
            .desired
            .keys()
            .any(|wanted| (&wanted.kind, &wanted.namespace, &wanted.name) == (&key.kind, &key.namespace, &key.name));
        if object::label(&object, labels::OBJECT_SET_PRUNE) == Some("false") || other_version {
            continue;
        }
        // An object nobody deployed before is somebody's copy of the label.
        if before.contains(&(key.kind.clone(), key.name.clone())) {
            seen.differences.push((key, Difference::Extra));
        }
    }
}

/// Takes the Deployment and StatefulSet replicas that an autoscaler of the same release may set
/// out of the differences.
pub fn allow_autoscaling(seen: &mut Seen) {
    let scalers: Vec<&Value> = seen
        .live
        .iter()
        .filter(|object| {
            object::kind(object) == "HorizontalPodAutoscaler" && object::api_version(object).starts_with("autoscaling/")
        })
        .collect();
    let mut allowed: BTreeSet<ObjectKey> = BTreeSet::new();
    for live in &seen.live {
        let key = ObjectKey::of(live);
        if key.group_version().0 != "apps" || !matches!(key.kind.as_str(), "Deployment" | "StatefulSet") {
            continue;
        }
        let replicas = live.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
        let scaled = scalers.iter().any(|scaler| {
            let target = &scaler["spec"]["scaleTargetRef"];
            let version = target["apiVersion"].as_str().unwrap_or_default();
            let least = scaler.pointer("/spec/minReplicas").and_then(Value::as_i64).unwrap_or(1);
            let most = scaler.pointer("/spec/maxReplicas").and_then(Value::as_i64).unwrap_or(0);
            object::namespace(scaler) == key.namespace
                && target["kind"] == key.kind.as_str()
                && target["name"] == key.name.as_str()
                && (version.is_empty() || version == key.api_version)
                && (least..=most).contains(&replicas)
        });
        if scaled {
            allowed.insert(key);
        }
    }
    seen.differences.retain_mut(|(key, difference)| {
        let Difference::Modified(patch) = difference else {
            return true;
        };
        if !allowed.contains(key) {
            return true;
        }
        let Some(map) = patch.as_object_mut() else { return true };
        if let Some(spec) = map.get_mut("spec").and_then(Value::as_object_mut) {
            spec.remove("replicas");
            if spec.is_empty() {
                map.remove("spec");
            }
        }
        !map.is_empty()
    });
}

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

    #[test]
    fn autoscaled_replicas_are_no_difference() {
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "n"}, "spec": {"replicas": 3}});
        let scaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h", "namespace": "n"},
            "spec": {"maxReplicas": 4, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}});
        let difference = (
            ObjectKey::of(&deployment),
            Difference::Modified(json!({"spec": {"replicas": 1}})),
        );
        let mut seen = Seen {
            live: vec![deployment, scaler],
            differences: vec![difference],
            ..Seen::default()
        };
        allow_autoscaling(&mut seen);
        assert!(seen.differences.is_empty());
    }
}
