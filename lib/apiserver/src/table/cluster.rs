//! Rows of what a cluster is made of: leases, API services, certificates, runtime classes.

use serde_json::Value;

use super::text::or_none;
use super::{Builtin, Row};

pub(super) fn printer(kind: &str) -> Option<Builtin> {
    Some(match kind {
        "Lease" => ("Holder|Age", |row| {
            vec![row.text("/spec/holderIdentity").into(), row.age()]
        }),
        "RuntimeClass" => ("Handler|Age", |row| vec![row.text("/handler").into(), row.age()]),
        "APIService" => ("Service|Available|Age", service),
        "CertificateSigningRequest" => ("Age|SignerName|Requestor|RequestedDuration|Condition", request),
        "FlowSchema" => (
            "PriorityLevel|MatchingPrecedence|DistinguisherMethod|Age|MissingPL",
            |row| {
                vec![
                    row.text("/spec/priorityLevelConfiguration/name").into(),
                    row.get("/spec/matchingPrecedence").clone(),
                    or_none(row.text("/spec/distinguisherMethod/type")),
                    row.age(),
                    "?".into(),
                ]
            },
        ),
        "PriorityLevelConfiguration" => (
            "Type|NominalConcurrencyShares|Queues|HandSize|QueueLengthLimit|Age",
            level,
        ),
        "DeviceClass" | "ResourceClaimTemplate" => ("Age", |row| vec![row.age()]),
        "ResourceClaim" => ("State|Age", |row| vec![claim_state(row).into(), row.age()]),
        "ResourceSlice" => ("Node|Driver|Pool|Age", |row| {
            vec![
                row.text("/spec/nodeName").into(),
                row.text("/spec/driver").into(),
                row.text("/spec/pool/name").into(),
                row.age(),
            ]
        }),
        "CustomResourceDefinition" => ("Created At:date", |row| {
            vec![row.get("/metadata/creationTimestamp").clone()]
        }),
        _ => return None,
    })
}

/// How much a level gets; only levels that queue say more.
fn level(row: &Row<'_>) -> Vec<Value> {
    let number = |pointer: &str| match row.get(pointer) {
        Value::Null => or_none(""),
        number => number.clone(),
    };
    let queuing = |field: &str| number(&format!("/spec/limited/limitResponse/queuing/{field}"));
    vec![
        row.text("/spec/type").into(),
        number("/spec/limited/nominalConcurrencyShares"),
        queuing("queues"),
        queuing("handSize"),
        queuing("queueLengthLimit"),
        row.age(),
    ]
}

/// What happens to a claim, told in one word each.
fn claim_state(row: &Row<'_>) -> String {
    let mut states = Vec::new();
    if !row.text("/metadata/deletionTimestamp").is_empty() {
        states.push("deleted");
    }
    if !row.get("/status/allocation").is_object() {
        if states.is_empty() {
            states.push("pending");
        }
        return states.join(",");
    }
    states.push("allocated");
    if !row.list("/status/reservedFor").is_empty() {
        states.push("reserved");
    }
    states.join(",")
}

fn service(row: &Row<'_>) -> Vec<Value> {
    let local = !row.get("/spec/service").is_object();
    let name = if local {
        "Local".to_owned()
    } else {
        format!(
            "{}/{}",
            row.text("/spec/service/namespace"),
            row.text("/spec/service/name")
        )
    };
    let condition = row
        .list("/status/conditions")
        .iter()
        .find(|condition| condition["type"] == "Available");
    let available = match condition {
        Some(condition) if condition["status"] == "True" => "True".to_owned(),
        Some(condition) => {
            format!(
                "{} ({})",
                condition["status"].as_str().unwrap_or_default(),
                condition["reason"].as_str().unwrap_or_default()
            )
        }
        None => "Unknown".to_owned(),
    };
    vec![name.into(), available.into(), row.age()]
}

fn request(row: &Row<'_>) -> Vec<Value> {
    let conditions = row.list("/status/conditions");
    let has = |kind: &str| conditions.iter().any(|condition| condition["type"] == kind);
    let mut state = if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    }
    .to_owned();
    if has("Failed") {
        state.push_str(",Failed");
    }
    if !row.text("/status/certificate").is_empty() {
        state.push_str(",Issued");
    }
    let wanted = row.get("/spec/expirationSeconds").as_i64();
    let wanted = wanted.map(|seconds| super::text::duration(jiff::SignedDuration::from_secs(seconds)));
    vec![
        row.age(),
        or_none(row.text("/spec/signerName")),
        row.text("/spec/username").into(),
        or_none(&wanted.unwrap_or_default()),
        state.into(),
    ]
}
