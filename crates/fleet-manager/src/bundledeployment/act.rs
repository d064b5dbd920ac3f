//! Writes a deployment's display, or takes its finalizer away.

use fleet_api::BundleDeployment;
use fleet_runtime::{Action, Context, Error, write};
use serde_json::json;

use super::decide::Plan;
use crate::shell::{name, namespace};

pub(super) async fn act(deployment: &BundleDeployment, plan: Plan, cx: &Context) -> Result<Action, Error> {
    let api = cx.namespaced::<BundleDeployment>(namespace(deployment));
    match plan {
        Plan::Nothing => {}
        Plan::Release(remaining) => {
            let body =
                json!({"metadata": {"finalizers": remaining, "resourceVersion": deployment.metadata.resource_version}});
            match write::patch(&api, name(deployment), &body).await {
                Err(error) if !error.is_not_found() => return Err(error),
                _ => {}
            }
        }
        Plan::Show(display) => {
            let old = deployment.status.as_ref().and_then(|status| status.display.as_ref());
            let old = old.map(serde_json::to_value).and_then(Result::ok).unwrap_or_default();
            let new = serde_json::to_value(&display).unwrap_or_default();
            if let Some(change) = write::difference(&old, &new) {
                write::status_patch(&api, deployment, &json!({"status": {"display": change}})).await?;
            }
        }
    }
    Ok(Action::AwaitChange)
}
