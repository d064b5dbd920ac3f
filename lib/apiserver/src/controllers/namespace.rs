//! Empties namespaces that are being deleted, says in their conditions what remains, and lets them go.
//!
//! Mirrors upstream's namespace controller and the texts of its conditions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::controllers::api::{Error, METADATA_LIST, OBJECT, optional};
use crate::controllers::feed::Change;
use crate::controllers::object::{Meta, Resource};
use crate::controllers::reactor::{Context, Outcome, State, Work};

/// The finalizer in `spec` that this controller takes away.
const FINALIZER: &str = "kubernetes";

/// What remains is looked at again even if no change of it is seen.
const REVISIT: Duration = Duration::from_secs(15);

pub(super) fn observe(state: &mut State, change: &Change, due: &mut Vec<Work>) {
    match change {
        Change::Present(resource, object) if resource.is_core("namespaces") && Meta(object).deleting() => {
            state.terminating.insert(Meta(object).name().into());
            due.push(Work::Empty(Meta(object).name().into()));
        }
        Change::Gone(resource, object) if resource.is_core("namespaces") => {
            state.terminating.remove(Meta(object).name());
        }
        _ => {}
    }
}

#[derive(Default)]
struct Remains {
    /// Objects per resource.
    objects: BTreeMap<String, usize>,
    /// Objects per finalizer.
    finalizers: BTreeMap<String, usize>,
    failures: Vec<String>,
}

pub(super) async fn empty(context: &Context, name: &str) -> Result<Outcome, Error> {
    let path = format!("/api/v1/namespaces/{name}");
    let Some(namespace) = optional(context.api.get(&path, OBJECT).await)? else {
        context.state().terminating.remove(name);
        return Ok(Outcome::Done);
    };
    if !Meta(&namespace).deleting() || !finalizers(&namespace).contains(&FINALIZER) {
        return Ok(Outcome::Done);
    }
    let resources: Vec<Arc<Resource>> = context
        .state()
        .resources
        .values()
        .filter(|resource| resource.namespaced)
        .cloned()
        .collect();
    let mut remains = Remains::default();
    for resource in &resources {
        sweep(context, resource, name, &mut remains).await?;
    }
    if remains.objects.is_empty() && remains.failures.is_empty() {
        return finalize(context, &path, namespace).await;
    }
    let conditions = conditions(
        &namespace,
        &remains,
        &context.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    );
    if namespace.pointer("/status/conditions") != Some(&conditions) {
        let patch = json!({
            "metadata": {"uid": Meta(&namespace).uid(), "resourceVersion": Meta(&namespace).resource_version()},
            "status": {"conditions": conditions},
        });
        optional(context.api.merge(&format!("{path}/status"), &patch).await)?;
    }
    Ok(Outcome::Again(REVISIT))
}

/// Deletes the objects of one resource and notes what is left.
async fn sweep(context: &Context, resource: &Resource, name: &str, remains: &mut Remains) -> Result<(), Error> {
    let path = resource.path(name);
    let read = || async {
        let list = optional(context.api.get(&path, METADATA_LIST).await)?.unwrap_or_default();
        Ok::<_, Error>(list.get("items").and_then(Value::as_array).cloned().unwrap_or_default())
    };
    let items = read().await?;
    if items.is_empty() {
        return Ok(());
    }
    if items.iter().any(|item| !Meta(item).deleting()) {
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
        if let Err(error) = optional(context.api.delete(&path, &options).await) {
            remains.failures.push(format!("{}: {error}", resource.dotted()));
        }
    }
    let left = read().await?;
    if !left.is_empty() {
        remains.objects.insert(resource.dotted(), left.len());
    }
    for item in &left {
        for finalizer in Meta(item).finalizers() {
            *remains.finalizers.entry(finalizer.to_owned()).or_default() += 1;
        }
    }
    Ok(())
}

async fn finalize(context: &Context, path: &str, mut namespace: Value) -> Result<Outcome, Error> {
    let left: Vec<Value> = finalizers(&namespace)
        .into_iter()
        .filter(|other| *other != FINALIZER)
        .map(Value::from)
        .collect();
    namespace["spec"]["finalizers"] = left.into();
    optional(context.api.replace(&format!("{path}/finalize"), &namespace).await)?;
    Ok(Outcome::Done)
}

fn finalizers(namespace: &Value) -> Vec<&str> {
    let list = namespace
        .pointer("/spec/finalizers")
        .and_then(Value::as_array)
        .map(Vec::as_slice);
    list.unwrap_or_default().iter().filter_map(Value::as_str).collect()
}

/// The conditions that tell what remains; times of those that did not change stay.
fn conditions(namespace: &Value, remains: &Remains, now: &str) -> Value {
    let counted = |counts: &BTreeMap<String, usize>, word: &str| {
        let parts: Vec<String> = counts
            .iter()
            .map(|(what, count)| format!("{what} {word} {count} resource instances"))
            .collect();
        parts.join(", ")
    };
    let mut list = vec![
        (
            "NamespaceDeletionDiscoveryFailure",
            false,
            "ResourcesDiscovered",
            "All resources successfully discovered".to_owned(),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            false,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed".to_owned(),
        ),
    ];
    list.push(if remains.failures.is_empty() {
        let text = "All content successfully deleted, may be waiting on finalization";
        (
            "NamespaceDeletionContentFailure",
            false,
            "ContentDeleted",
            text.to_owned(),
        )
    } else {
        let text = format!(
            "Failed to delete all resource types, {} remaining: {}",
            remains.failures.len(),
            remains.failures.join(", ")
        );
        ("NamespaceDeletionContentFailure", true, "ContentDeletionFailed", text)
    });
    list.push(if remains.objects.is_empty() {
        (
            "NamespaceContentRemaining",
            false,
            "ContentRemoved",
            "All content successfully removed".to_owned(),
        )
    } else {
        let text = format!("Some resources are remaining: {}", counted(&remains.objects, "has"));
        ("NamespaceContentRemaining", true, "SomeResourcesRemain", text)
    });
    list.push(if remains.finalizers.is_empty() {
        let text = "All content-preserving finalizers finished";
        (
            "NamespaceFinalizersRemaining",
            false,
            "ContentHasNoFinalizers",
            text.to_owned(),
        )
    } else {
        let text = format!(
            "Some content in the namespace has finalizers remaining: {}",
            counted(&remains.finalizers, "in")
        );
        ("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain", text)
    });
    list.into_iter()
        .map(|(kind, holds, reason, message)| condition(namespace, kind, holds, reason, &message, now))
        .collect()
}

fn condition(namespace: &Value, kind: &str, holds: bool, reason: &str, message: &str, now: &str) -> Value {
    let status = if holds { "True" } else { "False" };
    let known = namespace
        .pointer("/status/conditions")
        .and_then(Value::as_array)
        .map(Vec::as_slice);
    let known = known
        .unwrap_or_default()
        .iter()
        .find(|known| known["type"] == kind && known["status"] == status);
    let time = known
        .and_then(|known| known["lastTransitionTime"].as_str())
        .unwrap_or(now);
    json!({"type": kind, "status": status, "lastTransitionTime": time, "reason": reason, "message": message})
}
