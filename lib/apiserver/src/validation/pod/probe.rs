//! Probes and life cycle hooks: what is asked of a container, and when.

use kubeschema::field::FieldError;
use kubeschema::name;
use serde_json::Value;

use super::super::network;
use super::super::place::{Errors, Place};

/// A probe; only readiness may ask for several successes.
pub(super) fn check(name: &str, probe: &Place<'_>, errors: &mut Errors) {
    if !probe.value.is_object() {
        return;
    }
    one_of(probe, &["exec", "httpGet", "tcpSocket", "grpc"], errors);
    target(&probe.at("httpGet"), errors);
    target(&probe.at("tcpSocket"), errors);
    for field in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        probe.at(field).natural(errors);
    }
    let grace = probe.at("terminationGracePeriodSeconds");
    if name == "readinessProbe" && !grace.value.is_null() {
        errors.push(grace.invalid("must not be set for readinessProbes"));
    } else {
        grace.within(1..=i64::MAX, "must be greater than 0", errors);
    }
    if name != "readinessProbe" && probe.number("successThreshold").is_some_and(|count| count > 1) {
        errors.push(probe.at("successThreshold").invalid("must be 1"));
    }
}

fn one_of(place: &Place<'_>, kinds: &[&str], errors: &mut Errors) {
    match kinds.iter().filter(|kind| place.has(kind)).count() {
        0 => errors.push(place.required("must specify a handler type")),
        1 => {}
        _ => errors.push(place.forbidden("may not specify more than 1 handler type")),
    }
}

/// The port that is asked, by number or name.
fn target(handler: &Place<'_>, errors: &mut Errors) {
    if !handler.value.is_object() {
        return;
    }
    let port = handler.at("port");
    match port.value {
        Value::String(_) => port.named(name::port_name, errors),
        _ => network::port(&port, errors),
    }
}

/// A life cycle hook.
pub(super) fn handler(hook: &Place<'_>, errors: &mut Errors) {
    if !hook.value.is_object() {
        return;
    }
    one_of(hook, &["exec", "httpGet", "tcpSocket", "sleep"], errors);
    target(&hook.at("httpGet"), errors);
    target(&hook.at("tcpSocket"), errors);
}

/// Hooks may not sleep longer than the pod has time to end.
pub(super) fn sleeps(container: &Place<'_>, spec: &Place<'_>, errors: &mut Errors) {
    let grace = spec.number("terminationGracePeriodSeconds").unwrap_or(30);
    for hook in ["postStart", "preStop"] {
        let sleep = container.under("lifecycle", hook).at("sleep");
        let seconds = sleep.number("seconds").unwrap_or_default();
        if sleep.value.is_object() && !(0..=grace).contains(&seconds) {
            let why = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
            errors.push(FieldError::invalid(sleep.path, seconds, why));
        }
    }
}

/// An HTTP request; its headers are refused by the list's name.
pub(crate) fn request(request: &Place<'_>, errors: &mut Errors) {
    let headers = request.at("httpHeaders");
    for header in headers.items() {
        let given = header.text("name");
        if given.is_empty() || !given.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            let why = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', \
                       regex used for validation is '[-A-Za-z0-9]+')";
            errors.push(FieldError::invalid(headers.path.as_str(), given, why));
        }
    }
}
