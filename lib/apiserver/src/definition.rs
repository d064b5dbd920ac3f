//! CustomResourceDefinitions as far as the server itself must act on them: names accepted, served at once, instances
//! removed with them.
//!
//! Mirrors upstream's naming, establishing and finalizing controllers of the apiextensions server, done inside the
//! write so that a definition is usable when its write is answered.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::object::{self, text};
use crate::registry::Resource;
use crate::status::Result;
use crate::store::{Entry, Expect, Scan};

/// Serves every definition in the store.
pub(crate) fn serve_all(cluster: &Cluster) -> Result<()> {
    let resource = cluster.builtin("apiextensions.k8s.io", "v1", "customresourcedefinitions")?;
    let scope = resource.scope();
    let page = cluster
        .scan(&Scan {
            scope: &scope,
            ..Scan::default()
        })
        .map_err(|error| crate::cluster::failure(&error))?;
    for (_, entry) in page.entries {
        serve(cluster, &object::decode(&resource, &entry)?, entry.created);
    }
    Ok(())
}

/// Before a new definition is stored: the state it starts in.
pub(crate) fn prepare(_cluster: &Cluster, resource: &Resource, object: &mut Value) {
    if !is_definition(resource) {
        return;
    }
    let versions = object["spec"]["versions"].as_array().into_iter().flatten();
    let stored: Vec<Value> = versions
        .filter(|version| version["storage"] == true)
        .map(|version| version["name"].clone())
        .collect();
    let names = &mut object["spec"]["names"];
    if text(names, "/singular").is_empty() {
        names["singular"] = text(names, "/kind").to_lowercase().into();
    }
    if text(names, "/listKind").is_empty() {
        names["listKind"] = format!("{}List", text(names, "/kind")).into();
    }
    object["status"] = json!({"conditions": [], "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored});
}

/// After a write: a definition's names are accepted and it is served.
pub(crate) async fn written(cluster: &Cluster, resource: &Arc<Resource>, object: &Value, entry: &Entry) -> Result<()> {
    if !is_definition(resource) {
        return Ok(());
    }
    let mut object = object.clone();
    let mut entry = entry.clone();
    let key = resource.key("", text(&object, "/metadata/name"));
    loop {
        let before = object.clone();
        establish(cluster, &mut object);
        if object == before {
            break;
        }
        match cluster.put(&key, Expect::Revision(entry.modified), &object).await? {
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

/// After a definition was removed: it is served no more.
pub(crate) fn removed(cluster: &Cluster, resource: &Resource, object: &Value, revision: u64) {
    if is_definition(resource) {
        let (group, plural) = (text(object, "/spec/group"), text(object, "/spec/names/plural"));
        cluster.serve_definition(group, plural, None, revision);
        cluster.store.history().end(&format!("/{group}/{plural}/"));
    }
}

/// Removes every instance of a definition that is being deleted.
pub(crate) async fn remove_instances(cluster: &Cluster, object: &Value) -> Result<()> {
    let scope = format!(
        "/{}/{}/",
        text(object, "/spec/group"),
        text(object, "/spec/names/plural")
    );
    let page = cluster
        .scan(&Scan {
            scope: &scope,
            ..Scan::default()
        })
        .map_err(|error| crate::cluster::failure(&error))?;
    for (key, entry) in page.entries {
        let mut modified = entry.modified;
        while let Err(Some(now)) = cluster.remove(&key, modified).await? {
            modified = now.modified;
        }
    }
    Ok(())
}

/// Whether the resource is the definitions' own.
pub(crate) fn is_definition(resource: &Resource) -> bool {
    resource.is("apiextensions.k8s.io", "customresourcedefinitions")
}

fn serve(cluster: &Cluster, object: &Value, revision: u64) {
    let (group, plural) = (text(object, "/spec/group"), text(object, "/spec/names/plural"));
    cluster.serve_definition(group, plural, Some(object), revision);
}

/// Accepts the names and establishes the definition, where that is still to do.
fn establish(cluster: &Cluster, object: &mut Value) {
    let names = object["spec"]["names"].clone();
    let now = cluster.timestamp();
    object["status"]["acceptedNames"] = names;
    set_condition(object, &now, "NamesAccepted", "NoConflicts", "no conflicts found");
    set_condition(
        object,
        &now,
        "Established",
        "InitialNamesAccepted",
        "the initial names have been accepted",
    );
}

fn set_condition(object: &mut Value, now: &str, kind: &str, reason: &str, message: &str) {
    let conditions = &mut object["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(list) = conditions.as_array_mut() else { return };
    if list
        .iter()
        .any(|condition| condition["type"] == kind && condition["status"] == "True")
    {
        return;
    }
    list.retain(|condition| condition["type"] != kind);
    list.push(json!({
        "type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now,
    }));
}
