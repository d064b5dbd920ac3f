//! A cluster that is its own manager: one API server, one agent process that is registered already, and the real helm.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail, ensure};
use controlplane::{ControlPlane, Options};
use fleet_api::content::{Manifest, resource};
use fleet_api::{BundleDeployment, Content};
use fleet_testkit::{PATIENCE, Program, SYSTEM_NAMESPACE, apply, binary, client, eventually, install_kinds};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::api::{DeleteParams, PostParams};
use kube::config::Kubeconfig;
use kube::runtime::wait::await_condition;
use kube::{Api, Client};
use serde_json::{Value, json};

/// Namespace of the bundle deployments.
const CLUSTER: &str = "cluster-one";

/// The real programs.
#[derive(Clone)]
pub(super) struct Tools {
    helm4: PathBuf,
    helm3: PathBuf,
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

/// A program's place; without it the test is left out, loudly, and fails in continuous integration.
fn needed(name: &str, what: &str) -> Result<Option<PathBuf>> {
    let found = variable(name);
    if found.is_none() {
        #[expect(clippy::print_stdout, reason = "a test that is left out says so")]
        {
            println!("left out: {name} names no {what}; `cargo xtask test` fetches it");
        }
        ensure!(variable("CI").is_none(), "{name} has to be set here");
    }
    Ok(found)
}

impl Tools {
    pub(super) fn find() -> Result<Option<Self>> {
        let (helm4, helm3) = (needed("HELM_BIN", "helm 4")?, needed("HELM3_BIN", "helm 3")?);
        Ok(helm4.zip(helm3).map(|(helm4, helm3)| Self { helm4, helm3 }))
    }
}

pub(super) fn control_plane() -> Result<Option<PathBuf>> {
    needed("KUBE_BIN_DIR", "folder with a real control plane")
}

/// A chart: paths and texts.
pub(super) type Chart<'a> = &'a [(&'a str, &'a str)];

pub(super) struct Site {
    pub(super) client: Client,
    kubeconfig: PathBuf,
    tools: Tools,
    agent: Program,
    orders: AtomicUsize,
    /// Stops when dropped.
    _server: Box<dyn std::any::Any>,
    directory: tempfile::TempDir,
}

impl Site {
    pub(super) async fn embedded(tools: Tools) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let data = directory.path().join("server");
        let mut command = Command::new(binary("fleet")?);
        command.args(["apiserver", "--data"]).arg(&data);
        let server = Program::start(command, &directory.path().join("server.log"))?;
        server.line("where it serves", PATIENCE, |line| line.contains("serving on"))?;
        Self::on(Box::new(server), data.join("admin.kubeconfig"), tools, directory).await
    }

    pub(super) async fn real(tools: Tools, programs: &Path) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let options = Options {
            controllers: true,
            workloads: false,
        };
        let plane = ControlPlane::start(programs, &directory.path().join("server"), options)?;
        let kubeconfig = plane.kubeconfig();
        Self::on(Box::new(plane), kubeconfig, tools, directory).await
    }

    async fn on(
        server: Box<dyn std::any::Any>,
        kubeconfig: PathBuf,
        tools: Tools,
        directory: tempfile::TempDir,
    ) -> Result<Self> {
        let client = client(&kubeconfig).await?;
        install_kinds(&client, "https://unused", "").await?;
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": CLUSTER}});
        apply(&Api::<Namespace>::all(client.clone()), &namespace).await?;
        let mut account = Kubeconfig::read_from(&kubeconfig)?;
        for context in account
            .contexts
            .iter_mut()
            .filter_map(|context| context.context.as_mut())
        {
            context.namespace = Some(CLUSTER.to_owned());
        }
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "fleet-agent", "namespace": SYSTEM_NAMESPACE},
            "stringData": {"kubeconfig": serde_json::to_string(&account)?, "deploymentNamespace": CLUSTER,
                           "clusterNamespace": "fleet-default", "clusterName": "one"},
        });
        apply(&Api::<Secret>::namespaced(client.clone(), SYSTEM_NAMESPACE), &secret).await?;
        let config = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fleet-agent", "namespace": SYSTEM_NAMESPACE},
            "data": {"config": "{}"},
        });
        apply(&Api::<ConfigMap>::namespaced(client.clone(), SYSTEM_NAMESPACE), &config).await?;
        let mut command = Command::new(binary("fleetagent")?);
        command
            .args(["--namespace", SYSTEM_NAMESPACE, "--kubeconfig"])
            .arg(&kubeconfig);
        command.env("BUNDLEDEPLOYMENT_RECONCILER_WORKERS", "8");
        let agent = Program::start(command, &directory.path().join("agent.log"))?;
        Ok(Self {
            client,
            kubeconfig,
            tools,
            agent,
            orders: AtomicUsize::new(1),
            _server: server,
            directory,
        })
    }

    /// What the agent said last.
    pub(super) fn log_end(&self) -> String {
        self.agent.log_end()
    }

    pub(super) fn deployments(&self) -> Api<BundleDeployment> {
        Api::namespaced(self.client.clone(), CLUSTER)
    }

    pub(super) fn maps(&self, namespace: &str) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// Writes a bundle deployment as the manager would: content first. The deployment's id.
    pub(super) async fn order(&self, name: &str, chart: Chart<'_>, options: Value, spec: Value) -> Result<String> {
        let resources: Vec<_> = chart
            .iter()
            .map(|(path, text)| resource(path, text.as_bytes(), false))
            .collect();
        let content = Manifest::new(&resources).content();
        let content_name = content.metadata.name.clone().context("content has a name")?;
        let created = Api::<Content>::all(self.client.clone())
            .create(&PostParams::default(), &content)
            .await;
        if let Err(error) = created
            && !matches!(&error, kube::Error::Api(status) if status.code == 409)
        {
            return Err(error.into());
        }
        let mut spec = spec;
        let number = self.orders.fetch_add(1, Ordering::Relaxed);
        let id = format!("{content_name}:{number}");
        spec["deploymentID"] = id.clone().into();
        spec["options"] = options;
        let object = json!({
            "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "BundleDeployment",
            "metadata": {"name": name, "namespace": CLUSTER}, "spec": spec,
        });
        apply(&self.deployments(), &object).await?;
        Ok(id)
    }

    /// As [`Site::order`], and waits until it is ready. The release it became.
    pub(super) async fn deploy(&self, name: &str, chart: Chart<'_>, options: Value, spec: Value) -> Result<String> {
        let id = self.order(name, chart, options, spec).await?;
        let ready = |found: &BundleDeployment| {
            found.status.as_ref().is_some_and(|status| {
                status.applied_deployment_id == id && status.ready && status.non_modified && !status.release.is_empty()
            })
        };
        let found = eventually(&self.deployments(), name, "ready", ready).await?;
        Ok(found.status.unwrap_or_default().release)
    }

    /// Deletes a bundle deployment and waits until the map it made is gone.
    pub(super) async fn remove(&self, name: &str, namespace: &str, map: &str) -> Result<()> {
        self.deployments().delete(name, &DeleteParams::default()).await?;
        self.gone(namespace, map).await
    }

    pub(super) async fn gone(&self, namespace: &str, map: &str) -> Result<()> {
        let gone = await_condition(self.maps(namespace), map, |found: Option<&ConfigMap>| found.is_none());
        let waited = tokio::time::timeout(PATIENCE, gone).await;
        waited.with_context(|| format!("{namespace}/{map} is still there"))??;
        Ok(())
    }

    /// Waits until a map has exactly this data.
    pub(super) async fn data(&self, namespace: &str, map: &str, wanted: &[(&str, &str)]) -> Result<()> {
        let as_wanted = |found: &ConfigMap| {
            let data = found.data.clone().unwrap_or_default();
            data.iter()
                .map(|(key, value)| (key.as_str(), value.as_str()))
                .eq(wanted.iter().copied())
        };
        eventually(&self.maps(namespace), map, &format!("{wanted:?}"), as_wanted).await?;
        Ok(())
    }

    pub(super) fn helm4(&self, arguments: &[&str]) -> Result<String> {
        self.helm(&self.tools.helm4, arguments)
    }

    pub(super) fn helm3(&self, arguments: &[&str]) -> Result<String> {
        self.helm(&self.tools.helm3, arguments)
    }

    fn helm(&self, program: &Path, arguments: &[&str]) -> Result<String> {
        let output = self.command(program, arguments).output().context("start helm")?;
        said(arguments, &output)
    }

    /// helm 4 in the background, for what needs somebody to play along.
    pub(super) fn start_helm4(&self, arguments: &[&str]) -> Result<std::process::Child> {
        let mut command = self.command(&self.tools.helm4, arguments);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command.spawn().context("start helm")
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).arg("--kubeconfig").arg(&self.kubeconfig);
        for name in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            command.env(name, self.directory.path().join(name));
        }
        command
    }

    pub(super) fn helm4_json(&self, arguments: &[&str]) -> Result<Value> {
        let text = self.helm4(&[arguments, &["-o", "json"]].concat())?;
        serde_json::from_str(&text).with_context(|| format!("helm {arguments:?} says {text}"))
    }

    /// Revisions as `helm history` tells them: number, status, description.
    pub(super) fn history(&self, release: &str, namespace: &str) -> Result<Vec<(i64, String, String)>> {
        let history = self.helm4_json(&["history", release, "-n", namespace])?;
        let entries = history.as_array().context("history is a list")?;
        let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let entry = |entry: &Value| {
            let number = entry["revision"].as_i64().unwrap_or_default();
            (number, text(entry, "status"), text(entry, "description"))
        };
        Ok(entries.iter().map(entry).collect())
    }

    /// Names of the releases of a namespace.
    pub(super) fn releases(&self, namespace: &str) -> Result<Vec<String>> {
        let list = self.helm4_json(&["list", "--all-namespaces", "--filter", ".*"])?;
        let entries = list.as_array().context("a list of releases")?;
        let here = entries.iter().filter(|entry| entry["namespace"] == namespace);
        Ok(here
            .filter_map(|entry| entry["name"].as_str().map(str::to_owned))
            .collect())
    }

    /// A chart as a directory for helm.
    pub(super) fn folder(&self, name: &str, chart: Chart<'_>) -> Result<String> {
        let folder = self.directory.path().join("charts").join(name);
        for (path, text) in chart {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
            std::fs::write(path, text)?;
        }
        Ok(folder.to_string_lossy().into_owned())
    }
}

/// What helm printed, if it went well.
pub(super) fn said(arguments: &[&str], output: &Output) -> Result<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if !output.status.success() {
        bail!(
            "helm {}: {}\n{}",
            arguments.join(" "),
            text(&output.stderr),
            text(&output.stdout)
        );
    }
    Ok(text(&output.stdout))
}
