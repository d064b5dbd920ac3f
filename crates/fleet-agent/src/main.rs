//! The program `fleetagent`: flags and environment become settings, then the agent runs while it
//! holds its lease.

use std::process::ExitCode;

use clap::Parser;
use fleet_agent::{Settings, env};
use fleet_deploy::summary::ErrorConditions;
use fleet_runtime::chain;
use fleet_runtime::lease::Election;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// Rendering takes a fifth less time than with the C library's (docs/adr/0010-allocator.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Agent of a cluster that Fleet deploys to.
#[derive(Parser)]
#[command(name = "fleetagent", version)]
struct Args {
    /// Kubeconfig of the cluster the agent runs on; by default the pod's own account
    #[arg(long, default_value = "")]
    kubeconfig: String,
    /// Namespace of the agent [env: NAMESPACE]
    #[arg(long, default_value = "")]
    namespace: String,
    /// Suffix of object-set ids, for several agents on one cluster [env: AGENT_SCOPE]
    #[arg(long, default_value = "")]
    agent_scope: String,
    /// Time between check-ins, such as 15m [env: CHECKIN_INTERVAL]
    #[arg(long, default_value = "")]
    checkin_interval: String,
    /// Log more
    #[arg(long)]
    debug: bool,
    /// How much more to log
    #[arg(long, default_value_t = 0)]
    debug_level: u32,
}

fn or_env(flag: String, name: &str) -> String {
    if flag.is_empty() { env::read(name) } else { flag }
}

fn settings(args: Args) -> Result<Settings, String> {
    let namespace = or_env(args.namespace, env::NAMESPACE);
    if namespace.is_empty() {
        return Err("--namespace is required".to_owned());
    }
    let mut settings = Settings::new(&namespace);
    settings.scope = or_env(args.agent_scope, env::AGENT_SCOPE);
    let interval = or_env(args.checkin_interval, env::CHECKIN_INTERVAL);
    if !interval.is_empty() {
        let parsed = fleet_api::Duration::parse(&interval)
            .ok_or_else(|| format!("invalid check-in interval '{interval}'"))?
            .to_std();
        if !parsed.is_zero() {
            settings.checkin_interval = parsed;
        }
    }
    let workers = |name: &str| env::read(name).parse::<usize>().unwrap_or_default();
    settings.workers = workers(env::WORKERS).max(workers(env::DRIFT_WORKERS)).max(1);
    settings.hostname = env::read(env::HOSTNAME);
    settings.error_conditions = ErrorConditions::with(&env::read(env::ERROR_MAPPING));
    Ok(settings)
}

async fn client(kubeconfig: &str) -> Result<kube::Client, String> {
    let config = if kubeconfig.is_empty() {
        kube::Config::infer().await.map_err(|error| chain(&error))?
    } else {
        let parsed = kube::config::Kubeconfig::read_from(kubeconfig).map_err(|error| chain(&error))?;
        kube::Config::from_custom_kubeconfig(parsed, &kube::config::KubeConfigOptions::default())
            .await
            .map_err(|error| chain(&error))?
    };
    kube::Client::try_from(config).map_err(|error| chain(&error))
}

async fn run(kubeconfig: &str, settings: Settings) -> Result<(), String> {
    let client = client(kubeconfig).await?;
    let shutdown = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    let stop = shutdown.clone();
    let signals = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = stop.cancelled() => {}
        }
        stop.cancel();
        Ok::<(), String>(())
    };
    let identity = match (env::read("POD_NAME"), settings.hostname.clone()) {
        (pod, _) if !pod.is_empty() => pod,
        (_, host) => format!("{host}-{}", std::process::id()),
    };
    let election = Election::from_env(&settings.namespace, "fleet-agent", identity);
    let lead = async {
        let Some(leadership) = election.lead(client.clone(), &shutdown).await else {
            return Ok(());
        };
        let agent = async {
            let outcome = fleet_agent::run(client.clone(), settings, shutdown.clone()).await;
            shutdown.cancel();
            outcome.map_err(|error| chain(&error))
        };
        let lease = async {
            let outcome = leadership.hold(shutdown.clone()).await;
            shutdown.cancel();
            outcome.map_err(|error| chain(&error))
        };
        tokio::try_join!(agent, lease).map(|_| ())
    };
    tokio::try_join!(signals, lead).map(|_| ())
}

fn main() -> ExitCode {
    let args = Args::parse();
    let filter = match env::read(env::LOG) {
        filter if !filter.is_empty() => EnvFilter::new(filter),
        _ if args.debug || args.debug_level > 0 => EnvFilter::new("debug,hyper=info,h2=info,rustls=info"),
        _ => EnvFilter::new("info"),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    let kubeconfig = args.kubeconfig.clone();
    let settings = match settings(args) {
        Ok(settings) => settings,
        Err(message) => {
            tracing::error!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "cannot start");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(run(&kubeconfig, settings)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            tracing::error!("{message}");
            ExitCode::FAILURE
        }
    }
}
