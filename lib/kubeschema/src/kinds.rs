//! The built-in kinds: their groups, names, verbs, sub-resources and types, as a real server's discovery lists them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::schema::Type;
use crate::schema::table::{TABLE, lookup};

/// One version of one group.
#[derive(Debug, Clone, Deserialize)]
pub struct Version {
    /// The group; empty for the core group.
    pub group: String,
    /// The version, such as `v1`.
    pub version: String,
    /// Its resources and their sub-resources (`deployments/scale`), in discovery's order.
    pub resources: Vec<Resource>,
}

/// One resource or sub-resource.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Plural name, with `/sub` for a sub-resource.
    pub name: String,
    /// Singular name; empty for sub-resources.
    #[serde(default)]
    pub singular_name: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Kind of its objects.
    pub kind: String,
    /// Group of the kind, where it is not the resource's own (`autoscaling` for `deployments/scale`).
    #[serde(default)]
    pub group: Option<String>,
    /// Version of the kind, where it is not the resource's own.
    #[serde(default)]
    pub version: Option<String>,
    /// What can be done with it.
    pub verbs: Vec<String>,
    /// Names kubectl accepts for it.
    #[serde(default)]
    pub short_names: Vec<String>,
    /// Groups of resources it is part of (`all`).
    #[serde(default)]
    pub categories: Vec<String>,
    /// The hash discovery shows.
    #[serde(default)]
    pub storage_version_hash: String,
    /// OpenAPI name of the type of its objects.
    #[serde(default, rename = "type")]
    type_name: Option<String>,
}

impl Resource {
    /// Name of the resource a sub-resource belongs to, and of the sub-resource.
    pub fn split(&self) -> (&str, Option<&str>) {
        match self.name.split_once('/') {
            Some((resource, sub)) => (resource, Some(sub)),
            None => (&self.name, None),
        }
    }

    /// The type of its objects.
    pub fn schema(&self) -> &'static Type {
        self.type_name.as_deref().and_then(lookup).unwrap_or(&Type::Any)
    }

    /// The OpenAPI name of the type of its objects.
    pub fn type_name(&self) -> Option<&str> {
        self.type_name.as_deref()
    }
}

static VERSIONS: LazyLock<Vec<Version>> = LazyLock::new(|| {
    TABLE
        .versions
        .iter()
        .filter_map(|entry| Version::deserialize(entry).ok())
        .collect()
});

type ByKind = BTreeMap<(String, String, String), (usize, usize)>;

static BY_KIND: LazyLock<ByKind> = LazyLock::new(|| {
    let mut found = BTreeMap::new();
    for (position, version) in VERSIONS.iter().enumerate() {
        for (index, resource) in version.resources.iter().enumerate() {
            if resource.split().1.is_none() {
                let id = (version.group.clone(), version.version.clone(), resource.kind.clone());
                found.entry(id).or_insert((position, index));
            }
        }
    }
    found
});

/// All versions of all groups: the core group first, then in discovery's order.
pub fn versions() -> &'static [Version] {
    &VERSIONS
}

/// The resources of one version of a group.
pub fn version(group: &str, version: &str) -> Option<&'static Version> {
    VERSIONS.iter().find(|v| v.group == group && v.version == version)
}

/// A resource by its plural name.
pub fn by_plural(group: &str, version_name: &str, plural: &str) -> Option<&'static Resource> {
    version(group, version_name)?
        .resources
        .iter()
        .find(|r| r.name == plural)
}

/// A resource by the kind of its objects.
pub fn by_kind(group: &str, version: &str, kind: &str) -> Option<&'static Resource> {
    let id = (group.to_owned(), version.to_owned(), kind.to_owned());
    let (position, index) = BY_KIND.get(&id)?;
    VERSIONS.get(*position)?.resources.get(*index)
}

/// The type of a kind's objects; also of kinds without a resource of their own, such as `Scale`.
pub fn schema(group: &str, version: &str, kind: &str) -> Option<&'static Type> {
    if let Some(resource) = by_kind(group, version, kind) {
        return Some(resource.schema());
    }
    VERSIONS
        .iter()
        .flat_map(|v| v.resources.iter().map(move |r| (v, r)))
        .find(|(v, r)| {
            r.kind == kind
                && r.group.as_deref().unwrap_or(&v.group) == group
                && r.version.as_deref().unwrap_or(&v.version) == version
        })
        .map(|(_, r)| r.schema())
}

/// The type of a kind's objects, from the `apiVersion` as objects carry it.
pub fn schema_of(api_version: &str, kind: &str) -> Option<&'static Type> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    schema(group, version, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_charts_use_are_known() {
        for (group, version, kind, plural, namespaced) in [
            ("", "v1", "ConfigMap", "configmaps", true),
            ("", "v1", "Namespace", "namespaces", false),
            ("", "v1", "Endpoints", "endpoints", true),
            ("apps", "v1", "Deployment", "deployments", true),
            ("batch", "v1", "CronJob", "cronjobs", true),
            ("networking.k8s.io", "v1", "Ingress", "ingresses", true),
            ("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", true),
            ("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false),
            ("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", true),
            (
                "autoscaling",
                "v2",
                "HorizontalPodAutoscaler",
                "horizontalpodautoscalers",
                true,
            ),
            (
                "apiextensions.k8s.io",
                "v1",
                "CustomResourceDefinition",
                "customresourcedefinitions",
                false,
            ),
            ("coordination.k8s.io", "v1", "Lease", "leases", true),
            ("storage.k8s.io", "v1", "StorageClass", "storageclasses", false),
            ("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false),
        ] {
            let resource = by_kind(group, version, kind).unwrap_or_else(|| panic!("{kind}"));
            assert_eq!((resource.name.as_str(), resource.namespaced), (plural, namespaced));
            assert!(matches!(resource.schema(), Type::Object(_)), "{kind} has a type");
            assert_eq!(by_plural(group, version, plural).map(|r| r.kind.as_str()), Some(kind));
        }
    }

    #[test]
    fn short_names_categories_and_subresources_are_there() {
        let deployments = by_plural("apps", "v1", "deployments").unwrap();
        assert_eq!(deployments.short_names, ["deploy"]);
        assert_eq!(deployments.categories, ["all"]);
        let scale = by_plural("apps", "v1", "deployments/scale").unwrap();
        assert_eq!(
            (scale.kind.as_str(), scale.group.as_deref()),
            ("Scale", Some("autoscaling"))
        );
        assert!(schema("autoscaling", "v1", "Scale").unwrap().field("spec").is_some());
        assert!(by_kind("", "v1", "Nothing").is_none());
    }

    #[test]
    fn types_know_their_list_keys_and_merge_keys() {
        let pod = schema_of("v1", "Pod").unwrap().child("spec").unwrap();
        let containers = pod.field("containers").unwrap();
        assert_eq!(containers.strategy.merge_key.as_deref(), Some("name"));
        let port = containers
            .schema
            .item()
            .unwrap()
            .field("ports")
            .unwrap()
            .schema
            .item()
            .unwrap();
        assert_eq!(port.field("protocol").unwrap().default, Some("TCP".into()));
    }
}
