//! Schemas inside definitions: structural ones say the type of everything, so that objects can be pruned and defaulted.
//!
//! Mirrors upstream's structural schema validation as far as definitions in the wild break it. Never judges objects.

use std::collections::BTreeSet;

use kubeschema::field::{self, FieldError};
use serde_json::Value;

use super::node::Node;
use super::{check, fill, format};

/// Where in a schema another one stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Root,
    Field,
    Item,
}

/// Structural schemas say the type of everything, and use only what can be pruned and defaulted.
pub(super) fn check(schema: &Value, path: &str, place: Place, errors: &mut Vec<FieldError>) {
    let free = schema["x-kubernetes-preserve-unknown-fields"] == true || schema["x-kubernetes-int-or-string"] == true;
    match schema["type"].as_str() {
        // A reference is refused as such.
        None | Some("") if !free && schema["$ref"].is_null() => {
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
        Some("null") => {
            let place = format!("{path}.type");
            let why = "type cannot be set to null, use nullable as an alternative";
            errors.push(FieldError::forbidden(place.as_str(), why));
            errors.push(FieldError::not_supported(place, "null", &TYPES));
        }
        Some(kind) if !["array", "boolean", "integer", "number", "object", "string", ""].contains(&kind) => {
            errors.push(FieldError::not_supported(format!("{path}.type"), kind, &TYPES));
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
    extensions(schema, path, errors);
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

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Of an object's own metadata only names may be restricted.
fn metadata(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let mut names = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(serde_json::Map::keys);
    if names.any(|name| name != "name" && name != "generateName") {
        let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(FieldError::forbidden(path, why));
    }
}

/// Kubernetes' own keywords that do not fit together.
fn extensions(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if schema["x-kubernetes-preserve-unknown-fields"] == false {
        let place = format!("{path}.x-kubernetes-preserve-unknown-fields");
        errors.push(FieldError::invalid(place, false, "must be true or undefined"));
    }
    if let Some(kind) = schema["x-kubernetes-map-type"]
        .as_str()
        .filter(|kind| !matches!(*kind, "atomic" | "granular"))
    {
        let place = format!("{path}.x-kubernetes-map-type");
        errors.push(FieldError::not_supported(place, kind, &["atomic", "granular"]));
    }
    if schema["x-kubernetes-list-type"].is_string()
        && let Some(kind) = schema["type"].as_str().filter(|kind| *kind != "array")
    {
        let why = "must be array if x-kubernetes-list-type is specified";
        errors.push(FieldError::invalid(format!("{path}.type"), kind, why));
    }
    let items = &schema["items"];
    if schema["x-kubernetes-list-type"] == "set"
        && items["type"] == "object"
        && items["x-kubernetes-map-type"] != "atomic"
    {
        let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let place = format!("{path}.items.x-kubernetes-map-type");
        errors.push(FieldError::invalid(place, items["x-kubernetes-map-type"].clone(), why));
    }
}

/// What a schema must be to say how objects look; told once the schema can be read at all.
pub(super) fn shape(schema: &Value, path: &str, place: Place, errors: &mut Vec<FieldError>) {
    let preserve = &schema["x-kubernetes-preserve-unknown-fields"];
    let bare = schema["properties"].as_object().is_none_or(serde_json::Map::is_empty);
    if schema["x-kubernetes-embedded-resource"] == true && bare && *preserve != true {
        let why =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(format!("{path}.properties"), why));
    }
    alternatives(schema, path, errors);
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let at = field::key(&format!("{path}.properties"), name);
        if place == Place::Root && name == "metadata" {
            metadata(inner, &at, errors);
        } else {
            shape(inner, &at, Place::Field, errors);
        }
    }
    for (key, place) in [("items", Place::Item), ("additionalProperties", Place::Field)] {
        if schema[key].is_object() {
            shape(&schema[key], &format!("{path}.{key}"), place, errors);
        }
    }
}

/// Defaults have to be values of the schema they stand in; told once everything else is right.
pub(super) fn defaults(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        let mut filled = default.clone();
        fill::default(&kubeschema::schema::from_json_schema(schema), &mut filled);
        check::check(&Node::read(schema), &filled, None, &format!("{path}.default"), errors);
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        defaults(inner, &field::key(&format!("{path}.properties"), name), errors);
    }
    for key in ["items", "additionalProperties"] {
        if schema[key].is_object() {
            defaults(&schema[key], &format!("{path}.{key}"), errors);
        }
    }
}

/// Branches only judge values; what an object looks like is told outside of them.
fn alternatives(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for key in ["allOf", "anyOf", "oneOf"] {
        for (position, branch) in schema[key].as_array().into_iter().flatten().enumerate() {
            let at = field::index(&format!("{path}.{key}"), position);
            let free = schema["x-kubernetes-int-or-string"] == true && key != "oneOf";
            only_values(branch, &at, free, errors);
        }
    }
    if schema["not"].is_object() {
        only_values(&schema["not"], &format!("{path}.not"), false, errors);
    }
}

fn only_values(branch: &Value, path: &str, typed: bool, errors: &mut Vec<FieldError>) {
    if !typed && branch["type"].as_str().is_some_and(|kind| !kind.is_empty()) {
        errors.push(FieldError::forbidden(
            format!("{path}.type"),
            "must be empty to be structural",
        ));
    }
    for (name, inner) in branch["properties"].as_object().into_iter().flatten() {
        only_values(inner, &field::key(&format!("{path}.properties"), name), false, errors);
    }
    if branch["items"].is_object() {
        only_values(&branch["items"], &format!("{path}.items"), false, errors);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for (position, inner) in branch[key].as_array().into_iter().flatten().enumerate() {
            only_values(inner, &field::index(&format!("{path}.{key}"), position), typed, errors);
        }
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
        if let Some(message) = rule["message"].as_str().filter(|message| message.trim().contains('\n')) {
            let path = format!("{path}.x-kubernetes-validations[{position}].message");
            errors.push(FieldError::invalid(path, message, "must not contain line breaks"));
        }
        if let Some(place) = rule["fieldPath"].as_str().filter(|place| !leads(schema, place)) {
            let path = format!("{path}.x-kubernetes-validations[{position}].fieldPath");
            errors.push(FieldError::invalid(path, place, "must be a valid path"));
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
            if let Err(error) = super::parses(&expression) {
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

/// Whether a path of names leads to something that the schema knows; brackets are taken on trust.
fn leads(schema: &Value, path: &str) -> bool {
    if path.is_empty() || path.contains('[') {
        return true;
    }
    let Some(path) = path.strip_prefix('.') else {
        return false;
    };
    let mut at = schema;
    for name in path.split('.') {
        at = if at["properties"].get(name).is_some() {
            &at["properties"][name]
        } else if at["additionalProperties"].is_object() {
            &at["additionalProperties"]
        } else {
            return false;
        };
    }
    true
}

/// Whether a field can be selected by: a text, a number or a boolean that the schema names.
pub(super) fn selects(schema: &Value, path: &str) -> bool {
    let mut at = schema;
    for name in path.trim_start_matches('.').split('.') {
        at = &at["properties"][name];
    }
    matches!(at["type"].as_str(), Some("string" | "integer" | "boolean"))
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
        Some("map")
            if keys
                .iter()
                .any(|key| !schema["items"]["properties"][key.as_str().unwrap_or_default()].is_object()) =>
        {
            let place = format!("{path}.x-kubernetes-list-map-keys");
            let why = "entries must all be names of item properties";
            errors.push(FieldError::invalid(place, keys.to_vec(), why));
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
