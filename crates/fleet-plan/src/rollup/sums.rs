//! The sums of each GitRepo and HelmOp, adjusted as deployments change.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::ResourceCounts;
use fleet_api::state::BundleState;

use super::tally::{Tally, add_counts, slot, subtract_counts};
use crate::event::Dirty;
use crate::facts::DeploymentFacts;
use crate::key::{ClusterKey, DeploymentKey, SourceKey};

/// Sums per GitRepo and HelmOp.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    sources: BTreeMap<SourceKey, SourceSum>,
}

/// The deployments of one source.
#[derive(Debug, Default)]
pub(crate) struct SourceSum {
    exists: bool,
    pub(super) tally: Tally,
    pub(super) counts: ResourceCounts,
    /// Deployments that are not ready, by state and uid: the order in which they are listed and speak for the source.
    pub(super) not_ready: BTreeMap<usize, BTreeSet<(Box<str>, DeploymentKey)>>,
    /// Per cluster: deployments, and those of them that are ready.
    pub(super) clusters: BTreeMap<ClusterKey, (i64, i64)>,
    pub(super) ready_clusters: i64,
    pub(super) deployments: BTreeSet<(ClusterKey, DeploymentKey)>,
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
