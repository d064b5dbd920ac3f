//! `fleet demo` from the first line to the last: what it deploys, how clusters differ, what commits do, and what an
//! agent's account may not do.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use fleet_testkit::{PATIENCE, Program, Repository, binary, client, eventually, kubeconfig_client};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{ListParams, Patch, PatchParams, WatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};

struct Demo {
    program: Program,
    directory: PathBuf,
    repository: Repository,
    _keep: tempfile::TempDir,
}

impl Demo {
    fn start() -> Result<Self> {
        let keep = tempfile::tempdir()?;
        let directory = keep.path().join("demo");
        let mut command = Command::new(binary("fleet")?);
        command.args(["demo", "--output", "json", "--keep"]).arg(&directory);
        let program = Program::start(command, &keep.path().join("log"))?;
        let repository = Repository::open(&directory.join("repository"));
        Ok(Self {
            program,
            directory,
            repository,
            _keep: keep,
        })
    }

    /// The next state that is as wanted.
    fn state(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let line = self.program.line(what, PATIENCE, |line| {
            serde_json::from_str::<Value>(line).is_ok_and(|state| wanted(&state))
        })?;
        serde_json::from_str(&line).context("a state is JSON")
    }

    async fn cluster(&self, name: &str) -> Result<Client> {
        client(&self.directory.join("clusters").join(name).join("admin.kubeconfig")).await
    }
}

fn ready_at(commit: &str) -> impl Fn(&Value) -> bool {
    move |state| state["ready"] == true && state["commit"] == commit
}

async fn replicas(cluster: &Client, namespace: &str, name: &str) -> Result<i32> {
    let deployment = Api::<Deployment>::namespaced(cluster.clone(), namespace)
        .get(name)
        .await?;
    Ok(deployment.spec.and_then(|spec| spec.replicas).unwrap_or(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_reaches_three_clusters_and_follows_its_commits() -> Result<()> {
    let demo = Demo::start()?;
    let state = demo.state("that everything is ready", |state| state["ready"] == true)?;
    let clusters = state["clusters"].as_array().context("clusters")?;
    ensure!(clusters.len() == 3, "{state}");
    for cluster in clusters {
        let bundles = cluster["bundles"].as_array().context("bundles")?;
        ensure!(bundles.len() == 4, "{cluster}");
        for bundle in bundles {
            ensure!(
                bundle["state"] == "Ready" && bundle["objects"].as_u64() > Some(0),
                "{bundle}"
            );
        }
    }
    differs_per_cluster(&demo).await?;
    an_agent_reaches_nothing_but_its_own(&demo).await?;
    commits_roll_out(&demo).await?;
    bad_commits_say_where_and_heal(&demo).await?;
    ensure!(demo.program.stop()?.success(), "the demo ends well when it is told to");
    Ok(())
}

/// Raw YAML with overlays, a chart, Kustomize and the mix: each shows in the live objects.
async fn differs_per_cluster(demo: &Demo) -> Result<()> {
    for (name, website, page, image, volume) in [
        ("dev", 1, "development", "postgres:16", "1Gi"),
        ("test", 1, "test cluster", "postgres:17", "1Gi"),
        ("prod", 3, "production", "postgres:17", "20Gi"),
    ] {
        let cluster = demo.cluster(name).await?;
        ensure!(
            replicas(&cluster, "website", "website").await? == website,
            "website on {name}"
        );
        let pages = Api::<ConfigMap>::namespaced(cluster.clone(), "website")
            .get("pages")
            .await?;
        let index = pages.data.unwrap_or_default().remove("index.html").unwrap_or_default();
        ensure!(index.contains(page), "the page on {name} is {index}");
        let settings = Api::<ConfigMap>::namespaced(cluster.clone(), "api")
            .get("api-settings")
            .await?;
        ensure!(
            settings.data.unwrap_or_default().get("ENVIRONMENT").map(String::as_str) == Some(name),
            "api on {name}"
        );
        let store = Api::<StatefulSet>::namespaced(cluster.clone(), "store")
            .get(&format!("{name}-store"))
            .await?;
        let store = serde_json::to_value(&store)?;
        ensure!(
            store["spec"]["template"]["spec"]["containers"][0]["image"] == image,
            "{store}"
        );
        let claim = &store["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"];
        ensure!(claim == volume, "the store on {name} claims {claim}");
        ensure!(
            store["metadata"]["labels"]["app.kubernetes.io/part-of"] == "shop",
            "{store}"
        );
        let cache = Api::<Deployment>::namespaced(cluster.clone(), "cache")
            .get("cache")
            .await?;
        let cache = serde_json::to_value(&cache)?;
        let memory = if name == "prod" { "512Mi" } else { "64Mi" };
        let pod = &cache["spec"]["template"]["spec"];
        ensure!(
            pod["containers"][0]["resources"]["requests"]["memory"] == memory,
            "{cache}"
        );
        ensure!(
            pod["terminationGracePeriodSeconds"] == 5,
            "Kustomize works on what the chart rendered: {cache}"
        );
        ensure!(cache["metadata"]["labels"]["team"] == "platform", "{cache}");
    }
    Ok(())
}

/// With the account of dev's agent: another cluster's namespace, secrets, and the list of contents.
async fn an_agent_reaches_nothing_but_its_own(demo: &Demo) -> Result<()> {
    let dev = demo.cluster("dev").await?;
    let credentials = Api::<Secret>::namespaced(dev, "cattle-fleet-system")
        .get("fleet-agent")
        .await?;
    let data = credentials.data.context("the agent keeps its credentials")?;
    let text = |key: &str| {
        data.get(key)
            .map(|value| String::from_utf8_lossy(&value.0).into_owned())
            .unwrap_or_default()
    };
    let own = text("deploymentNamespace");
    let agent = kubeconfig_client(&text("kubeconfig")).await?;
    let manager = client(&demo.directory.join("manager/admin.kubeconfig")).await?;
    let clusters = Api::<fleet_api::Cluster>::namespaced(manager, "fleet-default");
    let prod = clusters.get("prod").await?.status.unwrap_or_default().namespace;
    ensure!(!prod.is_empty() && prod != own, "{prod} {own}");

    let all = ListParams::default();
    let deployments = |namespace: &str| Api::<fleet_api::BundleDeployment>::namespaced(agent.clone(), namespace);
    ensure!(
        deployments(&own).list(&all).await?.items.len() == 4,
        "an agent sees its own deployments"
    );
    let secrets = |namespace: &str| Api::<Secret>::namespaced(agent.clone(), namespace);
    let patch = Patch::Merge(json!({"status": {"ready": true}}));
    let parameters = PatchParams::default();
    let refused: Vec<(&str, Option<kube::Error>)> = vec![
        ("list deployments of prod", deployments(&prod).list(&all).await.err()),
        (
            "watch deployments of prod",
            deployments(&prod).watch(&WatchParams::default(), "0").await.err(),
        ),
        (
            "get a deployment of prod",
            deployments(&prod).get("demo-apps-api").await.err(),
        ),
        (
            "report for prod",
            deployments(&prod)
                .patch_status("demo-apps-api", &parameters, &patch)
                .await
                .err(),
        ),
        (
            "change its own orders",
            deployments(&own)
                .patch("demo-apps-api", &parameters, &patch)
                .await
                .err(),
        ),
        (
            "delete its own orders",
            deployments(&own)
                .delete("demo-apps-api", &Default::default())
                .await
                .err(),
        ),
        ("get a secret of prod", secrets(&prod).get("demo-apps-api").await.err()),
        ("list its own secrets", secrets(&own).list(&all).await.err()),
        (
            "list secrets of the manager",
            secrets("cattle-fleet-system").list(&all).await.err(),
        ),
        (
            "list credentials",
            secrets("cattle-fleet-clusters-system").list(&all).await.err(),
        ),
        (
            "list contents",
            Api::<fleet_api::Content>::all(agent.clone()).list(&all).await.err(),
        ),
        (
            "check in for prod",
            Api::<fleet_api::Cluster>::namespaced(agent.clone(), "fleet-default")
                .patch_status("prod", &parameters, &patch)
                .await
                .err(),
        ),
    ];
    for (what, error) in refused {
        let code = match &error {
            Some(kube::Error::Api(status)) => Some(status.code),
            _ => None,
        };
        ensure!(
            code == Some(403),
            "to {what} has to be refused with 403, but: {error:?}"
        );
    }
    Ok(())
}

async fn commits_roll_out(demo: &Demo) -> Result<()> {
    let text = demo.repository.read("apps/website/deployment.yaml")?;
    demo.repository.write(
        "apps/website/deployment.yaml",
        &text.replace("nginx:1.27", "nginx:1.28"),
    )?;
    demo.repository.write(
        "apps/extra/settings.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: default}\n",
    )?;
    let commit = demo.repository.commit("Raise the version, add a bundle")?;
    demo.state("that the second commit is ready", ready_at(&commit))?;
    for name in ["dev", "test", "prod"] {
        let cluster = demo.cluster(name).await?;
        let website = Api::<Deployment>::namespaced(cluster.clone(), "website")
            .get("website")
            .await?;
        let website = serde_json::to_value(&website)?;
        ensure!(
            website["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.28",
            "{website}"
        );
        Api::<ConfigMap>::namespaced(cluster, "default")
            .get("extra")
            .await
            .context("a new directory is a new bundle")?;
    }
    Ok(())
}

/// Three ways to be wrong. Each shows what, where and on which cluster; what ran keeps running; the next good commit heals.
async fn bad_commits_say_where_and_heal(demo: &Demo) -> Result<()> {
    let cases: [(&str, &str, &[&str]); 3] = [
        // The template fails where it is rendered, on the clusters.
        (
            "apps/api/templates/configmap.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.missing.name }}\n",
            &["configmap.yaml:4"],
        ),
        // The file is refused where it is read.
        (
            "apps/website/fleet.yaml",
            "defaultNamespace: website\nhelm: [\n",
            &["apps/website/fleet.yaml"],
        ),
        // The API refuses the object.
        (
            "apps/extra/settings.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_A_Name, namespace: default}\n",
            &["Not_A_Name"],
        ),
    ];
    for (path, broken, mentions) in cases {
        let good = demo.repository.read(path)?;
        demo.repository.write(path, broken)?;
        demo.repository.commit("Break something")?;
        let state = demo.state(&format!("what is wrong with {path}"), |state| {
            let message = state["message"].as_str().unwrap_or_default();
            state["ready"] == false && mentions.iter().all(|mention| message.contains(mention))
        })?;
        still_running(demo).await.with_context(|| format!("after {state}"))?;
        demo.repository.write(path, &good)?;
        let commit = demo.repository.commit("Mend it")?;
        demo.state(&format!("that {path} is mended"), ready_at(&commit))?;
    }
    Ok(())
}

async fn still_running(demo: &Demo) -> Result<()> {
    for name in ["dev", "test", "prod"] {
        let cluster = demo.cluster(name).await?;
        Api::<Deployment>::namespaced(cluster.clone(), "website")
            .get("website")
            .await?;
        let settings = Api::<ConfigMap>::namespaced(cluster, "api");
        eventually(&settings, "api-settings", "still the good one", |found| {
            found.data.as_ref().is_some_and(|data| data.contains_key("ENVIRONMENT"))
        })
        .await?;
    }
    Ok(())
}

#[test]
fn a_demo_that_cannot_become_ready_says_why_and_fails() -> Result<()> {
    let keep = tempfile::tempdir()?;
    let repository = Repository::create(&keep.path().join("repository"))?;
    repository.write("apps/bad/fleet.yaml", "helm: [\n")?;
    repository.write("apps/bad/a.yaml", "kind: ConfigMap\n")?;
    repository.commit("A bad start")?;
    let mut command = Command::new(binary("fleet")?);
    command.args([
        "demo",
        "--exit",
        "--timeout",
        "15",
        "--clusters",
        "1",
        "--output",
        "json",
        "--repo",
        &repository.url(),
    ]);
    let program = Program::start(command, &log(keep.path()))?;
    let line = program.line("why", PATIENCE, |line| line.contains("apps/bad/fleet.yaml"))?;
    ensure!(line.contains("\"ready\":false"), "{line}");
    ensure!(!program.wait()?.success(), "not ready is a failure");
    Ok(())
}

fn log(directory: &Path) -> PathBuf {
    directory.join("log")
}
