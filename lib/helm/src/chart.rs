//! The files of a chart become a chart: metadata, default values, templates and the charts inside it.
//!
//! Upstream concept: Helm's chart loader. Files are given as a map of paths; `.helmignore` is the business of whoever
//! reads a directory.

use std::collections::BTreeMap;
use std::sync::Arc;

use goyaml::parse;
use serde_json::{Map, Value, json};

pub use crate::metadata::{Dependency, Maintainer, Metadata};
use crate::{archive, go, metadata, values};

/// Charts inside charts inside charts: nobody needs more.
const MAX_NESTING: usize = 32;

/// Why files are no chart.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no `Chart.yaml`.
    #[error("Chart.yaml file is missing")]
    FindMetadata,
    /// An archive has no `Chart.yaml`.
    #[error("unable to detect chart version, no Chart.yaml found")]
    Detect,
    /// The chart is of a version that nobody knows.
    #[error("unsupported chart version")]
    Version,
    /// A file of the chart is no YAML, or not of the expected shape.
    #[error("cannot load {file}: {message}")]
    ParseFile {
        /// The file, relative to the chart.
        file: &'static str,
        /// What the parser said.
        message: String,
    },
    /// The metadata breaks a rule.
    #[error("validation: {0}")]
    Validate(String),
    /// An archive cannot be unpacked.
    #[error(transparent)]
    Unpack(#[from] archive::Error),
    /// A chart in `charts/` is none.
    #[error("error unpacking subchart {name} in {parent}: {source}")]
    LoadSubchart {
        /// The folder or archive.
        name: String,
        /// The chart it lies in.
        parent: String,
        /// Why.
        source: Box<Error>,
    },
    /// Too many charts inside charts.
    #[error("charts are nested more than {MAX_NESTING} levels")]
    Nest,
}

/// Files by their path.
type Files = BTreeMap<String, Arc<Vec<u8>>>;

/// A file of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path relative to the chart.
    pub name: String,
    /// The content, which copies of the chart share.
    pub data: Arc<Vec<u8>>,
}

/// A chart with everything in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// `Chart.yaml`
    pub metadata: Metadata,
    /// `Chart.lock`, as data.
    pub lock: Option<Value>,
    /// `values.yaml`
    pub values: Map<String, Value>,
    /// `values.schema.json`
    pub schema: Option<Vec<u8>>,
    /// What lies in `templates/`.
    pub templates: Vec<File>,
    /// All other files, those in `crds/` too.
    pub files: Vec<File>,
    /// The charts in `charts/`.
    pub dependencies: Vec<Chart>,
}

impl Chart {
    /// Makes a chart of its files; paths are relative to the chart.
    ///
    /// # Errors
    /// `Chart.yaml` is missing or invalid, or another file cannot be read.
    pub fn from_files(files: BTreeMap<String, Vec<u8>>) -> Result<Self, Error> {
        load(&shared(files), 0)
    }

    /// Makes a chart of a packed one (`.tgz`), whose files lie in one folder.
    ///
    /// # Errors
    /// The archive cannot be read or is too large, or its files are no chart.
    pub fn from_archive(bytes: &[u8]) -> Result<Self, Error> {
        let files = archive::unpack(bytes)?;
        if !files.contains_key("Chart.yaml") {
            return Err(Error::Detect);
        }
        load(&shared(files), 0)
    }

    /// The chart's name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The manifests in `crds/` of the chart and the charts inside it: path and text.
    pub fn crds(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        self.collect_crds(self.name(), &mut found);
        found
    }

    /// Makes every number of the defaults a float, so that integers are the user's.
    pub(crate) fn use_floats(&mut self) {
        self.values = values::floats(std::mem::take(&mut self.values));
        for child in &mut self.dependencies {
            child.use_floats();
        }
    }

    fn collect_crds(&self, path: &str, found: &mut Vec<(String, String)>) {
        for file in &self.files {
            let manifest = [".yaml", ".yml", ".json"]
                .iter()
                .any(|ending| file.name.ends_with(ending));
            if file.name.starts_with("crds/") && manifest {
                let text = String::from_utf8_lossy(&file.data).into_owned();
                found.push((format!("{path}/{}", file.name), text));
            }
        }
        for child in &self.dependencies {
            child.collect_crds(&format!("{path}/charts/{}", child.name()), found);
        }
    }

    /// The chart as a release record keeps it. Charts inside it are not part of the record.
    pub fn to_json(&self) -> Value {
        use base64::Engine as _;
        let encode = |data: &[u8]| base64::engine::general_purpose::STANDARD.encode(data);
        let files = |files: &[File]| -> Value {
            files
                .iter()
                .map(|file| json!({ "name": file.name, "data": encode(&file.data) }))
                .collect()
        };
        json!({
            "metadata": serde_json::to_value(&self.metadata).unwrap_or_default(),
            "lock": self.lock,
            "templates": files(&self.templates),
            "values": self.values,
            "schema": self.schema.as_deref().map(encode),
            "files": files(&self.files),
        })
    }
}

/// The table that a file holds; empty where it holds nothing. `wanted` is Go's name of what it would become.
fn parsed(file: &'static str, wanted: &str, data: &[u8]) -> Result<Map<String, Value>, Error> {
    let wrong = |message: String| Error::ParseFile { file, message };
    let text = String::from_utf8_lossy(data);
    let value = parse(text.strip_prefix('\u{feff}').unwrap_or(&text))
        .map_err(|error| wrong(format!("error converting YAML to JSON: {}", error.as_go_tells())))?;
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(table) => Ok(table),
        other => Err(wrong(format!(
            "{DECODE}json: cannot unmarshal {} into Go value of type {wanted}",
            go::kind(&other)
        ))),
    }
}

/// How the YAML library begins what its JSON half has to say.
const DECODE: &str = "error unmarshaling JSON: while decoding JSON: ";

fn refused(file: &'static str) -> impl Fn(metadata::Error) -> Error {
    move |error| match error {
        metadata::Error::Shape(message) => Error::ParseFile {
            file,
            message: format!("{DECODE}{message}"),
        },
        metadata::Error::Validate(message) => Error::Validate(message),
    }
}

fn shared(files: BTreeMap<String, Vec<u8>>) -> Files {
    files.into_iter().map(|(name, data)| (name, Arc::new(data))).collect()
}

fn load(files: &Files, depth: usize) -> Result<Chart, Error> {
    if depth > MAX_NESTING {
        return Err(Error::Nest);
    }
    let mut chart = Chart {
        metadata: match files.get("Chart.yaml") {
            Some(data) => {
                let table = parsed("Chart.yaml", "loader.chartBase", data)?;
                Metadata::read(&table).map_err(refused("Chart.yaml"))?
            }
            None => return Err(Error::FindMetadata),
        },
        ..Chart::default()
    };
    if chart.metadata.api_version.is_empty() {
        chart.metadata.api_version = "v1".into();
    }
    if !["v1", "v2"].contains(&chart.metadata.api_version.as_str()) {
        return Err(Error::Version);
    }
    let mut inside: BTreeMap<String, Files> = BTreeMap::new();
    for (name, data) in files {
        let file = || File {
            name: name.clone(),
            data: Arc::clone(data),
        };
        match name.as_str() {
            "Chart.yaml" => {}
            "Chart.lock" => chart.lock = Some(Value::Object(parsed("Chart.lock", "v2.Lock", data)?)),
            "values.yaml" => {
                chart.values = values::parse(data).map_err(|error| Error::ParseFile {
                    file: "values.yaml",
                    message: error.to_string(),
                })?;
            }
            "values.schema.json" => chart.schema = Some(data.to_vec()),
            "requirements.yaml" | "requirements.lock" => {
                if name == "requirements.yaml" {
                    let found = parsed("requirements.yaml", "v2.Metadata", data)?;
                    let list = Metadata::requirements(&found).map_err(refused("requirements.yaml"))?;
                    chart.metadata.dependencies = list;
                } else {
                    chart.lock = Some(Value::Object(parsed("requirements.lock", "v2.Lock", data)?));
                }
                if chart.metadata.api_version == "v1" {
                    chart.files.push(file());
                }
            }
            _ if name.starts_with("templates/") => chart.templates.push(file()),
            _ => match name.strip_prefix("charts/") {
                Some(inner) if !inner.ends_with(".prov") => {
                    let (folder, rest) = inner.split_once('/').unwrap_or((inner, ""));
                    let folder = inside.entry(folder.to_owned()).or_default();
                    folder.insert(rest.to_owned(), Arc::clone(data));
                }
                _ => chart.files.push(file()),
            },
        }
    }
    metadata::validate(&chart.metadata).map_err(refused("Chart.yaml"))?;
    for (folder, files) in inside {
        if folder.starts_with(['_', '.']) {
            continue;
        }
        let wrong = |error: Error| Error::LoadSubchart {
            name: folder.clone(),
            parent: chart.metadata.name.clone(),
            source: Box::new(error),
        };
        if folder.ends_with(".tgz") {
            let bytes = files.get("").map_or(&[][..], |data| data.as_slice());
            let unpacked = archive::unpack(bytes).map_err(|error| wrong(error.into()))?;
            let child = load(&shared(unpacked), depth + 1).map_err(wrong)?;
            chart.dependencies.push(child);
            continue;
        }
        let child = load(&files, depth + 1).map_err(wrong)?;
        chart.dependencies.push(child);
    }
    Ok(chart)
}
