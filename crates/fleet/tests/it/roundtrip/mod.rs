//! Releases go back and forth between this program and the real helm, on the embedded API server and on a real control
//! plane: what we deploy, helm 4 lists, shows, tests, rolls back, upgrades and uninstalls, and the agent repairs it; what
//! helm 3 and helm 4 installed becomes a bundle's, is upgraded, rolled back and uninstalled. The same bodies run against
//! both servers.
//!
//! Needs `HELM_BIN` (helm 4), `HELM3_BIN` (helm 3) and, for the second server, `KUBE_BIN_DIR`; `cargo xtask test` sets them.

mod ours;
mod site;
mod theirs;

use anyhow::Result;
use site::{Site, Tools};

#[tokio::test(flavor = "multi_thread")]
async fn releases_are_shared_with_helm_on_the_embedded_server() -> Result<()> {
    let Some(tools) = Tools::find()? else {
        return Ok(());
    };
    run(Site::embedded(tools).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_are_shared_with_helm_on_a_real_control_plane() -> Result<()> {
    let Some(tools) = Tools::find()? else {
        return Ok(());
    };
    let Some(programs) = site::control_plane()? else {
        return Ok(());
    };
    run(Site::real(tools, &programs).await?).await
}

async fn run(site: Site) -> Result<()> {
    let outcome = futures::future::try_join_all([
        Box::pin(ours::read_and_tested_by_helm(&site)) as futures::future::LocalBoxFuture<'_, Result<()>>,
        Box::pin(ours::changed_by_helm(&site)),
        Box::pin(ours::uninstalled_by_helm(&site)),
        Box::pin(theirs::adopted(&site, theirs::Origin::Helm3)),
        Box::pin(theirs::adopted(&site, theirs::Origin::Helm4)),
        Box::pin(theirs::adopted(&site, theirs::Origin::Helm4ClientSide)),
    ])
    .await;
    site.explain(outcome.map(|_| ()))
}
