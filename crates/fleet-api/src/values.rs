//! Helm values ⇄ secrets. Values may hold credentials, so a Bundle and a BundleDeployment keep
//! them in a secret of their own name and carry only a hash. Turns specs into secret data and
//! back; mirrors upstream's `helmvalues`. `templateValues` and `valuesFrom` stay in the spec.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::bundle::BundleSpec;
use crate::json;
use crate::names::sha256_hex;
use crate::options::{BundleDeploymentOptions, GenericMap, HelmOptions};

/// Key of a Bundle's own values.
pub const BUNDLE_KEY: &str = "values.yaml";
/// Key of a BundleDeployment's values.
pub const DEPLOYMENT_KEY: &str = "values";
/// Key of a BundleDeployment's staged values.
pub const STAGED_KEY: &str = "stagedValues";

/// Why values cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Only named targets have a key in the secret.
    #[error("target name is required")]
    NameTarget,
    /// A secret that holds no JSON object.
    #[error("parse values of key {key:?}")]
    Parse {
        /// Key of the secret.
        key: String,
        /// The cause.
        source: serde_json::Error,
    },
}

/// Data of a values secret and its hash; both empty when there are no values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// JSON objects by key.
    pub data: BTreeMap<String, Vec<u8>>,
    /// Hex sha256, or "".
    pub hash: String,
}

fn values_json(helm: Option<&HelmOptions>) -> Option<Vec<u8>> {
    let values = helm?.values.as_ref().filter(|values| !values.is_empty())?;
    Some(json::to_string(values).into_bytes())
}

/// The values of a Bundle: its own and those of its targets.
///
/// # Errors
/// A target with values but without a name.
pub fn of_bundle(spec: &BundleSpec) -> Result<Extracted, Error> {
    let mut data = BTreeMap::new();
    if let Some(values) = values_json(spec.options.helm.as_ref()) {
        data.insert(BUNDLE_KEY.to_owned(), values);
    }
    for target in &spec.targets {
        if let Some(values) = values_json(target.options.helm.as_ref()) {
            if target.name.is_empty() {
                return Err(Error::NameTarget);
            }
            data.insert(target.name.clone(), values);
        }
    }
    let hash = bundle_hash(&data);
    Ok(Extracted { data, hash })
}

/// Hash of a Bundle's values secret.
#[must_use]
pub fn bundle_hash(data: &BTreeMap<String, Vec<u8>>) -> String {
    if data.is_empty() {
        return String::new();
    }
    let encoded: BTreeMap<&str, String> = data
        .iter()
        .map(|(key, value)| (key.as_str(), STANDARD.encode(value)))
        .collect();
    sha256_hex(json::to_string(&encoded).as_bytes())
}

/// Removes what [`of_bundle`] found, and the lists of values files that led to it.
pub fn clear_bundle(spec: &mut BundleSpec) {
    let targets = spec.targets.iter_mut().map(|target| &mut target.options);
    for options in std::iter::once(&mut spec.options).chain(targets) {
        if let Some(helm) = &mut options.helm {
            helm.values = None;
            helm.values_files = Vec::new();
        }
    }
}

/// Puts the values of the secret back.
///
/// # Errors
/// A value that is no JSON object.
pub fn restore_bundle(spec: &mut BundleSpec, data: &BTreeMap<String, Vec<u8>>) -> Result<(), Error> {
    restore(&mut spec.options, data, BUNDLE_KEY)?;
    for target in &mut spec.targets {
        let key = target.name.clone();
        if !key.is_empty() {
            restore(&mut target.options, data, &key)?;
        }
    }
    Ok(())
}

/// The values of a BundleDeployment. The data always has both keys unless both are empty.
#[must_use]
pub fn of_deployment(options: Option<&BundleDeploymentOptions>, staged: Option<&BundleDeploymentOptions>) -> Extracted {
    let values = |options: Option<&BundleDeploymentOptions>| {
        options
            .and_then(|options| values_json(options.helm.as_ref()))
            .unwrap_or_default()
    };
    let (values, staged) = (values(options), values(staged));
    let hash = deployment_hash(&values, &staged);
    if hash.is_empty() {
        return Extracted::default();
    }
    Extracted {
        data: [(DEPLOYMENT_KEY.to_owned(), values), (STAGED_KEY.to_owned(), staged)].into(),
        hash,
    }
}

/// Hash of a BundleDeployment's values secret, from its two entries.
#[must_use]
pub fn deployment_hash(values: &[u8], staged: &[u8]) -> String {
    if values.is_empty() && staged.is_empty() {
        return String::new();
    }
    sha256_hex(&[values, staged].concat())
}

/// Removes the values of deployment options.
pub fn clear_deployment(options: &mut BundleDeploymentOptions) {
    if let Some(helm) = &mut options.helm {
        helm.values = None;
    }
}

/// Puts the value of `key` ([`DEPLOYMENT_KEY`] or [`STAGED_KEY`]) back into options.
///
/// # Errors
/// A value that is no JSON object.
pub fn restore(
    options: &mut BundleDeploymentOptions,
    data: &BTreeMap<String, Vec<u8>>,
    key: &str,
) -> Result<(), Error> {
    let Some(bytes) = data.get(key).filter(|bytes| !bytes.is_empty()) else {
        return Ok(());
    };
    let values: Option<GenericMap> = serde_json::from_slice(bytes).map_err(|source| Error::Parse {
        key: key.to_owned(),
        source,
    })?;
    if let Some(values) = values.filter(|values| !values.is_empty()) {
        options.helm.get_or_insert_default().values = Some(values);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: serde_json::Value) -> BundleDeploymentOptions {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_bundles_values_move_out_and_back() {
        let original: BundleSpec = serde_json::from_value(serde_json::json!({
            "helm": {"values": {"key": "value"}},
            "targets": [{"name": "target", "helm": {"values": {"newkey": "value"}}}, {"helm": {}}]
        }))
        .unwrap();
        let extracted = of_bundle(&original).unwrap();
        assert_eq!(
            extracted.hash,
            "17e05a97acde825d03ca37c2b8fc1aecf3f8f9fde28c21702492c56d4d4a68f1"
        );
        let mut spec = original.clone();
        clear_bundle(&mut spec);
        assert_eq!(of_bundle(&spec).unwrap(), Extracted::default());
        restore_bundle(&mut spec, &extracted.data).unwrap();
        assert_eq!(spec, original);
    }

    #[test]
    fn values_of_an_unnamed_target_are_refused() {
        let spec: BundleSpec =
            serde_json::from_value(serde_json::json!({"targets": [{"helm": {"values": {"a": 1}}}]})).unwrap();
        assert!(matches!(of_bundle(&spec), Err(Error::NameTarget)));
    }

    #[test]
    fn a_deployments_values_hash_as_upstream_hashes_them() {
        let plain = options(serde_json::json!({"helm": {"values": {"key": "value"}}}));
        let staged = options(serde_json::json!({"helm": {"values": {"newkey": "value"}}}));
        assert_eq!(
            of_deployment(Some(&plain), None).hash,
            "e43abcf3375244839c012f9633f95862d232a95b00d5bc7348b3098b9fed7f32"
        );
        assert_eq!(
            of_deployment(Some(&plain), Some(&staged)).hash,
            "01c44d8a446abccb870503db292e07cb2b8da135b6fec52b21048bdab8c84a7c"
        );
        assert_eq!(
            of_deployment(None, Some(&options(serde_json::json!({"helm": {"values": {}}})))),
            Extracted::default()
        );
    }
}
