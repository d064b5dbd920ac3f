//! Rows of the core group, but pods and volumes.

use kubeschema::quantity::Quantity;
use serde_json::{Value, json};

use super::apps::of_replicas;
use super::text::{NONE, containers, first, labels, number, or_none};
use super::{Builtin, Row, text};

pub(super) fn printer(kind: &str) -> Option<Builtin> {
    Some(match kind {
        "ConfigMap" => ("Data|Age", config_map),
        "Secret" => ("Type|Data|Age", secret),
        "Namespace" => ("Status|Age", |row| vec![row.text("/status/phase").into(), row.age()]),
        "ServiceAccount" => ("Age", |row| vec![row.age()]),
        "Service" => ("Type|Cluster-IP|External-IP|Port(s)|Age|Selector::1", service),
        "Endpoints" => ("Endpoints|Age", |row| vec![endpoints(row).into(), row.age()]),
        "Event" => (
            "Last Seen|Type|Reason|Object|Subobject::1|Source::1|Message|First Seen::1|Count::1",
            event,
        ),
        "Node" => (
            "Status|Roles|Age|Version|Internal-IP::1|External-IP::1|OS-Image::1|Kernel-Version::1|Container-Runtime::1",
            node,
        ),
        "ReplicationController" => (
            "Desired:integer|Current:integer|Ready:integer|Age|Containers::1|Images::1|Selector::1",
            replication_controller,
        ),
        "ResourceQuota" => ("Request|Limit|Age", quota),
        "PodTemplate" => ("Containers|Images|Pod Labels", template),
        "ComponentStatus" => ("Status|Message|Error", |_| vec![json!("Unknown"), json!(""), json!("")]),
        _ => return None,
    })
}

fn count(row: &Row<'_>, fields: &[&str]) -> usize {
    fields
        .iter()
        .map(|field| row.get(field).as_object().map_or(0, serde_json::Map::len))
        .sum()
}

fn config_map(row: &Row<'_>) -> Vec<Value> {
    vec![json!(count(row, &["/data", "/binaryData"])), row.age()]
}

fn secret(row: &Row<'_>) -> Vec<Value> {
    vec![row.text("/type").into(), json!(count(row, &["/data"])), row.age()]
}

fn service(row: &Row<'_>) -> Vec<Value> {
    let kind = row.text("/spec/type");
    let addresses = row.list("/spec/clusterIPs");
    let address = addresses
        .first()
        .and_then(Value::as_str)
        .unwrap_or_else(|| row.text("/spec/clusterIP"));
    vec![
        kind.into(),
        or_none(address),
        external(row, kind).into(),
        ports(row).into(),
        row.age(),
        labels(row.get("/spec/selector")).into(),
    ]
}

fn external(row: &Row<'_>, kind: &str) -> String {
    let given: Vec<String> = row
        .list("/spec/externalIPs")
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    match kind {
        "ExternalName" => row.text("/spec/externalName").to_owned(),
        "LoadBalancer" => {
            let ingress = row.list("/status/loadBalancer/ingress").iter();
            let mut all: Vec<String> = ingress
                .filter_map(|entry| {
                    entry["ip"]
                        .as_str()
                        .filter(|ip| !ip.is_empty())
                        .or_else(|| entry["hostname"].as_str())
                })
                .map(str::to_owned)
                .collect();
            all.extend(given);
            if all.is_empty() {
                "<pending>".to_owned()
            } else {
                all.join(",")
            }
        }
        _ if given.is_empty() => NONE.to_owned(),
        _ => given.join(","),
    }
}

fn ports(row: &Row<'_>) -> String {
    let ports: Vec<String> = row
        .list("/spec/ports")
        .iter()
        .map(|port| {
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            match port["nodePort"].as_i64().unwrap_or_default() {
                0 => format!("{}/{protocol}", number(&port["port"])),
                node => format!("{}:{node}/{protocol}", number(&port["port"])),
            }
        })
        .collect();
    if ports.is_empty() {
        NONE.to_owned()
    } else {
        ports.join(",")
    }
}

fn endpoints(row: &Row<'_>) -> String {
    let mut list = Vec::new();
    for subset in row.list("/subsets") {
        let addresses = subset["addresses"].as_array().into_iter().flatten();
        for address in addresses.filter_map(|address| address["ip"].as_str()) {
            let ports = subset["ports"].as_array().into_iter().flatten();
            let before = list.len();
            list.extend(ports.map(|port| {
                let host = if address.contains(':') {
                    format!("[{address}]")
                } else {
                    address.to_owned()
                };
                format!("{host}:{}", number(&port["port"]))
            }));
            if list.len() == before {
                list.push(address.to_owned());
            }
        }
    }
    if list.is_empty() {
        NONE.to_owned()
    } else {
        first(&list, 3)
    }
}

fn event(row: &Row<'_>) -> Vec<Value> {
    let pick = |a: &str, b: &str| {
        if row.text(a).is_empty() {
            row.text(b).to_owned()
        } else {
            row.text(a).to_owned()
        }
    };
    let mut seen = pick("/firstTimestamp", "/eventTime");
    if seen.is_empty() {
        seen = pick("/deprecatedFirstTimestamp", "/eventTime");
    }
    let series = row.get("/series");
    let mut last = pick("/lastTimestamp", "/deprecatedLastTimestamp");
    if let Some(time) = series["lastObservedTime"].as_str() {
        time.clone_into(&mut last);
    } else if last.is_empty() {
        last.clone_from(&seen);
    }
    let object = if row.get("/involvedObject").is_object() {
        "/involvedObject"
    } else {
        "/regarding"
    };
    let kind = row.text(&format!("{object}/kind")).to_lowercase();
    let about = format!("{kind}/{}", row.text(&format!("{object}/name")));
    let count = series["count"]
        .as_i64()
        .or_else(|| row.get("/count").as_i64())
        .or_else(|| row.get("/deprecatedCount").as_i64());
    let component = match pick("/source/component", "/deprecatedSource/component").as_str() {
        "" => pick("/reportingComponent", "/reportingController"),
        component => component.to_owned(),
    };
    let host = match pick("/source/host", "/deprecatedSource/host").as_str() {
        "" => row.text("/reportingInstance").to_owned(),
        host => host.to_owned(),
    };
    let source = if host.is_empty() {
        component
    } else {
        format!("{component}, {host}")
    };
    let message = pick("/message", "/note");
    vec![
        text::since(&last, row.now).into(),
        row.text("/type").into(),
        row.text("/reason").into(),
        about.into(),
        row.text(&format!("{object}/fieldPath")).into(),
        source.into(),
        message.trim().into(),
        text::since(&seen, row.now).into(),
        json!(count.filter(|count| *count > 0).unwrap_or(1)),
        row.text("/metadata/name").into(),
    ]
}

fn node(row: &Row<'_>) -> Vec<Value> {
    let ready = row
        .list("/status/conditions")
        .iter()
        .find(|condition| condition["type"] == "Ready");
    let mut status = match ready {
        Some(condition) if condition["status"] == "True" => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if row.get("/spec/unschedulable") == true {
        status.push_str(",SchedulingDisabled");
    }
    let mut roles: Vec<&str> = Vec::new();
    for (label, value) in row.get("/metadata/labels").as_object().into_iter().flatten() {
        if let Some(role) = label
            .strip_prefix("node-role.kubernetes.io/")
            .filter(|role| !role.is_empty())
        {
            roles.push(role);
        } else if label == "kubernetes.io/role" {
            roles.extend(value.as_str());
        }
    }
    roles.sort_unstable();
    let address = |kind: &str| {
        let found = row
            .list("/status/addresses")
            .iter()
            .find(|address| address["type"] == kind);
        or_none(
            found
                .and_then(|address| address["address"].as_str())
                .unwrap_or_default(),
        )
    };
    let unknown = |pointer: &str| match row.text(pointer) {
        "" => "<unknown>".to_owned(),
        text => text.to_owned(),
    };
    let mut kernel = unknown("/status/nodeInfo/kernelVersion");
    let architecture = row.text("/status/nodeInfo/architecture");
    if !architecture.is_empty() {
        kernel = format!("{kernel} ({architecture})");
    }
    vec![
        status.into(),
        or_none(&roles.join(",")),
        row.age(),
        row.text("/status/nodeInfo/kubeletVersion").into(),
        address("InternalIP"),
        address("ExternalIP"),
        unknown("/status/nodeInfo/osImage").into(),
        kernel.into(),
        unknown("/status/nodeInfo/containerRuntimeVersion").into(),
    ]
}

fn replication_controller(row: &Row<'_>) -> Vec<Value> {
    of_replicas(row, labels(row.get("/spec/selector")))
}

fn quota(row: &Row<'_>) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (name, hard) in row.get("/status/hard").as_object().into_iter().flatten() {
        let used = &row.get("/status/used")[name];
        let quantity = |value: &Value| {
            let text = value.as_str().unwrap_or("0");
            Quantity::parse(text).map_or_else(|_| text.to_owned(), |quantity| quantity.to_string())
        };
        let text = format!("{name}: {}/{}", quantity(used), quantity(hard));
        if name.starts_with("limits") {
            limits.push(text);
        } else {
            requests.push(text);
        }
    }
    vec![requests.join(", ").into(), limits.join(", ").into(), row.age()]
}

fn template(row: &Row<'_>) -> Vec<Value> {
    let [names, images] = containers(row.get("/template/spec/containers"));
    vec![names, images, labels(row.get("/template/metadata/labels")).into()]
}
