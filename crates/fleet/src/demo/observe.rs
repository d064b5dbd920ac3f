//! Watches the manager's objects and says when the picture may have changed.

use std::sync::Arc;

use fleet_api::{Bundle, BundleDeployment, Cluster, GitRepo};
use futures::{StreamExt as _, TryStreamExt as _};
use kube::runtime::reflector::{self, Store};
use kube::runtime::watcher::{self, DefaultBackoff};
use kube::runtime::{WatchStreamExt as _, watcher as watch};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::snapshot::Objects;

/// The manager's objects, kept current.
pub(crate) struct Observer {
    git_repos: Store<GitRepo>,
    bundles: Store<Bundle>,
    deployments: Store<BundleDeployment>,
    clusters: Store<Cluster>,
    changed: Arc<Notify>,
    _watches: JoinSet<()>,
}

impl Observer {
    /// Starts watching. The watches end with this value.
    pub(crate) fn start(client: &Client) -> Self {
        let changed = Arc::new(Notify::new());
        let mut watches = JoinSet::new();
        Self {
            git_repos: follow(client, &changed, &mut watches),
            bundles: follow(client, &changed, &mut watches),
            deployments: follow(client, &changed, &mut watches),
            clusters: follow(client, &changed, &mut watches),
            changed,
            _watches: watches,
        }
    }

    /// Resolves when something changed since the last call.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// What there is now, of the GitRepo with this name.
    pub(crate) fn objects(&self, git_repo: &str) -> Objects {
        let named = |found: &Arc<GitRepo>| found.metadata.name.as_deref() == Some(git_repo);
        let of_repository = |labels: Option<&std::collections::BTreeMap<String, String>>| {
            labels
                .and_then(|labels| labels.get("fleet.cattle.io/repo-name"))
                .is_some_and(|name| name == git_repo)
        };
        Objects {
            git_repo: self.git_repos.state().into_iter().find(named).map(Arc::unwrap_or_clone),
            bundles: unwrap(self.bundles.state(), |found| {
                of_repository(found.metadata.labels.as_ref())
            }),
            deployments: unwrap(self.deployments.state(), |found| {
                of_repository(found.metadata.labels.as_ref())
            }),
            clusters: unwrap(self.clusters.state(), |_| true),
        }
    }
}

fn unwrap<K: Clone>(objects: Vec<Arc<K>>, wanted: impl Fn(&K) -> bool) -> Vec<K> {
    objects
        .into_iter()
        .filter(|found| wanted(found))
        .map(Arc::unwrap_or_clone)
        .collect()
}

fn follow<K>(client: &Client, changed: &Arc<Notify>, watches: &mut JoinSet<()>) -> Store<K>
where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + DeserializeOwned + Send + Sync + 'static,
{
    let (store, writer) = reflector::store();
    let changed = changed.clone();
    let stream = watch(Api::<K>::all(client.clone()), watcher::Config::default())
        .backoff(DefaultBackoff::default())
        .reflect(writer)
        .map_err(|error| tracing::debug!(%error, "watch"));
    watches.spawn(stream.for_each(move |_| {
        changed.notify_one();
        std::future::ready(())
    }));
    store
}
