//! Where the files of a deployment come from: the Content its id names, fetched once and kept
//! for the next deployment that uses it.

use std::sync::Arc;

use fleet_api::{BundleDeployment, Content};
use fleet_deploy::content::{self, Resource};
use fleet_runtime::ResultExt;
use kube::Api;

use crate::context::Context;

/// Why there are no files.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Get(#[from] fleet_runtime::Error),
    #[error(transparent)]
    Unpack(#[from] content::Error),
    #[error("{0} is not supported by this agent")]
    Unsupported(&'static str),
}

/// First part of a deployment id: names the content.
pub(crate) fn manifest_id(deployment: &BundleDeployment) -> &str {
    let id = deployment.spec.deployment_id.as_str();
    id.split_once(':').map_or(id, |(manifest, _)| manifest)
}

pub(crate) async fn fetch(deployment: &BundleDeployment, cx: &Context) -> Result<Arc<Vec<Resource>>, Error> {
    if deployment.spec.oci_contents {
        return Err(Error::Unsupported("content in an OCI registry"));
    }
    if deployment.spec.helm_chart_options.is_some() {
        return Err(Error::Unsupported("a chart from a repository"));
    }
    let id = manifest_id(deployment);
    if let Some(resources) = cx.contents.find(id) {
        return Ok(resources);
    }
    let api: Api<Content> = Api::all(cx.upstream.client.clone());
    let found = api.get(id).await.doing("get", || format!("content '{id}'"))?;
    let resources = Arc::new(content::unpack(&found.content, &found.sha256sum)?);
    cx.contents.keep(id, resources.clone());
    Ok(resources)
}

/// The failure as the status tells it: the server's or the reader's words.
pub(crate) fn message(error: &Error) -> String {
    fleet_runtime::chain(error)
}
