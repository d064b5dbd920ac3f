//! CustomResourceDefinitions themselves: what is filled in, and what is wrong with one.

use std::collections::BTreeSet;

use kubeschema::field::{self, FieldError, Kind};
use kubeschema::name;
use serde_json::Value;

use super::approval;
use super::structural::{self, Place};

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
    conversion(&spec["conversion"], errors);
    if spec["preserveUnknownFields"] == true && old.is_none_or(|old| old["spec"]["preserveUnknownFields"] != true) {
        let why =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.push(FieldError::invalid("spec.preserveUnknownFields", true, why));
    }
    if let Some(old) = old {
        unchanged(definition, old, errors);
        stored(definition, errors);
    }
    approval::check(definition, old, errors);
}

/// What is unwise about a definition that was accepted.
pub(crate) fn advice(definition: &Value) -> Vec<String> {
    let mut formats = BTreeSet::new();
    for version in definition["spec"]["versions"].as_array().into_iter().flatten() {
        structural::unknown_formats(&version["schema"]["openAPIV3Schema"], &mut formats);
    }
    formats
        .iter()
        .map(|format| format!("unrecognized format {format:?}"))
        .collect()
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
        if version["deprecated"] != true
            && let Some(warning) = version["deprecationWarning"].as_str()
        {
            let why = "can only be set for deprecated versions";
            errors.push(FieldError::invalid(format!("{path}.deprecationWarning"), warning, why));
        }
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
            let before = errors.len();
            structural::check(schema, &path, Place::Root, errors);
            let shapeless = |error: &FieldError| error.field.ends_with(".type") && error.kind == Kind::Required;
            if errors.iter().skip(before).all(shapeless) {
                structural::shape(schema, &path, Place::Root, errors);
            }
            if errors.len() == before {
                structural::defaults(schema, &path, errors);
            }
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
        selectable(version, &part_path(list, position, "selectableFields"), errors);
    }
    if storing != 1 {
        let why = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", spec["versions"].clone(), why));
    }
    if storing == 0 {
        let why = "must have at least one stored version";
        errors.push(FieldError::invalid("status.storedVersions", Value::Null, why));
    }
}

/// How objects come into other versions; hooks have to say where they are and what they understand.
fn conversion(conversion: &Value, errors: &mut Vec<FieldError>) {
    match conversion["strategy"].as_str().unwrap_or_default() {
        "" | "None" => {}
        "Webhook" => {
            if conversion["webhook"]["clientConfig"].is_null() {
                let why = "required when strategy is set to Webhook";
                errors.push(FieldError::required("spec.conversion.webhookClientConfig", why));
            }
            let versions = conversion["webhook"]["conversionReviewVersions"].as_array();
            if versions.is_none_or(Vec::is_empty) {
                errors.push(FieldError::required("spec.conversion.conversionReviewVersions", ""));
            }
        }
        other => {
            let choices = ["None", "Webhook"];
            errors.push(FieldError::not_supported("spec.conversion.strategy", other, &choices));
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
    const FORMATS: [&str; 8] = [
        "byte",
        "date",
        "date-time",
        "double",
        "float",
        "int32",
        "int64",
        "password",
    ];
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
        if let Some(format) = column["format"].as_str().filter(|format| !FORMATS.contains(format)) {
            let why = format!("must be one of {}", FORMATS.join(","));
            errors.push(FieldError::invalid(format!("{path}.format"), format, why));
        }
        match text("jsonPath") {
            "" => errors.push(FieldError::required(format!("{path}.JSONPath"), "")),
            // What follows the dot may be anything: a path that cannot be read is shown as if there were no columns.
            given if !given.starts_with('.') => {
                let why = "must be a simple json path starting with .";
                errors.push(FieldError::invalid(format!("{path}.JSONPath"), given, why));
            }
            _ => {}
        }
    }
}

fn selectable(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (position, selectable) in version["selectableFields"].as_array().into_iter().flatten().enumerate() {
        let path = format!("{path}[{position}].jsonPath");
        let given = selectable["jsonPath"].as_str().unwrap_or_default();
        if given.is_empty() {
            errors.push(FieldError::required(path, ""));
        } else if !structural::selects(&version["schema"]["openAPIV3Schema"], given) {
            let why = "is an invalid path: does not refer to a valid field";
            errors.push(FieldError::invalid(path, given, why));
        }
    }
}

/// What may not change: the name ever, the rest once instances may exist.
fn unchanged(definition: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let established = super::condition(old, "Established");
    for (pointer, always) in [
        ("group", true),
        ("scope", false),
        ("names/plural", true),
        ("names/kind", false),
    ] {
        if !always && !established {
            continue;
        }
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
        let mut old = definition();
        old["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
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
