//! The built-in kinds as [`Resource`]s.

use kubeschema::kinds;

use super::{Resource, Subresource};

/// All built-in resources in the order of discovery.
pub(super) fn resources() -> Vec<Resource> {
    let versions = kinds::versions().iter();
    versions
        .flat_map(|version| version.resources.iter().filter_map(|entry| resource(version, entry)))
        .collect()
}

fn resource(version: &kinds::Version, entry: &kinds::Resource) -> Option<Resource> {
    if entry.split().1.is_some() {
        return None;
    }
    let subresources: Vec<Subresource> = version
        .resources
        .iter()
        .filter_map(|other| match other.split() {
            (owner, Some(name)) if owner == entry.name => Some(subresource(version, other, name)),
            _ => None,
        })
        .collect();
    Some(Resource {
        group: version.group.clone(),
        version: version.version.clone(),
        kind: entry.kind.clone(),
        list_kind: format!("{}List", entry.kind),
        plural: entry.name.clone(),
        singular: entry.singular_name.clone(),
        namespaced: entry.namespaced,
        short_names: entry.short_names.clone(),
        categories: entry.categories.clone(),
        verbs: entry.verbs.clone(),
        status: subresources.iter().any(|sub| sub.name == "status"),
        scale: subresources.iter().any(|sub| sub.name == "scale"),
        subresources,
        hash: entry.storage_version_hash.clone(),
        custom: None,
        id: 0,
        since: 0,
    })
}

fn subresource(version: &kinds::Version, entry: &kinds::Resource, name: &str) -> Subresource {
    Subresource {
        name: name.to_owned(),
        group: entry.group.clone().unwrap_or_else(|| version.group.clone()),
        version: entry.version.clone().unwrap_or_else(|| version.version.clone()),
        kind: entry.kind.clone(),
        verbs: entry.verbs.clone(),
    }
}
