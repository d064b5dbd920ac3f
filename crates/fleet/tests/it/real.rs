//! The same path on the real thing: `fleetcontroller all` and `fleetagent` as processes, kube-apiserver and etcd on both sides.
//!
//! Needs the programs that `cargo xtask kube` builds, found through `KUBE_BIN_DIR`, which `cargo xtask test` sets. Without
//! them it says so and checks nothing; continuous integration fails earlier in that case.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use controlplane::{ControlPlane, Options};
use fleet_testkit::{
    FLEET_NAMESPACE, Program, Repository, SYSTEM_NAMESPACE, apply, binary, bootstrap_agent, client, eventually,
    install_kinds, registration_values,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use kube::api::{DeleteParams, ListParams};
use serde_json::json;

#[expect(
    clippy::disallowed_methods,
    reason = "the test runner says here where the programs are"
)]
fn programs() -> Option<PathBuf> {
    std::env::var_os("KUBE_BIN_DIR").map(PathBuf::from)
}

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
";

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_reaches_a_cluster_over_a_real_control_plane() -> Result<()> {
    let Some(programs) = programs() else {
        println!("left out: KUBE_BIN_DIR names no folder with a real control plane; `cargo xtask test` builds one");
        return Ok(());
    };
    let keep = tempfile::tempdir()?;
    let up = |name: &str, workloads| {
        ControlPlane::start(
            &programs,
            &keep.path().join(name),
            Options {
                controllers: true,
                workloads,
            },
        )
    };
    let (management, cluster) = (up("management", false)?, up("cluster", true)?);
    let manager = client(&management.kubeconfig()).await?;
    let downstream = client(&cluster.kubeconfig()).await?;
    let ca = base64::engine::general_purpose::STANDARD.encode(management.ca()?);
    install_kinds(&manager, management.server(), &ca).await?;

    let mut command = Command::new(binary("fleetcontroller")?);
    command
        .args(["all", "--namespace", SYSTEM_NAMESPACE, "--kubeconfig"])
        .arg(management.kubeconfig());
    command.env("FLEET_ALLOW_FILE_REPOSITORIES", "true");
    let controller = Program::start(command, &keep.path().join("manager.log"))?;
    let values = registration_values(&manager, "test")
        .await
        .with_context(|| controller.log_end())?;
    bootstrap_agent(&downstream, "real", &values).await?;
    let mut command = Command::new(binary("fleetagent")?);
    command
        .args(["--namespace", SYSTEM_NAMESPACE, "--kubeconfig"])
        .arg(cluster.kubeconfig());
    let agent = Program::start(command, &keep.path().join("agent.log"))?;

    let repository = Repository::create(&keep.path().join("repository"))?;
    repository.write("web/fleet.yaml", "defaultNamespace: web\n")?;
    repository.write("web/deployment.yaml", DEPLOYMENT)?;
    repository.write(
        "settings/settings.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {a: b}\n",
    )?;
    let commit = repository.commit("Start")?;
    let git_repo = json!({
        "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "GitRepo",
        "metadata": {"name": "test", "namespace": FLEET_NAMESPACE},
        "spec": {"repo": repository.url(), "branch": "main", "paths": ["*"], "pollingInterval": "1s",
                 "targets": [{"name": "all", "clusterSelector": {}}]},
    });
    let git_repos = Api::<fleet_api::GitRepo>::namespaced(manager.clone(), FLEET_NAMESPACE);
    apply(&git_repos, &git_repo).await?;
    let ready = |commit: String, wanted: i64| {
        move |found: &fleet_api::GitRepo| {
            found.status.as_ref().is_some_and(|status| {
                status.commit == commit
                    && status.base.summary.ready == wanted
                    && status.base.summary.desired_ready == wanted
            })
        }
    };
    eventually(&git_repos, "test", "ready", ready(commit, 2))
        .await
        .with_context(|| format!("manager: {}\nagent: {}", controller.log_end(), agent.log_end()))?;

    let web = Api::<Deployment>::namespaced(downstream.clone(), "web")
        .get("web")
        .await?;
    ensure!(
        web.status.and_then(|status| status.available_replicas) == Some(2),
        "the bundle is only ready when its pods are"
    );
    let releases = Api::<Secret>::all(downstream.clone())
        .list(&ListParams::default().labels("owner=helm"))
        .await?;
    let names: Vec<_> = releases
        .items
        .iter()
        .filter_map(|found| found.metadata.name.as_deref())
        .collect();
    ensure!(
        names.len() == 2 && names.iter().all(|name| name.ends_with(".v1")),
        "one revision each: {names:?}"
    );

    // A changed and a removed directory: one object changes, the other goes.
    repository.write(
        "settings/settings.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {a: c}\n",
    )?;
    std::fs::remove_dir_all(keep.path().join("repository/web"))?;
    let commit = repository.commit("Change one, remove one")?;
    eventually(&git_repos, "test", "ready again", ready(commit, 1))
        .await
        .with_context(|| controller.log_end())?;
    let settings = Api::<ConfigMap>::namespaced(downstream.clone(), "default");
    eventually(&settings, "settings", "changed", |found| {
        found
            .data
            .as_ref()
            .is_some_and(|data| data.get("a").is_some_and(|value| value == "c"))
    })
    .await?;
    let deployments = Api::<Deployment>::namespaced(downstream, "web");
    let gone = kube::runtime::wait::await_condition(deployments, "web", |found: Option<&Deployment>| found.is_none());
    tokio::time::timeout(fleet_testkit::PATIENCE, gone)
        .await
        .with_context(|| agent.log_end())??;

    git_repos.delete("test", &DeleteParams::default()).await?;
    let gone = kube::runtime::wait::await_condition(settings, "settings", |found: Option<&ConfigMap>| found.is_none());
    tokio::time::timeout(fleet_testkit::PATIENCE, gone)
        .await
        .with_context(|| agent.log_end())??;
    ensure!(
        controller.stop()?.success() && agent.stop()?.success(),
        "both end well when they are told to"
    );
    Ok(())
}
