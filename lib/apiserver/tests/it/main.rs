//! What clients may rely on, as one suite for this server and for the real one.
//!
//! Every test gets its own server in process. With `APISERVER_TEST_KUBECONFIG` naming a kubeconfig of an administrator,
//! the same tests run against that server instead (for example kube-apiserver started by `cargo xtask kube up`), each
//! in a namespace of its own; tests of what only this server has (restart, in-process users) then return at once.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod access;
mod apply;
mod crud;
mod custom;
mod delete;
mod kinds;
mod list;
mod metrics;
mod persistence;
mod pods;
mod requests;
mod runtime;
mod tables;
mod watch;

use apiserver::{Options, Server, User};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::json;

/// Names the kubeconfig of a server to test instead of our own.
const KUBECONFIG: &str = "APISERVER_TEST_KUBECONFIG";

/// A server, an administrator's client and a namespace.
pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    /// None when the server is another one.
    pub(crate) server: Option<Server>,
}

/// Our own server with options, whatever the environment says; none if another server is tested.
pub(crate) async fn own(options: Options) -> Option<World> {
    if external().is_some() {
        return None;
    }
    let server = Server::start(options).await.expect("the server starts");
    let client = Client::new(server.service(User::admin()), "default");
    let namespace = namespace(&client).await;
    Some(World {
        client,
        namespace,
        server: Some(server),
    })
}

/// The server under test.
pub(crate) async fn world() -> World {
    let Some(path) = external() else {
        return own(Options::default()).await.expect("no other server is tested");
    };
    let kubeconfig = Kubeconfig::read_from(path).expect("the kubeconfig can be read");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .expect("it is complete");
    let client = Client::try_from(config).expect("a client");
    let namespace = namespace(&client).await;
    World {
        client,
        namespace,
        server: None,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the suite reads its environment"
)]
pub(crate) fn external() -> Option<String> {
    std::env::var(KUBECONFIG).ok()
}

async fn namespace(client: &Client) -> String {
    let mut namespace = Namespace::default();
    namespace.metadata.generate_name = Some("it-".to_owned());
    let made = Api::<Namespace>::all(client.clone())
        .create(&PostParams::default(), &namespace)
        .await;
    made.expect("a namespace").metadata.name.expect("has a name")
}

impl World {
    pub(crate) fn config_maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) async fn make(&self, name: &str) -> ConfigMap {
        self.make_labelled(name, &[]).await
    }

    pub(crate) async fn make_labelled(&self, name: &str, labels: &[(&str, &str)]) -> ConfigMap {
        let made = self
            .config_maps()
            .create(&PostParams::default(), &config_map(name, labels))
            .await;
        made.expect("a config map")
    }
}

pub(crate) fn config_map(name: &str, labels: &[(&str, &str)]) -> ConfigMap {
    let labels: serde_json::Map<String, serde_json::Value> = labels
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}})).expect("a config map")
}

/// The HTTP status code of a refusal.
pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> u16 {
    match result {
        Err(kube::Error::Api(status)) => status.code,
        other => panic!("not refused: {other:?}"),
    }
}
