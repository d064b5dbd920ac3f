//! A roll-up and the bundles of a GitRepo → its status. Pure.

use std::sync::Arc;

use fleet_api::{Bundle, GitRepo, GitRepoStatus, condition};
use fleet_plan::SourceRollup;
use k8s_openapi::jiff::Timestamp;

use crate::cluster::ready;
use crate::shell::uid;

pub(super) fn status(
    repository: &GitRepo,
    rollup: SourceRollup,
    bundles: &[Arc<Bundle>],
    now: Timestamp,
) -> GitRepoStatus {
    let mut status = repository.status.clone().unwrap_or_default();
    let conditions = std::mem::take(&mut status.base.conditions);
    let SourceRollup {
        status: base,
        ready_message,
    } = rollup;
    status.base = base;
    status.base.conditions = conditions;
    if !status.git_job_status.is_empty() && status.git_job_status != "Current" {
        "GitUpdating".clone_into(&mut status.base.display.state);
    }
    // The first bundle that is not ready knows better than a sum over all of them.
    let mut waiting: Vec<&Arc<Bundle>> = bundles
        .iter()
        .filter(|bundle| {
            bundle
                .status
                .as_ref()
                .is_some_and(|each| condition::is_false(&each.conditions, condition::READY))
        })
        .collect();
    waiting.sort_by(|a, b| uid(&***a).cmp(uid(&***b)));
    let first = waiting.first().and_then(|bundle| bundle.status.as_ref());
    match first.and_then(|each| condition::find(&each.conditions, condition::READY)) {
        Some(theirs) => {
            let setting = condition::Setting {
                status: &theirs.status,
                reason: &theirs.reason,
                message: &theirs.message,
            };
            condition::set(&mut status.base.conditions, condition::READY, setting, now);
        }
        None => condition::set(
            &mut status.base.conditions,
            condition::READY,
            ready(&ready_message),
            now,
        ),
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bundle_that_is_not_ready_speaks() {
        let now = Timestamp::UNIX_EPOCH;
        let bundle = |id: &str, message: &str| {
            let mut bundle = Bundle::named(id);
            bundle.metadata.uid = Some(id.to_owned());
            let status = bundle.status.get_or_insert_default();
            condition::set(&mut status.conditions, condition::READY, ready(message), now);
            Arc::new(bundle)
        };
        let shown = |bundles: &[Arc<Bundle>]| {
            let status = status(&GitRepo::named("r"), SourceRollup::default(), bundles, now);
            condition::message(&status.base.conditions, condition::READY).to_owned()
        };
        assert_eq!(
            shown(&[bundle("b", "later"), bundle("a", "first"), bundle("0", "")]),
            "first"
        );
        assert_eq!(shown(&[bundle("b", "")]), "");
    }
}
