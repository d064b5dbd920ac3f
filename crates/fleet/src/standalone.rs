//! A management cluster without Kubernetes: the embedded API server with Fleet's kinds, and the manager on it.
//!
//! Used by `fleet serve` and `fleet demo`. Everything here goes through the API, as in a real cluster.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use apiserver::{Server, User};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Namespace of the manager itself.
pub(crate) const SYSTEM_NAMESPACE: &str = "cattle-fleet-system";
/// Namespace in which clusters and repositories are registered.
pub(crate) const FLEET_NAMESPACE: &str = "fleet-default";
/// Field manager of everything that set-up writes.
const FIELD_MANAGER: &str = "fleet-setup";

/// How to run it.
pub(crate) struct Options {
    /// Directory of the store; none keeps everything in memory.
    pub(crate) data: Option<PathBuf>,
    /// Address of the API server; agents connect to it.
    pub(crate) listen: SocketAddr,
    /// Time between two check-ins of an agent, Go duration.
    pub(crate) checkin_interval: &'static str,
    /// GitRepos may name directories of this machine (`file://`).
    pub(crate) allow_file: bool,
}

/// A running manager with its API server.
pub(crate) struct Standalone {
    pub(crate) server: Server,
    pub(crate) client: Client,
    manager: JoinHandle<Result<(), fleet_manager::Error>>,
    stop: CancellationToken,
}

impl Standalone {
    /// Starts the API server, installs Fleet's kinds and starts the manager, in this order; every step can be
    /// repeated on a data directory that has them already.
    pub(crate) async fn start(options: Options, stop: &CancellationToken) -> Result<Self> {
        let server = Server::start(apiserver::Options {
            data: options.data,
            listen: Some(options.listen),
            controllers: true,
            ..apiserver::Options::default()
        })
        .await
        .context("start the API server")?;
        let client = Client::new(server.service(User::admin()), "default");
        install_kinds(&client).await.context("install the kinds")?;
        for namespace in [SYSTEM_NAMESPACE, FLEET_NAMESPACE, "fleet-local"] {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            apply(&Api::<Namespace>::all(client.clone()), namespace, &object).await?;
        }
        configure(&client, &server, options.checkin_interval).await?;
        let stop = stop.child_token();
        let program = std::env::current_exe().context("find this program's file")?;
        let git = fleet_source::child::Runner::Program(program);
        let settings = fleet_manager::Settings {
            allow_file: options.allow_file,
            ..fleet_manager::Settings::new(SYSTEM_NAMESPACE, git)
        };
        let manager = tokio::spawn(fleet_manager::run(client.clone(), settings, stop.clone()));
        Ok(Self {
            server,
            client,
            manager,
            stop,
        })
    }

    /// Ends when the manager ends, which it only does by itself when it failed.
    pub(crate) async fn ended(&mut self) -> Result<()> {
        (&mut self.manager)
            .await
            .context("run the manager")?
            .context("run the manager")
    }

    /// Stops the manager, then the server.
    pub(crate) async fn shutdown(self) -> Result<()> {
        self.stop.cancel();
        let ended = if self.manager.is_finished() {
            Ok(Ok(()))
        } else {
            self.manager.await
        };
        self.server.shutdown().await;
        ended.context("stop the manager")?.context("stop the manager")
    }

    /// What an agent needs to register: the contents of the token's values secret.
    pub(crate) async fn registration_values(&self, token: &str) -> Result<BTreeMap<String, Value>> {
        let tokens = Api::<fleet_api::ClusterRegistrationToken>::namespaced(self.client.clone(), FLEET_NAMESPACE);
        let object = json!({
            "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "ClusterRegistrationToken",
            "metadata": {"name": token, "namespace": FLEET_NAMESPACE}, "spec": {},
        });
        apply(&tokens, token, &object).await?;
        let secrets = Api::<Secret>::namespaced(self.client.clone(), FLEET_NAMESPACE);
        let written = |secret: Option<&Secret>| {
            secret.is_some_and(|secret| secret.data.as_ref().is_some_and(|data| data.contains_key("values")))
        };
        let secret = await_condition(secrets, token, written)
            .await
            .context("wait for the registration token")?;
        let values = secret
            .and_then(|secret| secret.data?.remove("values"))
            .context("the token has no values")?;
        let text = String::from_utf8(values.0).context("read the token's values")?;
        let values = goyaml::parse(&text).context("read the token's values")?;
        serde_json::from_value(values).context("read the token's values")
    }
}

/// Writes an object as set-up wants it; nothing happens where it is so already.
pub(crate) async fn apply<K>(api: &Api<K>, name: &str, object: &Value) -> Result<()>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let parameters = PatchParams::apply(FIELD_MANAGER).force();
    api.patch(name, &parameters, &Patch::Apply(object))
        .await
        .with_context(|| format!("write {} {name}", object["kind"].as_str().unwrap_or("object")))?;
    Ok(())
}

async fn install_kinds(client: &Client) -> Result<()> {
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let kinds = fleet_api::crds();
    for kind in &kinds {
        let name = kind["metadata"]["name"].as_str().unwrap_or_default();
        apply(&api, name, kind).await?;
    }
    for kind in &kinds {
        let name = kind["metadata"]["name"].as_str().unwrap_or_default();
        await_condition(api.clone(), name, conditions::is_crd_established())
            .await
            .with_context(|| format!("wait for {name}"))?;
    }
    Ok(())
}

/// The manager's configuration: where agents find this API server and how they trust it.
async fn configure(client: &Client, server: &Server, checkin_interval: &str) -> Result<()> {
    let address = server.address().context("the API server does not listen")?;
    let config = json!({
        "apiServerURL": format!("https://{address}"),
        "apiServerCA": certificate_authority(&server.admin_kubeconfig())?,
        "agentTLSMode": "strict",
        "agentCheckinInterval": checkin_interval,
        "garbageCollectionInterval": "15m",
        "ignoreClusterRegistrationLabels": false,
        "bootstrap": {},
    });
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "fleet-controller", "namespace": SYSTEM_NAMESPACE},
        "data": {"config": config.to_string()},
    });
    apply(
        &Api::<ConfigMap>::namespaced(client.clone(), SYSTEM_NAMESPACE),
        "fleet-controller",
        &object,
    )
    .await
}

/// The CA in a kubeconfig, base64 of PEM.
fn certificate_authority(kubeconfig: &str) -> Result<String> {
    let kubeconfig = goyaml::parse(kubeconfig).context("read the administrator's kubeconfig")?;
    kubeconfig
        .pointer("/clusters/0/cluster/certificate-authority-data")
        .and_then(Value::as_str)
        .map(str::to_owned)
        .context("the administrator's kubeconfig names no certificate authority")
}
