//! Values of a bundle that depend on the cluster: references to cluster labels, and `${ }` templates over the values.
//!
//! Mirrors upstream's preprocessing of Helm values, side effects included: a cluster with labels turns absent Helm
//! options into empty ones, and that is part of the deployment id.

use std::collections::BTreeMap;

use fleet_api::{BundleDeploymentOptions, GenericMap, labels};
use gotemplate::{Engine, sprig};
use serde_json::{Value, json};

/// What a template may know of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Namespace of the Cluster.
    pub namespace: &'a str,
    /// Name of the Cluster.
    pub name: &'a str,
    /// All its labels.
    pub labels: &'a BTreeMap<String, String>,
    /// All its annotations.
    pub annotations: &'a BTreeMap<String, String>,
    /// `spec.templateValues`.
    pub values: &'a GenericMap,
}

/// Values that cannot be made for a cluster.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Values are nested too deep for label references.
    #[error("failed to process cluster labels in helm values: nested deeper than {MAX_DEPTH} levels")]
    Depth,
    /// The values have no YAML form.
    #[error("failed to write helm values as a template: {0}")]
    Write(goyaml::Error),
    /// The template cannot be read.
    #[error("failed to parse helm values template: {0}")]
    Parse(gotemplate::Error),
    /// The template stopped.
    #[error("failed to render helm values template: {0}")]
    Render(gotemplate::Error),
    /// What came out is not a map of values.
    #[error("failed to interpret rendered template as helm values: {0}")]
    Interpret(String),
}

/// Prefix of a value that stands for a label of the cluster.
const LABEL_REFERENCE: &str = "global.fleet.clusterLabels.";
const MAX_DEPTH: usize = 50;

/// Whether a label or annotation of a cluster or bundle is the user's, not a tool's.
pub(crate) fn is_usable(key: &str) -> bool {
    !key.starts_with("kubectl.kubernetes.io/") && !key.contains("cattle.io/")
}

fn is_usable_label(key: &str) -> bool {
    is_usable(key) || labels::RESERVED_PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// Whether the cluster has labels that templates may use; without any, nothing here happens at all.
#[must_use]
pub fn has_labels(labels: &BTreeMap<String, String>) -> bool {
    labels.keys().any(|key| is_usable_label(key))
}

/// Whether the result differs from cluster to cluster. If not, [`apply`] gives the same for all clusters with labels.
#[must_use]
pub fn depends_on_cluster(options: &BundleDeploymentOptions) -> bool {
    let Some(helm) = &options.helm else { return false };
    let values = helm.values.as_ref();
    let templated = !helm.template_values.is_empty() || values.is_some_and(|map| any_text(map, &|s| s.contains("${")));
    let refers = values.is_some_and(|map| any_text(map, &|s| s.starts_with(LABEL_REFERENCE)));
    refers || (templated && !helm.disable_pre_process)
}

fn any_text(map: &GenericMap, holds: &impl Fn(&str) -> bool) -> bool {
    fn in_value(value: &Value, holds: &impl Fn(&str) -> bool) -> bool {
        match value {
            Value::String(text) => holds(text),
            Value::Array(items) => items.iter().any(|item| in_value(item, holds)),
            Value::Object(map) => any_text(map, holds),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    map.iter().any(|(key, value)| holds(key) || in_value(value, holds))
}

/// Fills the values for one cluster.
///
/// # Errors
/// Templates that cannot be read, that stop, or that give something else than values.
pub fn apply(options: &mut BundleDeploymentOptions, cluster: &Facts<'_>) -> Result<(), Error> {
    if !has_labels(cluster.labels) {
        return Ok(());
    }
    let Some(helm) = &mut options.helm else {
        options.helm = Some(fleet_api::HelmOptions::default());
        return Ok(());
    };
    let values = helm.values.get_or_insert_default();
    if helm.template_values.is_empty() && values.is_empty() {
        return Ok(());
    }
    let usable: BTreeMap<&String, &String> = cluster.labels.iter().filter(|(key, _)| is_usable_label(key)).collect();
    replace_references(
        values,
        &|label| usable.get(&label.to_owned()).map(|value| (*value).clone()),
        0,
    )?;
    if helm.disable_pre_process {
        return Ok(());
    }
    let annotations: BTreeMap<&String, &String> =
        cluster.annotations.iter().filter(|(key, _)| is_usable(key)).collect();
    let context = json!({
        "ClusterNamespace": cluster.namespace,
        "ClusterName": cluster.name,
        "ClusterLabels": usable,
        "ClusterAnnotations": annotations,
        "ClusterValues": cluster.values,
    });
    let engine = Engine::new()
        .delims("${", "}")
        .missing_key_error()
        .functions(sprig::text());
    if any_text(values, &|text| text.contains("${")) {
        let text = goyaml::to_yaml(&Value::Object(std::mem::take(values))).map_err(Error::Write)?;
        *values = match render(&engine, "values", &text, &context)? {
            Value::Object(map) => map,
            Value::Null => GenericMap::new(),
            _ => return Err(Error::Interpret("it is not a map".to_owned())),
        };
    }
    for (key, text) in &helm.template_values {
        values.insert(key.clone(), render(&engine, "values", text, &context)?);
    }
    Ok(())
}

fn render(engine: &Engine<'_>, name: &str, text: &str, context: &Value) -> Result<Value, Error> {
    let rendered = engine.render(name, text, context).map_err(|error| match error {
        error @ gotemplate::Error::Parse { .. } => Error::Parse(error),
        error => Error::Render(error),
    })?;
    goyaml::parse(&rendered).map_err(|error| Error::Interpret(error.to_string()))
}

/// Replaces texts that name a cluster label by its value, in maps and in maps inside of lists.
fn replace_references(
    values: &mut GenericMap,
    label: &impl Fn(&str) -> Option<String>,
    depth: usize,
) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(Error::Depth);
    }
    for value in values.values_mut() {
        match value {
            Value::String(text) => {
                if let Some(name) = text.strip_prefix(LABEL_REFERENCE) {
                    *text = label(name).unwrap_or_default();
                }
            }
            Value::Object(map) => replace_references(map, label, depth + 1)?,
            Value::Array(items) => {
                for map in items.iter_mut().filter_map(Value::as_object_mut) {
                    replace_references(map, label, depth + 1)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    Ok(())
}
