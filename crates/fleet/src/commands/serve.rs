//! `fleet serve`: the manager with an embedded API server, in one process and one directory.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::standalone::{FLEET_NAMESPACE, Options, Standalone};
use crate::{printer, program};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Directory of everything that has to survive
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Address that users and agents connect to
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:6443")]
    listen: SocketAddr,
    /// Let GitRepos name directories of this machine (file://…); whoever may create a GitRepo can then read them
    #[arg(long)]
    allow_file_repositories: bool,
}

pub(crate) fn run(args: Args) -> ExitCode {
    program::log_to_stderr("info,fjall=warn,lsm_tree=warn");
    program::run(|stop| async move {
        std::fs::create_dir_all(&args.data).with_context(|| format!("create {}", args.data.display()))?;
        let options = Options {
            data: Some(args.data.clone()),
            listen: args.listen,
            checkin_interval: "15m",
            allow_file: args.allow_file_repositories,
        };
        let mut fleet = Standalone::start(options, &stop).await?;
        let address = fleet.server.address().context("the API server does not listen")?;
        printer::raw(how_to_go_on(
            &address,
            &args.data.join("admin.kubeconfig").display().to_string(),
        ));
        let failed = tokio::select! {
            // First: the manager is told to stop too, and its end is no failure then.
            biased;
            () = stop.cancelled() => None,
            result = fleet.ended() => Some(result),
        };
        match failed {
            None => fleet.shutdown().await.map(|()| ExitCode::SUCCESS),
            Some(Ok(())) => anyhow::bail!("the manager ended by itself"),
            Some(Err(error)) => Err(error),
        }
    })
}

fn how_to_go_on(address: &SocketAddr, kubeconfig: &str) -> String {
    format!(
        "the manager is running; its API is https://{address}

  export KUBECONFIG={kubeconfig}
  kubectl get gitrepos,bundles,clusters -A

to register a cluster, make a token and install the agent on it with the values the manager answers:

  kubectl apply -f - <<EOF
  apiVersion: fleet.cattle.io/v1alpha1
  kind: ClusterRegistrationToken
  metadata: {{name: new-clusters, namespace: {FLEET_NAMESPACE}}}
  EOF
  kubectl get secret new-clusters -n {FLEET_NAMESPACE} -o jsonpath='{{.data.values}}' | base64 -d > values.yaml
  helm install fleet-agent charts/fleet-agent -n cattle-fleet-system --create-namespace --values values.yaml   # with the other cluster's kubeconfig
"
    )
}
