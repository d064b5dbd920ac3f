//! ClusterRegistration → a Cluster, an account with exactly the rights of its agent, and a secret
//! with the account's token that only the registering agent can name. Upstream's concept: the
//! cluster registration controller of agent management. A granted request is never looked at
//! again; a newer request of the same client revokes the older ones.

mod act;
mod credentials;
mod decide;
mod gone;
mod observe;
mod report;

use std::sync::Arc;

use fleet_api::{Cluster, ClusterRegistration, labels};
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Change, Error, Key, Queue, Services};

use crate::gone::Gone;
use crate::shell::{Index, Shell, annotation, namespace};

/// The controller's own indexes.
#[derive(Clone, Default)]
pub(crate) struct Indexes {
    /// Clusters by namespace and client.
    clusters: Index,
    /// Requests by namespace and client.
    registrations: Index,
    /// Requests that were deleted and whose objects remain.
    gone: Gone<ClusterRegistration>,
}

fn client(namespace: &str, id: &str) -> Option<String> {
    (!id.is_empty()).then(|| format!("{namespace}/{id}"))
}

fn client_of_cluster(cluster: &Cluster) -> Option<String> {
    client(namespace(cluster), &cluster.spec.client_id)
}

fn client_of_registration(registration: &ClusterRegistration) -> Option<String> {
    client(namespace(registration), &registration.spec.client_id)
}

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, services: &mut Services) -> Queue<Key> {
    let queue = Queue::<Key>::default();
    let indexes = Indexes::default();
    let (add, known) = (queue.clone(), indexes.clone());
    shell.world.registrations.on(move |change| {
        known.registrations.follow(change, client_of_registration);
        if let Change::Deleted(registration) = change {
            known.gone.note(registration.clone());
        }
        add.add(Key::of(&**change.object()));
    });
    let (add, known) = (queue.clone(), indexes.clone());
    shell.world.clusters.on(move |change| {
        known.clusters.follow(change, client_of_cluster);
        let cluster = change.object();
        if let Some(client) = client_of_cluster(cluster) {
            known
                .registrations
                .find(&client)
                .into_iter()
                .for_each(|key| add.add(key));
        }
    });
    let add = queue.clone();
    shell.world.accounts.on(move |change| {
        let account = &**change.object();
        let registration = annotation(account, labels::CLUSTER_REGISTRATION);
        if !registration.is_empty() {
            add.add(Key::new(
                annotation(account, labels::CLUSTER_REGISTRATION_NAMESPACE),
                registration,
            ));
        }
    });
    credentials::start(shell, services);
    let (shell, run, shutdown) = (shell.clone(), queue.clone(), services.shutdown());
    services.spawn("registration", async move {
        let workers = shell.settings.workers;
        let call = move |key| reconcile(key, shell.clone(), indexes.clone());
        controller::run(Options::new("registration", workers), run, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
    queue
}

async fn reconcile(key: Key, shell: Arc<Shell>, indexes: Indexes) -> Result<Action, Error> {
    gone::remove(&key, &indexes.gone, &shell).await?;
    let Some(registration) = shell.world.registrations.mirror().at(&key) else {
        return Ok(Action::AwaitChange);
    };
    if decide::ignored(&registration) {
        return Ok(Action::AwaitChange);
    }
    let facts = observe::observe(&registration, &shell, &indexes).await?;
    let plan = decide::decide(&registration, &facts);
    let done = act::act(&registration, plan, &shell.cx).await;
    report::report(&registration, &done, &shell.cx).await?;
    done.into_action()
}
