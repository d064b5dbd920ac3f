//! From a bootstrap secret to an account: asks the manager for one, waits for it, keeps it. Runs
//! before everything else and repeats until it has an account that works. Mirrors upstream's
//! `register`.

mod request;

use std::time::Duration;

use fleet_api::{BundleDeployment, labels};
use fleet_runtime::{Error, ResultExt, chain};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{DeleteParams, ListParams};
use tokio_util::sync::CancellationToken;

use crate::settings::Settings;
use crate::upstream::{self, Upstream};

/// Time after a registration that failed.
const RETRY: Duration = Duration::from_secs(60);

/// Registers, however long it takes. `None` if `shutdown` came first.
pub(crate) async fn register(
    local: &kube::Client,
    settings: &Settings,
    shutdown: &CancellationToken,
) -> Option<Upstream> {
    loop {
        let attempt = tokio::select! {
            () = shutdown.cancelled() => return None,
            attempt = attempt(local, settings) => attempt,
        };
        match attempt {
            Ok(upstream) => return Some(upstream),
            Err(error) => tracing::error!(error = chain(&error), again_in = ?RETRY, "cannot register"),
        }
        tokio::select! {
            () = shutdown.cancelled() => return None,
            () = tokio::time::sleep(RETRY) => {}
        }
    }
}

fn text(secret: &Secret, key: &str) -> String {
    let bytes = secret.data.as_ref().and_then(|data| data.get(key));
    bytes
        .map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned())
        .unwrap_or_default()
}

async fn attempt(local: &kube::Client, settings: &Settings) -> Result<Upstream, Error> {
    let secrets: Api<Secret> = Api::namespaced(local.clone(), &settings.namespace);
    let what = || format!("secret '{}/{}'", settings.namespace, labels::AGENT_CONFIG);
    let mut credential = secrets.get_opt(labels::AGENT_CONFIG).await.doing("get", what)?;
    if let Some(known) = &credential
        && let Err(error) = test(&text(known, "kubeconfig")).await
    {
        tracing::warn!(
            error = chain(&error),
            "the stored account does not work, registering again"
        );
        credential = None;
    }
    let credential = match credential {
        Some(credential) => credential,
        None => request::run(local, settings, &secrets).await?,
    };
    let (client, namespace) = connect(&text(&credential, "kubeconfig")).await?;
    // The token has served its purpose; leaving it would only help a thief.
    if let Err(error) = secrets.delete(labels::AGENT_BOOTSTRAP, &DeleteParams::default()).await
        && !matches!(&error, kube::Error::Api(status) if status.code == 404)
    {
        tracing::warn!(error = chain(&error), "cannot delete the bootstrap secret");
    }
    Ok(Upstream {
        client,
        namespace,
        cluster_namespace: text(&credential, "clusterNamespace"),
        cluster_name: text(&credential, "clusterName"),
    })
}

async fn connect(kubeconfig: &str) -> Result<(kube::Client, String), Error> {
    upstream::connect(kubeconfig)
        .await
        .map_err(|error| Error::new("use", "stored account", chain(&error)))
}

/// Whether an account may list its bundle deployments.
async fn test(kubeconfig: &str) -> Result<(), Error> {
    let (client, namespace) = connect(kubeconfig).await?;
    let api: Api<BundleDeployment> = Api::namespaced(client, &namespace);
    api.list(&ListParams::default().limit(1))
        .await
        .doing("list", || format!("bundle deployments in '{namespace}'"))?;
    Ok(())
}
