//! Which resources the server serves, read from its discovery documents.

use serde_json::Value;

use crate::controllers::api::{Api, Error, OBJECT};
use crate::controllers::object::Resource;

/// Every resource that can be listed, watched and deleted, once each, in its group's preferred version.
///
/// # Errors
/// A discovery document cannot be read.
pub(crate) async fn resources(api: &Api) -> Result<Vec<Resource>, Error> {
    let mut found = Vec::new();
    add(&mut found, "", "v1", &api.get("/api/v1", OBJECT).await?);
    let groups = api.get("/apis", OBJECT).await?;
    for group in list(&groups, "groups") {
        let name = text(group, "name");
        // The same objects as core's events.
        if name == "events.k8s.io" {
            continue;
        }
        let preferred = group
            .pointer("/preferredVersion/version")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let versions = list(group, "versions").iter().map(|version| text(version, "version"));
        let mut versions: Vec<&str> = std::iter::once(preferred).chain(versions).collect();
        versions.dedup();
        for version in versions {
            add(
                &mut found,
                name,
                version,
                &api.get(&format!("/apis/{name}/{version}"), OBJECT).await?,
            );
        }
    }
    Ok(found)
}

fn add(found: &mut Vec<Resource>, group: &str, version: &str, document: &Value) {
    for resource in list(document, "resources") {
        let plural = text(resource, "name");
        let verbs = list(resource, "verbs");
        let has = |verb: &str| verbs.iter().any(|other| other == verb);
        let known = found.iter().any(|other| other.group == group && other.plural == plural);
        if known || plural.contains('/') || !(has("list") && has("watch") && has("delete")) {
            continue;
        }
        found.push(Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            kind: text(resource, "kind").to_owned(),
            namespaced: resource.get("namespaced").and_then(Value::as_bool).unwrap_or_default(),
        });
    }
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value
        .get(field)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
