//! The workload simulator.

/// How simulated workloads behave.
#[derive(Debug, Clone, Default)]
pub struct Workloads {}
