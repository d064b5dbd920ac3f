//! The agent of one cluster: registers with the manager, deploys what it is told, watches what
//! it deployed, and says that it lives. Meets the manager only through the Kubernetes API.

pub mod env;
pub mod settings;

pub mod config;
mod registration;
mod upstream;

mod context;
mod deployment;
mod echo;
mod patience;
mod unreported;
mod watch;

mod checkin;
mod collector;

use std::sync::Arc;

use fleet_api::BundleDeployment;
use fleet_deploy::cluster::Cluster;
use fleet_runtime::mirror::{self, Change};
use fleet_runtime::{Mirror, Queue, controller};
use kube::Api;
use kube::runtime::watcher;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::context::{Contents, Context};
use crate::echo::Echoes;
use crate::patience::Patience;
pub use crate::settings::Settings;
use crate::unreported::Unreported;
use crate::watch::Watches;

/// Why the agent cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The agent's config map cannot be read.
    #[error("load agent configuration")]
    LoadConfig(#[source] fleet_runtime::Error),
    /// There is none.
    #[error("config map '{0}/fleet-agent' is missing")]
    NoConfig(String),
}

/// Runs an agent on the cluster behind `local` until `shutdown`. Registers first, if it has to.
///
/// # Errors
/// The agent's configuration is missing or damaged. Nothing else ends it.
pub async fn run(local: kube::Client, settings: Settings, shutdown: CancellationToken) -> Result<(), Error> {
    let Some(upstream) = registration::register(&local, &settings, &shutdown).await else {
        return Ok(());
    };
    let config = config::load(&local, &settings.namespace)
        .await
        .map_err(Error::LoadConfig)?
        .ok_or_else(|| Error::NoConfig(settings.namespace.clone()))?;
    tracing::info!(
        namespace = upstream.namespace,
        cluster = upstream.cluster_name,
        "registered"
    );
    let queue = Queue::default();
    let watches = Watches::new(local.clone(), queue.clone(), settings.drift_delay, shutdown.clone());
    let workers = settings.workers;
    let cx = Arc::new(Context {
        local: Cluster::new(local),
        upstream: upstream.clone(),
        deployments: Mirror::default(),
        queue,
        watches,
        contents: Contents::default(),
        charts: Arc::default(),
        patience: Patience::default(),
        unreported: Unreported::default(),
        echoes: Echoes::default(),
        litter: Arc::new(Notify::new()),
        settings: settings.clone(),
    });
    tokio::join!(
        follow(cx.clone(), shutdown.clone()),
        work(cx.clone(), workers, shutdown.clone()),
        collector::run(cx.clone(), config.collection_interval(), shutdown.clone()),
        checkin::run(upstream, settings, shutdown.clone()),
    );
    cx.watches.closed().await;
    Ok(())
}

async fn work(cx: Arc<Context>, workers: usize, shutdown: CancellationToken) {
    let queue = cx.queue.clone();
    // Nothing is decided before all deployments are known: one that is missing looks deleted.
    tokio::select! {
        () = shutdown.cancelled() => return,
        () = cx.deployments.ready() => {}
    }
    let options = controller::Options::new("bundledeployment", workers);
    controller::run(
        options,
        queue,
        move |name: String| deployment::reconcile(name, cx.clone()),
        shutdown,
    )
    .await;
}

async fn follow(cx: Arc<Context>, shutdown: CancellationToken) {
    let api: Api<BundleDeployment> = Api::namespaced(cx.upstream.client.clone(), &cx.upstream.namespace);
    let mirror = cx.deployments.clone();
    let strip = |deployment: &mut BundleDeployment| {
        deployment.spec.staged_options = None;
        if let Some(status) = &mut deployment.status {
            status.display = None;
        }
    };
    let on_change = move |change: Change<BundleDeployment>| {
        let name = change.object().metadata.name.clone().unwrap_or_default();
        let (spec, status) = match &change {
            Change::Deleted(_) => (true, true),
            Change::Applied { old: None, .. } => (true, true),
            Change::Applied { old: Some(old), new } => (is_changed(old, new), old.status != new.status),
        };
        let own = status && cx.echoes.is_own(&name, change.object().status.as_ref());
        if spec || (status && !own) {
            cx.queue.add(name.clone());
        }
        if status {
            for other in cx.deployments.within(&cx.upstream.namespace) {
                let other_name = other.metadata.name.as_deref().unwrap_or_default();
                if other_name != name && deployment::may_wait_for(&other) {
                    cx.queue.add(other_name.to_owned());
                }
            }
        }
    };
    mirror::follow(
        api,
        watcher::Config::default().any_semantic(),
        strip,
        mirror,
        on_change,
        shutdown,
    )
    .await;
}

/// Whether anything but the status changed that the agent acts on.
fn is_changed(old: &BundleDeployment, new: &BundleDeployment) -> bool {
    old.metadata.uid != new.metadata.uid
        || old.metadata.generation != new.metadata.generation
        || old.metadata.labels != new.metadata.labels
        || old.metadata.annotations != new.metadata.annotations
        || old.spec != new.spec
}
