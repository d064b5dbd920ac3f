//! What an agent is told from outside, resolved and checked.

use std::sync::Arc;
use std::time::Duration;

use fleet_deploy::summary::ErrorConditions;
use fleet_runtime::{Clock, SystemClock};

/// Time between check-ins when nobody says otherwise.
pub const CHECKIN: Duration = Duration::from_secs(15 * 60);

/// Settings of one agent.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Namespace of the agent on its own cluster.
    pub namespace: String,
    /// Suffix of object-set ids; empty for the only agent of a cluster.
    pub scope: String,
    /// Time between check-ins.
    pub checkin_interval: Duration,
    /// Time from the start to the first check-in.
    pub checkin_delay: Duration,
    /// Bundle deployments worked on at the same time.
    pub workers: usize,
    /// Name under which the agent registers itself (label of the cluster).
    pub hostname: String,
    /// Conditions that mean an error.
    pub error_conditions: ErrorConditions,
    /// Time that changes of live objects are collected before they are looked at.
    pub drift_delay: Duration,
    /// Source of time.
    pub clock: Arc<dyn Clock>,
}

impl Settings {
    /// Settings of the only agent of a cluster, in `namespace`.
    #[must_use]
    pub fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            scope: String::new(),
            checkin_interval: CHECKIN,
            checkin_delay: Duration::from_secs(15),
            workers: 1,
            hostname: String::new(),
            error_conditions: ErrorConditions::default(),
            drift_delay: Duration::from_millis(250),
            clock: Arc::new(SystemClock),
        }
    }
}
