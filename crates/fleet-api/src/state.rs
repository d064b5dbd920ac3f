//! What state a deployment is in, and how states add up: deployment → state and message →
//! summary → the message of a Ready condition. Mirrors upstream's `summary`; pure.

use std::fmt;

use crate::bundledeployment::{BundleDeploymentSpec, BundleDeploymentStatus};
use crate::condition;
use crate::status::{BundleSummary, ModifiedStatus, NonReadyResource, NonReadyStatus, ResourceSummary};

/// Most entries of a list of resources that are not ready.
pub const MAX_NON_READY: usize = 10;
/// Most objects of one resource that a Ready message names, per list.
const MAX_IN_MESSAGE: usize = 4;

/// State of a deployment. Ordered by gravity: the worst is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BundleState {
    /// All objects are as they should be.
    Ready,
    /// Deployed, some objects are not ready.
    NotReady,
    /// There is no deployment yet.
    Pending,
    /// Staged, not released.
    OutOfSync,
    /// Live objects differ.
    Modified,
    /// The agent has not acted yet.
    WaitApplied,
    /// The agent failed.
    ErrApplied,
}

impl BundleState {
    /// All states, the gravest first.
    pub const ALL: [Self; 7] = [
        Self::ErrApplied,
        Self::WaitApplied,
        Self::Modified,
        Self::OutOfSync,
        Self::Pending,
        Self::NotReady,
        Self::Ready,
    ];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::NotReady => "NotReady",
            Self::Pending => "Pending",
            Self::OutOfSync => "OutOfSync",
            Self::Modified => "Modified",
            Self::WaitApplied => "WaitApplied",
            Self::ErrApplied => "ErrApplied",
        }
    }

    /// The state of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

impl fmt::Display for BundleState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// State of a deployment as stored.
#[must_use]
pub fn deployment_state(spec: &BundleDeploymentSpec, status: &BundleDeploymentStatus) -> BundleState {
    if status.applied_deployment_id != spec.deployment_id {
        if condition::is_false(&status.conditions, condition::DEPLOYED) {
            BundleState::ErrApplied
        } else {
            BundleState::WaitApplied
        }
    } else if !status.ready {
        BundleState::NotReady
    } else if spec.deployment_id != spec.staged_deployment_id {
        BundleState::OutOfSync
    } else if !status.non_modified {
        BundleState::Modified
    } else {
        BundleState::Ready
    }
}

/// What the agent has to say: of Deployed, else of Installed (only for the current id), else of
/// Monitored.
#[must_use]
pub fn deployment_message<'a>(spec: &BundleDeploymentSpec, status: &'a BundleDeploymentStatus) -> &'a str {
    let deployed = condition::message(&status.conditions, condition::DEPLOYED);
    if !deployed.is_empty() {
        return deployed;
    }
    let installed = condition::message(&status.conditions, condition::INSTALLED);
    if status.applied_deployment_id == spec.deployment_id && !installed.is_empty() {
        return installed;
    }
    condition::message(&status.conditions, condition::MONITORED)
}

impl BundleSummary {
    /// Deployments in this state.
    #[must_use]
    pub fn count(&self, state: BundleState) -> i64 {
        match state {
            BundleState::Ready => self.ready,
            BundleState::NotReady => self.not_ready,
            BundleState::Pending => self.pending,
            BundleState::OutOfSync => self.out_of_sync,
            BundleState::Modified => self.modified,
            BundleState::WaitApplied => self.wait_applied,
            BundleState::ErrApplied => self.err_applied,
        }
    }

    /// The counter of this state.
    pub fn count_mut(&mut self, state: BundleState) -> &mut i64 {
        match state {
            BundleState::Ready => &mut self.ready,
            BundleState::NotReady => &mut self.not_ready,
            BundleState::Pending => &mut self.pending,
            BundleState::OutOfSync => &mut self.out_of_sync,
            BundleState::Modified => &mut self.modified,
            BundleState::WaitApplied => &mut self.wait_applied,
            BundleState::ErrApplied => &mut self.err_applied,
        }
    }

    /// Counts one deployment; one that is not ready and has a name is listed while there is room.
    /// `desired_ready` is the caller's.
    pub fn add(&mut self, state: BundleState, resource: NonReadyResource) {
        *self.count_mut(state) += 1;
        if state != BundleState::Ready && !resource.name.is_empty() && self.non_ready_resources.len() < MAX_NON_READY {
            self.non_ready_resources.push(NonReadyResource {
                state: state.as_str().to_owned(),
                ..resource
            });
        }
    }

    /// Adds another summary's counters, and its list up to the limit (upstream may exceed it).
    pub fn merge(&mut self, other: &Self) {
        for state in BundleState::ALL {
            *self.count_mut(state) += other.count(state);
        }
        self.desired_ready += other.desired_ready;
        let room = MAX_NON_READY.saturating_sub(self.non_ready_resources.len());
        self.non_ready_resources
            .extend(other.non_ready_resources.iter().take(room).cloned());
    }

    /// The gravest listed state, "" if none is listed.
    #[must_use]
    pub fn worst_state(&self) -> &str {
        let rank = |resource: &&NonReadyResource| BundleState::parse(&resource.state);
        let mut worst: Option<&NonReadyResource> = None;
        for resource in &self.non_ready_resources {
            if worst.is_none_or(|worst| rank(&resource) > rank(&worst)) {
                worst = Some(resource);
            }
        }
        worst.map_or("", |resource| &resource.state)
    }
}

/// Message of a Ready condition; empty means ready. `kind` is the word for one listed resource
/// (`Cluster`, `Bundle`, …).
#[must_use]
pub fn ready_message(summary: &BundleSummary, kind: &str) -> String {
    let mut items = Vec::new();
    for state in BundleState::ALL
        .into_iter()
        .filter(|state| *state != BundleState::Ready)
    {
        let count = summary.count(state);
        let listed = summary
            .non_ready_resources
            .iter()
            .find(|resource| resource.state == state.as_str());
        let (1.., Some(resource)) = (count, listed) else {
            continue;
        };
        items.push(if resource.message.is_empty() {
            format!("{state}({count}) [{kind} {}]", resource.name)
        } else {
            format!("{state}({count}) [{kind} {}: {}]", resource.name, resource.message)
        });
        items.extend(
            resource
                .modified_status
                .iter()
                .take(MAX_IN_MESSAGE)
                .map(ToString::to_string),
        );
        items.extend(
            resource
                .non_ready_status
                .iter()
                .take(MAX_IN_MESSAGE)
                .map(ToString::to_string),
        );
    }
    items.sort();
    items.join("; ")
}

struct ObjectName<'a> {
    kind: &'a str,
    api_version: &'a str,
    namespace: &'a str,
    name: &'a str,
}

impl fmt::Display for ObjectName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.to_lowercase())?;
        let group = self.api_version.split('/').next().unwrap_or_default();
        if !group.is_empty() {
            write!(f, ".{group}")?;
        }
        if self.namespace.is_empty() {
            write!(f, " {}", self.name)
        } else {
            write!(f, " {}/{}", self.namespace, self.name)
        }
    }
}

impl fmt::Display for ModifiedStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            api_version,
            namespace,
            name,
            missing,
            exist,
            delete,
            patch,
        } = self;
        write!(
            f,
            "{}",
            ObjectName {
                kind,
                api_version,
                namespace,
                name
            }
        )?;
        match (*missing, *exist, *delete) {
            (true, true, _) => f.write_str(" is not owned by us"),
            (true, false, _) => f.write_str(" missing"),
            (false, _, true) => f.write_str(" extra"),
            (false, _, false) => write!(f, " modified {patch}"),
        }
    }
}

impl fmt::Display for NonReadyStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            uid: _,
            kind,
            api_version,
            namespace,
            name,
            summary,
        } = self;
        write!(
            f,
            "{} ",
            ObjectName {
                kind,
                api_version,
                namespace,
                name
            }
        )?;
        summary.as_ref().map_or(Ok(()), |summary| write!(f, "{summary}"))
    }
}

impl fmt::Display for ResourceSummary {
    /// The odd `error]` without a bracket before it is upstream's; users and dashboards match it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = match (self.transitioning, self.error) {
            (false, false) => return f.write_str(&self.state),
            (true, false) => "[progressing]",
            (true, true) => "[progressing,error]",
            (false, true) => "error]",
        };
        f.write_str(flags)?;
        if !self.message.is_empty() {
            write!(f, " {}", self.message.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Condition;

    fn resource(name: &str, message: &str) -> NonReadyResource {
        NonReadyResource {
            name: name.to_owned(),
            message: message.to_owned(),
            ..Default::default()
        }
    }

    #[test]
    fn the_first_reason_decides_the_state() {
        let spec = BundleDeploymentSpec {
            deployment_id: "a:1".to_owned(),
            staged_deployment_id: "a:1".to_owned(),
            ..Default::default()
        };
        let mut status = BundleDeploymentStatus::default();
        assert_eq!(deployment_state(&spec, &status), BundleState::WaitApplied);
        status.conditions.push(Condition {
            kind: "Deployed".to_owned(),
            status: "False".to_owned(),
            message: "m".to_owned(),
            ..Default::default()
        });
        assert_eq!(deployment_state(&spec, &status), BundleState::ErrApplied);
        assert_eq!(deployment_message(&spec, &status), "m");
        status.applied_deployment_id = "a:1".to_owned();
        assert_eq!(deployment_state(&spec, &status), BundleState::NotReady);
        status.ready = true;
        assert_eq!(deployment_state(&spec, &status), BundleState::Modified);
        status.non_modified = true;
        assert_eq!(deployment_state(&spec, &status), BundleState::Ready);
        let staged = BundleDeploymentSpec {
            staged_deployment_id: "a:2".to_owned(),
            ..spec
        };
        assert_eq!(deployment_state(&staged, &status), BundleState::OutOfSync);
    }

    #[test]
    fn a_ready_message_names_the_first_of_each_state_in_order() {
        let mut summary = BundleSummary::default();
        summary.add(BundleState::Ready, resource("fine", ""));
        assert_eq!(ready_message(&summary, "Cluster"), "");
        summary.add(BundleState::WaitApplied, resource("ns/a", ""));
        summary.add(BundleState::WaitApplied, resource("ns/b", ""));
        let mut modified = resource("ns/c", "why");
        modified.modified_status.push(ModifiedStatus {
            kind: "ConfigMap".to_owned(),
            api_version: "v1".to_owned(),
            namespace: "n".to_owned(),
            name: "x".to_owned(),
            missing: true,
            ..Default::default()
        });
        summary.add(BundleState::Modified, modified);
        assert_eq!(
            ready_message(&summary, "Cluster"),
            "Modified(1) [Cluster ns/c: why]; WaitApplied(2) [Cluster ns/a]; configmap.v1 n/x missing"
        );
        assert_eq!(summary.worst_state(), "WaitApplied");
    }

    #[test]
    fn merged_lists_stay_short() {
        let mut left = BundleSummary::default();
        let mut right = BundleSummary::default();
        for index in 0..8 {
            left.add(BundleState::NotReady, resource(&format!("l{index}"), ""));
            right.add(BundleState::NotReady, resource(&format!("r{index}"), ""));
        }
        left.merge(&right);
        assert_eq!((left.not_ready, left.non_ready_resources.len()), (16, MAX_NON_READY));
    }

    #[test]
    fn objects_are_named_with_their_summary() {
        let object = NonReadyStatus {
            kind: "Deployment".to_owned(),
            api_version: "apps/v1".to_owned(),
            name: "x".to_owned(),
            summary: Some(ResourceSummary {
                state: "s".to_owned(),
                error: true,
                transitioning: false,
                message: vec!["a".to_owned(), "b".to_owned()],
            }),
            ..Default::default()
        };
        assert_eq!(object.to_string(), "deployment.apps x error] a, b");
    }
}
