//! One simulated downstream cluster: an embedded API server with a workload simulator, and a real agent on it.
//!
//! The agent gets what an administrator would give it, the bootstrap secret, and talks to the manager over TLS.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use apiserver::workloads::Workloads;
use apiserver::{Server, User};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::standalone::{FLEET_NAMESPACE, SYSTEM_NAMESPACE, apply};

/// A running downstream cluster.
pub(crate) struct Downstream {
    pub(crate) name: String,
    pub(crate) kubeconfig: PathBuf,
    server: Server,
    agent: JoinHandle<Result<(), fleet_agent::Error>>,
    stop: CancellationToken,
}

/// The n-th cluster of a demo (from 0): its name and labels.
pub(crate) fn describe(index: usize) -> (String, BTreeMap<String, String>) {
    let env = ["dev", "test", "prod"][index % 3];
    let name = if index < 3 {
        env.to_owned()
    } else {
        format!("{env}-{}", index / 3 + 1)
    };
    (name, BTreeMap::from([("env".to_owned(), env.to_owned())]))
}

/// Makes the Cluster on the manager, so that it has a name of its own before the agent comes.
pub(crate) async fn announce(manager: &Client, name: &str, labels: &BTreeMap<String, String>) -> Result<()> {
    let object = json!({
        "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "Cluster",
        "metadata": {"name": name, "namespace": FLEET_NAMESPACE, "labels": labels},
        "spec": {"clientID": client_id(name)},
    });
    apply(
        &Api::<fleet_api::Cluster>::namespaced(manager.clone(), FLEET_NAMESPACE),
        name,
        &object,
    )
    .await
}

fn client_id(name: &str) -> String {
    format!("demo-{name}")
}

impl Downstream {
    /// Starts the cluster in `directory` (its store too where `persistent`) and an agent that registers with `values`.
    pub(crate) async fn start(
        name: &str,
        directory: &Path,
        persistent: bool,
        values: &BTreeMap<String, Value>,
        stop: &CancellationToken,
    ) -> Result<Self> {
        std::fs::create_dir_all(directory).with_context(|| format!("create {}", directory.display()))?;
        let server = Server::start(apiserver::Options {
            data: persistent.then(|| directory.to_owned()),
            listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
            controllers: true,
            workloads: Some(Workloads::default()),
            ..apiserver::Options::default()
        })
        .await
        .with_context(|| format!("start the API server of cluster {name}"))?;
        let kubeconfig = directory.join("admin.kubeconfig");
        std::fs::write(&kubeconfig, server.admin_kubeconfig())
            .with_context(|| format!("write {}", kubeconfig.display()))?;
        let client = Client::new(server.service(User::admin()), "default");
        prepare(&client, name, values)
            .await
            .with_context(|| format!("prepare cluster {name}"))?;
        let stop = stop.child_token();
        let settings = fleet_agent::Settings {
            // There is no storm of agents to spread here, and somebody is looking.
            checkin_delay: Duration::ZERO,
            checkin_interval: Duration::from_secs(60),
            workers: 4,
            hostname: format!("demo-agent-{name}"),
            ..fleet_agent::Settings::new(SYSTEM_NAMESPACE)
        };
        let agent = tokio::spawn(fleet_agent::run(client, settings, stop.clone()));
        Ok(Self {
            name: name.to_owned(),
            kubeconfig,
            server,
            agent,
            stop,
        })
    }

    /// Ends when the agent ends, which it only does by itself when it failed.
    pub(crate) async fn ended(&mut self) -> Result<()> {
        let name = &self.name;
        (&mut self.agent)
            .await
            .with_context(|| format!("run the agent of cluster {name}"))?
            .with_context(|| format!("run the agent of cluster {name}"))
    }

    /// Stops the agent, then the server.
    pub(crate) async fn shutdown(self) {
        self.stop.cancel();
        if !self.agent.is_finished() {
            // Its result only says that it was stopped.
            let _ = self.agent.await;
        }
        self.server.shutdown().await;
    }
}

/// What an administrator leaves on a cluster for the agent.
async fn prepare(client: &Client, name: &str, values: &BTreeMap<String, Value>) -> Result<()> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM_NAMESPACE}});
    apply(&Api::<Namespace>::all(client.clone()), SYSTEM_NAMESPACE, &namespace).await?;
    let config = json!({"clientID": client_id(name), "agentTLSMode": "strict"});
    let config_map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "fleet-agent", "namespace": SYSTEM_NAMESPACE},
        "data": {"config": config.to_string()},
    });
    apply(
        &Api::<ConfigMap>::namespaced(client.clone(), SYSTEM_NAMESPACE),
        "fleet-agent",
        &config_map,
    )
    .await?;
    let data: BTreeMap<&String, &Value> = values.iter().filter(|(_, value)| value.is_string()).collect();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "fleet-agent-bootstrap", "namespace": SYSTEM_NAMESPACE},
        "stringData": data,
    });
    apply(
        &Api::<Secret>::namespaced(client.clone(), SYSTEM_NAMESPACE),
        "fleet-agent-bootstrap",
        &secret,
    )
    .await
}
