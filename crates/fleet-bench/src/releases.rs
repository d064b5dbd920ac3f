//! `bench releases`: a real agent and very many bundle deployments of a five-object chart, until all of them are ready.
//!
//! One embedded API server is the manager's side and the agent's own cluster at the same time, with simulated workloads;
//! the agent is the program `fleetagent` with the rights and the number of workers that its chart gives it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fleet_api::content::{Manifest, resource};
use fleet_api::deployment_id;
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::client::{Access, Asked, Connection};
use crate::process::{self, Killed};
use crate::report::{self, figure, mebibytes};

const SYSTEM: &str = "cattle-fleet-system";
const CLUSTERS: &str = "fleet-default";
const DEPLOYMENTS: &str = "cluster-fleet-default-bench";
const FLEET: &str = "/apis/fleet.cattle.io/v1alpha1";

/// What the agent's chart sets.
const WORKERS: &str = "50";

/// Namespaces that the releases share.
const NAMESPACES: u64 = 50;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Bundle deployments
    #[arg(long, default_value_t = 1000)]
    releases: u64,
    /// Seconds after which it is given up
    #[arg(long, default_value_t = 600)]
    patience: u64,
    /// The agent; the one that was built beside this program if absent
    #[arg(long)]
    agent: Option<PathBuf>,
}

/// The chart: its files and their content.
const CHART: &[(&str, &str)] = &[
    ("Chart.yaml", "apiVersion: v2\nname: service\nversion: 1.0.0\n"),
    (
        "values.yaml",
        "image: registry.example/service:1.0\nreplicas: 1\nport: 8080\nlevel: info\n",
    ),
    (
        "templates/_names.tpl",
        "{{- define \"labels\" }}\napp.kubernetes.io/name: {{ .Chart.Name }}\napp.kubernetes.io/instance: {{ .Release.Name }}\n{{- end }}\n",
    ),
    (
        "templates/serviceaccount.yaml",
        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {{- include \"labels\" . | nindent 4 }}\n",
    ),
    (
        "templates/configmap.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {{- include \"labels\" . | nindent 4 }}\n\
         data:\n  level: {{ .Values.level | quote }}\n  number: {{ .Values.number | quote }}\n",
    ),
    (
        "templates/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {{- include \"labels\" . | nindent 4 }}\n\
         data:\n  key: {{ printf \"%v\" .Values.number | b64enc }}\n",
    ),
    (
        "templates/service.yaml",
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {{- include \"labels\" . | nindent 4 }}\n\
         spec:\n  selector: {{- include \"labels\" . | nindent 4 }}\n  ports:\n  - port: {{ .Values.port }}\n",
    ),
    (
        "templates/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {{- include \"labels\" . | nindent 4 }}\n\
         spec:\n  replicas: {{ .Values.replicas }}\n  selector:\n    matchLabels: {{- include \"labels\" . | nindent 6 }}\n\
         \x20 template:\n    metadata:\n      labels: {{- include \"labels\" . | nindent 8 }}\n    spec:\n\
         \x20     serviceAccountName: {{ .Release.Name }}\n      containers:\n      - name: main\n        image: {{ .Values.image }}\n\
         \x20       ports:\n        - containerPort: {{ .Values.port }}\n        envFrom:\n        - configMapRef: {name: {{ .Release.Name }}}\n",
    ),
];

pub(crate) async fn run(args: &Args, directory: &Path) -> Result<()> {
    let keep = tempfile::tempdir_in(directory).context("make a directory")?;
    let data = keep.path().join("server").display().to_string();
    let mut server = Killed::this_program(&["serve", "--controllers", "--workloads", "--data", &data])?;
    let output = server.0.stdout.take().context("the server has no output")?;
    let mut line = String::new();
    BufReader::new(output)
        .read_line(&mut line)
        .context("wait for the server")?;
    let kubeconfig = std::fs::read_to_string(line.trim()).context("read the server's kubeconfig")?;
    let administrator = Access::administrator(&kubeconfig)?;
    let mut connection = administrator.connect().await?;
    install(&mut connection).await?;
    let local = prepare(&mut connection, &kubeconfig).await?;
    let config = keep.path().join("agent.kubeconfig");
    std::fs::write(&config, local).context("write the agent's kubeconfig")?;
    let log = keep.path().join("agent.log");
    let agent = start(args, &config, &log)?;
    let mut watch = Ready::open(&administrator).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let idle = process::memory(&[agent.id()])?;
    let before = counts(&mut connection).await?;
    let busy = process::processor_time(&[agent.id(), server.id()])?;
    let begin = Instant::now();
    deploy(&mut connection, args.releases).await?;
    let written = begin.elapsed();
    let all = watch.until(args.releases);
    if timeout(Duration::from_secs(args.patience), all).await.is_err() {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(5).collect();
        bail!(
            "{} of {} were ready after {} s; the agent's last words: {lines:#?}",
            watch.ready.len(),
            args.releases,
            args.patience
        );
    }
    let took = begin.elapsed();
    let busy = process::processor_time(&[agent.id(), server.id()])? - busy;
    let after = counts(&mut connection).await?;
    let (loaded, server) = (process::memory(&[agent.id()])?, process::memory(&[server.id()])?);
    let row = |what: &str, value: String| report::line(format_args!("{what:22} {value}"));
    row("releases", format!("{} of 5 objects", args.releases));
    row("written after", format!("{} s", figure(written.as_secs_f64())));
    row("all ready after", format!("{} s", figure(took.as_secs_f64())));
    row("processor time", format!("{} s, agent and server", figure(busy)));
    row("agent's memory, idle", mebibytes(idle.anonymous));
    let (now, peak) = (mebibytes(loaded.anonymous), mebibytes(loaded.peak));
    row(
        "agent's memory, after",
        format!("{now} anonymous (peak {peak} resident)"),
    );
    row(
        "server's memory, after",
        format!("{} anonymous", mebibytes(server.anonymous)),
    );
    let mut verbs: BTreeMap<&str, u64> = BTreeMap::new();
    for ((verb, what), count) in &after {
        let count = count - before.get(&(verb.clone(), what.clone())).copied().unwrap_or_default();
        *verbs.entry(verb).or_default() += count;
        if count >= args.releases / 10 {
            row("requests", format!("{count:7} {verb:6} {what}"));
        }
    }
    row("requests by verb", format!("{verbs:?}"));
    Ok(())
}

fn start(args: &Args, kubeconfig: &Path, log: &Path) -> Result<Killed> {
    let program = match &args.agent {
        Some(path) => path.clone(),
        None => std::env::current_exe()
            .context("find this program")?
            .with_file_name("fleetagent"),
    };
    let log = std::fs::File::create(log).context("make the agent's log")?;
    let child = Command::new(&program)
        .args(["--namespace", SYSTEM, "--kubeconfig"])
        .arg(kubeconfig)
        .env("BUNDLEDEPLOYMENT_RECONCILER_WORKERS", WORKERS)
        .env("FLEET_AGENT_PROBE_BIND_ADDRESS", "127.0.0.1:0")
        .env("POD_NAME", "bench")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .with_context(|| format!("start {}", program.display()))?;
    Ok(Killed(child))
}

/// Fleet's kinds.
async fn install(connection: &mut Connection) -> Result<()> {
    for kind in fleet_api::crds() {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        connection.create(path, kind.to_string()).await?;
    }
    for _ in 0..200 {
        let (status, _) = connection
            .read(Asked::get(&format!("{FLEET}/bundledeployments")))
            .await?;
        if status.is_success() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("Fleet's kinds are not served")
}

/// The accounts, rights and secret that a registration leaves; the agent's own kubeconfig.
async fn prepare(connection: &mut Connection, kubeconfig: &str) -> Result<String> {
    for name in [SYSTEM, CLUSTERS, DEPLOYMENTS] {
        let object = json!({"metadata": {"name": name}});
        connection.create("/api/v1/namespaces", object.to_string()).await?;
    }
    let cluster = json!({
        "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "bench"}, "spec": {"clientID": "bench"},
    });
    connection
        .create(&format!("{FLEET}/namespaces/{CLUSTERS}/clusters"), cluster.to_string())
        .await?;
    let fleet = "fleet.cattle.io";
    let rights = [
        (
            "request",
            DEPLOYMENTS,
            DEPLOYMENTS,
            json!([
                {"apiGroups": [fleet], "resources": ["bundledeployments"], "verbs": ["get", "list", "watch"]},
                {"apiGroups": [fleet], "resources": ["bundledeployments/status"], "verbs": ["update", "patch"]},
                {"apiGroups": [""], "resources": ["secrets", "configmaps"], "verbs": ["get"]},
            ]),
        ),
        (
            "request",
            DEPLOYMENTS,
            CLUSTERS,
            json!([
                {"apiGroups": [fleet], "resources": ["clusters/status"], "resourceNames": ["bench"], "verbs": ["patch"]},
            ]),
        ),
        (
            "request",
            DEPLOYMENTS,
            "",
            json!([{"apiGroups": [fleet], "resources": ["contents"], "verbs": ["get"]}]),
        ),
        (
            "fleet-agent",
            SYSTEM,
            "",
            json!([
                {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, {"nonResourceURLs": ["*"], "verbs": ["*"]},
            ]),
        ),
    ];
    for (account, home) in [("request", DEPLOYMENTS), ("fleet-agent", SYSTEM)] {
        let object = json!({"metadata": {"name": account}});
        connection
            .create(
                &format!("/api/v1/namespaces/{home}/serviceaccounts"),
                object.to_string(),
            )
            .await?;
    }
    for (number, (account, home, space, rules)) in rights.into_iter().enumerate() {
        let name = format!("bench-{number}");
        let (kind, path) = if space.is_empty() {
            ("Cluster", "/apis/rbac.authorization.k8s.io/v1".to_owned())
        } else {
            ("", format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{space}"))
        };
        let role = json!({"metadata": {"name": name}, "rules": rules});
        let binding = json!({
            "metadata": {"name": name},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": home}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": format!("{kind}Role"), "name": name},
        });
        let plural = kind.to_lowercase();
        connection
            .create(&format!("{path}/{plural}roles"), role.to_string())
            .await?;
        connection
            .create(&format!("{path}/{plural}rolebindings"), binding.to_string())
            .await?;
    }
    let remote = token(connection, DEPLOYMENTS, "request").await?;
    let remote = with_token(kubeconfig, &remote, DEPLOYMENTS)?;
    let secret = json!({"metadata": {"name": "fleet-agent"}, "data": {
        "kubeconfig": STANDARD.encode(remote), "deploymentNamespace": STANDARD.encode(DEPLOYMENTS),
        "clusterNamespace": STANDARD.encode(CLUSTERS), "clusterName": STANDARD.encode("bench"),
    }});
    let config = json!({"metadata": {"name": "fleet-agent"}, "data": {"config": "{\"clientID\":\"bench\"}"}});
    let home = format!("/api/v1/namespaces/{SYSTEM}");
    connection
        .create(&format!("{home}/secrets"), secret.to_string())
        .await?;
    connection
        .create(&format!("{home}/configmaps"), config.to_string())
        .await?;
    let local = token(connection, SYSTEM, "fleet-agent").await?;
    with_token(kubeconfig, &local, SYSTEM)
}

async fn token(connection: &mut Connection, namespace: &str, account: &str) -> Result<String> {
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
    let request =
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 36000}});
    let answer: Value = serde_json::from_slice(&connection.create(&path, request.to_string()).await?)?;
    let token = answer["status"]["token"].as_str().context("there is no token")?;
    Ok(token.to_owned())
}

fn with_token(kubeconfig: &str, token: &str, namespace: &str) -> Result<String> {
    let mut config = goyaml::parse(kubeconfig).context("read the kubeconfig")?;
    config["users"][0]["user"] = json!({"token": token});
    config["contexts"][0]["context"]["namespace"] = namespace.into();
    Ok(config.to_string())
}

/// Writes the content and the bundle deployments that name it.
async fn deploy(connection: &mut Connection, releases: u64) -> Result<()> {
    let files: Vec<_> = CHART
        .iter()
        .map(|(name, text)| resource(name, text.as_bytes(), false))
        .collect();
    let manifest = Manifest::new(&files);
    let mut content = serde_json::to_value(manifest.content())?;
    content["apiVersion"] = "fleet.cattle.io/v1alpha1".into();
    content["kind"] = "Content".into();
    connection
        .create(&format!("{FLEET}/contents"), content.to_string())
        .await?;
    let path = format!("{FLEET}/namespaces/{DEPLOYMENTS}/bundledeployments");
    for number in 0..releases {
        let name = format!("service-{number}");
        let options = json!({
            "defaultNamespace": format!("services-{}", number % NAMESPACES),
            "helm": {"releaseName": name, "values": {"number": number}},
        });
        let id = deployment_id::deployment_id(&manifest.id(), &serde_json::from_value(options.clone())?);
        let object = json!({
            "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "BundleDeployment",
            "metadata": {"name": name, "labels": {
                "fleet.cattle.io/bundle-name": name, "fleet.cattle.io/bundle-namespace": CLUSTERS, "fleet.cattle.io/managed": "true",
            }},
            "spec": {"deploymentID": id, "stagedDeploymentID": id, "options": options, "stagedOptions": options},
        });
        connection.create(&path, object.to_string()).await?;
    }
    Ok(())
}

/// Bundle deployments that are ready, as a watch tells.
struct Ready {
    body: hyper::body::Incoming,
    rest: Vec<u8>,
    ready: std::collections::BTreeSet<String>,
    _connection: Connection,
}

impl Ready {
    async fn open(access: &Access) -> Result<Self> {
        let mut connection = access.connect().await?;
        let path = format!("{FLEET}/namespaces/{DEPLOYMENTS}/bundledeployments?watch=1&timeoutSeconds=3600");
        let response = connection.send(Asked::of(Method::GET, &path)).await?;
        Ok(Self {
            body: response.into_body(),
            rest: Vec::new(),
            ready: std::collections::BTreeSet::new(),
            _connection: connection,
        })
    }

    async fn until(&mut self, wanted: u64) -> Result<()> {
        while (self.ready.len() as u64) < wanted {
            let frame = self.body.frame().await.context("the watch ended")??;
            self.rest.extend_from_slice(frame.data_ref().context("no data")?);
            while let Some(end) = memchr::memchr(b'\n', &self.rest) {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                let event: Value = serde_json::from_slice(&line).context("read an event")?;
                let object = &event["object"];
                let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                let applied = &object["status"]["appliedDeploymentID"];
                if object["status"]["ready"] == true && *applied == object["spec"]["deploymentID"] {
                    self.ready.insert(name);
                } else {
                    self.ready.remove(&name);
                }
            }
        }
        Ok(())
    }
}

/// Requests so far, by verb and resource.
async fn counts(connection: &mut Connection) -> Result<BTreeMap<(String, String), u64>> {
    let text = connection.must(Asked::get("/metrics")).await?;
    let text = String::from_utf8_lossy(&text);
    let mut counts = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("apiserver_request_total{")) {
        let label = |name: &str| {
            let (_, rest) = line.split_once(&format!("{name}=\"")).unwrap_or_default();
            rest.split('"').next().unwrap_or_default().to_owned()
        };
        let value = line
            .rsplit(' ')
            .next()
            .and_then(|value| value.parse::<f64>().ok())
            .unwrap_or_default();
        let what = match (label(",resource"), label("subresource")) {
            (resource, subresource) if subresource.is_empty() => resource,
            (resource, subresource) => format!("{resource}/{subresource}"),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let value = value as u64;
        *counts.entry((label("verb"), what)).or_default() += value;
    }
    Ok(counts)
}
