//! Schemas inside definitions: structural ones say the type of everything, so that objects can be pruned and defaulted.
//!
//! Mirrors upstream's structural schema validation as far as definitions in the wild break it. Never judges objects.

use std::collections::BTreeSet;

use kubeschema::field::{self, FieldError};
use serde_json::Value;

use super::format;

/// Where in a schema another one stands.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Root,
    Field,
    Item,
}

/// Structural schemas say the type of everything, and use only what can be pruned and defaulted.
pub(super) fn check(schema: &Value, path: &str, place: Place, errors: &mut Vec<FieldError>) {
    let free = schema["x-kubernetes-preserve-unknown-fields"] == true || schema["x-kubernetes-int-or-string"] == true;
    match schema["type"].as_str() {
        None | Some("") if !free => {
            let what = match place {
                Place::Root => "at the root",
                Place::Field => "for specified object fields",
                Place::Item => "for specified array items",
            };
            errors.push(FieldError::required(
                format!("{path}.type"),
                format!("must not be empty {what}"),
            ));
        }
        Some(kind) if !["array", "boolean", "integer", "number", "object", "string", ""].contains(&kind) => {
            let choices = ["array", "boolean", "integer", "number", "object", "string"];
            errors.push(FieldError::not_supported(format!("{path}.type"), kind, &choices));
        }
        _ => {}
    }
    for unsupported in [
        "$ref",
        "definitions",
        "dependencies",
        "patternProperties",
        "additionalItems",
        "id",
    ] {
        if schema.get(unsupported).is_some_and(|value| !value.is_null()) {
            let why = format!("{unsupported} is not supported");
            errors.push(FieldError::forbidden(format!("{path}.{unsupported}"), why));
        }
    }
    if schema["uniqueItems"] == true {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.push(FieldError::forbidden(format!("{path}.uniqueItems"), why));
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && let Err(error) = super::pattern::compile(pattern)
    {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(format!("{path}.pattern"), pattern, why));
    }
    rules(schema, path, errors);
    lists(schema, path, errors);
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        check(
            inner,
            &field::key(&format!("{path}.properties"), name),
            Place::Field,
            errors,
        );
    }
    if schema["additionalProperties"].is_object() {
        if schema["properties"].as_object().is_some_and(|map| !map.is_empty()) {
            let why = "additionalProperties and properties are mutual exclusive";
            errors.push(FieldError::forbidden(format!("{path}.additionalProperties"), why));
        }
        check(
            &schema["additionalProperties"],
            &format!("{path}.additionalProperties"),
            Place::Field,
            errors,
        );
    }
    if schema["items"].is_object() {
        check(&schema["items"], &format!("{path}.items"), Place::Item, errors);
    } else if schema["type"] == "array" {
        errors.push(FieldError::required(format!("{path}.items"), "must be specified"));
    }
}

fn rules(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let list = schema["x-kubernetes-validations"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let text = |rule: &Value, key: &str| rule[key].as_str().unwrap_or_default().trim().to_owned();
    let before = errors.len();
    for (position, rule) in list.iter().enumerate() {
        if text(rule, "rule").is_empty() {
            let path = format!("{path}.x-kubernetes-validations[{position}].rule");
            errors.push(FieldError::required(path, "rule is not specified"));
        }
    }
    if errors.len() > before {
        return;
    }
    for (position, rule) in list.iter().enumerate() {
        for key in ["rule", "messageExpression"] {
            let expression = text(rule, key);
            if expression.is_empty() {
                continue;
            }
            if let Err(error) = kube_cel::cel::Program::compile(&expression) {
                let path = format!("{path}.x-kubernetes-validations[{position}].{key}");
                errors.push(FieldError::invalid(
                    path,
                    rule.clone(),
                    format!("compilation failed: {error}"),
                ));
            }
        }
    }
}

fn lists(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let keys = schema["x-kubernetes-list-map-keys"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    match schema["x-kubernetes-list-type"].as_str() {
        None | Some("atomic" | "set") if keys.is_empty() => {}
        None | Some("atomic" | "set") => {
            let why = "must be map if x-kubernetes-list-map-keys is non-empty";
            errors.push(FieldError::invalid(
                format!("{path}.x-kubernetes-list-type"),
                schema["x-kubernetes-list-type"].clone(),
                why,
            ));
        }
        Some("map") if keys.is_empty() => {
            let why = "must not be empty if x-kubernetes-list-type is map";
            errors.push(FieldError::required(format!("{path}.x-kubernetes-list-map-keys"), why));
        }
        Some("map") => {
            let required = schema["items"]["required"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            for key in keys {
                let property = &schema["items"]["properties"][key.as_str().unwrap_or_default()];
                if property.is_object() && property["default"].is_null() && !required.contains(key) {
                    let place = field::key(&format!("{path}.items.properties"), key.as_str().unwrap_or_default());
                    let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
                    errors.push(FieldError::required(format!("{place}.default"), why));
                }
            }
        }
        Some(other) => {
            let choices = ["atomic", "map", "set"];
            errors.push(FieldError::not_supported(
                format!("{path}.x-kubernetes-list-type"),
                other,
                &choices,
            ));
        }
    }
}

/// The formats that a schema names and nobody checks, sorted.
pub(super) fn unknown_formats(schema: &Value, found: &mut BTreeSet<String>) {
    let given = schema["format"].as_str().unwrap_or_default();
    let kind = schema["type"].as_str().unwrap_or_default();
    if !given.is_empty() && !format::known(kind, given) {
        found.insert(given.to_owned());
    }
    for key in ["properties", "patternProperties", "definitions"] {
        for inner in schema[key].as_object().into_iter().flat_map(serde_json::Map::values) {
            unknown_formats(inner, found);
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for inner in schema[key].as_array().into_iter().flatten() {
            unknown_formats(inner, found);
        }
    }
    for key in ["items", "additionalProperties", "not"] {
        if schema[key].is_object() {
            unknown_formats(&schema[key], found);
        }
    }
}
