//! The status, as one merge patch of what changed; nothing is sent if nothing did.

use fleet_api::BundleDeployment;
use fleet_runtime::write;
use kube::Api;

use super::Error;
use super::act::Done;
use crate::context::Context;

pub(super) async fn report(deployment: &BundleDeployment, done: &Done, cx: &Context) -> Result<(), Error> {
    if !done.store {
        return Ok(());
    }
    let api: Api<BundleDeployment> = Api::namespaced(cx.upstream.client.clone(), &cx.upstream.namespace);
    let written = write::status(&api, deployment, deployment.status.as_ref(), &done.status).await?;
    if let Some(mut object) = written {
        fleet_runtime::mirror::strip_metadata(&mut object);
        cx.deployments.note(object);
    }
    Ok(())
}
