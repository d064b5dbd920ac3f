//! Roll back: the objects of an earlier revision as a new revision.

use fleet_api::chain::chain;
use helm::release::{Info, Release, Status};

use crate::release::change::change;
use crate::release::item::recorded;
use crate::release::{Error, Mode, Ports, hooks, record, wait};
use crate::store::History;
use crate::write::Method;

/// From where to where a release goes back, and how its objects are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Revision whose manifest is applied.
    pub(crate) to: i64,
    /// The last revision.
    pub(crate) last: i64,
    /// How.
    pub(crate) method: Method,
    /// Whether objects must become ready.
    pub(crate) wait: bool,
}

/// Rolls back. The record of the new revision.
pub(crate) async fn roll_back(ports: &Ports, mode: &Mode, history: &History, way: Way) -> Result<Release, Error> {
    let find = |number: i64| history.find(number).ok_or(Error::Gone(number));
    let (good, current) = (find(way.to)?, find(way.last)?);
    let new = recorded(ports, good).await?;
    let old = recorded(ports, current).await?;
    let mut draft = draft(ports, good, current, way);
    let description = format!("Rollback to {}", way.to);
    record::begin(ports, &mut draft, Status::PendingRollback, description.clone()).await?;
    let outcome = async {
        hooks::run(ports, &mut draft, "pre-rollback", mode).await?;
        change(&ports.cluster, way.method, &new, &old).await?;
        if way.wait {
            wait::ready(ports, &new, mode).await?;
        }
        hooks::run(ports, &mut draft, "post-rollback", mode).await?;
        Ok::<(), Error>(())
    }
    .await;
    if let Err(error) = outcome {
        let description = format!("Rollback \"{}\" failed: {}", draft.name, chain(&error));
        if current.info.status.is_pending() {
            record::set(ports, &mut current.clone(), Status::Superseded).await?;
        }
        record::end(ports, &mut draft, Status::Failed, description).await?;
        return Err(error);
    }
    for other in history.all().filter(|other| other.info.status == Status::Deployed) {
        record::set(ports, &mut other.clone(), Status::Superseded).await?;
    }
    record::end(ports, &mut draft, Status::Deployed, description).await?;
    Ok(draft)
}

fn draft(ports: &Ports, good: &Release, current: &Release, way: Way) -> Release {
    Release {
        version: way.last + 1,
        apply_method: way.method.word().to_owned(),
        info: Info {
            first_deployed: current.info.first_deployed.clone(),
            last_deployed: Some(ports.stamp()),
            notes: good.info.notes.clone(),
            ..Info::default()
        },
        ..good.clone()
    }
}
