//! `fleet serve` is killed in the middle of a roll-out and started again on the same directory: everything converges,
//! no acknowledged write is lost, nothing is deployed twice.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use fleet_testkit::{
    FLEET_NAMESPACE, PATIENCE, Program, Repository, SYSTEM_NAMESPACE, apply, binary, bootstrap_agent, client,
    eventually, free_address, registration_values,
};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{ListParams, PostParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client};
use serde_json::json;

/// Bundles in the roll-out.
const BUNDLES: usize = 12;
/// After how many deployments seen the server is killed; one round each.
const SEEDS: [usize; 3] = [1, 5, 9];

struct Manager {
    directory: std::path::PathBuf,
    address: SocketAddr,
    log: std::path::PathBuf,
}

impl Manager {
    fn start(&self) -> Result<Program> {
        let mut command = Command::new(binary("fleet")?);
        command
            .args(["serve", "--allow-file-repositories"])
            .arg("--data")
            .arg(&self.directory)
            .arg("--listen")
            .arg(self.address.to_string());
        let program = Program::start(command, &self.log)?;
        program.line("that it is running", PATIENCE, |line| {
            line.contains("the manager is running")
        })?;
        Ok(program)
    }

    async fn client(&self) -> Result<Client> {
        client(&self.directory.join("admin.kubeconfig")).await
    }
}

struct Downstream {
    _server: Program,
    _agent: Program,
    client: Client,
}

async fn downstream(directory: &Path, name: &str, manager: &Client) -> Result<Downstream> {
    let data = directory.join(name);
    let mut command = Command::new(binary("fleet")?);
    command.args(["apiserver", "--workloads", "--data"]).arg(&data);
    let server = Program::start(command, &directory.join(format!("{name}.log")))?;
    server.line("where it serves", PATIENCE, |line| line.contains("serving on"))?;
    let kubeconfig = data.join("admin.kubeconfig");
    let client = client(&kubeconfig).await?;
    let cluster = json!({
        "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "Cluster",
        "metadata": {"name": name, "namespace": FLEET_NAMESPACE}, "spec": {"clientID": name},
    });
    apply(
        &Api::<fleet_api::Cluster>::namespaced(manager.clone(), FLEET_NAMESPACE),
        &cluster,
    )
    .await?;
    bootstrap_agent(&client, name, &registration_values(manager, "test").await?).await?;
    let mut command = Command::new(binary("fleetagent")?);
    command
        .args(["--namespace", SYSTEM_NAMESPACE, "--kubeconfig"])
        .arg(&kubeconfig);
    let agent = Program::start(command, &directory.join(format!("{name}-agent.log")))?;
    Ok(Downstream {
        _server: server,
        _agent: agent,
        client,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_manager_goes_on_where_it_was() -> Result<()> {
    let keep = tempfile::tempdir()?;
    let manager = Manager {
        directory: keep.path().join("manager"),
        address: free_address()?,
        log: keep.path().join("manager.log"),
    };
    let repository = Repository::create(&keep.path().join("repository"))?;
    repository.write("bundles/b0/object.yaml", &object(0, 0))?;
    repository.commit("Start")?;

    let mut program = manager.start()?;
    let api = manager.client().await?;
    let mut clusters = BTreeMap::new();
    for name in ["one", "two"] {
        clusters.insert(name, downstream(keep.path(), name, &api).await?);
    }
    let git_repo = json!({
        "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "GitRepo",
        "metadata": {"name": "test", "namespace": FLEET_NAMESPACE},
        "spec": {"repo": repository.url(), "branch": "main", "paths": ["bundles/*"], "pollingInterval": "1s",
                 "targets": [{"name": "all", "clusterSelector": {}}]},
    });
    apply(
        &Api::<fleet_api::GitRepo>::namespaced(api.clone(), FLEET_NAMESPACE),
        &git_repo,
    )
    .await?;
    wait_ready(&api, 1).await?;

    let mut wanted = 1;
    let mut before: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for (name, cluster) in &clusters {
        before.insert(*name, uids(&cluster.client).await?);
    }
    for (round, seen) in SEEDS.into_iter().enumerate() {
        let round = round + 1;
        for index in 0..BUNDLES {
            repository.write(&format!("bundles/r{round}b{index}/object.yaml"), &object(round, index))?;
        }
        repository.commit("More bundles")?;
        wanted += BUNDLES;
        let acknowledged = write_until_deployments_are_seen(&api, round, seen).await?;
        program.kill()?;
        program = manager.start()?;
        let api = manager.client().await?;
        let markers = Api::<ConfigMap>::namespaced(api.clone(), "default")
            .list(&ListParams::default())
            .await?;
        for name in acknowledged {
            let there = markers
                .items
                .iter()
                .any(|found| found.metadata.name.as_deref() == Some(&name));
            ensure!(there, "the acknowledged write of {name} is lost");
        }
        wait_ready(&api, wanted)
            .await
            .with_context(|| format!("round {round}\n{}", program.log_end()))?;
        for (name, cluster) in &clusters {
            deployed_once(&cluster.client, round)
                .await
                .with_context(|| format!("cluster {name}, round {round}"))?;
        }
    }
    ensure!(program.stop()?.success(), "it ends well when it is told to");
    Ok(())
}

fn object(round: usize, index: usize) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: object-{round}-{index}, namespace: default}}\ndata: {{round: \"{round}\"}}\n"
    )
}

/// Writes markers as fast as they are acknowledged until that many new deployments have come by.
async fn write_until_deployments_are_seen(api: &Client, round: usize, seen: usize) -> Result<Vec<String>> {
    let deployments = Api::<fleet_api::BundleDeployment>::all(api.clone());
    let prefix = format!("test-bundles-r{round}");
    let new = watcher(deployments, watcher::Config::default())
        .applied_objects()
        .try_filter(|found| {
            let name = found.metadata.name.clone().unwrap_or_default();
            std::future::ready(name.starts_with(&prefix))
        })
        .take(seen)
        .try_collect::<Vec<_>>();
    let mut new = std::pin::pin!(tokio::time::timeout(PATIENCE, new));
    let markers = Api::<ConfigMap>::namespaced(api.clone(), "default");
    let parameters = PostParams::default();
    let mut acknowledged = Vec::new();
    loop {
        let name = format!("marker-{round}-{}", acknowledged.len());
        let marker = ConfigMap {
            metadata: kube::api::ObjectMeta {
                name: Some(name.clone()),
                ..Default::default()
            },
            ..ConfigMap::default()
        };
        tokio::select! {
            biased;
            result = &mut new => {
                result.context("no new deployments")??;
                return Ok(acknowledged);
            }
            written = markers.create(&parameters, &marker) => {
                written?;
                acknowledged.push(name);
            }
        }
    }
}

async fn wait_ready(api: &Client, bundles: usize) -> Result<()> {
    let wanted = i64::try_from(bundles)? * 2;
    let git_repos = Api::<fleet_api::GitRepo>::namespaced(api.clone(), FLEET_NAMESPACE);
    eventually(&git_repos, "test", "ready everywhere", |found| {
        found
            .status
            .as_ref()
            .is_some_and(|status| status.base.summary.desired_ready == wanted && status.base.summary.ready == wanted)
    })
    .await?;
    Ok(())
}

/// Every release of this round has exactly one revision, and its object was created once.
async fn deployed_once(cluster: &Client, round: usize) -> Result<()> {
    let releases = Api::<Secret>::all(cluster.clone())
        .list(&ListParams::default().labels("owner=helm"))
        .await?;
    let prefix = format!("test-bundles-r{round}b");
    let own: Vec<String> = releases
        .items
        .into_iter()
        .filter_map(|secret| secret.metadata.name)
        .filter(|name| name.starts_with(&format!("sh.helm.release.v1.{prefix}")))
        .collect();
    ensure!(own.len() == BUNDLES, "{own:?}");
    ensure!(
        own.iter().all(|name| name.ends_with(".v1")),
        "something was deployed twice: {own:?}"
    );
    for index in 0..BUNDLES {
        let name = format!("object-{round}-{index}");
        let object = Api::<ConfigMap>::namespaced(cluster.clone(), "default")
            .get(&name)
            .await?;
        ensure!(
            object
                .data
                .unwrap_or_default()
                .get("round")
                .is_some_and(|found| *found == round.to_string()),
            "{name}"
        );
    }
    Ok(())
}

/// The objects deployed so far, by name, with their uids.
async fn uids(cluster: &Client) -> Result<BTreeMap<String, String>> {
    let objects = Api::<ConfigMap>::namespaced(cluster.clone(), "default")
        .list(&ListParams::default())
        .await?;
    let uid = |object: ConfigMap| Some((object.metadata.name?, object.metadata.uid?));
    Ok(objects.items.into_iter().filter_map(uid).collect())
}
