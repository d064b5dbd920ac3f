//! What an administrator does by hand: install the kinds, make a token, leave the bootstrap secret for an agent.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::runtime::conditions;
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::object::{PATIENCE, apply, eventually};

/// Namespace of manager and agent.
pub const SYSTEM_NAMESPACE: &str = "cattle-fleet-system";
/// Namespace in which clusters are registered.
pub const FLEET_NAMESPACE: &str = "fleet-default";

/// Installs Fleet's kinds and namespaces, and the manager's configuration, as the charts would.
///
/// # Errors
/// The API refuses.
pub async fn install_kinds(client: &Client, url: &str, ca: &str) -> Result<()> {
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    for kind in fleet_api::crds() {
        apply(&definitions, &kind).await?;
        let name = kind["metadata"]["name"]
            .as_str()
            .context("a kind has a name")?
            .to_owned();
        let established = conditions::is_crd_established();
        let wait = kube::runtime::wait::await_condition(definitions.clone(), &name, established);
        tokio::time::timeout(PATIENCE, wait)
            .await
            .with_context(|| format!("wait for {name}"))??;
    }
    let namespaces = Api::<Namespace>::all(client.clone());
    for name in [SYSTEM_NAMESPACE, FLEET_NAMESPACE] {
        apply(
            &namespaces,
            &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}),
        )
        .await?;
    }
    let config = json!({
        "apiServerURL": url, "apiServerCA": ca, "agentTLSMode": "strict", "agentCheckinInterval": "1m",
        "garbageCollectionInterval": "15m", "bootstrap": {},
    });
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fleet-controller", "namespace": SYSTEM_NAMESPACE},
        "data": {"config": config.to_string()},
    });
    apply(&Api::<ConfigMap>::namespaced(client.clone(), SYSTEM_NAMESPACE), &object).await?;
    Ok(())
}

/// Makes a registration token and returns the values that the manager answers.
///
/// # Errors
/// The manager does not answer.
pub async fn registration_values(client: &Client, token: &str) -> Result<BTreeMap<String, Value>> {
    let tokens = Api::<fleet_api::ClusterRegistrationToken>::namespaced(client.clone(), FLEET_NAMESPACE);
    let object = json!({
        "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "ClusterRegistrationToken",
        "metadata": {"name": token, "namespace": FLEET_NAMESPACE}, "spec": {},
    });
    apply(&tokens, &object).await?;
    let secrets = Api::<Secret>::namespaced(client.clone(), FLEET_NAMESPACE);
    let written = |secret: &Secret| secret.data.as_ref().is_some_and(|data| data.contains_key("values"));
    let secret = eventually(&secrets, token, "written by the manager", written).await?;
    let values = secret
        .data
        .and_then(|mut data| data.remove("values"))
        .context("the secret has values")?;
    let values = goyaml::parse(&String::from_utf8(values.0).context("values are text")?).context("values are YAML")?;
    serde_json::from_value(values).context("values are a map")
}

/// Leaves on a downstream cluster what its agent needs to register with this identity.
///
/// # Errors
/// The API refuses.
pub async fn bootstrap_agent(downstream: &Client, client_id: &str, values: &BTreeMap<String, Value>) -> Result<()> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM_NAMESPACE}});
    apply(&Api::<Namespace>::all(downstream.clone()), &namespace).await?;
    let config = json!({"clientID": client_id, "agentTLSMode": "strict"});
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fleet-agent", "namespace": SYSTEM_NAMESPACE},
        "data": {"config": config.to_string()},
    });
    apply(
        &Api::<ConfigMap>::namespaced(downstream.clone(), SYSTEM_NAMESPACE),
        &object,
    )
    .await?;
    let data: BTreeMap<&String, &Value> = values.iter().filter(|(_, value)| value.is_string()).collect();
    let object = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "fleet-agent-bootstrap", "namespace": SYSTEM_NAMESPACE}, "stringData": data,
    });
    apply(
        &Api::<Secret>::namespaced(downstream.clone(), SYSTEM_NAMESPACE),
        &object,
    )
    .await?;
    Ok(())
}
