//! Rows of rights, limits and admission.

use serde_json::{Value, json};

use super::text::{NONE, number};
use super::{Builtin, Row};
use crate::scaler;

pub(super) fn printer(kind: &str) -> Option<Builtin> {
    Some(match kind {
        "RoleBinding" | "ClusterRoleBinding" => ("Role|Age|Users::1|Groups::1|ServiceAccounts::1", binding),
        "PodDisruptionBudget" => ("Min Available|Max Unavailable|Allowed Disruptions:integer|Age", budget),
        "HorizontalPodAutoscaler" => ("Reference|Targets|MinPods|MaxPods|Replicas|Age", autoscaler),
        "PriorityClass" => ("Value:integer|Global-Default:boolean|Age|PreemptionPolicy", priority),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => ("Webhooks:integer|Age", |row| {
            vec![json!(row.list("/webhooks").len()), row.age()]
        }),
        "ValidatingAdmissionPolicy" => ("Validations:integer|ParamKind|Age", |row| {
            vec![
                json!(row.list("/spec/validations").len()),
                parameters(row).into(),
                row.age(),
            ]
        }),
        "MutatingAdmissionPolicy" => ("Mutations:integer|ParamKind|Age", |row| {
            vec![
                json!(row.list("/spec/mutations").len()),
                parameters(row).into(),
                row.age(),
            ]
        }),
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => {
            ("PolicyName|ParamRef|Age", policy_binding)
        }
        _ => return None,
    })
}

fn binding(row: &Row<'_>) -> Vec<Value> {
    let names = |kind: &str| {
        let found = row.list("/subjects").iter().filter(|subject| subject["kind"] == kind);
        let text = |subject: &Value| {
            let name = subject["name"].as_str().unwrap_or_default();
            match subject["namespace"].as_str() {
                Some(namespace) if kind == "ServiceAccount" => format!("{namespace}/{name}"),
                _ => name.to_owned(),
            }
        };
        Value::from(found.map(text).collect::<Vec<_>>().join(", "))
    };
    let role = format!("{}/{}", row.text("/roleRef/kind"), row.text("/roleRef/name"));
    vec![
        role.into(),
        row.age(),
        names("User"),
        names("Group"),
        names("ServiceAccount"),
    ]
}

fn budget(row: &Row<'_>) -> Vec<Value> {
    let amount = |pointer: &str| match row.get(pointer) {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => "N/A".to_owned(),
    };
    vec![
        amount("/spec/minAvailable").into(),
        amount("/spec/maxUnavailable").into(),
        number(row.get("/status/disruptionsAllowed")),
        row.age(),
    ]
}

fn priority(row: &Row<'_>) -> Vec<Value> {
    let preemption = match row.text("/preemptionPolicy") {
        "" => "PreemptLowerPriority",
        policy => policy,
    };
    vec![
        number(row.get("/value")),
        json!(row.get("/globalDefault") == true),
        row.age(),
        preemption.into(),
    ]
}

fn parameters(row: &Row<'_>) -> String {
    let kind = row.get("/spec/paramKind");
    if !kind.is_object() {
        return "<unset>".to_owned();
    }
    format!(
        "{}/{}",
        kind["apiVersion"].as_str().unwrap_or_default(),
        kind["kind"].as_str().unwrap_or_default()
    )
}

fn policy_binding(row: &Row<'_>) -> Vec<Value> {
    let reference = row.get("/spec/paramRef");
    let text = match (reference["namespace"].as_str(), reference["name"].as_str()) {
        (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
        (None, Some(name)) => format!("*/{name}"),
        (Some(namespace), None) => format!("{namespace}/*"),
        (None, None) if reference.is_object() => "*/*".to_owned(),
        (None, None) => "<unset>".to_owned(),
    };
    vec![row.text("/spec/policyName").into(), text.into(), row.age()]
}

fn autoscaler(row: &Row<'_>) -> Vec<Value> {
    if row.object["apiVersion"] == "autoscaling/v1" {
        // Both faces show what is stored.
        let mut stored = row.object.clone();
        scaler::to_stored(&mut stored);
        return autoscaler(&Row {
            object: &stored,
            now: row.now,
        });
    }
    let reference = format!(
        "{}/{}",
        row.text("/spec/scaleTargetRef/kind"),
        row.text("/spec/scaleTargetRef/name")
    );
    let least = row
        .get("/spec/minReplicas")
        .as_i64()
        .map_or_else(|| "<unset>".to_owned(), |least| least.to_string());
    vec![
        reference.into(),
        targets(row).into(),
        least.into(),
        number(row.get("/spec/maxReplicas")),
        number(row.get("/status/currentReplicas")),
        row.age(),
    ]
}

fn targets(row: &Row<'_>) -> String {
    let current = row.list("/status/currentMetrics");
    let mut list: Vec<String> = row
        .list("/spec/metrics")
        .iter()
        .enumerate()
        .map(|(at, metric)| target(metric, current.get(at)))
        .collect();
    if list.is_empty() {
        return NONE.to_owned();
    }
    let all = list.len();
    list.truncate(2);
    if all > 2 {
        format!("{} + {} more...", list.join(", "), all - 2)
    } else {
        list.join(", ")
    }
}

fn target(metric: &Value, current: Option<&Value>) -> String {
    let (field, prefix) = match metric["type"].as_str() {
        Some("Resource") => (
            "resource",
            format!("{}: ", metric["resource"]["name"].as_str().unwrap_or_default()),
        ),
        Some("ContainerResource") => (
            "containerResource",
            format!("{}: ", metric["containerResource"]["name"].as_str().unwrap_or_default()),
        ),
        Some("Pods") => ("pods", String::new()),
        Some("Object") => ("object", String::new()),
        Some("External") => ("external", String::new()),
        _ => return "<unknown type>".to_owned(),
    };
    let wanted = &metric[field]["target"];
    let now = current.map(|current| &current[field]["current"]);
    if let Some(percent) = wanted["averageUtilization"].as_i64() {
        let now = now.and_then(|now| now["averageUtilization"].as_i64());
        let now = now.map_or_else(|| "<unknown>".to_owned(), |percent| format!("{percent}%"));
        return format!("{prefix}{now}/{percent}%");
    }
    let text = |value: Option<&Value>, field: &str| {
        value
            .and_then(|value| value[field].as_str())
            .unwrap_or("<unknown>")
            .to_owned()
    };
    match wanted["averageValue"].as_str() {
        Some(average) if matches!(field, "object" | "external") => {
            format!("{prefix}{}/{average} (avg)", text(now, "averageValue"))
        }
        Some(average) => format!("{prefix}{}/{average}", text(now, "averageValue")),
        None => format!(
            "{prefix}{}/{}",
            text(now, "value"),
            wanted["value"].as_str().unwrap_or_default()
        ),
    }
}
