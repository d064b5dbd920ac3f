//! With whose rights a bundle is deployed: the service account its options name, else
//! `fleet-default` if there is one, else the agent's own.

use fleet_deploy::cluster::Cluster;
use fleet_deploy::object::ObjectKey;
use fleet_runtime::chain;

/// Account that is used when the options name none.
const DEFAULT: &str = "fleet-default";

/// The cluster as that account sees it.
///
/// # Errors
/// The account does not exist or cannot be looked up.
pub(crate) async fn cluster(local: &Cluster, namespace: &str, requested: &str) -> Result<Cluster, String> {
    let name = if requested.is_empty() { DEFAULT } else { requested };
    let key = ObjectKey {
        api_version: "v1".into(),
        kind: "ServiceAccount".into(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    match local.get(&key).await {
        Ok(Some(_)) => Ok(local.impersonating(&format!("system:serviceaccount:{namespace}:{name}"))),
        Ok(None) if requested.is_empty() => Ok(local.clone()),
        Ok(None) => Err(format!(
            "looking up service account {namespace}/{name}: ServiceAccount \"{name}\" not found"
        )),
        Err(error) => Err(format!(
            "looking up service account {namespace}/{name}: {}",
            chain(&error)
        )),
    }
}
