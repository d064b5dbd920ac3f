//! Priority and fairness: its objects are stored, requests are not queued by them.

use kubeschema::field::FieldError;
use kubeschema::name;

use super::place::{Errors, Place};

/// A FlowSchema.
pub(super) fn schema(spec: &Place<'_>, errors: &mut Errors) {
    const LATEST: i64 = 10_000;
    let precedence = spec.at("matchingPrecedence");
    match precedence.value.as_i64().unwrap_or_default() {
        ..=0 => {
            let number = precedence.value.as_i64().unwrap_or_default();
            errors.push(FieldError::invalid(
                precedence.path.as_str(),
                number,
                "must be a positive value",
            ));
        }
        1 => errors.push(precedence.invalid("only the schema named 'exempt' may have matchingPrecedence 1")),
        LATEST.. if precedence.value != LATEST => {
            errors.push(precedence.invalid(format!("must not be greater than {LATEST}")));
        }
        _ => {}
    }
    let level = spec.under("priorityLevelConfiguration", "name");
    level.want("must reference a priority level", errors);
    level.perhaps(name::dns_subdomain, errors);
    let method = spec.at("distinguisherMethod");
    if method.value.is_object() && !["ByNamespace", "ByUser"].contains(&method.text("type")) {
        let place = method.at("type");
        errors.push(FieldError::not_supported(
            place.path.as_str(),
            method.value.clone(),
            &["ByNamespace", "ByUser"],
        ));
    }
}

/// Whose which requests.
pub(super) fn rule(rule: &Place<'_>, errors: &mut Errors) {
    rule.at("subjects")
        .want("subjects must contain at least one value", errors);
    for subject in rule.each("subjects") {
        self::subject(&subject, errors);
    }
    let (resources, others) = (rule.at("resourceRules"), rule.at("nonResourceRules"));
    if resources.empty() && others.empty() {
        let why = "at least one of resourceRules and nonResourceRules has to be non-empty";
        errors.push(rule.required(why));
    }
    for rule in resources.items() {
        verbs(&rule.at("verbs"), errors);
        rule.at("apiGroups")
            .want("resource rules must supply at least one api group", errors);
        rule.at("resources")
            .want("resource rules must supply at least one resource", errors);
        let namespaces = rule.at("namespaces");
        if namespaces.empty() && rule.value["clusterScope"] != true {
            let why = "resource rules that are not cluster scoped must supply at least one namespace";
            errors.push(namespaces.required(why));
        }
        everything_alone(&namespaces, "namespaces", errors);
        for namespace in namespaces.items().filter(|namespace| namespace.own() != "*") {
            let complaints = name::dns_label(namespace.own());
            errors.extend(complaints.into_iter().map(|why| {
                namespace.invalid(format!(
                    "each member of this list must be '*' or a DNS-1123 label; {why}"
                ))
            }));
        }
        everything_alone(&rule.at("apiGroups"), "api groups", errors);
        everything_alone(&rule.at("resources"), "resources", errors);
    }
    for rule in others.items() {
        verbs(&rule.at("verbs"), errors);
        let urls = rule.at("nonResourceURLs");
        urls.want("nonResourceURLs must contain at least one value", errors);
        everything_alone(&urls, "non-resource URLs", errors);
        for url in urls.items().filter(|url| url.own() != "*") {
            if url.own().is_empty() {
                errors.push(url.invalid("must not be empty"));
            } else if !url.own().starts_with('/') {
                errors.push(url.invalid("must start with slash"));
            }
        }
    }
}

fn everything_alone(list: &Place<'_>, what: &str, errors: &mut Errors) {
    if list.items().count() > 1 && list.items().any(|item| item.own() == "*") {
        errors.push(list.invalid(format!("if '*' is present, must not specify other {what}")));
    }
}

fn verbs(verbs: &Place<'_>, errors: &mut Errors) {
    const KNOWN: [&str; 9] = [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "proxy",
        "update",
        "watch",
    ];
    if verbs.empty() {
        errors.push(verbs.required("verbs must contain at least one value"));
    } else if verbs.items().any(|verb| verb.own() == "*") {
        everything_alone(verbs, "verbs", errors);
    } else if verbs.items().any(|verb| !KNOWN.contains(&verb.own())) {
        errors.push(verbs.not_supported(&KNOWN));
    }
}

fn subject(subject: &Place<'_>, errors: &mut Errors) {
    const KINDS: [(&str, &str); 3] = [
        ("Group", "group"),
        ("ServiceAccount", "serviceAccount"),
        ("User", "user"),
    ];
    let kind = subject.text("kind");
    let Some((_, field)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        let choices = KINDS.map(|(name, _)| name);
        errors.push(FieldError::not_supported(subject.at("kind").path, kind, &choices));
        return;
    };
    let named = subject.at(field);
    if !named.value.is_object() {
        errors.push(named.required(format!("{field} is required when subject kind is '{kind}'")));
    } else if kind == "ServiceAccount" {
        let account = named.at("name");
        account.want("", errors);
        if account.own() != "*" {
            account.perhaps(name::dns_subdomain, errors);
        }
        named
            .at("namespace")
            .want("must specify namespace for service account", errors);
        named.at("namespace").perhaps(name::dns_label, errors);
    } else {
        named.at("name").want("", errors);
    }
    for (name, other) in KINDS {
        if name != kind && subject.has(other) {
            let why = format!("{other} is forbidden when subject kind is not '{name}'");
            errors.push(subject.at(other).forbidden(why));
        }
    }
}

/// A PriorityLevelConfiguration.
pub(super) fn level(spec: &Place<'_>, errors: &mut Errors) {
    const MOST_QUEUES: i64 = 10_000_000;
    let limited = spec.at("limited");
    match spec.text("type") {
        "" => errors.push(spec.at("type").required("")),
        "Exempt" if limited.value.is_object() => {
            let why = "must be nil if the type is not Limited";
            errors.push(limited.forbidden(why));
        }
        "Limited" if !limited.value.is_object() => {
            errors.push(limited.required("must not be empty when type is Limited"));
        }
        "Exempt" | "Limited" => {}
        _ => errors.push(spec.at("type").not_supported(&["Exempt", "Limited"])),
    }
    if spec.text("type") != "Limited" || !limited.value.is_object() {
        return;
    }
    limited
        .at("nominalConcurrencyShares")
        .within(0..=i64::MAX, "must be a non-negative integer", errors);
    limited
        .at("lendablePercent")
        .within(0..=100, "must be between 0 and 100, inclusive", errors);
    let response = limited.at("limitResponse");
    match response.text("type") {
        "" => errors.push(response.at("type").required("")),
        "Reject" if response.has("queuing") => {
            let why = "must be nil if limited.limitResponse.type is not Limited";
            errors.push(response.at("queuing").forbidden(why));
        }
        "Reject" => {}
        "Queue" if !response.has("queuing") => {
            let why = "must not be empty if limited.limitResponse.type is Limited";
            errors.push(response.at("queuing").required(why));
        }
        "Queue" => {
            let queuing = response.at("queuing");
            for field in ["queues", "handSize", "queueLengthLimit"] {
                queuing.at(field).within(1..=i64::MAX, "must be positive", errors);
            }
            let queues = queuing.number("queues").unwrap_or_default();
            let hand = queuing.at("handSize");
            if hand.value.as_i64().is_some_and(|number| number > queues) {
                errors.push(hand.invalid(format!("should not be greater than queues ({queues})")));
            } else if queues > MOST_QUEUES {
                errors.push(
                    queuing
                        .at("queues")
                        .invalid(format!("must not be greater than {MOST_QUEUES}")),
                );
            } else if entropy(queues, hand.value.as_i64().unwrap_or_default()) > MOST_BITS {
                let shown = hand.value.as_i64().unwrap_or_default();
                let why = format!(
                    "required entropy bits of deckSize {queues} and handSize {shown} should not be greater than {MOST_BITS}"
                );
                errors.push(hand.invalid(why));
            }
        }
        _ => errors.push(response.at("type").not_supported(&["Queue", "Reject"])),
    }
}

const MOST_BITS: u32 = 60;

/// How many bits of randomness it takes to deal a hand.
fn entropy(deck: i64, hand: i64) -> u32 {
    let deals = (0..hand.clamp(0, 64)).try_fold(1_u128, |product, dealt| {
        u128::try_from(deck - dealt)
            .ok()
            .and_then(|left| product.checked_mul(left))
    });
    deals.map_or(u32::MAX, |deals| 128 - deals.saturating_sub(1).leading_zeros())
}
