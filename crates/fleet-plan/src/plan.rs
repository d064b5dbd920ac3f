//! The answer for one bundle: what to write, what to remove, what its status says, and why clusters are left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet_api::{BundleDeploymentOptions, BundleDeploymentSpec, BundleStatus};

use crate::explain::Reason;
use crate::key::{BundleKey, ClusterKey, DeploymentKey};

/// How one pass over a bundle is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// New deployments at most; the bundle's own limit if absent.
    pub max_new: Option<usize>,
    /// Writes at most; what does not fit is left for the next pass ([`Plan::more`]).
    pub max_writes: usize,
    /// Bundle-wide roll-out budget as given, instead of counted: unavailable now, and at most.
    pub budget: Option<(i64, i64)>,
    /// Also list deployments that are as they should be.
    pub all: bool,
}

impl Pass {
    /// A pass of the manager: changes only, in slices.
    #[must_use]
    pub fn manager() -> Self {
        Self {
            max_new: None,
            max_writes: 2000,
            budget: None,
            all: false,
        }
    }

    /// A look ahead, as `fleet target` takes it: every target, no limit on new ones, the budget of the given status.
    #[must_use]
    pub fn preview(status: Option<&BundleStatus>) -> Self {
        let budget = status.map_or((0, 0), |status| (status.unavailable, status.max_unavailable));
        Self {
            max_new: Some(usize::MAX),
            max_writes: usize::MAX,
            budget: Some(budget),
            all: true,
        }
    }
}

/// What one bundle wants of the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The bundle.
    pub bundle: BundleKey,
    /// Name of the Content that must exist before deployments are written; absent for OCI and HelmOp content, and
    /// when nothing is targeted.
    pub content: Option<String>,
    /// Deployments to create or update, in order.
    pub deployments: Vec<DeploymentPlan>,
    /// Deployments to remove (with their options secrets).
    pub delete: Vec<DeploymentKey>,
    /// The status without its conditions and `ociReference`.
    pub status: BundleStatus,
    /// Message of the Ready condition; empty means ready.
    pub ready_message: String,
    /// Set if the bundle cannot be targeted at all: nothing else is to be done then, Ready is False with reason `Error`.
    pub problem: Option<Problem>,
    /// Clusters left out or held back, by reason.
    pub left_out: Vec<LeftOut>,
    /// There is more to write: ask again when these are written.
    pub more: bool,
}

/// Why a bundle cannot be targeted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// For people; says what, where, and on which cluster.
    pub message: String,
}

/// Clusters that are left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Why.
    pub reason: Reason,
    /// How many.
    pub count: usize,
    /// The first ten of them, by name.
    pub first: Vec<ClusterKey>,
}

/// One deployment as it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct DeploymentPlan {
    /// Where it lives.
    pub key: DeploymentKey,
    /// The cluster it is for.
    pub cluster: ClusterKey,
    /// It does not exist yet.
    pub create: bool,
    /// It exists and differs from this plan. Neither: listed only because all were asked for.
    pub update: bool,
    /// All its labels.
    pub labels: Arc<BTreeMap<String, String>>,
    /// Options (values included) and id of the next release; absent where what is staged stays as it is stored.
    pub staged: Option<(Arc<BundleDeploymentOptions>, Arc<str>)>,
    /// What becomes of the options and id of the release to run.
    pub release: Release,
    /// Labels and annotations for the release namespace that are added even to a release that is kept.
    pub namespace: Arc<(BTreeMap<String, String>, BTreeMap<String, String>)>,
    /// Everything of the spec that is not options, ids or values hash. Options, ids and `valuesHash` in it are empty.
    pub rest: Arc<BundleDeploymentSpec>,
}

/// What becomes of the release that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The staged options are released.
    Staged,
    /// What is stored stays.
    Kept,
    /// What is stored stays, with the staged `diff`: ids are equal, only what counts as drift changed.
    KeptWithDiff,
}

impl Problem {
    pub(crate) fn within(self, place: &str) -> Self {
        Self {
            message: format!("{place}: {}", self.message),
        }
    }
}
