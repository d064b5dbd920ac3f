//! GitRepo → what its deployments add up to, and whether it is ready. Upstream's concept: the
//! GitRepo status controller. Owns the roll-up and the condition `Ready`.

mod decide;

use std::sync::Arc;

use fleet_api::{Bundle, GitRepo, labels};
use fleet_plan::{SourceKey, SourceKind};
use fleet_runtime::controller::{self, Options};
use fleet_runtime::{Action, Error, Key, Services, write};

use crate::planner::Planner;
use crate::policy::Rules;
use crate::shell::{Index, Shell, deleting, label, name, namespace};

fn repository_of(bundle: &Bundle) -> Option<String> {
    let name = label(bundle, labels::REPO_NAME);
    (!name.is_empty()).then(|| format!("{}/{name}", namespace(bundle)))
}

/// Changes within this time are told together.
const GATHER: std::time::Duration = std::time::Duration::from_millis(500);

/// Starts the controller.
pub(crate) fn start(shell: &Arc<Shell>, planner: &Planner, services: &mut Services) {
    let queue = planner.repositories.clone();
    let bundles = Index::default();
    let add = queue.clone();
    shell
        .world
        .repositories
        .on(move |change| add.add_after(Key::of(&**change.object()), GATHER));
    let (add, known) = (queue.clone(), bundles.clone());
    shell.world.bundles.on(move |change| {
        known.follow(change, repository_of);
        let bundle = &**change.object();
        let repository = label(bundle, labels::REPO_NAME);
        if !repository.is_empty() {
            add.add_after(Key::new(namespace(bundle), repository), GATHER);
        }
    });
    let (shell, planner, shutdown) = (shell.clone(), planner.clone(), services.shutdown());
    services.spawn("gitrepo status", async move {
        let workers = shell.settings.workers;
        let call = move |key| reconcile(key, shell.clone(), planner.clone(), bundles.clone());
        controller::run(Options::new("gitrepo status", workers), queue, call, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
}

async fn reconcile(key: Key, shell: Arc<Shell>, planner: Planner, index: Index) -> Result<Action, Error> {
    let Some(repository) = shell.world.repositories.mirror().at(&key) else {
        return Ok(Action::AwaitChange);
    };
    if deleting(&*repository) || repository.spec.repo.is_empty() {
        return Ok(Action::AwaitChange);
    }
    let world = &shell.world;
    let rules = Rules::new(
        &world.policies.mirror().within(&key.namespace),
        &world.restrictions.mirror().within(&key.namespace),
    );
    if rules.check_repository(&repository.spec).is_err() {
        // Nothing of it is deployed as it stands; what it says is why.
        return Ok(Action::AwaitChange);
    }
    let source = SourceKey::new(SourceKind::GitRepo, key.namespace.clone(), key.name.clone());
    let Some(rollup) = planner.ask(|state| state.source_rollup(&source)) else {
        return Ok(Action::AwaitChange);
    };
    let mirror = shell.world.bundles.mirror();
    let keys = index.find(&format!("{}/{}", namespace(&*repository), name(&*repository)));
    let bundles: Vec<Arc<Bundle>> = keys.iter().filter_map(|key| mirror.at(key)).collect();
    let status = decide::status(&repository, rollup, &bundles, shell.cx.now());
    let api = shell.cx.namespaced::<GitRepo>(namespace(&*repository));
    if let Some(stored) = write::status_at(&api, &*repository, repository.status.as_ref(), &status).await? {
        shell.world.repositories.mirror().note(stored);
    }
    Ok(Action::AwaitChange)
}
