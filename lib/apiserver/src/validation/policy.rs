//! Budgets, autoscalers, leases, limits, quotas and events.

use kubeschema::field::{self, FieldError};
use kubeschema::quantity::Quantity;
use serde_json::Value;

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

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
            given => super::pod::negative(given.as_i64(), &path, errors),
        }
    }
    super::network::selector(&spec["selector"], "spec.selector", errors);
}

/// A HorizontalPodAutoscaler.
pub(super) fn autoscaler(object: &Value, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    let number = |key: &str| spec[key].as_i64();
    let (least, most) = (number("minReplicas"), number("maxReplicas").unwrap_or_default());
    if let Some(least) = least.filter(|least| *least < 1) {
        errors.push(FieldError::invalid(
            "spec.minReplicas",
            least,
            "must be greater than or equal to 1",
        ));
    }
    if most < 1 {
        errors.push(FieldError::required(
            "spec.maxReplicas",
            "must be set and greater than 0",
        ));
    }
    if least.is_some_and(|least| most < least) {
        let why = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid("spec.maxReplicas", most, why));
    }
    let target = &spec["scaleTargetRef"];
    for key in ["kind", "name"] {
        if text(target, key).is_empty() {
            errors.push(FieldError::required(format!("spec.scaleTargetRef.{key}"), ""));
        }
    }
    if text(target, "apiVersion").is_empty() {
        let why = "apiVersion must specify API group";
        errors.push(FieldError::invalid("spec.scaleTargetRef.apiVersion", "", why));
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
    super::pod::negative(spec["leaseTransitions"].as_i64(), "spec.leaseTransitions", errors);
}

/// A LimitRange whose bounds contradict each other.
pub(super) fn limits(object: &Value, errors: &mut Vec<FieldError>) {
    for (position, limit) in object["spec"]["limits"].as_array().into_iter().flatten().enumerate() {
        let path = field::index("spec.limits", position);
        let amount = |part: &str, name: &str| limit[part][name].as_str().and_then(|text| Quantity::parse(text).ok());
        let mut compare = |part: &str, name: &str, low: (&str, &str), high: (&str, &str)| {
            if let (Some(small), Some(large)) = (amount(low.0, name), amount(high.0, name))
                && small > large
            {
                let why = format!("{} value {small} is greater than {} value {large}", low.1, high.1);
                let place = field::key(&field::child(&path, part), name);
                errors.push(FieldError::invalid(place, limit[part][name].clone(), why));
            }
        };
        let names = ["min", "max", "default", "defaultRequest"]
            .iter()
            .flat_map(|part| limit[*part].as_object().into_iter().flatten().map(|(name, _)| name));
        let mut seen: Vec<&String> = names.collect();
        seen.sort();
        seen.dedup();
        for name in seen {
            let (least, most) = (("min", "min"), ("max", "max"));
            let (request, normal) = (("defaultRequest", "default request"), ("default", "default"));
            compare("min", name, least, most);
            compare("defaultRequest", name, least, request);
            compare("defaultRequest", name, request, most);
            compare("defaultRequest", name, request, normal);
            compare("default", name, least, normal);
            compare("default", name, normal, most);
        }
    }
}

/// A ResourceQuota counts only what is known or qualified.
pub(super) fn quota(object: &Value, errors: &mut Vec<FieldError>) {
    const KNOWN: [&str; 18] = [
        "cpu",
        "memory",
        "ephemeral-storage",
        "storage",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
    ];
    for (name, amount) in object["spec"]["hard"].as_object().into_iter().flatten() {
        let path = field::key("spec.hard", name);
        let counted = name.starts_with("services.") || name.contains("hugepages-");
        if !name.contains('/') && !counted && !KNOWN.contains(&name.as_str()) {
            for why in [
                "must be a standard resource type or fully qualified",
                "must be a standard resource for quota",
            ] {
                errors.push(FieldError::invalid(path.as_str(), name.as_str(), why));
            }
        }
        let negative = amount
            .as_str()
            .and_then(|text| Quantity::parse(text).ok())
            .is_some_and(|q| q.nano() < 0);
        if negative {
            errors.push(FieldError::invalid(
                path,
                amount.clone(),
                "must be greater than or equal to 0",
            ));
        }
    }
}

/// An Event lives where the object is that it is about; those of cluster-scoped objects in `default`.
pub(super) fn event(object: &Value, errors: &mut Vec<FieldError>) {
    let home = text(&object["metadata"], "namespace");
    let about = text(&object["involvedObject"], "namespace");
    let fits = if about.is_empty() {
        matches!(home, "default" | "kube-system" | "")
    } else {
        about == home
    };
    if !fits {
        errors.push(FieldError::invalid(
            "involvedObject.namespace",
            about,
            "does not match event.namespace",
        ));
    }
}
