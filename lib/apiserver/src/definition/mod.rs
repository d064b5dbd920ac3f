//! CustomResourceDefinitions as far as the server itself must act on them: names accepted, served at once, instances
//! removed before them.
//!
//! Mirrors upstream's naming, establishing and finalizing controllers of the apiextensions server. Accepting and
//! establishing happen inside the write, so that a definition is usable when its write is answered.

mod condition;
mod names;

use std::sync::Arc;

use serde_json::{Value, json};

use self::condition::Verdict;
use crate::cluster::{Cluster, failure};
use crate::crd;
use crate::object::{self, text};
use crate::registry::Resource;
use crate::status::{Result, Status};
use crate::store::{Entry, Expect, Scan};
use crate::verb::{self, Request};

/// Holds a definition until its instances are gone.
const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Serves every definition in the store and goes on deleting those that were being deleted.
pub(crate) fn serve_all(cluster: &Arc<Cluster>) -> Result<()> {
    let resource = cluster.builtin("apiextensions.k8s.io", "v1", "customresourcedefinitions")?;
    let scope = resource.scope();
    let entries = cluster.all(&scope)?;
    for (_, entry) in entries {
        let definition = object::decode(&resource, &entry)?;
        serve(cluster, &definition, entry.created);
        marked(cluster, &resource, &definition, &entry);
    }
    Ok(())
}

/// Before a new definition is stored: the state it starts in.
pub(crate) fn prepare(resource: &Resource, object: &mut Value) {
    if is_definition(resource) {
        object["status"] =
            json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": []});
        adjust(resource, object);
    }
}

/// Before an update is stored: every version that objects were ever stored in stays known.
pub(crate) fn adjust(resource: &Resource, object: &mut Value) {
    if !is_definition(resource) {
        return;
    }
    let versions = object["spec"]["versions"].as_array().into_iter().flatten();
    let storing: Vec<Value> = versions
        .filter(|version| version["storage"] == true)
        .map(|version| version["name"].clone())
        .collect();
    if !object["status"].is_object() {
        object["status"] = json!({});
    }
    let stored = &mut object["status"]["storedVersions"];
    if !stored.is_array() {
        *stored = json!([]);
    }
    if let Some(stored) = stored.as_array_mut() {
        for version in storing {
            if !stored.contains(&version) {
                stored.push(version);
            }
        }
    }
}

/// After a write: a definition's names are accepted, or not, and it is served.
pub(crate) async fn written(
    cluster: &Arc<Cluster>,
    resource: &Arc<Resource>,
    object: &Value,
    entry: &Entry,
) -> Result<()> {
    if !is_definition(resource) {
        return Ok(());
    }
    // One at a time: two definitions must not be given the same name.
    let _turn = cluster.naming.lock().await;
    settle(cluster, resource, object.clone(), entry.clone()).await?;
    retry(cluster, resource, object).await
}

/// Brings a definition's status up to date and serves what is accepted.
async fn settle(cluster: &Arc<Cluster>, resource: &Arc<Resource>, mut object: Value, mut entry: Entry) -> Result<()> {
    let key = resource.key("", text(&object, "/metadata/name"));
    loop {
        let before = object.clone();
        establish(cluster, resource, &mut object)?;
        if object == before {
            break;
        }
        match cluster
            .put(resource, &key, Expect::Revision(entry.modified), &object)
            .await?
        {
            Ok(written) => {
                entry = written;
                break;
            }
            Err(None) => return Ok(()),
            Err(Some(now)) => {
                object = object::decode(resource, &now)?;
                entry = now;
            }
        }
    }
    serve(cluster, &object, entry.modified);
    Ok(())
}

/// Looks again at the definitions of a group that wait for names another one held.
async fn retry(cluster: &Arc<Cluster>, resource: &Arc<Resource>, changed: &Value) -> Result<()> {
    for (entry, other) in group(cluster, resource, changed)? {
        if !crd::condition(&other, "NamesAccepted") {
            settle(cluster, resource, Value::clone(&other), entry).await?;
        }
    }
    Ok(())
}

/// The other definitions of a definition's group.
fn group(cluster: &Cluster, resource: &Resource, object: &Value) -> Result<Vec<(Entry, Arc<Value>)>> {
    let (scope, group) = (resource.scope(), text(object, "/spec/group"));
    let entries = cluster.all(&scope)?;
    let registry = cluster.registry();
    let mut found = Vec::new();
    for (key, entry) in entries {
        let name = key.strip_prefix(scope.as_str()).unwrap_or(&key);
        let Some((plural, other)) = name.split_once('.') else {
            continue;
        };
        if other != group || name == text(object, "/metadata/name") {
            continue;
        }
        // What is served was read before.
        let definition = match registry.definition(group, plural) {
            Some(definition) => definition,
            None => Arc::new(object::decode(resource, &entry)?),
        };
        found.push((entry, definition));
    }
    Ok(found)
}

/// When a deletion begins: a definition waits for its instances.
pub(crate) fn mark(cluster: &Cluster, resource: &Resource, object: &mut Value) {
    if !is_definition(resource) || crd::condition(object, "Terminating") {
        return;
    }
    let finalizers = &mut object["metadata"]["finalizers"];
    match finalizers.as_array_mut() {
        Some(list) => list.push(FINALIZER.into()),
        None => *finalizers = json!([FINALIZER]),
    }
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    Verdict::holds("Terminating", "InstanceDeletionPending", message).write(object, &cluster.timestamp());
}

/// After a deletion has begun: the instances are deleted, then the definition may go.
pub(crate) fn marked(cluster: &Arc<Cluster>, resource: &Arc<Resource>, object: &Value, entry: &Entry) {
    let held = object["metadata"]["finalizers"]
        .as_array()
        .is_some_and(|list| list.iter().any(|name| name == FINALIZER));
    if !is_definition(resource) || !held || text(object, "/metadata/deletionTimestamp").is_empty() {
        return;
    }
    serve(cluster, object, entry.modified);
    let (cluster, resource, object) = (Arc::clone(cluster), Arc::clone(resource), object.clone());
    cluster.clone().tasks.spawn(async move {
        if let Err(status) = remove_instances(&cluster, &resource, &object).await {
            tracing::warn!(%status, definition = text(&object, "/metadata/name"), "cannot delete all instances");
        }
    });
}

/// After something was removed: a definition is served no more, and the last instance lets its definition go.
pub(crate) async fn removed(cluster: &Arc<Cluster>, resource: &Resource, object: &Value, revision: u64) -> Result<()> {
    if is_definition(resource) {
        let (group, plural) = (text(object, "/spec/group"), text(object, "/spec/names/plural"));
        cluster.serve_definition(group, plural, None, revision);
        cluster.store.history().end(&format!("/{group}/{plural}/"));
        let definitions = cluster.builtin("apiextensions.k8s.io", "v1", "customresourcedefinitions")?;
        let _turn = cluster.naming.lock().await;
        retry(cluster, &definitions, object).await?;
    } else if let Some(custom) = &resource.custom
        && !text(&custom.definition, "/metadata/deletionTimestamp").is_empty()
    {
        let definitions = cluster.builtin("apiextensions.k8s.io", "v1", "customresourcedefinitions")?;
        release(cluster, &definitions, &custom.definition).await?;
    }
    Ok(())
}

/// Refuses new instances of a definition that is being deleted.
pub(crate) fn check_accepting(request: &Request, name: &str) -> Result<()> {
    let Some(custom) = &request.resource.custom else {
        return Ok(());
    };
    if text(&custom.definition, "/metadata/deletionTimestamp").is_empty() {
        return Ok(());
    }
    let why = "create not allowed while custom resource definition is terminating";
    let Resource { group, plural, .. } = &*request.resource;
    Err(Box::new(Status::forbidden(group, plural, name, why)))
}

/// Whether the resource is the definitions' own.
pub(crate) fn is_definition(resource: &Resource) -> bool {
    resource.is("apiextensions.k8s.io", "customresourcedefinitions")
}

async fn remove_instances(cluster: &Arc<Cluster>, resource: &Arc<Resource>, definition: &Value) -> Result<()> {
    let in_progress = |object: &mut Value| {
        let message = "CustomResource deletion is in progress";
        Verdict::holds("Terminating", "InstanceDeletionInProgress", message).write(object, &cluster.timestamp());
    };
    change(cluster, resource, definition, in_progress).await?;
    let scope = instances(definition);
    let entries = cluster.all(&scope)?;
    let registry = cluster.registry();
    let (group, plural) = (text(definition, "/spec/group"), text(definition, "/spec/names/plural"));
    let served = registry
        .resources()
        .find(|resource| resource.group == group && resource.plural == plural);
    for (key, entry) in entries {
        let metadata = object::metadata(&entry);
        match served {
            Some(instances) => verb::remove(cluster, instances, &metadata.namespace, &metadata.name).await?,
            None => {
                // No version is served, so nobody could take finalizers away either.
                let _ = cluster.remove(&key, entry.modified).await?;
            }
        }
    }
    release(cluster, resource, definition).await
}

/// Lets a definition go whose instances are gone.
async fn release(cluster: &Arc<Cluster>, resource: &Arc<Resource>, definition: &Value) -> Result<()> {
    let scope = instances(definition);
    let left = cluster
        .scan(&Scan {
            scope: &scope,
            limit: 1,
            ..Scan::default()
        })
        .map_err(|error| failure(&error))?;
    if !left.entries.is_empty() {
        return Ok(());
    }
    let let_go = |object: &mut Value| {
        if let Some(list) = object["metadata"]["finalizers"].as_array_mut() {
            list.retain(|name| name != FINALIZER);
        }
    };
    change(cluster, resource, definition, let_go).await
}

/// Writes a definition's state; removes it when nothing holds it any more.
async fn change(
    cluster: &Arc<Cluster>,
    resource: &Arc<Resource>,
    definition: &Value,
    change: impl Fn(&mut Value),
) -> Result<()> {
    let key = resource.key("", text(definition, "/metadata/name"));
    while let Some(entry) = cluster.get(&key)? {
        let mut object = object::decode(resource, &entry)?;
        if object["metadata"]["uid"] != definition["metadata"]["uid"] {
            return Ok(());
        }
        change(&mut object);
        if object["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty) {
            if let Ok(revision) = cluster.remove(&key, entry.modified).await? {
                return Box::pin(removed(cluster, resource, &object, revision)).await;
            }
        } else if let Ok(entry) = cluster
            .put(resource, &key, Expect::Revision(entry.modified), &object)
            .await?
        {
            serve(cluster, &object, entry.modified);
            return Ok(());
        }
    }
    Ok(())
}

fn instances(definition: &Value) -> String {
    format!(
        "/{}/{}/",
        text(definition, "/spec/group"),
        text(definition, "/spec/names/plural")
    )
}

fn serve(cluster: &Cluster, object: &Value, revision: u64) {
    let (group, plural) = (text(object, "/spec/group"), text(object, "/spec/names/plural"));
    cluster.serve_definition(group, plural, Some(object), revision);
}

/// Accepts the names that are free, and establishes the definition once all were.
fn establish(cluster: &Cluster, resource: &Resource, object: &mut Value) -> Result<()> {
    let others = group(cluster, resource, object)?;
    let held = others.iter().map(|(_, other)| &other["status"]["acceptedNames"]);
    let (accepted, conflict) = names::accept(object, held);
    let mut verdicts = Vec::new();
    match conflict {
        None => {
            let message = "the initial names have been accepted";
            verdicts.push(Verdict::holds("NamesAccepted", "NoConflicts", "no conflicts found"));
            verdicts.push(Verdict::holds("Established", "InitialNamesAccepted", message));
        }
        Some(conflict) => {
            verdicts.push(Verdict::fails("NamesAccepted", conflict.reason, conflict.message));
            if !crd::condition(object, "Established") {
                let message = "not all names are accepted";
                verdicts.push(Verdict::fails("Established", "NotAccepted", message));
            }
        }
    }
    verdicts.extend(crd::approval::of(object).as_ref().map(Verdict::of));
    object["status"]["acceptedNames"] = accepted;
    let now = cluster.timestamp();
    for verdict in verdicts {
        verdict.write(object, &now);
    }
    Ok(())
}
