//! Clients, writing, and waiting for what shall become true.

use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use kube::api::{Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::wait::await_condition;
use kube::{Api, Client, Config};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How long anything may take before a test gives up: far more than it takes, because machines are noisy.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A client from a kubeconfig file.
///
/// # Errors
/// The file is unreadable or says nothing of use.
pub async fn client(kubeconfig: &Path) -> Result<Client> {
    let text = std::fs::read_to_string(kubeconfig).with_context(|| format!("read {}", kubeconfig.display()))?;
    kubeconfig_client(&text).await
}

/// A client from the text of a kubeconfig.
///
/// # Errors
/// The text says nothing of use.
pub async fn kubeconfig_client(text: &str) -> Result<Client> {
    // A second call finds the provider installed, which is what is wanted.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let kubeconfig = Kubeconfig::from_yaml(text).context("read the kubeconfig")?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .context("read the kubeconfig")?;
    Client::try_from(config).context("make a client")
}

/// Writes an object by server-side apply.
///
/// # Errors
/// The API refuses.
pub async fn apply<K>(api: &Api<K>, object: &Value) -> Result<K>
where
    K: Clone + Debug + DeserializeOwned,
{
    let name = object["metadata"]["name"].as_str().context("an object has a name")?;
    let parameters = PatchParams::apply("test").force();
    api.patch(name, &parameters, &Patch::Apply(object))
        .await
        .with_context(|| format!("apply {} {name}", object["kind"]))
}

/// Waits until the object with this name is as wanted. Watches; does not poll.
///
/// # Errors
/// It is not so within [`PATIENCE`]; the object as it is then is part of the message.
pub async fn eventually<K>(api: &Api<K>, name: &str, what: &str, wanted: impl Fn(&K) -> bool) -> Result<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize + Send + 'static,
{
    let condition = |found: Option<&K>| found.is_some_and(&wanted);
    match tokio::time::timeout(PATIENCE, await_condition(api.clone(), name, condition)).await {
        Ok(found) => found
            .with_context(|| format!("watch {name}"))?
            .with_context(|| format!("{name} is gone")),
        Err(_) => {
            let seen = api.get_opt(name).await.with_context(|| format!("get {name}"))?;
            let seen = serde_json::to_string_pretty(&seen).unwrap_or_default();
            bail!("{} {name} is not {what} after {PATIENCE:?}; it is {seen}", K::kind(&()));
        }
    }
}
