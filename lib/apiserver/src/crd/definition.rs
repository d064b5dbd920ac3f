//! CustomResourceDefinitions themselves: what is filled in, and what is wrong with one.

use kubeschema::field::{self, FieldError};
use kubeschema::jsonpath::Path;
use kubeschema::name;
use serde_json::Value;

/// Where a part of a version is in messages: definitions whose versions agree on it have one for all.
fn part_path(versions: &[Value], position: usize, part: &str) -> String {
    let first = versions.first().map(|version| &version[part]);
    if !versions.iter().all(|version| Some(&version[part]) == first) {
        return format!("spec.versions[{position}].{part}");
    }
    if part == "schema" {
        "spec.validation".to_owned()
    } else {
        format!("spec.{part}")
    }
}

/// Judges a definition; `old` is its stored state.
pub(crate) fn check(definition: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let group = text(&spec["group"]);
    let plural = text(&spec["names"]["plural"]);
    let called = text(&definition["metadata"]["name"]);
    let wanted = format!("{plural}.{group}");
    if called != wanted && old.is_none() {
        let why = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid("metadata.name", called, why));
    }
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else {
        let problems = name::dns_subdomain(&group);
        if !problems.is_empty() {
            errors.push(FieldError::invalid("spec.group", group.as_str(), problems.join(",")));
        } else if !group.contains('.') {
            errors.push(FieldError::invalid(
                "spec.group",
                group.as_str(),
                "should be a domain with at least one dot",
            ));
        }
    }
    if !matches!(text(&spec["scope"]).as_str(), "Cluster" | "Namespaced") {
        let choices = ["Cluster", "Namespaced"];
        match text(&spec["scope"]).as_str() {
            "" => errors.push(FieldError::required("spec.scope", "")),
            other => errors.push(FieldError::not_supported("spec.scope", other, &choices)),
        }
    }
    names(&spec["names"], errors);
    versions(spec, errors);
    if let Some(old) = old {
        unchanged(definition, old, errors);
        stored(definition, errors);
    }
}

fn names(names: &Value, errors: &mut Vec<FieldError>) {
    for key in ["plural", "singular", "kind", "listKind"] {
        let given = names[key].as_str().unwrap_or_default();
        let path = format!("spec.names.{key}");
        if given.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        let cased = key == "kind" || key == "listKind";
        let problems = if cased {
            name::dns_1035_label(&given.to_lowercase())
        } else {
            name::dns_1035_label(given)
        };
        if !problems.is_empty() {
            let prefix = if cased {
                "may have mixed case, but should otherwise match: "
            } else {
                ""
            };
            errors.push(FieldError::invalid(
                path,
                given,
                format!("{prefix}{}", problems.join(",")),
            ));
        }
    }
    if names["kind"].is_string() && names["kind"] == names["listKind"] {
        let why = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(
            "spec.names.listKind",
            names["listKind"].clone(),
            why,
        ));
    }
    for key in ["shortNames", "categories"] {
        for (position, given) in names[key].as_array().into_iter().flatten().enumerate() {
            let problems = name::dns_1035_label(given.as_str().unwrap_or_default());
            if !problems.is_empty() {
                let path = field::index(&format!("spec.names.{key}"), position);
                errors.push(FieldError::invalid(path, given.clone(), problems.join(",")));
            }
        }
    }
}

fn versions(spec: &Value, errors: &mut Vec<FieldError>) {
    let list = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let storing = list.iter().filter(|version| version["storage"] == true).count();
    let mut seen: Vec<&Value> = Vec::new();
    for (position, version) in list.iter().enumerate() {
        let path = format!("spec.versions[{position}]");
        let given = version["name"].as_str().unwrap_or_default();
        let problems = name::dns_1035_label(given);
        if !problems.is_empty() {
            errors.push(FieldError::invalid(format!("{path}.name"), given, problems.join(",")));
            if position == 0 {
                errors.push(FieldError::invalid("spec.version", given, problems.join(",")));
            }
        }
        if seen.contains(&&version["name"]) {
            errors.push(FieldError::invalid(
                "spec.versions",
                spec["versions"].clone(),
                "must contain unique version names",
            ));
        }
        seen.push(&version["name"]);
        let schema = &version["schema"]["openAPIV3Schema"];
        if schema.is_object() {
            let path = format!("{}.openAPIV3Schema", part_path(list, position, "schema"));
            if schema["type"].as_str().is_some_and(|kind| kind != "object") {
                errors.push(FieldError::invalid(
                    format!("{path}.type"),
                    schema["type"].clone(),
                    "must be object at the root",
                ));
            }
            structural(schema, &path, Place::Root, errors);
        } else {
            errors.push(FieldError::required(
                format!("{path}.schema.openAPIV3Schema"),
                "schemas are required",
            ));
        }
        scale(
            &version["subresources"]["scale"],
            &part_path(list, position, "subresources"),
            errors,
        );
        columns(version, &part_path(list, position, "additionalPrinterColumns"), errors);
        selectable(version, &path, errors);
    }
    if storing != 1 {
        let why = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", spec["versions"].clone(), why));
    }
    if storing == 0 {
        let why = "must have at least one stored version";
        errors.push(FieldError::invalid(
            "status.storedVersions",
            Value::Array(Vec::new()),
            why,
        ));
    }
}

#[derive(Clone, Copy)]
enum Place {
    Root,
    Field,
    Item,
}

/// Structural schemas say the type of everything, and use only what can be pruned and defaulted.
fn structural(schema: &Value, path: &str, place: Place, errors: &mut Vec<FieldError>) {
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
        && let Err(error) = regex::Regex::new(pattern)
    {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(format!("{path}.pattern"), pattern, why));
    }
    rules(schema, path, errors);
    lists(schema, path, errors);
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        structural(
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
        structural(
            &schema["additionalProperties"],
            &format!("{path}.additionalProperties"),
            Place::Field,
            errors,
        );
    }
    if schema["items"].is_object() {
        structural(&schema["items"], &format!("{path}.items"), Place::Item, errors);
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

fn scale(scale: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if !scale.is_object() {
        return;
    }
    for (key, parent) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
        let given = scale[key].as_str().unwrap_or_default();
        let place = format!("{path}.scale.{key}");
        if given.is_empty() {
            errors.push(FieldError::required(place, ""));
        } else if !given.starts_with(parent) {
            let why = format!("should be a json path under {}", parent.trim_end_matches('.'));
            errors.push(FieldError::invalid(place, given, why));
        }
    }
}

fn columns(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    for (position, column) in version["additionalPrinterColumns"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let path = field::index(path, position);
        let text = |key: &str| column[key].as_str().unwrap_or_default();
        if text("name").is_empty() {
            errors.push(FieldError::required(format!("{path}.name"), ""));
        }
        let why = format!("must be one of {}", TYPES.join(","));
        match text("type") {
            "" => errors.push(FieldError::required(format!("{path}.type"), why)),
            kind if !TYPES.contains(&kind) => errors.push(FieldError::invalid(format!("{path}.type"), kind, why)),
            _ => {}
        }
        match text("jsonPath") {
            "" => errors.push(FieldError::required(format!("{path}.JSONPath"), "")),
            given => {
                if let Err(error) = Path::parse(given) {
                    errors.push(FieldError::invalid(
                        format!("{path}.JSONPath"),
                        given,
                        format!("is an invalid path: {error}"),
                    ));
                }
            }
        }
    }
}

fn selectable(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (position, selectable) in version["selectableFields"].as_array().into_iter().flatten().enumerate() {
        let path = format!("{path}.selectableFields[{position}].jsonPath");
        let given = selectable["jsonPath"].as_str().unwrap_or_default();
        if given.is_empty() {
            errors.push(FieldError::required(path, ""));
        } else if given.starts_with(".metadata") {
            errors.push(FieldError::invalid(path, given, "must not point to fields in metadata"));
        }
    }
}

/// What may not change once instances may exist.
fn unchanged(definition: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    for pointer in ["group", "scope", "names/plural", "names/kind"] {
        let read = |object: &Value| {
            object["spec"]
                .pointer(&format!("/{pointer}"))
                .cloned()
                .unwrap_or(Value::Null)
        };
        if read(old) != read(definition) {
            let path = format!("spec.{}", pointer.replace('/', "."));
            errors.push(FieldError::invalid(path, read(definition), "field is immutable"));
        }
    }
}

/// Versions that objects were stored in stay.
fn stored(definition: &Value, errors: &mut Vec<FieldError>) {
    let versions = definition["spec"]["versions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let list = definition["status"]["storedVersions"].as_array().into_iter().flatten();
    for (position, stored) in list.enumerate() {
        if !versions.iter().any(|version| version["name"] == *stored) {
            let name = stored.as_str().unwrap_or_default();
            let why = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
                 until a storage migration ensures no data remains persisted in {name} and removes {name} from \
                 status.storedVersions"
            );
            errors.push(FieldError::invalid(
                field::index("status.storedVersions", position),
                name,
                why,
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition() -> Value {
        json!({"metadata": {"name": "widgets.x.io"}, "spec": {"group": "x.io", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}})
    }

    fn told(definition: &Value, old: Option<&Value>) -> Vec<String> {
        let mut errors = Vec::new();
        check(definition, old, &mut errors);
        errors
            .iter()
            .map(|e| format!("{} {}", e.field, e.kind.reason()))
            .collect()
    }

    #[test]
    fn a_small_definition_is_fine() {
        assert!(told(&definition(), None).is_empty());
    }

    #[test]
    fn schemas_must_be_structural_and_rules_compile() {
        let mut bad = definition();
        bad["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = json!({"type": "object", "properties": {"spec": {
            "properties": {"l": {"type": "array"}, "r": {"type": "integer", "x-kubernetes-validations": [{"rule": ""}]}}}}});
        let root = "spec.validation.openAPIV3Schema.properties[spec]";
        assert_eq!(
            told(&bad, None),
            [
                format!("{root}.type FieldValueRequired"),
                format!("{root}.properties[l].items FieldValueRequired"),
                format!("{root}.properties[r].x-kubernetes-validations[0].rule FieldValueRequired"),
            ]
        );
    }

    #[test]
    fn names_and_scope_stay_and_so_do_stored_versions() {
        let old = definition();
        let mut changed = old.clone();
        changed["spec"]["scope"] = json!("Cluster");
        changed["spec"]["names"]["kind"] = json!("Gadget");
        changed["status"] = json!({"storedVersions": ["v0", "v1"]});
        assert_eq!(
            told(&changed, Some(&old)),
            [
                "spec.scope FieldValueInvalid",
                "spec.names.kind FieldValueInvalid",
                "status.storedVersions[0] FieldValueInvalid",
            ]
        );
    }
}
