//! What a GitRepo's or HelmOp's status says: its sums, and the objects of its deployments, as many as are listed.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::state::{self, BundleState};
use fleet_api::{PerClusterState, Resource, ResourceCounts, StatusBase, StatusDisplay};

use super::tally::add_counts;
use super::{LISTED, MAX_NON_READY, SourceRollup, SourceSum};
use crate::facts::DeploymentFacts;
use crate::key::DeploymentKey;
use crate::state::world::World;

/// Deployments that are looked at to list the objects of a source.
const LOOKED_AT: usize = 2000;

/// A source's status out of its sums and a bounded look at its deployments.
pub(crate) fn of_source(world: &World, sum: &SourceSum) -> SourceRollup {
    let mut summary = sum.tally.summary();
    // Deployments are listed in the order of their uids, whatever their state.
    let mut listed: Vec<&(Box<str>, DeploymentKey)> = sum
        .not_ready
        .values()
        .flat_map(|keys| keys.iter().take(MAX_NON_READY))
        .collect();
    listed.sort();
    for (_, key) in listed.into_iter().take(MAX_NON_READY) {
        if let Some(facts) = world.deployments.get(key) {
            let mut entry = facts.non_ready(key.name.clone(), &facts.deployment_id);
            entry.state = facts.own_state().as_str().to_owned();
            summary.non_ready_resources.push(entry);
        }
    }
    // States are kept gravest first; the first deployment in the gravest state speaks for the source.
    let worst = sum
        .not_ready
        .values()
        .find_map(|keys| world.deployments.get(&keys.first()?.1));
    let (state, message) = worst.map_or((String::new(), String::new()), |facts| {
        (
            facts.own_state().as_str().to_owned(),
            facts.message(&facts.deployment_id).to_owned(),
        )
    });
    let status = StatusBase {
        ready_clusters: sum.ready_clusters,
        desired_ready_clusters: i64::try_from(sum.clusters.len()).unwrap_or(i64::MAX),
        display: StatusDisplay {
            ready_bundle_deployments: format!("{}/{}", summary.ready, summary.desired_ready),
            error: !message.is_empty(),
            state,
            message,
        },
        resource_counts: sum.counts.clone(),
        conditions: Vec::new(),
        resources: resources(world, sum),
        per_cluster_resource_counts: per_cluster(world, sum),
        summary,
    };
    let ready_message = state::ready_message(&status.summary, "Bundle");
    SourceRollup { status, ready_message }
}

/// Objects by state for the first clusters.
fn per_cluster(world: &World, sum: &SourceSum) -> BTreeMap<String, ResourceCounts> {
    let mut counts: BTreeMap<String, ResourceCounts> = BTreeMap::new();
    for (cluster, key) in &sum.deployments {
        let name = cluster.to_string();
        if counts.len() >= LISTED && !counts.contains_key(&name) {
            break;
        }
        if let Some(facts) = world.deployments.get(key) {
            add_counts(counts.entry(name).or_default(), &facts.counts);
        }
    }
    counts
}

type ObjectKey<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The objects of a source over its clusters: those of deployments that are not ready first, so that what is wrong is
/// listed even when not everything can be.
fn resources(world: &World, sum: &SourceSum) -> Vec<Resource> {
    let bad = sum.not_ready.values().flatten().map(|(_, key)| key).take(LOOKED_AT);
    let mut chosen: BTreeSet<(String, &DeploymentKey)> = BTreeSet::new();
    for key in bad.chain(sum.deployments.iter().map(|(_, key)| key)) {
        if chosen.len() >= LOOKED_AT {
            break;
        }
        if let Some(facts) = world.deployments.get(key) {
            chosen.insert((facts.cluster.to_string(), key));
        }
    }
    let mut merged: BTreeMap<ObjectKey<'_>, Resource> = BTreeMap::new();
    for (cluster, key) in &chosen {
        let Some(facts) = world.deployments.get(key) else {
            continue;
        };
        for (object, state) in states(facts) {
            let resource = merged.entry(object).or_insert_with(|| named(object));
            resource.incomplete_state |= facts.incomplete;
            if resource.state.is_empty() || resource.state == "Ready" {
                state.clone_into(&mut resource.state);
            }
            list(resource.per_cluster_state.get_or_insert_default(), state, cluster);
        }
    }
    let mut resources: Vec<Resource> = merged.into_values().collect();
    resources.sort_by(|a, b| (&a.resource_type, &a.id).cmp(&(&b.resource_type, &b.id)));
    resources
}

/// The state of each object of a deployment.
fn states(facts: &DeploymentFacts) -> BTreeMap<ObjectKey<'_>, &str> {
    let usual = match facts.own_state() {
        BundleState::NotReady | BundleState::Modified if facts.incomplete => "Unknown",
        BundleState::NotReady | BundleState::Modified => "Ready",
        state => state.as_str(),
    };
    let mut states: BTreeMap<ObjectKey<'_>, &str> = BTreeMap::new();
    for object in facts.resources.iter() {
        let key = (
            object.kind.as_str(),
            object.api_version.as_str(),
            object.namespace.as_str(),
            object.name.as_str(),
        );
        states.insert(key, usual);
    }
    let detail = facts.detail.as_deref();
    for object in detail.into_iter().flat_map(|detail| &detail.non_ready) {
        let key = (
            object.kind.as_str(),
            object.api_version.as_str(),
            object.namespace.as_str(),
            object.name.as_str(),
        );
        if let Some(summary) = &object.summary {
            states.insert(key, &summary.state);
        }
    }
    for object in detail.into_iter().flat_map(|detail| &detail.modified) {
        let key = (
            object.kind.as_str(),
            object.api_version.as_str(),
            object.namespace.as_str(),
            object.name.as_str(),
        );
        let state = if object.delete {
            "Orphaned"
        } else if object.missing {
            "Missing"
        } else {
            "Modified"
        };
        states.insert(key, state);
    }
    states
}

fn named((kind, api_version, namespace, name): ObjectKey<'_>) -> Resource {
    let lower = kind.to_lowercase();
    Resource {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        resource_type: match api_version.split_once('/') {
            Some((group, _)) => format!("{group}.{lower}"),
            None => lower,
        },
        id: if namespace.is_empty() {
            name.to_owned()
        } else {
            format!("{namespace}/{name}")
        },
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        per_cluster_state: Some(PerClusterState::default()),
        ..Resource::default()
    }
}

/// Notes a cluster under the state of an object there; states without a list are only counted elsewhere.
fn list(states: &mut PerClusterState, state: &str, cluster: &str) {
    let ids = match state {
        "Ready" => &mut states.ready,
        "WaitApplied" => &mut states.wait_applied,
        "Pending" => &mut states.pending,
        "Modified" => &mut states.modified,
        "Orphaned" => &mut states.orphaned,
        "Missing" => &mut states.missing,
        "Unknown" => &mut states.unknown,
        "NotReady" | "updating" | "error" => &mut states.not_ready,
        _ => return,
    };
    if ids.len() < LISTED {
        ids.push(cluster.to_owned());
    }
}
