//! HorizontalPodAutoscalers: bounds, metrics and how fast they may act.

use kubeschema::field::FieldError;
use kubeschema::name;
use kubeschema::quantity::Quantity;

use super::place::{Errors, Place};

/// The bounds of an autoscaler.
pub(super) fn check(object: &Place<'_>, errors: &mut Errors) {
    let spec = object.at("spec");
    let least = spec.at("minReplicas");
    least.within(0..=i64::MAX, "must be greater than or equal to 0", errors);
    let most = spec.at("maxReplicas");
    let number = most.value.as_i64().unwrap_or_default();
    if number < 1 {
        if most.value.is_null() || number == 0 {
            errors.push(most.required("must be set and greater than 0"));
        } else {
            errors.push(most.invalid("must be greater than or equal to 1"));
        }
    }
    if least.value.as_i64().is_some_and(|least| number < least) {
        let why = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid(most.path.as_str(), number, why));
    }
    let kinds = ["Object", "External"];
    let counts = |metric: &Place<'_>| kinds.contains(&metric.text("type"));
    if least.value == 0 && !spec.each("metrics").iter().any(counts) {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(spec.at("metrics").forbidden(why));
    }
    // The object to scale is one of a group; what metrics describe need not be.
    let version = spec.under("scaleTargetRef", "apiVersion");
    if version
        .own()
        .split_once('/')
        .is_none_or(|(group, rest)| group.is_empty() || rest.contains('/'))
    {
        let why = "apiVersion must specify API group";
        errors.push(FieldError::invalid(version.path.as_str(), version.own(), why));
    }
}

/// An object by kind and name.
pub(super) fn reference(reference: &Place<'_>, errors: &mut Errors) {
    for key in ["kind", "name"] {
        reference.at(key).must(name::path_segment, errors);
    }
    let version = reference.at("apiVersion");
    if version.own().split('/').count() > 2 {
        let why = format!("unexpected GroupVersion string: {}", version.own());
        errors.push(version.invalid(why));
    }
}

/// A metric and what it should be.
pub(super) fn metric(metric: &Place<'_>, errors: &mut Errors) {
    const SOURCES: [(&str, &str); 5] = [
        ("ContainerResource", "containerResource"),
        ("External", "external"),
        ("Object", "object"),
        ("Pods", "pods"),
        ("Resource", "resource"),
    ];
    let kind = metric.at("type");
    kind.want("must specify a metric source type", errors);
    let choices = SOURCES.map(|(kind, _)| kind);
    if !choices.contains(&kind.own()) {
        errors.push(FieldError::not_supported(kind.path.as_str(), kind.own(), &choices));
    }
    let expected = SOURCES
        .iter()
        .find(|(name, _)| *name == kind.own())
        .map(|(_, field)| *field);
    for (_, field) in SOURCES {
        let source = metric.at(field);
        if source.value.is_object() {
            self::source(field, &source, errors);
        }
        if expected.is_some_and(|expected| expected != field) && source.value.is_object() {
            let why = "must populate the given metric source only";
            errors.push(source.forbidden(why));
        }
    }
    if let Some(field) = expected.filter(|field| !metric.has(field)) {
        errors.push(
            metric
                .at(field)
                .required("must populate information for the given metric source"),
        );
    }
}

fn source(field: &str, source: &Place<'_>, errors: &mut Errors) {
    let target = source.at("target");
    match field {
        "resource" | "containerResource" => {
            source.at("name").want("must specify a resource name", errors);
            if field == "containerResource" {
                if !source.text("name").is_empty() {
                    super::pod::resources::named(source.text("name"), &source.at("name"), errors);
                }
                let container = source.at("container");
                container.want("must specify a container", errors);
                container.perhaps(name::dns_label, errors);
            }
        }
        _ => {
            let metric = source.under("metric", "name");
            metric.want("must specify a metric name", errors);
            metric.perhaps(name::path_segment, errors);
        }
    }
    aim(&target, errors);
    let (has_utilization, has_value) = (target.has("averageUtilization"), target.has("averageValue"));
    match field {
        "resource" | "containerResource" => {
            if has_utilization && has_value {
                let why = "may not set both a target raw value and a target utilization";
                errors.push(target.at("averageValue").forbidden(why));
            } else if !has_utilization && !has_value {
                let why = "must set either a target raw value or a target utilization";
                errors.push(target.at("averageUtilization").required(why));
            }
        }
        "pods" if !has_value => {
            let why = "must specify a positive target averageValue";
            errors.push(target.at("averageValue").required(why));
        }
        "object" if !target.has("value") && !has_value => {
            let why = "must set either a target value or averageValue";
            errors.push(target.at("averageValue").required(why));
        }
        "external" => match (target.has("value"), has_value) {
            (true, true) => {
                let why = "may not set both a target value for metric and a per-pod target";
                errors.push(target.at("value").forbidden(why));
            }
            (false, false) => {
                let why = "must set either a target value for metric or a per-pod target";
                errors.push(target.at("averageValue").required(why));
            }
            _ => {}
        },
        _ => {}
    }
}

/// The aim of a metric; its type is judged here, not by the schema.
fn aim(target: &Place<'_>, errors: &mut Errors) {
    let kind = target.at("type");
    kind.want("must specify a metric target type", errors);
    if !["Utilization", "Value", "AverageValue"].contains(&kind.own()) {
        let why = "must be either Utilization, Value, or AverageValue";
        errors.push(FieldError::invalid(kind.path.as_str(), kind.own(), why));
    }
    for field in ["value", "averageValue"] {
        let amount = target.at(field);
        if Quantity::parse(amount.own()).is_ok_and(|amount| amount.nano() <= 0) && !amount.empty() {
            errors.push(amount.invalid("must be positive"));
        }
    }
    target
        .at("averageUtilization")
        .within(1..=i64::MAX, "must be greater than 0", errors);
}

/// How one direction behaves.
pub(super) fn rules(rules: &Place<'_>, errors: &mut Errors) {
    const LONGEST: i64 = 3600;
    let window = rules.at("stabilizationWindowSeconds");
    window.within(0..=i64::MAX, "must be greater than or equal to zero", errors);
    if window.value.as_i64().is_some_and(|seconds| seconds > LONGEST) {
        errors.push(window.invalid(format!("must be less than or equal to {LONGEST}")));
    }
    let pick = rules.at("selectPolicy");
    if !pick.value.is_null() {
        pick.choice(&["Disabled", "Max", "Min"], errors);
    }
    rules.at("policies").want("must specify at least one Policy", errors);
    let tolerance = rules.at("tolerance");
    if Quantity::parse(tolerance.own()).is_ok_and(|amount| amount.nano() < 0) {
        errors.push(tolerance.invalid("must be greater than or equal to 0"));
    }
}

/// How much may change in which time.
pub(super) fn policy(policy: &Place<'_>, errors: &mut Errors) {
    const LONGEST: i64 = 1800;
    let kinds = ["Percent", "Pods"];
    if !kinds.contains(&policy.text("type")) {
        errors.push(FieldError::not_supported(
            policy.at("type").path,
            policy.text("type"),
            &kinds,
        ));
    }
    for field in ["value", "periodSeconds"] {
        let place = policy.at(field);
        let number = place.value.as_i64().unwrap_or_default();
        if number <= 0 {
            errors.push(FieldError::invalid(
                place.path.as_str(),
                number,
                "must be greater than zero",
            ));
        } else if field == "periodSeconds" && number > LONGEST {
            errors.push(place.invalid(format!("must be less than or equal to {LONGEST}")));
        }
    }
}
