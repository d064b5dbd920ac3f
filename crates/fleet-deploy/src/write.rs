//! Writing one object of a release, in one of three ways: server-side apply (the rule), a
//! client-side three-way patch (releases that began that way), or replacement (`force`).
//! Fields that somebody else changed are taken back: what the bundle sets, the bundle owns.

use serde_json::Value;

use crate::cluster::{self, Cluster, PatchKind};
use crate::object::{self, ObjectKey};
use crate::patch;

/// Why an object could not be written. The object is named in every text.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Server-side apply of an object that was there.
    #[error("server-side apply failed for object {}/{} {}", .0.namespace, .0.name, .0.gvk())]
    Apply(Box<ObjectKey>, #[source] cluster::Error),
    /// A new object.
    #[error("failed to create resource: server-side apply failed for object {}/{} {}", .0.namespace, .0.name, .0.gvk())]
    ApplyNew(Box<ObjectKey>, #[source] cluster::Error),
    /// A new object, client-side.
    #[error("failed to create resource")]
    Create(#[source] cluster::Error),
    /// A client-side patch.
    #[error("cannot patch \"{}\" with kind {}", .0.name, .0.kind)]
    Patch(Box<ObjectKey>, #[source] cluster::Error),
    /// A patch that cannot be made.
    #[error("cannot patch \"{}\" with kind {}: {}", .0.name, .0.kind, .1)]
    MakePatch(Box<ObjectKey>, String),
    /// A replacement.
    #[error("failed to replace object")]
    Replace(Box<ObjectKey>, #[source] cluster::Error),
    /// The live object could not be read.
    #[error("could not get information about the resource {} \"{}\" in namespace \"{}\"", .0.kind, .0.name, .0.namespace)]
    Look(Box<ObjectKey>, #[source] cluster::Error),
}

/// How objects of this release are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Server-side apply.
    ServerSide,
    /// Three-way patch.
    ClientSide,
    /// Replacement of the whole object.
    Replace,
}

impl Method {
    /// The word in release records.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::ServerSide => "ssa",
            Self::ClientSide | Self::Replace => "csa",
        }
    }
}

/// Writes `desired`. `previous` is the same object of the revision that is built upon.
/// `installing` leaves the prefix off that upgrades put before failures of new objects.
pub(crate) async fn write(
    cluster: &Cluster,
    method: Method,
    desired: &Value,
    previous: Option<&Value>,
    installing: bool,
) -> Result<Value, Error> {
    let key = Box::new(ObjectKey::of(desired));
    if method == Method::ServerSide {
        return match cluster.apply(desired).await {
            Ok(live) => Ok(live),
            Err(error) if installing => Err(Error::Apply(key, error)),
            Err(error) => match cluster.get(&key).await {
                Ok(Some(_)) => Err(Error::Apply(key, error)),
                _ => Err(Error::ApplyNew(key, error)),
            },
        };
    }
    let live = cluster
        .get(&key)
        .await
        .map_err(|error| Error::Look(key.clone(), error))?;
    let Some(live) = live else {
        return cluster.create(desired).await.map_err(Error::Create);
    };
    if method == Method::Replace {
        let mut whole = desired.clone();
        whole["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
        return cluster
            .replace(&whole)
            .await
            .map_err(|error| Error::Replace(key, error));
    }
    let known = patch::is_built_in(&key);
    let original = previous.cloned().unwrap_or(Value::Null);
    let change =
        patch::three_way(&key, &original, desired, &live).map_err(|message| Error::MakePatch(key.clone(), message))?;
    if change.as_object().is_none_or(serde_json::Map::is_empty) {
        return Ok(live);
    }
    let how = if known { PatchKind::Strategic } else { PatchKind::Merge };
    cluster
        .patch(&key, how, &change)
        .await
        .map_err(|error| Error::Patch(key, error))
}

/// Whether the live object asks to be kept.
pub(crate) fn is_kept(live: &Value) -> bool {
    object::annotation(live, "helm.sh/resource-policy").is_some_and(|policy| policy.trim() == "keep")
}
