//! A deployment → what its tables show. Pure.

use fleet_api::{BundleDeployment, BundleDeploymentDisplay, labels};
use fleet_plan::rollup;

use crate::shell::{deleting, finalizers, has_finalizer};

/// What is to be done for a deployment.
#[derive(Debug, PartialEq)]
pub(super) enum Plan {
    /// As it should be.
    Nothing,
    /// Deletion has begun: let it go. The finalizers that remain.
    Release(Vec<String>),
    /// Show this.
    Show(BundleDeploymentDisplay),
}

pub(super) fn decide(deployment: &BundleDeployment) -> Plan {
    if deleting(deployment) {
        return if has_finalizer(deployment, labels::BUNDLE_DEPLOYMENT_FINALIZER) {
            Plan::Release(finalizers(deployment, labels::BUNDLE_DEPLOYMENT_FINALIZER, false))
        } else {
            Plan::Nothing
        };
    }
    let display = rollup::deployment_display(deployment);
    let shown = deployment.status.as_ref().and_then(|status| status.display.as_ref());
    if shown == Some(&display) {
        Plan::Nothing
    } else {
        Plan::Show(display)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_api::{BundleDeploymentStatus, Condition};

    #[test]
    fn the_display_follows_conditions_and_state() {
        let mut deployment = BundleDeployment::named("a");
        deployment.spec.deployment_id = "s:1".to_owned();
        let state = |deployment: &BundleDeployment| match decide(deployment) {
            Plan::Show(display) => (display.deployed, display.state),
            other => panic!("{other:?}"),
        };
        assert_eq!(state(&deployment), (String::new(), "WaitApplied".to_owned()));
        deployment.status = Some(BundleDeploymentStatus {
            conditions: vec![Condition {
                kind: "Deployed".to_owned(),
                status: "False".to_owned(),
                reason: "Error".to_owned(),
                message: "no".to_owned(),
                ..Condition::default()
            }],
            ..BundleDeploymentStatus::default()
        });
        assert_eq!(state(&deployment), ("Error: no".to_owned(), "ErrApplied".to_owned()));
        deployment.status.as_mut().unwrap().display = Some(BundleDeploymentDisplay {
            deployed: "Error: no".to_owned(),
            monitored: String::new(),
            state: "ErrApplied".to_owned(),
        });
        assert_eq!(decide(&deployment), Plan::Nothing);
    }
}
