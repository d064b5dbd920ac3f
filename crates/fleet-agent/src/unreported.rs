//! What was done and could not be told: the statuses whose write failed, by deployment. The next
//! try goes on from them, so that a manager that is away for a while is told once it is back and
//! nothing is deployed a second time. Kept in memory only: after a restart of the agent a
//! deployment whose status was lost is deployed again, as the release records alone cannot tell.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use fleet_api::{BundleDeployment, BundleDeploymentStatus};

/// Statuses that the manager does not know yet, by name; each with the uid of its deployment.
#[derive(Default)]
pub(crate) struct Unreported {
    statuses: Mutex<BTreeMap<String, (Option<String>, BundleDeploymentStatus)>>,
}

impl Unreported {
    /// The deployment with the status that this agent knows to be true: what could not be told, else what is stored.
    pub(crate) fn over(&self, stored: &BundleDeployment) -> BundleDeployment {
        let mut deployment = stored.clone();
        let statuses = self.statuses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((uid, status)) = statuses.get(name(stored))
            && *uid == stored.metadata.uid
        {
            deployment.status = Some(status.clone());
        }
        deployment
    }

    /// The write of this status failed.
    pub(crate) fn keep(&self, stored: &BundleDeployment, status: BundleDeploymentStatus) {
        let mut statuses = self.statuses.lock().unwrap_or_else(PoisonError::into_inner);
        statuses.insert(name(stored).to_owned(), (stored.metadata.uid.clone(), status));
    }

    /// The manager knows all there is to know, or the deployment is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.statuses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
    }
}

fn name(deployment: &BundleDeployment) -> &str {
    deployment.metadata.name.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(uid: &str) -> BundleDeployment {
        let mut deployment = BundleDeployment::named("web");
        deployment.metadata.uid = Some(uid.to_owned());
        deployment
    }

    fn applied(id: &str) -> BundleDeploymentStatus {
        BundleDeploymentStatus {
            applied_deployment_id: id.to_owned(),
            ..BundleDeploymentStatus::default()
        }
    }

    #[test]
    fn what_could_not_be_told_is_known_until_it_is() {
        let unreported = Unreported::default();
        unreported.keep(&deployment("1"), applied("a:1"));
        assert_eq!(unreported.over(&deployment("1")).status, Some(applied("a:1")));
        unreported.forget("web");
        assert_eq!(unreported.over(&deployment("1")).status, None);
    }

    #[test]
    fn a_deployment_made_anew_has_nothing_unreported() {
        let unreported = Unreported::default();
        unreported.keep(&deployment("1"), applied("a:1"));
        assert_eq!(unreported.over(&deployment("2")).status, None);
    }
}
