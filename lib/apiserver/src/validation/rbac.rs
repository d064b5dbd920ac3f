//! Roles and bindings.

use kubeschema::field::{self, FieldError};
use kubeschema::name;
use kubeschema::selector::LabelSelector;
use serde_json::Value;

/// Which roles an aggregated role is made of.
pub(super) fn selectors(list: &super::place::Place<'_>, errors: &mut Vec<FieldError>) {
    let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
    list.want(why, errors);
    for selector in list.items() {
        if LabelSelector::from_json(selector.value).is_err() {
            errors.push(FieldError::invalid(
                selector.path,
                Value::Null,
                "invalid label selector.",
            ));
        }
    }
}

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn check(kind: &str, object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    match kind {
        "Role" | "ClusterRole" => rules(object, kind == "Role", errors),
        "RoleBinding" | "ClusterRoleBinding" => binding(object, old, kind == "RoleBinding", errors),
        _ => {}
    }
}

fn rules(object: &Value, namespaced: bool, errors: &mut Vec<FieldError>) {
    for (position, rule) in object["rules"].as_array().into_iter().flatten().enumerate() {
        let path = field::index("rules", position);
        let empty = |key: &str| rule[key].as_array().is_none_or(Vec::is_empty);
        if empty("verbs") {
            errors.push(FieldError::required(
                field::child(&path, "verbs"),
                "verbs must contain at least one value",
            ));
        }
        if !empty("nonResourceURLs") {
            let place = field::child(&path, "nonResourceURLs");
            let urls = rule["nonResourceURLs"].clone();
            if namespaced {
                errors.push(FieldError::invalid(
                    place,
                    urls,
                    "namespaced rules cannot apply to non-resource URLs",
                ));
            } else if !empty("apiGroups") || !empty("resources") || !empty("resourceNames") {
                let why = "rules cannot apply to both regular resources and non-resource URLs";
                errors.push(FieldError::invalid(place, urls, why));
            }
            continue;
        }
        if empty("apiGroups") {
            let why = "resource rules must supply at least one api group";
            errors.push(FieldError::required(field::child(&path, "apiGroups"), why));
        }
        if empty("resources") {
            let why = "resource rules must supply at least one resource";
            errors.push(FieldError::required(field::child(&path, "resources"), why));
        }
    }
}

fn binding(object: &Value, old: Option<&Value>, namespaced: bool, errors: &mut Vec<FieldError>) {
    let role = &object["roleRef"];
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    if !matches!(text(role, "apiGroup").as_str(), GROUP | "") {
        errors.push(FieldError::not_supported(
            "roleRef.apiGroup",
            text(role, "apiGroup"),
            &[GROUP],
        ));
    }
    let kinds: &[&str] = if namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    if !kinds.contains(&text(role, "kind").as_str()) {
        errors.push(FieldError::not_supported("roleRef.kind", text(role, "kind"), kinds));
    }
    named("roleRef.name", &text(role, "name"), errors);
    for (position, subject) in object["subjects"].as_array().into_iter().flatten().enumerate() {
        let path = field::index("subjects", position);
        let (kind, group) = (text(subject, "kind"), text(subject, "apiGroup"));
        if text(subject, "name").is_empty() {
            errors.push(FieldError::required(field::child(&path, "name"), ""));
        }
        match kind.as_str() {
            "ServiceAccount" => {
                let given = text(subject, "name");
                let problems = if given.is_empty() {
                    Vec::new()
                } else {
                    name::dns_subdomain(&given)
                };
                let place = field::child(&path, "name");
                errors.extend(
                    problems
                        .into_iter()
                        .map(|why| FieldError::invalid(place.as_str(), given.as_str(), why)),
                );
                if !group.is_empty() {
                    errors.push(FieldError::not_supported(field::child(&path, "apiGroup"), group, &[""]));
                }
                if !namespaced && text(subject, "namespace").is_empty() {
                    errors.push(FieldError::required(field::child(&path, "namespace"), ""));
                }
            }
            "User" | "Group" => {
                if group != GROUP {
                    errors.push(FieldError::not_supported(
                        field::child(&path, "apiGroup"),
                        group,
                        &[GROUP],
                    ));
                }
            }
            _ => {
                let kinds = ["ServiceAccount", "User", "Group"];
                errors.push(FieldError::not_supported(field::child(&path, "kind"), kind, &kinds));
            }
        }
    }
    if old.is_some_and(|old| old["roleRef"] != *role) {
        errors.push(FieldError::invalid("roleRef", role.clone(), "cannot change roleRef"));
    }
}

fn named(path: &str, given: &str, errors: &mut Vec<FieldError>) {
    if given.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else {
        errors.extend(
            name::path_segment(given)
                .into_iter()
                .map(|why| FieldError::invalid(path, given, why)),
        );
    }
}
