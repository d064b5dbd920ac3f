//! The resources that one CustomResourceDefinition adds.

use std::sync::Arc;

use serde_json::Value;

use super::{Custom, Resource};
use crate::crd;

/// One resource per served version, in the order of the CRD; none before its names are accepted.
pub(super) fn resources(definition: &Value) -> Vec<Resource> {
    let spec = &definition["spec"];
    let names = &definition["status"]["acceptedNames"];
    if !established(definition) {
        return Vec::new();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |value: &Value| value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>();
    let versions = spec["versions"].as_array().into_iter().flatten();
    versions
        .filter(|version| version["served"] == true)
        .filter_map(|version| {
            let name = text(&version["name"]);
            let schema = crd::Version::parse(definition, &name)?;
            let kind = text(&names["kind"]);
            Some(Resource {
                group: text(&spec["group"]),
                version: name,
                list_kind: names["listKind"]
                    .as_str()
                    .map_or_else(|| format!("{kind}List"), str::to_owned),
                kind,
                plural: text(&names["plural"]),
                singular: text(&names["singular"]),
                namespaced: spec["scope"] == "Namespaced",
                short_names: texts(&names["shortNames"]),
                categories: texts(&names["categories"]),
                status: version["subresources"]["status"].is_object(),
                scale: version["subresources"]["scale"].is_object(),
                custom: Some(Arc::new(Custom {
                    definition: definition.clone(),
                    version: version.clone(),
                    schema,
                })),
                id: 0,
                since: 0,
            })
        })
        .collect()
}

fn established(definition: &Value) -> bool {
    let conditions = definition["status"]["conditions"].as_array().into_iter().flatten();
    conditions
        .into_iter()
        .any(|condition| condition["type"] == "Established" && condition["status"] == "True")
}
