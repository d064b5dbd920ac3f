//! Where pods may run: affinities, tolerations, spreading.

use kubeschema::field::{self, FieldError};
use kubeschema::name;

use super::super::place::{Errors, Place};

/// The terms of a node selector, of which one must fit.
pub(crate) fn terms(terms: &Place<'_>, errors: &mut Errors) {
    terms.want("must have at least one node selector term", errors);
    // What is merely preferred may name values that no label can have.
    for value in terms
        .items()
        .flat_map(|term| term.each("matchExpressions"))
        .flat_map(|e| e.each("values"))
    {
        value.named(name::label_value, errors);
    }
}

/// A term: labels and fields of nodes.
pub(crate) fn term(term: &Place<'_>, errors: &mut Errors) {
    for expression in term.each("matchExpressions") {
        expression.at("key").named(name::qualified, errors);
        let values = expression.at("values");
        match expression.text("operator") {
            "In" | "NotIn" => values.want("must be specified when `operator` is 'In' or 'NotIn'", errors),
            "Exists" | "DoesNotExist" if !values.empty() => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(values.forbidden(why));
            }
            "Exists" | "DoesNotExist" => {}
            "Gt" | "Lt" if values.items().count() != 1 => {
                let why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                errors.push(values.required(why));
            }
            "Gt" | "Lt" => {}
            _ => not_an_operator(&expression, errors),
        }
    }
    for expression in term.each("matchFields") {
        let values = expression.at("values");
        match expression.text("operator") {
            "In" | "NotIn" if values.items().count() != 1 => {
                let why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                errors.push(values.required(why));
            }
            "In" | "NotIn" => {}
            _ => not_an_operator(&expression, errors),
        }
        let key = expression.at("key");
        if key.own() == "metadata.name" {
            for value in values.items() {
                value.named(name::dns_subdomain, errors);
            }
        } else {
            errors.push(FieldError::invalid(
                key.path.as_str(),
                key.own(),
                "not a valid field selector key",
            ));
        }
    }
}

fn not_an_operator(expression: &Place<'_>, errors: &mut Errors) {
    let operator = expression.at("operator");
    errors.push(FieldError::invalid(
        operator.path.as_str(),
        operator.own(),
        "not a valid selector operator",
    ));
}

/// Pods to be near to or away from; namespaces are refused by another name.
pub(crate) fn affinity_term(term: &Place<'_>, errors: &mut Errors) {
    let key = term.at("topologyKey");
    key.want("can not be empty", errors);
    key.named(name::qualified, errors);
    for namespace in term.each("namespaces") {
        Place::new(namespace.value, field::child(&term.path, "namespace")).named(name::dns_label, errors);
    }
    label_keys(term, "matchLabelKeys", errors);
    label_keys(term, "mismatchLabelKeys", errors);
}

fn label_keys(term: &Place<'_>, list: &str, errors: &mut Errors) {
    if !term.at(list).empty() && !term.has("labelSelector") {
        let why = "must not be specified when labelSelector is not set";
        errors.push(term.at(list).forbidden(why));
    }
    for key in term.each(list) {
        key.named(name::qualified, errors);
    }
}

/// How evenly pods are spread.
pub(crate) fn spread(constraint: &Place<'_>, errors: &mut Errors) {
    let skew = constraint.at("maxSkew");
    if skew.value.as_i64().unwrap_or_default() <= 0 {
        errors.push(FieldError::invalid(
            skew.path.as_str(),
            skew.value.as_i64().unwrap_or_default(),
            "must be greater than zero",
        ));
    }
    constraint.at("topologyKey").want("can not be empty", errors);
    let otherwise = constraint.text("whenUnsatisfiable");
    if otherwise.is_empty() {
        let path = constraint.at("whenUnsatisfiable").path;
        errors.push(FieldError::not_supported(
            path,
            "",
            &["DoNotSchedule", "ScheduleAnyway"],
        ));
    }
    let least = constraint.at("minDomains");
    least.within(1..=i64::MAX, "must be greater than zero", errors);
    if !least.value.is_null() && otherwise != "DoNotSchedule" {
        let why = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {otherwise}");
        errors.push(least.invalid(why));
    }
    label_keys(constraint, "matchLabelKeys", errors);
}

/// Two constraints may not say different things about one topology.
pub(super) fn spreads(spec: &Place<'_>, errors: &mut Errors) {
    let mut seen = Vec::new();
    for constraint in spec.each("topologySpreadConstraints") {
        let pair = (constraint.text("topologyKey"), constraint.text("whenUnsatisfiable"));
        if seen.contains(&pair) {
            // The first of the two is named.
            let first = seen.iter().position(|other| *other == pair).unwrap_or_default();
            let list = spec.at("topologySpreadConstraints").path;
            let path = field::child(&field::index(&list, first), "{topologyKey, whenUnsatisfiable}");
            errors.push(FieldError::duplicate(path, format!("{{{}, {}}}", pair.0, pair.1)));
        }
        seen.push(pair);
    }
}

/// A taint that is borne.
pub(crate) fn toleration(toleration: &Place<'_>, errors: &mut Errors) {
    let (key, operator) = (toleration.at("key"), toleration.at("operator"));
    key.perhaps(name::qualified, errors);
    if key.empty() && operator.own() != "Exists" {
        let why = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.push(FieldError::invalid(operator.path.as_str(), operator.own(), why));
    }
    if toleration.has("tolerationSeconds") && toleration.text("effect") != "NoExecute" {
        let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.push(FieldError::invalid(
            toleration.at("effect").path,
            toleration.text("effect"),
            why,
        ));
    }
    let value = toleration.text("value");
    match operator.own() {
        "Equal" | "" => {
            let complaints = name::label_value(value);
            errors.extend(
                complaints
                    .into_iter()
                    .map(|why| FieldError::invalid(operator.path.as_str(), value, why)),
            );
        }
        "Exists" if !value.is_empty() => {
            let why = "value must be empty when `operator` is 'Exists'";
            errors.push(FieldError::invalid(operator.path.as_str(), value, why));
        }
        _ => {}
    }
}
