//! `fleet build`: what the kustomization of a directory makes, as `kubectl kustomize` prints it.
//!
//! Directory → objects on stdout. The work is `lib/kustomize`'s, the same as the agent's; nothing is fetched and no chart
//! is rendered.

use std::path::PathBuf;
use std::process::ExitCode;

use kustomize::Order;

use crate::printer;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory with the kustomization
    #[arg(default_value = ".")]
    directory: PathBuf,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    printer::outcome(built(args))
}

fn built(args: &Args) -> anyhow::Result<String> {
    let objects = kustomize::build_directory(&args.directory, Order::Legacy)?;
    Ok(kustomize::to_yaml(&objects)?)
}
