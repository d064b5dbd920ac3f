//! Cluster → the namespace on the manager in which its deployments live. Upstream's concept: the
//! cluster controller of agent management. A namespace that vanishes comes back; the name is
//! decided once and never changes.

mod act;
mod decide;
mod observe;
mod report;

use std::sync::Arc;

use fleet_api::labels;
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Error, Key, Queue, Services};

use crate::shell::{Shell, annotation};

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, services: &mut Services) -> Queue<Key> {
    let queue = Queue::<Key>::default();
    let add = queue.clone();
    shell
        .world
        .clusters
        .on(move |change| add.add(Key::of(&**change.object())));
    let add = queue.clone();
    shell.world.namespaces.on(move |change| {
        let namespace = &**change.object();
        let cluster = annotation(namespace, labels::CLUSTER);
        if !cluster.is_empty() {
            add.add(Key::new(annotation(namespace, labels::CLUSTER_NAMESPACE), cluster));
        }
    });
    let (shell, run, shutdown) = (shell.clone(), queue.clone(), services.shutdown());
    services.spawn("cluster namespace", async move {
        let workers = shell.settings.workers;
        let call = move |key| reconcile(key, shell.clone());
        controller::run(Options::new("cluster namespace", workers), run, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
    queue
}

async fn reconcile(key: Key, shell: Arc<Shell>) -> Result<Action, Error> {
    let Some(cluster) = shell.world.clusters.mirror().at(&key) else {
        return Ok(Action::AwaitChange);
    };
    let facts = observe::observe(&cluster, &shell);
    let Some(plan) = decide::decide(&cluster, &facts) else {
        return Ok(Action::AwaitChange);
    };
    let done = act::act(plan, &shell.cx).await;
    report::report(&cluster, &done, &shell).await?;
    done.into_action()
}
