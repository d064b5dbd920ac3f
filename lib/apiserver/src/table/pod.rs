//! Rows of pods: their state is told by what stops them most.

use serde_json::{Value, json};

use super::text::or_none;
use super::{Builtin, Row};

pub(super) fn printer(kind: &str) -> Option<Builtin> {
    (kind == "Pod").then_some((
        "Ready|Status|Restarts|Age|IP::1|Node::1|Nominated Node::1|Readiness Gates::1",
        pod as fn(&Row<'_>) -> Vec<Value>,
    ))
}

/// What says that a row is about a pod that is over.
pub(super) fn conditions(object: &Value) -> Option<Value> {
    let (reason, message) = match object["status"]["phase"].as_str() {
        Some("Succeeded") => ("Succeeded", "The pod has completed successfully."),
        Some("Failed") => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}]))
}

fn pod(row: &Row<'_>) -> Vec<Value> {
    let counts = counts(row);
    let restarts = if counts.restarts > 0 && !counts.last.is_empty() {
        format!(
            "{} ({} ago)",
            counts.restarts,
            super::text::since(&counts.last, row.now)
        )
    } else {
        counts.restarts.to_string()
    };
    let address = row
        .list("/status/podIPs")
        .first()
        .map_or_else(|| row.text("/status/podIP"), |ip| ip["ip"].as_str().unwrap_or_default());
    vec![
        format!("{}/{}", counts.ready, counts.total).into(),
        counts.reason.into(),
        restarts.into(),
        row.age(),
        or_none(address),
        or_none(row.text("/spec/nodeName")),
        or_none(row.text("/status/nominatedNodeName")),
        gates(row),
    ]
}

struct Counts {
    ready: usize,
    total: usize,
    restarts: i64,
    last: String,
    reason: String,
}

fn counts(row: &Row<'_>) -> Counts {
    let stays = |spec: &&Value| spec["restartPolicy"] == "Always";
    let sidecars = row.list("/spec/initContainers").iter().filter(stays);
    let mut counts = Counts {
        ready: 0,
        total: row.list("/spec/containers").len() + sidecars.count(),
        restarts: 0,
        last: String::new(),
        reason: base_reason(row),
    };
    let initializing = init_containers(row, &mut counts);
    if !initializing {
        containers(row, &mut counts);
    }
    if !row.text("/metadata/deletionTimestamp").is_empty() {
        if row.text("/status/reason") == "NodeLost" {
            counts.reason = "Unknown".to_owned();
        } else if !matches!(row.text("/status/phase"), "Failed" | "Succeeded") {
            counts.reason = "Terminating".to_owned();
        }
    }
    counts
}

fn base_reason(row: &Row<'_>) -> String {
    let gated = row
        .list("/status/conditions")
        .iter()
        .any(|condition| condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated");
    match row.text("/status/reason") {
        _ if gated => "SchedulingGated",
        "" => row.text("/status/phase"),
        reason => reason,
    }
    .to_owned()
}

fn note_restart(status: &Value, counts: &mut Counts) {
    counts.restarts += status["restartCount"].as_i64().unwrap_or_default();
    let finished = status["lastState"]["terminated"]["finishedAt"]
        .as_str()
        .unwrap_or_default();
    if finished > counts.last.as_str() {
        finished.clone_into(&mut counts.last);
    }
}

/// Looks at the init containers; whether one of them still holds the pod up.
fn init_containers(row: &Row<'_>, counts: &mut Counts) -> bool {
    let specs = row.list("/spec/initContainers");
    for (at, status) in row.list("/status/initContainerStatuses").iter().enumerate() {
        note_restart(status, counts);
        let spec = specs.iter().find(|spec| spec["name"] == status["name"]);
        let sidecar = spec.is_some_and(|spec| spec["restartPolicy"] == "Always");
        let state = &status["state"];
        if state["terminated"].is_object() && state["terminated"]["exitCode"].as_i64().unwrap_or_default() == 0 {
            continue;
        }
        if sidecar && status["started"] == true {
            if status["ready"] == true {
                counts.ready += 1;
            }
            continue;
        }
        counts.reason = if state["terminated"].is_object() {
            format!("Init:{}", terminated(&state["terminated"]))
        } else {
            match state["waiting"]["reason"].as_str() {
                Some(reason) if !reason.is_empty() && reason != "PodInitializing" => format!("Init:{reason}"),
                _ => format!("Init:{at}/{}", specs.len()),
            }
        };
        return true;
    }
    false
}

fn containers(row: &Row<'_>, counts: &mut Counts) {
    let mut running = false;
    for status in row.list("/status/containerStatuses").iter().rev() {
        note_restart(status, counts);
        let state = &status["state"];
        if let Some(reason) = state["waiting"]["reason"].as_str().filter(|reason| !reason.is_empty()) {
            reason.clone_into(&mut counts.reason);
        } else if state["terminated"].is_object() {
            counts.reason = terminated(&state["terminated"]);
        } else if status["ready"] == true && state["running"].is_object() {
            running = true;
            counts.ready += 1;
        }
    }
    if counts.reason == "Completed" && running {
        let ready = row
            .list("/status/conditions")
            .iter()
            .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
        counts.reason = if ready { "Running" } else { "NotReady" }.to_owned();
    }
}

fn terminated(state: &Value) -> String {
    match state["reason"].as_str() {
        Some(reason) if !reason.is_empty() => reason.to_owned(),
        _ => match state["signal"].as_i64().unwrap_or_default() {
            0 => format!("ExitCode:{}", state["exitCode"].as_i64().unwrap_or_default()),
            signal => format!("Signal:{signal}"),
        },
    }
}

fn gates(row: &Row<'_>) -> Value {
    let gates = row.list("/spec/readinessGates");
    if gates.is_empty() {
        return "<none>".into();
    }
    let conditions = row.list("/status/conditions");
    let passed = gates
        .iter()
        .filter(|gate| {
            conditions
                .iter()
                .any(|condition| condition["type"] == gate["conditionType"] && condition["status"] == "True")
        })
        .count();
    format!("{passed}/{}", gates.len()).into()
}
