//! The resources that one CustomResourceDefinition adds.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Custom, Resource, Subresource};
use crate::crd;

/// One resource per served version, in the order of the CRD; none before its names are accepted.
pub(super) fn resources(definition: &Value) -> Vec<Resource> {
    let spec = &definition["spec"];
    let names = &definition["status"]["acceptedNames"];
    if !crd::condition(definition, "Established") {
        return Vec::new();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |value: &Value| value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>();
    let versions = spec["versions"].as_array().into_iter().flatten();
    let stored = spec["versions"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|version| version["storage"] == true);
    // Objects may have been stored under an earlier schema, which knew other fields.
    let changed = definition["metadata"]["generation"]
        .as_i64()
        .is_some_and(|generation| generation > 1);
    let fills = changed || stored.is_some_and(|version| has_default(&version["schema"]));
    let whole = Arc::new(definition.clone());
    versions
        .filter(|version| version["served"] == true)
        .filter_map(|version| {
            let name = text(&version["name"]);
            let schema = crd::Version::parse(definition, &name)?;
            let kind = text(&names["kind"]);
            let group = text(&spec["group"]);
            let subresources = subresources(&version["subresources"], &group, &name, &kind);
            Some(Resource {
                group,
                version: name.clone(),
                list_kind: names["listKind"]
                    .as_str()
                    .map_or_else(|| format!("{kind}List"), str::to_owned),
                kind,
                plural: text(&names["plural"]),
                singular: text(&names["singular"]),
                namespaced: spec["scope"] == "Namespaced",
                short_names: texts(&names["shortNames"]),
                categories: texts(&names["categories"]),
                verbs: VERBS.iter().map(ToString::to_string).collect(),
                status: subresources.iter().any(|sub| sub.name == "status"),
                scale: subresources.iter().any(|sub| sub.name == "scale"),
                subresources,
                hash: hash(spec, &text(&names["kind"])),
                custom: Some(Arc::new(Custom {
                    definition: Arc::clone(&whole),
                    fills,
                    version: version.clone(),
                    schema,
                })),
                id: 0,
                since: 0,
            })
        })
        .collect()
}

/// What can be done with custom resources, in upstream's order.
const VERBS: &[&str] = &[
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

fn subresources(given: &Value, group: &str, version: &str, kind: &str) -> Vec<Subresource> {
    let verbs = || ["get", "patch", "update"].map(str::to_owned).to_vec();
    let mut list = Vec::new();
    if given["status"].is_object() {
        let (group, version, kind) = (group.to_owned(), version.to_owned(), kind.to_owned());
        list.push(Subresource {
            name: "status".into(),
            group,
            version,
            kind,
            verbs: verbs(),
        });
    }
    if given["scale"].is_object() {
        let (group, version, kind) = ("autoscaling".into(), "v1".into(), "Scale".into());
        list.push(Subresource {
            name: "scale".into(),
            group,
            version,
            kind,
            verbs: verbs(),
        });
    }
    list
}

/// The hash that tells clients when the stored form changes.
fn hash(spec: &Value, kind: &str) -> String {
    let versions = spec["versions"].as_array().into_iter().flatten();
    let stored = versions.into_iter().find(|version| version["storage"] == true);
    let version = stored.and_then(|version| version["name"].as_str()).unwrap_or_default();
    let group = spec["group"].as_str().unwrap_or_default();
    let digest = Sha256::digest(format!("{group}/{version}/{kind}"));
    STANDARD.encode(&digest[..8])
}

fn has_default(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name == "default" || has_default(value)),
        Value::Array(list) => list.iter().any(has_default),
        _ => false,
    }
}
