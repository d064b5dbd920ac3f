//! What the user may type. Help text only; meaning is in the commands.

use clap::{Parser, Subcommand};

use crate::commands;

#[derive(Parser)]
#[command(
    name = "fleet",
    version,
    about = "GitOps for very many Kubernetes clusters",
    propagate_version = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Try it: a manager, simulated clusters and a git repository on this machine
    Demo(commands::demo::Args),
    /// Run the manager with an embedded API server, without Kubernetes
    Serve(commands::serve::Args),
    /// Run the embedded Kubernetes API server alone
    Apiserver(commands::apiserver::Args),
    /// Turn directories into bundles and store or print them
    Apply(Box<commands::apply::Args>),
    /// Show which clusters a bundle is deployed to, and with which options
    Target(commands::target::Args),
    /// Deploy a bundle deployment to the current cluster, or print what would be deployed
    Deploy(commands::deploy::Args),
    /// Print what a Helm chart renders to, as `helm template` does
    Template(Box<commands::template::Args>),
    /// Print what a kustomization makes, as `kubectl kustomize` does
    Build(commands::build::Args),
    /// Fetch and scan a repository as told on stdin; started by the manager
    #[command(hide = true)]
    GitWork,
}
