//! Which groups, versions and resources there are, as clients discover them: plain and aggregated.

use serde_json::{Value, json};

use crate::registry::{Registry, Resource};

/// `/api`.
pub(crate) fn core_versions() -> Value {
    json!({
        "kind": "APIVersions", "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
    })
}

/// `/`: what can be found here.
pub(crate) fn paths(registry: &Registry) -> Value {
    let mut paths: Vec<String> = [
        "/.well-known/openid-configuration",
        "/api",
        "/api/v1",
        "/apis",
        "/apis/",
    ]
    .map(str::to_owned)
    .to_vec();
    for group in group_names(registry) {
        paths.push(format!("/apis/{group}"));
        paths.extend(
            versions(registry, &group)
                .iter()
                .map(|version| format!("/apis/{group}/{version}")),
        );
    }
    let rest = [
        "/healthz",
        "/livez",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/",
        "/openid/v1/jwks",
        "/readyz",
        "/version",
    ];
    paths.extend(rest.map(str::to_owned));
    json!({"paths": paths})
}

/// `/apis`.
pub(crate) fn groups(registry: &Registry) -> Value {
    let groups: Vec<Value> = group_names(registry)
        .iter()
        .map(|name| group_entry(registry, name))
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`; none if there is no such group.
pub(crate) fn group(registry: &Registry, name: &str) -> Option<Value> {
    if versions(registry, name).is_empty() {
        return None;
    }
    let mut entry = group_entry(registry, name);
    entry["kind"] = "APIGroup".into();
    entry["apiVersion"] = "v1".into();
    Some(entry)
}

/// `/api/v1` and `/apis/GROUP/VERSION`.
pub(crate) fn resources(registry: &Registry, group: &str, version: &str) -> Value {
    let found = registry
        .resources()
        .filter(|resource| resource.group == group && resource.version == version);
    let list: Vec<Value> = found.flat_map(|resource| entries(resource)).collect();
    let name = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    let mut found = json!({"kind": "APIResourceList", "groupVersion": name, "resources": list});
    // Of old the first group does not say what its list is.
    if !group.is_empty() {
        found["apiVersion"] = "v1".into();
    }
    found
}

/// `/api` and `/apis` in the aggregated form.
pub(crate) fn aggregated(registry: &Registry, core: bool) -> Value {
    let names = if core {
        vec![String::new()]
    } else {
        group_names(registry)
    };
    let items: Vec<Value> = names.iter().map(|name| aggregated_group(registry, name)).collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
}

fn aggregated_group(registry: &Registry, group: &str) -> Value {
    let versions: Vec<Value> = versions(registry, group)
        .iter()
        .map(|version| {
            let found = registry
                .resources()
                .filter(|resource| resource.group == group && resource.version == *version);
            let list: Vec<Value> = found.map(|resource| aggregated_resource(resource)).collect();
            json!({"version": version, "resources": list, "freshness": "Current"})
        })
        .collect();
    let metadata = if group.is_empty() {
        json!({})
    } else {
        json!({"name": group})
    };
    json!({"metadata": metadata, "versions": versions})
}

fn aggregated_resource(resource: &Resource) -> Value {
    let kind = response_kind(resource, &resource.group, &resource.version, &resource.kind);
    let mut entry = json!({
        "resource": resource.plural,
        "responseKind": kind,
        "scope": scope(resource),
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    name_lists(resource, &mut entry);
    let subresources: Vec<Value> = resource
        .subresources
        .iter()
        .map(|sub| {
            let kind = response_kind(resource, &sub.group, &sub.version, &sub.kind);
            json!({"subresource": sub.name, "responseKind": kind, "verbs": sub.verbs})
        })
        .collect();
    if !subresources.is_empty() {
        entry["subresources"] = subresources.into();
    }
    entry
}

/// A kind as an answer is said to be of; built-in resources leave out a group and version that are their own.
fn response_kind(resource: &Resource, group: &str, version: &str, kind: &str) -> Value {
    let own = resource.custom.is_none() && group == resource.group && version == resource.version;
    if own {
        json!({"group": "", "version": "", "kind": kind})
    } else {
        json!({"group": group, "version": version, "kind": kind})
    }
}

fn scope(resource: &Resource) -> &'static str {
    if resource.namespaced { "Namespaced" } else { "Cluster" }
}

fn name_lists(resource: &Resource, entry: &mut Value) {
    if !resource.short_names.is_empty() {
        entry["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        entry["categories"] = json!(resource.categories);
    }
}

fn entries(resource: &Resource) -> Vec<Value> {
    let mut entry = json!({
        "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
        "kind": resource.kind, "verbs": resource.verbs,
    });
    name_lists(resource, &mut entry);
    if !resource.hash.is_empty() {
        entry["storageVersionHash"] = resource.hash.as_str().into();
    }
    let mut list = vec![entry];
    for sub in &resource.subresources {
        let mut entry = json!({
            "name": format!("{}/{}", resource.plural, sub.name), "singularName": "", "namespaced": resource.namespaced,
            "kind": sub.kind, "verbs": sub.verbs,
        });
        if sub.group != resource.group || sub.version != resource.version {
            entry["group"] = sub.group.as_str().into();
            entry["version"] = sub.version.as_str().into();
        }
        list.push(entry);
    }
    list
}

fn group_entry(registry: &Registry, name: &str) -> Value {
    let versions: Vec<Value> = versions(registry, name)
        .iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    let preferred = versions.first().cloned().unwrap_or_default();
    json!({"name": name, "versions": versions, "preferredVersion": preferred})
}

fn group_names(registry: &Registry) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for resource in registry.resources().filter(|resource| !resource.group.is_empty()) {
        if !names.contains(&resource.group) {
            names.push(resource.group.clone());
        }
    }
    names
}

fn versions(registry: &Registry, group: &str) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    for resource in registry.resources().filter(|resource| resource.group == group) {
        if !versions.contains(&resource.version) {
            versions.push(resource.version.clone());
        }
    }
    if registry
        .resources()
        .any(|resource| resource.group == group && resource.custom.is_some())
    {
        versions.sort_by(|a, b| priority(b).cmp(&priority(a)).then_with(|| a.cmp(b)));
    }
    versions
}

/// Kubernetes' order of versions: stable before beta before alpha, high numbers first, then other names.
fn priority(version: &str) -> (u8, u64, u64) {
    let number = |text: &str| text.parse::<u64>().ok().filter(|_| !text.starts_with(['0', '+']));
    let parse = || {
        let rest = version.strip_prefix('v')?;
        if let Some(major) = number(rest) {
            return Some((3, major, 0));
        }
        for (word, stage) in [("beta", 2), ("alpha", 1)] {
            if let Some((major, minor)) = rest.split_once(word) {
                return Some((stage, number(major)?, number(minor)?));
            }
        }
        None
    };
    parse().unwrap_or_default()
}
