//! One pass over a bundle: which deployments are created, staged and released now, which have to wait, and what the
//! bundle's status says.
//!
//! Works off the placements that need something, partition by partition, against counters; it never walks placements
//! that are as they should be (unless all are asked for).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet_api::{BundleDisplay, BundleStatus, BundleSummary, PartitionStatus, deployment_id::manifest_id, state};

use super::bundle::{BundleEntry, Order, PartitionEntry, Placement, Refusal, Rules};
use super::world::World;
use crate::explain::{Explanation, Reason};
use crate::facts::DeploymentFacts;
use crate::key::{ClusterKey, DeploymentKey};
use crate::plan::{DeploymentPlan, LeftOut, Pass, Plan, Problem, Release};
use crate::rollup::{LISTED, MAX_NON_READY};

impl BundleEntry {
    pub(super) fn plan(&mut self, world: &World, pass: &Pass) -> Plan {
        match self.try_plan(world, pass) {
            Ok(plan) => plan,
            Err(problem) => Plan {
                bundle: self.key.clone(),
                content: None,
                deployments: Vec::new(),
                delete: Vec::new(),
                status: self.status(world, None, 0),
                ready_message: problem.message.clone(),
                problem: Some(problem),
                left_out: Vec::new(),
                more: false,
            },
        }
    }

    fn try_plan(&mut self, world: &World, pass: &Pass) -> Result<Plan, Problem> {
        if let Some(message) = self.failures.values().next() {
            return Err(Problem {
                message: message.clone(),
            });
        }
        self.cut(world)?;
        let rules = self.rules.as_ref().map_err(Clone::clone)?;
        let partitions = self.partitions.as_deref().unwrap_or_default();
        let run = Run::new(self, rules, partitions, pass, MAX_NON_READY)?;
        let Outcome {
            deployments,
            left_out,
            created,
            taken_down,
            unavailable_partitions,
            mut more,
        } = run.work(world);
        let mut delete: Vec<DeploymentKey> = self
            .orphans
            .iter()
            .filter(|key| {
                world
                    .deployments
                    .get(key)
                    .is_some_and(|facts| !facts.off_schedule && !facts.deleting)
            })
            .cloned()
            .collect();
        let room = pass
            .max_writes
            .saturating_sub(deployments.iter().filter(|d| d.create || d.update).count());
        if delete.len() > room {
            delete.truncate(room);
            more = true;
        }
        let budgets = Budgets {
            taken_down,
            max_unavailable: rules.strategy.max_unavailable(self.placements.len())?,
            max_unavailable_partitions: rules.strategy.max_unavailable_partitions(partitions.len())?,
            unavailable_partitions,
        };
        let status = self.status(world, Some(budgets), created);
        let ready_message = state::ready_message(&status.summary, "Cluster");
        Ok(Plan {
            bundle: self.key.clone(),
            content: self
                .content()
                .filter(|_| !self.placements.is_empty())
                .map(str::to_owned),
            deployments,
            delete,
            status,
            ready_message,
            problem: None,
            left_out: listed(left_out),
            more,
        })
    }

    pub(super) fn explain(&mut self, world: &World) -> Explanation {
        let mut clusters = BTreeMap::new();
        for namespace in self.reach.clone() {
            for name in world.clusters.get(&namespace).into_iter().flat_map(BTreeMap::keys) {
                let key = ClusterKey::new(namespace.clone(), name.clone());
                if !self.placements.contains_key(&Order::of(&key))
                    && let Err(Refusal::Left(reason)) = self.place(world, &key)
                {
                    clusters.insert(key, reason);
                }
            }
        }
        let pass = Pass {
            max_writes: usize::MAX,
            ..Pass::manager()
        };
        if self.failures.is_empty()
            && self.cut(world).is_ok()
            && let Ok(rules) = &self.rules
            && let Ok(run) = Run::new(
                self,
                rules,
                self.partitions.as_deref().unwrap_or_default(),
                &pass,
                usize::MAX,
            )
        {
            for (reason, Waiting { first, .. }) in run.work(world).left_out {
                clusters.extend(first.into_iter().map(|order| (order.cluster(), reason.clone())));
            }
        }
        for (order, placement) in &self.placements {
            let facts = self.facts(world, placement);
            let reason = if facts.is_some_and(|facts| facts.waiting_for_values) {
                Reason::WaitingForValues
            } else if placement.off_schedule && placement.seen.state != state::BundleState::Ready {
                Reason::OffSchedule
            } else {
                continue;
            };
            clusters.entry(order.cluster()).or_insert(reason);
        }
        Explanation {
            bundle: self.key.clone(),
            clusters: clusters.into_iter().collect(),
        }
    }

    fn facts<'w>(&self, world: &'w World, placement: &Placement) -> Option<&'w DeploymentFacts> {
        let key = DeploymentKey::new(placement.home.clone(), self.key.name.clone());
        world.deployments.get(&key).filter(|facts| facts.bundle == self.key)
    }

    /// Cuts targets into partitions, if that has to be done again.
    fn cut(&mut self, world: &World) -> Result<(), Problem> {
        if self.partitions.is_some() {
            return Ok(());
        }
        let rules = self.rules.as_ref().map_err(Clone::clone)?;
        let orders: Vec<Order> = self.placements.keys().cloned().collect();
        let cuts = rules.strategy.partitions(orders.len(), |criteria, at| {
            let key = orders[at].cluster();
            world
                .cluster(&key)
                .is_some_and(|entry| criteria.matches_any(&world.candidate(&key, entry)))
        })?;
        let mut partitions = Vec::with_capacity(cuts.len());
        for placement in self.placements.values_mut() {
            placement.partitions.clear();
        }
        for (at, cut) in cuts.into_iter().enumerate() {
            let mut entry = PartitionEntry {
                name: cut.name,
                max_unavailable: cut.max_unavailable,
                ..PartitionEntry::default()
            };
            for order in cut.members.into_iter().map(|member| &orders[member]) {
                if let Some(placement) = self.placements.get_mut(order) {
                    placement.partitions.push(at);
                    entry.count(order, placement.seen);
                }
            }
            partitions.push(entry);
        }
        self.partitions = Some(partitions);
        Ok(())
    }

    fn status(&self, world: &World, budgets: Option<Budgets>, created: usize) -> BundleStatus {
        let Budgets {
            taken_down,
            max_unavailable,
            max_unavailable_partitions,
            unavailable_partitions,
        } = budgets.unwrap_or_default();
        let summary = self.summary(world, &self.whole);
        let partitions = self.partitions.iter().flatten().filter(|_| budgets.is_some());
        BundleStatus {
            unavailable: self.whole.unavailable + taken_down,
            unavailable_partitions,
            max_unavailable,
            max_unavailable_partitions,
            display: BundleDisplay {
                ready_clusters: format!("{}/{}", summary.ready, summary.desired_ready),
                state: summary.worst_state().to_owned(),
            },
            summary,
            observed_generation: self.generation,
            conditions: Vec::new(),
            newly_created: i64::try_from(created).unwrap_or(i64::MAX),
            partitions: partitions
                .take(LISTED)
                .map(|partition| PartitionStatus {
                    summary: self.summary(world, partition),
                    name: partition.name.clone(),
                    count: partition.tally.total(),
                    max_unavailable: partition.max_unavailable,
                    unavailable: partition.unavailable,
                })
                .collect(),
            oci_reference: String::new(),
            resources_sha256_sum: String::new(),
        }
    }

    fn summary(&self, world: &World, sums: &PartitionEntry) -> BundleSummary {
        let mut summary = sums.tally.summary();
        for order in sums.not_ready.iter().take(MAX_NON_READY) {
            let Some(placement) = self.placements.get(order) else {
                continue;
            };
            let name = order.cluster().to_string();
            let id = &placement.desired.id;
            let mut entry = self
                .facts(world, placement)
                .map_or_else(|| pending(name.clone()), |facts| facts.non_ready(name.clone(), id));
            entry.state = placement.seen.state.as_str().to_owned();
            summary.non_ready_resources.push(entry);
        }
        summary
    }
}

fn pending(name: String) -> fleet_api::NonReadyResource {
    fleet_api::NonReadyResource {
        name,
        ..Default::default()
    }
}

#[derive(Clone, Copy, Default)]
struct Budgets {
    taken_down: i64,
    max_unavailable: i64,
    max_unavailable_partitions: i64,
    unavailable_partitions: i64,
}

/// How many wait for one reason, and the first of them.
#[derive(Default)]
struct Waiting {
    count: usize,
    first: Vec<Order>,
}

/// What a pass found.
struct Outcome {
    deployments: Vec<DeploymentPlan>,
    left_out: BTreeMap<Reason, Waiting>,
    created: usize,
    /// Available deployments that get a new release.
    taken_down: i64,
    unavailable_partitions: i64,
    more: bool,
}

/// A pass on its way through the partitions.
struct Run<'a> {
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
    fn new(
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

    fn work(mut self, world: &World) -> Outcome {
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

fn listed(left_out: BTreeMap<Reason, Waiting>) -> Vec<LeftOut> {
    let named = |(reason, Waiting { count, first }): (Reason, Waiting)| LeftOut {
        reason,
        count,
        first: first.iter().map(Order::cluster).collect(),
    };
    left_out.into_iter().map(named).collect()
}
