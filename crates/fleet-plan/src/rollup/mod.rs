//! How states add up: deployments → bundle, cluster, cluster group, GitRepo and HelmOp.
//!
//! Sums are adjusted by differences as deployments change. Lists stop at a constant length, counts stay complete, so a
//! status does not grow with the number of clusters.

mod cluster;
mod source;
mod sums;
mod tally;

use fleet_api::condition::{self, DEPLOYED, MONITORED};
use fleet_api::{
    BundleDeployment, BundleDeploymentDisplay, BundleSummary, ClusterGroupStatus, ResourceCounts, StatusBase, state,
};

pub(crate) use self::cluster::{of_cluster, of_group};
pub(crate) use self::source::of_source;
pub(crate) use self::sums::{SourceSum, Sums};
pub(crate) use self::tally::{Tally, add_counts, subtract_counts};

/// Entries of a list of what is not ready.
pub(crate) const MAX_NON_READY: usize = state::MAX_NON_READY;
/// Entries of lists that would grow with the number of clusters.
pub(crate) const LISTED: usize = 100;

/// What a Cluster's status says of its deployments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterRollup {
    /// Deployments by state.
    pub summary: BundleSummary,
    /// Objects by state.
    pub resource_counts: ResourceCounts,
    /// GitRepos with something ready here.
    pub ready_git_repos: i64,
    /// GitRepos with something here.
    pub desired_ready_git_repos: i64,
    /// HelmOps with something ready here.
    pub ready_helm_ops: i64,
    /// HelmOps with something here.
    pub desired_ready_helm_ops: i64,
    /// `ready/desired` for tables.
    pub ready_bundles: String,
    /// Worst state; "" if all are ready. A cluster that never checked in shows `WaitCheckIn` instead.
    pub state: String,
    /// Message of the Ready condition; empty means ready.
    pub ready_message: String,
}

/// What a ClusterGroup's status says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupRollup {
    /// The status without its conditions.
    pub status: ClusterGroupStatus,
    /// Message of the Ready condition; empty means ready.
    pub ready_message: String,
}

/// What a GitRepo's or HelmOp's status says of its deployments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceRollup {
    /// The shared part of the status without conditions.
    pub status: StatusBase,
    /// Message of the Ready condition with the word `Bundle`; empty means ready. A bundle that is not ready replaces it.
    pub ready_message: String,
}

/// Texts for tables of a deployment.
#[must_use]
pub fn deployment_display(deployment: &BundleDeployment) -> BundleDeploymentDisplay {
    let status = deployment.status.clone().unwrap_or_default();
    let text = |kind: &str| match condition::find(&status.conditions, kind) {
        Some(found) if found.reason == condition::ERROR => format!("Error: {}", found.message),
        Some(found) => found.status.clone(),
        None => String::new(),
    };
    BundleDeploymentDisplay {
        deployed: text(DEPLOYED),
        monitored: text(MONITORED),
        state: state::deployment_state(&deployment.spec, &status).as_str().to_owned(),
    }
}
