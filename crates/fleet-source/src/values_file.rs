//! `valuesFiles` of Helm options → inline values: files in order over the inline values, maps
//! merged, everything else replaced. Files must lie inside the repository (upstream reads any file
//! of the machine: a deviation on purpose).

use std::fs;
use std::io;
use std::path::Path;

use fleet_api::{GenericMap, HelmOptions};
use serde_json::Value;

/// Why a values file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not there, or not readable.
    #[error("read values file {file:?}")]
    Read {
        /// As fleet.yaml names it.
        file: String,
        /// The cause.
        source: io::Error,
    },
    /// Outside of the repository.
    #[error("values file {file:?} lies outside of the repository")]
    Leave {
        /// As fleet.yaml names it.
        file: String,
    },
    /// Not YAML.
    #[error("values file {file:?}: yaml: line {line}: {message}")]
    Parse {
        /// As fleet.yaml names it.
        file: String,
        /// From 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// YAML, but not a map.
    #[error("values file {file:?} is not a yaml map")]
    Shape {
        /// As fleet.yaml names it.
        file: String,
    },
}

/// Replaces the values by what the files make of them. `directory` is the bundle's, `boundary`
/// the repository's.
///
/// # Errors
/// A file that is missing, outside or no YAML map.
pub fn read_into(helm: &mut HelmOptions, directory: &Path, boundary: &Path) -> Result<(), Error> {
    if helm.values_files.is_empty() {
        return Ok(());
    }
    let mut values = helm.values.take().unwrap_or_default();
    for file in &helm.values_files {
        merge(&mut values, read(file, directory, boundary)?);
    }
    helm.values = Some(values);
    Ok(())
}

fn read(file: &str, directory: &Path, boundary: &Path) -> Result<GenericMap, Error> {
    let fail = |source| Error::Read {
        file: file.to_owned(),
        source,
    };
    let path = fs::canonicalize(directory.join(file.trim_start_matches('/'))).map_err(fail)?;
    if !path.starts_with(fs::canonicalize(boundary).map_err(fail)?) {
        return Err(Error::Leave { file: file.to_owned() });
    }
    if !fs::metadata(&path).map_err(fail)?.is_file() {
        return Err(fail(io::Error::other("not a file")));
    }
    let text = fs::read(&path).map_err(fail)?;
    let value = goyaml::parse(&String::from_utf8_lossy(&text)).map_err(|error| Error::Parse {
        file: file.to_owned(),
        line: error.line,
        message: error.message,
    })?;
    match value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(GenericMap::new()),
        _ => Err(Error::Shape { file: file.to_owned() }),
    }
}

/// Puts `over` on top of `base`: maps are merged, everything else is replaced.
fn merge(base: &mut GenericMap, over: GenericMap) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(base)), Value::Object(over)) => merge(base, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_win_and_stay_inside() {
        let dir = tempfile::tempdir().unwrap();
        let bundle = dir.path().join("repo/app");
        fs::create_dir_all(&bundle).unwrap();
        fs::write(dir.path().join("repo/shared.yaml"), "a: {x: 2}\nl: [3]\n").unwrap();
        fs::write(dir.path().join("secret.yaml"), "s: 1\n").unwrap();
        let mut helm = HelmOptions {
            values_files: vec!["../shared.yaml".to_owned()],
            values: serde_json::from_str(r#"{"a":{"x":1,"y":1},"l":[1,2]}"#).unwrap(),
            ..HelmOptions::default()
        };
        read_into(&mut helm, &bundle, &dir.path().join("repo")).unwrap();
        assert_eq!(
            serde_json::to_string(&helm.values).unwrap(),
            r#"{"a":{"x":2,"y":1},"l":[3]}"#
        );
        helm.values_files = vec!["../../secret.yaml".to_owned()];
        assert!(matches!(
            read_into(&mut helm, &bundle, &dir.path().join("repo")),
            Err(Error::Leave { .. })
        ));
    }
}
