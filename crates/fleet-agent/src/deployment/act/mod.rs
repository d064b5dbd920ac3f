//! What is written on this cluster for one deployment: copies, the release, namespace labels,
//! corrections. Every outcome, failures too, ends in [`Done`]; the status is made of it.

mod bring;
mod look;
mod remove;

use std::sync::Arc;
use std::time::Duration;

use fleet_api::{BundleDeployment, BundleDeploymentStatus, condition};
use fleet_deploy::cluster::Cluster;
use fleet_deploy::release::Ports;
use fleet_runtime::Action;
use serde_json::Value;

use super::observe::Facts;
use super::{Error, account};
use crate::context::Context;

pub(super) use remove::remove;
pub(crate) use remove::take_away;

/// Time after which bundles that are waited for are looked at again, if nothing told before.
const DEPENDENCY: Duration = Duration::from_secs(15);
/// Time after which a right that was missing is tried again.
const FORBIDDEN: Duration = Duration::from_secs(2 * 60);
/// Time between taking a release away and making it again, and after the first sign of a loss.
const OVERWRITE: Duration = Duration::from_secs(5);

/// What came of a call.
pub(super) struct Done {
    /// The status as it is now.
    pub(super) status: BundleDeploymentStatus,
    /// False if the status of this pass must not be stored.
    pub(super) store: bool,
    failures: Vec<String>,
    again: Option<Duration>,
}

impl Done {
    /// When to look again, or the failure that decides it.
    pub(super) fn into_action(self) -> Result<Action, Error> {
        match (self.failures.is_empty(), self.again) {
            (true, None) => Ok(Action::AwaitChange),
            (true, Some(delay)) => Ok(Action::After(delay)),
            (false, Some(delay)) => Err(Error::Waiting(self.failures.join("; "), delay)),
            (false, None) => Err(Error::Deploy(self.failures.join("; "))),
        }
    }
}

/// Rights and time for the actions on a release.
fn ports(cx: &Context, cluster: Cluster) -> Ports {
    let clock = cx.settings.clock.clone();
    Ports {
        cluster,
        agent: cx.local.clone(),
        now: Arc::new(move || clock.now()),
        charts: Arc::clone(&cx.charts),
    }
}

struct Pass<'a> {
    deployment: &'a BundleDeployment,
    cx: &'a Context,
    facts: Facts,
    done: Done,
    /// A new revision was made: what the status says of the one before is history.
    deployed: bool,
    /// Objects of the new revision as the server answered when they were written.
    written: Option<Vec<Value>>,
    account: Option<Cluster>,
}

pub(super) async fn act(deployment: &BundleDeployment, facts: Facts, cx: &Context) -> Done {
    let done = Done {
        status: deployment.status.clone().unwrap_or_default(),
        store: true,
        failures: Vec::new(),
        again: None,
    };
    let mut pass = Pass {
        deployment,
        cx,
        facts,
        done,
        deployed: false,
        written: None,
        account: None,
    };
    if pass.bring().await {
        pass.look().await;
    }
    pass.done
}

impl Pass<'_> {
    fn name(&self) -> &str {
        self.deployment.metadata.name.as_deref().unwrap_or_default()
    }

    fn set(&mut self, kind: &str, error: Option<&str>) {
        let now = self.cx.now();
        condition::set_error(&mut self.done.status.conditions, kind, "", error, now);
    }

    fn fail(&mut self, message: String) {
        self.set(condition::DEPLOYED, Some(&message));
        self.done.failures.push(message);
    }

    /// The cluster with the rights of the deployment's account, looked up when it is needed and
    /// once in a pass.
    async fn account(&mut self) -> Result<Cluster, String> {
        if let Some(cluster) = &self.account {
            return Ok(cluster.clone());
        }
        let cx = self.cx;
        let name = &self.facts.options.service_account;
        let cluster = account::cluster(&cx.local, &cx.settings.namespace, name).await?;
        self.account = Some(cluster.clone());
        Ok(cluster)
    }
}
