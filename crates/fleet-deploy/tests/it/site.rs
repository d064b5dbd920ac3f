//! A server to deploy to, with a count of what is written to it.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use apiserver::{Options, Server, User};
use controlplane::ControlPlane;
use fleet_deploy::cluster::Cluster;
use fleet_deploy::object::ObjectKey;
use http::{Method, Request};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};

pub(crate) struct Site {
    pub(crate) cluster: Cluster,
    writes: Arc<AtomicUsize>,
    /// Stops when dropped.
    _server: Box<dyn Any>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test runner says here where the programs are"
)]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

impl Site {
    pub(crate) async fn embedded() -> Self {
        let options = Options {
            controllers: true,
            ..Options::default()
        };
        let server = Server::start(options).await.expect("the server starts");
        let client = Client::new(server.service(User::admin()), "default");
        Self::of(&client, Box::new(server)).await
    }

    /// None, loudly, where the programs are missing; a failure in continuous integration.
    #[expect(clippy::print_stdout, reason = "a test that is left out says so")]
    pub(crate) async fn real() -> Option<Self> {
        let Some(programs) = variable("KUBE_BIN_DIR") else {
            println!("left out: KUBE_BIN_DIR names no folder with a real control plane; `cargo xtask test` builds one");
            assert!(variable("CI").is_none(), "KUBE_BIN_DIR has to be set here");
            return None;
        };
        // A second call finds the provider installed, which is what is wanted.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let keep = tempfile::tempdir().expect("a directory");
        let options = controlplane::Options {
            controllers: true,
            workloads: false,
        };
        let plane = ControlPlane::start(&programs, &keep.path().join("plane"), options).expect("it starts");
        let kubeconfig = Kubeconfig::read_from(plane.kubeconfig()).expect("it is written");
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        let client = Client::try_from(config.expect("it is complete")).expect("it makes a client");
        Some(Self::of(&client, Box::new((plane, keep))).await)
    }

    async fn of(client: &Client, server: Box<dyn Any>) -> Self {
        let writes = Arc::new(AtomicUsize::new(0));
        let (inner, counter) = (client.clone(), writes.clone());
        let service = tower::service_fn(move |request: Request<Body>| {
            if request.method() != Method::GET {
                counter.fetch_add(1, Ordering::Relaxed);
            }
            let inner = inner.clone();
            async move { inner.send(request).await }
        });
        let site = Self {
            cluster: Cluster::new(Client::new(service, "default")),
            writes,
            _server: server,
        };
        for name in ["drift", "other"] {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            site.cluster.apply(&namespace).await.expect("a namespace");
        }
        site
    }

    /// Writes since the last call.
    pub(crate) fn writes(&self) -> usize {
        self.writes.swap(0, Ordering::Relaxed)
    }

    /// A JSON patch by somebody else; `None` if the server refuses it. A rehearsal changes nothing.
    pub(crate) async fn meddle(&self, live: &Value, patch: &Value, rehearse: bool) -> Option<Value> {
        let dry = if rehearse { "&dryRun=All" } else { "" };
        self.patch(live, "", dry, "application/json-patch+json", patch).await
    }

    /// Other replicas, through the sub-resource for that.
    pub(crate) async fn scale(&self, live: &Value, replicas: i64) -> bool {
        let patch = json!({"spec": {"replicas": replicas}});
        let scaled = self.patch(live, "/scale", "", "application/merge-patch+json", &patch);
        scaled.await.is_some()
    }

    async fn patch(&self, live: &Value, sub: &str, more: &str, content: &str, patch: &Value) -> Option<Value> {
        let key = ObjectKey::of(live);
        let kind = self.cluster.kind(&key.api_version, &key.kind).await;
        let path = kind.expect("it is served").path(&key.namespace, &key.name);
        let request = Request::builder()
            .method(Method::PATCH)
            .uri(format!("{path}{sub}?fieldManager=somebody{more}"))
            .header("content-type", content)
            .body(serde_json::to_vec(patch).expect("it is JSON"))
            .expect("a request");
        self.cluster.client().request::<Value>(request).await.ok()
    }
}
