//! Looking at a release again: its objects as they are, compared with its manifest. [`observe`]
//! reads; [`derive`] makes the status out of what was read, and is pure. Mirrors upstream's
//! desired set and its monitor.

mod autoscale;
mod derive;

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::{BundleDeploymentOptions, labels};
use helm::release::Release;
use serde_json::Value;

pub use self::autoscale::allow_autoscaling;
pub use self::derive::derive;

use crate::cluster::{self, Cluster};
use crate::drift;
use crate::object::{self, ObjectKey};
use crate::postrender::{self, ObjectSet};

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
