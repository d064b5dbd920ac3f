//! The objects that a workload's controller makes: ReplicaSets, Pods and claims.
//!
//! Names follow from the owner, so making them twice is impossible however stale the picture is.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::controllers::api::{Error, OBJECT, optional};
use crate::controllers::object::Meta;
use crate::workloads::FAIL;
use crate::workloads::pod::is_ready;
use crate::workloads::simulator::Context;
use crate::workloads::status::{Counts, replicas};

/// Label by which the pods of one template are told apart, per kind.
const TEMPLATE_LABEL: &str = "pod-template-hash";
const REVISION_LABEL: &str = "controller-revision-hash";
const REVISION: &str = "deployment.kubernetes.io/revision";

/// Letters that make no words and are not mistaken for each other; upstream's choice for generated names.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Ten letters that follow from a workload's pod template.
pub(super) fn template_hash(object: &Value) -> String {
    let template = object
        .pointer("/spec/template")
        .map(Value::to_string)
        .unwrap_or_default();
    letters(&template, 10)
}

fn letters(text: &str, count: usize) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter()
        .take(count)
        .map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]))
        .collect()
}

/// Makes and scales a Deployment's ReplicaSets; how far their pods are, and the name of the present one.
pub(super) async fn replica_sets(context: &Context, deployment: &Value) -> Result<(Counts, String), Error> {
    let meta = Meta(deployment);
    let desired = replicas(deployment);
    let hash = template_hash(deployment);
    let name = format!("{}-{hash}", meta.name());
    let path = format!("/apis/apps/v1/namespaces/{}/replicasets", meta.namespace());
    let mut counts = Counts {
        desired,
        ..Counts::default()
    };
    let mut old = Vec::new();
    for key in context.owned(deployment, "ReplicaSet") {
        if *key.name != *name
            && let Some(set) = optional(context.api.get(&key.path(), OBJECT).await)?
        {
            old.push((key, set));
        }
    }
    let revision = |set: &Value| {
        Meta(set)
            .annotation(REVISION)
            .and_then(|text| text.parse::<u64>().ok())
            .unwrap_or_default()
    };
    let newest = old.iter().map(|(_, set)| revision(set)).max().unwrap_or_default() + 1;
    let present = match optional(context.api.get(&format!("{path}/{name}"), OBJECT).await)? {
        Some(set) => {
            let same = replicas(&set) == desired
                && meta.annotation(FAIL) == Meta(&set).annotation(FAIL)
                && revision(&set) >= newest;
            if same {
                set
            } else {
                let revision = newest.max(revision(&set)).to_string();
                let annotations = json!({FAIL: meta.annotation(FAIL), REVISION: revision});
                let patch = json!({"metadata": {"annotations": annotations}, "spec": {"replicas": desired}});
                context.api.merge(&format!("{path}/{name}"), &patch).await?
            }
        }
        None => {
            let set = replica_set(deployment, &name, &hash, desired, newest);
            context.api.create(&path, &set).await?
        }
    };
    let number = |set: &Value, field: &str| set.pointer(field).and_then(Value::as_i64).unwrap_or_default();
    counts.updated = number(&present, "/status/replicas");
    counts.current = counts.updated;
    counts.ready = number(&present, "/status/readyReplicas");
    let complete = counts.ready >= desired;
    for (key, set) in old {
        counts.current += number(&set, "/status/replicas");
        counts.ready += number(&set, "/status/readyReplicas");
        if complete && replicas(&set) != 0 {
            optional(context.api.merge(&key.path(), &json!({"spec": {"replicas": 0}})).await)?;
        }
    }
    Ok((counts, name))
}

fn replica_set(deployment: &Value, name: &str, hash: &str, desired: i64, revision: u64) -> Value {
    let meta = Meta(deployment);
    let mut selector = deployment.pointer("/spec/selector").cloned().unwrap_or_default();
    selector["matchLabels"][TEMPLATE_LABEL] = hash.into();
    let mut template = deployment.pointer("/spec/template").cloned().unwrap_or_default();
    template["metadata"]["labels"][TEMPLATE_LABEL] = hash.into();
    let mut annotations = json!({REVISION: revision.to_string()});
    if let Some(fault) = meta.annotation(FAIL) {
        annotations[FAIL] = fault.into();
    }
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": name, "namespace": meta.namespace(), "annotations": annotations,
            "labels": template.pointer("/metadata/labels"),
            "ownerReferences": [reference(deployment, "apps/v1", "Deployment")],
        },
        "spec": {"replicas": desired, "selector": selector, "template": template},
    })
}

/// Makes and removes the pods of a ReplicaSet, StatefulSet, DaemonSet or Job; how far they are.
pub(super) async fn pods(context: &Context, owner: &Value, kind: &str) -> Result<Counts, Error> {
    let meta = Meta(owner);
    let desired = match kind {
        "DaemonSet" => 1,
        "Job" => owner.pointer("/spec/completions").and_then(Value::as_i64).unwrap_or(1),
        _ => replicas(owner),
    };
    let hash = template_hash(owner);
    let path = format!("/api/v1/namespaces/{}/pods", meta.namespace());
    let in_order =
        kind == "StatefulSet" && owner.pointer("/spec/podManagementPolicy").and_then(Value::as_str) != Some("Parallel");
    let mut counts = Counts {
        desired,
        ..Counts::default()
    };
    let mut names = Vec::new();
    let mut replaced = false;
    for number in 0..desired {
        let name = match kind {
            "StatefulSet" => format!("{}-{number}", meta.name()),
            _ => format!("{}-{}", meta.name(), letters(&format!("{} {number}", meta.uid()), 5)),
        };
        let found = optional(context.api.get(&format!("{path}/{name}"), OBJECT).await)?;
        names.push(name.clone());
        let pod = match found {
            Some(pod) if Meta(&pod).deleting() => continue,
            Some(pod) => pod,
            None => {
                if kind == "StatefulSet" {
                    claims(context, owner, &name).await?;
                }
                context.api.create(&path, &pod(owner, kind, &name, &hash)).await?
            }
        };
        counts.current += 1;
        if meta.annotation(FAIL) != Meta(&pod).annotation(FAIL) {
            let patch = json!({"metadata": {"annotations": {FAIL: meta.annotation(FAIL)}}});
            optional(context.api.merge(&format!("{path}/{name}"), &patch).await)?;
        }
        let outdated = matches!(kind, "StatefulSet" | "DaemonSet")
            && pod
                .pointer("/metadata/labels")
                .and_then(|labels| labels.get(REVISION_LABEL))
                != Some(&json!(hash));
        if !outdated {
            counts.updated += 1;
        }
        if is_ready(&pod) {
            counts.ready += 1;
        }
        // One at a time, and only once those before are ready again.
        if outdated && !replaced && counts.ready == counts.current {
            replaced = true;
            delete(context, &format!("{path}/{name}")).await?;
        }
        if in_order && !is_ready(&pod) {
            break;
        }
    }
    if i64::try_from(names.len()).is_ok_and(|count| count >= desired) {
        for key in context.owned(owner, "Pod") {
            if !names.iter().any(|name| **name == *key.name) {
                delete(context, &key.path()).await?;
            }
        }
    }
    Ok(counts)
}

/// Without the time to stop: nothing runs.
async fn delete(context: &Context, path: &str) -> Result<(), Error> {
    let now = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0});
    optional(context.api.delete(path, &now).await)?;
    Ok(())
}

fn pod(owner: &Value, kind: &str, name: &str, hash: &str) -> Value {
    let meta = Meta(owner);
    let template = owner.pointer("/spec/template").cloned().unwrap_or_default();
    let mut metadata = json!({});
    for field in ["labels", "annotations"] {
        if let Some(values) = template
            .pointer(&format!("/metadata/{field}"))
            .filter(|values| values.is_object())
        {
            metadata[field] = values.clone();
        }
    }
    if matches!(kind, "StatefulSet" | "DaemonSet") {
        metadata["labels"][REVISION_LABEL] = hash.into();
    }
    if kind == "StatefulSet" {
        metadata["labels"]["statefulset.kubernetes.io/pod-name"] = name.into();
    }
    if let Some(fault) = meta.annotation(FAIL) {
        metadata["annotations"][FAIL] = fault.into();
    }
    metadata["name"] = name.into();
    metadata["namespace"] = meta.namespace().into();
    let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    metadata["ownerReferences"] = json!([reference(owner, version, kind)]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec")})
}

/// Makes the claims that a StatefulSet's pod mounts.
async fn claims(context: &Context, owner: &Value, pod: &str) -> Result<(), Error> {
    let namespace = Meta(owner).namespace();
    let path = format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims");
    let templates = owner
        .pointer("/spec/volumeClaimTemplates")
        .and_then(Value::as_array)
        .map(Vec::as_slice);
    for template in templates.unwrap_or_default() {
        let name = format!("{}-{pod}", Meta(template).name());
        if optional(context.api.get(&format!("{path}/{name}"), OBJECT).await)?.is_none() {
            let claim = json!({
                "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "metadata": {
                    "name": name, "namespace": namespace,
                    "labels": owner.pointer("/spec/selector/matchLabels"),
                },
                "spec": template.get("spec"),
            });
            context.api.create(&path, &claim).await?;
        }
    }
    Ok(())
}

fn reference(owner: &Value, version: &str, kind: &str) -> Value {
    json!({
        "apiVersion": version, "kind": kind, "name": Meta(owner).name(), "uid": Meta(owner).uid(),
        "controller": true, "blockOwnerDeletion": true,
    })
}
