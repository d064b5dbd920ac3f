//! An agent that dies after any write: whoever comes next finishes or repairs what it finds, without a human.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};
use fleet_api::BundleDeploymentOptions;
use fleet_deploy::assemble::Subject;
use fleet_deploy::cluster::Cluster;
use fleet_deploy::content::Resource;
use fleet_deploy::deploy::{self, Deployment};
use fleet_deploy::release::{self, Ports};
use fleet_deploy::store;
use helm::release::Status;
use kube::Client;
use serde_json::json;

use super::site::{Chart, Site};

const NS: &str = "killed";
/// More writes than any action of this chart needs.
const MOST: usize = 40;

const FIRST: Chart<'_> = &[
    ("Chart.yaml", "apiVersion: v2\nname: mortal\nversion: 1.0.0\n"),
    (
        "templates/maps.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {version: '1', dropped: 'x'}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n",
    ),
    (
        "templates/hook.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hook\n  annotations: {helm.sh/hook: 'pre-install,post-upgrade,pre-delete', helm.sh/hook-delete-policy: 'before-hook-creation,hook-succeeded'}\n",
    ),
];

const SECOND: Chart<'_> = &[
    FIRST[0],
    (
        "templates/maps.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {version: '2'}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\n",
    ),
    FIRST[2],
];

/// A client that is dead after so many writes.
fn mortal(client: &Client, writes: usize) -> Client {
    let (client, left) = (client.clone(), Arc::new(AtomicUsize::new(writes)));
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let (client, left) = (client.clone(), left.clone());
        async move {
            let step = |left: usize| left.checked_sub(1);
            let writes = request.method() != http::Method::GET;
            if writes && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, step).is_err() {
                return Err(kube::Error::Service("the agent is dead".into()));
            }
            client.send(request).await
        }
    });
    Client::new(service, "default")
}

fn ports(client: Client) -> Ports {
    let cluster = Cluster::new(client);
    Ports {
        cluster: cluster.clone(),
        agent: cluster,
        now: Arc::new(jiff::Timestamp::now),
        charts: Arc::default(),
    }
}

async fn deploy(client: Client, chart: Chart<'_>) -> Result<i64, deploy::Error> {
    let options = BundleDeploymentOptions {
        default_namespace: NS.to_owned(),
        ..BundleDeploymentOptions::default()
    };
    let resource = |(name, text): &(&str, &str)| Resource {
        name: (*name).to_owned(),
        data: text.as_bytes().to_vec(),
        packed: None,
    };
    let resources: Vec<Resource> = chart.iter().map(resource).collect();
    let deployment = Deployment {
        subject: Subject {
            name: "mortal",
            ..Subject::default()
        },
        options: &options,
        resources: &resources,
        scope: "",
    };
    let deployed = deploy::deploy(&ports(client), &deployment).await?;
    Ok(deployed.release.version)
}

async fn uninstall(client: Client) -> Result<()> {
    let ports = ports(client);
    let history = store::history(&ports.agent, NS, "mortal").await?;
    Ok(release::uninstall(&ports, &history).await?)
}

/// Installation, upgrade and removal, each killed after every one of its writes.
pub(super) async fn killed_after_every_write(site: &Site) -> Result<()> {
    let healthy = || site.client.clone();
    for (before, chart) in [(None, FIRST), (Some(FIRST), SECOND)] {
        let mut alive = false;
        for writes in 0..MOST {
            if let Some(before) = before {
                deploy(healthy(), before).await?;
            }
            alive = deploy(mortal(&site.client, writes), chart).await.is_ok();
            let what = || format!("{} after {writes} writes", chart[1].1);
            if !alive {
                deploy(healthy(), chart).await.with_context(what)?;
            }
            is_deployed(site, chart).await.with_context(what)?;
            uninstall(healthy()).await.with_context(what)?;
            is_gone(site).await.with_context(what)?;
            if alive {
                break;
            }
        }
        ensure!(alive, "it never got through");
    }
    for writes in 0..MOST {
        deploy(healthy(), FIRST).await?;
        let alive = uninstall(mortal(&site.client, writes)).await.is_ok();
        uninstall(healthy()).await?;
        is_gone(site)
            .await
            .with_context(|| format!("removed after {writes} writes"))?;
        if alive {
            return Ok(());
        }
    }
    anyhow::bail!("it was never removed")
}

async fn is_deployed(site: &Site, chart: Chart<'_>) -> Result<()> {
    let maps = site.maps(NS);
    let a = maps.get("a").await?.data.unwrap_or_default();
    let there = |name: &'static str| {
        let maps = maps.clone();
        async move { Ok::<bool, anyhow::Error>(maps.get_opt(name).await?.is_some()) }
    };
    let second = chart == SECOND;
    let wanted = if second {
        json!({"version": "2"})
    } else {
        json!({"version": "1", "dropped": "x"})
    };
    ensure!(json!(a) == wanted, "map a is {a:?}");
    ensure!(
        there("old").await? != second && there("new").await? == second,
        "old or new"
    );
    ensure!(!there("hook").await?, "the hook is left over");
    let history = store::history(&Cluster::new(site.client.clone()), NS, "mortal").await?;
    let states: Vec<_> = history.all().map(|found| (found.version, found.info.status)).collect();
    let deployed = states.iter().filter(|(_, status)| *status == Status::Deployed).count();
    ensure!(
        deployed == 1 && history.last().is_some_and(|last| last.info.status == Status::Deployed),
        "records: {states:?}"
    );
    Ok(())
}

async fn is_gone(site: &Site) -> Result<()> {
    for name in ["a", "old", "new", "hook"] {
        ensure!(site.maps(NS).get_opt(name).await?.is_none(), "{name} is left over");
    }
    let history = store::history(&Cluster::new(site.client.clone()), NS, "mortal").await?;
    ensure!(history.last().is_none(), "a record is left over");
    Ok(())
}
