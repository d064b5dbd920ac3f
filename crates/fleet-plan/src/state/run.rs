//! A pass on its way through a bundle's partitions: what is created and released now, and what has to wait for what.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet_api::deployment_id::manifest_id;

use super::bundle::{BundleEntry, Rules};
use super::placement::{Order, PartitionEntry, Placement};
use super::world::World;
use crate::explain::Reason;
use crate::facts::DeploymentFacts;
use crate::key::DeploymentKey;
use crate::plan::{DeploymentPlan, Pass, Problem, Release};

/// How many wait for one reason, and the first of them.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) count: usize,
    pub(super) first: Vec<Order>,
}

/// What a pass found.
pub(super) struct Outcome {
    pub(super) deployments: Vec<DeploymentPlan>,
    pub(super) left_out: BTreeMap<Reason, Waiting>,
    pub(super) created: usize,
    /// Available deployments that get a new release.
    pub(super) taken_down: i64,
    pub(super) unavailable_partitions: i64,
    pub(super) more: bool,
}

/// A pass on its way through the partitions.
pub(super) struct Run<'a> {
    entry: &'a BundleEntry,
    partitions: &'a [PartitionEntry],
    pass: &'a Pass,
    manual: bool,
    max_new: usize,
    max_partitions: i64,
    unavailable: i64,
    max_unavailable: i64,
    writes: usize,
    planned: BTreeSet<&'a Order>,
    /// How many of those that wait are named.
    named: usize,
    outcome: Outcome,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        entry: &'a BundleEntry,
        rules: &Rules,
        partitions: &'a [PartitionEntry],
        pass: &'a Pass,
        named: usize,
    ) -> Result<Self, Problem> {
        let own = rules.strategy.max_unavailable(entry.placements.len())?;
        let (unavailable, max_unavailable) = pass.budget.unwrap_or((entry.whole.unavailable, own));
        Ok(Self {
            entry,
            partitions,
            pass,
            manual: rules.strategy.is_manual(),
            max_new: pass.max_new.unwrap_or(rules.strategy.max_new),
            max_partitions: rules.strategy.max_unavailable_partitions(partitions.len())?,
            unavailable,
            max_unavailable,
            writes: 0,
            planned: BTreeSet::new(),
            named,
            outcome: Outcome {
                deployments: Vec::new(),
                left_out: BTreeMap::new(),
                created: 0,
                taken_down: 0,
                unavailable_partitions: 0,
                more: false,
            },
        })
    }

    pub(super) fn work(mut self, world: &World) -> Outcome {
        let mut open = true;
        for partition in self.partitions {
            if open {
                self.update_some(world, partition);
                self.create_some(world, partition);
            } else {
                let reason = Reason::PartitionWaits {
                    partition: partition.name.clone(),
                };
                self.leave_out_all(&reason, &partition.missing, 0);
                self.leave_out_all(&reason, &partition.work, 0);
            }
            self.outcome.unavailable_partitions += i64::from(partition.undone > partition.max_unavailable);
            open &= self.outcome.unavailable_partitions <= self.max_partitions;
        }
        for order in &self.entry.homeless {
            self.leave_out(Reason::NoNamespace, order);
        }
        if self.manual {
            for order in self.entry.whole.missing.iter().chain(&self.entry.whole.work) {
                let placement = self.entry.placements.get(order);
                if placement.is_some_and(|placement| placement.partitions.is_empty()) {
                    self.leave_out(Reason::NoPartition, order);
                }
            }
        }
        if self.pass.all {
            self.list_the_rest(world);
        }
        self.outcome
    }

    /// Makes deployments where there are none, while limits allow.
    fn create_some(&mut self, world: &World, partition: &'a PartitionEntry) {
        for (done, order) in partition.missing.iter().enumerate() {
            if self.planned.contains(order) {
                continue;
            }
            let reason = if self.writes >= self.pass.max_writes {
                Reason::WriteLimit
            } else if self.outcome.created >= self.max_new {
                Reason::NewLimit { limit: self.max_new }
            } else {
                let Some(placement) = self.entry.placements.get(order) else {
                    continue;
                };
                self.outcome.created += 1;
                // What does not exist yet is unavailable anyway: no budget holds it back.
                let release = if placement.paused {
                    Release::Kept
                } else {
                    Release::Staged
                };
                if placement.paused {
                    self.leave_out(self.pause(world, order), order);
                }
                self.push(order, placement, release, (true, false));
                continue;
            };
            self.outcome.more = true;
            return self.leave_out_all(&reason, &partition.missing, done);
        }
    }

    /// Stages and releases where there are deployments, while budgets allow.
    fn update_some(&mut self, world: &World, partition: &'a PartitionEntry) {
        let mut unavailable = partition.unavailable;
        for (done, order) in partition.work.iter().enumerate() {
            if self.planned.contains(order) {
                continue;
            }
            if self.writes >= self.pass.max_writes {
                self.outcome.more = true;
                return self.leave_out_all(&Reason::WriteLimit, &partition.work, done);
            }
            self.update(world, partition, order, &mut unavailable);
        }
    }

    /// Decides one deployment that needs something.
    fn update(&mut self, world: &World, partition: &PartitionEntry, order: &'a Order, unavailable: &mut i64) {
        let Some(placement) = self.entry.placements.get(order) else {
            return;
        };
        let work = placement.seen.work;
        let release = if placement.paused {
            if work.release {
                self.leave_out(self.pause(world, order), order);
            }
            Release::Kept
        } else if work.release {
            match self
                .held_back(partition, *unavailable)
                .filter(|_| !placement.seen.unavailable)
            {
                Some(reason) => {
                    self.leave_out(reason, order);
                    Release::Kept
                }
                None => {
                    if !placement.seen.unavailable {
                        self.unavailable += 1;
                        self.outcome.taken_down += 1;
                        *unavailable += 1;
                    }
                    Release::Staged
                }
            }
        } else if work.diff {
            Release::KeptWithDiff
        } else {
            Release::Kept
        };
        if work.write || release != Release::Kept {
            self.push(order, placement, release, (false, true));
        } else if self.pass.all {
            self.push(order, placement, release, (false, false));
        }
    }

    /// The budget that does not allow one more available cluster to change.
    fn held_back(&self, partition: &PartitionEntry, unavailable: i64) -> Option<Reason> {
        if self.unavailable >= self.max_unavailable {
            let (unavailable, maximum) = (self.unavailable, self.max_unavailable);
            return Some(Reason::Budget {
                unavailable,
                maximum,
                partition: None,
            });
        }
        (unavailable >= partition.max_unavailable).then(|| Reason::Budget {
            unavailable,
            maximum: partition.max_unavailable,
            partition: Some(partition.name.clone()),
        })
    }

    fn pause(&self, world: &World, order: &Order) -> Reason {
        let cluster = world.cluster(&order.cluster()).is_some_and(|entry| entry.facts.paused);
        if cluster && !self.entry.bundle.spec.paused {
            Reason::ClusterPaused
        } else {
            Reason::BundlePaused
        }
    }

    fn leave_out(&mut self, reason: Reason, order: &Order) {
        let waiting = self.outcome.left_out.entry(reason).or_default();
        waiting.count += 1;
        if waiting.first.len() < self.named {
            waiting.first.push(order.clone());
        }
    }

    /// Leaves out all but the first `done` of a set, without walking those that are not named.
    fn leave_out_all(&mut self, reason: &Reason, orders: &BTreeSet<Order>, done: usize) {
        if orders.len() <= done {
            return;
        }
        let waiting = self.outcome.left_out.entry(reason.clone()).or_default();
        waiting.count += orders.len() - done;
        let room = self.named - waiting.first.len().min(self.named);
        waiting.first.extend(orders.iter().skip(done).take(room).cloned());
    }

    fn push(&mut self, order: &'a Order, placement: &Placement, release: Release, (create, update): (bool, bool)) {
        self.writes += usize::from(create || update);
        self.planned.insert(order);
        let cluster = order.cluster();
        self.outcome.deployments.push(DeploymentPlan {
            key: DeploymentKey::new(placement.home.clone(), self.entry.key.name.clone()),
            labels: Arc::new(self.entry.deployment_labels(&cluster)),
            cluster,
            create,
            update,
            staged: Some((
                Arc::clone(&placement.desired.options),
                Arc::clone(&placement.desired.id),
            )),
            release,
            namespace: Arc::new(self.entry.namespace_metadata().clone()),
            rest: Arc::new(self.entry.rest(placement)),
        });
    }

    fn list_the_rest(&mut self, world: &World) {
        let entry = self.entry;
        for (order, placement) in &entry.placements {
            if !self.planned.contains(order)
                && let Some(facts) = entry.facts(world, placement)
            {
                self.unchanged(order, placement, facts);
            }
        }
    }

    /// Lists a deployment that this pass leaves as it is, whether or not it should stay so.
    fn unchanged(&mut self, order: &'a Order, placement: &Placement, facts: &DeploymentFacts) {
        self.push(order, placement, Release::Kept, (false, false));
        let waits = placement.seen.work.any();
        if let Some(plan) = self.outcome.deployments.last_mut().filter(|_| waits) {
            plan.staged = None;
            let manifest = manifest_id(&facts.staged_id);
            if plan.labels.contains_key(fleet_api::labels::CONTENT_NAME) && !manifest.is_empty() {
                let mut labels = (*plan.labels).clone();
                labels.insert(fleet_api::labels::CONTENT_NAME.to_owned(), manifest.to_owned());
                plan.labels = Arc::new(labels);
            }
        }
    }
}
