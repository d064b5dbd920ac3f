//! Overlays of plain manifests: directories below `overlays/` whose files replace, add or
//! patch files of the bundle. Turns resources and a list of overlay names into resources
//! without `overlays/`, sorted by name. An overlay that is not there changes nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::content::Resource;

/// Why an overlay cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A patch without a file to patch.
    #[error("overlay file '{patch}' patches '{target}', which does not exist")]
    NoTarget {
        /// The patch.
        patch: String,
        /// What it would patch.
        target: String,
    },
    /// Patch or target is not YAML.
    #[error("parse '{name}'")]
    Parse {
        /// The file.
        name: String,
        /// Cause.
        #[source]
        source: goyaml::Error,
    },
    /// The patch does not fit.
    #[error("apply '{patch}' to '{target}': {message}")]
    Patch {
        /// The patch.
        patch: String,
        /// What it patches.
        target: String,
        /// Cause.
        message: String,
    },
}

/// Applies the overlays in order.
///
/// # Errors
/// A patch that has no target or does not fit it.
pub(crate) fn apply(resources: &[Resource], overlays: &[String]) -> Result<Vec<Resource>, Error> {
    let mut files: BTreeMap<String, Resource> = BTreeMap::new();
    for (index, resource) in resources.iter().enumerate() {
        let name = if resource.name.is_empty() {
            format!("manifests/file{index:03}.yaml")
        } else {
            resource.name.clone()
        };
        let resource = Resource {
            name: name.clone(),
            ..resource.clone()
        };
        files.insert(name, resource);
    }
    for overlay in overlays {
        let prefix = format!("overlays/{overlay}/");
        let layer: Vec<(String, Resource)> = files
            .iter()
            .filter_map(|(name, file)| Some((name.strip_prefix(&prefix)?.to_owned(), file.clone())))
            .collect();
        for (name, file) in layer {
            let (directory, base) = name.rsplit_once('/').map_or(("", name.as_str()), |split| split);
            if !base.contains("_patch.") {
                files.insert(name.clone(), Resource { name, ..file });
                continue;
            }
            let base = base.replacen("_patch.", ".", 1);
            let target = if directory.is_empty() {
                base
            } else {
                format!("{directory}/{base}")
            };
            let patch = format!("{prefix}{name}");
            let Some(current) = files.get(&target) else {
                return Err(Error::NoTarget { patch, target });
            };
            let patched = patched(&target, &current.data, &patch, &file.data)?;
            files.insert(
                target.clone(),
                Resource {
                    name: target,
                    data: patched,
                    packed: None,
                },
            );
        }
    }
    files.retain(|name, _| !name.starts_with("overlays/"));
    Ok(files.into_values().collect())
}

fn parsed(name: &str, data: &[u8]) -> Result<Value, Error> {
    goyaml::parse(&String::from_utf8_lossy(data)).map_err(|source| Error::Parse {
        name: name.to_owned(),
        source,
    })
}

fn patched(target: &str, current: &[u8], patch: &str, patch_data: &[u8]) -> Result<Vec<u8>, Error> {
    let object = parsed(target, current)?;
    let change = parsed(patch, patch_data)?;
    let result = crate::patch::overlay(&object, &change).map_err(|message| Error::Patch {
        patch: patch.to_owned(),
        target: target.to_owned(),
        message,
    })?;
    Ok(goyaml::json::to_string(&result).into_bytes())
}
