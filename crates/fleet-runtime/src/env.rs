//! Environment variables that tune leader election. Upstream's names, Go durations.

use std::time::Duration;

/// How long a lease is valid without renewal; `30s` if absent.
pub const LEASE_DURATION: &str = "CATTLE_ELECTION_LEASE_DURATION";
/// How long the holder tries to renew before it gives up; `25s` if absent.
pub const RENEW_DEADLINE: &str = "CATTLE_ELECTION_RENEW_DEADLINE";
/// Time between two attempts; `10s` if absent.
pub const RETRY_PERIOD: &str = "CATTLE_ELECTION_RETRY_PERIOD";

/// A Go duration from the environment; `default` when absent or unreadable.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the place where the environment is read"
)]
pub fn duration(name: &str, default: Duration) -> Duration {
    std::env::var(name)
        .ok()
        .and_then(|text| fleet_api::Duration::parse(&text))
        .map_or(default, fleet_api::Duration::to_std)
}
