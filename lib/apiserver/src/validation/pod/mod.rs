//! Pods and the pod templates of workloads.
//!
//! Containers, volumes, scheduling and security have modules of their own; here stands what a pod is as a whole.

pub(super) mod container;
pub(super) mod probe;
pub(super) mod resources;
pub(super) mod scheduling;
pub(super) mod security;
pub(super) mod volume;

use std::net::IpAddr;

use kubeschema::field::{self, FieldError};
use kubeschema::name;
use serde_json::Value;

use super::metadata;
use super::place::{Errors, Place};

/// Most of a Pod's spec may not change.
pub(super) fn unchanged(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let Some(old) = old else { return };
    let count = |pod: &Value, list: &str| pod["spec"][list].as_array().map_or(0, Vec::len);
    let lists = ["containers", "initContainers"];
    let mut resized = lists
        .iter()
        .filter(|list| count(old, list) != count(object, list))
        .peekable();
    if resized.peek().is_some() {
        for list in resized {
            let why = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(format!("spec.{list}"), why));
        }
        return;
    }
    let mut now = fixed(&object["spec"]);
    if old["spec"]["terminationGracePeriodSeconds"]
        .as_i64()
        .is_some_and(|grace| grace < 0)
        && now["terminationGracePeriodSeconds"] == 1
    {
        now["terminationGracePeriodSeconds"] = old["spec"]["terminationGracePeriodSeconds"].clone();
    }
    if fixed(&old["spec"]) != now {
        let why = "pod updates may not change fields other than `spec.containers[*].image`,\
                   `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions \
                   to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it \
                   was previously negative)";
        errors.push(FieldError::forbidden("spec", why));
    }
    tolerations(&old["spec"], &object["spec"], errors);
    deadline(&old["spec"], &object["spec"], errors);
}

/// Tolerations may be added, nothing else.
fn tolerations(old: &Value, new: &Value, errors: &mut Errors) {
    let list = |spec: &Value| spec["tolerations"].as_array().cloned().unwrap_or_default();
    let now = list(new);
    // How long to bear a taint may change; which taint may not.
    let same = |a: &Value, b: &Value| {
        ["key", "operator", "value", "effect"]
            .iter()
            .all(|key| a[*key] == b[*key])
    };
    if list(old)
        .iter()
        .any(|before| !now.iter().any(|after| same(before, after)))
    {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        errors.push(FieldError::forbidden("spec.tolerations", why));
    }
}

/// A deadline may come nearer, but neither move away nor vanish.
fn deadline(old: &Value, new: &Value, errors: &mut Errors) {
    let Some(before) = old["activeDeadlineSeconds"].as_i64() else {
        return;
    };
    let place = Place::new(&new["activeDeadlineSeconds"], "spec.activeDeadlineSeconds");
    match place.value.as_i64() {
        None => errors.push(FieldError::invalid(
            place.path,
            before,
            "must not update from a positive integer to nil value",
        )),
        Some(after) if after > before => {
            errors.push(place.invalid("must be less than or equal to previous value"));
        }
        Some(_) => {}
    }
}

/// The part of a spec that may not change.
fn fixed(spec: &Value) -> Value {
    let mut spec = spec.clone();
    if let Some(map) = spec.as_object_mut() {
        for field in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
            map.remove(field);
        }
        for list in ["containers", "initContainers"] {
            for container in map.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(container) = container.as_object_mut() {
                    container.remove("image");
                }
            }
        }
    }
    spec
}

/// What pods are made from: its metadata is known by the template's own path.
pub(super) fn template(template: &Place<'_>, errors: &mut Errors) {
    metadata::maps(&template.value["metadata"], &template.path, errors);
    if !template.value["spec"].is_object() {
        errors.push(template.under("spec", "containers").required(""));
    }
}

/// A pod as a whole; everything in it was judged before.
pub(super) fn spec(spec: &Place<'_>, errors: &mut Errors) {
    let volumes = volume::known(&spec.at("volumes"), errors);
    spec.at("containers").want("", errors);
    let mut names: Vec<&str> = Vec::new();
    let mut ports = Vec::new();
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        for place in spec.each(list) {
            unique_label(&place.at("name"), &mut names, errors);
            container::mounts(&place, &volumes, errors);
            if list == "initContainers" {
                container::initial(&place, errors);
            }
            container::host_ports(&place, spec, &mut ports, errors);
            probe::sleeps(&place, spec, errors);
        }
    }
    metadata::labels_at(
        &spec.value["nodeSelector"],
        &field::child(&spec.path, "nodeSelector"),
        errors,
    );
    spec.at("activeDeadlineSeconds").within(
        1..=i64::from(i32::MAX),
        "must be between 1 and 2147483647, inclusive",
        errors,
    );
    for name in ["serviceAccountName", "nodeName"] {
        spec.at(name).perhaps(name::dns_subdomain, errors);
    }
    for name in ["hostname", "subdomain"] {
        spec.at(name).perhaps(name::dns_label, errors);
    }
    gates(spec, errors);
    if spec.text("dnsPolicy") == "None" {
        resolver_given(spec, errors);
    }
    security::shared_kernel(spec, errors);
    scheduling::spreads(spec, errors);
    // Templates may leave the account to what the pods will get.
    if spec.text("serviceAccountName").is_empty() && spec.path == "spec" {
        volume::tokens_forbidden(&spec.at("volumes"), errors);
    }
}

fn gates(spec: &Place<'_>, errors: &mut Errors) {
    let mut seen = Vec::new();
    for gate in spec.each("schedulingGates") {
        let given = gate.text("name");
        let complaints = name::qualified(given);
        errors.extend(
            complaints
                .into_iter()
                .map(|why| FieldError::invalid(gate.path.as_str(), given, why)),
        );
        if seen.contains(&given) {
            errors.push(FieldError::duplicate(gate.path.as_str(), given));
        }
        seen.push(given);
    }
}

fn resolver_given(spec: &Place<'_>, errors: &mut Errors) {
    if !spec.has("dnsConfig") {
        let why = "must provide `dnsConfig` when `dnsPolicy` is None";
        errors.push(spec.at("dnsConfig").required(why));
    } else {
        let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
        spec.under("dnsConfig", "nameservers").want(why, errors);
    }
}

/// How names are looked up.
pub(super) fn resolver(config: &Place<'_>, errors: &mut Errors) {
    const SERVERS: usize = 3;
    const DOMAINS: usize = 32;
    const LETTERS: usize = 2048;
    let servers = config.each("nameservers");
    if servers.len() > SERVERS {
        let why = format!("must not have more than {SERVERS} nameservers");
        errors.push(config.at("nameservers").invalid(why));
    }
    for server in servers {
        address(&server, errors);
    }
    let searches = config.each("searches");
    if searches.len() > DOMAINS {
        let why = format!("must not have more than {DOMAINS} search paths");
        errors.push(config.at("searches").invalid(why));
    }
    if searches.iter().map(|place| place.own().len() + 1).sum::<usize>() > LETTERS + 1 {
        let why = format!("must not have more than {LETTERS} characters (including spaces) in the search list");
        errors.push(config.at("searches").invalid(why));
    }
    for search in searches {
        // Search domains may have underscores and end in a dot.
        let plain = search.own().trim_end_matches('.').replace('_', "a");
        if search.own() != "." {
            let complaints = name::dns_subdomain(&plain);
            errors.extend(complaints.into_iter().map(|why| search.invalid(why)));
        }
    }
    for option in config.each("options") {
        if option.text("name").is_empty() {
            errors.push(option.required("must not be empty"));
        }
    }
}

/// An IP address.
pub(super) fn address(place: &Place<'_>, errors: &mut Errors) {
    if place.own().parse::<IpAddr>().is_err() {
        errors.push(place.invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
    }
}

/// An entry of the hosts file.
pub(super) fn alias(alias: &Place<'_>, errors: &mut Errors) {
    let ip = Place::new(&alias.value["ip"], field::child(&alias.path, "ip"));
    if ip.own().parse::<IpAddr>().is_err() {
        errors.push(FieldError::invalid(
            ip.path.as_str(),
            ip.own(),
            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        ));
    }
    for host in alias.each("hostnames") {
        host.named(name::dns_subdomain, errors);
    }
}

/// The operating system; refused as a whole.
pub(super) fn system(system: &Place<'_>, errors: &mut Errors) {
    let given = system.text("name");
    if given.is_empty() {
        errors.push(system.at("name").required(""));
    } else if !["linux", "windows"].contains(&given) {
        let choices = ["linux", "windows"];
        errors.push(FieldError::not_supported(system.path.as_str(), given, &choices));
    }
}

/// A name that must be there, be a label and be the only one.
fn unique_label<'a>(place: &Place<'a>, taken: &mut Vec<&'a str>, errors: &mut Errors) {
    place.must(name::dns_label, errors);
    let given = place.own();
    if !given.is_empty() {
        if taken.contains(&given) {
            errors.push(place.duplicate());
        }
        taken.push(given);
    }
}
