//! The one place that owns `fleet-plan`'s state: watches feed it, controllers ask it, and what it
//! calls dirty goes into their queues. Never awaits while it holds the state.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fleet_api::{Bundle, BundleDeployment};
use fleet_plan::{
    BundleKey, ClusterKey, DeploymentKey, Dirty, Event, GroupKey, MappingKey, SourceKey, SourceKind, State,
};
use fleet_runtime::{Change, Key, Queue};

use crate::policy;
use crate::shell::Shell;

/// Changes that only move counts are gathered this long, so that a thousand reports of agents
/// are a few status writes.
const GATHER: Duration = Duration::from_millis(250);

/// The state and the queues of those who ask it.
#[derive(Clone, Default)]
pub(crate) struct Planner {
    state: Arc<Mutex<State>>,
    pub(crate) bundles: Queue<Key>,
    pub(crate) clusters: Queue<Key>,
    pub(crate) groups: Queue<Key>,
    pub(crate) repositories: Queue<Key>,
}

/// Which events a process can and needs to feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Everything: bundles are planned here.
    Plan,
    /// Deployments and sources: only roll-ups of sources are asked for.
    Sources,
}

impl Planner {
    /// Feeds the state from the watches.
    pub(crate) fn start(shell: &Arc<Shell>, scope: Scope) -> Self {
        let planner = Self::default();
        planner.follow_sources(shell, scope);
        if scope == Scope::Plan {
            planner.follow_clusters(shell);
            planner.follow_policies(shell);
        }
        planner
    }

    /// Reads the state.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&mut State) -> T) -> T {
        question(&mut self.lock())
    }

    /// Takes in a bundle with its values in place; tells nobody, because the caller is about to
    /// look at it anyway.
    pub(crate) fn take_bundle(&self, bundle: &Bundle, manifest: &str) {
        let key = Key::of(bundle);
        let mut dirty = self.lock().apply(Event::Bundle { bundle, manifest });
        dirty.bundles.remove(&BundleKey::new(key.namespace, key.name));
        self.route(dirty, Duration::ZERO);
    }

    /// Takes in a deployment that was just written, ahead of the watch.
    pub(crate) fn take_deployment(&self, deployment: &BundleDeployment) {
        self.apply(Event::Deployment(deployment), GATHER);
    }

    /// Forgets a bundle.
    pub(crate) fn forget_bundle(&self, key: &Key) {
        self.apply(Event::BundleDeleted(&BundleKey::new(&key.namespace, &key.name)), GATHER);
    }

    fn apply(&self, event: Event<'_>, delay: Duration) {
        let dirty = self.lock().apply(event);
        self.route(dirty, delay);
    }

    fn route(&self, dirty: Dirty, delay: Duration) {
        let Dirty {
            bundles,
            clusters,
            groups,
            sources,
            contents: _,
            deployments: _,
        } = dirty;
        for key in bundles {
            self.bundles.add_after(Key::new(&key.namespace, &key.name), delay);
        }
        for key in clusters {
            self.clusters
                .add_after(Key::new(&key.namespace, &key.name), delay.max(GATHER));
        }
        for key in groups {
            self.groups
                .add_after(Key::new(&key.namespace, &key.name), delay.max(GATHER));
        }
        for key in sources {
            if key.kind == SourceKind::GitRepo {
                self.repositories
                    .add_after(Key::new(&key.namespace, &key.name), delay.max(GATHER));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow_sources(&self, shell: &Arc<Shell>, scope: Scope) {
        let planner = self.clone();
        shell.world.deployments.on(move |change| match change {
            Change::Applied { new, .. } => planner.apply(Event::Deployment(new), GATHER),
            Change::Deleted(old) => {
                let key = Key::of(&**old);
                planner.apply(
                    Event::DeploymentDeleted(&DeploymentKey::new(key.namespace, key.name)),
                    Duration::ZERO,
                );
            }
        });
        let planner = self.clone();
        shell
            .world
            .repositories
            .on(move |change| planner.source(SourceKind::GitRepo, change));
        if scope == Scope::Plan {
            let planner = self.clone();
            shell
                .world
                .charts
                .on(move |change| planner.source(SourceKind::HelmOp, change));
        }
    }

    fn source<K: kube::Resource>(&self, kind: SourceKind, change: &Change<K>) {
        let key = Key::of(&**change.object());
        let source = SourceKey::new(kind, key.namespace, key.name);
        match change {
            Change::Applied { .. } => self.apply(Event::Source(&source), GATHER),
            Change::Deleted(_) => self.apply(Event::SourceDeleted(&source), GATHER),
        }
    }

    fn follow_clusters(&self, shell: &Arc<Shell>) {
        let planner = self.clone();
        shell.world.clusters.on(move |change| match change {
            Change::Applied { new, .. } => planner.apply(Event::Cluster(new), Duration::ZERO),
            Change::Deleted(old) => {
                let key = Key::of(&**old);
                planner.apply(
                    Event::ClusterDeleted(&ClusterKey::new(key.namespace, key.name)),
                    Duration::ZERO,
                );
            }
        });
        let planner = self.clone();
        shell.world.groups.on(move |change| match change {
            Change::Applied { new, .. } => planner.apply(Event::Group(new), Duration::ZERO),
            Change::Deleted(old) => {
                let key = Key::of(&**old);
                planner.apply(
                    Event::GroupDeleted(&GroupKey::new(key.namespace, key.name)),
                    Duration::ZERO,
                );
            }
        });
        let planner = self.clone();
        shell.world.mappings.on(move |change| match change {
            Change::Applied { new, .. } => planner.apply(Event::Mapping(new), Duration::ZERO),
            Change::Deleted(old) => {
                let key = Key::of(&**old);
                planner.apply(
                    Event::MappingDeleted(&MappingKey::new(key.namespace, key.name)),
                    Duration::ZERO,
                );
            }
        });
        let planner = self.clone();
        shell.world.namespaces.on(move |change| {
            let name = crate::shell::name(&**change.object());
            match change {
                Change::Applied { new, .. } => {
                    let empty = BTreeMap::new();
                    let labels = new.metadata.labels.as_ref().unwrap_or(&empty);
                    planner.apply(Event::Namespace { name, labels }, Duration::ZERO);
                }
                Change::Deleted(_) => planner.apply(Event::NamespaceDeleted(name), Duration::ZERO),
            }
        });
    }

    fn follow_policies(&self, shell: &Arc<Shell>) {
        let (policies, restrictions) = (shell.world.policies.mirror(), shell.world.restrictions.mirror());
        let planner = self.clone();
        let changed = move |namespace: &str| {
            let rules = policy::Rules::new(&policies.within(namespace), &restrictions.within(namespace));
            planner.apply(
                Event::Policy {
                    namespace,
                    policy: rules.for_deployments(),
                },
                Duration::ZERO,
            );
        };
        let again = changed.clone();
        shell
            .world
            .policies
            .on(move |change| changed(crate::shell::namespace(&**change.object())));
        shell
            .world
            .restrictions
            .on(move |change| again(crate::shell::namespace(&**change.object())));
    }
}
