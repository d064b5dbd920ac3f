//! ClusterRegistrationToken → an account that may ask for registration and nothing else, and a
//! secret with values for the agent's chart. Upstream's concept: the cluster registration token
//! handler of agent management. Expired tokens are deleted.

mod act;
mod decide;
mod gone;
mod observe;
mod report;

use std::sync::Arc;

use fleet_api::{ClusterRegistrationToken, labels};
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Change, Error, Key, Queue, Services};

use crate::gone::Gone;
use crate::shell::{Shell, annotation};

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, services: &mut Services) -> Queue<Key> {
    let queue = Queue::<Key>::default();
    let gone = Gone::<ClusterRegistrationToken>::default();
    let (add, note) = (queue.clone(), gone.clone());
    shell.world.tokens.on(move |change| {
        if let Change::Deleted(token) = change {
            note.note(token.clone());
        }
        add.add(Key::of(&**change.object()));
    });
    let add = queue.clone();
    shell.world.accounts.on(move |change| {
        let account = &**change.object();
        if annotation(account, labels::OBJECT_SET_OWNER_GVK).ends_with("Kind=ClusterRegistrationToken") {
            add.add(Key::new(
                annotation(account, labels::OBJECT_SET_OWNER_NAMESPACE),
                annotation(account, labels::OBJECT_SET_OWNER_NAME),
            ));
        }
    });
    let (shell, run, shutdown) = (shell.clone(), queue.clone(), services.shutdown());
    services.spawn("token", async move {
        let call = move |key| reconcile(key, shell.clone(), gone.clone());
        controller::run(Options::new("token", 10), run, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
    queue
}

async fn reconcile(key: Key, shell: Arc<Shell>, gone: Gone<ClusterRegistrationToken>) -> Result<Action, Error> {
    gone::remove(&key, &gone, &shell).await?;
    let Some(token) = shell.world.tokens.mirror().at(&key) else {
        return Ok(Action::AwaitChange);
    };
    let facts = observe::observe(&token, &shell).await?;
    let plan = decide::decide(&token, &facts, shell.cx.now());
    let done = act::act(&token, plan, &facts, &shell.cx).await;
    report::report(&token, &done, &shell.cx).await?;
    done.into_action()
}
