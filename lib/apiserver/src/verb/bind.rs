//! Binding: a pod gets its node, once.
//!
//! Mirrors upstream's `pods/binding`, by which schedulers say where a pod runs. Never asks whether the node exists.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Answer, Content, Request, intake, options};
use crate::cluster::Cluster;
use crate::object;
use crate::status::{Result, Status};
use crate::store::Expect;

/// Assigns the pod of the request to the node its body names.
///
/// # Errors
/// 400 for another name than the URL's, 404 without the pod, 409 for one that has a node or is being deleted, 500 for a body that names no node.
pub(crate) async fn bind(cluster: &Arc<Cluster>, request: &Request) -> Result<Answer> {
    let dry_run = options::read(request, "CreateOptions")?;
    let binding = intake::parse(request)?;
    if binding["metadata"]["name"] != request.name.as_str() {
        let why = "name in URL does not match name in Binding object";
        return Err(Box::new(Status::bad_request(why)));
    }
    let node = node(&binding)?;
    let key = request.key();
    loop {
        let Some(entry) = cluster.get(&key)? else {
            return Err(request.not_found());
        };
        let mut pod = object::decode(&request.resource, &entry)?;
        check_free(request, &pod)?;
        assign(&mut pod, &binding, node, &cluster.timestamp());
        let done = dry_run
            || cluster
                .put(&request.resource, &key, Expect::Revision(entry.modified), &pod)
                .await?
                .is_ok();
        if done {
            let status =
                json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
            return Ok(Answer::new(201, Content::Value(status)));
        }
    }
}

fn node(binding: &Value) -> Result<&str> {
    let target = &binding["target"];
    let mut wrong = Vec::new();
    let kind = target["kind"].as_str().unwrap_or_default();
    if !matches!(kind, "" | "Node") {
        wrong.push(format!(
            "target.kind: Unsupported value: {kind:?}: supported values: \"Node\", \"<empty>\""
        ));
    }
    let name = target["name"].as_str().unwrap_or_default();
    if name.is_empty() {
        wrong.push("target.name: Required value".to_owned());
    }
    match wrong.as_slice() {
        [] => Ok(name),
        [one] => Err(Box::new(Status::new(500, "", one.as_str()))),
        several => Err(Box::new(Status::new(500, "", format!("[{}]", several.join(", "))))),
    }
}

fn check_free(request: &Request, pod: &Value) -> Result<()> {
    let name = &request.name;
    let why = if pod["metadata"]["deletionTimestamp"].is_string() {
        format!("pod {name} is being deleted, cannot be assigned to a host")
    } else if let Some(node) = pod["spec"]["nodeName"].as_str().filter(|node| !node.is_empty()) {
        format!("pod {name} is already assigned to node {node:?}")
    } else if pod["spec"]["schedulingGates"]
        .as_array()
        .is_some_and(|gates| !gates.is_empty())
    {
        format!("pod {name} has non-empty .spec.schedulingGates")
    } else {
        return Ok(());
    };
    let message = format!("Operation cannot be fulfilled on pods/binding {name:?}: {why}");
    Err(Box::new(Status::new(409, "Conflict", message).about(
        "",
        "pods/binding",
        name,
    )))
}

/// The node, what the binding notes, and that the pod is scheduled.
fn assign(pod: &mut Value, binding: &Value, node: &str, now: &str) {
    pod["spec"]["nodeName"] = node.into();
    for field in ["annotations", "labels"] {
        for (key, value) in binding["metadata"][field].as_object().into_iter().flatten() {
            if !pod["metadata"][field].is_object() {
                pod["metadata"][field] = json!({});
            }
            pod["metadata"][field][key.as_str()] = value.clone();
        }
    }
    let scheduled = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
    if !pod["status"].is_object() {
        pod["status"] = json!({});
    }
    match pod["status"]["conditions"].as_array_mut() {
        Some(conditions) => {
            conditions.retain(|condition| condition["type"] != "PodScheduled");
            conditions.push(scheduled);
        }
        None => pod["status"]["conditions"] = json!([scheduled]),
    }
}
