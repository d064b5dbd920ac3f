//! The CustomResourceDefinitions of all kinds, made from the Rust types. `charts/fleet-crd` is
//! this list as YAML; a test compares the two, and `UPDATE_EXPECT=1` writes the chart anew.

use k8s_openapi::Resource;
use serde_json::{Value, json};

use crate::schema::Described;
use crate::{
    Bundle, BundleDeployment, BundleNamespaceMapping, Cluster, ClusterGroup, ClusterRegistration,
    ClusterRegistrationToken, Content, GitRepo, GitRepoRestriction, HelmOp, ImageScan, Policy, Schedule,
};

/// Message of the Ready condition: the last column of most tables.
const READY: (&str, &str) = ("Status", r#".status.conditions[?(@.type=="Ready")].message"#);

/// Ready of all deployments: a column of sources.
const READY_DEPLOYMENTS: (&str, &str) = ("BundleDeployments-Ready", ".status.display.readyBundleDeployments");

struct Extra {
    scope: &'static str,
    categories: &'static [&'static str],
    status: bool,
    columns: &'static [(&'static str, &'static str)],
}

const PLAIN: Extra = Extra {
    scope: "Namespaced",
    categories: &[],
    status: true,
    columns: &[],
};

/// All definitions, sorted by name.
#[must_use]
pub fn crds() -> Vec<Value> {
    vec![
        crd::<BundleDeployment>(&Extra {
            columns: &[
                ("Deployed", ".status.display.deployed"),
                ("Monitored", ".status.display.monitored"),
                READY,
            ],
            ..PLAIN
        }),
        crd::<BundleNamespaceMapping>(&PLAIN),
        crd::<Bundle>(&Extra {
            columns: &[("BundleDeployments-Ready", ".status.display.readyClusters"), READY],
            ..PLAIN
        }),
        crd::<ClusterGroup>(&Extra {
            categories: &["fleet"],
            columns: &[
                ("Clusters-Ready", ".status.display.readyClusters"),
                ("Bundles-Ready", ".status.display.readyBundles"),
                READY,
            ],
            ..PLAIN
        }),
        crd::<ClusterRegistration>(&Extra {
            columns: &[
                ("Cluster-Name", ".status.clusterName"),
                ("Labels", ".spec.clusterLabels"),
            ],
            ..PLAIN
        }),
        crd::<ClusterRegistrationToken>(&Extra {
            columns: &[("Secret-Name", ".status.secretName")],
            ..PLAIN
        }),
        crd::<Cluster>(&Extra {
            columns: &[
                ("Bundles-Ready", ".status.display.readyBundles"),
                ("Last-Seen", ".status.agent.lastSeen"),
                READY,
            ],
            ..PLAIN
        }),
        crd::<Content>(&Extra {
            scope: "Cluster",
            ..PLAIN
        }),
        crd::<GitRepoRestriction>(&Extra {
            columns: &[
                ("Default-ServiceAccount", ".defaultServiceAccount"),
                ("Allowed-ServiceAccounts", ".allowedServiceAccounts"),
            ],
            ..PLAIN
        }),
        crd::<GitRepo>(&Extra {
            categories: &["fleet"],
            columns: &[
                ("Repo", ".spec.repo"),
                ("Commit", ".status.commit"),
                READY_DEPLOYMENTS,
                READY,
            ],
            ..PLAIN
        }),
        crd::<HelmOp>(&Extra {
            categories: &["fleet"],
            columns: &[
                ("Repo", ".spec.helm.repo"),
                ("Chart", ".spec.helm.chart"),
                ("Version", ".status.version"),
                READY_DEPLOYMENTS,
                READY,
            ],
            ..PLAIN
        }),
        crd::<ImageScan>(&Extra {
            columns: &[("Repository", ".spec.image"), ("Latest", ".status.latestTag")],
            ..PLAIN
        }),
        crd::<Policy>(&Extra { status: false, ..PLAIN }),
        crd::<Schedule>(&Extra {
            columns: &[
                ("Schedule", ".spec.schedule"),
                ("Duration", ".spec.duration"),
                ("Active", ".status.active"),
                ("NextStart", ".status.nextStartTime"),
            ],
            ..PLAIN
        }),
    ]
}

/// Structural schema of the objects of a kind, without `apiVersion`, `kind` and `metadata`; `None`
/// for kinds of others. Paths into it: `properties.spec.properties…`.
#[must_use]
pub fn schema_of(kind: &str) -> Option<Value> {
    crds()
        .into_iter()
        .find(|crd| crd["spec"]["names"]["kind"] == kind)
        .map(|mut crd| crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].take())
}

fn crd<K: Resource + Described>(extra: &Extra) -> Value {
    let mut schema = K::schema();
    let text = |description: &str| json!({"type": "string", "description": description});
    schema["properties"]["apiVersion"] = text("Version of the API, fleet.cattle.io/v1alpha1.");
    schema["properties"]["kind"] = text("Kind of the object.");
    schema["properties"]["metadata"] = json!({"type": "object"});
    let mut version = json!({
        "name": K::VERSION, "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema},
    });
    if extra.status {
        version["subresources"] = json!({"status": {}});
    }
    if !extra.columns.is_empty() {
        let column = |(name, path): &(&str, &str)| json!({"name": name, "type": "string", "jsonPath": path});
        version["additionalPrinterColumns"] = extra.columns.iter().map(column).collect();
    }
    let mut names = json!({
        "kind": K::KIND, "listKind": format!("{}List", K::KIND),
        "plural": K::URL_PATH_SEGMENT, "singular": K::KIND.to_lowercase(),
    });
    if !extra.categories.is_empty() {
        names["categories"] = json!(extra.categories);
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{}.{}", K::URL_PATH_SEGMENT, K::GROUP),
            "annotations": {"controller-gen.kubebuilder.io/version": "v0.21.0"},
        },
        "spec": {"group": K::GROUP, "names": names, "scope": extra.scope, "versions": [version]},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHART: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../charts/fleet-crd/templates/crds.yaml"
    );

    #[test]
    fn the_chart_holds_these_definitions() {
        let expected = crds();
        if crate::env::update_expect() {
            let documents: Vec<String> = expected.iter().map(|crd| goyaml::to_yaml(crd).unwrap()).collect();
            std::fs::write(CHART, documents.join("---\n")).unwrap();
        }
        let text = std::fs::read_to_string(CHART).unwrap();
        let found: Vec<Value> = goyaml::parse_documents(&text)
            .unwrap()
            .into_iter()
            .map(|document| document.value)
            .collect();
        assert_eq!(
            found, expected,
            "run the test with UPDATE_EXPECT=1 to write the chart anew"
        );
    }

    #[test]
    fn every_kind_has_its_schema() {
        assert_eq!(crds().len(), 14);
        assert!(schema_of("Nothing").is_none());
        let bundle = schema_of("Bundle").unwrap();
        let spec = &bundle["properties"]["spec"]["properties"];
        assert_eq!(
            spec["helm"]["properties"]["values"]["x-kubernetes-preserve-unknown-fields"],
            true
        );
        assert_eq!(spec["targets"]["items"]["properties"]["doNotDeploy"]["type"], "boolean");
        assert_eq!(spec["targetCustomizationMode"]["default"], "FirstMatch");
    }
}
