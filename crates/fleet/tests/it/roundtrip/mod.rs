//! Releases go back and forth between this program and the real helm, on the embedded API server and on a real control
//! plane: what we deploy, helm 4 lists, shows, tests, rolls back, upgrades and uninstalls, and the agent repairs it; what
//! helm 3 and helm 4 installed becomes a bundle's, is upgraded, rolled back and uninstalled. An agent may die after any of
//! its writes, and records may be damaged: whoever comes next goes on. The same bodies run against
//! both servers.
//!
//! Needs `HELM_BIN` (helm 4), `HELM3_BIN` (helm 3) and, for the second server, `KUBE_BIN_DIR`; `cargo xtask test` sets them.

mod killed;
mod ours;
mod rules;
mod site;
mod theirs;

use anyhow::{Result, ensure};
use futures::future::LocalBoxFuture;
use site::{Site, Tools};
use theirs::Origin;

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
    let stories: [(&str, LocalBoxFuture<'_, Result<()>>); 10] = [
        ("read and tested", Box::pin(ours::read_and_tested_by_helm(&site))),
        ("changed", Box::pin(ours::changed_by_helm(&site))),
        ("uninstalled", Box::pin(ours::uninstalled_by_helm(&site))),
        ("helm 3", Box::pin(theirs::adopted(&site, Origin::Helm3))),
        ("helm 4", Box::pin(theirs::adopted(&site, Origin::Helm4))),
        (
            "helm 4, client-side",
            Box::pin(theirs::adopted(&site, Origin::Helm4ClientSide)),
        ),
        ("killed", Box::pin(killed::killed_after_every_write(&site))),
        ("hooks", Box::pin(rules::hooks_come_and_go(&site))),
        ("definitions", Box::pin(rules::definitions_stay(&site))),
        ("records", Box::pin(rules::records_are_survived(&site))),
    ];
    let told = stories
        .into_iter()
        .map(|(name, story)| async move { story.await.err().map(|error| format!("{name}: {error:#}")) });
    let failures: Vec<String> = futures::future::join_all(told).await.into_iter().flatten().collect();
    ensure!(failures.is_empty(), "{}\n{}", failures.join("\n"), site.log_end());
    Ok(())
}
