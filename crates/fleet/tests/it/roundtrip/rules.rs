//! What a chart may ask of a release, seen in the cluster: hooks that go, definitions that stay, records that were damaged
//! or kept, labels that users gave.

use anyhow::{Context as _, Result, ensure};
use fleet_api::{BundleDeployment, condition};
use fleet_testkit::eventually;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::site::{Chart, Site};
use super::theirs::no_records;

fn options(namespace: &str, version: &str) -> Value {
    json!({"defaultNamespace": namespace, "helm": {"releaseName": "rules", "values": {"version": version}}})
}

const MAP: (&str, &str) = (
    "templates/map.yaml",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {version: '{{ .Values.version }}'}\n",
);

const HOOKS: Chart<'_> = &[
    ("Chart.yaml", "apiVersion: v2\nname: hooks\nversion: 1.0.0\n"),
    MAP,
    (
        "templates/first.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: brief\n  annotations: {helm.sh/hook: 'pre-install,pre-upgrade', helm.sh/hook-weight: '-1', helm.sh/hook-delete-policy: hook-succeeded}\n",
    ),
    (
        "templates/second.yaml",
        "{{- if eq .Values.version \"bad\" }}\napiVersion: v1\nkind: Service\nmetadata:\n  name: Not_A_Name\n  annotations: {helm.sh/hook: pre-upgrade}\nspec: {ports: [{port: 80}]}\n{{- end }}\n",
    ),
];

/// A hook that succeeded goes, also when one after it fails; what fails stops the upgrade before its objects change.
pub(super) async fn hooks_come_and_go(site: &Site) -> Result<()> {
    const NS: &str = "hooks";
    site.deploy("hooks", HOOKS, options(NS, "one"), json!({})).await?;
    site.gone(NS, "brief").await?;
    site.order("hooks", HOOKS, options(NS, "bad"), json!({})).await?;
    let told = |found: &BundleDeployment| {
        let conditions = found
            .status
            .as_ref()
            .map(|status| status.conditions.as_slice())
            .unwrap_or_default();
        let failed = |message: &str| {
            message
                .starts_with("pre-upgrade hooks failed: warning: Hook pre-upgrade hooks/templates/second.yaml failed")
        };
        conditions
            .iter()
            .any(|found| found.kind == condition::DEPLOYED && failed(&found.message))
    };
    eventually(&site.deployments(), "hooks", "stopped by its hook", told).await?;
    site.gone(NS, "brief").await?;
    site.data(NS, "map", &[("version", "one")]).await?;
    site.deploy("hooks", HOOKS, options(NS, "three"), json!({})).await?;
    site.data(NS, "map", &[("version", "three")]).await?;
    site.remove("hooks", NS, "map").await
}

fn definition(field: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: pens.roundtrip.test}}\nspec:\n  group: roundtrip.test\n  scope: Namespaced\n  names: {{plural: pens, singular: pen, kind: Pen}}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{field}: {{type: string}}}}}}}}}}}}\n"
    )
}

const PEN: (&str, &str) = (
    "templates/pen.yaml",
    "{{- if .Capabilities.APIVersions.Has \"roundtrip.test/v1/Pen\" }}\napiVersion: roundtrip.test/v1\nkind: Pen\nmetadata: {name: pen}\nspec: {ink: blue}\n{{- end }}\n",
);

/// A chart's own kind is there when its templates ask and when its objects come, in the first pass; a later chart does not
/// change it, and removing the bundle does not remove it.
pub(super) async fn definitions_stay(site: &Site) -> Result<()> {
    const NS: &str = "definitions";
    let chart = ("Chart.yaml", "apiVersion: v2\nname: defined\nversion: 1.0.0\n");
    let (first, second) = (definition("ink"), definition("lead"));
    let options =
        |version: &str| json!({"namespace": NS, "helm": {"releaseName": "rules", "values": {"version": version}}});
    let release = site
        .deploy(
            "definitions",
            &[chart, MAP, PEN, ("crds/pen.yaml", &first)],
            options("one"),
            json!({}),
        )
        .await?;
    ensure!(release == format!("{NS}/rules:1"), "in one pass: {release}");
    let manifest = site.helm4(&["get", "manifest", "rules", "-n", NS])?;
    ensure!(manifest.contains("kind: Pen"), "the kind was known: {manifest}");
    site.deploy(
        "definitions",
        &[chart, MAP, PEN, ("crds/pen.yaml", &second)],
        options("three"),
        json!({}),
    )
    .await?;
    site.remove("definitions", NS, "map").await?;
    no_records(site, NS).await?;
    let kinds = Api::<CustomResourceDefinition>::all(site.client.clone());
    let kind = serde_json::to_value(kinds.get("pens.roundtrip.test").await?)?;
    let schema = &kind["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    ensure!(
        schema["ink"]["type"] == "string" && schema["lead"].is_null(),
        "the first definition stays: {schema}"
    );
    Ok(())
}

const PLAIN: Chart<'_> = &[("Chart.yaml", "apiVersion: v2\nname: plain\nversion: 1.0.0\n"), MAP];

/// A record that nobody can read is replaced by the next revision; one that helm kept of a removal is built upon; labels
/// that a user gave a release stay on it.
pub(super) async fn records_are_survived(site: &Site) -> Result<()> {
    const NS: &str = "records";
    let secrets = Api::<Secret>::namespaced(site.client.clone(), NS);
    let folder = site.folder("records", PLAIN)?;
    site.helm4(&[
        "install",
        "rules",
        &folder,
        "-n",
        NS,
        "--create-namespace",
        "--labels",
        "team=paint",
    ])?;
    let release = site.deploy("records", PLAIN, options(NS, "one"), json!({})).await?;
    ensure!(release == "records/rules:2", "{release}");
    let labels = secrets.get("sh.helm.release.v1.rules.v2").await?.metadata.labels;
    let team = labels.and_then(|all| all.get("team").cloned());
    ensure!(team.as_deref() == Some("paint"), "the label is lost: {team:?}");

    let damage = json!({"data": {"release": "bm90aGluZw=="}});
    secrets
        .patch(
            "sh.helm.release.v1.rules.v2",
            &PatchParams::default(),
            &Patch::Merge(&damage),
        )
        .await?;
    let release = site.deploy("records", PLAIN, options(NS, "three"), json!({})).await?;
    ensure!(release == "records/rules:3", "{release}");
    site.data(NS, "map", &[("version", "three")]).await?;

    let uid = site.maps(NS).get("map").await?.metadata.uid;
    site.helm4(&["uninstall", "rules", "-n", NS, "--keep-history"])?;
    let maps = site.maps(NS);
    eventually(&maps, "map", "there again", |found| found.metadata.uid != uid).await?;
    let release = site.deploy("records", PLAIN, options(NS, "fives"), json!({})).await?;
    let number: i64 = release
        .rsplit_once(':')
        .and_then(|(_, number)| number.parse().ok())
        .context("a release has a number")?;
    ensure!(number > 3, "{release}");
    site.data(NS, "map", &[("version", "fives")]).await?;
    site.remove("records", NS, "map").await?;
    no_records(site, NS).await
}
