//! Removes releases that belong to nobody: their deployment is gone, or has its release under
//! another name or in another namespace now. Looks once after the start and whenever something
//! may have been left behind; never while nothing happens.

use std::sync::Arc;
use std::time::Duration;

use fleet_api::labels;
use fleet_deploy::deploy::{release_name, release_namespace};
use fleet_deploy::store;
use fleet_runtime::chain;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::deployment::{options_of, take_away};

/// Collects until `shutdown`.
pub(crate) async fn run(cx: Arc<Context>, interval: Duration, shutdown: CancellationToken) {
    tokio::select! {
        () = shutdown.cancelled() => return,
        () = cx.deployments.ready() => {}
    }
    loop {
        if collect(&cx).await {
            cx.litter.notify_one();
        }
        let next = async {
            cx.litter.notified().await;
            tokio::time::sleep(interval).await;
        };
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = next => {}
        }
    }
}

/// One pass. True if there may be more.
async fn collect(cx: &Context) -> bool {
    let releases = match store::newest_with(&cx.local, labels::AGENT_NAMESPACE, &cx.settings.namespace).await {
        Ok(releases) => releases,
        Err(error) => {
            tracing::warn!(error = chain(&error), "cannot look for releases without a deployment");
            return true;
        }
    };
    for release in releases {
        let Some(owner) = release
            .chart_annotation(labels::BUNDLE_ID)
            .filter(|owner| !owner.is_empty())
        else {
            continue;
        };
        let known = cx.deployments.find(&cx.upstream.namespace, owner);
        let wanted = known.as_ref().map(|deployment| {
            let options = options_of(deployment);
            (release_namespace(&options).to_owned(), release_name(owner, &options))
        });
        if wanted
            .as_ref()
            .is_some_and(|(namespace, name)| (namespace, name) == (&release.namespace, &release.name))
        {
            continue;
        }
        if let Err(message) = take_away(cx, owner, &release).await {
            tracing::warn!(
                release = release.name,
                error = message,
                "cannot remove a release without a deployment"
            );
            return true;
        }
        // One orphan at a time: a mistake upstream must not empty the cluster in one go.
        if wanted.is_none() {
            return true;
        }
    }
    false
}
