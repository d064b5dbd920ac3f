//! LimitRanges and ResourceQuotas: bounds that fit together, names that are known.

use kubeschema::field::{self, FieldError};
use kubeschema::name;
use kubeschema::quantity::Quantity;
use serde_json::Value;

use super::place::{Errors, Place};
use super::pod::resources;

/// A LimitRange whose bounds contradict each other.
pub(super) fn limits(object: &Place<'_>, errors: &mut Errors) {
    const PARTS: [&str; 5] = ["min", "max", "default", "defaultRequest", "maxLimitRequestRatio"];
    let mut kinds = Vec::new();
    for limit in object.under("spec", "limits").items() {
        let kind = limit.at("type");
        kind_of(&kind, errors);
        if kinds.contains(&kind.own()) {
            errors.push(kind.duplicate());
        }
        kinds.push(kind.value.as_str().unwrap_or_default());
        let mut names: Vec<&String> = Vec::new();
        for part in PARTS {
            for (name, amount) in limit.at(part).entries() {
                if kind.own() != "PersistentVolumeClaim" || name.as_str() != "storage" {
                    standard(name, &amount, errors);
                }
                names.push(name);
            }
        }
        names.sort();
        names.dedup();
        for name in names {
            bounds(&limit, name, errors);
        }
    }
}

/// Objects of a kind that can be limited.
fn kind_of(kind: &Place<'_>, errors: &mut Errors) {
    kind.named(name::qualified, errors);
    let known = ["Pod", "Container", "PersistentVolumeClaim"].contains(&kind.own());
    if !known && !kind.own().contains('/') && name::qualified(kind.own()).is_empty() {
        errors.push(kind.invalid("must be a standard limit type or fully qualified"));
    }
}

fn standard(name: &str, place: &Place<'_>, errors: &mut Errors) {
    if name != "storage" {
        resources::named(name, place, errors);
    }
}

fn bounds(limit: &Place<'_>, name: &str, errors: &mut Errors) {
    let amount = |part: &str| Quantity::parse(limit.value[part][name].as_str().unwrap_or_default()).ok();
    let mut compare = |part: &str, low: (&str, &str), high: (&str, &str)| {
        if let (Some(small), Some(large)) = (amount(low.0), amount(high.0))
            && small > large
        {
            let why = format!("{} value {small} is greater than {} value {large}", low.1, high.1);
            let place = field::key(&limit.at(part).path, name);
            errors.push(FieldError::invalid(place, limit.value[part][name].clone(), why));
        }
    };
    let (least, most) = (("min", "min"), ("max", "max"));
    let (request, normal) = (("defaultRequest", "default request"), ("default", "default"));
    compare("min", least, most);
    compare("defaultRequest", least, request);
    compare("defaultRequest", request, most);
    compare("defaultRequest", request, normal);
    compare("default", least, normal);
    compare("default", normal, most);
    if let Some(ratio) = amount("maxLimitRequestRatio") {
        let place = Place::new(
            &limit.value["maxLimitRequestRatio"][name],
            field::key(&limit.at("maxLimitRequestRatio").path, name),
        );
        #[expect(clippy::cast_precision_loss, reason = "a ratio that is shown")]
        if ratio.nano() < 1_000_000_000 {
            errors.push(place.invalid(format!("ratio {ratio} is less than 1")));
        } else if let (Some(least), Some(most)) = (amount("min"), amount("max"))
            && least.nano() > 0
        {
            let widest = most.nano() as f64 / least.nano() as f64;
            if ratio.nano() as f64 / 1e9 > widest {
                errors.push(place.invalid(format!("ratio {ratio} is greater than max/min = {widest:.6}")));
            }
        }
    }
}

/// A ResourceQuota counts only what is known or qualified.
pub(super) fn check(object: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
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
    const DIVISIBLE: [&str; 4] = ["cpu", "memory", "storage", "ephemeral-storage"];
    let spec = object.at("spec");
    for (name, amount) in spec.at("hard").entries() {
        let counted = name.starts_with("services.") || name.contains("hugepages-");
        if !name.contains('/') && !counted && !KNOWN.contains(&name.as_str()) {
            for why in [
                "must be a standard resource type or fully qualified",
                "must be a standard resource for quota",
            ] {
                errors.push(FieldError::invalid(amount.path.as_str(), name.as_str(), why));
            }
        }
        let Some(number) = resources::parsed(&amount) else {
            continue;
        };
        let divisible = DIVISIBLE.iter().any(|known| name.ends_with(known));
        if number.nano() < 0 {
            errors.push(amount.invalid("must be greater than or equal to 0"));
        } else if !divisible && number.nano() % 1_000_000_000 != 0 {
            errors.push(amount.invalid("must be an integer"));
        }
    }
    super::immutable("spec.scopes", "/spec/scopes", object.value, old, errors);
    let scopes = spec.at("scopes");
    for scope in scopes.items() {
        if !SCOPES.contains(&scope.own()) {
            errors.push(scopes.invalid("unsupported scope"));
        }
    }
}

const SCOPES: [&str; 7] = [
    "BestEffort",
    "CrossNamespacePodAffinity",
    "NotBestEffort",
    "NotTerminating",
    "PriorityClass",
    "Terminating",
    "VolumeAttributesClass",
];

/// A scope by name and values; refused without its place in the list.
pub(super) fn scope(requirement: &Place<'_>, errors: &mut Errors) {
    let list = requirement.path.rsplit_once('[').map_or("", |(list, _)| list);
    let plain = Place::new(requirement.value, list);
    let scope = plain.at("scopeName");
    if !SCOPES.contains(&scope.own()) {
        errors.push(FieldError::invalid(
            scope.path.as_str(),
            scope.own(),
            "unsupported scope",
        ));
    }
    let values = plain.at("values");
    match plain.text("operator") {
        "In" | "NotIn" => {
            let why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
            values.want(why, errors);
        }
        "Exists" | "DoesNotExist" if !values.empty() => {
            let why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
            errors.push(values.invalid(why));
        }
        "Exists" | "DoesNotExist" => {}
        other => {
            let path = plain.at("operator").path;
            errors.push(FieldError::invalid(path, other, "not a valid selector operator"));
        }
    }
}
