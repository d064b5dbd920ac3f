//! `fleet apiserver`: the embedded Kubernetes API server alone, for tests of anything that needs one.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use apiserver::{Options, Server};

use crate::{printer, program};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Directory of the store, the certificates and admin.kubeconfig
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Address to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Kubernetes' own housekeeping: garbage collection, namespaces, token secrets, …
    #[arg(long, value_enum, default_value_t = Controllers::All)]
    controllers: Controllers,
    /// Simulate workloads: Deployments, Pods, … become ready by themselves
    #[arg(long)]
    workloads: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Controllers {
    All,
    None,
}

pub(crate) fn run(args: Args) -> ExitCode {
    program::log_to_stderr("warn");
    program::run(|stop| async move {
        let server = Server::start(Options {
            data: Some(args.data.clone()),
            listen: Some(args.listen),
            controllers: args.controllers == Controllers::All,
            workloads: args.workloads.then(apiserver::workloads::Workloads::default),
            ..Options::default()
        })
        .await
        .context("start the API server")?;
        let address = server.address().context("the API server does not listen")?;
        printer::line(format_args!("serving on https://{address}"));
        printer::line(format_args!(
            "export KUBECONFIG={}",
            args.data.join("admin.kubeconfig").display()
        ));
        stop.cancelled().await;
        server.shutdown().await;
        Ok(ExitCode::SUCCESS)
    })
}
