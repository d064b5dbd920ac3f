//! Nodes, namespaces and what else a cluster's administrator sets.

use kubeschema::field::{self, FieldError};
use kubeschema::name;
use serde_json::Value;

use super::network;
use super::place::{Errors, Place};
use super::pod::resources;

/// A Node; its taints are refused below `metadata`.
pub(super) fn check(object: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    let spec = object.at("spec");
    let mut seen = Vec::new();
    for (position, taint) in spec.each("taints").iter().enumerate() {
        let plain = Place::new(taint.value, field::index("metadata.taints", position));
        let key = plain.at("key");
        let complaints = name::qualified(key.own());
        errors.extend(
            complaints
                .into_iter()
                .map(|why| FieldError::invalid(key.path.as_str(), key.own(), why)),
        );
        plain.at("value").perhaps(name::label_value, errors);
        let effect = plain.at("effect");
        effect.want("", errors);
        if !effect.empty() {
            effect.choice(&["NoSchedule", "PreferNoSchedule", "NoExecute"], errors);
        }
        let pair = (key.own().to_owned(), effect.own().to_owned());
        if seen.contains(&pair) {
            let mut error = plain.duplicate();
            error.detail = "taints must be unique by key and effect pair".to_owned();
            errors.push(error);
        }
        seen.push(pair);
    }
    let ranges = spec.at("podCIDRs");
    for range in ranges.items() {
        network::range(&range, errors);
    }
    let families = |six: bool| {
        ranges
            .items()
            .filter(move |range| range.own().contains(':') == six)
            .count()
    };
    if families(true) > 1 || families(false) > 1 {
        errors.push(ranges.invalid("may specify no more than one CIDR for each IP family"));
    }
    for part in ["capacity", "allocatable"] {
        for (name, amount) in object.under("status", part).entries() {
            let place = Place::new(amount.value, format!("status.{part}.{name}"));
            resources::quantity(name, &place, errors);
        }
    }
    let Some(old) = old else { return };
    for (key, why) in [
        (
            "podCIDRs",
            "node updates may not change podCIDR except from \"\" to valid",
        ),
        (
            "providerID",
            "node updates may not change providerID except from \"\" to valid",
        ),
    ] {
        let before = &old["spec"][key];
        if !before.is_null() && before != spec.at(key).value {
            errors.push(FieldError::forbidden(format!("spec.{key}"), why));
        }
    }
}

/// A Namespace's finalizers are all refused by the list's name.
pub(super) fn namespace(object: &Place<'_>, errors: &mut Errors) {
    let list = object.under("spec", "finalizers");
    for finalizer in list.items() {
        let given = finalizer.own();
        let complaints = name::qualified(given);
        let known = given.contains('/') || ["kubernetes", "orphan", "foregroundDeletion"].contains(&given);
        if complaints.is_empty() && !known {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(list.path.as_str(), given, why));
        }
        errors.extend(
            complaints
                .into_iter()
                .map(|why| FieldError::invalid(list.path.as_str(), given, why)),
        );
    }
}

/// A RuntimeClass.
pub(super) fn runtime(object: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    let handler = object.at("handler");
    handler.must(name::dns_label, errors);
    for (name, amount) in object.under("overhead", "podFixed").entries() {
        // Amounts are refused as if they were limits.
        let place = Place::new(amount.value, format!("overhead.limits[{name}]"));
        resources::named(name, &place, errors);
        resources::quantity(name, &place, errors);
    }
    let scheduling = object.at("scheduling");
    super::metadata::labels_at(&scheduling.value["nodeSelector"], "scheduling.nodeSelector", errors);
    scheduling.at("tolerations").unique(Place::clone, errors);
    super::immutable("handler", "/handler", object.value, old, errors);
}
