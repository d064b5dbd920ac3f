//! The one owner of what is known: projections of objects, indexes between them, and sums.

use fleet_api::{BundleSummary, ClusterGroupStatus, ResourceCounts, StatusBase};

use crate::event::{Dirty, Event};
use crate::explain::Explanation;
use crate::key::{BundleKey, ClusterKey, GroupKey, SourceKey};
use crate::plan::{Pass, Plan};

/// Everything the plan knows.
#[derive(Debug, Default)]
pub struct State {}

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
    /// Message of the Ready condition; empty means ready.
    pub ready_message: String,
}

impl State {
    /// An empty world.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one change and tells what has to be looked at again.
    pub fn apply(&mut self, _event: Event<'_>) -> Dirty {
        Dirty::default()
    }

    /// What a bundle wants now; `None` if there is no such bundle.
    pub fn desired(&mut self, _bundle: &BundleKey, _pass: &Pass) -> Option<Plan> {
        None
    }

    /// Every cluster that does not run the newest release, and why. Walks all clusters in reach.
    pub fn explain(&mut self, _bundle: &BundleKey) -> Option<Explanation> {
        None
    }

    /// The roll-up of a cluster; `None` if there is no such cluster.
    #[must_use]
    pub fn cluster_rollup(&self, _cluster: &ClusterKey) -> Option<ClusterRollup> {
        None
    }

    /// The status of a group without its conditions; `None` if there is no such group.
    #[must_use]
    pub fn group_rollup(&self, _group: &GroupKey) -> Option<ClusterGroupStatus> {
        None
    }

    /// What a GitRepo's or HelmOp's status says of its deployments, conditions left out. `None` if it is unknown.
    #[must_use]
    pub fn source_rollup(&self, _source: &SourceKey) -> Option<StatusBase> {
        None
    }

    /// Deployments that need a Content (those being deleted not counted).
    #[must_use]
    pub fn content_references(&self, _content: &str) -> usize {
        0
    }

    /// Bundles of which a cluster has or should have a deployment.
    #[must_use]
    pub fn bundles_of(&self, _cluster: &ClusterKey) -> Vec<BundleKey> {
        Vec::new()
    }
}
