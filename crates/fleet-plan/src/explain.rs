//! Why a cluster does not get a bundle, or not yet: data for conditions, `fleet target --explain` and the UI.

use std::fmt;

use crate::key::{BundleKey, ClusterKey};

/// Why one cluster is left out or held back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Neither in the bundle's namespace nor mapped to it.
    OutOfReach,
    /// No target selects it.
    NoTarget,
    /// Targets select it, no restriction does.
    Restricted,
    /// The target (or customization) of this name says so.
    DoNotDeploy {
        /// Name of the target; `targets[n]` if it has none.
        target: String,
    },
    /// The cluster has no namespace for its deployments yet.
    NoNamespace,
    /// Enough new deployments were made in this pass.
    NewLimit {
        /// The limit.
        limit: usize,
    },
    /// Enough was written in this pass.
    WriteLimit,
    /// An earlier partition is not done.
    PartitionWaits {
        /// Name of the partition that has to wait.
        partition: String,
    },
    /// It belongs to none of the partitions that were defined.
    NoPartition,
    /// Too many are unavailable; the new release is staged.
    Budget {
        /// Unavailable now.
        unavailable: i64,
        /// At most.
        maximum: i64,
        /// The partition whose budget it is; absent for the whole bundle's.
        partition: Option<String>,
    },
    /// The bundle is paused; the new release is staged.
    BundlePaused,
    /// The cluster is paused; the new release is staged.
    ClusterPaused,
    /// The cluster is outside of its schedule; its agent holds back changes.
    OffSchedule,
    /// The agent's values secret is missing.
    WaitingForValues,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfReach => f.write_str("neither in the bundle's namespace nor in a mapped one"),
            Self::NoTarget => f.write_str("no target selects it"),
            Self::Restricted => f.write_str("no target restriction selects it"),
            Self::DoNotDeploy { target } => write!(f, "'{target}' says doNotDeploy"),
            Self::NoNamespace => f.write_str("the cluster has no namespace for its deployments yet"),
            Self::NewLimit { limit } => write!(f, "waits: at most {limit} new deployments per pass"),
            Self::WriteLimit => f.write_str("waits for the next batch of writes"),
            Self::PartitionWaits { partition } => {
                write!(f, "waits: '{partition}' starts when earlier partitions are available")
            }
            Self::NoPartition => f.write_str("no partition of the rollout strategy selects it"),
            Self::Budget {
                unavailable,
                maximum,
                partition: None,
            } => {
                write!(f, "waits: {unavailable} clusters are unavailable, {maximum} may be")
            }
            Self::Budget {
                unavailable,
                maximum,
                partition: Some(partition),
            } => {
                write!(
                    f,
                    "waits: {unavailable} clusters of '{partition}' are unavailable, {maximum} may be"
                )
            }
            Self::BundlePaused => f.write_str("the bundle is paused"),
            Self::ClusterPaused => f.write_str("the cluster is paused"),
            Self::OffSchedule => f.write_str("the cluster is outside of its schedule"),
            Self::WaitingForValues => f.write_str("the secret with its values is missing"),
        }
    }
}

/// Every cluster that does not run the newest release, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The bundle.
    pub bundle: BundleKey,
    /// Clusters in order, with their reasons.
    pub clusters: Vec<(ClusterKey, Reason)>,
}
