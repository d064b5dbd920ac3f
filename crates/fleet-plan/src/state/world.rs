//! What bundles are planned against: clusters, groups, mappings, namespaces, policies, and the deployments that exist.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::{BundleNamespaceMapping, ClusterGroup, ResourceCounts};
use kubeschema::selector::LabelSelector;

use crate::event::{Dirty, NamespacePolicy};
use crate::facts::{ClusterFacts, DeploymentFacts};
use crate::key::{ClusterKey, DeploymentKey, GroupKey, MappingKey};
use crate::rollup::{Tally, add_counts, subtract_counts};
use crate::target::{Candidate, Group};

type Labels = BTreeMap<String, String>;

/// Everything but bundles.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// Clusters by namespace and name.
    pub(crate) clusters: BTreeMap<String, BTreeMap<String, ClusterEntry>>,
    /// Groups by namespace and name.
    pub(crate) groups: BTreeMap<String, BTreeMap<String, GroupEntry>>,
    pub(crate) mappings: BTreeMap<MappingKey, MappingEntry>,
    pub(crate) namespaces: BTreeMap<String, Labels>,
    pub(crate) deployments: BTreeMap<DeploymentKey, DeploymentFacts>,
    /// Clusters by the namespace of their deployments.
    pub(crate) homes: BTreeMap<String, ClusterKey>,
    /// Clusters by their display name.
    displayed: BTreeMap<String, BTreeSet<ClusterKey>>,
    policies: BTreeMap<String, NamespacePolicy>,
    no_policy: NamespacePolicy,
}

/// A cluster, the groups it is in, and the sums of its deployments.
#[derive(Debug, Default)]
pub(crate) struct ClusterEntry {
    pub(crate) facts: ClusterFacts,
    pub(crate) groups: Vec<String>,
    pub(crate) tally: Tally,
    pub(crate) counts: ResourceCounts,
}

/// A group, its members, and the sums of their deployments.
#[derive(Debug, Default)]
pub(crate) struct GroupEntry {
    selector: Option<LabelSelector>,
    pub(crate) labels: Labels,
    pub(crate) members: BTreeSet<String>,
    pub(crate) not_ready: BTreeSet<String>,
    pub(crate) tally: Tally,
    pub(crate) counts: ResourceCounts,
}

/// A mapping with usable selectors.
#[derive(Debug, Default)]
pub(crate) struct MappingEntry {
    selectors: Option<(LabelSelector, LabelSelector)>,
}

impl GroupEntry {
    fn count(&mut self, name: &str, tally: &Tally, counts: &ResourceCounts) {
        self.tally.add(tally);
        add_counts(&mut self.counts, counts);
        if tally.all_ready() {
            self.not_ready.remove(name);
        } else {
            self.not_ready.insert(name.to_owned());
        }
    }

    fn discount(&mut self, name: &str, tally: &Tally, counts: &ResourceCounts) {
        self.tally.subtract(tally);
        subtract_counts(&mut self.counts, counts);
        self.not_ready.remove(name);
    }
}

impl World {
    pub(crate) fn cluster(&self, key: &ClusterKey) -> Option<&ClusterEntry> {
        self.clusters.get(&key.namespace)?.get(&key.name)
    }

    /// A cluster as criteria see it.
    pub(crate) fn candidate<'a>(&'a self, key: &'a ClusterKey, entry: &'a ClusterEntry) -> Candidate<'a> {
        let groups = self.groups.get(&key.namespace);
        let group = |name: &'a String| {
            let labels = &groups?.get(name)?.labels;
            Some(Group { name, labels })
        };
        Candidate {
            name: &key.name,
            labels: &entry.facts.labels,
            groups: entry.groups.iter().filter_map(group).collect(),
        }
    }

    /// Clusters of that name, or displayed under that name, in some of the namespaces.
    pub(crate) fn clusters_named(&self, name: &str, namespaces: &BTreeSet<String>) -> BTreeSet<ClusterKey> {
        let own = namespaces
            .iter()
            .map(|namespace| ClusterKey::new(namespace.clone(), name));
        let mut found: BTreeSet<ClusterKey> = own.filter(|key| self.cluster(key).is_some()).collect();
        let displayed = self.displayed.get(name).into_iter().flatten();
        found.extend(displayed.filter(|key| namespaces.contains(&key.namespace)).cloned());
        found
    }

    /// Deployments in one namespace, by name.
    pub(crate) fn deployments_in(&self, home: &str) -> impl Iterator<Item = (&DeploymentKey, &DeploymentFacts)> {
        let from = DeploymentKey::new(home, "");
        let home = home.to_owned();
        self.deployments
            .range(from..)
            .take_while(move |(key, _)| !home.is_empty() && key.namespace == home)
    }

    pub(crate) fn set_cluster(&mut self, key: &ClusterKey, facts: ClusterFacts, dirty: &mut Dirty) {
        self.remove_cluster(key, dirty);
        let mut entry = ClusterEntry {
            facts,
            ..ClusterEntry::default()
        };
        if !entry.facts.home.is_empty() {
            self.homes.insert(entry.facts.home.clone(), key.clone());
        }
        if let Some(name) = entry.facts.labels.get(fleet_api::labels::DISPLAY_NAME) {
            self.displayed.entry(name.clone()).or_default().insert(key.clone());
        }
        for (_, deployment) in self.deployments_in(&entry.facts.home) {
            entry.tally.count(deployment.own_state());
            add_counts(&mut entry.counts, &deployment.counts);
        }
        for (name, group) in self.groups.get_mut(&key.namespace).into_iter().flatten() {
            if group
                .selector
                .as_ref()
                .is_some_and(|selector| selector.matches(&entry.facts.labels))
            {
                entry.groups.push(name.clone());
                group.members.insert(key.name.clone());
                group.count(&key.name, &entry.tally, &entry.counts);
                dirty.groups.insert(GroupKey::new(key.namespace.clone(), name.clone()));
            }
        }
        self.clusters
            .entry(key.namespace.clone())
            .or_default()
            .insert(key.name.clone(), entry);
    }

    pub(crate) fn remove_cluster(&mut self, key: &ClusterKey, dirty: &mut Dirty) {
        let Some(clusters) = self.clusters.get_mut(&key.namespace) else {
            return;
        };
        let Some(entry) = clusters.remove(&key.name) else {
            return;
        };
        if clusters.is_empty() {
            self.clusters.remove(&key.namespace);
        }
        if self.homes.get(&entry.facts.home) == Some(key) {
            self.homes.remove(&entry.facts.home);
        }
        if let Some(name) = entry.facts.labels.get(fleet_api::labels::DISPLAY_NAME)
            && let Some(keys) = self.displayed.get_mut(name)
        {
            keys.remove(key);
            if keys.is_empty() {
                self.displayed.remove(name);
            }
        }
        for name in &entry.groups {
            if let Some(group) = self
                .groups
                .get_mut(&key.namespace)
                .and_then(|groups| groups.get_mut(name))
            {
                group.members.remove(&key.name);
                group.discount(&key.name, &entry.tally, &entry.counts);
                dirty.groups.insert(GroupKey::new(key.namespace.clone(), name.clone()));
            }
        }
    }

    /// Takes in a group; the clusters that may now be selected otherwise.
    pub(crate) fn set_group(&mut self, group: &ClusterGroup, dirty: &mut Dirty) -> Vec<ClusterKey> {
        let namespace = group.metadata.namespace.clone().unwrap_or_default();
        let name = group.metadata.name.clone().unwrap_or_default();
        let key = GroupKey::new(namespace.clone(), name.clone());
        // A selector that makes no sense selects nothing; the group's own status says why.
        let selector = group
            .spec
            .selector
            .as_ref()
            .and_then(|s| crate::target::compile(s, "selector").ok());
        let labels = group.metadata.labels.clone().unwrap_or_default();
        if let Some(old) = self.groups.get(&namespace).and_then(|groups| groups.get(&name))
            && old.selector == selector
            && old.labels == labels
        {
            return Vec::new();
        }
        let mut touched: BTreeSet<ClusterKey> = self.remove_group(&key).into_iter().collect();
        let mut entry = GroupEntry {
            selector,
            labels,
            ..GroupEntry::default()
        };
        for (member, cluster) in self.clusters.get_mut(&namespace).into_iter().flatten() {
            if entry
                .selector
                .as_ref()
                .is_some_and(|selector| selector.matches(&cluster.facts.labels))
            {
                cluster.groups.push(name.clone());
                cluster.groups.sort();
                entry.members.insert(member.clone());
                entry.count(member, &cluster.tally, &cluster.counts);
                touched.insert(ClusterKey::new(namespace.clone(), member.clone()));
            }
        }
        self.groups.entry(namespace).or_default().insert(name, entry);
        dirty.groups.insert(key);
        touched.into_iter().collect()
    }

    /// Forgets a group; its former members.
    pub(crate) fn remove_group(&mut self, key: &GroupKey) -> Vec<ClusterKey> {
        let Some(groups) = self.groups.get_mut(&key.namespace) else {
            return Vec::new();
        };
        let Some(old) = groups.remove(&key.name) else {
            return Vec::new();
        };
        if groups.is_empty() {
            self.groups.remove(&key.namespace);
        }
        let mut members = Vec::with_capacity(old.members.len());
        for name in old.members {
            if let Some(cluster) = self.clusters.get_mut(&key.namespace).and_then(|all| all.get_mut(&name)) {
                cluster.groups.retain(|group| *group != key.name);
            }
            members.push(ClusterKey::new(key.namespace.clone(), name));
        }
        members
    }

    pub(crate) fn set_mapping(&mut self, key: &MappingKey, mapping: &BundleNamespaceMapping) {
        // Both selectors are needed; one that makes no sense switches the mapping off.
        let compile = |selector: &Option<_>| selector.as_ref().and_then(|s| crate::target::compile(s, "").ok());
        let selectors = compile(&mapping.bundle_selector).zip(compile(&mapping.namespace_selector));
        self.mappings.insert(key.clone(), MappingEntry { selectors });
    }

    /// Namespaces whose clusters a bundle may select.
    pub(crate) fn reach(&self, namespace: &str, labels: &Labels) -> BTreeSet<String> {
        let mut reach = BTreeSet::from([namespace.to_owned()]);
        let own = self.mappings.iter().filter(|(key, _)| key.namespace == namespace);
        for (bundles, namespaces) in own.filter_map(|(_, mapping)| mapping.selectors.as_ref()) {
            if bundles.matches(labels) {
                let mapped = self.namespaces.iter().filter(|(_, labels)| namespaces.matches(*labels));
                reach.extend(mapped.map(|(name, _)| name.clone()));
            }
        }
        reach
    }

    pub(crate) fn policy(&self, namespace: &str) -> &NamespacePolicy {
        self.policies.get(namespace).unwrap_or(&self.no_policy)
    }

    /// Takes in a policy; whether it changed.
    pub(crate) fn set_policy(&mut self, namespace: &str, policy: NamespacePolicy) -> bool {
        if *self.policy(namespace) == policy {
            return false;
        }
        if policy == NamespacePolicy::default() {
            self.policies.remove(namespace);
        } else {
            self.policies.insert(namespace.to_owned(), policy);
        }
        true
    }

    /// Adjusts the sums of a cluster and its groups after one of its deployments changed.
    pub(crate) fn deployment_moved(&mut self, key: &DeploymentKey, old: Option<&DeploymentFacts>, dirty: &mut Dirty) {
        let Some(owner) = self.homes.get(&key.namespace) else {
            return;
        };
        let Some(cluster) = self
            .clusters
            .get_mut(&owner.namespace)
            .and_then(|all| all.get_mut(&owner.name))
        else {
            return;
        };
        dirty.clusters.insert(owner.clone());
        let (tally, counts) = (cluster.tally.clone(), cluster.counts.clone());
        if let Some(old) = old {
            cluster.tally.discount(old.own_state());
            subtract_counts(&mut cluster.counts, &old.counts);
        }
        if let Some(new) = self.deployments.get(key) {
            cluster.tally.count(new.own_state());
            add_counts(&mut cluster.counts, &new.counts);
        }
        for name in &cluster.groups {
            if let Some(group) = self
                .groups
                .get_mut(&owner.namespace)
                .and_then(|groups| groups.get_mut(name))
            {
                group.discount(&owner.name, &tally, &counts);
                group.count(&owner.name, &cluster.tally, &cluster.counts);
                dirty
                    .groups
                    .insert(GroupKey::new(owner.namespace.clone(), name.clone()));
            }
        }
    }
}
