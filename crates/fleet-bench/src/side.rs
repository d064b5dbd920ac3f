//! The two servers that are compared: ours in a child process of this program, kube-apiserver with etcd beside it.
//!
//! Both keep what they acknowledge on the same disk, over a flush; both authenticate a service account's token and
//! decide by RBAC whether it may do what it asks for; neither runs controllers.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::apiserver::{Options, Server};
use anyhow::{Context as _, Result, bail};
use controlplane::ControlPlane;
use serde_json::{Value, json};

use crate::client::{Access, Asked};
use crate::process::Killed;
use crate::report;

/// Namespace of everything that is measured with.
pub(crate) const NAMESPACE: &str = "bench";

/// A running server.
pub(crate) struct Side {
    pub(crate) name: &'static str,
    pub(crate) processes: Vec<u32>,
    /// An account that may do what is measured and nothing else.
    pub(crate) user: Access,
    _running: Running,
}

enum Running {
    Ours { _process: Killed },
    Real { _plane: Box<ControlPlane> },
}

impl Side {
    /// Starts ours.
    pub(crate) async fn ours(directory: &Path) -> Result<Self> {
        let shown = directory.display().to_string();
        let mut process = Killed::this_program(&["serve", "--data", &shown])?;
        let output = process.0.stdout.take().context("the server has no output")?;
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .context("wait for the server")?;
        let kubeconfig = std::fs::read_to_string(line.trim()).context("read the server's kubeconfig")?;
        Self::prepare(
            "ours",
            vec![process.id()],
            &kubeconfig,
            Running::Ours { _process: process },
        )
        .await
    }

    /// Starts kube-apiserver and etcd from a folder of programs.
    pub(crate) async fn real(programs: &Path, directory: &Path) -> Result<Self> {
        let plane = ControlPlane::start_durable(programs, directory, controlplane::Options::default())
            .context("start a real control plane")?;
        let kubeconfig = std::fs::read_to_string(plane.kubeconfig()).context("read its kubeconfig")?;
        let (processes, plane) = (plane.process_ids(), Box::new(plane));
        Self::prepare("real", processes, &kubeconfig, Running::Real { _plane: plane }).await
    }

    async fn prepare(name: &'static str, processes: Vec<u32>, kubeconfig: &str, running: Running) -> Result<Self> {
        let administrator = Access::administrator(kubeconfig)?;
        let mut connection = administrator.connect().await?;
        let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]);
        let subject = json!({"kind": "ServiceAccount", "name": "bench", "namespace": NAMESPACE});
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "bench"});
        let named = |name: &str, rest: Value| {
            let mut object = json!({"metadata": {"name": name}});
            if let (Some(object), Value::Object(rest)) = (object.as_object_mut(), rest) {
                object.extend(rest);
            }
            object.to_string()
        };
        let accounts = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts");
        let rights = "/apis/rbac.authorization.k8s.io/v1";
        connection
            .create("/api/v1/namespaces", named(NAMESPACE, json!({})))
            .await?;
        connection.create(&accounts, named("bench", json!({}))).await?;
        connection
            .create(
                &format!("{rights}/clusterroles"),
                named("bench", json!({"rules": rules})),
            )
            .await?;
        connection
            .create(
                &format!("{rights}/clusterrolebindings"),
                named("bench", json!({"roleRef": role, "subjects": [subject]})),
            )
            .await?;
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 86400}});
        let answer = connection
            .create(&format!("{accounts}/bench/token"), request.to_string())
            .await?;
        let answer: Value = serde_json::from_slice(&answer).context("read the token")?;
        let token = answer["status"]["token"].as_str().context("there is no token")?;
        let user = Access::bearer(kubeconfig, token)?;
        until_allowed(&user).await?;
        Ok(Self {
            name,
            processes,
            user,
            _running: running,
        })
    }
}

/// Rights reach the real server's authorizer over a watch of its own.
async fn until_allowed(user: &Access) -> Result<()> {
    const TRIES: usize = 200;
    let mut connection = user.connect().await?;
    for _ in 0..TRIES {
        let (status, _) = connection.read(Asked::get(&format!("{}?limit=1", objects()))).await?;
        if status.is_success() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("the account got no rights")
}

/// Path of the collection that is measured with.
pub(crate) fn objects() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}

/// The server that `bench apiserver` measures.
#[derive(clap::Args)]
pub(crate) struct Serve {
    /// Directory of store, certificates and kubeconfig
    #[arg(long)]
    data: PathBuf,
    /// Run Kubernetes' own housekeeping, too
    #[arg(long)]
    controllers: bool,
    /// Simulate workloads
    #[arg(long)]
    workloads: bool,
}

/// Serves until it is killed; says where its kubeconfig is once it answers.
pub(crate) async fn serve(args: Serve) -> Result<()> {
    std::fs::create_dir_all(&args.data).context("make the data directory")?;
    let server = Server::start(Options {
        data: Some(args.data.clone()),
        listen: Some(([127, 0, 0, 1], 0).into()),
        controllers: args.controllers,
        workloads: args.workloads.then(::apiserver::workloads::Workloads::default),
        ..Options::default()
    })
    .await
    .context("start the API server")?;
    let path = args.data.join("kubeconfig");
    std::fs::write(&path, server.admin_kubeconfig()).context("write the kubeconfig")?;
    report::line(format_args!("{}", path.display()));
    std::future::pending::<Result<()>>().await
}
