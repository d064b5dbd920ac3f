//! Deletes objects whose owners are all gone, and ends foreground and orphaning deletions.
//!
//! Owners are matched by uid, never by name alone. Before anything is deleted the object and its owners are read
//! afresh, so a stale picture can delay but not destroy. Mirrors upstream's garbage collector controller.

use serde_json::{Value, json};

use crate::controllers::api::{Error, METADATA, optional};
use crate::controllers::feed::Change;
use crate::controllers::graph::Uid;
use crate::controllers::object::{Key, Meta, Owner, Resource};
use crate::controllers::reactor::{Context, Outcome, State, Work};

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

pub(super) fn observe(state: &mut State, change: &Change, due: &mut Vec<Work>) {
    match change {
        Change::Present(resource, object) => {
            let meta = Meta(object);
            let key = key(resource, meta);
            if let Some(waiting) = state.graph.set(key.clone(), &meta.owners()) {
                due.push(Work::Check(key.clone()));
                due.extend(waiting.into_iter().map(Work::Foreground));
            }
            if meta.deleting() {
                let finalizers = meta.finalizers();
                if finalizers.contains(&FOREGROUND) {
                    state.graph.wait(Uid::of(meta.uid()), key.clone());
                    due.push(Work::Foreground(key));
                } else if finalizers.contains(&ORPHAN) {
                    due.push(Work::Orphan(key));
                }
            }
        }
        Change::Gone(resource, object) => {
            let meta = Meta(object);
            let waiting = state.graph.remove(&key(resource, meta));
            due.extend(waiting.into_iter().map(Work::Foreground));
            let uid = Uid::of(meta.uid());
            state.graph.stop_waiting(uid);
            due.extend(state.graph.dependents(uid).into_iter().map(Work::Check));
        }
        // Owners or dependents may have gone unseen, unless nothing was seen before.
        Change::Listed(resource) => {
            if !state.listed.insert(std::sync::Arc::clone(resource)) {
                due.extend(state.graph.all().cloned().map(Work::Check));
            }
        }
    }
}

/// What became of an owner.
enum Standing {
    Alive,
    /// Waits for this dependent to go.
    Leaving,
    Absent,
}

pub(super) async fn check(context: &Context, key: &Key) -> Result<Outcome, Error> {
    let Some(object) = read(context, key).await? else {
        context.state().graph.remove(key);
        return Ok(Outcome::Done);
    };
    let meta = Meta(&object);
    let owners = meta.owners();
    if owners.is_empty() || meta.deleting() && !meta.finalizers().contains(&FOREGROUND) {
        return Ok(Outcome::Done);
    }
    let (mut alive, mut leaving) = (Vec::new(), false);
    for owner in &owners {
        match standing(context, key, owner).await? {
            Standing::Alive => alive.push(owner),
            Standing::Leaving => leaving = true,
            Standing::Absent => {}
        }
    }
    if alive.len() == owners.len() || meta.deleting() {
        return Ok(Outcome::Done);
    }
    if !alive.is_empty() {
        let kept = references(&object, |uid| alive.iter().any(|owner| owner.uid == uid));
        return patch(context, key, meta, json!({"ownerReferences": kept})).await;
    }
    let waits = leaving && !context.state().graph.dependents(Uid::of(meta.uid())).is_empty();
    let policy = match meta.finalizers() {
        finalizers if finalizers.contains(&ORPHAN) => "Orphan",
        finalizers if finalizers.contains(&FOREGROUND) || waits => "Foreground",
        _ => "Background",
    };
    let options = json!({
        "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy,
        "preconditions": {"uid": meta.uid(), "resourceVersion": meta.resource_version()},
    });
    optional(context.api.delete(&key.path(), &options).await)?;
    Ok(Outcome::Done)
}

/// Lets an object go that is deleted in the foreground once no dependent holds it up; else sends its dependents ahead.
pub(super) async fn foreground(context: &Context, key: &Key) -> Result<Outcome, Error> {
    let Some(object) = read(context, key).await? else {
        return Ok(Outcome::Done);
    };
    let meta = Meta(&object);
    if !meta.deleting() || !meta.finalizers().contains(&FOREGROUND) {
        return Ok(Outcome::Done);
    }
    let uid = Uid::of(meta.uid());
    let (blocking, dependents) = {
        let state = context.state();
        (state.graph.blocking(uid), state.graph.dependents(uid))
    };
    for dependent in dependents {
        context.queue.add(Work::Check(dependent));
    }
    if blocking.is_empty() {
        return let_go(context, key, meta, FOREGROUND).await;
    }
    Ok(Outcome::Done)
}

pub(super) async fn orphan(context: &Context, key: &Key) -> Result<Outcome, Error> {
    let Some(object) = read(context, key).await? else {
        return Ok(Outcome::Done);
    };
    let meta = Meta(&object);
    if !meta.deleting() || !meta.finalizers().contains(&ORPHAN) {
        return Ok(Outcome::Done);
    }
    let dependents = context.state().graph.dependents(Uid::of(meta.uid()));
    for dependent in dependents {
        let Some(object) = read(context, &dependent).await? else {
            continue;
        };
        let kept = references(&object, |uid| uid != meta.uid());
        if kept.len() != Meta(&object).owners().len() {
            patch(context, &dependent, Meta(&object), json!({"ownerReferences": kept})).await?;
        }
    }
    let_go(context, key, meta, ORPHAN).await
}

async fn read(context: &Context, key: &Key) -> Result<Option<Value>, Error> {
    optional(context.api.get(&key.path(), METADATA).await)
}

async fn let_go(context: &Context, key: &Key, meta: Meta<'_>, finalizer: &str) -> Result<Outcome, Error> {
    let left: Vec<&str> = meta
        .finalizers()
        .into_iter()
        .filter(|other| *other != finalizer)
        .collect();
    patch(context, key, meta, json!({"finalizers": left})).await
}

/// Changes metadata unless somebody else did in between.
async fn patch(context: &Context, key: &Key, meta: Meta<'_>, mut metadata: Value) -> Result<Outcome, Error> {
    metadata["uid"] = meta.uid().into();
    metadata["resourceVersion"] = meta.resource_version().into();
    optional(context.api.merge(&key.path(), &json!({"metadata": metadata})).await)?;
    Ok(Outcome::Done)
}

async fn standing(context: &Context, dependent: &Key, owner: &Owner) -> Result<Standing, Error> {
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    let resource = context
        .state()
        .resources
        .get(&(group.to_owned(), owner.kind.clone()))
        .cloned();
    // A kind that is not served (any more, or yet) says nothing about its objects.
    let Some(resource) = resource else {
        return Ok(Standing::Alive);
    };
    let namespace = if resource.namespaced {
        dependent.namespace.clone()
    } else {
        "".into()
    };
    if resource.namespaced && namespace.is_empty() {
        // A cluster-wide object cannot be owned from inside a namespace; upstream leaves it alone, too.
        return Ok(Standing::Alive);
    }
    let path = Key {
        resource,
        namespace,
        name: owner.name.as_str().into(),
    };
    let Some(object) = read(context, &path).await? else {
        return Ok(Standing::Absent);
    };
    let meta = Meta(&object);
    if meta.uid() != owner.uid {
        return Ok(Standing::Absent);
    }
    if meta.deleting() && meta.finalizers().contains(&FOREGROUND) {
        return Ok(Standing::Leaving);
    }
    Ok(Standing::Alive)
}

/// The references whose uid passes, as they are.
fn references(object: &Value, keep: impl Fn(&str) -> bool) -> Vec<Value> {
    let list = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array)
        .map(Vec::as_slice);
    let uid = |reference: &Value| {
        reference
            .get("uid")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    list.unwrap_or_default()
        .iter()
        .filter(|reference| keep(&uid(reference)))
        .cloned()
        .collect()
}

fn key(resource: &std::sync::Arc<Resource>, meta: Meta<'_>) -> Key {
    Key {
        resource: std::sync::Arc::clone(resource),
        namespace: meta.namespace().into(),
        name: meta.name().into(),
    }
}
