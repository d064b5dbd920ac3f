//! Our releases in helm's hands.

use anyhow::{Context as _, Result, ensure};
use fleet_testkit::{PATIENCE, eventually};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::site::{Chart, Site, said};

const CHART: Chart<'_> = &[
    (
        "Chart.yaml",
        "apiVersion: v2\nname: paint\nversion: 1.2.3\nappVersion: \"9\"\n",
    ),
    ("values.yaml", "color: white\n"),
    (
        "templates/map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: paint}\ndata: {color: {{ .Values.color }}}\n",
    ),
    (
        "templates/hook.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: before\n  annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}\ndata: {revision: '{{ .Release.Revision }}'}\n",
    ),
    (
        "templates/tests/probe.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: probe\n  annotations: {helm.sh/hook: test}\nspec:\n  restartPolicy: Never\n  containers: [{name: probe, image: probe}]\n",
    ),
    ("templates/NOTES.txt", "Painted {{ .Values.color }}.\n"),
];

fn options(namespace: &str, color: &str) -> Value {
    json!({"defaultNamespace": namespace, "helm": {"releaseName": "paint", "values": {"color": color}}})
}

fn correcting() -> Value {
    json!({"correctDrift": {"enabled": true}})
}

/// helm 4 lists and shows what we deployed, and runs its tests.
pub(super) async fn read_and_tested_by_helm(site: &Site) -> Result<()> {
    const NS: &str = "read";
    site.deploy("read", CHART, options(NS, "red"), json!({})).await?;
    ensure!(site.releases(NS)? == ["paint"], "helm list does not show the release");
    let here = |what: &[&'static str]| [what, &["paint", "-n", NS]].concat();

    let status = site.helm4_json(&here(&["status"]))?;
    ensure!(
        (&status["info"]["status"], &status["version"]) == (&json!("deployed"), &json!(1)),
        "helm status: {status}"
    );
    let history = site.history("paint", NS)?;
    ensure!(
        history == [(1, "deployed".into(), "Install complete".into())],
        "helm history: {history:?}"
    );
    ensure!(
        site.helm4_json(&here(&["get", "values"]))? == json!({"color": "red"}),
        "helm get values"
    );
    let manifest = site.helm4(&here(&["get", "manifest"]))?;
    ensure!(
        manifest.contains("color: red") && !manifest.contains("probe") && !manifest.contains("before"),
        "helm get manifest: {manifest}"
    );
    let hooks = site.helm4(&here(&["get", "hooks"]))?;
    ensure!(
        hooks.contains("name: probe") && hooks.contains("name: before"),
        "helm get hooks: {hooks}"
    );
    ensure!(
        site.helm4(&here(&["get", "notes"]))?.contains("Painted red."),
        "helm get notes"
    );
    let metadata = site.helm4_json(&here(&["get", "metadata"]))?;
    ensure!(
        (&metadata["chart"], &metadata["version"], &metadata["appVersion"])
            == (&json!("paint"), &json!("1.2.3"), &json!("9")),
        "helm get metadata: {metadata}"
    );
    let all = site.helm4(&here(&["get", "all"]))?;
    ensure!(
        all.contains("Painted red.") && all.contains("name: probe"),
        "helm get all: {all}"
    );

    test(site, NS).await?;
    site.remove("read", NS, "paint").await?;
    eventually_unlisted(site, NS).await
}

/// `helm test`; the test's pod is ended well by hand, as there is no kubelet.
async fn test(site: &Site, namespace: &str) -> Result<()> {
    let arguments = ["test", "paint", "-n", namespace, "--timeout", "60s"];
    let child = site.start_helm4(&arguments)?;
    let pods = Api::<Pod>::namespaced(site.client.clone(), namespace);
    let wait = kube::runtime::wait::await_condition(pods.clone(), "probe", |found: Option<&Pod>| found.is_some());
    tokio::time::timeout(PATIENCE, wait)
        .await
        .context("helm test makes its pod")??;
    let ended = json!({"status": {"phase": "Succeeded", "conditions": [{"type": "Ready", "status": "False", "reason": "PodCompleted"}]}});
    pods.patch_status("probe", &PatchParams::default(), &Patch::Merge(&ended))
        .await?;
    let output = tokio::task::spawn_blocking(move || child.wait_with_output()).await??;
    let text = said(&arguments, &output)?;
    ensure!(text.contains("Phase:          Succeeded"), "helm test: {text}");
    Ok(())
}

/// Rolled back and upgraded by helm, the bundle wins: live objects become what it says, and its next version builds on
/// whatever revision is the last.
pub(super) async fn changed_by_helm(site: &Site) -> Result<()> {
    const NS: &str = "changed";
    site.deploy("changed", CHART, options(NS, "red"), correcting()).await?;
    let release = site
        .deploy("changed", CHART, options(NS, "blue!"), correcting())
        .await?;
    ensure!(release == "changed/paint:2", "{release}");
    site.data(NS, "before", &[("revision", "2")]).await?;

    let before = version(site, NS).await?;
    site.helm4(&["rollback", "paint", "1", "-n", NS, "--force-conflicts"])?;
    ensure!(
        last(site, NS)? == (3, "deployed".into(), "Rollback to 1".into()),
        "{:?}",
        site.history("paint", NS)?
    );
    corrected(site, NS, before, "blue!").await?;

    let release = site
        .deploy("changed", CHART, options(NS, "green!!"), correcting())
        .await?;
    ensure!(release == "changed/paint:4", "{release}");
    let history: Vec<i64> = site.history("paint", NS)?.iter().map(|entry| entry.0).collect();
    ensure!(history == [3, 4], "two revisions are kept: {history:?}");

    let before = version(site, NS).await?;
    let folder = site.folder("foreign", CHART)?;
    site.helm4(&[
        "upgrade",
        "paint",
        &folder,
        "-n",
        NS,
        "--set",
        "color=foreign",
        "--force-conflicts",
    ])?;
    ensure!(last(site, NS)?.0 == 5, "{:?}", site.history("paint", NS)?);
    corrected(site, NS, before, "green!!").await?;
    let release = site
        .deploy("changed", CHART, options(NS, "violet!!!"), correcting())
        .await?;
    ensure!(release == "changed/paint:6", "{release}");
    site.data(NS, "paint", &[("color", "violet!!!")]).await?;

    site.remove("changed", NS, "paint").await?;
    eventually_unlisted(site, NS).await
}

/// Uninstalled by helm, the release comes back.
pub(super) async fn uninstalled_by_helm(site: &Site) -> Result<()> {
    const NS: &str = "uninstalled";
    for (name, spec) in [("plain", json!({})), ("correcting", correcting())] {
        site.deploy(name, CHART, options(NS, "red"), spec).await?;
        let uid = site.maps(NS).get("paint").await?.metadata.uid;
        site.helm4(&["uninstall", "paint", "-n", NS])?;
        let maps = site.maps(NS);
        eventually(&maps, "paint", "there again", |found| found.metadata.uid != uid).await?;
        // Its records are gone, so it is a first revision again, whenever that was found out.
        let secrets = Api::<k8s_openapi::api::core::v1::Secret>::namespaced(site.client.clone(), NS);
        let deployed = |secret: &k8s_openapi::api::core::v1::Secret| {
            let labels = secret.metadata.labels.as_ref();
            labels
                .and_then(|all| all.get("status"))
                .is_some_and(|status| status == "deployed")
        };
        let record = eventually(&secrets, "sh.helm.release.v1.paint.v1", "a deployed release", deployed);
        record.await?;
        site.data(NS, "paint", &[("color", "red")]).await?;
        let removed = site.remove(name, NS, "paint").await;
        removed.with_context(|| format!("remove the bundle deployment {name:?}"))?;
        eventually_unlisted(site, NS).await?;
    }
    Ok(())
}

async fn version(site: &Site, namespace: &str) -> Result<Option<String>> {
    Ok(site.maps(namespace).get("paint").await?.metadata.resource_version)
}

/// The map has the bundle's color again, in a later version than `before`.
async fn corrected(site: &Site, namespace: &str, before: Option<String>, color: &str) -> Result<()> {
    let again = |found: &k8s_openapi::api::core::v1::ConfigMap| {
        found.metadata.resource_version != before
            && found
                .data
                .as_ref()
                .is_some_and(|data| data.get("color").is_some_and(|found| found == color))
    };
    eventually(&site.maps(namespace), "paint", &format!("corrected to {color}"), again).await?;
    Ok(())
}

fn last(site: &Site, namespace: &str) -> Result<(i64, String, String)> {
    site.history("paint", namespace)?.pop().context("there is a revision")
}

/// The records go after the objects: waits until the last one went.
async fn eventually_unlisted(site: &Site, namespace: &str) -> Result<()> {
    super::theirs::no_records(site, namespace).await?;
    let left = site.releases(namespace)?;
    ensure!(left.is_empty(), "helm still lists {left:?}");
    Ok(())
}
