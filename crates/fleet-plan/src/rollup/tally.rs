//! Counters by state.

use fleet_api::state::BundleState;
use fleet_api::{BundleSummary, ResourceCounts};

/// Deployments by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally([i64; BundleState::ALL.len()]);

pub(super) fn slot(state: BundleState) -> usize {
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
