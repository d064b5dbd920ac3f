//! The files of a chart become a chart: metadata, default values, templates and the charts inside it.
//!
//! Upstream concept: Helm's chart loader. Files are given as a map of paths; `.helmignore` is the business of whoever
//! reads a directory.

use std::collections::BTreeMap;
use std::sync::Arc;

use goyaml::parse;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{archive, function, go, values};

/// Charts inside charts inside charts: nobody needs more.
const MAX_NESTING: usize = 32;

/// Why files are no chart.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no `Chart.yaml`.
    #[error("Chart.yaml file is missing")]
    FindMetadata,
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

/// A chart somebody wrote a name and an address for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Maintainer {
    /// Name or organisation.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub name: String,
    /// Mail address.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub email: String,
    /// Web address.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub url: String,
}

/// A chart that this one builds on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Dependency {
    /// The chart's name; after processing, its alias.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// A version constraint.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub version: String,
    /// Where it comes from.
    #[serde(deserialize_with = "text")]
    pub repository: String,
    /// Values paths, comma-separated, the first of which that is a boolean decides.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub condition: String,
    /// Groups that are switched together.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub tags: Vec<String>,
    /// Whether it is used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub enabled: bool,
    /// Values that move from the dependency to this chart.
    #[serde(
        rename = "import-values",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "list"
    )]
    pub import_values: Vec<Value>,
    /// Another name to use it under.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub alias: String,
}

/// `Chart.yaml`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Metadata {
    /// The chart's name.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub name: String,
    /// A web page.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub home: String,
    /// Source code addresses.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub sources: Vec<String>,
    /// The chart's version.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub version: String,
    /// One sentence.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub description: String,
    /// Search words.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub keywords: Vec<String>,
    /// Who looks after it.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub maintainers: Vec<Maintainer>,
    /// A picture's address.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub icon: String,
    /// `v1` or `v2`.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub api_version: String,
    /// Unused by Helm itself.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub condition: String,
    /// Unused by Helm itself.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub tags: String,
    /// The version of what the chart installs.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub app_version: String,
    /// Whether nobody should use it any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// Free notes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "words")]
    pub annotations: BTreeMap<String, String>,
    /// A constraint on the version of Kubernetes.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub kube_version: String,
    /// The charts it builds on.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub dependencies: Vec<Dependency>,
    /// `application` or `library`.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty", deserialize_with = "text")]
    pub kind: String,
}

/// A string; null counts as empty, as in Go.
fn text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    go::text(value.as_ref()).map_err(|found| wrong_kind(found, "string"))
}

/// A map of strings, read as [`text`] reads them.
fn words<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let map = Option::<BTreeMap<String, Value>>::deserialize(deserializer)?.unwrap_or_default();
    map.into_iter()
        .map(|(key, value)| match go::text(Some(&value)) {
            Ok(value) => Ok((key, value)),
            Err(found) => Err(wrong_kind(found, "string")),
        })
        .collect()
}

fn wrong_kind<E: serde::de::Error>(found: &str, wanted: &str) -> E {
    E::custom(format!("json: cannot unmarshal {found} into Go value of type {wanted}"))
}

/// A list or map; null counts as empty, as in Go.
fn list<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
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
        load(shared(files), 0)
    }

    /// Makes a chart of a packed one (`.tgz`), whose files lie in one folder.
    ///
    /// # Errors
    /// The archive cannot be read or is too large, or its files are no chart.
    pub fn from_archive(bytes: &[u8]) -> Result<Self, Error> {
        load(shared(archive::unpack(bytes)?), 0)
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

fn parsed<T: for<'de> Deserialize<'de> + Default>(file: &'static str, data: &[u8]) -> Result<T, Error> {
    let wrong = |message: String| Error::ParseFile { file, message };
    let text = String::from_utf8_lossy(data);
    let value = parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|error| {
        wrong(format!(
            "error converting YAML to JSON: {}",
            function::yaml_error(&error)
        ))
    })?;
    let prefix = "error unmarshaling JSON: while decoding JSON: ";
    match value {
        Value::Null => Ok(T::default()),
        Value::Object(_) => serde_json::from_value(value).map_err(|error| wrong(format!("{prefix}{error}"))),
        other => Err(wrong(format!(
            "{prefix}json: cannot unmarshal {} into Go value of type v2.Metadata",
            go::kind(&other)
        ))),
    }
}

fn shared(files: BTreeMap<String, Vec<u8>>) -> Files {
    files.into_iter().map(|(name, data)| (name, Arc::new(data))).collect()
}

fn load(files: Files, depth: usize) -> Result<Chart, Error> {
    if depth > MAX_NESTING {
        return Err(Error::Nest);
    }
    let mut chart = Chart {
        metadata: match files.get("Chart.yaml") {
            Some(data) => parsed("Chart.yaml", data)?,
            None => return Err(Error::FindMetadata),
        },
        ..Chart::default()
    };
    if chart.metadata.api_version.is_empty() {
        chart.metadata.api_version = "v1".into();
    }
    let mut inside: BTreeMap<String, Files> = BTreeMap::new();
    for (name, data) in &files {
        let file = || File {
            name: name.clone(),
            data: Arc::clone(data),
        };
        match name.as_str() {
            "Chart.yaml" => {}
            "Chart.lock" => chart.lock = Some(parsed("Chart.lock", data)?),
            "values.yaml" => {
                chart.values = values::parse(data).map_err(|error| Error::ParseFile {
                    file: "values.yaml",
                    message: error.to_string(),
                })?;
            }
            "values.schema.json" => chart.schema = Some(data.to_vec()),
            "requirements.yaml" | "requirements.lock" => {
                if name == "requirements.yaml" {
                    let mut found: Map<String, Value> = parsed("requirements.yaml", data)?;
                    let list = found.remove("dependencies").unwrap_or_default();
                    let wrong = |error: serde_json::Error| Error::ParseFile {
                        file: "requirements.yaml",
                        message: error.to_string(),
                    };
                    let list: Option<Vec<Dependency>> = serde_json::from_value(list).map_err(wrong)?;
                    chart.metadata.dependencies = list.unwrap_or_default();
                } else {
                    chart.lock = Some(parsed("requirements.lock", data)?);
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
    validate(&chart.metadata)?;
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
            let child = load(shared(unpacked), depth + 1).map_err(wrong)?;
            chart.dependencies.push(child);
            continue;
        }
        let child = load(files, depth + 1).map_err(wrong)?;
        chart.dependencies.push(child);
    }
    Ok(chart)
}

fn validate(metadata: &Metadata) -> Result<(), Error> {
    let wrong = |message: &str| Err(Error::Validate(message.to_owned()));
    if metadata.name.is_empty() {
        return wrong("chart.metadata.name is required");
    }
    if metadata.name.contains('/') || metadata.name == "." || metadata.name == ".." {
        return Err(Error::Validate(format!(
            "chart.metadata.name \"{}\" is invalid",
            metadata.name
        )));
    }
    if metadata.version.is_empty() {
        return wrong("chart.metadata.version is required");
    }
    if gotemplate::semver::Version::parse(&metadata.version).is_err() {
        return Err(Error::Validate(format!(
            "chart.metadata.version \"{}\" is invalid",
            metadata.version
        )));
    }
    if !matches!(metadata.kind.as_str(), "" | "application" | "library") {
        return wrong("chart.metadata.type must be application or library");
    }
    let mut names = Vec::new();
    for dependency in &metadata.dependencies {
        let key = if dependency.alias.is_empty() {
            &dependency.name
        } else {
            &dependency.alias
        };
        if names.contains(&key) {
            return Err(Error::Validate(format!(
                "more than one dependency with name or alias \"{key}\""
            )));
        }
        let bad = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-';
        if !dependency.alias.is_empty() && dependency.alias.contains(bad) {
            return Err(Error::Validate(format!(
                "dependency \"{}\" has disallowed characters in the alias",
                dependency.name
            )));
        }
        names.push(key);
    }
    Ok(())
}
