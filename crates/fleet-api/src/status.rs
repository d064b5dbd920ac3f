//! Statuses that several kinds share: conditions, summaries, resources.

use std::collections::BTreeMap;

use crate::wire::go_struct;

go_struct! {
    /// A condition as this API group writes it (no `lastTransitionTime` is ever set).
    pub struct Condition {
        always {
            /// Type, one per list.
            #[serde(rename = "type")]
            kind: String,
            /// `True`, `False` or `Unknown`.
            status: String,
        }
        omit {
            /// When status or message last changed, RFC 3339 UTC.
            last_update_time: String,
            /// Never set by this program.
            last_transition_time: String,
            /// One word; `Error` on failures.
            reason: String,
            /// For people.
            message: String,
        }
    }
}

go_struct! {
    /// How many deployments are in which state. `ready` and `desiredReady` are always written.
    pub struct BundleSummary {
        always {
            /// Deployments that are ready.
            ready: i64,
            /// Deployments that should be.
            desired_ready: i64,
        }
        omit {
            /// Deployed, objects not ready.
            not_ready: i64,
            /// The agent has not acted yet.
            wait_applied: i64,
            /// The agent failed.
            err_applied: i64,
            /// Staged but not released.
            out_of_sync: i64,
            /// Live objects differ.
            modified: i64,
            /// No deployment exists yet.
            pending: i64,
            /// At most ten that are not ready.
            non_ready_resources: Vec<NonReadyResource>,
        }
    }
}

go_struct! {
    /// One deployment that is not ready.
    pub struct NonReadyResource {
        omit {
            /// Name; of a bundle, a deployment or `namespace/cluster`.
            name: String,
            /// Its state.
            #[serde(rename = "bundleState")]
            state: String,
            /// Why.
            message: String,
            /// What differs.
            modified_status: Vec<ModifiedStatus>,
            /// What is not ready.
            non_ready_status: Vec<NonReadyStatus>,
        }
    }
}

go_struct! {
    /// One object that differs from what was deployed.
    pub struct ModifiedStatus {
        omit {
            /// Kind.
            kind: String,
            /// API version.
            api_version: String,
            /// Namespace.
            namespace: String,
            /// Name.
            name: String,
            /// Not there (Go calls this field `Create`).
            #[serde(rename = "missing")]
            missing: bool,
            /// There, but not ours.
            exist: bool,
            /// There, though it should not be.
            delete: bool,
            /// Merge patch that would make it right again, as JSON text.
            patch: String,
        }
    }
}

go_struct! {
    /// One object that is not ready.
    pub struct NonReadyStatus {
        omit {
            /// Unique id.
            uid: String,
            /// Kind.
            kind: String,
            /// API version.
            api_version: String,
            /// Namespace.
            namespace: String,
            /// Name.
            name: String,
            /// Why.
            summary: Option<ResourceSummary>,
        }
    }
}

go_struct! {
    /// The state of one object in words.
    pub struct ResourceSummary {
        omit {
            /// One word.
            state: String,
            /// It has failed.
            error: bool,
            /// It is still moving.
            transitioning: bool,
            /// For people.
            message: Vec<String>,
        }
    }
}

go_struct! {
    /// Objects by state. All always written.
    pub struct ResourceCounts {
        always {
            /// Ready.
            ready: i64,
            /// Should be ready.
            desired_ready: i64,
            /// Waiting for the agent.
            wait_applied: i64,
            /// Differing.
            modified: i64,
            /// Not wanted any more.
            orphaned: i64,
            /// Not there.
            missing: i64,
            /// Unknown.
            unknown: i64,
            /// Not ready.
            not_ready: i64,
        }
        omit {}
    }
}

go_struct! {
    /// One object of a GitRepo or HelmOp over all clusters.
    pub struct Resource {
        always {
            /// Cluster ids (`namespace/name`) by state.
            per_cluster_state: Option<PerClusterState>,
        }
        omit {
            /// API version.
            api_version: String,
            /// Kind.
            kind: String,
            /// `group.kind`, lower case kind.
            #[serde(rename = "type")]
            resource_type: String,
            /// `namespace/name`.
            id: String,
            /// Namespace.
            namespace: String,
            /// Name.
            name: String,
            /// Some cluster's list was cut.
            incomplete_state: bool,
            /// First state that is not `Ready`.
            state: String,
            /// Unused.
            error: bool,
            /// Unused.
            transitioning: bool,
            /// Unused.
            message: String,
        }
    }
}

go_struct! {
    /// Cluster ids by state of one object; cut at 100 ids (the counts stay complete).
    pub struct PerClusterState {
        omit {
            /// Ready.
            ready: Vec<String>,
            /// Waiting.
            wait_applied: Vec<String>,
            /// Pending.
            pending: Vec<String>,
            /// Differing.
            modified: Vec<String>,
            /// Not wanted any more.
            orphaned: Vec<String>,
            /// Not there.
            missing: Vec<String>,
            /// Unknown.
            unknown: Vec<String>,
            /// Not ready.
            not_ready: Vec<String>,
        }
    }
}

go_struct! {
    /// What GitRepo and HelmOp statuses have in common.
    pub struct StatusBase {
        always {
            /// Clusters on which everything is ready.
            ready_clusters: i64,
            /// Clusters that should be.
            desired_ready_clusters: i64,
            /// Deployments by state.
            summary: BundleSummary,
            /// Texts for tables.
            display: StatusDisplay,
            /// Objects by state.
            resource_counts: ResourceCounts,
        }
        omit {
            /// Conditions.
            conditions: Vec<Condition>,
            /// Objects over all clusters.
            resources: Vec<Resource>,
            /// Objects by state per `namespace/cluster`.
            per_cluster_resource_counts: BTreeMap<String, ResourceCounts>,
        }
    }
}

go_struct! {
    /// Texts for tables of GitRepo and HelmOp.
    pub struct StatusDisplay {
        omit {
            /// `ready/desired`.
            ready_bundle_deployments: String,
            /// State of the worst deployment.
            state: String,
            /// Its message.
            message: String,
            /// Whether there is a message.
            error: bool,
        }
    }
}
