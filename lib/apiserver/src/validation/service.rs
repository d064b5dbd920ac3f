//! Services. Which addresses are free is decided where they are given out.

use kubeschema::field::{self, FieldError};
use kubeschema::name;
use serde_json::{Value, json};

use super::place::{Errors, Place};

/// How long a client stays with its endpoint.
pub(super) fn affinity(client: &Place<'_>, errors: &mut Errors) {
    const LONGEST: i64 = 86_400;
    let seconds = client.at("timeoutSeconds");
    let why = format!("must be greater than 0 and less than {LONGEST}");
    seconds.within(1..=LONGEST, &why, errors);
}

pub(super) fn check(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    let text = |key: &str| spec[key].as_str().unwrap_or_default();
    let external = text("type") == "ExternalName";
    let headless = text("clusterIP") == "None";
    let ports = spec["ports"].as_array().map(Vec::as_slice).unwrap_or_default();
    if ports.is_empty() && !headless && !external {
        errors.push(FieldError::required("spec.ports", ""));
    }
    super::metadata::labels_at(&spec["selector"], "spec.selector", errors);
    if external {
        match text("externalName") {
            "" => errors.push(FieldError::required("spec.externalName", "")),
            given => {
                let problems = name::dns_subdomain(given.trim_end_matches('.'));
                errors.extend(
                    problems
                        .into_iter()
                        .map(|why| FieldError::invalid("spec.externalName", given, why)),
                );
            }
        }
    }
    for (position, port) in ports.iter().enumerate() {
        one(port, ports.len() > 1, &field::index("spec.ports", position), errors);
        let same = |other: &Value, keys: &[&str]| keys.iter().all(|key| other[*key] == port[*key]);
        let before = || ports.iter().take(position);
        let shown = |keys: &[&str]| {
            keys.iter()
                .map(|key| ((*key).to_owned(), port[*key].clone()))
                .collect::<Value>()
        };
        if before().any(|other| same(other, &["port", "protocol"])) {
            errors.push(FieldError::duplicate(
                field::index("spec.ports", position),
                shown(&["port", "protocol"]),
            ));
        }
        if port["nodePort"].as_i64().is_some_and(|n| n != 0)
            && before().any(|other| same(other, &["nodePort", "protocol"]))
        {
            let path = field::child(&field::index("spec.ports", position), "nodePort");
            errors.push(FieldError::duplicate(path, port["nodePort"].clone()));
        }
        let given = port["name"].as_str().unwrap_or_default();
        if !given.is_empty() && before().any(|other| other["name"] == given) {
            errors.push(FieldError::duplicate(
                field::child(&field::index("spec.ports", position), "name"),
                given,
            ));
        }
    }
    let spec = Place::new(spec, "spec");
    exposure(&spec, errors);
    families(&spec, errors);
    addresses(object, old, errors);
}

/// What only makes sense for services that can be reached from outside.
fn exposure(spec: &Place<'_>, errors: &mut Errors) {
    let kind = spec.text("type");
    for port in spec.each("ports") {
        if port.has("appProtocol") {
            port.at("appProtocol").named(name::qualified, errors);
        }
        if kind == "ClusterIP" && port.number("nodePort").is_some_and(|number| number != 0) {
            errors.push(
                port.at("nodePort")
                    .forbidden("may not be used when `type` is 'ClusterIP'"),
            );
        }
    }
    let ranges = Place::new(&spec.value["loadBalancerSourceRanges"], "spec.LoadBalancerSourceRanges");
    if kind == "LoadBalancer" {
        for range in ranges.items() {
            super::network::range(&range, errors);
        }
        spec.at("loadBalancerClass").perhaps(name::qualified, errors);
        if spec.has("loadBalancerClass") && spec.text("loadBalancerClass").is_empty() {
            spec.at("loadBalancerClass").named(name::qualified, errors);
        }
    } else {
        let why = "may only be used when `type` is 'LoadBalancer'";
        if !ranges.empty() {
            errors.push(ranges.forbidden(why));
        }
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if spec.has(field) {
                errors.push(spec.at(field).forbidden(why));
            }
        }
    }
    let outside = spec.at("externalTrafficPolicy");
    let reachable =
        matches!(kind, "NodePort" | "LoadBalancer") || (kind == "ClusterIP" && !spec.at("externalIPs").empty());
    if !outside.empty() && !reachable {
        errors.push(outside.invalid("may only be set for externally-accessible services"));
    }
    let health = spec.at("healthCheckNodePort");
    if health.value.as_i64().is_some_and(|port| port != 0) && !(kind == "LoadBalancer" && outside.own() == "Local") {
        let why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.push(health.invalid(why));
    }
    if health.value.as_i64().is_some_and(|port| port != 0) {
        super::network::port(&health, errors);
    }
    let near = spec.at("trafficDistribution");
    if !near.value.is_null() {
        near.choice(&["PreferClose", "PreferSameZone", "PreferSameNode"], errors);
    }
    for address in spec.each("externalIPs") {
        super::pod::address(&address, errors);
    }
}

/// Addresses and the families they are of.
fn families(spec: &Place<'_>, errors: &mut Errors) {
    let families = spec.at("ipFamilies");
    for family in families.items() {
        family.choice(&["IPv4", "IPv6"], errors);
        if family.own() == "IPv6" {
            errors.push(family.invalid("not configured on this cluster"));
        }
    }
    let policy = spec.at("ipFamilyPolicy");
    if policy.own() == "RequireDualStack" {
        errors.push(policy.invalid("this cluster is not configured for dual-stack services"));
    }
    families.unique(Place::clone, errors);
    let first = Place::new(&spec.value["clusterIP"], "spec.clusterIPs[0]");
    let given = spec.each("clusterIPs");
    for address in if given.is_empty() { vec![first] } else { given } {
        if !address.empty() && address.own() != "None" {
            super::pod::address(&address, errors);
        }
    }
}

fn one(port: &Value, several: bool, path: &str, errors: &mut Vec<FieldError>) {
    let given = port["name"].as_str().unwrap_or_default();
    let place = field::child(path, "name");
    if given.is_empty() {
        if several {
            errors.push(FieldError::required(place, ""));
        }
    } else {
        errors.extend(
            name::dns_label(given)
                .into_iter()
                .map(|why| FieldError::invalid(place.as_str(), given, why)),
        );
    }
    number(&port["port"], &field::child(path, "port"), errors);
    let target = field::child(path, "targetPort");
    match &port["targetPort"] {
        Value::String(text) => {
            let problems = name::port_name(text);
            errors.extend(
                problems
                    .into_iter()
                    .map(|why| FieldError::invalid(target.as_str(), text.as_str(), why)),
            );
        }
        Value::Null => {}
        given => number(given, &target, errors),
    }
}

fn number(value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let port = value.as_i64().unwrap_or_default();
    if !(1..=65535).contains(&port) {
        errors.push(FieldError::invalid(
            path,
            port,
            "must be between 1 and 65535, inclusive",
        ));
    }
}

/// An address that was given out stays, unless the Service becomes or was an external name.
fn addresses(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let Some(old) = old else { return };
    let (before, now) = (&old["spec"], &object["spec"]);
    if before["type"] == "ExternalName" || now["type"] == "ExternalName" {
        return;
    }
    let (was, is) = (&before["clusterIP"], &now["clusterIP"]);
    if was.as_str().is_some_and(|ip| !ip.is_empty()) && was != is {
        errors.push(FieldError::invalid(
            "spec.clusterIPs[0]",
            json!([is]),
            "may not change once set",
        ));
    }
}
