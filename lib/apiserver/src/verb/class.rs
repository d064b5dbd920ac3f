//! What the classes that a new object names, or that are there for those that name none, say about it.
//!
//! Mirrors upstream's admission plugins for runtime classes and default storage classes.

use serde_json::Value;

use super::Request;
use crate::cluster::Cluster;
use crate::object::{self, text};
use crate::status::Result;

/// Marks the storage class of claims that name none.
const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

/// Where the class of a claim stood before it had a field.
const OLD_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Brings a new object in line with its class.
///
/// # Errors
/// 403 for a class that is not there, and for a pod that contradicts its class.
pub(super) fn admit(cluster: &Cluster, request: &Request, object: &mut Value) -> Result<()> {
    if request.resource.is("", "pods") && object["spec"].is_object() {
        return run(cluster, request, object);
    }
    if request.resource.is("", "persistentvolumeclaims") && object["spec"].is_object() {
        return store(cluster, object);
    }
    Ok(())
}

fn run(cluster: &Cluster, request: &Request, pod: &mut Value) -> Result<()> {
    let name = text(pod, "/metadata/name").to_owned();
    let refuse = |why: &str| Err(request.forbidden(&name, why));
    let wanted = text(pod, "/spec/runtimeClassName").to_owned();
    let given = pod["spec"]["overhead"].clone();
    let class = if wanted.is_empty() {
        Value::Null
    } else {
        let classes = cluster.builtin("node.k8s.io", "v1", "runtimeclasses")?;
        match cluster.get(&classes.key("", &wanted))? {
            Some(entry) => object::decode(&classes, &entry)?,
            None => return refuse(&format!("pod rejected: RuntimeClass \"{wanted}\" not found")),
        }
    };
    let overhead = &class["overhead"]["podFixed"];
    if given.is_object() && !overhead.is_object() {
        return refuse("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
    }
    if given.is_object() && given != *overhead {
        return refuse("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    if overhead.is_object() {
        pod["spec"]["overhead"] = overhead.clone();
    }
    for (key, value) in class["scheduling"]["nodeSelector"].as_object().into_iter().flatten() {
        let now = &pod["spec"]["nodeSelector"][key];
        if !now.is_null() && now != value {
            let shown = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            return refuse(&format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                shown(value),
                shown(now)
            ));
        }
        pod["spec"]["nodeSelector"][key] = value.clone();
    }
    for toleration in class["scheduling"]["tolerations"].as_array().into_iter().flatten() {
        let list = &mut pod["spec"]["tolerations"];
        match list.as_array_mut() {
            Some(list) if list.contains(toleration) => {}
            Some(list) => list.push(toleration.clone()),
            None => *list = Value::Array(vec![toleration.clone()]),
        }
    }
    Ok(())
}

/// The newest of the classes that are marked as the default one serves claims that name none.
fn store(cluster: &Cluster, claim: &mut Value) -> Result<()> {
    if !claim["spec"]["storageClassName"].is_null() || !claim["metadata"]["annotations"][OLD_CLASS].is_null() {
        return Ok(());
    }
    let classes = cluster.builtin("storage.k8s.io", "v1", "storageclasses")?;
    let mut newest: Option<(String, String)> = None;
    for (_, entry) in cluster.all(&classes.scope())? {
        let class = object::decode(&classes, &entry)?;
        if class["metadata"]["annotations"][DEFAULT] != "true" {
            continue;
        }
        let found = (
            text(&class, "/metadata/creationTimestamp").to_owned(),
            text(&class, "/metadata/name").to_owned(),
        );
        // Of two that were made at once the first by name serves.
        let better = |newest: &(String, String)| found.0 > newest.0 || (found.0 == newest.0 && found.1 < newest.1);
        if newest.as_ref().is_none_or(better) {
            newest = Some(found);
        }
    }
    if let Some((_, name)) = newest {
        claim["spec"]["storageClassName"] = name.into();
    }
    Ok(())
}
