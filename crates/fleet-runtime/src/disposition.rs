//! When to try again. Every error of a reconciler answers two questions: what to do next and
//! under which name to report it. The default is to retry; terminal is the exception, and it
//! has an event that clears it.

use std::time::Duration;

/// What follows a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// With growing delay.
    Retry,
    /// After this long.
    RetryAfter(Duration),
    /// When the object or something it depends on changes.
    AwaitChange,
}

/// An error that knows what should follow it.
pub trait Failure: std::error::Error + Send + Sync + 'static {
    /// What should follow.
    fn disposition(&self) -> Disposition {
        Disposition::Retry
    }
    /// One word for conditions and metrics.
    fn reason(&self) -> &'static str {
        "Error"
    }
}

/// Growing delays: `first · 2ⁿ`, at most `most`, each stretched by up to a tenth that is drawn
/// from the key, so that many keys that fail together do not come back together.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// After the first failure.
    pub first: Duration,
    /// Upper bound.
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(50),
            most: Duration::from_secs(60),
        }
    }
}

impl Backoff {
    /// The delay after `failures` failures in a row (1 is the first). `salt` spreads keys.
    #[must_use]
    pub fn delay(&self, failures: u32, salt: u64) -> Duration {
        let doubled = self.first.saturating_mul(1_u32 << failures.saturating_sub(1).min(20));
        let delay = doubled.min(self.most);
        delay + delay.mul_f64((salt % 1000) as f64 / 10_000.0)
    }
}

/// The delay that follows `failure`, the `failures`-th in a row. `None` waits for a change.
#[must_use]
pub fn error_policy(failure: &dyn Failure, backoff: &Backoff, failures: u32, salt: u64) -> Option<Duration> {
    match failure.disposition() {
        Disposition::Retry => Some(backoff.delay(failures, salt)),
        Disposition::RetryAfter(delay) => Some(delay),
        Disposition::AwaitChange => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_bound() {
        let backoff = Backoff {
            first: Duration::from_secs(1),
            most: Duration::from_secs(5),
        };
        let delays: Vec<u64> = (1..6).map(|n| backoff.delay(n, 0).as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 5, 5]);
        assert!(backoff.delay(u32::MAX, 999) < Duration::from_millis(5500));
    }
}
