//! Content → how many deployments name it; one that nobody names any more is deleted. Upstream's
//! concept: the content controller. Counting waits a moment, so that a roll-out to many clusters
//! is a few writes and not one per cluster.

mod act;
mod decide;

use std::sync::Arc;
use std::time::Duration;

use fleet_api::{BundleDeployment, labels};
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Change, Error, Key, Queue, Services};

use crate::shell::{Index, Shell, deleting, label};

/// Changes within this time are counted together.
const MOMENT: Duration = Duration::from_millis(500);

fn content_of(deployment: &BundleDeployment) -> Option<String> {
    let content = label(deployment, labels::CONTENT_NAME);
    (!content.is_empty() && !deleting(deployment)).then(|| content.to_owned())
}

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, services: &mut Services) -> Queue<Key> {
    let queue = Queue::<Key>::default();
    let users = Index::default();
    let (add, known) = (queue.clone(), users.clone());
    shell.world.deployments.on(move |change| {
        known.follow(change, content_of);
        let (old, new) = match change {
            Change::Applied { old, new } => (old.as_ref().and_then(|old| content_of(old)), content_of(new)),
            Change::Deleted(old) => (content_of(old), None),
        };
        if old != new {
            for content in old.into_iter().chain(new) {
                add.add_after(Key::new("", &content), MOMENT);
            }
        }
    });
    let add = queue.clone();
    shell
        .world
        .contents
        .on(move |change| add.add_after(Key::of(&**change.object()), MOMENT));
    let (shell, run, shutdown) = (shell.clone(), queue.clone(), services.shutdown());
    services.spawn("content", async move {
        let call = move |key| reconcile(key, shell.clone(), users.clone());
        controller::run(Options::new("content", 10), run, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
    queue
}

async fn reconcile(key: Key, shell: Arc<Shell>, users: Index) -> Result<Action, Error> {
    let Some(content) = shell.world.contents.mirror().at(&key) else {
        return Ok(Action::AwaitChange);
    };
    let count = users.find(&key.name).len();
    let plan = decide::decide(&content, count, shell.cx.now());
    act::act(&content, plan, &shell.cx).await
}
