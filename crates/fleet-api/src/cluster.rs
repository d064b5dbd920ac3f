//! Cluster, ClusterGroup, and how a cluster registers.

use k8s_openapi::api::core::v1::{Affinity, EnvVar, LocalObjectReference, ResourceRequirements, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::options::GenericMap;
use crate::status::{BundleSummary, Condition, ResourceCounts};
use crate::wire::{go_struct, kind};

kind! {
    /// A downstream cluster.
    Cluster, plural "clusters", scope NamespaceResourceScope {
        /// What is wanted.
        spec: ClusterSpec => "spec",
        /// What is.
        status: Option<ClusterStatus> => "status",
    }
}

go_struct! {
    /// A downstream cluster as the user describes it.
    pub struct ClusterSpec {
        omit {
            /// Stage changes, release nothing on this cluster.
            paused: bool,
            /// Identity of the agent.
            #[serde(rename = "clientID")]
            client_id: String,
            /// Secret with a kubeconfig: the manager installs the agent.
            kube_config_secret: String,
            /// Namespace of that secret.
            kube_config_secret_namespace: String,
            /// Another number installs the agent again.
            redeploy_agent_generation: i64,
            /// Environment of the agent.
            agent_env_vars: Vec<EnvVar>,
            /// Namespace of the agent.
            agent_namespace: String,
            /// Image registry prefix.
            #[serde(rename = "privateRepoURL")]
            private_repo_url: String,
            /// Values for templates, `.ClusterValues`.
            template_values: Option<GenericMap>,
            /// Tolerations of the agent.
            agent_tolerations: Vec<Toleration>,
            /// Affinity of the agent.
            agent_affinity: Option<Affinity>,
            /// Resources of the agent.
            agent_resources: Option<ResourceRequirements>,
            /// Host network for the agent.
            host_network: Option<bool>,
            /// Priority class and disruption budget of the agent.
            agent_scheduling_customization: Option<AgentSchedulingCustomization>,
            /// Pull secrets of the agent; absent and empty differ.
            agent_pull_secrets: Option<Vec<LocalObjectReference>>,
        }
    }
}

go_struct! {
    /// Priority class and disruption budget of the agent.
    pub struct AgentSchedulingCustomization {
        omit {
            /// Priority class.
            priority_class: Option<PriorityClassSpec>,
            /// Disruption budget.
            pod_disruption_budget: Option<PodDisruptionBudgetSpec>,
        }
    }
}

go_struct! {
    /// Priority class of the agent.
    pub struct PriorityClassSpec {
        omit {
            /// Priority.
            value: i64,
            /// `Never` or `PreemptLowerPriority`.
            preemption_policy: String,
        }
    }
}

go_struct! {
    /// Disruption budget of the agent.
    pub struct PodDisruptionBudgetSpec {
        omit {
            /// Number or percentage.
            min_available: String,
            /// Number or percentage.
            max_unavailable: String,
        }
    }
}

go_struct! {
    /// What is known of a cluster.
    pub struct ClusterStatus {
        always {
            /// Deployments by state.
            summary: BundleSummary,
            /// Objects by state.
            resource_counts: ResourceCounts,
            /// GitRepos with something ready here.
            ready_git_repos: i64,
            /// GitRepos with something here.
            desired_ready_git_repos: i64,
            /// HelmOps with something ready here.
            ready_helm_ops: i64,
            /// HelmOps with something here.
            desired_ready_helm_ops: i64,
            /// Texts for tables.
            display: ClusterDisplay,
            /// The agent's check-in.
            agent: AgentStatus,
        }
        omit {
            /// Conditions.
            conditions: Vec<Condition>,
            /// Namespace of this cluster's deployments on the manager.
            namespace: String,
            /// Hash of spec.agentEnvVars as last deployed.
            agent_env_vars_hash: String,
            /// spec.privateRepoURL as last deployed.
            #[serde(rename = "agentPrivateRepoURL")]
            agent_private_repo_url: String,
            /// spec.hostNetwork as last deployed.
            agent_host_network: bool,
            /// spec.redeployAgentGeneration as last deployed.
            agent_deployed_generation: Option<i64>,
            /// Migration marker.
            agent_migrated: bool,
            /// Migration marker.
            agent_namespace_migrated: bool,
            /// Migration marker.
            cattle_namespace_migrated: bool,
            /// Hash of spec.agentAffinity as last deployed.
            agent_affinity_hash: String,
            /// Hash of spec.agentResources as last deployed.
            agent_resources_hash: String,
            /// Hash of spec.agentTolerations as last deployed.
            agent_tolerations_hash: String,
            /// The agent has to be installed again.
            agent_config_changed: bool,
            /// API server URL as last deployed.
            #[serde(rename = "apiServerURL")]
            api_server_url: String,
            /// Hash of the API server CA as last deployed.
            #[serde(rename = "apiServerCAHash")]
            api_server_ca_hash: String,
            /// TLS mode as last deployed.
            #[serde(rename = "agentTLSMode")]
            agent_tls_mode: String,
            /// Clean-up interval as last deployed, Go duration.
            garbage_collection_interval: Option<crate::duration::Duration>,
            /// Hash of the scheduling customization as last deployed.
            agent_scheduling_customization_hash: String,
            /// A Schedule matches this cluster.
            scheduled: bool,
            /// That schedule is active.
            active_schedule: bool,
        }
    }
}

go_struct! {
    /// Texts for tables.
    pub struct ClusterDisplay {
        omit {
            /// `ready/desired`.
            ready_bundles: String,
            /// Worst state, or `WaitCheckIn`.
            state: String,
        }
    }
}

go_struct! {
    /// The agent's check-in; null while there was none.
    pub struct AgentStatus {
        always {
            /// RFC 3339 UTC.
            last_seen: Option<String>,
            /// Namespace the agent runs in.
            namespace: String,
        }
        omit {}
    }
}

kind! {
    /// A set of clusters of its namespace.
    ClusterGroup, plural "clustergroups", scope NamespaceResourceScope {
        /// What is wanted.
        spec: ClusterGroupSpec => "spec",
        /// What is.
        status: Option<ClusterGroupStatus> => "status",
    }
}

go_struct! {
    /// Which clusters belong to the group.
    pub struct ClusterGroupSpec {
        omit {
            /// Absent selects nothing, `{}` all.
            selector: Option<LabelSelector>,
        }
    }
}

go_struct! {
    /// What is known of a group.
    pub struct ClusterGroupStatus {
        always {
            /// Clusters in the group.
            cluster_count: i64,
            /// Of them not ready.
            non_ready_cluster_count: i64,
            /// Deployments by state.
            summary: BundleSummary,
            /// Texts for tables.
            display: ClusterGroupDisplay,
            /// Objects by state.
            resource_counts: ResourceCounts,
        }
        omit {
            /// At most ten names.
            non_ready_clusters: Vec<String>,
            /// Conditions.
            conditions: Vec<Condition>,
        }
    }
}

go_struct! {
    /// Texts for tables.
    pub struct ClusterGroupDisplay {
        omit {
            /// `ready/total` and the names that are not.
            ready_clusters: String,
            /// `ready/desired`.
            ready_bundles: String,
            /// Worst state.
            state: String,
        }
    }
}

kind! {
    /// A request of an agent to be accepted.
    ClusterRegistration, plural "clusterregistrations", scope NamespaceResourceScope {
        /// What the agent says.
        spec: ClusterRegistrationSpec => "spec",
        /// What the manager answers.
        status: Option<ClusterRegistrationStatus> => "status",
    }
}

go_struct! {
    /// What the agent says of itself.
    pub struct ClusterRegistrationSpec {
        omit {
            /// Identity.
            #[serde(rename = "clientID")]
            client_id: String,
            /// Random part of the name of the credential secret.
            client_random: String,
            /// Labels asked for.
            cluster_labels: std::collections::BTreeMap<String, String>,
        }
    }
}

go_struct! {
    /// What the manager answers.
    pub struct ClusterRegistrationStatus {
        omit {
            /// The cluster it became.
            cluster_name: String,
            /// Credentials are ready.
            granted: bool,
        }
    }
}

kind! {
    /// Lets agents register in its namespace.
    ClusterRegistrationToken, plural "clusterregistrationtokens", scope NamespaceResourceScope {
        /// What is wanted.
        spec: ClusterRegistrationTokenSpec => "spec",
        /// What is.
        status: Option<ClusterRegistrationTokenStatus> => "status",
    }
}

go_struct! {
    /// How long the token lives.
    pub struct ClusterRegistrationTokenSpec {
        omit {
            /// Life time; absent or ≤ 0 is for ever.
            ttl: Option<crate::duration::Duration>,
        }
    }
}

go_struct! {
    /// Where the token is.
    pub struct ClusterRegistrationTokenStatus {
        omit {
            /// When it ends, RFC 3339 UTC.
            expires: Option<String>,
            /// Secret with the values for the agent's chart.
            secret_name: String,
        }
    }
}
