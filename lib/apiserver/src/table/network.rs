//! Rows of networking and discovery.

use serde_json::Value;

use super::text::{NONE, first, number, or_none, selector};
use super::{Builtin, Row};

pub(super) fn printer(kind: &str) -> Option<Builtin> {
    Some(match kind {
        "Ingress" => ("Class|Hosts|Address|Ports|Age", ingress),
        "IngressClass" => ("Controller|Parameters|Age", class),
        "NetworkPolicy" => ("Pod-Selector|Age", |row| {
            vec![selector(row.get("/spec/podSelector")).into(), row.age()]
        }),
        "EndpointSlice" => ("AddressType|Ports|Endpoints|Age", slice),
        "ServiceCIDR" => ("CIDRs|Age", |row| {
            let ranges: Vec<&str> = row.list("/spec/cidrs").iter().filter_map(Value::as_str).collect();
            vec![ranges.join(",").into(), row.age()]
        }),
        "IPAddress" => ("ParentRef", |row| {
            let parts = ["resource", "namespace", "name"].map(|part| row.text(&format!("/spec/parentRef/{part}")));
            vec![
                parts
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join("/")
                    .into(),
            ]
        }),
        _ => return None,
    })
}

fn ingress(row: &Row<'_>) -> Vec<Value> {
    let hosts: Vec<String> = row
        .list("/spec/rules")
        .iter()
        .filter_map(|rule| rule["host"].as_str())
        .filter(|host| !host.is_empty())
        .map(str::to_owned)
        .collect();
    let hosts = if hosts.is_empty() {
        "*".to_owned()
    } else {
        first(&hosts, 3)
    };
    let addresses: Vec<&str> = row
        .list("/status/loadBalancer/ingress")
        .iter()
        .filter_map(|entry| {
            entry["ip"]
                .as_str()
                .filter(|ip| !ip.is_empty())
                .or_else(|| entry["hostname"].as_str())
        })
        .collect();
    let ports = if row.list("/spec/tls").is_empty() {
        "80"
    } else {
        "80, 443"
    };
    vec![
        or_none(row.text("/spec/ingressClassName")),
        hosts.into(),
        addresses.join(",").into(),
        ports.into(),
        row.age(),
    ]
}

fn class(row: &Row<'_>) -> Vec<Value> {
    let parameters = row.get("/spec/parameters");
    let text = if parameters.is_object() {
        let part = |name: &str| parameters[name].as_str().unwrap_or_default();
        let group = part("apiGroup");
        let kind = if group.is_empty() {
            part("kind").to_owned()
        } else {
            format!("{}.{group}", part("kind"))
        };
        format!("{kind}/{}", part("name"))
    } else {
        NONE.to_owned()
    };
    vec![row.text("/spec/controller").into(), text.into(), row.age()]
}

fn slice(row: &Row<'_>) -> Vec<Value> {
    let port = |port: &Value| match port["port"].as_i64() {
        Some(_) => number(&port["port"]).to_string(),
        None => port["name"]
            .as_str()
            .filter(|name| !name.is_empty())
            .unwrap_or("*")
            .to_owned(),
    };
    let ports: Vec<String> = row.list("/ports").iter().map(port).collect();
    let addresses: Vec<String> = row
        .list("/endpoints")
        .iter()
        .flat_map(|endpoint| endpoint["addresses"].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let ports = if ports.is_empty() {
        "<unset>".to_owned()
    } else {
        first(&ports, 3)
    };
    let addresses = if addresses.is_empty() {
        "<unset>".to_owned()
    } else {
        first(&addresses, 3)
    };
    vec![
        row.text("/addressType").into(),
        ports.into(),
        addresses.into(),
        row.age(),
    ]
}
