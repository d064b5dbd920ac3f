//! `fleet demo`: everything on this machine, from a commit to three clusters and back.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use kube::Api;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::demo::downstream::{self, Downstream};
use crate::demo::observe::Observer;
use crate::demo::repository::Repository;
use crate::demo::screen::{Output, Screen};
use crate::demo::snapshot::Snapshot;
use crate::program;
use crate::standalone::{self, FLEET_NAMESPACE, Options, Standalone};

/// Name of the demo's GitRepo and of its registration token.
const NAME: &str = "demo";
/// A commit should be seen while one is still looking.
const POLLING: &str = "2s";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of downstream clusters
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=200))]
    clusters: u16,
    /// Follow this repository instead of the examples
    #[arg(long, value_name = "URL")]
    repo: Option<String>,
    /// Branch of --repo
    #[arg(long, default_value = "main", requires = "repo")]
    branch: String,
    /// Path in the repository, may be repeated; every matching directory becomes one bundle [default: apps/*]
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Stop when everything is ready: exit status 0, or 1 with the reasons after --timeout
    #[arg(long)]
    exit: bool,
    /// Seconds that --exit waits
    #[arg(long, default_value_t = 300)]
    timeout: u64,
    /// Keep kubeconfigs, repository and data in this directory
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// For people, or one JSON object per line
    #[arg(long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

pub(crate) fn run(args: Args) -> ExitCode {
    program::log_to_stderr("error");
    program::run(|stop| async move {
        let temporary = match &args.keep {
            Some(_) => None,
            None => Some(
                tempfile::Builder::new()
                    .prefix("fleet-demo-")
                    .tempdir()
                    .context("create a directory")?,
            ),
        };
        let directory = match (&args.keep, &temporary) {
            (Some(directory), _) => {
                std::fs::create_dir_all(directory).with_context(|| format!("create {}", directory.display()))?;
                std::path::absolute(directory).context("find the directory")?
            }
            (None, Some(temporary)) => temporary.path().to_owned(),
            (None, None) => anyhow::bail!("no directory"),
        };
        demo(&args, &directory, &stop).await
    })
}

async fn demo(args: &Args, directory: &Path, stop: &CancellationToken) -> Result<ExitCode> {
    let started = Instant::now();
    let mut screen = Screen::new(args.output);
    let url = match &args.repo {
        Some(url) => url.clone(),
        None => Repository::create(&directory.join("repository")).await?.url(),
    };
    let manager_directory = directory.join("manager");
    std::fs::create_dir_all(&manager_directory).with_context(|| format!("create {}", manager_directory.display()))?;
    let options = Options {
        data: args.keep.as_ref().map(|_| manager_directory.clone()),
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        checkin_interval: "1m",
        allow_file: true,
    };
    let fleet = Standalone::start(options, stop).await?;
    let kubeconfig = manager_directory.join("admin.kubeconfig");
    std::fs::write(&kubeconfig, fleet.server.admin_kubeconfig())
        .with_context(|| format!("write {}", kubeconfig.display()))?;
    let observer = Observer::start(&fleet.client);

    let values = fleet.registration_values(NAME).await?;
    let mut clusters = Vec::new();
    for index in 0..usize::from(args.clusters) {
        let (name, labels) = downstream::describe(index);
        downstream::announce(&fleet.client, &name, &labels).await?;
        let directory = directory.join("clusters").join(&name);
        clusters.push(Downstream::start(&name, &directory, args.keep.is_some(), &values, stop).await?);
    }
    follow_repository(&fleet, &url, args).await?;

    let mut scene = Scene {
        started,
        url,
        kubeconfig,
        fleet,
        observer,
        clusters,
    };
    let ready = scene.watch(args, &mut screen, stop).await;
    screen.finish(&scene.snapshot());
    if !args.exit && args.keep.is_some() {
        screen.remark(&format!("kept in {}", directory.display()));
    }
    let stopped = scene.shutdown().await;
    let ready = ready?;
    stopped?;
    Ok(if ready || !args.exit {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Everything that runs, and where it is.
struct Scene {
    started: Instant,
    url: String,
    kubeconfig: PathBuf,
    fleet: Standalone,
    observer: Observer,
    clusters: Vec<Downstream>,
}

impl Scene {
    fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::of(&self.observer.objects(NAME), self.clusters.len());
        snapshot.seconds = self.started.elapsed().as_secs();
        snapshot.repository = self.url.trim_start_matches("file://").to_owned();
        snapshot.kubeconfig = self.kubeconfig.display().to_string();
        for cluster in &mut snapshot.clusters {
            if let Some(own) = self.clusters.iter().find(|found| found.name == cluster.name) {
                cluster.kubeconfig = own.kubeconfig.display().to_string();
            }
        }
        snapshot
    }

    fn how_to_go_on(&self, snapshot: &Snapshot) -> String {
        let example = snapshot
            .clusters
            .last()
            .map(|cluster| cluster.kubeconfig.as_str())
            .unwrap_or_default();
        format!(
            "\nlook around in another terminal:\n  KUBECONFIG={} kubectl get gitrepos,bundles,clusters -A\n  \
             KUBECONFIG={example} kubectl get all -A\n\n\
             change something, commit it, and watch it roll out:\n  cd {}\n\nCtrl-C stops everything.\n",
            self.kubeconfig.display(),
            snapshot.repository,
        )
    }

    /// Shows what happens until it is told to stop; with `--exit` until everything is ready or the time is over.
    /// Says whether everything was ready.
    async fn watch(&mut self, args: &Args, screen: &mut Screen, stop: &CancellationToken) -> Result<bool> {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(args.timeout);
        // The picture also shows seconds.
        let mut tick = tokio::time::interval(Duration::from_millis(500));
        let mut explained = false;
        loop {
            let snapshot = self.snapshot();
            screen.show(&snapshot);
            if snapshot.ready && args.exit {
                return Ok(true);
            }
            if snapshot.ready && !explained && args.output == Output::Text {
                explained = true;
                screen.remark(&self.how_to_go_on(&snapshot));
            }
            let agents = futures::future::select_all(self.clusters.iter_mut().map(|cluster| Box::pin(cluster.ended())));
            tokio::select! {
                // First: whoever is told to stop ends too, which is no failure then.
                biased;
                () = stop.cancelled() => return Ok(false),
                () = tokio::time::sleep_until(deadline), if args.exit => return Ok(false),
                () = self.observer.changed() => {}
                _ = tick.tick() => {}
                result = self.fleet.ended() => {
                    result?;
                    anyhow::bail!("the manager ended by itself");
                }
                (result, _, _) = agents => {
                    result?;
                    anyhow::bail!("an agent ended by itself");
                }
            }
        }
    }

    async fn shutdown(self) -> Result<()> {
        for cluster in self.clusters {
            cluster.shutdown().await;
        }
        self.fleet.shutdown().await
    }
}

async fn follow_repository(fleet: &Standalone, url: &str, args: &Args) -> Result<()> {
    let paths = if args.paths.is_empty() {
        vec!["apps/*".to_owned()]
    } else {
        args.paths.clone()
    };
    let object = json!({
        "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "GitRepo",
        "metadata": {"name": NAME, "namespace": FLEET_NAMESPACE},
        "spec": {
            "repo": url, "branch": args.branch, "paths": paths, "pollingInterval": POLLING,
            "targets": [{"name": "all", "clusterSelector": {}}],
        },
    });
    let api = Api::<fleet_api::GitRepo>::namespaced(fleet.client.clone(), FLEET_NAMESPACE);
    standalone::apply(&api, NAME, &object).await
}
