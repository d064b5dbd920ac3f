//! HelmOp → whether it can be followed at all. This version checks a HelmOp and says in its
//! condition `Accepted` what is wrong with it; it makes no bundle yet and says so too.

mod decide;

use std::sync::Arc;

use fleet_api::{HelmOp, condition};
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Error, Key, Queue, Services, write};

use crate::shell::{Shell, deleting, namespace};

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, services: &mut Services) -> Queue<Key> {
    let queue = Queue::<Key>::default();
    let add = queue.clone();
    shell
        .world
        .charts
        .on(move |change| add.add(Key::of(&**change.object())));
    let (shell, run, shutdown) = (shell.clone(), queue.clone(), services.shutdown());
    services.spawn("chart", async move {
        let call = move |key| reconcile(key, shell.clone());
        controller::run(Options::new("chart", 10), run, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
    queue
}

async fn reconcile(key: Key, shell: Arc<Shell>) -> Result<Action, Error> {
    let Some(chart) = shell.world.charts.mirror().at(&key) else {
        return Ok(Action::AwaitChange);
    };
    if deleting(&*chart) {
        return Ok(Action::AwaitChange);
    }
    let problem = decide::problem(&chart.spec).unwrap_or("HelmOps are not followed by this version yet");
    let mut status = chart.status.clone().unwrap_or_default();
    condition::set_error(
        &mut status.base.conditions,
        condition::ACCEPTED,
        "",
        Some(problem),
        shell.cx.now(),
    );
    let api = shell.cx.namespaced::<HelmOp>(namespace(&*chart));
    write::status(&api, &*chart, chart.status.as_ref(), &status).await?;
    Ok(Action::AwaitChange)
}
