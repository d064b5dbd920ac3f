//! Rows of the apps group.

use serde_json::{Value, json};

use super::text::{containers, labels, number, selector};
use super::{Builtin, Row};

pub(super) fn printer(kind: &str) -> Option<Builtin> {
    Some(match kind {
        "Deployment" => (
            "Ready|Up-to-date|Available|Age|Containers::1|Images::1|Selector::1",
            deployment,
        ),
        "ReplicaSet" => (
            "Desired:integer|Current:integer|Ready:integer|Age|Containers::1|Images::1|Selector::1",
            replicas,
        ),
        "DaemonSet" => (
            "Desired:integer|Current:integer|Ready:integer|Up-to-date:integer|Available:integer|Node Selector|Age|Containers::1|Images::1|Selector::1",
            daemon_set,
        ),
        "StatefulSet" => ("Ready|Age|Containers::1|Images::1", stateful_set),
        "ControllerRevision" => ("Controller|Revision|Age", revision),
        _ => return None,
    })
}

fn deployment(row: &Row<'_>) -> Vec<Value> {
    let ready = format!(
        "{}/{}",
        row.number("/status/readyReplicas"),
        row.number("/spec/replicas")
    );
    let [names, images] = containers(row.get("/spec/template/spec/containers"));
    vec![
        ready.into(),
        number(row.get("/status/updatedReplicas")),
        number(row.get("/status/availableReplicas")),
        row.age(),
        names,
        images,
        selector(row.get("/spec/selector")).into(),
    ]
}

fn replicas(row: &Row<'_>) -> Vec<Value> {
    of_replicas(row, selector(row.get("/spec/selector")))
}

/// A row of a set of replicas with its selector written in the kind's own way.
pub(super) fn of_replicas(row: &Row<'_>, selector: String) -> Vec<Value> {
    let [names, images] = containers(row.get("/spec/template/spec/containers"));
    vec![
        number(row.get("/spec/replicas")),
        number(row.get("/status/replicas")),
        number(row.get("/status/readyReplicas")),
        row.age(),
        names,
        images,
        selector.into(),
    ]
}

fn daemon_set(row: &Row<'_>) -> Vec<Value> {
    let [names, images] = containers(row.get("/spec/template/spec/containers"));
    vec![
        number(row.get("/status/desiredNumberScheduled")),
        number(row.get("/status/currentNumberScheduled")),
        number(row.get("/status/numberReady")),
        number(row.get("/status/updatedNumberScheduled")),
        number(row.get("/status/numberAvailable")),
        labels(row.get("/spec/template/spec/nodeSelector")).into(),
        row.age(),
        names,
        images,
        selector(row.get("/spec/selector")).into(),
    ]
}

fn stateful_set(row: &Row<'_>) -> Vec<Value> {
    let [names, images] = containers(row.get("/spec/template/spec/containers"));
    let ready = format!(
        "{}/{}",
        row.number("/status/readyReplicas"),
        row.number("/spec/replicas")
    );
    vec![ready.into(), row.age(), names, images]
}

fn revision(row: &Row<'_>) -> Vec<Value> {
    let owner = row
        .list("/metadata/ownerReferences")
        .iter()
        .find(|owner| owner["controller"] == true);
    let controller = owner.map_or_else(
        || "<none>".to_owned(),
        |owner| {
            let version = owner["apiVersion"].as_str().unwrap_or_default();
            let group = version.split_once('/').map_or("", |(group, _)| group);
            let kind = owner["kind"].as_str().unwrap_or_default().to_lowercase();
            let full = if group.is_empty() {
                kind
            } else {
                format!("{kind}.{group}")
            };
            format!("{full}/{}", owner["name"].as_str().unwrap_or_default())
        },
    );
    vec![controller.into(), json!(row.number("/revision")), row.age()]
}
