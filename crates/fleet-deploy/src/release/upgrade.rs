//! Upgrade: the next revision over the objects of the one that is there.

use fleet_api::chain::chain;
use helm::release::{Release, Status};
use helm::step;

use crate::release::change::change;
use crate::release::item::{recorded, wanted};
use crate::release::rollback::{Way, roll_back};
use crate::release::{Deployed, Error, Mode, Ports, Target, hooks, record, wait};
use crate::store::{self, History};
use crate::write::Method;

/// From which revision to which.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// Revision whose objects are there.
    pub(crate) base: i64,
    /// The new revision.
    pub(crate) revision: i64,
}

/// Upgrades to the target.
pub(crate) async fn upgrade(
    ports: &Ports,
    target: &Target,
    mode: &Mode,
    history: &History,
    numbers: Numbers,
) -> Result<Deployed, Error> {
    let base = history.find(numbers.base).ok_or(Error::Gone(numbers.base))?;
    let method = method(mode, base);
    let new = wanted(ports, target).await?;
    let old = recorded(ports, base).await?;
    let pruned = prune(ports, target, history, mode.max_history).await?;
    let mut draft = record::draft(ports, target, numbers.revision, Some(base))?;
    draft.apply_method = method.word().to_owned();
    record::begin(
        ports,
        &mut draft,
        Status::PendingUpgrade,
        "Preparing upgrade".to_owned(),
    )
    .await?;
    let outcome = async {
        run_hooks(ports, &mut draft, "pre-upgrade", mode).await?;
        let changed = change(&ports.cluster, method, &new, &old).await?;
        if mode.wait {
            wait::ready(ports, &new, mode).await?;
        }
        run_hooks(ports, &mut draft, "post-upgrade", mode).await?;
        Ok::<_, Error>(changed)
    }
    .await;
    match outcome {
        Ok(changed) => {
            if !pruned.contains(&base.version) {
                record::set(ports, &mut base.clone(), Status::Superseded).await?;
            }
            draft.info.notes.clone_from(&target.notes);
            record::end(ports, &mut draft, Status::Deployed, "Upgrade complete".to_owned()).await?;
            Ok(Deployed {
                release: draft,
                live: (!mode.wait && changed.removed == 0).then_some(changed.live),
            })
        }
        Err(error) => Err(fail(ports, mode, draft, error).await?),
    }
}

/// A release stays with the way it was begun.
fn method(mode: &Mode, base: &Release) -> Method {
    match (mode.force, base.server_side()) {
        (true, _) => Method::Replace,
        (false, true) => Method::ServerSide,
        (false, false) => Method::ClientSide,
    }
}

async fn run_hooks(ports: &Ports, draft: &mut Release, event: &'static str, mode: &Mode) -> Result<(), Error> {
    let failed = |source| Error::UpgradeHook {
        event,
        source: Box::new(source),
    };
    hooks::run(ports, draft, event, mode).await.map_err(failed)
}

/// Removes old revisions so that one more fits. Those that went.
async fn prune(ports: &Ports, target: &Target, history: &History, max: usize) -> Result<Vec<i64>, Error> {
    if max == 0 {
        return Ok(Vec::new());
    }
    let surplus = step::surplus(&history.revisions(), max - 1);
    for number in &surplus {
        store::delete(&ports.cluster, &target.namespace, &target.name, *number).await?;
    }
    Ok(surplus)
}

/// Notes the failure and, if that is wanted, goes back to the last good revision. The error to
/// tell.
async fn fail(ports: &Ports, mode: &Mode, mut draft: Release, error: Error) -> Result<Error, Error> {
    let cause = chain(&error);
    let what = if matches!(error, Error::Wait(_)) {
        "Release"
    } else {
        "Upgrade"
    };
    let description = format!("{what} \"{}\" failed: {cause}", draft.name);
    record::end(ports, &mut draft, Status::Failed, description).await?;
    if !mode.atomic {
        return Ok(error);
    }
    let history = store::history(&ports.agent, &draft.namespace, &draft.name).await?;
    let Some(good) = step::last_good(&history.revisions()) else {
        return Ok(Error::NothingToRollBackTo(cause));
    };
    let way = Way {
        to: good,
        last: draft.version,
        method: history.find(good).map_or(Method::ServerSide, |good| method(mode, good)),
        wait: mode.wait,
    };
    Ok(match roll_back(ports, mode, &history, way).await {
        Ok(_) => Error::RolledBack {
            name: draft.name,
            cause,
        },
        Err(failure) => Error::NotRolledBack {
            cause,
            failure: chain(&failure),
        },
    })
}
