//! How long is waited where no event tells that it goes on: after an error that the status calls
//! final, and for a values secret that is not there yet. Remembers times only, and only of
//! deployments that wait; after a restart of the agent the waiting begins anew.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fleet_runtime::disposition::Backoff;
use jiff::Timestamp;

/// Delays between tries after errors that are most likely still there: the obstacle on the
/// cluster may be removed, the cluster may be updated.
const SLOW: Backoff = Backoff {
    first: Duration::from_secs(2 * 60),
    most: Duration::from_secs(8 * 60),
};

/// Deployment and values secret are two writes of the manager: for so long one may be ahead.
const GRACE: Duration = Duration::from_secs(40);

struct Tries {
    /// The deployment id that failed; another one begins anew.
    id: String,
    failures: u32,
    next: Timestamp,
}

#[derive(Default)]
struct State {
    tries: BTreeMap<String, Tries>,
    /// Values hash that is waited for, and since when.
    values: BTreeMap<String, (String, Timestamp)>,
}

/// What the deployments of one agent wait for, by name.
#[derive(Default)]
pub(crate) struct Patience {
    state: Mutex<State>,
}

impl Patience {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a failure that is final for now. Returns the time to the next try.
    pub(crate) fn failed(&self, name: &str, id: &str, now: Timestamp) -> Duration {
        let mut state = self.state();
        let before = state.tries.get(name).filter(|tries| tries.id == id);
        let failures = before.map_or(0, |tries| tries.failures).saturating_add(1);
        let delay = SLOW.delay(failures, salt(name));
        let tries = Tries {
            id: id.to_owned(),
            failures,
            next: after(now, delay),
        };
        state.tries.insert(name.to_owned(), tries);
        delay
    }

    /// Time to the next try of what failed before; zero if it is due.
    pub(crate) fn left(&self, name: &str, id: &str, now: Timestamp) -> Duration {
        let known = self
            .state()
            .tries
            .get(name)
            .filter(|tries| tries.id == id)
            .map(|tries| tries.next);
        match known {
            Some(next) => between(now, next),
            None => self.failed(name, id, now),
        }
    }

    /// Whether the values have been waited for so long that the status should say so.
    pub(crate) fn is_long_for_values(&self, name: &str, hash: &str, now: Timestamp) -> bool {
        let mut state = self.state();
        match state.values.get(name) {
            Some((known, since)) if known == hash => between(*since, now) >= GRACE,
            _ => {
                state.values.insert(name.to_owned(), (hash.to_owned(), now));
                false
            }
        }
    }

    /// The values are there.
    pub(crate) fn have_values(&self, name: &str) {
        self.state().values.remove(name);
    }

    /// Nothing is waited for any more: it is deployed.
    pub(crate) fn deployed(&self, name: &str) {
        self.state().tries.remove(name);
    }

    /// The deployment is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.deployed(name);
        self.have_values(name);
    }
}

fn salt(name: &str) -> u64 {
    name.bytes()
        .fold(0, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)))
}

fn after(now: Timestamp, delay: Duration) -> Timestamp {
    now.checked_add(delay).unwrap_or(now)
}

/// Zero if `to` is not later.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(from.duration_until(to)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("in range")
    }

    #[test]
    fn tries_after_final_errors_get_rarer_up_to_a_bound() {
        let patience = Patience::default();
        let delays: Vec<u64> = (0..4)
            .map(|_| patience.failed("a", "id", at(0)).as_secs() / 60)
            .collect();
        assert_eq!(delays, [2, 4, 8, 8]);
        assert_eq!(patience.failed("a", "other", at(0)).as_secs() / 60, 2);
    }

    #[test]
    fn what_is_left_shrinks_to_zero() {
        let patience = Patience::default();
        let delay = patience.left("a", "id", at(0));
        assert!(delay >= SLOW.first);
        assert_eq!(patience.left("a", "id", at(60)), delay - Duration::from_secs(60));
        assert_eq!(patience.left("a", "id", at(1000)), Duration::ZERO);
        patience.deployed("a");
        assert_eq!(patience.left("a", "id", at(1000)), delay);
    }

    #[test]
    fn values_may_come_late_but_not_too_late() {
        let patience = Patience::default();
        let long = |hash: &str, second: i64| patience.is_long_for_values("a", hash, at(second));
        assert_eq!([long("1", 0), long("1", 39), long("1", 40)], [false, false, true]);
        assert_eq!([long("2", 41), long("2", 81)], [false, true]);
        patience.have_values("a");
        assert!(!long("2", 82));
    }
}
