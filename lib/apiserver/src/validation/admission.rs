//! Webhook configurations and admission policies. They are stored, never asked.

use kubeschema::field::FieldError;
use kubeschema::name;
use serde_json::Value;

use super::place::{Errors, Place};

/// Webhooks have different names.
pub(super) fn webhooks(hooks: &Place<'_>, errors: &mut Errors) {
    hooks.unique(|hook| hook.at("name"), errors);
}

/// A webhook: who is asked about what, and how long.
pub(super) fn webhook(hook: &Place<'_>, errors: &mut Errors) {
    domain_name(&hook.at("name"), errors);
    client(&hook.at("clientConfig"), errors);
    let effects = hook.at("sideEffects");
    if effects.value.is_null() {
        errors.push(effects.required("must specify one of None, NoneOnDryRun"));
    }
    hook.at("timeoutSeconds")
        .within(1..=30, "the timeout value must be between 1 and 30 seconds", errors);
    versions(&hook.at("admissionReviewVersions"), errors);
    hook.at("matchConditions")
        .unique(|condition| condition.at("name"), errors);
}

/// A name with a domain of at least three parts.
fn domain_name(place: &Place<'_>, errors: &mut Errors) {
    place.must(name::dns_subdomain, errors);
    if !place.empty() && name::dns_subdomain(place.own()).is_empty() && place.own().split('.').count() < 3 {
        errors.push(place.invalid("should be a domain with at least three segments separated by dots"));
    }
}

/// Where the webhook is.
pub(crate) fn client(config: &Place<'_>, errors: &mut Errors) {
    let (url, service) = (config.at("url"), config.at("service"));
    if url.value.is_null() == service.value.is_null() {
        errors.push(config.required("exactly one of url or service is required"));
        return;
    }
    if !url.value.is_null() {
        address(&url, errors);
        return;
    }
    // The reference names the one when the other is missing, and clients have learnt to live with it.
    for (lacking, named) in [("name", "namespace"), ("namespace", "name")] {
        if service.text(lacking).is_empty() {
            errors.push(service.at(named).required(""));
        }
    }
    let port = service.at("port");
    if port.value.as_i64().is_some_and(|number| !(1..=65535).contains(&number)) {
        errors.push(port.invalid("port is not valid: must be between 1 and 65535, inclusive"));
    }
    let path = service.at("path");
    if !path.empty() {
        steps(&path, errors);
    }
}

fn steps(path: &Place<'_>, errors: &mut Errors) {
    let given = path.own();
    let Some(rest) = given.strip_prefix('/') else {
        errors.push(path.invalid("must start with a '/'"));
        return;
    };
    let segments: Vec<&str> = rest.split('/').collect();
    for (position, segment) in segments.iter().enumerate() {
        if segment.is_empty() {
            // The last one may be empty: the path ends in a slash.
            if position + 1 < segments.len() {
                errors.push(path.invalid(format!("segment[{position}] may not be empty")));
            }
            continue;
        }
        let complaints = name::dns_subdomain(segment);
        errors.extend(
            complaints
                .into_iter()
                .map(|why| path.invalid(format!("segment[{position}]: {why}"))),
        );
    }
}

fn address(url: &Place<'_>, errors: &mut Errors) {
    let form = "desired format: https://host[/path]";
    let given = url.own();
    match given.split_once("://") {
        Some(("https", rest)) if rest.is_empty() || rest.starts_with('/') => {
            errors.push(url.invalid(format!("host must be specified; {form}")));
        }
        Some(("https", rest)) => {
            for (mark, what) in [('?', "query parameters are"), ('#', "fragments are")] {
                if rest.contains(mark) {
                    errors.push(url.invalid(format!("{what} not permitted in the URL")));
                }
            }
            if rest.split('/').next().is_some_and(|host| host.contains('@')) {
                errors.push(url.invalid("user information is not permitted in the URL"));
            }
        }
        _ => errors.push(url.invalid(format!("'https' is the only allowed URL scheme; {form}"))),
    }
}

fn versions(versions: &Place<'_>, errors: &mut Errors) {
    let known = ["v1", "v1beta1"];
    if versions.empty() {
        errors.push(versions.required("must specify one of v1, v1beta1"));
        return;
    }
    let mut seen = Vec::new();
    for version in versions.items() {
        if seen.contains(&version.own()) {
            errors.push(version.invalid("duplicate version"));
        }
        seen.push(version.value.as_str().unwrap_or_default());
        version.named(name::dns_1035_label, errors);
    }
    if !seen.iter().any(|version| known.contains(version)) {
        errors.push(versions.invalid("must include at least one of v1, v1beta1"));
    }
}

/// Which requests.
pub(super) fn rule(rule: &Place<'_>, errors: &mut Errors) {
    for list in ["operations", "apiGroups", "apiVersions", "resources"] {
        let place = rule.at(list);
        place.want("", errors);
        let stars = place.items().filter(|item| item.own() == "*").count();
        if stars > 0 && place.items().count() > 1 && list != "resources" {
            let what = match list {
                "apiGroups" => "API groups",
                "apiVersions" => "API versions",
                _ => "operations",
            };
            errors.push(place.invalid(format!("if '*' is present, must not specify other {what}")));
        }
        if list == "apiVersions" || list == "resources" {
            for item in place.items() {
                item.want("", errors);
            }
        }
    }
}

/// What an expression must be: written, and compilable.
pub(super) fn expression(place: &Place<'_>, errors: &mut Errors) {
    if place.own().trim().is_empty() {
        return;
    }
    if let Err(why) = crate::crd::parses(place.own()) {
        errors.push(place.invalid(format!("compilation failed: {why}")));
    }
}

/// Annotations of a policy are known by the policy's name and their own.
pub(super) fn annotations(policy: &Place<'_>, errors: &mut Errors) {
    let name = policy.under("metadata", "name");
    for annotation in policy.at("spec").each("auditAnnotations") {
        let key = annotation.at("key");
        if name.empty() {
            errors.push(key.invalid("requires metadata.name be non-empty"));
            continue;
        }
        let whole = format!("{}/{}", name.own(), key.own());
        let complaints = name::qualified(&whole);
        errors.extend(
            complaints
                .into_iter()
                .map(|why| FieldError::invalid(key.path.as_str(), whole.as_str(), why)),
        );
    }
}

/// A policy: constraints, validations, variables.
pub(super) fn policy(spec: &Place<'_>, errors: &mut Errors) {
    let constraints = spec.at("matchConstraints");
    if constraints.empty() {
        errors.push(constraints.required(""));
    } else {
        constraints.at("resourceRules").want("", errors);
    }
    let (validations, annotations) = (spec.at("validations"), spec.at("auditAnnotations"));
    if validations.empty() && annotations.empty() {
        let why = "validations or auditAnnotations must contain at least one item";
        errors.push(validations.required(why));
        errors.push(annotations.required(why));
    }
    for validation in validations.items() {
        let place = validation.at("expression");
        place.want("expression is not specified", errors);
        expression(&place, errors);
    }
    for variable in spec.each("variables") {
        let name = variable.at("name");
        name.want("name is not specified", errors);
        if !name.empty() && !is_identifier(name.own()) {
            errors.push(name.invalid("must be a valid CEL identifier"));
        }
        let place = variable.at("expression");
        place.want("expression is not specified", errors);
        expression(&place, errors);
    }
    for annotation in annotations.items() {
        let place = annotation.at("valueExpression");
        place.want("valueExpression is not specified", errors);
        expression(&place, errors);
    }
    annotations.unique(|annotation| annotation.at("key"), errors);
    spec.at("matchConditions")
        .unique(|condition| condition.at("name"), errors);
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The kind of a policy's parameters.
pub(super) fn parameter_kind(kind: &Place<'_>, errors: &mut Errors) {
    let version = kind.at("apiVersion");
    version.want("", errors);
    if !version.empty() {
        let (group, version_name) = version.own().split_once('/').unwrap_or(("", version.own()));
        if version_name.contains('/') {
            errors.push(version.invalid(format!("unexpected GroupVersion string: {}", version.own())));
        } else {
            let mut complaints = name::dns_1035_label(version_name);
            if !group.is_empty() {
                complaints.extend(name::dns_subdomain(group));
            }
            errors.extend(complaints.into_iter().map(|why| version.invalid(why)));
        }
    }
    let name = kind.at("kind");
    name.want("", errors);
    if !name.empty() {
        let complaints = name::dns_1035_label(&name.own().to_lowercase());
        errors.extend(
            complaints
                .into_iter()
                .map(|why| name.invalid(format!("may have mixed case, but should otherwise match: {why}"))),
        );
    }
}

/// What a binding does with violations.
pub(super) fn binding(spec: &Place<'_>, errors: &mut Errors) {
    let actions = spec.at("validationActions");
    actions.want("at least one validation action is required", errors);
    let mut seen: Vec<&Value> = Vec::new();
    for action in actions.items() {
        if seen.contains(&action.value) {
            errors.push(action.duplicate());
        }
        seen.push(action.value);
        action.choice(&["Audit", "Deny", "Warn"], errors);
    }
    let has = |wanted: &str| seen.iter().any(|action| *action == wanted);
    if has("Deny") && has("Warn") {
        let why = "must not contain both Deny and Warn (repeating the same validation failure information in the \
                   API response and headers serves no purpose)";
        errors.push(actions.invalid(why));
    }
}

/// Which parameters a binding uses.
pub(super) fn parameters(reference: &Place<'_>, errors: &mut Errors) {
    match (!reference.text("name").is_empty(), reference.has("selector")) {
        (false, false) => errors.push(reference.required("one of name or selector must be specified")),
        (true, true) => {
            let why = "name and selector are mutually exclusive";
            errors.push(reference.at("name").forbidden(why));
        }
        _ => {}
    }
    reference.at("name").perhaps(name::path_segment, errors);
    let missing = reference.at("parameterNotFoundAction");
    missing.want("", errors);
    if !missing.empty() {
        missing.choice(&["Deny", "Allow"], errors);
    }
}

/// An API served by another server.
pub(super) fn service(object: &Place<'_>, errors: &mut Errors) {
    let spec = object.at("spec");
    let (group, version) = (spec.text("group"), spec.text("version"));
    let wanted = format!("{version}.{group}");
    let name = object.under("metadata", "name");
    if name.own() != wanted {
        let why = format!("must be `spec.version+\".\"+spec.group`: {wanted:?}");
        errors.push(name.invalid(why));
    }
    if group.is_empty() {
        if version != "v1" {
            let why = "only v1 may have an empty group and it better be legacy kube";
            errors.push(spec.at("group").required(why));
        }
    } else {
        spec.at("group").named(name::dns_subdomain, errors);
    }
    spec.at("version").named(name::dns_1035_label, errors);
    for (field, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let place = spec.at(field);
        let number = place.value.as_i64().unwrap_or_default();
        if number <= 0 || number > most {
            let why = format!("must be positive and less than {most}");
            errors.push(FieldError::invalid(place.path.as_str(), number, why));
        }
    }
    let (target, insecure) = (spec.at("service"), spec.at("insecureSkipTLSVerify"));
    if target.value.is_null() {
        if insecure.value == &Value::Bool(true) {
            errors.push(insecure.invalid("local APIServices may not have insecureSkipTLSVerify"));
        }
        return;
    }
    target.at("namespace").want("", errors);
    target.at("name").want("", errors);
    let port = target.at("port");
    if port.value.as_i64().is_some_and(|number| !(1..=65535).contains(&number)) {
        errors.push(port.invalid("port is not valid: must be between 1 and 65535, inclusive"));
    }
    if insecure.value == &Value::Bool(true) && !spec.at("caBundle").empty() {
        errors.push(insecure.invalid("may not be true if caBundle is present"));
    }
}
