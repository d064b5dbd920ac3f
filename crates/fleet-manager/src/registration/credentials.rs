//! Credentials on their way to agents do not lie around: 40 minutes after it was made, a
//! credential secret is deleted, fetched or not.

use std::sync::Arc;
use std::time::Duration;

use fleet_api::labels;
use fleet_runtime::clock::between;
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Error, Key, Mirror, Queue, Services, mirror, write};
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::watcher;

use crate::shell::{Shell, namespace};

/// Longer than an agent waits for its credential.
const LIFE: Duration = Duration::from_secs(40 * 60);

pub(super) fn start(shell: &Arc<Shell>, services: &mut Services) {
    let known = Mirror::<Secret>::default();
    let queue = Queue::<Key>::default();
    let config = watcher::Config::default().labels(labels::CLUSTER);
    let strip = |secret: &mut Secret| secret.data = None;
    let api = shell.cx.namespaced::<Secret>(&shell.settings.registration_namespace());
    let (add, kept, shutdown) = (queue.clone(), known.clone(), services.shutdown());
    services.spawn("credentials watch", async move {
        mirror::follow(
            api,
            config,
            strip,
            kept,
            move |change| add.add(Key::of(&**change.object())),
            shutdown,
        )
        .await;
        Ok::<(), std::convert::Infallible>(())
    });
    let (shell, shutdown) = (shell.clone(), services.shutdown());
    services.spawn("credentials", async move {
        let call = move |key| expire(key, known.clone(), shell.clone());
        controller::run(Options::new("credentials", 4), queue, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
}

async fn expire(key: Key, known: Mirror<Secret>, shell: Arc<Shell>) -> Result<Action, Error> {
    let Some(secret) = known.at(&key) else {
        return Ok(Action::AwaitChange);
    };
    let now = shell.cx.now();
    let age = secret
        .metadata
        .creation_timestamp
        .as_ref()
        .map_or(Duration::ZERO, |made| between(made.0, now));
    if age <= LIFE {
        return Ok(Action::After(LIFE - age + Duration::from_secs(1)));
    }
    write::delete(&shell.cx.namespaced::<Secret>(namespace(&*secret)), &*secret).await?;
    Ok(Action::AwaitChange)
}
