//! GitRepo → Bundles. Looks for new commits, has them fetched and scanned in a process of their
//! own, writes what came out, and says in the status what happened: a commit that cannot be used
//! leaves the bundles of the last good one in place. Upstream's concept: the gitjob reconciler
//! and its polling job; there is no Kubernetes Job here.

mod access;
mod act;
mod bundles;
mod decide;
mod lookup;
mod memory;
mod observe;
mod report;

use std::sync::Arc;

use fleet_api::{Bundle, GitRepo, labels};
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Change, Error, Key, Queue, Services};
use tokio::sync::Semaphore;

use crate::shell::{Index, Shell, deleting, label, namespace};

/// What the controller knows besides the watches.
#[derive(Clone)]
pub(crate) struct Parts {
    shell: Arc<Shell>,
    lookups: lookup::Lookups,
    memory: memory::Memories,
    /// Bundles by `namespace/name` of their GitRepo.
    bundles: Index,
    /// Bounds the children that fetch and scan.
    work: Arc<Semaphore>,
}

fn repository_of(bundle: &Bundle) -> Option<String> {
    let name = label(bundle, labels::REPO_NAME);
    (!name.is_empty()).then(|| format!("{}/{name}", namespace(bundle)))
}

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, services: &mut Services) -> Queue<Key> {
    let queue = Queue::<Key>::default();
    let parts = Parts {
        shell: shell.clone(),
        lookups: lookup::Lookups::new(shell.settings.git.clone(), shell.settings.git_workers * 2),
        memory: memory::Memories::default(),
        bundles: Index::default(),
        work: Arc::new(Semaphore::new(shell.settings.git_workers.max(1))),
    };
    let add = queue.clone();
    shell.world.repositories.on(move |change| {
        if let Change::Applied { old: Some(old), new } = change
            && same_to_us(old, new)
        {
            return;
        }
        add.add(Key::of(&**change.object()));
    });
    let (add, known) = (queue.clone(), parts.bundles.clone());
    shell.world.bundles.on(move |change| {
        known.follow(change, repository_of);
        if let Change::Deleted(old) = change {
            let name = label(&**old, labels::REPO_NAME);
            if !name.is_empty() {
                add.add(Key::new(namespace(&**old), name));
            }
        }
    });
    access::follow(shell, &queue);
    let again = (shell.world.repositories.mirror(), queue.clone());
    let rules_changed = move |space: &str| {
        for repository in again.0.within(space) {
            again.1.add(Key::of(&*repository));
        }
    };
    let also = rules_changed.clone();
    shell
        .world
        .policies
        .on(move |change| rules_changed(namespace(&**change.object())));
    shell
        .world
        .restrictions
        .on(move |change| also(namespace(&**change.object())));
    let (run, shutdown) = (queue.clone(), services.shutdown());
    services.spawn("gitrepo", async move {
        let workers = parts.shell.settings.workers;
        let call = move |key| reconcile(key, parts.clone());
        controller::run(Options::new("gitrepo", workers), run, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
    queue
}

/// Whether only parts of the status changed that this controller or the roll-up wrote.
fn same_to_us(old: &GitRepo, new: &GitRepo) -> bool {
    let told = |repository: &GitRepo| {
        repository
            .status
            .as_ref()
            .map(|status| status.webhook_commit.clone())
            .unwrap_or_default()
    };
    old.spec == new.spec
        && old.metadata.labels == new.metadata.labels
        && old.metadata.finalizers == new.metadata.finalizers
        && deleting(old) == deleting(new)
        && told(old) == told(new)
}

async fn reconcile(key: Key, parts: Parts) -> Result<Action, Error> {
    let Some(repository) = parts.shell.world.repositories.mirror().at(&key) else {
        parts.memory.forget(&key);
        return Ok(Action::AwaitChange);
    };
    let facts = observe::observe(&repository, &parts).await?;
    let plan = decide::decide(&repository, &facts, parts.shell.cx.now());
    let done = act::act(&repository, plan, &facts, &parts).await;
    report::report(&repository, &facts, &done, &parts).await?;
    done.into_action()
}
