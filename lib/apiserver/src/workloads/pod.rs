//! The status of a Pod, as kubelet would write it.

use serde_json::{Value, json};

use crate::workloads::condition::{Condition, Stamp, list};

/// How far a pod is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase<'a> {
    Starting,
    Ready,
    Succeeded,
    /// With the reason its containers wait for.
    Broken(&'a str),
}

/// Whether a pod's status says that it is ready.
pub(super) fn is_ready(pod: &Value) -> bool {
    let conditions = pod
        .pointer("/status/conditions")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    conditions
        .iter()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// The status of a pod.
pub(super) fn status(pod: &Value, phase: Phase<'_>, now: &str) -> Value {
    let known = pod.pointer("/status/conditions");
    let ready = phase == Phase::Ready;
    let (reason, message) = match phase {
        Phase::Ready => ("", String::new()),
        Phase::Succeeded => ("PodCompleted", String::new()),
        Phase::Starting | Phase::Broken(_) => ("ContainersNotReady", unready(pod)),
    };
    let conditions = [
        Condition::new("PodReadyToStartContainers", phase != Phase::Succeeded, "", ""),
        Condition::new(
            "Initialized",
            true,
            if phase == Phase::Succeeded { "PodCompleted" } else { "" },
            "",
        ),
        Condition::new("Ready", ready, reason, message.clone()),
        Condition::new("ContainersReady", ready, reason, message),
        Condition::new("PodScheduled", true, "", ""),
    ];
    let start = pod.pointer("/status/startTime").and_then(Value::as_str).unwrap_or(now);
    let mut status = json!({
        "phase": match phase {
            Phase::Ready => "Running",
            Phase::Succeeded => "Succeeded",
            Phase::Broken(reason) if !is_image_problem(reason) => "Running",
            Phase::Starting | Phase::Broken(_) => "Pending",
        },
        "conditions": list(&conditions, known, Stamp::NoProbe, now),
        "containerStatuses": containers(pod, phase, start),
        "hostIP": "198.18.0.1", "hostIPs": [{"ip": "198.18.0.1"}],
        "qosClass": pod.pointer("/status/qosClass").and_then(Value::as_str).unwrap_or("BestEffort"),
        "startTime": start,
    });
    if phase != Phase::Starting {
        let address = address(pod);
        status["podIPs"] = json!([{"ip": address}]);
        status["podIP"] = address.into();
    }
    status
}

fn containers(pod: &Value, phase: Phase<'_>, start: &str) -> Value {
    let containers = pod
        .pointer("/spec/containers")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    containers
        .iter()
        .map(|container| {
            let state = match phase {
                Phase::Ready => json!({"running": {"startedAt": start}}),
                Phase::Succeeded => json!({
                    "terminated": {"exitCode": 0, "reason": "Completed", "startedAt": start, "finishedAt": start},
                }),
                Phase::Starting => json!({"waiting": {"reason": "ContainerCreating"}}),
                Phase::Broken(reason) => json!({"waiting": {"reason": reason, "message": "made to fail"}}),
            };
            json!({
                "name": container["name"], "image": container["image"], "imageID": "",
                "ready": phase == Phase::Ready, "started": phase == Phase::Ready, "restartCount": 0,
                "lastState": {}, "state": state,
            })
        })
        .collect()
}

fn unready(pod: &Value) -> String {
    let containers = pod
        .pointer("/spec/containers")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let names: Vec<&str> = containers
        .iter()
        .filter_map(|container| container["name"].as_str())
        .collect();
    format!("containers with unready status: [{}]", names.join(" "))
}

fn is_image_problem(reason: &str) -> bool {
    reason.contains("Image") || reason.contains("Creat")
}

/// An address that follows from the uid.
fn address(pod: &Value) -> String {
    let uid = pod.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
    let [a, b] = uid
        .bytes()
        .fold(0_u16, |sum, byte| sum.wrapping_mul(31).wrapping_add(u16::from(byte)))
        .to_be_bytes();
    format!("198.19.{a}.{}", b.clamp(1, 254))
}
