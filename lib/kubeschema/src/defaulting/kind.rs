//! Defaults of whole kinds that depend on more than one field.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// Lists that were sent empty and are not the same as absent ones.
pub(super) fn emptied(group: &str, kind: &str, object: &Value) -> Vec<&'static str> {
    let lists: &[&str] = match (group, kind) {
        ("autoscaling", "HorizontalPodAutoscaler") => {
            &["/spec/behavior/scaleUp/policies", "/spec/behavior/scaleDown/policies"]
        }
        _ => &[],
    };
    let empty = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
    };
    lists.iter().copied().filter(|pointer| empty(pointer)).collect()
}

/// What other defaults build on.
pub(super) fn before(group: &str, kind: &str, object: &mut Value) {
    match (group, kind) {
        ("", "Secret") => secret(object),
        ("", "ReplicationController") => {
            let labels = object["spec"]["template"]["metadata"]["labels"].clone();
            if labels.is_object() {
                fill(&mut object["spec"], "selector", &labels);
                fill(&mut object["metadata"], "labels", &labels);
            }
        }
        ("batch", "Job") => job(object),
        ("networking.k8s.io", "NetworkPolicy") => network_policy(object),
        _ => {}
    }
}

/// What builds on other defaults.
pub(super) fn after(group: &str, version: &str, kind: &str, object: &mut Value) {
    match (group, kind) {
        ("", "Service") => service(&mut object["spec"]),
        ("", "Node") => node(of(object, "spec")),
        ("", "PersistentVolumeClaim") => {
            claim(of(object, "spec"));
            fill(of(object, "status"), "phase", &json!("Pending"));
        }
        ("", "Pod") => pod(&mut object["spec"]),
        ("", "LimitRange") => limit_range(object),
        ("", "Namespace") => fill(of(object, "status"), "phase", &json!("Active")),
        ("", "PersistentVolume") => {
            fill(of(object, "status"), "phase", &json!("Pending"));
        }
        ("apps", "Deployment") => rolling(&mut object["spec"]["strategy"], &"25%".into(), &"25%".into()),
        ("apps", "DaemonSet") => rolling(&mut object["spec"]["updateStrategy"], &1.into(), &0.into()),
        ("apps", "StatefulSet") => stateful_set(&mut object["spec"]),
        ("autoscaling", "HorizontalPodAutoscaler") if version == "v2" => autoscaler(&mut object["spec"]),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(&mut object["spec"]),
        _ => {}
    }
    ports(group, kind, object);
}

/// Sets a field that is absent or empty.
fn fill(object: &mut Value, field: &str, value: &Value) {
    let Some(map) = object.as_object_mut() else { return };
    let empty = match map.get(field) {
        None | Some(Value::Null) => true,
        Some(Value::Object(inner)) => inner.is_empty(),
        Some(Value::String(text)) => text.is_empty(),
        Some(_) => false,
    };
    if empty {
        map.insert(field.to_owned(), value.clone());
    }
}

/// The items of a field that is a list.
fn items<'a>(object: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> {
    object
        .get_mut(field)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
}

/// A field that is an object, made if it is absent.
fn of<'a>(object: &'a mut Value, field: &str) -> &'a mut Value {
    if !object[field].is_object() {
        object[field] = Value::Object(Map::new());
    }
    &mut object[field]
}

fn secret(object: &mut Value) {
    let Some(map) = object.as_object_mut() else { return };
    let Some(Value::Object(texts)) = map.remove("stringData") else {
        return;
    };
    let data = map.entry("data").or_insert_with(|| Value::Object(Map::new()));
    for (key, text) in texts {
        data[key] = STANDARD.encode(text.as_str().unwrap_or_default()).into();
    }
    if data.as_object().is_some_and(Map::is_empty) {
        map.remove("data");
    }
}

fn job(object: &mut Value) {
    let labels = object["spec"]["template"]["metadata"]["labels"].clone();
    if labels.is_object() {
        fill(&mut object["metadata"], "labels", &labels);
    }
    let spec = &mut object["spec"];
    if !spec.is_object() {
        return;
    }
    if spec.get("completions").is_none() && spec.get("parallelism").is_none() {
        spec["completions"] = 1.into();
    }
    fill(spec, "parallelism", &json!(1));
    let per_index = spec.get("backoffLimitPerIndex").is_some();
    fill(
        spec,
        "backoffLimit",
        &if per_index { json!(i32::MAX) } else { json!(6) },
    );
    fill(spec, "completionMode", &json!("NonIndexed"));
    fill(spec, "suspend", &json!(false));
    let failing = spec.get("podFailurePolicy").is_some();
    fill(
        spec,
        "podReplacementPolicy",
        &json!(if failing { "Failed" } else { "TerminatingOrFailed" }),
    );
    fill(spec, "manualSelector", &json!(false));
}

fn network_policy(object: &mut Value) {
    let spec = of(object, "spec");
    if spec["policyTypes"].as_array().is_none_or(Vec::is_empty) {
        let egress = spec["egress"].as_array().is_some_and(|rules| !rules.is_empty());
        spec["policyTypes"] = if egress {
            json!(["Ingress", "Egress"])
        } else {
            json!(["Ingress"])
        };
    }
}

/// A node's range of addresses is also the first of its ranges.
fn node(spec: &mut Value) {
    let one = spec["podCIDR"].as_str().unwrap_or_default().to_owned();
    let first = spec["podCIDRs"][0].as_str().unwrap_or_default().to_owned();
    if !one.is_empty() && one != first {
        spec["podCIDRs"] = json!([one]);
    } else if one.is_empty() && !first.is_empty() {
        spec["podCIDR"] = first.into();
    }
}

/// What a claim is filled from has an old and a new field, which say the same.
fn claim(spec: &mut Value) {
    let Some(map) = spec.as_object_mut() else { return };
    let known = map.get("dataSource").is_some_and(|source| {
        matches!(
            (
                source["apiGroup"].as_str().unwrap_or_default(),
                source["kind"].as_str().unwrap_or_default()
            ),
            ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
        )
    });
    // The old field only knows claims and snapshots.
    let old = if known {
        map.get("dataSource").cloned()
    } else {
        map.remove("dataSource").and(None)
    };
    let new = map.get("dataSourceRef").cloned();
    match (old, new) {
        (Some(old), None) => {
            map.insert("dataSourceRef".to_owned(), old);
        }
        (None, Some(new)) if new.get("namespace").is_none() => {
            let mut plain = new;
            if let Some(fields) = plain.as_object_mut() {
                fields.entry("apiGroup").or_insert(Value::Null);
            }
            map.insert("dataSource".to_owned(), plain);
        }
        _ => {}
    }
}

fn service(spec: &mut Value) {
    if !spec.is_object() {
        *spec = json!({});
    }
    fill(spec, "type", &json!("ClusterIP"));
    fill(spec, "sessionAffinity", &json!("None"));
    if spec["sessionAffinity"] == "None" {
        if let Some(map) = spec.as_object_mut() {
            map.remove("sessionAffinityConfig");
        }
    } else if spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"].is_null() {
        spec["sessionAffinityConfig"] = json!({"clientIP": {"timeoutSeconds": 10800}});
    }
    for port in items(spec, "ports") {
        let number = port["port"].clone();
        if matches!(&port["targetPort"], Value::Null) || port["targetPort"] == 0 || port["targetPort"] == "" {
            port["targetPort"] = if number.is_null() { json!(0) } else { number };
        }
    }
    let kind = spec["type"].as_str().unwrap_or_default().to_owned();
    let external_addresses = spec["externalIPs"].as_array().is_some_and(|list| !list.is_empty());
    let reachable = matches!(kind.as_str(), "NodePort" | "LoadBalancer") || (kind == "ClusterIP" && external_addresses);
    if reachable {
        fill(spec, "externalTrafficPolicy", &json!("Cluster"));
    }
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        fill(spec, "internalTrafficPolicy", &json!("Cluster"));
    }
    if kind == "LoadBalancer" {
        fill(spec, "allocateLoadBalancerNodePorts", &json!(true));
    }
}

fn pod(spec: &mut Value) {
    fill(spec, "enableServiceLinks", &json!(true));
    for list in ["containers", "initContainers"] {
        for container in items(spec, list) {
            let limits = container["resources"]["limits"].clone();
            for (name, amount) in limits.as_object().into_iter().flatten() {
                fill(of(&mut container["resources"], "requests"), name, amount);
            }
        }
    }
}

/// Ports of pods on their node's network are ports of the node.
fn ports(group: &str, kind: &str, object: &mut Value) {
    // Templates say nothing about nodes; the pods made from them do.
    let Some(spec) = object
        .get_mut("spec")
        .filter(|spec| (group, kind) == ("", "Pod") && spec["hostNetwork"] == true)
    else {
        return;
    };
    for list in ["containers", "initContainers"] {
        for container in items(spec, list) {
            for port in items(container, "ports") {
                let number = port["containerPort"].clone();
                fill(port, "hostPort", &number);
            }
        }
    }
}

fn limit_range(object: &mut Value) {
    for limit in items(of(object, "spec"), "limits") {
        if limit["type"] != "Container" {
            continue;
        }
        for (from, to) in [
            ("max", "default"),
            ("default", "defaultRequest"),
            ("min", "defaultRequest"),
        ] {
            let given = limit[from].clone();
            for (name, amount) in given.as_object().into_iter().flatten() {
                fill(of(limit, to), name, amount);
            }
        }
    }
}

fn rolling(strategy: &mut Value, unavailable: &Value, surge: &Value) {
    if !strategy.is_object() {
        return;
    }
    fill(strategy, "type", &json!("RollingUpdate"));
    if strategy["type"] == "RollingUpdate" {
        let update = of(strategy, "rollingUpdate");
        fill(update, "maxUnavailable", unavailable);
        fill(update, "maxSurge", surge);
    }
}

fn stateful_set(spec: &mut Value) {
    let strategy = &mut spec["updateStrategy"];
    if strategy["type"].is_null() {
        strategy["type"] = "RollingUpdate".into();
        of(strategy, "rollingUpdate");
    }
    if strategy["type"] == "RollingUpdate" && strategy["rollingUpdate"].is_object() {
        fill(&mut strategy["rollingUpdate"], "partition", &json!(0));
    }
    for claim in items(spec, "volumeClaimTemplates") {
        claim["apiVersion"] = "v1".into();
        claim["kind"] = "PersistentVolumeClaim".into();
        fill(of(claim, "status"), "phase", &json!("Pending"));
    }
}

fn autoscaler(spec: &mut Value) {
    if spec["metrics"].as_array().is_none_or(Vec::is_empty) {
        spec["metrics"] = json!([{"type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]);
    }
    if !spec["behavior"].is_object() {
        return;
    }
    let by_percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    let by_pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
    let up = of(&mut spec["behavior"], "scaleUp");
    fill(up, "selectPolicy", &json!("Max"));
    fill(up, "stabilizationWindowSeconds", &json!(0));
    fill(up, "policies", &json!([by_pods, by_percent.clone()]));
    let down = of(&mut spec["behavior"], "scaleDown");
    fill(down, "selectPolicy", &json!("Max"));
    fill(down, "policies", &json!([by_percent]));
}

fn definition(spec: &mut Value) {
    if !spec.is_object() {
        return;
    }
    if spec["conversion"].is_null() {
        spec["conversion"] = json!({"strategy": "None"});
    }
    let names = &mut spec["names"];
    if let Some(kind) = names["kind"]
        .as_str()
        .filter(|kind| !kind.is_empty())
        .map(str::to_owned)
    {
        fill(names, "singular", &json!(kind.to_lowercase()));
        fill(names, "listKind", &json!(format!("{kind}List")));
    }
}
