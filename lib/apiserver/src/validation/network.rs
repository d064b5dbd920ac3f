//! Ingresses, network policies, endpoints, and label selectors inside objects.

use std::net::IpAddr;

use kubeschema::field::{self, FieldError};
use kubeschema::name;
use serde_json::Value;

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A label selector as a field of an object.
pub(super) fn selector(selector: &Value, path: &str, errors: &mut Vec<FieldError>) {
    super::metadata::labels_at(&selector["matchLabels"], &field::child(path, "matchLabels"), errors);
    for (position, expression) in list(selector, "matchExpressions").iter().enumerate() {
        let path = field::index(&field::child(path, "matchExpressions"), position);
        let empty = list(expression, "values").is_empty();
        match text(expression, "operator") {
            "In" | "NotIn" if empty => {
                let why = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(FieldError::required(field::child(&path, "values"), why));
            }
            "Exists" | "DoesNotExist" if !empty => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(field::child(&path, "values"), why));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                errors.push(FieldError::invalid(
                    field::child(&path, "operator"),
                    other,
                    "not a valid selector operator",
                ));
            }
        }
        let key = text(expression, "key");
        let place = field::child(&path, "key");
        errors.extend(
            name::qualified(key)
                .into_iter()
                .map(|why| FieldError::invalid(place.as_str(), key, why)),
        );
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
                "" => errors.push(FieldError::required(
                    field::child(&path, "pathType"),
                    "pathType must be specified",
                )),
                "Exact" | "Prefix" if !text(entry, "path").starts_with('/') => {
                    let why = "must be an absolute path";
                    errors.push(FieldError::invalid(
                        field::child(&path, "path"),
                        text(entry, "path"),
                        why,
                    ));
                }
                _ => {}
            }
            // A backend is only looked at where the path makes sense.
            if !text(entry, "pathType").is_empty() {
                backend(&entry["backend"], &field::child(&path, "backend"), errors);
            }
        }
    }
    for (position, tls) in list(spec, "tls").iter().enumerate() {
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
            errors.push(FieldError::required(path, "resource or service backend is required"));
            return;
        }
        (false, true) => return,
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
        ("", 0) => errors.push(FieldError::required(place, "port name or number is required")),
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

/// An IngressClass; its controller stays.
pub(super) fn class(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let given = text(&object["spec"], "controller");
    let fits = given
        .split_once('/')
        .is_some_and(|(domain, path)| name::dns_subdomain(domain).is_empty() && !path.is_empty());
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
    selector(&spec["podSelector"], "spec.podSelector", errors);
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
            let number = port["port"].as_i64().unwrap_or_default();
            if !(1..=65535).contains(&number) {
                let why = "must be between 1 and 65535, inclusive";
                errors.push(FieldError::invalid(field::child(&place, "port"), number, why));
            }
        }
    }
}

/// An EndpointSlice.
pub(super) fn slice(object: &Value, errors: &mut Vec<FieldError>) {
    if !matches!(text(object, "addressType"), "IPv4" | "IPv6") {
        return;
    }
    for (position, endpoint) in list(object, "endpoints").iter().enumerate() {
        let path = field::child(&field::index("endpoints", position), "addresses");
        if list(endpoint, "addresses").is_empty() {
            errors.push(FieldError::required(path.as_str(), "must contain at least 1 address"));
        }
        for (position, entry) in list(endpoint, "addresses").iter().enumerate() {
            address(
                entry.as_str().unwrap_or_default(),
                &field::index(&path, position),
                errors,
            );
        }
    }
}
