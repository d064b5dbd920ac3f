//! The text of a `fleet.yaml` → what it asks for. Upstream's `FleetYAML`: YAML 1.1 through JSON,
//! the keys of a bundle's spec plus `name`, `labels`, `annotations`, `targetCustomizations`,
//! `overrideTargets` and `imageScans`. Every error carries a line where one is known.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fleet_api::{BundleSpec, BundleTarget, ImageScanSpec, TargetSelector, state::BundleState};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::conform::{conform, line_of};
use crate::options::Targets;

/// What is wrong with a file, without its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Line, from 1, if known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

/// Content of a `fleet.yaml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetYaml {
    /// Name of the bundle, verbatim; derived from the directory if empty.
    #[serde(default)]
    pub name: String,
    /// Labels of the bundle.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Annotations of the bundle.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// Everything a bundle's spec has.
    #[serde(flatten)]
    pub spec: BundleSpec,
    /// Appended to the targets.
    #[serde(default)]
    pub target_customizations: Vec<BundleTarget>,
    /// Present: these targets and restrictions instead of those of the repository.
    #[serde(default)]
    pub override_targets: Option<Vec<TargetSelector>>,
    /// Image scans.
    #[serde(default)]
    pub image_scans: Vec<ImageScanSpec>,
}

/// The schema of the whole file, from those of the kinds it is made of.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let spec =
        |kind: &str| fleet_api::schema_of(kind).map_or(Value::Null, |mut schema| schema["properties"]["spec"].take());
    let mut schema = spec("Bundle");
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let mut more = Map::new();
    more.insert("name".to_owned(), json!({"type": "string"}));
    more.insert("labels".to_owned(), texts.clone());
    more.insert("annotations".to_owned(), texts);
    more.insert(
        "targetCustomizations".to_owned(),
        schema["properties"]["targets"].clone(),
    );
    more.insert(
        "overrideTargets".to_owned(),
        schema["properties"]["targetRestrictions"].clone(),
    );
    let mut scan = spec("ImageScan");
    if let Some(scan) = scan.as_object_mut() {
        // Entries without an image are passed over, and an interval has a default.
        scan.remove("required");
    }
    more.insert("imageScans".to_owned(), json!({"type": "array", "items": scan}));
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.extend(more);
    }
    schema
});

/// The file as a JSON schema (draft 7), for editors. Keys are matched exactly there, while Fleet
/// does not mind their case, and unknown keys are allowed in both.
#[must_use]
pub fn json_schema() -> Value {
    let mut schema = plain(&SCHEMA);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("fleet.yaml");
    schema
}

/// A CRD schema without what only Kubernetes knows.
fn plain(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let nullable = map.get("nullable") == Some(&Value::Bool(true));
            let known = map
                .iter()
                .filter(|(key, _)| key.as_str() != "nullable" && !key.starts_with("x-kubernetes-"));
            let mut out: Map<String, Value> = known.map(|(key, value)| (key.clone(), plain(value))).collect();
            if let Some(Value::String(kind)) = out.get("type").filter(|_| nullable) {
                out.insert("type".to_owned(), json!([kind, "null"]));
            }
            Value::Object(out)
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

/// Reads a `fleet.yaml`. Nothing at all is an empty one.
///
/// # Errors
/// Text that is not YAML, values of wrong types, dependencies that make no sense.
pub fn parse(text: &str) -> Result<FleetYaml, Error> {
    let mut value = parse_yaml(text)?;
    annotations_to_text(&mut value);
    let file: FleetYaml = typed(text, value, &SCHEMA)?;
    check_dependencies(text, &file.spec)?;
    Ok(file)
}

/// Reads a targets file: `targets` and `targetRestrictions`.
///
/// # Errors
/// As [`parse`].
pub fn parse_targets(text: &str) -> Result<Targets, Error> {
    typed(text, parse_yaml(text)?, &SCHEMA)
}

fn parse_yaml(text: &str) -> Result<Value, Error> {
    goyaml::parse(text).map_err(|error| Error {
        line: Some(error.line).filter(|line| *line > 0),
        message: error.message,
    })
}

fn typed<T: serde::de::DeserializeOwned + Default>(text: &str, value: Value, schema: &Value) -> Result<T, Error> {
    if value.is_null() {
        return Ok(T::default());
    }
    let value = conform(value, schema).map_err(|error| Error {
        line: line_of(text, &error.path),
        message: error.to_string(),
    })?;
    serde_json::from_value(value).map_err(|error| Error {
        line: None,
        message: error.to_string(),
    })
}

/// Annotations alone are read leniently: upstream decodes them as object metadata, where numbers
/// and booleans become text.
fn annotations_to_text(value: &mut Value) {
    let Some(map) = value.as_object_mut() else { return };
    for (key, value) in map {
        if !key.eq_ignore_ascii_case("annotations") {
            continue;
        }
        for value in value.as_object_mut().into_iter().flat_map(Map::values_mut) {
            if value.is_number() || value.is_boolean() {
                *value = Value::from(fleet_api::json::to_string(value));
            }
        }
    }
}

fn check_dependencies(text: &str, spec: &BundleSpec) -> Result<(), Error> {
    let path = |parts: &[String]| line_of(text, parts);
    for (index, dependency) in spec.depends_on.iter().enumerate() {
        if dependency.name.is_empty() && dependency.selector.is_none() {
            return Err(Error {
                line: path(&["dependsOn".to_owned(), format!("[{index}]")]),
                message: format!("dependsOn[{index}]: must specify either 'name' or 'selector'"),
            });
        }
        for (at, state) in dependency.accepted_states.iter().enumerate() {
            if BundleState::parse(state).is_none() {
                let mut valid = BundleState::ALL.map(BundleState::as_str);
                valid.reverse();
                return Err(Error {
                    line: path(&[
                        "dependsOn".to_owned(),
                        format!("[{index}]"),
                        "acceptedStates".to_owned(),
                    ]),
                    message: format!(
                        "dependsOn[{index}].acceptedStates[{at}]: invalid state {state:?}, valid values are: [{}]",
                        valid.join(" ")
                    ),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/fleet.yaml.schema.json");

    #[test]
    fn the_published_schema_is_this_one() {
        let expected = json_schema();
        if crate::env::read("UPDATE_EXPECT").is_some() {
            std::fs::write(SCHEMA_FILE, serde_json::to_string_pretty(&expected).unwrap() + "\n").unwrap();
        }
        let found: Value = serde_json::from_str(&std::fs::read_to_string(SCHEMA_FILE).unwrap()).unwrap();
        assert_eq!(found, expected, "run the test with UPDATE_EXPECT=1 to write it anew");
        assert_eq!(
            expected["properties"]["helm"]["properties"]["chart"]["type"],
            json!(["string", "null"])
        );
    }

    #[test]
    fn a_file_may_be_empty() {
        assert_eq!(parse("").unwrap(), FleetYaml::default());
        assert_eq!(parse("# nothing\n").unwrap(), FleetYaml::default());
    }

    #[test]
    fn presence_of_override_targets_counts() {
        assert_eq!(parse("overrideTargets: []").unwrap().override_targets, Some(Vec::new()));
        assert_eq!(parse("namespace: a").unwrap().override_targets, None);
    }

    #[test]
    fn errors_have_lines() {
        let error = parse("name: a\nhelm:\n  chart: true\n").unwrap_err();
        assert_eq!(
            (error.line, error.message.as_str()),
            (Some(3), "helm.chart: cannot use a bool as a string (put it in quotes)")
        );
        assert_eq!(parse("a: b\n\tc: d\n").unwrap_err().line, Some(2));
        let error = parse("dependsOn:\n- name: a\n- acceptedStates: [Ready]\n").unwrap_err();
        assert_eq!(error.line, Some(3));
        assert!(
            parse("dependsOn: [{name: a, acceptedStates: [Happy]}]")
                .unwrap_err()
                .message
                .contains("[Ready NotReady Pending")
        );
    }

    #[test]
    fn annotations_may_be_numbers_but_labels_not() {
        assert_eq!(parse("annotations: {a: 1, b: true}").unwrap().annotations["b"], "true");
        assert!(parse("labels: {a: 1}").is_err());
    }
}
