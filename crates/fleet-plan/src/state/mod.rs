//! The one owner of what is known: projections of objects, indexes between them, and sums that events adjust.
//!
//! Events cost what they touch: a status of a deployment moves counters of its bundle, cluster, groups and source; a
//! changed cluster is asked of the bundles that can reach it, never the other way round; only a changed bundle walks its
//! clusters.

mod bundle;
mod pass;
mod placement;
mod run;
pub(crate) mod world;

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::{Bundle, BundleDeployment, BundleNamespaceMapping, Cluster, ClusterGroup};

use self::bundle::BundleEntry;
use self::world::World;
use crate::event::{Dirty, Event, NamespacePolicy};
use crate::explain::Explanation;
use crate::facts::{ClusterFacts, DeploymentFacts, Interned};
use crate::key::{BundleKey, ClusterKey, DeploymentKey, GroupKey, MappingKey, SourceKey};
use crate::plan::{Pass, Plan};
use crate::rollup::{self, Sums};

/// Everything the plan knows.
#[derive(Debug, Default)]
pub struct State {
    world: World,
    bundles: BTreeMap<BundleKey, BundleEntry>,
    /// Bundles by a name that every selected cluster must have.
    named: BTreeMap<String, BTreeSet<BundleKey>>,
    /// Bundles that select clusters by other means, by the namespaces they reach.
    broad: BTreeMap<String, BTreeSet<BundleKey>>,
    /// Deployments that name a bundle, whether it exists or not.
    by_bundle: BTreeMap<BundleKey, BTreeSet<DeploymentKey>>,
    contents: BTreeMap<std::sync::Arc<str>, usize>,
    sums: Sums,
    interned: Interned,
}

impl State {
    /// An empty world.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one change and tells what has to be looked at again.
    pub fn apply(&mut self, event: Event<'_>) -> Dirty {
        let mut dirty = Dirty::default();
        match event {
            Event::Cluster(cluster) => self.cluster(cluster, &mut dirty),
            Event::ClusterDeleted(key) => self.cluster_deleted(key, &mut dirty),
            Event::Group(group) => self.group(group, &mut dirty),
            Event::GroupDeleted(key) => self.group_deleted(key, &mut dirty),
            Event::Bundle { bundle, manifest } => self.bundle(bundle, manifest, &mut dirty),
            Event::BundleDeleted(key) => self.bundle_deleted(key, &mut dirty),
            Event::Deployment(deployment) => self.deployment(deployment, &mut dirty),
            Event::DeploymentDeleted(key) => self.deployment_deleted(key, &mut dirty),
            Event::Mapping(mapping) => self.mapping(mapping, &mut dirty),
            Event::MappingDeleted(key) => {
                if self.world.mappings.remove(key).is_some() {
                    self.reach_changed(&key.namespace, &mut dirty);
                }
            }
            Event::Namespace { name, labels } => {
                if self.world.namespaces.get(name) != Some(labels) {
                    self.world.namespaces.insert(name.to_owned(), labels.clone());
                    self.mapped_changed(&mut dirty);
                }
            }
            Event::NamespaceDeleted(name) => {
                if self.world.namespaces.remove(name).is_some() {
                    self.mapped_changed(&mut dirty);
                }
            }
            Event::Policy { namespace, policy } => self.policy(namespace, policy, &mut dirty),
            Event::Source(key) => self.source(key, true, &mut dirty),
            Event::SourceDeleted(key) => self.source(key, false, &mut dirty),
        }
        dirty
    }

    /// What a bundle wants now; `None` if there is no such bundle.
    pub fn desired(&mut self, bundle: &BundleKey, pass: &Pass) -> Option<Plan> {
        let entry = self.bundles.get_mut(bundle)?;
        Some(entry.plan(&self.world, pass))
    }

    /// Every cluster that does not run the newest release, and why. Walks all clusters in reach.
    pub fn explain(&mut self, bundle: &BundleKey) -> Option<Explanation> {
        let entry = self.bundles.get_mut(bundle)?;
        Some(entry.explain(&self.world))
    }

    /// The roll-up of a cluster; `None` if there is no such cluster.
    #[must_use]
    pub fn cluster_rollup(&self, cluster: &ClusterKey) -> Option<rollup::ClusterRollup> {
        let entry = self.world.cluster(cluster)?;
        Some(rollup::of_cluster(
            self.world.deployments_in(&entry.facts.home),
            |source| self.sums.exists(source),
        ))
    }

    /// The status of a group without its conditions; `None` if there is no such group.
    #[must_use]
    pub fn group_rollup(&self, group: &GroupKey) -> Option<rollup::GroupRollup> {
        let entry = self.world.groups.get(&group.namespace)?.get(&group.name)?;
        Some(rollup::of_group(&self.world, group, entry))
    }

    /// What a GitRepo's or HelmOp's status says of its deployments, conditions left out. `None` if it is unknown.
    #[must_use]
    pub fn source_rollup(&self, source: &SourceKey) -> Option<rollup::SourceRollup> {
        self.sums.source(source).map(|sum| rollup::of_source(&self.world, sum))
    }

    /// Deployments that need a Content (those being deleted not counted).
    #[must_use]
    pub fn content_references(&self, content: &str) -> usize {
        self.contents.get(content).copied().unwrap_or(0)
    }

    /// Deployments that name a bundle, whether it exists or not.
    pub fn deployments_of(&self, bundle: &BundleKey) -> impl Iterator<Item = &DeploymentKey> {
        self.by_bundle.get(bundle).into_iter().flatten()
    }

    /// Deployments in a cluster's namespace, and the bundles they name.
    pub fn deployments_on(&self, cluster: &ClusterKey) -> impl Iterator<Item = (&DeploymentKey, &BundleKey)> {
        let home = self
            .world
            .cluster(cluster)
            .map_or("", |entry| entry.facts.home.as_str());
        self.world.deployments_in(home).map(|(key, facts)| (key, &facts.bundle))
    }

    /// Names of the groups that a cluster is in, in order.
    #[must_use]
    pub fn groups_of(&self, cluster: &ClusterKey) -> &[String] {
        self.world.cluster(cluster).map_or(&[], |entry| &entry.groups)
    }

    fn cluster(&mut self, cluster: &Cluster, dirty: &mut Dirty) {
        let key = ClusterKey::new(
            cluster.metadata.namespace.clone().unwrap_or_default(),
            cluster.metadata.name.clone().unwrap_or_default(),
        );
        let facts = ClusterFacts::of(cluster);
        let mut asked = match self.world.cluster(&key) {
            Some(entry) if entry.facts == facts => return,
            Some(_) => self.reaching(&key),
            None => BTreeSet::new(),
        };
        self.world.set_cluster(&key, facts, dirty);
        asked.extend(self.reaching(&key));
        self.ask(asked, &key, dirty);
        dirty.clusters.insert(key);
    }

    fn cluster_deleted(&mut self, key: &ClusterKey, dirty: &mut Dirty) {
        let asked = self.reaching(key);
        self.world.remove_cluster(key, dirty);
        self.ask(asked, key, dirty);
    }

    fn group(&mut self, group: &ClusterGroup, dirty: &mut Dirty) {
        for cluster in self.world.set_group(group, dirty) {
            let asked = self.reaching(&cluster);
            self.ask(asked, &cluster, dirty);
        }
    }

    fn group_deleted(&mut self, key: &GroupKey, dirty: &mut Dirty) {
        for cluster in self.world.remove_group(key) {
            let asked = self.reaching(&cluster);
            self.ask(asked, &cluster, dirty);
        }
        dirty.groups.insert(key.clone());
    }

    fn bundle(&mut self, bundle: &Bundle, manifest: &str, dirty: &mut Dirty) {
        let key = BundleKey::new(
            bundle.metadata.namespace.clone().unwrap_or_default(),
            bundle.metadata.name.clone().unwrap_or_default(),
        );
        if self.bundles.get(&key).is_some_and(|entry| entry.is(bundle, manifest)) {
            return;
        }
        if let Some(old) = self.bundles.remove(&key) {
            self.forget_reach(&old);
        }
        let mut entry = BundleEntry::new(key.clone(), bundle, manifest, self.world.policy(&key.namespace));
        entry.reach = self.world.reach(&key.namespace, &entry.labels);
        self.remember_reach(&entry);
        entry.target_all(&self.world, self.by_bundle.get(&key));
        self.bundles.insert(key.clone(), entry);
        dirty.bundles.insert(key);
    }

    fn bundle_deleted(&mut self, key: &BundleKey, dirty: &mut Dirty) {
        if let Some(old) = self.bundles.remove(key) {
            self.forget_reach(&old);
            dirty.bundles.insert(key.clone());
        }
    }

    fn deployment(&mut self, object: &BundleDeployment, dirty: &mut Dirty) {
        let Some((key, facts)) = DeploymentFacts::of(object, &mut self.interned) else {
            let key = DeploymentKey::new(
                object.metadata.namespace.clone().unwrap_or_default(),
                object.metadata.name.clone().unwrap_or_default(),
            );
            return self.deployment_deleted(&key, dirty);
        };
        if self.world.deployments.get(&key) == Some(&facts) {
            return;
        }
        let bundle = facts.bundle.clone();
        self.by_bundle.entry(bundle).or_default().insert(key.clone());
        let old = self.world.deployments.insert(key.clone(), facts);
        self.deployment_moved(&key, old.as_ref(), dirty);
    }

    fn deployment_deleted(&mut self, key: &DeploymentKey, dirty: &mut Dirty) {
        if let Some(old) = self.world.deployments.remove(key) {
            self.deployment_moved(key, Some(&old), dirty);
        }
    }

    /// Adjusts everything that counts a deployment after it changed from `old` to what the world has now.
    fn deployment_moved(&mut self, key: &DeploymentKey, old: Option<&DeploymentFacts>, dirty: &mut Dirty) {
        let new = self.world.deployments.get(key);
        let counted = |facts: &DeploymentFacts| facts.content.clone().filter(|_| !facts.deleting);
        let (before, after) = (old.and_then(counted), new.and_then(counted));
        if before != after {
            for content in [&before, &after].into_iter().flatten() {
                dirty.contents.insert(content.to_string());
            }
            if let Some(content) = before
                && let Some(count) = self.contents.get_mut(&content)
            {
                *count -= 1;
                if *count == 0 {
                    self.contents.remove(&content);
                }
            }
            if let Some(content) = after {
                *self.contents.entry(content).or_default() += 1;
            }
        }
        self.sums.moved(key, old, new, dirty);
        let bundles: BTreeSet<BundleKey> = [old, new]
            .into_iter()
            .flatten()
            .map(|facts| facts.bundle.clone())
            .collect();
        if let Some(old) = old
            && new.is_none_or(|new| new.bundle != old.bundle)
            && let Some(keys) = self.by_bundle.get_mut(&old.bundle)
        {
            keys.remove(key);
            if keys.is_empty() {
                self.by_bundle.remove(&old.bundle);
            }
        }
        let exists = new.is_some();
        let written = old.zip(new).is_some_and(|(old, new)| old.reports_the_same(new));
        self.world.deployment_moved(key, old, dirty);
        for bundle in bundles {
            let unexpected = match self.bundles.get_mut(&bundle) {
                Some(entry) => entry.deployment_moved(&self.world, key),
                None => true,
            };
            if unexpected || !written {
                dirty.bundles.insert(bundle);
            }
        }
        if exists {
            dirty.deployments.insert(key.clone());
        }
    }

    fn mapping(&mut self, mapping: &BundleNamespaceMapping, dirty: &mut Dirty) {
        let key = MappingKey::new(
            mapping.metadata.namespace.clone().unwrap_or_default(),
            mapping.metadata.name.clone().unwrap_or_default(),
        );
        self.world.set_mapping(&key, mapping);
        self.reach_changed(&key.namespace, dirty);
    }

    fn policy(&mut self, namespace: &str, policy: NamespacePolicy, dirty: &mut Dirty) {
        if !self.world.set_policy(namespace, policy) {
            return;
        }
        let from = BundleKey::new(namespace, "");
        let range = self
            .bundles
            .range_mut(from..)
            .take_while(|(key, _)| key.namespace == namespace);
        for (key, entry) in range {
            entry.set_policy(self.world.policy(namespace));
            entry.target_all(&self.world, self.by_bundle.get(key));
            dirty.bundles.insert(key.clone());
        }
    }

    fn source(&mut self, key: &SourceKey, exists: bool, dirty: &mut Dirty) {
        for home in self.sums.set_exists(key, exists) {
            dirty.clusters.extend(self.world.homes.get(&home).cloned());
        }
        dirty.sources.insert(key.clone());
    }

    /// Bundles that may select a cluster.
    fn reaching(&self, key: &ClusterKey) -> BTreeSet<BundleKey> {
        let mut found = self.broad.get(&key.namespace).cloned().unwrap_or_default();
        let display = self
            .world
            .cluster(key)
            .and_then(|entry| entry.facts.labels.get(fleet_api::labels::DISPLAY_NAME))
            .map(String::as_str);
        for name in [Some(key.name.as_str()), display].into_iter().flatten() {
            let bundles = self.named.get(name).into_iter().flatten();
            found.extend(
                bundles
                    .filter(|bundle| {
                        self.bundles
                            .get(bundle)
                            .is_some_and(|entry| entry.reach.contains(&key.namespace))
                    })
                    .cloned(),
            );
        }
        found
    }

    fn ask(&mut self, bundles: BTreeSet<BundleKey>, cluster: &ClusterKey, dirty: &mut Dirty) {
        for key in bundles {
            if let Some(entry) = self.bundles.get_mut(&key)
                && entry.target_one(&self.world, cluster)
            {
                dirty.bundles.insert(key);
            }
        }
    }

    /// The mappings of a namespace changed.
    fn reach_changed(&mut self, namespace: &str, dirty: &mut Dirty) {
        let from = BundleKey::new(namespace, "");
        let keys: Vec<BundleKey> = self
            .bundles
            .range(from..)
            .map(|(key, _)| key)
            .take_while(|key| key.namespace == namespace)
            .cloned()
            .collect();
        for key in keys {
            let Some(mut entry) = self.bundles.remove(&key) else {
                continue;
            };
            let reach = self.world.reach(&key.namespace, &entry.labels);
            if reach != entry.reach {
                self.forget_reach(&entry);
                entry.reach = reach;
                self.remember_reach(&entry);
                entry.target_all(&self.world, self.by_bundle.get(&key));
                dirty.bundles.insert(key.clone());
            }
            self.bundles.insert(key, entry);
        }
    }

    /// The labels of a namespace changed: mappings may lead elsewhere.
    fn mapped_changed(&mut self, dirty: &mut Dirty) {
        let namespaces: BTreeSet<String> = self.world.mappings.keys().map(|key| key.namespace.clone()).collect();
        for namespace in namespaces {
            self.reach_changed(&namespace, dirty);
        }
    }

    fn remember_reach(&mut self, entry: &BundleEntry) {
        match entry.cluster_names() {
            Some(names) => {
                for name in names {
                    self.named.entry(name).or_default().insert(entry.key.clone());
                }
            }
            None => {
                for namespace in &entry.reach {
                    self.broad
                        .entry(namespace.clone())
                        .or_default()
                        .insert(entry.key.clone());
                }
            }
        }
    }

    fn forget_reach(&mut self, entry: &BundleEntry) {
        let (index, keys): (_, Vec<String>) = match entry.cluster_names() {
            Some(names) => (&mut self.named, names),
            None => (&mut self.broad, entry.reach.iter().cloned().collect()),
        };
        for key in keys {
            if let Some(bundles) = index.get_mut(&key) {
                bundles.remove(&entry.key);
                if bundles.is_empty() {
                    index.remove(&key);
                }
            }
        }
    }
}
