//! The values a release is rendered with: inline values, then those read from config maps and
//! secrets on the cluster, later ones over earlier ones. Reads as the account that deploys, so
//! that nobody learns through a bundle what that account may not read.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fleet_api::{BundleDeploymentOptions, KeySelector};
use serde_json::{Map, Value};

use crate::cluster::{self, Cluster};
use crate::object::ObjectKey;

/// Key that is read when an entry names none.
const DEFAULT_KEY: &str = "values.yaml";

/// Why values cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The object cannot be read.
    #[error(transparent)]
    Get(cluster::Error),
    /// The object is not there. The text is the API server's.
    #[error("{plural} \"{name}\" not found")]
    Missing {
        /// `secrets` or `configmaps`.
        plural: &'static str,
        /// Its name.
        name: String,
    },
    /// The object lacks the key.
    #[error("key {key} is missing from {kind} {namespace}/{name}, can't use it in valuesFrom")]
    MissingKey {
        /// `secret` or `configmap`.
        kind: &'static str,
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// The key.
        key: String,
    },
    /// The text below the key is not a map in YAML.
    #[error("{kind} {namespace}/{name}, key {key}: {message}")]
    Parse {
        /// `secret` or `configmap`.
        kind: &'static str,
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// The key.
        key: String,
        /// Cause; never the text itself.
        message: String,
    },
}

/// `over` into `under`: maps are merged, anything else replaces.
pub fn merge(under: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

/// The user's values of a release in `namespace`.
///
/// # Errors
/// A source that is missing or cannot be read.
pub async fn gather(
    cluster: &Cluster,
    options: &BundleDeploymentOptions,
    namespace: &str,
) -> Result<Map<String, Value>, Error> {
    let Some(helm) = &options.helm else {
        return Ok(Map::new());
    };
    let mut values = helm.values.clone().unwrap_or_default();
    for source in &helm.values_from {
        if let Some(selector) = &source.config_map_key_ref {
            let found = read(cluster, options, namespace, "ConfigMap", selector).await?;
            merge(&mut values, found);
        }
        if let Some(selector) = &source.secret_key_ref {
            let found = read(cluster, options, namespace, "Secret", selector).await?;
            merge(&mut values, found);
        }
    }
    Ok(values)
}

async fn read(
    cluster: &Cluster,
    options: &BundleDeploymentOptions,
    release_namespace: &str,
    kind: &'static str,
    selector: &KeySelector,
) -> Result<Map<String, Value>, Error> {
    let (word, plural) = if kind == "Secret" {
        ("secret", "secrets")
    } else {
        ("configmap", "configmaps")
    };
    let copied = options
        .downstream_resources
        .iter()
        .any(|resource| resource.kind.eq_ignore_ascii_case(kind) && resource.name == selector.name);
    let namespace = if selector.namespace.is_empty() || copied {
        release_namespace
    } else {
        selector.namespace.as_str()
    };
    let key = if selector.key.is_empty() {
        DEFAULT_KEY
    } else {
        selector.key.as_str()
    };
    let place = ObjectKey {
        api_version: "v1".into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: selector.name.clone(),
    };
    let object = cluster
        .get(&place)
        .await
        .map_err(Error::Get)?
        .ok_or_else(|| Error::Missing {
            plural,
            name: selector.name.clone(),
        })?;
    let failed = |message: String| Error::Parse {
        kind: word,
        namespace: namespace.to_owned(),
        name: selector.name.clone(),
        key: key.to_owned(),
        message,
    };
    let missing = || Error::MissingKey {
        kind: word,
        namespace: namespace.to_owned(),
        name: selector.name.clone(),
        key: key.to_owned(),
    };
    let text = object["data"][key].as_str().ok_or_else(missing)?;
    let text = if kind == "Secret" {
        let bytes = STANDARD.decode(text).map_err(|_| failed("not base64".into()))?;
        String::from_utf8(bytes).map_err(|_| failed("not UTF-8".into()))?
    } else {
        text.to_owned()
    };
    match goyaml::parse(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(failed("values must be a map".into())),
        Err(error) => Err(failed(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn maps_are_merged_and_lists_replaced() {
        let Value::Object(mut under) = json!({"a": {"b": 1, "c": [1]}, "d": 1}) else {
            unreachable!()
        };
        let Value::Object(over) = json!({"a": {"c": [2], "e": null}, "d": {"f": 1}}) else {
            unreachable!()
        };
        merge(&mut under, over);
        assert_eq!(
            Value::Object(under),
            json!({"a": {"b": 1, "c": [2], "e": null}, "d": {"f": 1}})
        );
    }
}
