//! Ingresses, network policies, endpoints, and label selectors inside objects.

use std::net::IpAddr;

use kubeschema::field::{self, FieldError};
use kubeschema::name;
use serde_json::Value;

use super::place::{Errors, Place};

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A label selector as a field of an object.
pub(super) fn selector(selector: &Place<'_>, errors: &mut Errors) {
    let labels = selector.at("matchLabels");
    super::metadata::labels_at(labels.value, &labels.path, errors);
    for expression in selector.each("matchExpressions") {
        let values = expression.at("values");
        match expression.text("operator") {
            "In" | "NotIn" => values.want("must be specified when `operator` is 'In' or 'NotIn'", errors),
            "Exists" | "DoesNotExist" if !values.empty() => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(values.forbidden(why));
            }
            "Exists" | "DoesNotExist" => {}
            other => {
                let path = expression.at("operator").path;
                errors.push(FieldError::invalid(path, other, "not a valid selector operator"));
            }
        }
        expression.at("key").named(name::qualified, errors);
        for value in values.items() {
            value.named(name::label_value, errors);
        }
    }
}

/// A port by number.
pub(super) fn port(place: &Place<'_>, errors: &mut Errors) {
    let number = place.value.as_i64().unwrap_or_default();
    if !(1..=65535).contains(&number) {
        let why = "must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(place.path.as_str(), number, why));
    }
}

/// A range of addresses.
pub(super) fn range(place: &Place<'_>, errors: &mut Errors) {
    if cidr(place.own()).is_none() {
        errors.push(place.invalid("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
    }
}

/// The address and length of a range.
fn cidr(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let length: u8 = length.parse().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    (length <= longest).then_some((address, length))
}

/// Whether a range lies in another and is smaller.
fn within(outer: (IpAddr, u8), inner: (IpAddr, u8)) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
        IpAddr::V6(address) => u128::from(address),
    };
    let mask = u128::MAX.checked_shl(128 - u32::from(outer.1)).unwrap_or_default();
    outer.0.is_ipv4() == inner.0.is_ipv4() && inner.1 > outer.1 && bits(outer.0) & mask == bits(inner.0) & mask
}

/// Addresses of a peer outside the cluster.
pub(super) fn block(block: &Place<'_>, errors: &mut Errors) {
    let whole = block.at("cidr");
    if whole.empty() {
        errors.push(whole.required(""));
        return;
    }
    range(&whole, errors);
    for except in block.each("except") {
        match (cidr(whole.own()), cidr(except.own())) {
            (Some(outer), Some(inner)) if !within(outer, inner) => {
                errors.push(except.invalid("must be a strict subset of `cidr`"));
            }
            _ => range(&except, errors),
        }
    }
}

/// Ports of a rule, by number or name, or a range of them.
pub(super) fn policy_port(rule: &Place<'_>, errors: &mut Errors) {
    let (start, end) = (rule.at("port"), rule.at("endPort"));
    match start.value {
        Value::Null => {
            if !end.value.is_null() {
                errors.push(end.invalid("may not be specified when `port` is not specified"));
            }
        }
        Value::String(_) => {
            start.named(name::port_name, errors);
            if !end.value.is_null() {
                errors.push(end.invalid("may not be specified when `port` is non-numeric"));
            }
        }
        _ => {
            port(&start, errors);
            if !end.value.is_null() {
                port(&end, errors);
                if end.value.as_i64() < start.value.as_i64() {
                    errors.push(end.invalid("must be greater than or equal to `port`"));
                }
            }
        }
    }
}

/// What an IngressClass is set up with.
pub(super) fn class_parameters(reference: &Place<'_>, errors: &mut Errors) {
    if reference.has("apiGroup") {
        reference.at("apiGroup").named(name::dns_subdomain, errors);
    }
    for key in ["kind", "name"] {
        reference.at(key).must(name::path_segment, errors);
    }
    let namespace = reference.at("namespace");
    match reference.text("scope") {
        "Namespace" => match namespace.value {
            Value::Null => errors.push(namespace.required("`parameters.scope` is set to 'Namespace'")),
            _ => namespace.named(name::dns_label, errors),
        },
        "Cluster" if !namespace.value.is_null() => {
            errors.push(namespace.forbidden("`parameters.scope` is set to 'Cluster'"));
        }
        _ => {}
    }
}

/// An address that Endpoints lead to.
pub(super) fn endpoint_address(entry: &Place<'_>, errors: &mut Errors) {
    entry.at("hostname").perhaps(name::dns_label, errors);
    if entry.has("nodeName") {
        entry.at("nodeName").named(name::dns_subdomain, errors);
    }
}

/// An Ingress.
pub(super) fn ingress(object: &Value, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    if list(spec, "rules").is_empty() && spec["defaultBackend"].is_null() {
        let why = "either `defaultBackend` or `rules` must be specified";
        errors.push(FieldError::invalid("spec", Value::Null, why));
    }
    if spec["defaultBackend"].is_object() {
        backend(&spec["defaultBackend"], "spec.defaultBackend", errors);
    }
    for (position, rule) in list(spec, "rules").iter().enumerate() {
        let path = field::index("spec.rules", position);
        let host = text(rule, "host");
        if host.parse::<IpAddr>().is_ok() {
            errors.push(FieldError::invalid(
                field::child(&path, "host"),
                host,
                "must be a DNS name, not an IP address",
            ));
        } else if !host.is_empty() {
            hostname(host, &field::child(&path, "host"), errors);
        }
        let http = field::child(&path, "http");
        if rule["http"].is_object() && list(&rule["http"], "paths").is_empty() {
            errors.push(FieldError::required(field::child(&http, "paths"), ""));
        }
        for (position, entry) in list(&rule["http"], "paths").iter().enumerate() {
            let path = field::index(&field::child(&http, "paths"), position);
            match text(entry, "pathType") {
                "" if entry["pathType"].is_null() => errors.push(FieldError::required(
                    field::child(&path, "pathType"),
                    "pathType must be specified",
                )),
                kind @ ("Exact" | "Prefix" | "ImplementationSpecific") => {
                    http_path(kind, &Place::new(&entry["path"], field::child(&path, "path")), errors);
                }
                _ => {}
            }
            // A backend is only looked at where the path makes sense.
            if !entry["pathType"].is_null() {
                backend(&entry["backend"], &field::child(&path, "backend"), errors);
            }
        }
    }
    if !spec["ingressClassName"].is_null() {
        Place::new(&spec["ingressClassName"], "spec.ingressClassName").named(name::dns_subdomain, errors);
    }
    for (position, tls) in list(spec, "tls").iter().enumerate() {
        let secret = field::child(&field::index("spec.tls", position), "secretName");
        Place::new(&tls["secretName"], secret).perhaps(name::dns_subdomain, errors);
        let path = field::child(&field::index("spec.tls", position), "hosts");
        for (position, host) in list(tls, "hosts").iter().enumerate() {
            hostname(
                host.as_str().unwrap_or_default(),
                &field::index(&path, position),
                errors,
            );
        }
    }
}

/// Where a backend begins: absolute, and without detours where the path is taken literally.
fn http_path(kind: &str, path: &Place<'_>, errors: &mut Errors) {
    let given = path.own();
    if kind == "ImplementationSpecific" && given.is_empty() {
        return;
    }
    if !given.starts_with('/') {
        errors.push(FieldError::invalid(
            path.path.as_str(),
            given,
            "must be an absolute path",
        ));
        return;
    }
    if kind == "ImplementationSpecific" {
        return;
    }
    let lower = given.to_ascii_lowercase();
    for part in ["//", "/./", "/../", "%2f"] {
        if lower.contains(part) {
            errors.push(path.invalid(format!("must not contain '{part}'")));
        }
    }
    for end in ["/..", "/."] {
        if given.ends_with(end) {
            errors.push(path.invalid(format!("cannot end with '{end}'")));
        }
    }
}

/// A host, where `*.` may stand for any first label.
fn hostname(host: &str, path: &str, errors: &mut Vec<FieldError>) {
    let plain = host.strip_prefix("*.").unwrap_or(host);
    errors.extend(
        name::dns_subdomain(plain)
            .into_iter()
            .map(|why| FieldError::invalid(path, host, why)),
    );
}

fn backend(backend: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let (service, resource) = (&backend["service"], &backend["resource"]);
    match (service.is_object(), resource.is_object()) {
        (true, true) => {
            errors.push(FieldError::invalid(
                path,
                "",
                "cannot set both resource and service backends",
            ));
            return;
        }
        (false, false) => {
            errors.push(FieldError::invalid(path, "", "resource or service backend is required"));
            return;
        }
        (false, true) => {
            typed_reference(&Place::new(resource, field::child(path, "resource")), errors);
            return;
        }
        (true, false) => {}
    }
    let place = field::child(&field::child(path, "service"), "name");
    if text(service, "name").is_empty() {
        errors.push(FieldError::required(place, ""));
    } else {
        let given = text(service, "name");
        errors.extend(
            name::dns_1035_label(given)
                .into_iter()
                .map(|why| FieldError::invalid(place.as_str(), given, why)),
        );
    }
    let port = &service["port"];
    let place = field::child(&field::child(path, "service"), "port");
    let number = port["number"].as_i64().unwrap_or_default();
    match (text(port, "name"), number) {
        ("", 0) => errors.push(FieldError::required(path, "port name or number is required")),
        ("", number) if !(1..=65535).contains(&number) => {
            let why = "must be between 1 and 65535, inclusive";
            errors.push(FieldError::invalid(field::child(&place, "number"), number, why));
        }
        ("", _) => {}
        (_, number) if number != 0 => {
            errors.push(FieldError::invalid(path, "", "cannot set both port name & port number"));
        }
        (given, _) => {
            let place = field::child(&place, "name");
            errors.extend(
                name::port_name(given)
                    .into_iter()
                    .map(|why| FieldError::invalid(place.as_str(), given, why)),
            );
        }
    }
}

/// An object of some group by kind and name.
pub(super) fn typed_reference(reference: &Place<'_>, errors: &mut Errors) {
    if reference.has("apiGroup") {
        reference.at("apiGroup").named(name::dns_subdomain, errors);
    }
    for key in ["kind", "name"] {
        reference.at(key).must(name::path_segment, errors);
    }
}

/// An IngressClass; its controller stays.
pub(super) fn class(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let given = text(&object["spec"], "controller");
    let fits = given
        .split_once('/')
        .is_some_and(|(domain, path)| name::dns_subdomain(domain).is_empty() && !path.is_empty());
    if given.len() > 250 {
        errors.push(FieldError::too_long("spec.controller", 250));
    }
    if given.is_empty() {
        errors.push(FieldError::required("spec.controller", ""));
    } else if !fits {
        errors.push(FieldError::invalid(
            "spec.controller",
            given,
            "must be a domain-prefixed path (such as \"acme.io/foo\")",
        ));
    }
    super::immutable("spec.controller", "/spec/controller", object, old, errors);
}

/// A NetworkPolicy.
pub(super) fn policy(object: &Value, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (position, rule) in list(spec, direction).iter().enumerate() {
            let path = field::child(&field::index(&format!("spec.{direction}"), position), peers);
            for (position, peer) in list(rule, peers).iter().enumerate() {
                let path = field::index(&path, position);
                let parts = ["podSelector", "namespaceSelector", "ipBlock"].map(|part| peer[part].is_object());
                if parts == [false; 3] {
                    errors.push(FieldError::required(path, "must specify a peer"));
                } else if parts[2] && (parts[0] || parts[1]) {
                    errors.push(FieldError::forbidden(
                        path,
                        "may not specify both ipBlock and another peer",
                    ));
                }
            }
        }
    }
    let types = list(spec, "policyTypes");
    if types.len() > 2 {
        errors.push(FieldError::invalid(
            "spec.policyTypes",
            types.to_vec(),
            "may not specify more than two policyTypes",
        ));
        return;
    }
    for (position, kind) in types.iter().enumerate() {
        let given = kind.as_str().unwrap_or_default();
        if !["Ingress", "Egress"].contains(&given) {
            errors.push(FieldError::not_supported(
                field::index("spec.policyTypes", position),
                given,
                &["Ingress", "Egress"],
            ));
        }
    }
}

fn address(given: &str, path: &str, errors: &mut Vec<FieldError>) {
    if given.parse::<IpAddr>().is_err() {
        errors.push(FieldError::invalid(
            path,
            given,
            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        ));
    }
}

/// Endpoints.
pub(super) fn endpoints(object: &Value, errors: &mut Vec<FieldError>) {
    for (position, subset) in list(object, "subsets").iter().enumerate() {
        let path = field::index("subsets", position);
        if list(subset, "addresses").is_empty() && list(subset, "notReadyAddresses").is_empty() {
            errors.push(FieldError::required(
                path.as_str(),
                "must specify `addresses` or `notReadyAddresses`",
            ));
        }
        for part in ["addresses", "notReadyAddresses"] {
            for (position, entry) in list(subset, part).iter().enumerate() {
                let place = field::index(&field::child(&path, part), position);
                address(text(entry, "ip"), &field::child(&place, "ip"), errors);
            }
        }
        for (position, port) in list(subset, "ports").iter().enumerate() {
            let place = field::index(&field::child(&path, "ports"), position);
            let port = Place::new(port, place);
            self::port(&port.at("port"), errors);
            let named = port.at("name");
            if list(subset, "ports").len() > 1 {
                named.want("", errors);
            }
            named.perhaps(name::dns_label, errors);
            if port.has("appProtocol") {
                port.at("appProtocol").named(name::qualified, errors);
            }
        }
    }
}

/// An EndpointSlice.
pub(super) fn slice(object: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    let kind = object.at("addressType");
    kind.want("", errors);
    for endpoint in object.each("endpoints") {
        let addresses = endpoint.at("addresses");
        addresses.want("must contain at least 1 address", errors);
        for entry in addresses.items().filter(|_| matches!(kind.own(), "IPv4" | "IPv6")) {
            address(entry.own(), &entry.path, errors);
        }
        for entry in addresses.items().filter(|_| kind.own() == "FQDN") {
            entry.named(name::dns_subdomain, errors);
        }
        if endpoint.has("hostname") {
            endpoint.at("hostname").named(name::dns_label, errors);
        }
        if endpoint.has("nodeName") {
            endpoint.at("nodeName").named(name::dns_subdomain, errors);
        }
        endpoint
            .under("hints", "forZones")
            .unique(|zone| zone.at("name"), errors);
    }
    let ports = object.at("ports");
    let mut names = Vec::new();
    for port in ports.items() {
        let name = port.at("name");
        if names.contains(&name.own()) {
            errors.push(name.duplicate());
        }
        names.push(name.value.as_str().unwrap_or_default());
        name.perhaps(name::dns_label, errors);
        if port.has("appProtocol") {
            port.at("appProtocol").named(name::qualified, errors);
        }
    }
    super::immutable("addressType", "/addressType", object.value, old, errors);
}
