//! Objects made ready for the cluster: a manifest's object plus what only the cluster knows, its
//! scope, and what says whose it is. Turns objects into [`Item`]s; reads kinds, writes nothing.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use helm::release::Release;
use serde_json::Value;

use crate::cluster::{self, Cluster};
use crate::object::{self, ObjectKey};
use crate::release::{Error, Ports, Target};
use crate::{ownership, postrender};

/// Objects looked at at the same time.
pub(super) const AT_ONCE: usize = 8;

/// An object as it will be applied: marked, namespace filled in, kind known.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) key: ObjectKey,
    pub(crate) object: Value,
}

/// The objects of a new revision, marked as the release's.
pub(super) async fn wanted(ports: &Ports, target: &Target) -> Result<Vec<Item>, Error> {
    let mut items = Vec::new();
    for object in target.objects() {
        let marked = ownership::marked(object, &target.name, &target.namespace);
        items.push(item(&ports.cluster, marked, &target.namespace).await?);
    }
    Ok(items)
}

/// The objects of a stored revision, marked as the release's. Kinds that are no longer served
/// have no objects.
pub(super) async fn recorded(ports: &Ports, release: &Release) -> Result<Vec<Item>, Error> {
    let objects = postrender::objects_of(&release.manifest).map_err(|source| Error::Manifest {
        revision: release.version,
        source,
    })?;
    let mut items = Vec::new();
    for object in objects {
        let marked = ownership::marked(&object, &release.name, &release.namespace);
        match item(&ports.cluster, marked, &release.namespace).await {
            Ok(item) => items.push(item),
            Err(Error::UnknownKind(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(items)
}

/// The kind of `object` resolved, its namespace filled in or left out as the kind wants it.
pub(super) async fn item(cluster: &Cluster, mut object: Value, namespace: &str) -> Result<Item, Error> {
    let mut key = ObjectKey::of(&object);
    let kind = match cluster.kind(&key.api_version, &key.kind).await {
        Ok(kind) => kind,
        Err(cluster::Error::UnknownKind { .. }) => return Err(Error::UnknownKind(key)),
        Err(source) => return Err(Error::Kind(Box::new(key), source)),
    };
    if !kind.namespaced {
        key.namespace.clear();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("namespace");
        }
    } else if key.namespace.is_empty() {
        namespace.clone_into(&mut key.namespace);
        object::set_namespace(&mut object, namespace);
    }
    Ok(Item { key, object })
}

/// Refuses if one of the objects exists and belongs to somebody else.
pub(super) async fn refuse_foreign(ports: &Ports, target: &Target, items: &[Item]) -> Result<(), Error> {
    let mut looks = Vec::with_capacity(items.len());
    for item in items {
        looks.push(is_free(ports, target, item));
    }
    stream::iter(looks).buffered(AT_ONCE).try_collect().await
}

async fn is_free(ports: &Ports, target: &Target, item: &Item) -> Result<(), Error> {
    let failed = |source| Error::Look(Box::new(item.key.clone()), source);
    let Some(live) = ports.cluster.get(&item.key).await.map_err(failed)? else {
        return Ok(());
    };
    let objections = ownership::objections(&live, &target.name, &target.namespace);
    if objections.is_empty() {
        return Ok(());
    }
    Err(Error::Foreign {
        key: Box::new(item.key.clone()),
        objections: objections.join("; "),
    })
}
