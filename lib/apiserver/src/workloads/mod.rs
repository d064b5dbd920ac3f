//! Makes workloads look alive where there is no kubelet: what a cluster's controllers and nodes would write into the
//! status of Deployments, StatefulSets, DaemonSets, Jobs, Pods, claims and load balancers.
//!
//! A simulator is a client of the server's API like the housekeeping controllers, and what it writes follows from the
//! objects alone; only how long something has been starting is remembered. It runs nothing. Mirrors, as far as statuses
//! go, upstream's workload controllers, kubelet, volume binder and a cloud's load balancers (as kwok does).

mod children;
mod condition;
mod pod;
mod simulator;
mod status;

pub use self::simulator::Simulator;

use std::time::Duration;

/// Annotation that makes a workload (or a single Pod or claim) fail; its value is the reason shown, for example
/// `ImagePullBackOff`.
pub const FAIL: &str = "workloads.fleet.dev/fail";

/// How simulated workloads behave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workloads {
    /// How long something takes to become ready (Jobs: to finish) after it was made or changed.
    pub delay: Duration,
    /// Which objects there are.
    pub detail: Detail,
}

/// Which objects the simulator makes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// None: only statuses are written. Costs least; a Deployment has no ReplicaSet to look at.
    #[default]
    Status,
    /// ReplicaSets, Pods and claims as a real cluster would have them.
    Pods,
}

#[cfg(test)]
mod tests;
