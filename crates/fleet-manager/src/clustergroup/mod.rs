//! ClusterGroup → what its clusters add up to. Upstream's concept: the cluster group controller.

use std::sync::Arc;

use fleet_api::{ClusterGroup, condition};
use fleet_plan::{GroupKey, GroupRollup};
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Error, Key, Services, write};

use crate::cluster::ready;
use crate::planner::Planner;
use crate::shell::{Shell, deleting, namespace};

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, planner: &Planner, services: &mut Services) {
    let queue = planner.groups.clone();
    let add = queue.clone();
    shell
        .world
        .groups
        .on(move |change| add.add(Key::of(&**change.object())));
    let (shell, planner, shutdown) = (shell.clone(), planner.clone(), services.shutdown());
    services.spawn("clustergroup", async move {
        let call = move |key| reconcile(key, shell.clone(), planner.clone());
        controller::run(Options::new("clustergroup", 10), queue, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
}

async fn reconcile(key: Key, shell: Arc<Shell>, planner: Planner) -> Result<Action, Error> {
    let Some(group) = shell.world.groups.mirror().at(&key) else {
        return Ok(Action::AwaitChange);
    };
    let asked = GroupKey::new(&key.namespace, &key.name);
    let Some(rollup) = planner
        .ask(|state| state.group_rollup(&asked))
        .filter(|_| !deleting(&*group))
    else {
        return Ok(Action::AwaitChange);
    };
    let GroupRollup {
        mut status,
        ready_message,
    } = rollup;
    let now = shell.cx.now();
    status.conditions = group
        .status
        .as_ref()
        .map(|status| status.conditions.clone())
        .unwrap_or_default();
    condition::set(&mut status.conditions, condition::PROCESSED, ready(""), now);
    condition::set(&mut status.conditions, condition::READY, ready(&ready_message), now);
    let api = shell.cx.namespaced::<ClusterGroup>(namespace(&*group));
    write::status(&api, &*group, group.status.as_ref(), &status).await?;
    Ok(Action::AwaitChange)
}
