//! The state of the demo at one moment, computed from the manager's objects alone.
//!
//! Nothing here asks agents or clusters: what the manager's API says is what a user would see.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::{Bundle, BundleDeployment, Cluster, Condition, GitRepo};
use serde::Serialize;

/// What `--output json` prints, one line each.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Snapshot {
    /// Everything that is wanted is running.
    pub(crate) ready: bool,
    /// Commit last applied; empty before.
    pub(crate) commit: String,
    /// Seconds since the start.
    pub(crate) seconds: u64,
    /// What is being waited for, or what failed.
    pub(crate) message: String,
    /// Where to commit.
    pub(crate) repository: String,
    /// Of the manager.
    pub(crate) kubeconfig: String,
    /// One per cluster, by name.
    pub(crate) clusters: Vec<ClusterState>,
    /// Bundles and reasons that concern the whole repository; text output only.
    #[serde(skip)]
    pub(crate) problems: Vec<String>,
    /// All bundles of the repository; text output only.
    #[serde(skip)]
    pub(crate) bundles: Vec<String>,
}

/// One downstream cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ClusterState {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) kubeconfig: String,
    pub(crate) bundles: Vec<BundleState>,
    /// The agent has checked in or reported something.
    #[serde(skip)]
    pub(crate) registered: bool,
}

/// One bundle on one cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct BundleState {
    pub(crate) name: String,
    pub(crate) state: String,
    pub(crate) message: String,
    pub(crate) objects: usize,
}

/// The manager's objects as the watches deliver them.
#[derive(Default)]
pub(crate) struct Objects {
    pub(crate) git_repo: Option<GitRepo>,
    pub(crate) bundles: Vec<Bundle>,
    pub(crate) deployments: Vec<BundleDeployment>,
    pub(crate) clusters: Vec<Cluster>,
}

/// The state a deployment is in, and why, as the manager computes it.
fn deployment_state(deployment: &BundleDeployment) -> (String, String) {
    let status = deployment.status.clone().unwrap_or_default();
    let state = fleet_api::state::deployment_state(&deployment.spec, &status);
    let failing = |kind: &str| {
        status
            .conditions
            .iter()
            .find(|found| found.kind == kind && found.status == "False")
            .map(|found| found.message.clone())
    };
    let message = ["Deployed", "Installed", "Monitored", "Ready"]
        .into_iter()
        .find_map(failing)
        .unwrap_or_default();
    (state.to_string(), message)
}

fn condition<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|found| found.kind == kind)
}

impl Snapshot {
    /// Reads the objects. `expected` is the number of clusters that the demo started; `head` the commit that
    /// should be running, where it is known.
    pub(crate) fn of(objects: &Objects, expected: usize) -> Self {
        let mut snapshot = Self::default();
        let status = objects
            .git_repo
            .as_ref()
            .and_then(|found| found.status.clone())
            .unwrap_or_default();
        snapshot.commit.clone_from(&status.commit);
        snapshot.bundles = objects
            .bundles
            .iter()
            .filter_map(|found| found.metadata.name.clone())
            .collect();
        snapshot.bundles.sort();
        for cluster in &objects.clusters {
            snapshot.clusters.push(cluster_state(cluster, &objects.deployments));
        }
        snapshot.clusters.sort_by(|a, b| a.name.cmp(&b.name));
        snapshot.problems = problems(objects, &status.base.conditions);
        let waiting = waiting(objects, &snapshot, expected);
        snapshot.ready = waiting.is_none() && snapshot.problems.is_empty();
        snapshot.message = match (&snapshot.problems.first(), waiting) {
            (Some(problem), _) => (*problem).clone(),
            (None, Some(reason)) => reason,
            (None, None) => "everything is ready".to_owned(),
        };
        snapshot
    }

    /// What a change of which is worth a new line: not the seconds, not the counting up of objects.
    pub(crate) fn essence(&self) -> (bool, String, BTreeSet<String>) {
        (self.ready, self.commit.clone(), self.problems.iter().cloned().collect())
    }
}

fn cluster_state(cluster: &Cluster, deployments: &[BundleDeployment]) -> ClusterState {
    let status = cluster.status.clone().unwrap_or_default();
    let own = deployments.iter().filter(|found| {
        !status.namespace.is_empty() && found.metadata.namespace.as_deref() == Some(status.namespace.as_str())
    });
    let mut bundles: Vec<BundleState> = own
        .map(|deployment| {
            let (state, message) = deployment_state(deployment);
            let objects = deployment.status.as_ref().map_or(0, |status| status.resources.len());
            let name = deployment.metadata.name.clone().unwrap_or_default();
            BundleState {
                name,
                state,
                message,
                objects,
            }
        })
        .collect();
    bundles.sort_by(|a, b| a.name.cmp(&b.name));
    ClusterState {
        name: cluster.metadata.name.clone().unwrap_or_default(),
        labels: cluster.metadata.labels.clone().unwrap_or_default(),
        registered: status.agent.last_seen.is_some() || bundles.iter().any(|bundle| bundle.objects > 0),
        bundles,
        ..ClusterState::default()
    }
}

/// Everything that has failed, each with what, where and why.
fn problems(objects: &Objects, repository: &[Condition]) -> Vec<String> {
    let mut found = Vec::new();
    for (kind, bad) in [("Accepted", "False"), ("GitPolling", "False"), ("Stalled", "True")] {
        if let Some(condition) = condition(repository, kind)
            && condition.status == bad
            && !condition.message.is_empty()
        {
            found.push(format!("repository: {}", condition.message));
        }
    }
    for bundle in &objects.bundles {
        let name = bundle.metadata.name.as_deref().unwrap_or_default();
        let ready = bundle
            .status
            .as_ref()
            .and_then(|status| condition(&status.conditions, "Ready"));
        if let Some(ready) = ready
            && ready.reason == "Error"
        {
            found.push(format!("bundle {name}: {}", ready.message));
        }
    }
    for deployment in &objects.deployments {
        let (state, message) = deployment_state(deployment);
        if state == "ErrApplied" || state == "Modified" || (state == "NotReady" && message.contains("error")) {
            let label = |key: &str| {
                deployment
                    .metadata
                    .labels
                    .as_ref()
                    .and_then(|labels| labels.get(key))
                    .cloned()
            };
            let cluster = label("fleet.cattle.io/cluster").unwrap_or_default();
            let name = deployment.metadata.name.as_deref().unwrap_or_default();
            found.push(format!("bundle {name} on cluster {cluster}: {state}: {message}"));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The first thing that is still missing; none when everything runs.
fn waiting(objects: &Objects, snapshot: &Snapshot, expected: usize) -> Option<String> {
    let registered = snapshot.clusters.iter().filter(|cluster| cluster.registered).count();
    if objects.clusters.len() < expected {
        return Some(format!(
            "waiting for clusters to register ({} of {expected})",
            objects.clusters.len()
        ));
    }
    let Some(git_repo) = &objects.git_repo else {
        return Some("waiting for the repository to be followed".to_owned());
    };
    let status = git_repo.status.clone().unwrap_or_default();
    if status.commit.is_empty() {
        return Some("waiting for the first commit".to_owned());
    }
    if status.git_job_status != "Current" && !status.git_job_status.is_empty() {
        return Some(format!("reading commit {}", short(&status.polling_commit)));
    }
    if objects.bundles.is_empty() {
        return Some("waiting for bundles".to_owned());
    }
    for bundle in &objects.bundles {
        let name = bundle.metadata.name.as_deref().unwrap_or_default();
        let status = bundle.status.clone().unwrap_or_default();
        if bundle
            .metadata
            .generation
            .is_some_and(|generation| generation != status.observed_generation)
        {
            return Some(format!("bundle {name} is being planned"));
        }
        if status.summary.desired_ready == 0 {
            return Some(format!("bundle {name} has no cluster yet"));
        }
    }
    let deployments: Vec<&BundleState> = snapshot.clusters.iter().flat_map(|cluster| &cluster.bundles).collect();
    let ready = deployments.iter().filter(|bundle| bundle.state == "Ready").count();
    let wanted: i64 = objects
        .bundles
        .iter()
        .filter_map(|bundle| Some(bundle.status.as_ref()?.summary.desired_ready))
        .sum();
    let wanted = usize::try_from(wanted).unwrap_or(0);
    if ready < wanted || deployments.len() != wanted {
        return Some(format!("{ready} of {wanted} deployments are ready"));
    }
    if registered < expected {
        return Some(format!("waiting for agents to check in ({registered} of {expected})"));
    }
    None
}

/// A commit as people write it.
pub(crate) fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    /// One cluster, one bundle, deployed as `status` says.
    fn objects(deployment_status: &Value) -> Objects {
        let metadata = json!({"name": "web", "generation": 1});
        Objects {
            git_repo: Some(read(
                json!({"metadata": {"name": "demo"}, "status": {"commit": "abc", "gitJobStatus": "Current"}}),
            )),
            bundles: vec![read(json!({"metadata": metadata, "status": {
                "observedGeneration": 1, "summary": {"ready": 0, "desiredReady": 1}}}))],
            deployments: vec![read(json!({
                "metadata": {"name": "web", "namespace": "cluster-dev", "labels": {"fleet.cattle.io/cluster": "dev"}},
                "spec": {"deploymentID": "a:1", "stagedDeploymentID": "a:1"}, "status": deployment_status}))],
            clusters: vec![read(json!({"metadata": {"name": "dev"}, "status": {
                "namespace": "cluster-dev", "agent": {"lastSeen": "2026-01-01T00:00:00Z"}}}))],
        }
    }

    #[test]
    fn everything_is_ready_when_every_wanted_deployment_is() {
        let applied = json!({"appliedDeploymentID": "a:1", "ready": true, "nonModified": true,
            "resources": [{"kind": "ConfigMap", "name": "a"}]});
        let snapshot = Snapshot::of(&objects(&applied), 1);
        assert!(snapshot.ready, "{}", snapshot.message);
        assert_eq!(snapshot.clusters[0].bundles[0].objects, 1);
    }

    #[test]
    fn a_deployment_that_waits_is_waited_for() {
        let snapshot = Snapshot::of(&objects(&json!({})), 1);
        assert_eq!(
            (snapshot.ready, snapshot.message.as_str()),
            (false, "0 of 1 deployments are ready")
        );
        assert!(snapshot.problems.is_empty());
    }

    #[test]
    fn a_failure_names_bundle_cluster_and_reason() {
        let failed = json!({"conditions": [{"type": "Deployed", "status": "False", "message": "a.yaml:3: no"}]});
        let snapshot = Snapshot::of(&objects(&failed), 1);
        assert_eq!(
            snapshot.problems,
            ["bundle web on cluster dev: ErrApplied: a.yaml:3: no"]
        );
        assert!(!snapshot.ready);
    }

    #[test]
    fn clusters_that_are_missing_are_waited_for_first() {
        let applied = json!({"appliedDeploymentID": "a:1", "ready": true, "nonModified": true});
        let snapshot = Snapshot::of(&objects(&applied), 2);
        assert_eq!(snapshot.message, "waiting for clusters to register (1 of 2)");
    }
}
