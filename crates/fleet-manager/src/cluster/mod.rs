//! Cluster → what its deployments add up to, and its removal: agent bundle, namespace, finalizer.
//! Upstream's concept: the cluster controller of fleet-controller. Owns every part of the status
//! but `namespace`, `agent` and what belongs to the installation of agents.

mod act;
mod decide;
mod observe;
mod report;

pub(crate) use decide::ready;

use std::sync::Arc;

use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Error, Key, Services};

use crate::planner::Planner;
use crate::shell::Shell;

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, planner: &Planner, services: &mut Services) {
    let queue = planner.clusters.clone();
    let add = queue.clone();
    shell
        .world
        .clusters
        .on(move |change| add.add(Key::of(&**change.object())));
    let (shell, planner, shutdown) = (shell.clone(), planner.clone(), services.shutdown());
    services.spawn("cluster", async move {
        let workers = shell.settings.workers;
        let call = move |key| reconcile(key, shell.clone(), planner.clone());
        controller::run(Options::new("cluster", workers), queue, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
}

async fn reconcile(key: Key, shell: Arc<Shell>, planner: Planner) -> Result<Action, Error> {
    let Some(cluster) = shell.world.clusters.mirror().at(&key) else {
        return Ok(Action::AwaitChange);
    };
    let facts = observe::observe(&key, &planner);
    let plan = decide::decide(&cluster, facts, shell.cx.now());
    let done = act::act(&cluster, plan, &shell.cx).await;
    report::report(&cluster, &done, &shell.cx).await?;
    done.into_action()
}
