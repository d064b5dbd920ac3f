//! One targeted cluster: what it should run, how far that is, and sums over such.

use std::collections::BTreeSet;
use std::sync::Arc;

use fleet_api::BundleDeploymentOptions;
use fleet_api::state::BundleState;

use crate::key::ClusterKey;
use crate::rollup::Tally;

/// Clusters in the order in which targets are worked off: by name, then namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Order {
    pub(super) name: String,
    pub(super) namespace: String,
}

impl Order {
    pub(super) fn of(key: &ClusterKey) -> Self {
        Self {
            name: key.name.clone(),
            namespace: key.namespace.clone(),
        }
    }

    pub(super) fn cluster(&self) -> ClusterKey {
        ClusterKey::new(self.namespace.clone(), self.name.clone())
    }
}

/// What some clusters should run: shared by all whose options are the same.
#[derive(Debug)]
pub(super) struct Desired {
    pub(super) options: Arc<BundleDeploymentOptions>,
    pub(super) id: Arc<str>,
    pub(super) staged_mark: u64,
    pub(super) diff_mark: u64,
}

/// One targeted cluster.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) desired: Arc<Desired>,
    pub(super) home: String,
    pub(super) paused: bool,
    pub(super) off_schedule: bool,
    pub(super) labels_mark: u64,
    pub(super) seen: Seen,
    /// Partitions it belongs to, by position.
    pub(super) partitions: Vec<usize>,
}

/// How far a placement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) state: BundleState,
    /// It exists and does not run what it was told, or not well.
    pub(super) unavailable: bool,
    /// It exists, runs what it should, and well.
    pub(super) done: bool,
    pub(super) work: Work,
}

impl Seen {
    /// Whether a placement that was seen as `old` needs no look after a write: nothing new is to be done, and what it
    /// counts for is the same, save that it became unavailable by the release it got.
    pub(super) fn follows(self, old: Self) -> bool {
        self.state == old.state
            && self.done == old.done
            && (self.unavailable == old.unavailable || (self.unavailable && !self.work.release))
            && self.work.within(old.work)
    }
}

/// What a placement needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) create: bool,
    /// Something besides the release differs from what is stored.
    pub(super) write: bool,
    /// The stored release is not the one wanted.
    pub(super) release: bool,
    /// The release is the one wanted, its `diff` is not.
    pub(super) diff: bool,
}

impl Work {
    pub(super) fn any(self) -> bool {
        self != Self::default()
    }

    fn within(self, other: Self) -> bool {
        let implied = |this: bool, that: bool| !this || that;
        implied(self.create, other.create)
            && implied(self.write, other.write)
            && implied(self.release, other.release)
            && implied(self.diff, other.diff)
    }
}

/// One partition of the roll-out and its sums.
#[derive(Debug, Default)]
pub(super) struct PartitionEntry {
    pub(super) name: String,
    pub(super) max_unavailable: i64,
    pub(super) tally: Tally,
    pub(super) not_ready: BTreeSet<Order>,
    /// Members without a deployment.
    pub(super) missing: BTreeSet<Order>,
    /// Members whose deployment needs something.
    pub(super) work: BTreeSet<Order>,
    pub(super) unavailable: i64,
    pub(super) undone: i64,
}

impl PartitionEntry {
    pub(super) fn count(&mut self, order: &Order, seen: Seen) {
        self.tally.count(seen.state);
        self.unavailable += i64::from(seen.unavailable);
        self.undone += i64::from(!seen.done);
        if seen.state != BundleState::Ready {
            self.not_ready.insert(order.clone());
        }
        if seen.work.create {
            self.missing.insert(order.clone());
        } else if seen.work.any() {
            self.work.insert(order.clone());
        }
    }

    pub(super) fn discount(&mut self, order: &Order, seen: Seen) {
        self.tally.discount(seen.state);
        self.unavailable -= i64::from(seen.unavailable);
        self.undone -= i64::from(!seen.done);
        self.not_ready.remove(order);
        self.missing.remove(order);
        self.work.remove(order);
    }
}
