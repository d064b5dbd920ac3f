//! The command line of `fleetcontroller`: upstream's sub-commands, flags and environment. Help
//! text and parsing only; what the words mean is decided in `main`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Controllers of Fleet's management cluster.
#[derive(Debug, Parser)]
#[command(name = "fleetcontroller", version, about, args_conflicts_with_subcommands = false)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Flags that all sub-commands know.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// Kubeconfig file; in-cluster configuration or the usual places if absent.
    #[arg(long, global = true, env = "KUBECONFIG")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// System namespace.
    #[arg(long, global = true, env = "NAMESPACE", default_value = "cattle-fleet-system")]
    pub(crate) namespace: String,
    /// Serve no metrics.
    #[arg(long, global = true)]
    pub(crate) disable_metrics: bool,
    /// Only objects of this shard.
    #[arg(long, global = true, default_value = "")]
    pub(crate) shard_id: String,
    /// Take a lease first, so that only one replica works.
    #[arg(long, global = true, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub(crate) leader_elect: bool,
    /// Log more.
    #[arg(long, global = true)]
    pub(crate) debug: bool,
    /// Log even more.
    #[arg(long, global = true, default_value_t = 0)]
    pub(crate) debug_level: i64,
    /// Address of the metrics.
    #[arg(long, global = true, default_value = ":8081")]
    pub(crate) metrics_bind_address: String,
}

/// What this process does.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Everything in one process.
    All,
    /// Git repositories.
    Gitjob(Gitjob),
    /// Helm charts.
    Helmops,
    /// Namespaces of clusters, registration tokens, registrations.
    Agentmanagement {
        /// Do not register the management cluster itself.
        #[arg(long)]
        disable_bootstrap: bool,
    },
    /// Remove what deleted objects left behind.
    Cleanup,
    /// One piece of git work: a request on standard input, bundles on standard output.
    #[command(hide = true)]
    GitWork,
}

/// Flags of `gitjob`.
#[derive(Debug, Args)]
pub(crate) struct Gitjob {
    /// Accepted for compatibility: git work needs no image here.
    #[arg(long, default_value = "rancher/fleet:dev")]
    pub(crate) gitjob_image: String,
    /// Address for webhooks.
    #[arg(long, default_value = ":8080")]
    pub(crate) listen: String,
    /// Accepted for compatibility: git work runs where this process runs.
    #[arg(long, default_value = "")]
    pub(crate) shard_node_selector: String,
    /// Accept SSH hosts that are not known.
    #[arg(long)]
    pub(crate) insecure_skip_host_key_checks: bool,
}
