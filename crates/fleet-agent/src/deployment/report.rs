//! The status, as one merge patch of what changed; nothing is sent if nothing did. A status that
//! could not be sent is kept for the next try.

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
    let name = deployment.metadata.name.as_deref().unwrap_or_default();
    let api: Api<BundleDeployment> = Api::namespaced(cx.upstream.client.clone(), &cx.upstream.namespace);
    cx.echoes.expect(name, &done.status);
    let written = write::status(&api, deployment, deployment.status.as_ref(), &done.status).await;
    let written = written.inspect_err(|_| {
        cx.echoes.forget(name);
        cx.unreported.keep(deployment, done.status.clone());
    })?;
    cx.unreported.forget(name);
    match written {
        Some(mut object) => {
            fleet_runtime::mirror::strip_metadata(&mut object);
            cx.deployments.note(object);
        }
        None => cx.echoes.forget(name),
    }
    Ok(())
}
