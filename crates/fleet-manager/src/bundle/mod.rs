//! Bundle → Content, BundleDeployments, their values, and the Bundle's status. Upstream's concept:
//! the bundle reconciler. Who gets what and how fast is decided in `fleet-plan`; this folder reads
//! what the plan needs, writes what it asks for, and says what came of it.

mod act;
mod copies;
mod deployment;
mod observe;
mod report;

use std::sync::Arc;

use fleet_api::{Bundle, BundleDeployment, labels};
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Change, Error, Key, Services};

use crate::planner::Planner;
use crate::shell::{Index, Shell, label};

/// What the controller knows besides the plan.
#[derive(Clone)]
pub(crate) struct Parts {
    shell: Arc<Shell>,
    planner: Planner,
    /// Deployments by `namespace/name` of their bundle.
    deployments: Index,
    /// Bundles by `namespace/kind/name` of what they copy to clusters.
    copied: Index,
    /// Copies that need no look.
    complete: copies::Complete,
}

fn bundle_of(deployment: &BundleDeployment) -> Option<String> {
    let name = label(deployment, labels::BUNDLE_NAME);
    (!name.is_empty()).then(|| format!("{}/{name}", label(deployment, labels::BUNDLE_NAMESPACE)))
}

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, planner: &Planner, services: &mut Services) {
    let queue = planner.bundles.clone();
    let parts = Parts {
        shell: shell.clone(),
        planner: planner.clone(),
        deployments: Index::default(),
        copied: Index::default(),
        complete: copies::Complete::default(),
    };
    let add = queue.clone();
    shell.world.bundles.on(move |change| {
        // A status that this controller wrote itself changes no decision.
        if let Change::Applied { old: Some(old), new } = change
            && same_but_status(old, new)
        {
            return;
        }
        add.add(Key::of(&**change.object()));
    });
    let (add, known) = (queue.clone(), parts.deployments.clone());
    shell.world.deployments.on(move |change| {
        known.follow(change, bundle_of);
        if let Change::Deleted(old) = change {
            let namespace = label(&**old, labels::BUNDLE_NAMESPACE);
            let name = label(&**old, labels::BUNDLE_NAME);
            if !name.is_empty() {
                add.add(Key::new(namespace, name));
            }
        }
    });
    copies::follow(shell, &queue, &parts.copied);
    let shutdown = services.shutdown();
    services.spawn("bundle", async move {
        let workers = parts.shell.settings.workers;
        let call = move |key| reconcile(key, parts.clone());
        controller::run(Options::new("bundle", workers), queue, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
}

fn same_but_status(old: &Bundle, new: &Bundle) -> bool {
    old.spec == new.spec
        && old.metadata.labels == new.metadata.labels
        && old.metadata.annotations == new.metadata.annotations
        && old.metadata.finalizers == new.metadata.finalizers
        && old.metadata.deletion_timestamp == new.metadata.deletion_timestamp
}

async fn reconcile(key: Key, parts: Parts) -> Result<Action, Error> {
    let Some(bundle) = parts.shell.world.bundles.mirror().at(&key) else {
        parts.planner.forget_bundle(&key);
        return Ok(Action::AwaitChange);
    };
    let facts = observe::observe(&bundle, &parts).await?;
    let done = act::act(&bundle, facts, &parts).await;
    report::report(&bundle, &done, &parts.shell.cx).await?;
    done.into_action()
}
