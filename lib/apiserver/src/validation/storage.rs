//! Claims, storage classes and priority classes: mostly what may not change.

use kubeschema::field::FieldError;
use kubeschema::name;
use kubeschema::quantity::Quantity;
use serde_json::Value;

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// A volume needs a capacity, modes and one source.
pub(super) fn volume(object: &Value, errors: &mut Vec<FieldError>) {
    const SETTINGS: [&str; 9] = [
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ];
    let spec = &object["spec"];
    if spec["accessModes"].as_array().is_none_or(Vec::is_empty) {
        errors.push(FieldError::required("spec.accessModes", ""));
    }
    if spec["capacity"].as_object().is_none_or(serde_json::Map::is_empty) {
        errors.push(FieldError::required("spec.capacity", ""));
    }
    if !spec
        .as_object()
        .into_iter()
        .flatten()
        .any(|(key, _)| !SETTINGS.contains(&key.as_str()))
    {
        errors.push(FieldError::required("spec", "must specify a volume type"));
    }
}

pub(super) fn claim(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    if spec["accessModes"].as_array().is_none_or(Vec::is_empty) {
        errors.push(FieldError::required(
            "spec.accessModes",
            "at least 1 access mode is required",
        ));
    }
    for mode in spec["accessModes"].as_array().into_iter().flatten() {
        let given = mode.as_str().unwrap_or_default();
        if !MODES.contains(&given) {
            errors.push(FieldError::not_supported("spec.accessModes", given, &MODES));
        }
    }
    if let Some(class) = spec["storageClassName"].as_str().filter(|class| !class.is_empty()) {
        let problems = name::dns_subdomain(class);
        errors.extend(
            problems
                .into_iter()
                .map(|why| FieldError::invalid("spec.storageClassName", class, why)),
        );
    }
    let request = spec["resources"]["requests"]["storage"].as_str();
    match request.and_then(|text| Quantity::parse(text).ok()) {
        None => errors.push(FieldError::required("spec.resources[storage]", "")),
        Some(size) if size.nano() <= 0 => {
            let why = "must be greater than zero";
            errors.push(FieldError::invalid(
                "spec.resources[storage]",
                request.unwrap_or_default(),
                why,
            ));
        }
        Some(_) => {}
    }
    let Some(old) = old else { return };
    let fixed = |claim: &Value| {
        let mut spec = claim["spec"].clone();
        if let Some(map) = spec.as_object_mut() {
            map.remove("volumeAttributesClassName");
            if let Some(requests) = map
                .get_mut("resources")
                .and_then(|r| r.get_mut("requests"))
                .and_then(Value::as_object_mut)
            {
                requests.remove("storage");
            }
            // A claim may be bound once.
            if old["spec"]["volumeName"].as_str().is_none_or(str::is_empty) {
                map.remove("volumeName");
            }
        }
        spec
    };
    if fixed(old) != fixed(object) {
        let why =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        errors.push(FieldError::forbidden("spec", why));
    }
}

pub(super) fn class(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    if object["provisioner"].as_str().is_none_or(str::is_empty) {
        errors.push(FieldError::required("provisioner", ""));
    }
    let Some(old) = old else { return };
    for (field, why) in [
        ("parameters", "updates to parameters are forbidden."),
        ("provisioner", "updates to provisioner are forbidden."),
        ("reclaimPolicy", "updates to reclaimPolicy are forbidden."),
    ] {
        if old[field] != object[field] {
            errors.push(FieldError::forbidden(field, why));
        }
    }
    super::immutable("volumeBindingMode", "/volumeBindingMode", object, Some(old), errors);
}

pub(super) fn priority(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    const HIGHEST: i64 = 1_000_000_000;
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    if object["value"].as_i64().is_some_and(|value| value > HIGHEST) && !name.starts_with("system-") {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        errors.push(FieldError::forbidden("value", why));
    }
    if old.is_some_and(|old| old["value"].as_i64().unwrap_or_default() != object["value"].as_i64().unwrap_or_default())
    {
        errors.push(FieldError::forbidden("value", "may not be changed in an update."));
    }
    super::immutable("preemptionPolicy", "/preemptionPolicy", object, old, errors);
}
