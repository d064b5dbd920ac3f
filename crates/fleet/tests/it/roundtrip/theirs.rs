//! Releases that helm made become a bundle's.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use fleet_api::{BundleDeployment, condition};
use fleet_testkit::{PATIENCE, eventually};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};

use super::site::{Chart, Site};

/// Who installed it, and how.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    Helm3,
    Helm4,
    Helm4ClientSide,
}

const BEFORE: Chart<'_> = &[
    ("Chart.yaml", "apiVersion: v2\nname: theirs\nversion: 1.0.0\n"),
    ("values.yaml", "color: white\n"),
    (
        "templates/map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {color: {{ .Values.color }}, dropped: '1'}\n",
    ),
    (
        "templates/old.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\ndata: {a: b}\n",
    ),
];

const AFTER: Chart<'_> = &[
    ("Chart.yaml", "apiVersion: v2\nname: theirs\nversion: 2.0.0\n"),
    ("values.yaml", "color: white\n"),
    (
        "templates/map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {color: {{ .Values.color }}}\n",
    ),
];

/// As [`AFTER`], with an object that every server refuses and that comes after the map.
const REFUSED: Chart<'_> = &[
    ("Chart.yaml", "apiVersion: v2\nname: theirs\nversion: 3.0.0\n"),
    ("values.yaml", "color: white\n"),
    (
        "templates/map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {color: {{ .Values.color }}}\n",
    ),
    (
        "templates/service.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: Not_A_Name}\nspec: {ports: [{port: 80}]}\n",
    ),
];

fn options(namespace: &str, color: &str, atomic: bool) -> Value {
    json!({"defaultNamespace": namespace, "helm": {"releaseName": "theirs", "values": {"color": color}, "atomic": atomic}})
}

/// Adopted, upgraded, rolled back, uninstalled.
pub(super) async fn adopted(site: &Site, origin: Origin) -> Result<()> {
    let name = format!("{origin:?}").to_lowercase();
    let ns = name.as_str();
    install(site, origin, ns)?;
    site.data(ns, "map", &[("color", "red"), ("dropped", "1")]).await?;
    let mut mine = site.maps(ns).get("map").await?;
    mine.data
        .get_or_insert_default()
        .insert("mine".to_owned(), "kept".to_owned());
    site.maps(ns).replace("map", &Default::default(), &mine).await?;

    let release = site.deploy(ns, AFTER, options(ns, "blue", false), json!({})).await?;
    ensure!(release == format!("{ns}/theirs:2"), "{release}");
    // What the release had goes, what somebody else added stays.
    site.data(ns, "map", &[("color", "blue"), ("mine", "kept")]).await?;
    site.gone(ns, "old").await?;
    let states: Vec<(i64, String)> = history(site, ns)?;
    ensure!(
        states == [(1, "superseded".into()), (2, "deployed".into())],
        "{origin:?}: {states:?}"
    );
    let release = site.deploy(ns, AFTER, options(ns, "green", false), json!({})).await?;
    ensure!(release == format!("{ns}/theirs:3"), "{release}");

    rolled_back(site, ns).await?;

    site.deploy(ns, AFTER, options(ns, "violet", true), json!({})).await?;
    site.data(ns, "map", &[("color", "violet"), ("mine", "kept")]).await?;
    site.remove(ns, ns, "map").await?;
    no_records(site, ns).await?;
    let left = site.releases(ns)?;
    ensure!(left.is_empty(), "helm still lists {left:?}");
    Ok(())
}

fn install(site: &Site, origin: Origin, ns: &str) -> Result<()> {
    let folder = site.folder(&format!("theirs-{ns}"), BEFORE)?;
    let arguments = [
        "install",
        "theirs",
        &folder,
        "-n",
        ns,
        "--create-namespace",
        "--set",
        "color=red",
    ];
    match origin {
        Origin::Helm3 => site.helm3(&arguments)?,
        Origin::Helm4 => site.helm4(&arguments)?,
        Origin::Helm4ClientSide => site.helm4(&[&arguments[..], &["--server-side=false"]].concat())?,
    };
    Ok(())
}

/// An atomic upgrade that the server refuses half way is taken back, and the status says so.
async fn rolled_back(site: &Site, ns: &str) -> Result<()> {
    let before = site.maps(ns).get("map").await?.metadata.resource_version;
    site.order(ns, REFUSED, options(ns, "wrong", true), json!({})).await?;
    let told = |found: &BundleDeployment| {
        let conditions = found
            .status
            .as_ref()
            .map(|status| status.conditions.as_slice())
            .unwrap_or_default();
        conditions
            .iter()
            .any(|found| found.kind == condition::DEPLOYED && found.message.contains("has been rolled back"))
    };
    eventually(&site.deployments(), ns, "rolled back", told).await?;
    let back = |found: &k8s_openapi::api::core::v1::ConfigMap| {
        found.metadata.resource_version != before
            && found
                .data
                .as_ref()
                .is_some_and(|data| data.get("color").is_some_and(|color| color == "green"))
    };
    eventually(&site.maps(ns), "map", "as it was", back).await?;
    Ok(())
}

fn history(site: &Site, ns: &str) -> Result<Vec<(i64, String)>> {
    let history = site.history("theirs", ns)?;
    Ok(history
        .into_iter()
        .map(|(number, status, _)| (number, status))
        .collect())
}

/// Waits until no release record is left in a namespace. Watches; does not poll.
pub(super) async fn no_records(site: &Site, namespace: &str) -> Result<()> {
    let secrets = Api::<Secret>::namespaced(site.client.clone(), namespace);
    let mut events = watcher(secrets, watcher::Config::default().labels("owner=helm")).boxed();
    let mut left = BTreeSet::new();
    let empty = async {
        while let Some(event) = events.try_next().await? {
            let known = match event {
                Event::Init => {
                    left.clear();
                    false
                }
                Event::InitApply(secret) => {
                    left.insert(secret.name_any());
                    false
                }
                Event::Apply(secret) => left.insert(secret.name_any()),
                Event::Delete(secret) => left.remove(&secret.name_any()),
                Event::InitDone => true,
            };
            if known && left.is_empty() {
                break;
            }
        }
        Ok::<(), anyhow::Error>(())
    };
    tokio::time::timeout(PATIENCE, empty)
        .await
        .with_context(|| format!("release records are left in {namespace}"))?
}
