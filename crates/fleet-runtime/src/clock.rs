//! Time as a capability, so that decisions can be tested at any moment.

use std::fmt::Debug;
use std::time::Duration;

use jiff::Timestamp;

/// Where the time comes from.
pub trait Clock: Send + Sync + Debug {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// `2006-01-02T15:04:05Z`, the form in which all times travel.
#[must_use]
pub fn rfc3339(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Reads RFC 3339; absent or unreadable is `None`.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// Time from `earlier` to `later`, zero if it is negative.
#[must_use]
pub fn between(earlier: Timestamp, later: Timestamp) -> Duration {
    later.duration_since(earlier).try_into().unwrap_or_default()
}

/// `moment` plus `duration`; the last representable moment if that is too far.
#[must_use]
pub fn after(moment: Timestamp, duration: Duration) -> Timestamp {
    moment.checked_add(duration).unwrap_or(Timestamp::MAX)
}
