//! The nouns of Fleet: the kinds of `fleet.cattle.io/v1alpha1`, `fleet.yaml`, well-known labels,
//! names and hashes. Turns JSON into types and back exactly as upstream's Go types travel; does
//! no IO and decides nothing.

mod crd;
#[cfg(test)]
mod env;
mod schema;
mod schema_core;
mod wire;

pub mod bundle;
pub mod bundledeployment;
pub mod chain;
pub mod cluster;
pub mod condition;
pub mod content;
pub mod deployment_id;
pub mod duration;
pub mod gitrepo;
pub mod json;
pub mod labels;
pub mod names;
pub mod options;
pub mod state;
pub mod status;
pub mod values;

pub use bundle::*;
pub use bundledeployment::*;
pub use cluster::*;
pub use crd::{crds, schema_of};
pub use duration::Duration;
pub use gitrepo::*;
pub use options::*;
pub use status::*;
pub use wire::GoZero;

/// API group of all kinds.
pub const GROUP: &str = "fleet.cattle.io";
/// The one version of all kinds.
pub const VERSION: &str = "v1alpha1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_travels_as_go_writes_it() {
        let text = serde_json::json!({
            "apiVersion": "fleet.cattle.io/v1alpha1", "kind": "Bundle", "metadata": {"name": "a"},
            "spec": {"namespace": "n", "helm": null, "targets": [
                {"name": "t", "namespaceLabels": {"a": "b"}, "helm": {"values": {}}}]}
        });
        let bundle: Bundle = serde_json::from_value(text).unwrap();
        assert_eq!(bundle.spec.options.target_namespace, "n");
        assert_eq!(bundle.spec.targets[0].options.namespace_labels, None);
        assert_eq!(
            serde_json::to_string(&bundle).unwrap(),
            r#"{"apiVersion":"fleet.cattle.io/v1alpha1","kind":"Bundle","metadata":{"name":"a"},"spec":{"namespace":"n","targets":[{"helm":{"values":{}},"name":"t","namespaceLabels":{"a":"b"}}]}}"#
        );
    }
}
