//! BundleDeployment → the texts that tables show, and a way out: the finalizer goes when deletion
//! has begun, so that the agent sees the deletion. Upstream's concept: the bundle deployment
//! controller. Owns `status.display`; everything else in the status is the agent's.

mod act;
mod decide;

use std::sync::Arc;

use fleet_api::{BundleDeployment, BundleDeploymentStatus};
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Change, Error, Key, Queue, Services};

use crate::shell::{Shell, deleting};

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, services: &mut Services) -> Queue<Key> {
    let queue = Queue::<Key>::default();
    let add = queue.clone();
    shell.world.deployments.on(move |change| {
        let Change::Applied { old, new } = change else { return };
        // Like upstream's, the display follows what the agent reports, not what is asked of it:
        // one write per report, none per roll-out.
        let same = old
            .as_ref()
            .is_some_and(|old| reported(old) == reported(new) && deleting(&**old) == deleting(&**new));
        if !same {
            add.add(Key::of(&**new));
        }
    });
    let (shell, run, shutdown) = (shell.clone(), queue.clone(), services.shutdown());
    services.spawn("bundledeployment", async move {
        let workers = shell.settings.workers;
        let call = move |key| reconcile(key, shell.clone());
        controller::run(Options::new("bundledeployment", workers), run, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
    queue
}

/// What the agent wrote.
fn reported(deployment: &BundleDeployment) -> Option<BundleDeploymentStatus> {
    let mut status = deployment.status.clone()?;
    status.display = None;
    Some(status)
}

async fn reconcile(key: Key, shell: Arc<Shell>) -> Result<Action, Error> {
    let Some(deployment) = shell.world.deployments.mirror().at(&key) else {
        return Ok(Action::AwaitChange);
    };
    let plan = decide::decide(&deployment);
    act::act(&deployment, plan, &shell.cx).await
}
