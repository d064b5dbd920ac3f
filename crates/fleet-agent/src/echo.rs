//! Own status writes that the watch brings back. A status that this agent wrote itself is no news
//! to it, and looking at a release again for it would ask the cluster twice for everything.
//! Remembers a status from just before its write until its echo; any other status of the
//! deployment, whoever wrote it, is news.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use fleet_api::BundleDeploymentStatus;

/// Statuses on their way, by name of the deployment.
#[derive(Default)]
pub(crate) struct Echoes {
    expected: Mutex<BTreeMap<String, BundleDeploymentStatus>>,
}

impl Echoes {
    /// This status is about to be written.
    pub(crate) fn expect(&self, name: &str, status: &BundleDeploymentStatus) {
        let mut expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner);
        expected.insert(name.to_owned(), status.clone());
    }

    /// Nothing was written after all, or the deployment is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.expected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
    }

    /// Whether this status is the one that was written; only the first time.
    pub(crate) fn is_own(&self, name: &str, status: Option<&BundleDeploymentStatus>) -> bool {
        let mut expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner);
        let own = expected.get(name).is_some_and(|written| Some(written) == status);
        if own {
            expected.remove(name);
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(id: &str) -> BundleDeploymentStatus {
        BundleDeploymentStatus {
            applied_deployment_id: id.to_owned(),
            ..BundleDeploymentStatus::default()
        }
    }

    #[test]
    fn an_own_status_is_known_once_and_others_are_news() {
        let echoes = Echoes::default();
        echoes.expect("web", &applied("a:1"));
        assert!(!echoes.is_own("web", Some(&applied("a:2"))));
        assert!(!echoes.is_own("other", Some(&applied("a:1"))));
        assert!(echoes.is_own("web", Some(&applied("a:1"))));
        assert!(!echoes.is_own("web", Some(&applied("a:1"))));
    }
}
