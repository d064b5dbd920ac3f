//! The BundleDeployment reconciler: what the manager wants on this cluster becomes live objects,
//! and what is there becomes its status. One call at a time per deployment.

mod account;
mod act;
mod copies;
mod gate;
mod namespace;
mod observe;
mod report;
mod source;

use std::sync::Arc;

use fleet_api::{BundleDeployment, BundleDeploymentOptions};
use fleet_runtime::{Action, Disposition, Failure};

use crate::context::Context;

pub(crate) use act::take_away;
pub(crate) use gate::may_wait_for;

/// Why a call ended without its deployment being settled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A write or read on the management cluster.
    #[error(transparent)]
    Manager(#[from] fleet_runtime::Error),
    /// The status says what; here it only decides that there is another try.
    #[error("{0}")]
    Deploy(String),
    /// Something is in the way that goes away by itself.
    #[error("{0}")]
    Waiting(String, std::time::Duration),
    /// The release cannot be removed.
    #[error("uninstall: {0}")]
    Uninstall(String),
}

impl Failure for Error {
    fn disposition(&self) -> Disposition {
        match self {
            Self::Waiting(_, delay) => Disposition::RetryAfter(*delay),
            _ => Disposition::Retry,
        }
    }
}

/// The options, or the defaults if there are none.
pub(crate) fn options_of(deployment: &BundleDeployment) -> BundleDeploymentOptions {
    deployment.spec.options.clone().unwrap_or_default()
}

/// Whether the manager wants it left alone for now.
pub(crate) fn is_at_rest(deployment: &BundleDeployment) -> bool {
    deployment.spec.paused || deployment.spec.off_schedule || deployment.spec.waiting_for_values
}

pub(crate) async fn reconcile(name: String, cx: Arc<Context>) -> Result<Action, Error> {
    let Some(stored) = cx.deployments.find(&cx.upstream.namespace, &name) else {
        cx.watches.clear(&name);
        cx.patience.forget(&name);
        cx.unreported.forget(&name);
        cx.echoes.forget(&name);
        act::remove(&cx, &name).await?;
        return Ok(Action::AwaitChange);
    };
    if is_at_rest(&stored) {
        cx.watches.clear(&name);
        return Ok(Action::AwaitChange);
    }
    let deployment = cx.unreported.over(&stored);
    let facts = observe::observe(&deployment, &cx).await;
    let done = act::act(&deployment, facts, &cx).await;
    report::report(&stored, &done, &cx).await?;
    done.into_action()
}
