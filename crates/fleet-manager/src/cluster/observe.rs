//! Reads what a cluster's deployments add up to.

use fleet_plan::{ClusterKey, ClusterRollup};
use fleet_runtime::Key;

use crate::planner::Planner;

/// The roll-up; `None` while the plan does not know the cluster.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) rollup: Option<ClusterRollup>,
}

pub(super) fn observe(key: &Key, planner: &Planner) -> Facts {
    let key = ClusterKey::new(&key.namespace, &key.name);
    Facts {
        rollup: planner.ask(|state| state.cluster_rollup(&key)),
    }
}
