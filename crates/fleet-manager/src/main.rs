//! `fleetcontroller`: the manager as upstream's processes, or as one. Connects, takes the lease,
//! runs the controllers that the sub-command names, and ends cleanly on SIGTERM.

mod args;

use std::process::ExitCode;

use clap::Parser as _;
use fleet_manager::{Part, Settings, env};
use fleet_runtime::lease::Election;
use fleet_source::child;
use tokio_util::sync::CancellationToken;

use crate::args::{Arguments, Command, Common};

/// Rendering takes a fifth less time than with the C library's (docs/adr/0010-allocator.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if matches!(arguments.command, Some(Command::GitWork)) {
        return git_work();
    }
    logging(&arguments.common);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "no runtime");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(manage(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = fleet_runtime::chain(&*error), "the manager ended");
            ExitCode::FAILURE
        }
    }
}

fn logging(common: &Common) {
    let level = if common.debug { "debug" } else { "info" };
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}

fn git_work() -> ExitCode {
    child::serve()
}

async fn manage(arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let Arguments { common, command } = arguments;
    let (lease, parts): (&str, &[Part]) = match &command {
        None => ("fleet-controller-leader-election-shard", &[Part::Bundles]),
        Some(Command::All) => ("fleet-controller-leader-election-shard", &Part::ALL),
        Some(Command::Gitjob(_)) => ("fleet-gitops-leader-election-shard", &[Part::Git]),
        Some(Command::Helmops) => ("fleet-helmops-leader-election-shard", &[Part::Helm]),
        Some(Command::Agentmanagement { .. }) => ("fleet-agentmanagement-lock", &[Part::Agents]),
        Some(Command::Cleanup) => ("fleet-cleanup-lock", &[Part::Cleanup]),
        Some(Command::GitWork) => return Ok(()),
    };
    let client = connect(&common).await?;
    let shutdown = CancellationToken::new();
    stop_on_signals(shutdown.clone())?;
    let program = std::env::current_exe()?;
    let settings = Settings::new(&common.namespace, child::Runner::Program(program));
    let shard = if common.shard_id.is_empty() {
        String::new()
    } else {
        format!("-{}", common.shard_id)
    };
    let lease = if lease.ends_with("-lock") {
        lease.to_owned()
    } else {
        format!("{lease}{shard}")
    };
    let leadership = if common.leader_elect {
        let election = Election::from_env(&common.namespace, &lease, identity());
        match election.lead(client.clone(), &shutdown).await {
            Some(leadership) => Some(leadership),
            None => return Ok(()),
        }
    } else {
        None
    };
    tracing::info!(?parts, "leading");
    let held = shutdown.clone();
    let holding = async move {
        match leadership {
            None => {
                held.cancelled().await;
                Ok(())
            }
            Some(leadership) => {
                let result = leadership.hold(held.clone()).await;
                held.cancel();
                result
            }
        }
    };
    let (ran, held) = tokio::join!(
        async {
            let result = fleet_manager::run_parts(client, settings, parts, shutdown.clone()).await;
            shutdown.cancel();
            result
        },
        holding
    );
    ran?;
    held?;
    Ok(())
}

/// The host's name and a part that no other process has, as controller-runtime writes it.
fn identity() -> String {
    let host = env::text(env::HOSTNAME).unwrap_or_else(|| "fleetcontroller".to_owned());
    format!(
        "{host}_{}-{}",
        std::process::id(),
        jiff::Timestamp::now().as_nanosecond()
    )
}

/// How often a kubeconfig that cannot be read is read again: it may be being written.
const ATTEMPTS: u32 = 10;

async fn connect(common: &Common) -> Result<kube::Client, Box<dyn std::error::Error>> {
    let mut attempt = 1;
    let config = loop {
        match configuration(common).await {
            Ok(config) => break config,
            Err(error) if attempt >= ATTEMPTS => return Err(error),
            Err(error) => tracing::info!(error = fleet_runtime::chain(&*error), attempt, "no configuration yet"),
        }
        attempt += 1;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    };
    Ok(kube::Client::try_from(config)?)
}

async fn configuration(common: &Common) -> Result<kube::Config, Box<dyn std::error::Error>> {
    Ok(match &common.kubeconfig {
        Some(path) => {
            let kubeconfig = kube::config::Kubeconfig::read_from(path)?;
            kube::Config::from_custom_kubeconfig(kubeconfig, &kube::config::KubeConfigOptions::default()).await?
        }
        None => kube::Config::infer().await?,
    })
}

fn stop_on_signals(shutdown: CancellationToken) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        shutdown.cancel();
    });
    Ok(())
}
