//! How states add up: deployments → bundle, cluster, cluster group, GitRepo and HelmOp.
//!
//! Sums are adjusted by differences as deployments change. Lists stop at a constant length, counts stay complete, so a
//! status does not grow with the number of clusters.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::condition::{self, DEPLOYED, MONITORED};
use fleet_api::state::{self, BundleState};
use fleet_api::{
    BundleDeployment, BundleDeploymentDisplay, BundleSummary, ClusterGroupDisplay, ClusterGroupStatus, PerClusterState,
    Resource, ResourceCounts, StatusBase, StatusDisplay,
};

use crate::event::Dirty;
use crate::facts::DeploymentFacts;
use crate::key::{ClusterKey, DeploymentKey, GroupKey, SourceKey, SourceKind};
use crate::state::world::{GroupEntry, World};

/// Entries of a list of what is not ready.
pub(crate) const MAX_NON_READY: usize = state::MAX_NON_READY;
/// Entries of lists that would grow with the number of clusters.
pub(crate) const LISTED: usize = 100;
/// Deployments that are looked at to list the objects of a source.
const LOOKED_AT: usize = 2000;

/// Deployments by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally([i64; BundleState::ALL.len()]);

fn slot(state: BundleState) -> usize {
    BundleState::ALL.iter().position(|known| *known == state).unwrap_or(0)
}

impl Tally {
    pub(crate) fn count(&mut self, state: BundleState) {
        self.0[slot(state)] += 1;
    }

    pub(crate) fn discount(&mut self, state: BundleState) {
        self.0[slot(state)] -= 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, less)| *sum -= less);
    }

    pub(crate) fn total(&self) -> i64 {
        self.0.iter().sum()
    }

    pub(crate) fn all_ready(&self) -> bool {
        self.0[slot(BundleState::Ready)] == self.total()
    }

    /// The counters of a summary, nothing listed yet.
    pub(crate) fn summary(&self) -> BundleSummary {
        let mut summary = BundleSummary {
            desired_ready: self.total(),
            ..BundleSummary::default()
        };
        for state in BundleState::ALL {
            *summary.count_mut(state) = self.0[slot(state)];
        }
        summary
    }
}

fn each(left: &mut ResourceCounts, right: &ResourceCounts, change: impl Fn(&mut i64, i64)) {
    let ResourceCounts {
        ready,
        desired_ready,
        wait_applied,
        modified,
        orphaned,
        missing,
        unknown,
        not_ready,
    } = right;
    change(&mut left.ready, *ready);
    change(&mut left.desired_ready, *desired_ready);
    change(&mut left.wait_applied, *wait_applied);
    change(&mut left.modified, *modified);
    change(&mut left.orphaned, *orphaned);
    change(&mut left.missing, *missing);
    change(&mut left.unknown, *unknown);
    change(&mut left.not_ready, *not_ready);
}

pub(crate) fn add_counts(sum: &mut ResourceCounts, more: &ResourceCounts) {
    each(sum, more, |sum, more| *sum += more);
}

pub(crate) fn subtract_counts(sum: &mut ResourceCounts, less: &ResourceCounts) {
    each(sum, less, |sum, less| *sum -= less);
}

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

/// Sums per GitRepo and HelmOp.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    sources: BTreeMap<SourceKey, SourceSum>,
}

/// The deployments of one source.
#[derive(Debug, Default)]
pub(crate) struct SourceSum {
    exists: bool,
    tally: Tally,
    counts: ResourceCounts,
    /// Deployments that are not ready, by state and uid: the order in which they are listed and speak for the source.
    not_ready: BTreeMap<usize, BTreeSet<(Box<str>, DeploymentKey)>>,
    /// Per cluster: deployments, and those of them that are ready.
    clusters: BTreeMap<ClusterKey, (i64, i64)>,
    ready_clusters: i64,
    deployments: BTreeSet<(ClusterKey, DeploymentKey)>,
}

impl Sums {
    pub(crate) fn source(&self, key: &SourceKey) -> Option<&SourceSum> {
        self.sources.get(key)
    }

    pub(crate) fn exists(&self, key: &SourceKey) -> bool {
        self.sources.get(key).is_some_and(|sum| sum.exists)
    }

    /// Notes that a source exists or is gone; the namespaces of deployments that count it.
    pub(crate) fn set_exists(&mut self, key: &SourceKey, exists: bool) -> BTreeSet<String> {
        let sum = self.sources.entry(key.clone()).or_default();
        let changed = sum.exists != exists;
        sum.exists = exists;
        let homes = sum
            .deployments
            .iter()
            .filter(|_| changed)
            .map(|(_, key)| key.namespace.clone())
            .collect();
        self.tidy(key);
        homes
    }

    pub(crate) fn moved(
        &mut self,
        key: &DeploymentKey,
        old: Option<&DeploymentFacts>,
        new: Option<&DeploymentFacts>,
        dirty: &mut Dirty,
    ) {
        if let Some((facts, source)) = old.and_then(|facts| Some((facts, facts.source.as_ref()?))) {
            if let Some(sum) = self.sources.get_mut(source) {
                sum.discount(key, facts);
            }
            self.tidy(source);
            dirty.sources.insert(source.clone());
        }
        if let Some((facts, source)) = new.and_then(|facts| Some((facts, facts.source.as_ref()?))) {
            self.sources.entry(source.clone()).or_default().count(key, facts);
            dirty.sources.insert(source.clone());
        }
    }

    fn tidy(&mut self, key: &SourceKey) {
        if self
            .sources
            .get(key)
            .is_some_and(|sum| !sum.exists && sum.deployments.is_empty())
        {
            self.sources.remove(key);
        }
    }
}

impl SourceSum {
    fn count(&mut self, key: &DeploymentKey, facts: &DeploymentFacts) {
        let state = facts.own_state();
        self.tally.count(state);
        add_counts(&mut self.counts, &facts.counts);
        if state != BundleState::Ready {
            self.not_ready
                .entry(slot(state))
                .or_default()
                .insert((facts.uid.clone(), key.clone()));
        }
        self.cluster(&facts.cluster, 1, i64::from(state == BundleState::Ready));
        self.deployments.insert((facts.cluster.clone(), key.clone()));
    }

    fn discount(&mut self, key: &DeploymentKey, facts: &DeploymentFacts) {
        let state = facts.own_state();
        self.tally.discount(state);
        subtract_counts(&mut self.counts, &facts.counts);
        if let Some(listed) = self.not_ready.get_mut(&slot(state)) {
            listed.remove(&(facts.uid.clone(), key.clone()));
        }
        self.cluster(&facts.cluster, -1, -i64::from(state == BundleState::Ready));
        self.deployments.remove(&(facts.cluster.clone(), key.clone()));
    }

    fn cluster(&mut self, key: &ClusterKey, total: i64, ready: i64) {
        let is_ready = |(total, ready): &(i64, i64)| *total > 0 && total == ready;
        let entry = self.clusters.entry(key.clone()).or_default();
        let before = is_ready(entry);
        entry.0 += total;
        entry.1 += ready;
        self.ready_clusters += i64::from(is_ready(entry)) - i64::from(before);
        if entry.0 == 0 {
            self.clusters.remove(key);
        }
    }
}

/// A source's status out of its sums and a bounded look at its deployments.
pub(crate) fn of_source(world: &World, sum: &SourceSum) -> SourceRollup {
    let mut summary = sum.tally.summary();
    // Deployments are listed in the order of their uids, whatever their state.
    let mut listed: Vec<&(Box<str>, DeploymentKey)> = sum
        .not_ready
        .values()
        .flat_map(|keys| keys.iter().take(MAX_NON_READY))
        .collect();
    listed.sort();
    for (_, key) in listed.into_iter().take(MAX_NON_READY) {
        if let Some(facts) = world.deployments.get(key) {
            let mut entry = facts.non_ready(key.name.clone(), &facts.deployment_id);
            entry.state = facts.own_state().as_str().to_owned();
            summary.non_ready_resources.push(entry);
        }
    }
    // States are kept gravest first; the first deployment in the gravest state speaks for the source.
    let worst = sum
        .not_ready
        .values()
        .find_map(|keys| world.deployments.get(&keys.first()?.1));
    let (state, message) = worst.map_or((String::new(), String::new()), |facts| {
        (
            facts.own_state().as_str().to_owned(),
            facts.message(&facts.deployment_id).to_owned(),
        )
    });
    let status = StatusBase {
        ready_clusters: sum.ready_clusters,
        desired_ready_clusters: i64::try_from(sum.clusters.len()).unwrap_or(i64::MAX),
        display: StatusDisplay {
            ready_bundle_deployments: format!("{}/{}", summary.ready, summary.desired_ready),
            error: !message.is_empty(),
            state,
            message,
        },
        resource_counts: sum.counts.clone(),
        conditions: Vec::new(),
        resources: resources(world, sum),
        per_cluster_resource_counts: per_cluster(world, sum),
        summary,
    };
    let ready_message = state::ready_message(&status.summary, "Bundle");
    SourceRollup { status, ready_message }
}

/// Objects by state for the first clusters.
fn per_cluster(world: &World, sum: &SourceSum) -> BTreeMap<String, ResourceCounts> {
    let mut counts: BTreeMap<String, ResourceCounts> = BTreeMap::new();
    for (cluster, key) in &sum.deployments {
        let name = cluster.to_string();
        if counts.len() >= LISTED && !counts.contains_key(&name) {
            break;
        }
        if let Some(facts) = world.deployments.get(key) {
            add_counts(counts.entry(name).or_default(), &facts.counts);
        }
    }
    counts
}

type ObjectKey<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The objects of a source over its clusters: those of deployments that are not ready first, so that what is wrong is
/// listed even when not everything can be.
fn resources(world: &World, sum: &SourceSum) -> Vec<Resource> {
    let bad = sum.not_ready.values().flatten().map(|(_, key)| key).take(LOOKED_AT);
    let mut chosen: BTreeSet<(String, &DeploymentKey)> = BTreeSet::new();
    for key in bad.chain(sum.deployments.iter().map(|(_, key)| key)) {
        if chosen.len() >= LOOKED_AT {
            break;
        }
        if let Some(facts) = world.deployments.get(key) {
            chosen.insert((facts.cluster.to_string(), key));
        }
    }
    let mut merged: BTreeMap<ObjectKey<'_>, Resource> = BTreeMap::new();
    for (cluster, key) in &chosen {
        let Some(facts) = world.deployments.get(key) else {
            continue;
        };
        for (object, state) in states(facts) {
            let resource = merged.entry(object).or_insert_with(|| named(object));
            resource.incomplete_state |= facts.incomplete;
            if resource.state.is_empty() || resource.state == "Ready" {
                state.clone_into(&mut resource.state);
            }
            list(resource.per_cluster_state.get_or_insert_default(), state, cluster);
        }
    }
    let mut resources: Vec<Resource> = merged.into_values().collect();
    resources.sort_by(|a, b| (&a.resource_type, &a.id).cmp(&(&b.resource_type, &b.id)));
    resources
}

/// The state of each object of a deployment.
fn states(facts: &DeploymentFacts) -> BTreeMap<ObjectKey<'_>, &str> {
    let usual = match facts.own_state() {
        BundleState::NotReady | BundleState::Modified if facts.incomplete => "Unknown",
        BundleState::NotReady | BundleState::Modified => "Ready",
        state => state.as_str(),
    };
    let mut states: BTreeMap<ObjectKey<'_>, &str> = BTreeMap::new();
    for object in facts.resources.iter() {
        let key = (
            object.kind.as_str(),
            object.api_version.as_str(),
            object.namespace.as_str(),
            object.name.as_str(),
        );
        states.insert(key, usual);
    }
    let detail = facts.detail.as_deref();
    for object in detail.into_iter().flat_map(|detail| &detail.non_ready) {
        let key = (
            object.kind.as_str(),
            object.api_version.as_str(),
            object.namespace.as_str(),
            object.name.as_str(),
        );
        if let Some(summary) = &object.summary {
            states.insert(key, &summary.state);
        }
    }
    for object in detail.into_iter().flat_map(|detail| &detail.modified) {
        let key = (
            object.kind.as_str(),
            object.api_version.as_str(),
            object.namespace.as_str(),
            object.name.as_str(),
        );
        let state = if object.delete {
            "Orphaned"
        } else if object.missing {
            "Missing"
        } else {
            "Modified"
        };
        states.insert(key, state);
    }
    states
}

fn named((kind, api_version, namespace, name): ObjectKey<'_>) -> Resource {
    let lower = kind.to_lowercase();
    Resource {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        resource_type: match api_version.split_once('/') {
            Some((group, _)) => format!("{group}.{lower}"),
            None => lower,
        },
        id: if namespace.is_empty() {
            name.to_owned()
        } else {
            format!("{namespace}/{name}")
        },
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        per_cluster_state: Some(PerClusterState::default()),
        ..Resource::default()
    }
}

/// Notes a cluster under the state of an object there; states without a list are only counted elsewhere.
fn list(states: &mut PerClusterState, state: &str, cluster: &str) {
    let ids = match state {
        "Ready" => &mut states.ready,
        "WaitApplied" => &mut states.wait_applied,
        "Pending" => &mut states.pending,
        "Modified" => &mut states.modified,
        "Orphaned" => &mut states.orphaned,
        "Missing" => &mut states.missing,
        "Unknown" => &mut states.unknown,
        "NotReady" | "updating" | "error" => &mut states.not_ready,
        _ => return,
    };
    if ids.len() < LISTED {
        ids.push(cluster.to_owned());
    }
}
