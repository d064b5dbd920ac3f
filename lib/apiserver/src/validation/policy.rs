//! Budgets, leases and events.

use kubeschema::field::FieldError;
use kubeschema::name;
use serde_json::Value;

use super::place::{Errors, Place};

/// A PodDisruptionBudget says one of two things.
pub(super) fn disruption(object: &Value, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    if !spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null() {
        errors.push(FieldError::invalid(
            "spec",
            spec.clone(),
            "minAvailable and maxUnavailable cannot be both set",
        ));
    }
    for key in ["minAvailable", "maxUnavailable"] {
        let path = format!("spec.{key}");
        match &spec[key] {
            Value::String(given) => {
                let digits = given.strip_suffix('%').unwrap_or_default();
                if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                    let why = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  \
                               or '93%', regex used for validation is '[0-9]+%')";
                    errors.push(FieldError::invalid(path, given.as_str(), why));
                } else if digits.parse::<u32>().is_ok_and(|percent| percent > 100) {
                    errors.push(FieldError::invalid(
                        path,
                        given.as_str(),
                        "must not be greater than 100%",
                    ));
                }
            }
            given => Place::new(given, path).natural(errors),
        }
    }
}

/// A Lease's numbers.
pub(super) fn lease(object: &Value, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    if let Some(seconds) = spec["leaseDurationSeconds"].as_i64().filter(|seconds| *seconds <= 0) {
        errors.push(FieldError::invalid(
            "spec.leaseDurationSeconds",
            seconds,
            "must be greater than 0",
        ));
    }
    Place::new(&spec["leaseTransitions"], "spec.leaseTransitions").natural(errors);
}

/// An Event lives where the object is that it is about; those of cluster-scoped objects in `default`.
///
/// Events of either group become the same object; the newer group wants more of it. Causes have the older group's names.
pub(super) fn event(group: &str, object: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    let newer = group == "events.k8s.io";
    let about = object.at(if newer { "regarding" } else { "involvedObject" });
    let (home, subject) = (object.at("metadata").text("namespace"), about.text("namespace"));
    let fits = match subject {
        "" => matches!(home, "default" | "kube-system" | ""),
        // Only the older group minds another namespace.
        _ => newer || subject == home,
    };
    if !fits {
        let why = "does not match event.namespace";
        errors.push(FieldError::invalid("involvedObject.namespace", subject, why));
    }
    let Some(old) = old.filter(|_| newer) else {
        // An older event that has the newer one's time is judged as one.
        if old.is_none() && (newer || object.has("eventTime")) {
            complete_event(newer, object, errors);
        }
        return;
    };
    for (field, told) in [
        ("regarding", "involvedObject"),
        ("reason", "reason"),
        ("note", "message"),
        ("action", "action"),
        ("eventTime", "eventTime"),
        ("reportingController", "reportingController"),
        ("reportingInstance", "reportingInstance"),
        ("related", "related"),
    ] {
        super::immutable(told, &format!("/{field}"), object.value, Some(old), errors);
    }
}

fn complete_event(newer: bool, object: &Place<'_>, errors: &mut Errors) {
    const LONGEST: usize = 128;
    const NOTE: usize = 1024;
    let kind = object.at("type");
    if newer && !["Normal", "Warning"].contains(&kind.own()) {
        errors.push(FieldError::invalid(
            kind.path.as_str(),
            "",
            format!("has invalid value: {}", kind.own()),
        ));
    }
    object.at("eventTime").want("", errors);
    if object.at("eventTime").empty() {
        // Without a time it is no event of this kind, and who reports it is not asked.
        return;
    }
    for (deprecated, told) in [
        ("deprecatedCount", "count"),
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedSource", "source"),
    ] {
        let place = object.at(deprecated);
        if newer && !place.empty() && *place.value != 0 {
            errors.push(FieldError::invalid(told, "", "needs to be unset"));
        }
    }
    let controller = object.at(if newer {
        "reportingController"
    } else {
        "reportingComponent"
    });
    controller.must(name::qualified, errors);
    if controller.empty() {
        controller.named(name::qualified, errors);
    }
    for field in ["reportingInstance", "action", "reason"] {
        let place = object.at(field);
        place.want("", errors);
        if place.own().len() > LONGEST {
            let why = format!("can have at most {LONGEST} characters");
            errors.push(FieldError::invalid(place.path, "", why));
        }
    }
    if object.text(if newer { "note" } else { "message" }).len() > NOTE {
        let why = format!("can have at most {NOTE} characters");
        errors.push(FieldError::invalid("message", "", why));
    }
    let series = object.at("series");
    if series.value.is_object() {
        if series.number("count").unwrap_or_default() < 2 {
            errors.push(FieldError::invalid(series.at("count").path, "", "should be at least 2"));
        }
        series.at("lastObservedTime").want("", errors);
    }
}
