//! What the statuses of a Cluster and a ClusterGroup say.

use std::collections::BTreeMap;

use fleet_api::state::{self, BundleState};
use fleet_api::{BundleSummary, ClusterGroupDisplay, ClusterGroupStatus, ResourceCounts};

use super::tally::add_counts;
use super::{ClusterRollup, GroupRollup, MAX_NON_READY};
use crate::facts::DeploymentFacts;
use crate::key::{ClusterKey, DeploymentKey, GroupKey, SourceKey, SourceKind};
use crate::state::world::{GroupEntry, World};

/// Adds up the deployments of one cluster. `exists` tells whether a source still does.
pub(crate) fn of_cluster<'a>(
    deployments: impl Iterator<Item = (&'a DeploymentKey, &'a DeploymentFacts)>,
    exists: impl Fn(&SourceKey) -> bool,
) -> ClusterRollup {
    let mut summary = BundleSummary::default();
    let mut resource_counts = ResourceCounts::default();
    // One ready deployment of a source makes the source ready here.
    let mut sources: BTreeMap<&SourceKey, bool> = BTreeMap::new();
    for (key, facts) in deployments {
        let state = facts.own_state();
        summary.desired_ready += 1;
        summary.add(state, facts.non_ready(key.name.clone(), &facts.deployment_id));
        add_counts(&mut resource_counts, &facts.counts);
        if let Some(source) = facts.source.as_ref().filter(|source| exists(source)) {
            *sources.entry(source).or_default() |= state == BundleState::Ready;
        }
    }
    let count = |kind: SourceKind, ready: bool| {
        let of_kind = sources
            .iter()
            .filter(|(key, is_ready)| key.kind == kind && (**is_ready || !ready));
        i64::try_from(of_kind.count()).unwrap_or(i64::MAX)
    };
    ClusterRollup {
        ready_git_repos: count(SourceKind::GitRepo, true),
        desired_ready_git_repos: count(SourceKind::GitRepo, false),
        ready_helm_ops: count(SourceKind::HelmOp, true),
        desired_ready_helm_ops: count(SourceKind::HelmOp, false),
        ready_bundles: format!("{}/{}", summary.ready, summary.desired_ready),
        state: summary.worst_state().to_owned(),
        ready_message: state::ready_message(&summary, "Bundle"),
        summary,
        resource_counts,
    }
}

/// A group's status out of its sums and its first members that are not ready.
pub(crate) fn of_group(world: &World, key: &GroupKey, group: &GroupEntry) -> GroupRollup {
    let mut summary = group.tally.summary();
    for name in group.not_ready.iter().take(MAX_NON_READY) {
        let room = MAX_NON_READY - summary.non_ready_resources.len();
        let Some(cluster) = world.cluster(&ClusterKey::new(key.namespace.clone(), name.clone())) else {
            continue;
        };
        let own = of_cluster(world.deployments_in(&cluster.facts.home), |_| false).summary;
        summary
            .non_ready_resources
            .extend(own.non_ready_resources.into_iter().take(room));
    }
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let total = group.members.len();
    let non_ready_clusters: Vec<String> = group.not_ready.iter().take(MAX_NON_READY).cloned().collect();
    let mut ready_clusters = format!("{}/{total}", total - group.not_ready.len());
    if !non_ready_clusters.is_empty() {
        ready_clusters.push_str(&format!(" ({})", non_ready_clusters.join(",")));
    }
    let ready_message = state::ready_message(&summary, "Bundle");
    let status = ClusterGroupStatus {
        cluster_count: number(total),
        non_ready_cluster_count: number(group.not_ready.len()),
        display: ClusterGroupDisplay {
            ready_clusters,
            ready_bundles: format!("{}/{}", summary.ready, summary.desired_ready),
            state: summary.worst_state().to_owned(),
        },
        summary,
        resource_counts: group.counts.clone(),
        non_ready_clusters,
        conditions: Vec::new(),
    };
    GroupRollup { status, ready_message }
}
