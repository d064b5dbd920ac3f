//! A cluster and its roll-up → its status, or its removal. Pure.

use fleet_api::{Cluster, ClusterStatus, condition, labels, names};
use k8s_openapi::jiff::Timestamp;

use super::observe::Facts;
use crate::shell::{deleting, finalizers, has_finalizer, name};

/// State shown until the agent has reported once.
const WAIT_CHECK_IN: &str = "WaitCheckIn";

/// What is to be done for a cluster.
#[derive(Debug, PartialEq)]
pub(super) enum Plan {
    /// Nothing: it is gone but for the finalizers of others.
    Nothing,
    /// Remove what it had, then let it go.
    Remove {
        bundle: String,
        namespace: Option<String>,
        remaining: Vec<String>,
    },
    /// Hold on to it and show its status.
    Keep {
        finalizers: Option<Vec<String>>,
        drop_scheduling: bool,
        status: Option<Box<ClusterStatus>>,
    },
}

pub(super) fn decide(cluster: &Cluster, facts: Facts, now: Timestamp) -> Plan {
    if deleting(cluster) {
        if !has_finalizer(cluster, labels::CLUSTER_FINALIZER) {
            return Plan::Nothing;
        }
        return Plan::Remove {
            bundle: names::agent_bundle(name(cluster)),
            namespace: cluster
                .status
                .as_ref()
                .map(|status| status.namespace.clone())
                .filter(|name| !name.is_empty()),
            remaining: finalizers(cluster, labels::CLUSTER_FINALIZER, false),
        };
    }
    let known = has_finalizer(cluster, labels::CLUSTER_FINALIZER);
    let customization = cluster.spec.agent_scheduling_customization.as_ref();
    Plan::Keep {
        finalizers: (!known).then(|| finalizers(cluster, labels::CLUSTER_FINALIZER, true)),
        drop_scheduling: customization
            .is_some_and(|each| each.priority_class.is_none() && each.pod_disruption_budget.is_none()),
        status: status(cluster, facts, now).map(Box::new),
    }
}

fn status(cluster: &Cluster, facts: Facts, now: Timestamp) -> Option<ClusterStatus> {
    let mut status = cluster.status.clone().unwrap_or_default();
    if status.namespace.is_empty() {
        return None;
    }
    let rollup = facts.rollup?;
    status.display.ready_bundles = rollup.ready_bundles;
    status.display.state = match status.agent.last_seen {
        None => WAIT_CHECK_IN.to_owned(),
        Some(_) => rollup.state,
    };
    status.summary = rollup.summary;
    status.resource_counts = rollup.resource_counts;
    status.ready_git_repos = rollup.ready_git_repos;
    status.desired_ready_git_repos = rollup.desired_ready_git_repos;
    status.ready_helm_ops = rollup.ready_helm_ops;
    status.desired_ready_helm_ops = rollup.desired_ready_helm_ops;
    let setting = ready(&rollup.ready_message);
    condition::set(&mut status.conditions, condition::READY, setting, now);
    Some(status)
}

/// `True`, or `False` with what is not ready.
pub(crate) fn ready(message: &str) -> condition::Setting<'_> {
    let status = if message.is_empty() {
        condition::TRUE
    } else {
        condition::FALSE
    };
    condition::Setting {
        status,
        reason: "",
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_plan::ClusterRollup;

    #[test]
    fn a_cluster_waits_for_its_agent_until_it_was_seen() {
        let now = Timestamp::from_second(0).unwrap();
        let mut cluster = Cluster::named("c");
        cluster.status.get_or_insert_default().namespace = "cn".to_owned();
        let state = |cluster: &Cluster| match decide(
            cluster,
            Facts {
                rollup: Some(ClusterRollup::default()),
            },
            now,
        ) {
            Plan::Keep {
                status: Some(status), ..
            } => status.display.state.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(state(&cluster), "WaitCheckIn");
        cluster.status.as_mut().unwrap().agent.last_seen = Some("2026-01-01T00:00:00Z".to_owned());
        assert_eq!(state(&cluster), "");
    }
}
