//! One bundle: its compiled targets, what each targeted cluster should run, and sums over how far that is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet_api::state::BundleState;
use fleet_api::{
    Bundle, BundleDeploymentOptions, BundleDeploymentSpec, BundleSpec, deployment_id::deployment_id, labels,
};

use super::placement::{Desired, Order, PartitionEntry, Placement, Seen, Work};
use super::world::World;
use crate::deployment::deployment_labels;
use crate::event::NamespacePolicy;
use crate::explain::Reason;
use crate::facts::{self, DeploymentFacts, Marks};
use crate::key::{BundleKey, ClusterKey, DeploymentKey};
use crate::plan::Problem;
use crate::rollout::Strategy;
use crate::target::{Choice, Targeting, namespace_metadata};
use crate::template;

type Labels = BTreeMap<String, String>;

/// A bundle as the plan knows it.
#[derive(Debug)]
pub(super) struct BundleEntry {
    pub(super) key: BundleKey,
    /// Its metadata's labels and spec; resources left out.
    pub(super) bundle: Bundle,
    pub(super) labels: Labels,
    pub(super) manifest: String,
    pub(super) generation: i64,
    policy: NamespacePolicy,
    /// Namespaces whose clusters it may select.
    pub(super) reach: BTreeSet<String>,
    pub(super) rules: Result<Rules, Problem>,
    namespace: (Labels, Labels),
    shared: BTreeMap<(Choice, bool), Arc<Desired>>,
    pub(super) placements: BTreeMap<Order, Placement>,
    /// Clusters for which no options can be made.
    pub(super) failures: BTreeMap<Order, String>,
    pub(super) orphans: BTreeSet<DeploymentKey>,
    /// Targeted clusters without a namespace for deployments.
    pub(super) homeless: BTreeSet<Order>,
    /// Sums over all placements.
    pub(super) whole: PartitionEntry,
    /// Absent when targets changed since they were cut.
    pub(super) partitions: Option<Vec<PartitionEntry>>,
}

/// What can be wrong in a spec, once compiled.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) targeting: Targeting,
    pub(super) strategy: Strategy,
}

impl BundleEntry {
    pub(super) fn new(key: BundleKey, bundle: &Bundle, manifest: &str, policy: &NamespacePolicy) -> Self {
        let slim = slim(bundle);
        let rules = rules(&slim.spec, &key);
        Self {
            labels: slim.metadata.labels.clone().unwrap_or_default(),
            manifest: manifest.to_owned(),
            generation: bundle.metadata.generation.unwrap_or_default(),
            policy: policy.clone(),
            reach: BTreeSet::new(),
            rules,
            namespace: namespace_metadata(&slim.spec),
            shared: BTreeMap::new(),
            placements: BTreeMap::new(),
            failures: BTreeMap::new(),
            orphans: BTreeSet::new(),
            homeless: BTreeSet::new(),
            whole: PartitionEntry::default(),
            partitions: None,
            bundle: slim,
            key,
        }
    }

    /// Whether this is what is already known.
    pub(super) fn is(&self, bundle: &Bundle, manifest: &str) -> bool {
        let generation = bundle.metadata.generation.unwrap_or_default();
        self.manifest == manifest && self.generation == generation && self.bundle == slim(bundle)
    }

    pub(super) fn set_policy(&mut self, policy: &NamespacePolicy) {
        self.policy = policy.clone();
        self.shared.clear();
    }

    /// The only names that selected clusters can have.
    pub(super) fn cluster_names(&self) -> Option<Vec<String>> {
        let names = self.rules.as_ref().ok()?.targeting.cluster_names()?;
        Some(names.into_iter().map(str::to_owned).collect())
    }

    /// Name of the Content of its deployments; absent when content is kept elsewhere.
    pub(super) fn content(&self) -> Option<&str> {
        let spec = &self.bundle.spec;
        let elsewhere = spec.helm_op_options.is_some() || self.in_registry();
        (!elsewhere).then_some(self.manifest.as_str())
    }

    fn in_registry(&self) -> bool {
        let spec = &self.bundle.spec;
        spec.helm_op_options.is_none() && !spec.contents_id.is_empty() && spec.contents_id == self.manifest
    }

    /// Asks all clusters in reach anew.
    pub(super) fn target_all(&mut self, world: &World, deployments: Option<&BTreeSet<DeploymentKey>>) {
        self.shared.clear();
        self.placements.clear();
        self.failures.clear();
        self.homeless.clear();
        self.whole = PartitionEntry::default();
        self.partitions = None;
        self.orphans = deployments.cloned().unwrap_or_default();
        match self.cluster_names() {
            Some(names) => {
                let keys: BTreeSet<ClusterKey> = names
                    .iter()
                    .flat_map(|name| world.clusters_named(name, &self.reach))
                    .collect();
                for key in keys {
                    self.target_one(world, &key);
                }
            }
            None => {
                for namespace in self.reach.clone() {
                    for name in world.clusters.get(&namespace).into_iter().flat_map(BTreeMap::keys) {
                        self.target_one(world, &ClusterKey::new(namespace.clone(), name.clone()));
                    }
                }
            }
        }
    }

    /// Asks one cluster; whether the plan may have changed.
    pub(super) fn target_one(&mut self, world: &World, key: &ClusterKey) -> bool {
        let order = Order::of(key);
        let placed = self.place(world, key);
        let old = self.remove(world, &order);
        let failed = self.failures.remove(&order).is_some();
        match placed {
            Ok(mut placement) => {
                let manual = self.rules.as_ref().is_ok_and(|rules| rules.strategy.is_manual());
                // Automatic partitions go by position, which a known target keeps.
                if let Some(old) = old.filter(|_| self.partitions.is_some() && !manual) {
                    placement.partitions = old.partitions;
                } else {
                    self.partitions = None;
                }
                self.orphans
                    .remove(&DeploymentKey::new(placement.home.clone(), self.key.name.clone()));
                self.insert(order, placement);
                true
            }
            Err(Refusal::Left(_)) => {
                if old.is_some() {
                    self.partitions = None;
                }
                old.is_some() || failed
            }
            Err(Refusal::Failed(message)) => {
                if old.is_some() {
                    self.partitions = None;
                }
                self.failures.insert(order, message);
                true
            }
        }
    }

    fn remove(&mut self, world: &World, order: &Order) -> Option<Placement> {
        let old = self.placements.remove(order)?;
        self.homeless.remove(order);
        self.whole.discount(order, old.seen);
        if let Some(partitions) = &mut self.partitions {
            for at in &old.partitions {
                partitions[*at].discount(order, old.seen);
            }
        }
        let deployment = DeploymentKey::new(old.home.clone(), self.key.name.clone());
        if world
            .deployments
            .get(&deployment)
            .is_some_and(|facts| facts.bundle == self.key)
        {
            self.orphans.insert(deployment);
        }
        Some(old)
    }

    fn insert(&mut self, order: Order, placement: Placement) {
        self.whole.count(&order, placement.seen);
        if placement.home.is_empty() {
            self.homeless.insert(order.clone());
        }
        if let Some(partitions) = &mut self.partitions {
            for at in &placement.partitions {
                partitions[*at].count(&order, placement.seen);
            }
        }
        self.placements.insert(order, placement);
    }

    /// A deployment that names this bundle came, changed or went. Whether that is more than an expected write.
    pub(super) fn deployment_moved(&mut self, world: &World, key: &DeploymentKey) -> bool {
        let order = world.homes.get(&key.namespace).map(Order::of);
        let placed = order.filter(|order| {
            key.name == self.key.name && self.placements.get(order).is_some_and(|p| p.home == key.namespace)
        });
        let Some(order) = placed else {
            if world.deployments.get(key).is_some_and(|facts| facts.bundle == self.key) {
                self.orphans.insert(key.clone());
            } else {
                self.orphans.remove(key);
            }
            return true;
        };
        let facts = world.deployments.get(key).filter(|facts| facts.bundle == self.key);
        let Some(placement) = self.placements.get(&order) else {
            return true;
        };
        let seen = self.look(placement, facts);
        let old = placement.seen;
        let at = placement.partitions.clone();
        self.whole.discount(&order, old);
        self.whole.count(&order, seen);
        if let Some(partitions) = &mut self.partitions {
            for at in at {
                partitions[at].discount(&order, old);
                partitions[at].count(&order, seen);
            }
        }
        if let Some(placement) = self.placements.get_mut(&order) {
            placement.seen = seen;
        }
        !seen.follows(old)
    }

    /// What one cluster should run.
    pub(super) fn place(&mut self, world: &World, key: &ClusterKey) -> Result<Placement, Refusal> {
        let Ok(rules) = &self.rules else {
            return Err(Refusal::Left(Reason::NoTarget));
        };
        let entry = world.cluster(key).filter(|_| self.reach.contains(&key.namespace));
        let Some(entry) = entry else {
            return Err(Refusal::Left(Reason::OutOfReach));
        };
        let choice = rules
            .targeting
            .choose(&world.candidate(key, entry))
            .map_err(Refusal::Left)?;
        let labelled = template::has_labels(&entry.facts.labels);
        let desired = match self.shared.get(&(choice.clone(), labelled)) {
            Some(known) => Arc::clone(known),
            None => {
                let mut options = rules.targeting.options(&self.bundle.spec, &choice);
                self.restrict(&mut options);
                let own = template::depends_on_cluster(&options) && labelled;
                template::apply(&mut options, &entry.facts.template(key)).map_err(|error| {
                    Refusal::Failed(format!("cluster {} in namespace {}: {error}", key.name, key.namespace))
                })?;
                let desired = Arc::new(self.desired(options));
                if !own {
                    self.shared.insert((choice, labelled), Arc::clone(&desired));
                }
                desired
            }
        };
        let mut placement = Placement {
            desired,
            home: entry.facts.home.clone(),
            paused: entry.facts.paused || self.bundle.spec.paused,
            off_schedule: entry.facts.off_schedule,
            labels_mark: facts::hash(&self.deployment_labels(key)),
            seen: Seen {
                state: BundleState::Pending,
                unavailable: false,
                done: false,
                work: Work::default(),
            },
            partitions: Vec::new(),
        };
        let deployment = DeploymentKey::new(placement.home.clone(), self.key.name.clone());
        let facts = world
            .deployments
            .get(&deployment)
            .filter(|facts| facts.bundle == self.key);
        placement.seen = self.look(&placement, facts);
        Ok(placement)
    }

    /// What policies of the bundle's namespace do to options.
    fn restrict(&self, options: &mut BundleDeploymentOptions) {
        if self.policy.forbid_namespace_creation {
            options.create_namespace = Some(false);
        }
        if self.policy.target_namespace_selector.is_some() && self.labels.contains_key(labels::REPO_NAME) {
            options
                .allowed_target_namespace_selector
                .clone_from(&self.policy.target_namespace_selector);
        }
    }

    fn desired(&self, mut options: BundleDeploymentOptions) -> Desired {
        let id = deployment_id(&self.manifest, &options).into();
        let (labels, annotations) = &self.namespace;
        add(&mut options.namespace_labels, labels);
        add(&mut options.namespace_annotations, annotations);
        Desired {
            staged_mark: facts::options_mark(&options),
            diff_mark: facts::diff_mark(&options),
            options: Arc::new(options),
            id,
        }
    }

    pub(super) fn deployment_labels(&self, cluster: &ClusterKey) -> Labels {
        deployment_labels(&self.bundle, cluster, self.content())
    }

    /// The part of a deployment's spec that is neither options nor ids.
    pub(super) fn rest(&self, placement: &Placement) -> BundleDeploymentSpec {
        let spec = &self.bundle.spec;
        BundleDeploymentSpec {
            paused: placement.paused,
            depends_on: spec.depends_on.clone(),
            correct_drift: placement.desired.options.correct_drift.clone(),
            oci_contents: self.in_registry(),
            helm_chart_options: spec.helm_op_options.clone(),
            off_schedule: placement.off_schedule,
            ..BundleDeploymentSpec::default()
        }
    }

    /// How far a placement is, given the deployment that exists for it.
    fn look(&self, placement: &Placement, facts: Option<&DeploymentFacts>) -> Seen {
        let desired = &placement.desired;
        let Some(facts) = facts else {
            let create = !placement.home.is_empty();
            let work = Work {
                create,
                ..Work::default()
            };
            return Seen {
                state: BundleState::Pending,
                unavailable: false,
                done: false,
                work,
            };
        };
        let Marks {
            labels,
            staged,
            rest,
            staged_diff: _,
        } = facts.marks;
        let write = labels != placement.labels_mark
            || staged != desired.staged_mark
            || facts.staged_id != desired.id
            || rest != facts::rest_mark(&self.rest(placement))
            || !self.namespace_is_set(facts);
        let release = facts.deployment_id != desired.id;
        let diff = !release && !placement.paused && facts.diff != desired.diff_mark;
        let work = if facts.deleting {
            Work::default()
        } else {
            Work {
                create: false,
                write,
                release,
                diff,
            }
        };
        Seen {
            state: facts.state(&desired.id),
            unavailable: facts.unavailable(),
            done: facts.staged_id == desired.id && !release && facts.applied_id == desired.id && facts.ready,
            work,
        }
    }

    /// Whether the options that run carry the namespace labels and annotations of all targets.
    fn namespace_is_set(&self, facts: &DeploymentFacts) -> bool {
        let (labels, annotations) = &self.namespace;
        let within = |wanted: &Labels, have: Option<&Labels>| {
            wanted
                .iter()
                .all(|(key, value)| have.and_then(|have| have.get(key)) == Some(value))
        };
        let have = facts.namespace.as_deref();
        within(labels, have.map(|have| &have.0)) && within(annotations, have.map(|have| &have.1))
    }

    pub(super) fn namespace_metadata(&self) -> &(Labels, Labels) {
        &self.namespace
    }
}

/// Why a cluster has no placement.
pub(super) enum Refusal {
    Left(Reason),
    /// Its options cannot be made: the bundle as a whole stops.
    Failed(String),
}

fn add(target: &mut Option<Labels>, more: &Labels) {
    if !more.is_empty() {
        target.get_or_insert_default().extend(more.clone());
    }
}

fn rules(spec: &BundleSpec, key: &BundleKey) -> Result<Rules, Problem> {
    const MAX_LABEL: usize = 63;
    if key.name.len() > MAX_LABEL {
        let message = format!(
            "the name '{}' cannot be the value of label {}: it must be no more than {MAX_LABEL} bytes",
            key.name,
            labels::BUNDLE_NAME
        );
        return Err(Problem { message });
    }
    Ok(Rules {
        targeting: Targeting::new(spec)?,
        strategy: Strategy::new(spec.rollout_strategy.as_ref())?,
    })
}

/// The parts of a bundle that are decided upon.
fn slim(bundle: &Bundle) -> Bundle {
    let mut slim = Bundle::named(bundle.metadata.name.as_deref().unwrap_or_default());
    slim.metadata.namespace.clone_from(&bundle.metadata.namespace);
    slim.metadata.labels.clone_from(&bundle.metadata.labels);
    slim.spec = BundleSpec {
        resources: Vec::new(),
        ..bundle.spec.clone()
    };
    slim
}
