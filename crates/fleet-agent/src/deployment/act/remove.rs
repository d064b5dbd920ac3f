//! Takes releases away: of deployments that are gone, and those that belong to nobody.

use fleet_api::labels;
use fleet_deploy::{release, store};
use fleet_runtime::chain;
use helm::release::Release;

use super::ports;
use crate::context::Context;
use crate::deployment::{Error, account, copies};

/// Removes everything of a deployment that is gone.
pub(in crate::deployment) async fn remove(cx: &Context, name: &str) -> Result<(), Error> {
    let failed = |message: String| Error::Uninstall(message);
    let releases = store::newest_with(&cx.local, labels::BUNDLE_ID, name)
        .await
        .map_err(|error| failed(chain(&error)))?;
    for release in releases {
        if release.chart_annotation(labels::AGENT_NAMESPACE) == Some(&cx.settings.namespace) {
            take_away(cx, name, &release).await.map_err(failed)?;
        }
    }
    copies::remove(&cx.local, name).await.map_err(failed)
}

/// Removes one release of a deployment, with the rights it was deployed with.
pub(crate) async fn take_away(cx: &Context, deployment: &str, release: &Release) -> Result<(), String> {
    let history = store::history(&cx.local, &release.namespace, &release.name)
        .await
        .map_err(|error| chain(&error))?;
    let ours = history
        .clone()
        .only(|revision| revision.chart_annotation(labels::BUNDLE_ID) == Some(deployment));
    let account = ours
        .all()
        .filter_map(|revision| revision.chart_annotation(labels::SERVICE_ACCOUNT))
        .find(|account| !account.is_empty())
        .unwrap_or_default()
        .to_owned();
    let cluster = account::cluster(&cx.local, &cx.settings.namespace, &account).await?;
    let ports = ports(cx, cluster);
    let keep = release.chart_annotation(labels::KEEP_RESOURCES) == Some("true");
    let outcome = if keep || deployment.starts_with("fleet-agent") {
        release::forget(&ports, &ours).await
    } else {
        release::uninstall(&ports, &history).await
    };
    tracing::info!(
        deployment,
        release = release.name,
        namespace = release.namespace,
        keep,
        "removed release"
    );
    outcome.map_err(|error| chain(&error))
}
