//! Kustomize over the objects of a bundle: the bundle's files plus the rendered objects as one
//! more resource become the kustomized objects. Does nothing when the bundle has no
//! kustomization.

use std::collections::BTreeMap;

use fleet_api::BundleDeploymentOptions;
use serde_json::Value;

use crate::content::Resource;
use crate::postrender::Error;

/// File in which the rendered objects are handed to kustomize.
const MANIFESTS: &str = "fleet-manifests.yaml";

/// The kustomized objects, or `None` if there is no kustomization to run.
///
/// # Errors
/// What kustomize refuses.
pub(crate) fn run(
    objects: &[Value],
    resources: &[Resource],
    options: &BundleDeploymentOptions,
) -> Result<Option<Vec<Value>>, Error> {
    let any = resources.iter().any(|resource| {
        ["kustomization.yaml", "kustomization.yml", "Kustomization"]
            .iter()
            .any(|name| resource.name.ends_with(name))
    });
    if !any {
        return Ok(None);
    }
    let dir = options
        .kustomize
        .as_ref()
        .map(|kustomize| kustomize.dir.trim_matches('/'))
        .unwrap_or_default();
    let inside = |name: &str| {
        if dir.is_empty() {
            name.to_owned()
        } else {
            format!("{dir}/{name}")
        }
    };
    let mut files: BTreeMap<String, Vec<u8>> = resources
        .iter()
        .map(|resource| (resource.name.clone(), resource.data.clone()))
        .collect();
    let root = inside("kustomization.yaml");
    let Some(text) = files.get(&root).map(|data| String::from_utf8_lossy(data).into_owned()) else {
        return Ok(None);
    };
    if !objects.is_empty() {
        let file = root.clone();
        let failed = |error: goyaml::Error| Error::Kustomize(format!("{file}: {error}"));
        let mut kustomization = goyaml::parse(&text).map_err(failed)?;
        if kustomization.is_null() {
            kustomization = Value::Object(serde_json::Map::new());
        }
        // What is no map, or no list, is left for kustomize to complain about.
        if let Value::Object(map) = &mut kustomization {
            let list = map.entry("resources").or_insert(Value::Null);
            if list.is_null() {
                *list = Value::Array(Vec::new());
            }
            if let Value::Array(list) = list
                && !list.iter().any(|entry| entry == MANIFESTS)
            {
                list.insert(0, MANIFESTS.into());
            }
        }
        files.insert(root, goyaml::to_yaml(&kustomization).map_err(failed)?.into_bytes());
        let mut manifests = String::new();
        for object in objects {
            manifests.push_str("---\n");
            manifests.push_str(&goyaml::to_yaml(object).map_err(failed)?);
        }
        files.insert(inside(MANIFESTS), manifests.into_bytes());
    }
    let built = kustomize::build(&files, dir).map_err(|error| Error::Kustomize(error.to_string()))?;
    Ok(Some(built))
}
