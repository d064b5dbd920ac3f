//! Labels and annotations of the release namespace, as the options give them.

use std::collections::BTreeMap;

use fleet_api::BundleDeploymentOptions;
use fleet_deploy::cluster::{self, Cluster};
use fleet_deploy::deploy::release_namespace;
use fleet_deploy::object::ObjectKey;
use serde_json::Value;

/// Set by the server; nobody removes it.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// Pod security is the cluster owner's business.
const POD_SECURITY: &str = "pod-security.kubernetes.io/";

/// Why the namespace is not labelled.
#[derive(Debug)]
pub(crate) enum Error {
    /// The account may not.
    Forbidden(String),
    /// Anything else.
    Other(String),
}

fn strings(value: &Value) -> BTreeMap<String, String> {
    let map = value.as_object().into_iter().flatten();
    map.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// Whether the options say anything about the namespace.
pub(crate) fn has_wishes(options: &BundleDeploymentOptions) -> bool {
    options.namespace_labels.is_some() || options.namespace_annotations.is_some()
}

/// Labels the namespace; writes nothing that is there.
///
/// # Errors
/// Why it cannot.
pub(crate) async fn label(cluster: &Cluster, options: &BundleDeploymentOptions) -> Result<(), Error> {
    if !has_wishes(options) {
        return Ok(());
    }
    let name = release_namespace(options);
    let key = ObjectKey {
        api_version: "v1".into(),
        kind: "Namespace".into(),
        namespace: String::new(),
        name: name.into(),
    };
    let failed = |error: cluster::Error| {
        if error.is_forbidden() {
            Error::Forbidden(format!(
                "the deployment's service account is not allowed to update namespace \"{name}\"; grant it 'update' on this namespace (scoped via resourceNames) or remove namespaceLabels/namespaceAnnotations: {error}"
            ))
        } else {
            Error::Other(error.to_string())
        }
    };
    let live = cluster.get(&key).await.map_err(failed)?;
    let Some(mut live) = live else {
        return Err(Error::Other(format!("namespaces \"{name}\" not found")));
    };
    let mut changed = false;
    if let Some(wanted) = &options.namespace_labels {
        let found = strings(&live["metadata"]["labels"]);
        let mut labels: BTreeMap<String, String> = found
            .iter()
            .filter(|(key, _)| key.starts_with(POD_SECURITY) || *key == NAME_LABEL)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        labels.extend(
            wanted
                .iter()
                .filter(|(key, _)| !key.starts_with(POD_SECURITY))
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        if labels != found {
            changed = true;
            live["metadata"]["labels"] = serde_json::to_value(labels).unwrap_or_default();
        }
    }
    if let Some(wanted) = &options.namespace_annotations
        && strings(&live["metadata"]["annotations"]) != *wanted
    {
        changed = true;
        live["metadata"]["annotations"] = serde_json::to_value(wanted).unwrap_or_default();
    }
    if changed {
        live["apiVersion"] = "v1".into();
        live["kind"] = "Namespace".into();
        cluster.replace(&live).await.map_err(failed)?;
    }
    Ok(())
}
