//! Charts in a bundle's directory whose declared dependencies are not in `charts/` → what
//! `helm dependency update` would add, without touching the directory. Local repositories
//! (`file://`) are packed from the repository, others are downloaded without credentials.
//!
//! Unlike Helm's, the result is the same for the same input: no times in it, so that applying
//! twice deploys once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fleet_api::json;
use fleet_api::names::sha256_hex;
use gotemplate::semver::{Constraint, Version};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::chart;
use crate::options::ChartAuth;
use crate::resources::{self, Files, Selection};

/// Why dependencies cannot be completed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not readable.
    #[error("read {file}")]
    Read {
        /// `Chart.yaml`, …
        file: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// Not YAML.
    #[error("cannot load {file}: yaml: line {line}: {message}")]
    Parse {
        /// `Chart.yaml`, …
        file: &'static str,
        /// From 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// No repository that can be asked.
    #[error("dependency {name:?}: {why}; put it into charts/ or set helm.disableDependencyUpdate")]
    Locate {
        /// Name of the dependency.
        name: String,
        /// What is wrong with its repository.
        why: String,
    },
    /// Not available.
    #[error("dependency {name:?} from {repository:?}; put it into charts/ or set helm.disableDependencyUpdate")]
    Fetch {
        /// Name of the dependency.
        name: String,
        /// Its repository.
        repository: String,
        /// The cause.
        source: Box<chart::Error>,
    },
    /// The local chart.
    #[error("dependency {name:?} from {repository:?}")]
    ReadLocal {
        /// Name of the dependency.
        name: String,
        /// Its repository.
        repository: String,
        /// The cause.
        source: Box<resources::Error>,
    },
    /// Its package.
    #[error("pack dependency {name:?}")]
    Pack {
        /// Name of the dependency.
        name: String,
        /// The cause.
        source: std::io::Error,
    },
}

/// What may be read.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Local charts must lie inside.
    pub boundary: &'a Path,
}

/// A dependency as Helm writes it to `Chart.lock` and into the digest.
#[derive(Clone, Debug, Serialize)]
struct Locked<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'a str,
    repository: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    condition: &'a str,
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    tags: Vec<&'a str>,
    #[serde(rename = "import-values", skip_serializing_if = "<[&Value]>::is_empty")]
    import_values: Vec<&'a Value>,
    #[serde(skip_serializing_if = "str::is_empty")]
    alias: &'a str,
}

impl<'a> Locked<'a> {
    fn declared(value: &'a Value) -> Self {
        let text = |key: &str| value[key].as_str().unwrap_or_default();
        Self {
            name: text("name"),
            version: text("version"),
            repository: text("repository"),
            condition: text("condition"),
            tags: value["tags"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect(),
            import_values: value["import-values"].as_array().into_iter().flatten().collect(),
            alias: text("alias"),
        }
    }

    fn resolved(name: &'a str, version: &'a str, repository: &'a str) -> Self {
        Self {
            name,
            version,
            repository,
            condition: "",
            tags: Vec::new(),
            import_values: Vec::new(),
            alias: "",
        }
    }
}

/// Files that complete the chart in `directory`, by name relative to it: none if nothing is
/// missing, else a lock file and the packages of all dependencies.
///
/// # Errors
/// A chart that cannot be read, a dependency that cannot be had.
pub fn missing(directory: &Path, access: &Access<'_>) -> Result<Files, Error> {
    let chart = parse(directory, "Chart.yaml")?;
    let old = chart["apiVersion"].as_str() != Some("v2") && directory.join("requirements.yaml").is_file();
    let (source, lock) = if old {
        (parse(directory, "requirements.yaml")?, "requirements.lock")
    } else {
        (chart, "Chart.lock")
    };
    let declared: Vec<Locked<'_>> = source["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .map(Locked::declared)
        .collect();
    if declared.iter().all(|dependency| present(directory, dependency.name)) {
        return Ok(Files::new());
    }
    let mut files = Files::new();
    let mut versions = Vec::new();
    for dependency in &declared {
        if dependency.repository.is_empty() {
            // Helm takes such a dependency from charts/ as it is.
            versions.push(dependency.version.to_owned());
            continue;
        }
        let (version, package) = package(dependency, directory, access)?;
        files.insert(format!("charts/{}-{version}.tgz", dependency.name), package);
        versions.push(version);
    }
    let resolved: Vec<Locked<'_>> = declared
        .iter()
        .zip(&versions)
        .map(|(dependency, version)| Locked::resolved(dependency.name, version, dependency.repository))
        .collect();
    files.insert(lock.to_owned(), lock_file(&declared, &resolved).into_bytes());
    Ok(files)
}

/// Helm's lock file. The time is the zero time: it says nothing that matters.
fn lock_file(declared: &[Locked<'_>], resolved: &[Locked<'_>]) -> String {
    let digest = sha256_hex(json::to_string(&[declared, resolved]).as_bytes());
    let mut lock = Map::new();
    lock.insert(
        "dependencies".to_owned(),
        serde_json::to_value(resolved).unwrap_or_default(),
    );
    lock.insert("digest".to_owned(), Value::from(format!("sha256:{digest}")));
    lock.insert("generated".to_owned(), Value::from("0001-01-01T00:00:00Z"));
    goyaml::to_yaml(&Value::Object(lock)).unwrap_or_default()
}

/// Version and package of one dependency.
fn package(dependency: &Locked<'_>, directory: &Path, access: &Access<'_>) -> Result<(String, Vec<u8>), Error> {
    let (name, repository) = (dependency.name, dependency.repository);
    if let Some(path) = repository.strip_prefix("file://") {
        return local(dependency, &directory.join(path), access);
    }
    if !repository.starts_with("http://") && !repository.starts_with("https://") {
        let why = format!("repository {repository:?} cannot be asked: only https, http and file are supported");
        return Err(Error::Locate {
            name: name.to_owned(),
            why,
        });
    }
    let access = chart::Access {
        auth: &ChartAuth::default(),
        url_regex: "",
    };
    chart::archive_from_repository(repository, name, dependency.version, &access).map_err(|source| Error::Fetch {
        name: name.to_owned(),
        repository: repository.to_owned(),
        source: Box::new(source),
    })
}

fn local(dependency: &Locked<'_>, path: &Path, access: &Access<'_>) -> Result<(String, Vec<u8>), Error> {
    let locate = |why: String| Error::Locate {
        name: dependency.name.to_owned(),
        why,
    };
    let path = fs::canonicalize(path).map_err(|error| locate(format!("{:?}: {error}", dependency.repository)))?;
    let boundary = fs::canonicalize(access.boundary).map_err(|error| locate(error.to_string()))?;
    if !path.starts_with(boundary) {
        return Err(locate(format!(
            "{:?} lies outside of the repository",
            dependency.repository
        )));
    }
    let chart = parse(&path, "Chart.yaml")?;
    let version = chart["version"].as_str().unwrap_or_default().to_owned();
    let fits = Constraint::parse(if dependency.version.is_empty() {
        "*"
    } else {
        dependency.version
    })
    .and_then(|constraint| Ok(constraint.allows(&Version::parse(&version)?)));
    if fits != Ok(true) {
        return Err(locate(format!(
            "version {version:?} in {:?} is not {:?}",
            dependency.repository, dependency.version
        )));
    }
    let mut files =
        resources::read_directory(&path, false, &Selection::default()).map_err(|source| Error::ReadLocal {
            name: dependency.name.to_owned(),
            repository: dependency.repository.to_owned(),
            source: Box::new(source),
        })?;
    files.insert("Chart.yaml".to_owned(), metadata(&chart).into_bytes());
    let name = chart["name"].as_str().unwrap_or(dependency.name);
    let inside: Files = files
        .into_iter()
        .map(|(file, bytes)| (format!("{name}/{file}"), bytes))
        .collect();
    let package = chart::pack(&inside).map_err(|source| Error::Pack {
        name: dependency.name.to_owned(),
        source,
    })?;
    Ok((version, package))
}

/// `Chart.yaml` as Helm writes it into a package: known fields only, sorted.
fn metadata(chart: &Value) -> String {
    const FIELDS: [&str; 17] = [
        "annotations",
        "apiVersion",
        "appVersion",
        "condition",
        "dependencies",
        "deprecated",
        "description",
        "home",
        "icon",
        "keywords",
        "kubeVersion",
        "maintainers",
        "name",
        "sources",
        "tags",
        "type",
        "version",
    ];
    let fields: BTreeMap<&str, &Value> = FIELDS
        .iter()
        .filter_map(|field| Some((*field, chart.get(field).filter(|value| !value.is_null())?)))
        .collect();
    goyaml::to_yaml(&serde_json::to_value(fields).unwrap_or_default()).unwrap_or_default()
}

fn present(directory: &Path, name: &str) -> bool {
    let charts = directory.join("charts");
    // A directory may be called anything; its Chart.yaml says what it is.
    fs::read_dir(charts).into_iter().flatten().flatten().any(|entry| {
        let file = entry.file_name().to_string_lossy().into_owned();
        let packed = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit() || c == 'v') && rest.ends_with(".tgz");
        file.strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(packed)
            || parse(&entry.path(), "Chart.yaml").is_ok_and(|chart| chart["name"] == name)
    })
}

fn parse(directory: &Path, file: &'static str) -> Result<Value, Error> {
    let text = fs::read(directory.join(file)).map_err(|source| Error::Read { file, source })?;
    goyaml::parse(&String::from_utf8_lossy(&text)).map_err(|error| Error::Parse {
        file,
        line: error.line,
        message: error.message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_dependency_is_packed_and_locked_as_helm_does() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("lib/Chart.yaml", "version: 0.3.0\nname: lib\napiVersion: v2\nodd: 1\n");
        write(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: demo\ndependencies:\n- {name: lib, version: 0.x, repository: 'file://../lib'}\n",
        );
        let access = Access { boundary: dir.path() };
        let files = missing(&dir.path().join("chart"), &access).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["Chart.lock", "charts/lib-0.3.0.tgz"]);
        let lock = String::from_utf8(files["Chart.lock"].clone()).unwrap();
        assert!(
            lock.contains("sha256:80fb2bbe951419b4ec572bab3a6b483b0de9f07b57564951fc302266b2586971"),
            "{lock}"
        );
        assert_eq!(missing(&dir.path().join("chart"), &access).unwrap(), files);
        write("chart/charts/lib/Chart.yaml", "name: lib\n");
        assert!(missing(&dir.path().join("chart"), &access).unwrap().is_empty());
        let outside = Access {
            boundary: &dir.path().join("chart"),
        };
        fs::remove_dir_all(dir.path().join("chart/charts")).unwrap();
        assert!(matches!(
            missing(&dir.path().join("chart"), &outside),
            Err(Error::Locate { .. })
        ));
    }
}
