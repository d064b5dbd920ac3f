//! One pass over a bundle: which deployments are created, staged and released now, which have to wait, and what the
//! bundle's status says.
//!
//! Works off the placements that need something, partition by partition ([`Run`]), against counters; it never walks
//! placements that are as they should be (unless all are asked for).

use std::collections::BTreeMap;

use fleet_api::{BundleDisplay, BundleStatus, BundleSummary, PartitionStatus, state};

use super::bundle::{BundleEntry, Refusal};
use super::placement::{Order, PartitionEntry, Placement};
use super::run::{Outcome, Run, Waiting};
use super::world::World;
use crate::explain::{Explanation, Reason};
use crate::facts::DeploymentFacts;
use crate::key::{ClusterKey, DeploymentKey};
use crate::plan::{LeftOut, Pass, Plan, Problem};
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

    pub(super) fn facts<'w>(&self, world: &'w World, placement: &Placement) -> Option<&'w DeploymentFacts> {
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

fn listed(left_out: BTreeMap<Reason, Waiting>) -> Vec<LeftOut> {
    let named = |(reason, Waiting { count, first }): (Reason, Waiting)| LeftOut {
        reason,
        count,
        first: first.iter().map(Order::cluster).collect(),
    };
    left_out.into_iter().map(named).collect()
}
