//! The files of a chart become a chart: metadata, default values, templates and the charts inside it.
//!
//! Upstream concept: Helm's chart loader. Files are given as a map of paths; `.helmignore` is the business of whoever
//! reads a directory.

use std::collections::BTreeMap;
use std::sync::Arc;

use goyaml::parse;
use serde_json::{Map, Value, json};

pub use crate::file::File;
use crate::file::text;
pub use crate::metadata::{Dependency, Maintainer, Metadata};
use crate::overlay::{self, Numbers};
use crate::schema::Schema;
use crate::values::Values;
use crate::{archive, dependency, go, metadata, values};

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

/// A chart with everything in it. Copies share all of it, and what is made of it at first use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// `Chart.yaml`
    pub metadata: Arc<Metadata>,
    /// `Chart.lock`, as data.
    pub lock: Option<Arc<Value>>,
    /// `values.yaml`
    pub values: Arc<Values>,
    /// `values.schema.json`
    pub schema: Option<Arc<Schema>>,
    /// What lies in `templates/`.
    pub templates: Arc<Vec<File>>,
    /// All other files, those in `crds/` too, by name.
    pub files: Arc<Vec<File>>,
    /// The charts in `charts/`.
    pub dependencies: Vec<Chart>,
}

impl Chart {
    /// Makes a chart of its files; paths are relative to the chart. Their content is not copied.
    ///
    /// # Errors
    /// `Chart.yaml` is missing or invalid, or another file cannot be read.
    pub fn from_files<D: Into<Arc<Vec<u8>>>>(files: BTreeMap<String, D>) -> Result<Self, Error> {
        Self::from_parts(parts(files))
    }

    /// The same of files in the order of their paths.
    pub(crate) fn from_parts(files: Vec<File>) -> Result<Self, Error> {
        load(files, 0)
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
        Self::from_files(files)
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

    fn collect_crds(&self, path: &str, found: &mut Vec<(String, String)>) {
        for file in self.files.iter() {
            let manifest = [".yaml", ".yml", ".json"]
                .iter()
                .any(|ending| file.name.ends_with(ending));
            if file.name.starts_with("crds/") && manifest {
                found.push((format!("{path}/{}", file.name), file.text().into_owned()));
            }
        }
        for child in &self.dependencies {
            child.collect_crds(&format!("{path}/charts/{}", child.name()), found);
        }
    }

    /// The chart as a release record keeps it, with what the charts inside it export. They are not part of the record
    /// themselves.
    pub fn to_json(&self) -> Value {
        use base64::Engine as _;
        let encode = |data: &[u8]| base64::engine::general_purpose::STANDARD.encode(data);
        let files = |files: &[File]| -> Value {
            files
                .iter()
                .map(|file| json!({ "name": file.name, "data": encode(&file.data) }))
                .collect()
        };
        // What cannot be combined is not rendered, and not recorded either.
        let values = dependency::import(self).map_or_else(
            |_| Values::clone(&self.values),
            |defaults| overlay::to_json(&defaults.own, Numbers::Floats),
        );
        json!({
            "metadata": serde_json::to_value(&*self.metadata).unwrap_or_default(),
            "lock": self.lock.as_deref(),
            "templates": files(&self.templates),
            "values": values,
            "schema": self.schema.as_deref().map(|schema| encode(schema.text())),
            "files": files(&self.files),
        })
    }
}

/// The table that a file holds; empty where it holds nothing. `wanted` is Go's name of what it would become.
fn parsed(file: &'static str, wanted: &str, data: &[u8]) -> Result<Map<String, Value>, Error> {
    let wrong = |message: String| Error::ParseFile { file, message };
    let text = text(data);
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

fn parts<D: Into<Arc<Vec<u8>>>>(files: BTreeMap<String, D>) -> Vec<File> {
    let part = |(name, data): (String, D)| File::new(name, data.into());
    files.into_iter().map(part).collect()
}

/// The chart in `charts/` that a file belongs to, and its path in that chart.
fn inside(name: &str) -> Option<(&str, &str)> {
    let inner = name.strip_prefix("charts/").filter(|inner| !inner.ends_with(".prov"))?;
    Some(inner.split_once('/').unwrap_or((inner, "")))
}

/// What is made of a file's text.
#[derive(Clone, Copy)]
pub(crate) enum Role {
    Template,
    Schema,
}

/// What a file is to the chart, or to the one inside that it belongs to; none if nothing is made of its text.
pub(crate) fn role(name: &str) -> Option<Role> {
    match inside(name) {
        Some((_, rest)) => role(rest),
        None if name.starts_with("templates/") => Some(Role::Template),
        None if name == SCHEMA => Some(Role::Schema),
        None => None,
    }
}

const SCHEMA: &str = "values.schema.json";

fn load(files: Vec<File>, depth: usize) -> Result<Chart, Error> {
    if depth > MAX_NESTING {
        return Err(Error::Nest);
    }
    // What a chart says of itself is judged before its other files are.
    let file = files
        .iter()
        .find(|file| file.name == "Chart.yaml")
        .ok_or(Error::FindMetadata)?;
    let table = parsed("Chart.yaml", "loader.chartBase", &file.data)?;
    let mut metadata = Metadata::read(&table).map_err(refused("Chart.yaml"))?;
    if metadata.api_version.is_empty() {
        metadata.api_version = "v1".into();
    }
    if !["v1", "v2"].contains(&metadata.api_version.as_str()) {
        return Err(Error::Version);
    }
    let mut chart = Chart::default();
    let (mut templates, mut others) = (Vec::new(), Vec::new());
    let mut charts: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for mut file in files {
        let data = &file.data;
        match file.name.as_str() {
            "Chart.yaml" => {}
            "Chart.lock" => chart.lock = Some(lock("Chart.lock", data)?),
            "values.yaml" => {
                let values = values::parse(data).map_err(|error| Error::ParseFile {
                    file: "values.yaml",
                    message: error.to_string(),
                })?;
                chart.values = Arc::new(values);
            }
            SCHEMA => chart.schema = Some(Arc::new(Schema::new(file))),
            "requirements.yaml" | "requirements.lock" => {
                if file.name == "requirements.yaml" {
                    let found = parsed("requirements.yaml", "v2.Metadata", data)?;
                    metadata.dependencies = Metadata::requirements(&found).map_err(refused("requirements.yaml"))?;
                } else {
                    chart.lock = Some(lock("requirements.lock", data)?);
                }
                if metadata.api_version == "v1" {
                    others.push(file);
                }
            }
            name if name.starts_with("templates/") => templates.push(file),
            name => match inside(name) {
                Some((folder, rest)) => {
                    let (folder, rest) = (folder.to_owned(), rest.to_owned());
                    file.name = rest;
                    charts.entry(folder).or_default().push(file);
                }
                None => others.push(file),
            },
        }
    }
    metadata::validate(&metadata).map_err(refused("Chart.yaml"))?;
    for (folder, files) in charts {
        if folder.starts_with(['_', '.']) {
            continue;
        }
        let child = child(&folder, files, depth + 1).map_err(|error| Error::LoadSubchart {
            name: folder,
            parent: metadata.name.clone(),
            source: Box::new(error),
        })?;
        chart.dependencies.push(child);
    }
    chart.metadata = Arc::new(metadata);
    chart.templates = Arc::new(templates);
    chart.files = Arc::new(others);
    Ok(chart)
}

fn lock(file: &'static str, data: &[u8]) -> Result<Arc<Value>, Error> {
    Ok(Arc::new(Value::Object(parsed(file, "v2.Lock", data)?)))
}

/// The chart in a folder of `charts/`, or in an archive there.
fn child(folder: &str, files: Vec<File>, depth: usize) -> Result<Chart, Error> {
    if !folder.ends_with(".tgz") {
        return load(files, depth);
    }
    let archive = files.iter().find(|file| file.name.is_empty());
    let unpacked = archive::unpack(archive.map_or(&[], |file| file.data.as_slice()))?;
    load(parts(unpacked), depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities::Capabilities;
    use crate::render::{ReleaseOptions, render};

    #[test]
    fn copies_of_a_chart_share_what_was_made_of_it() {
        let files = [
            ("Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\n"),
            ("values.yaml", "a: 1\n"),
            ("values.schema.json", r#"{"required": ["a"]}"#),
            ("templates/x.yaml", "a: {{ .Values.a }}\n"),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        let chart = Chart::from_files(files.into()).unwrap();
        let made = |chart: &Chart| {
            let template = chart.templates[0].code.get().map(Arc::as_ptr);
            (
                template,
                chart.schema.as_ref().is_some_and(|schema| schema.code.is_compiled()),
            )
        };
        assert_eq!(made(&chart), (None, false));
        let copy = chart.clone();
        let options = ReleaseOptions::default();
        let draw = || render(&chart, &Values::new(), &options, &Capabilities::default(), None).unwrap();
        assert_eq!(draw().manifests[0].text, "a: 1\n");
        let first = made(&copy);
        assert!(first.0.is_some() && first.1);
        assert_eq!(draw().manifests[0].text, "a: 1\n");
        assert_eq!(made(&chart), first);
    }
}
