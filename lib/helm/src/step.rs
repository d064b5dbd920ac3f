//! What to do next with a release, from what its history says. Turns the stored revisions into
//! a closed [`State`], and a state plus what was already done into the next [`Step`]. Pure: no
//! clock, no cluster. Mirrors Helm's choice of install, upgrade and base revision, and Fleet's
//! recovery of operations whose program died.

use crate::release::Status;

/// What history knows of one revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Number, from 1.
    pub number: i64,
    /// How far it got.
    pub status: Status,
}

/// Where a release stands. Closed: every history is exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No revision is stored.
    Absent,
    /// The last revision was removed, its record was kept.
    Removed {
        /// The last revision.
        last: i64,
    },
    /// A removal was under way and whoever did it is gone.
    Removing {
        /// The last revision.
        last: i64,
    },
    /// An operation was under way and whoever did it is gone.
    Pending {
        /// The unfinished revision.
        last: i64,
        /// The revision before it, if its record is still there.
        before: Option<i64>,
    },
    /// There is a revision whose objects can be built upon.
    Present {
        /// The last revision.
        last: i64,
        /// The revision whose objects are there: the last deployed one, else the last one.
        base: i64,
    },
}

/// One thing to do. Each runs at most once in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Finish a removal that was cut short.
    FinishRemoval {
        /// The last revision.
        last: i64,
    },
    /// Write `failed` over a pending record that has nothing to go back to.
    MarkFailed {
        /// The pending revision.
        revision: i64,
    },
    /// Go back to an earlier revision's objects, as a revision of its own.
    RollBack {
        /// Revision whose manifest is applied.
        to: i64,
        /// The last revision; the new one is its successor.
        last: i64,
    },
    /// First revision, or the first after a removal.
    Install {
        /// Number of the new revision.
        revision: i64,
    },
    /// Next revision.
    Upgrade {
        /// Revision whose objects are there.
        base: i64,
        /// Number of the new revision.
        revision: i64,
    },
}

/// The answer of [`next_step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Do this, then look again.
    Run(Step),
    /// Everything was done.
    Settled,
    /// The same repair would run a second time: somebody else works on this release.
    Contended,
}

/// The state a history stands for. `history` may be in any order.
#[must_use]
pub fn release_state(history: &[Revision]) -> State {
    let Some(last) = history.iter().max_by_key(|revision| revision.number) else {
        return State::Absent;
    };
    let number = last.number;
    match last.status {
        Status::Uninstalled => State::Removed { last: number },
        Status::Uninstalling => State::Removing { last: number },
        status if status.is_pending() => State::Pending {
            last: number,
            before: history
                .iter()
                .map(|revision| revision.number)
                .find(|other| *other == number - 1),
        },
        Status::Deployed => State::Present {
            last: number,
            base: number,
        },
        _ => State::Present {
            last: number,
            base: history
                .iter()
                .filter(|revision| revision.status == Status::Deployed)
                .map(|revision| revision.number)
                .max()
                .unwrap_or(number),
        },
    }
}

/// What to do next to get one new revision deployed, given what this pass already did.
#[must_use]
pub fn next_step(state: State, done: &[Step]) -> Next {
    if done
        .iter()
        .any(|step| matches!(step, Step::Install { .. } | Step::Upgrade { .. }))
    {
        return Next::Settled;
    }
    let step = match state {
        State::Absent => Step::Install { revision: 1 },
        State::Removed { last } => Step::Install { revision: last + 1 },
        State::Removing { last } => Step::FinishRemoval { last },
        State::Pending { last, before: None } => Step::MarkFailed { revision: last },
        State::Pending { last, before: Some(to) } => Step::RollBack { to, last },
        State::Present { last, base } => Step::Upgrade {
            base,
            revision: last + 1,
        },
    };
    if done
        .iter()
        .any(|other| std::mem::discriminant(other) == std::mem::discriminant(&step))
    {
        return Next::Contended;
    }
    Next::Run(step)
}

/// Revisions to remove so that at most `keep` stay; the last deployed one always stays.
#[must_use]
pub fn surplus(history: &[Revision], keep: usize) -> Vec<i64> {
    let deployed = history
        .iter()
        .filter(|revision| revision.status == Status::Deployed)
        .map(|revision| revision.number)
        .max();
    let mut numbers: Vec<i64> = history.iter().map(|revision| revision.number).collect();
    numbers.sort_unstable();
    let excess = numbers.len().saturating_sub(keep);
    numbers
        .into_iter()
        .filter(|number| Some(*number) != deployed)
        .take(excess)
        .collect()
}

/// The last revision that once was deployed: what a failed upgrade goes back to.
#[must_use]
pub fn last_good(history: &[Revision]) -> Option<i64> {
    history
        .iter()
        .filter(|revision| matches!(revision.status, Status::Deployed | Status::Superseded))
        .map(|revision| revision.number)
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(text: &[(i64, Status)]) -> Vec<Revision> {
        text.iter()
            .map(|(number, status)| Revision {
                number: *number,
                status: *status,
            })
            .collect()
    }

    fn steps(text: &[(i64, Status)]) -> Next {
        next_step(release_state(&history(text)), &[])
    }

    #[test]
    fn every_history_has_a_next_step() {
        use Status::{Deployed, Failed, PendingInstall, PendingUpgrade, Superseded, Uninstalled, Uninstalling};
        assert_eq!(steps(&[]), Next::Run(Step::Install { revision: 1 }));
        assert_eq!(steps(&[(1, Uninstalled)]), Next::Run(Step::Install { revision: 2 }));
        assert_eq!(steps(&[(1, Uninstalling)]), Next::Run(Step::FinishRemoval { last: 1 }));
        assert_eq!(
            steps(&[(1, PendingInstall)]),
            Next::Run(Step::MarkFailed { revision: 1 })
        );
        assert_eq!(
            steps(&[(2, PendingUpgrade), (1, Superseded)]),
            Next::Run(Step::RollBack { to: 1, last: 2 })
        );
        assert_eq!(
            steps(&[(4, Failed), (3, Deployed)]),
            Next::Run(Step::Upgrade { base: 3, revision: 5 })
        );
        assert_eq!(
            steps(&[(2, Failed), (1, Failed)]),
            Next::Run(Step::Upgrade { base: 2, revision: 3 })
        );
    }

    #[test]
    fn no_repair_runs_twice_in_one_pass() {
        let state = State::Pending {
            last: 3,
            before: Some(2),
        };
        assert_eq!(next_step(state, &[Step::RollBack { to: 1, last: 2 }]), Next::Contended);
        assert_eq!(
            next_step(state, &[Step::Upgrade { base: 1, revision: 2 }]),
            Next::Settled
        );
    }

    #[test]
    fn a_failed_upgrade_goes_back_to_what_was_deployed_last() {
        use Status::{Deployed, Failed, PendingRollback, Superseded};
        let kept = history(&[(1, Superseded), (2, Deployed), (3, Failed), (4, PendingRollback)]);
        assert_eq!(last_good(&kept), Some(2));
        assert_eq!(last_good(&history(&[(1, Failed)])), None);
    }

    #[test]
    fn the_deployed_revision_is_never_surplus() {
        let kept = history(&[(1, Status::Deployed), (2, Status::Failed), (3, Status::Failed)]);
        assert_eq!(surplus(&kept, 1), [2, 3]);
        assert_eq!(surplus(&kept, 3), [0_i64; 0]);
        assert_eq!(
            surplus(&history(&[(1, Status::Superseded), (2, Status::Deployed)]), 1),
            [1]
        );
    }
}
