//! The whole manager against the embedded API server, in one process: objects in, objects out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use apiserver::{Server, User};
use fleet_api::{Bundle, BundleDeployment, Cluster, ClusterRegistration, ClusterRegistrationToken, GitRepo, condition};
use fleet_manager::{Error, Settings};
use fleet_source::child::Runner;
use fleet_testkit::{FLEET_NAMESPACE, Repository, SYSTEM_NAMESPACE, apply, eventually, install_kinds};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

struct World {
    server: Server,
    client: Client,
    manager: JoinHandle<Result<(), Error>>,
    stop: CancellationToken,
}

impl World {
    async fn start() -> Self {
        let options = apiserver::Options {
            controllers: true,
            ..apiserver::Options::default()
        };
        let server = Server::start(options).await.unwrap();
        let client = Client::new(server.service(User::admin()), "default");
        install_kinds(&client, "https://manager", "").await.unwrap();
        let stop = CancellationToken::new();
        let manager = tokio::spawn(fleet_manager::run(client.clone(), settings(), stop.clone()));
        Self {
            server,
            client,
            manager,
            stop,
        }
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), FLEET_NAMESPACE)
    }

    /// Ends the manager and starts another one on the same server.
    async fn restart(&mut self) {
        self.stop.cancel();
        (&mut self.manager).await.unwrap().unwrap();
        self.stop = CancellationToken::new();
        self.manager = tokio::spawn(fleet_manager::run(self.client.clone(), settings(), self.stop.clone()));
    }

    async fn end(mut self) {
        self.stop.cancel();
        (&mut self.manager).await.unwrap().unwrap();
        self.server.shutdown().await;
    }
}

fn settings() -> Settings {
    Settings {
        allow_file: true,
        polling_interval: Duration::from_millis(500),
        ..Settings::new(SYSTEM_NAMESPACE, Runner::InProcess)
    }
}

fn fleet(kind: &str, name: &str, spec: &serde_json::Value) -> serde_json::Value {
    json!({"apiVersion": "fleet.cattle.io/v1alpha1", "kind": kind,
           "metadata": {"name": name, "namespace": FLEET_NAMESPACE}, "spec": spec})
}

/// A cluster that registered, and the namespace of its deployments.
async fn registered(world: &World) -> (String, String) {
    let token = fleet("ClusterRegistrationToken", "token", &json!({"ttl": "1h"}));
    apply(&world.api::<ClusterRegistrationToken>(), &token).await.unwrap();
    let has_token = |secret: &Secret| secret.data.as_ref().is_some_and(|data| data.contains_key("values"));
    eventually(&world.api::<Secret>(), "token", "has values", has_token)
        .await
        .unwrap();
    let mut request = fleet(
        "ClusterRegistration",
        "request",
        &json!({"clientID": "client", "clientRandom": "random"}),
    );
    request["metadata"]["labels"] = json!({"fleet.cattle.io/registration-token": "token"});
    apply(&world.api::<ClusterRegistration>(), &request).await.unwrap();
    let granted = |request: &ClusterRegistration| request.status.as_ref().is_some_and(|status| status.granted);
    let request = eventually(&world.api(), "request", "is granted", granted)
        .await
        .unwrap();
    let cluster = request.status.unwrap().cluster_name;
    let stored = world.api::<Cluster>().get(&cluster).await.unwrap();
    let registrations: Api<Secret> = Api::namespaced(world.client.clone(), "cattle-fleet-clusters-system");
    let credential = registrations
        .get(&fleet_api::names::credential_secret("client", "random"))
        .await
        .unwrap();
    let space = stored.status.unwrap().namespace;
    assert_eq!(
        credential.data.unwrap()["deploymentNamespace"].0,
        space.clone().into_bytes()
    );
    (cluster, space)
}

fn stalled(repository: &GitRepo) -> &str {
    let conditions = repository
        .status
        .as_ref()
        .map(|status| status.base.conditions.as_slice())
        .unwrap_or_default();
    if condition::is_true(conditions, condition::STALLED) {
        condition::message(conditions, condition::STALLED)
    } else {
        ""
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_reaches_a_registered_cluster_and_a_bad_commit_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let repository = Repository::create(directory.path()).unwrap();
    repository
        .write("app/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
        .unwrap();
    let first = repository.commit("first").unwrap();
    let mut world = World::start().await;
    let (_, space) = registered(&world).await;

    let spec = json!({"repo": repository.url(), "branch": "main", "paths": ["app"],
                      "targets": [{"name": "all", "clusterSelector": {}}]});
    apply(&world.api::<GitRepo>(), &fleet("GitRepo", "repo", &spec))
        .await
        .unwrap();
    let deployments: Api<BundleDeployment> = Api::namespaced(world.client.clone(), &space);
    let released = |deployment: &BundleDeployment| !deployment.spec.deployment_id.is_empty();
    let deployment = eventually(&deployments, "repo-app", "is released", released)
        .await
        .unwrap();
    let content = fleet_api::deployment_id::manifest_id(&deployment.spec.deployment_id).to_owned();
    let contents: Api<fleet_api::Content> = Api::all(world.client.clone());
    let counted = |content: &fleet_api::Content| {
        content
            .status
            .as_ref()
            .is_some_and(|status| status.reference_count == 1)
    };
    eventually(&contents, &content, "is counted", counted).await.unwrap();
    let done = |each: &GitRepo| {
        each.status
            .as_ref()
            .is_some_and(|status| status.commit == first && status.base.summary.desired_ready == 1)
    };
    eventually(&world.api(), "repo", "shows the commit and its deployment", done)
        .await
        .unwrap();

    repository.write("app/fleet.yaml", "helm: [not, a, map]\n").unwrap();
    repository.commit("broken").unwrap();
    let broken = |each: &GitRepo| stalled(each).contains("fleet.yaml");
    eventually(&world.api(), "repo", "names the broken file", broken)
        .await
        .unwrap();
    assert_eq!(deployments.get("repo-app").await.unwrap().spec, deployment.spec);

    // Nothing that mattered was only in memory.
    world.restart().await;
    repository.write("app/fleet.yaml", "defaultNamespace: other\n").unwrap();
    let third = repository.commit("mended").unwrap();
    let mended =
        |each: &GitRepo| stalled(each).is_empty() && each.status.as_ref().is_some_and(|status| status.commit == third);
    eventually(&world.api(), "repo", "is mended", mended).await.unwrap();
    let moved = |each: &BundleDeployment| {
        each.spec
            .options
            .as_ref()
            .is_some_and(|options| options.default_namespace == "other")
    };
    eventually(&deployments, "repo-app", "follows the commit", moved)
        .await
        .unwrap();

    world
        .api::<GitRepo>()
        .delete("repo", &kube::api::DeleteParams::default())
        .await
        .unwrap();
    let bundles = world.api::<Bundle>();
    let uid = deployment.metadata.uid.clone().unwrap();
    let gone = kube::runtime::conditions::is_deleted(&uid);
    let wait = kube::runtime::wait::await_condition(deployments.clone(), "repo-app", gone);
    tokio::time::timeout(fleet_testkit::PATIENCE, wait)
        .await
        .unwrap()
        .unwrap();
    let left = |bundle: Option<&Bundle>| bundle.is_none();
    let wait = kube::runtime::wait::await_condition(bundles, "repo-app", left);
    tokio::time::timeout(fleet_testkit::PATIENCE, wait)
        .await
        .unwrap()
        .unwrap();
    world.end().await;
}
