//! Environment variables of the agent, by upstream's names. The only place that reads them.

/// Namespace of the agent.
pub const NAMESPACE: &str = "NAMESPACE";
/// Suffix of object-set ids, for several agents on one cluster.
pub const AGENT_SCOPE: &str = "AGENT_SCOPE";
/// Time between check-ins, a Go duration; `15m` if empty or zero.
pub const CHECKIN_INTERVAL: &str = "CHECKIN_INTERVAL";
/// Bundle deployments worked on at the same time; 1 if absent, zero or no number.
pub const WORKERS: &str = "BUNDLEDEPLOYMENT_RECONCILER_WORKERS";
/// Upstream's number of drift workers; drift is the same queue here, and the greater number counts.
pub const DRIFT_WORKERS: &str = "DRIFT_RECONCILER_WORKERS";
/// Where `/healthz` and `/readyz` answer; `:8081` if absent.
pub const PROBE_ADDRESS: &str = "FLEET_AGENT_PROBE_BIND_ADDRESS";
/// Name of the pod; becomes a label of the cluster when it registers.
pub const HOSTNAME: &str = "HOSTNAME";
/// Further conditions that mean an error, as a JSON list.
pub const ERROR_MAPPING: &str = "CATTLE_WRANGLER_CHECK_GVK_ERROR_MAPPING";
/// Filter of the log, as `tracing` understands it.
pub const LOG: &str = "RUST_LOG";

/// A variable; empty if absent or not UTF-8.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the place where the environment is read"
)]
pub fn read(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
