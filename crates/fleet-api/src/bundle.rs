//! Bundle, its targets and its roll-out; BundleNamespaceMapping.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::options::BundleDeploymentOptions;
use crate::status::{BundleSummary, Condition};
use crate::wire::{go_struct, kind};

kind! {
    /// Content plus the clusters it is meant for.
    Bundle, plural "bundles", scope NamespaceResourceScope {
        /// What is wanted.
        spec: BundleSpec => "spec",
        /// What is.
        status: Option<BundleStatus> => "status",
    }
}

go_struct! {
    /// What a Bundle asks for.
    pub struct BundleSpec {
        flatten {
            /// Base options, merged with those of a target.
            options: BundleDeploymentOptions,
        }
        omit {
            /// Stage changes, release nothing.
            paused: bool,
            /// How changes spread.
            rollout_strategy: Option<RolloutStrategy>,
            /// Files.
            resources: Vec<BundleResource>,
            /// `FirstMatch` (default) or `AllMatches`.
            target_customization_mode: String,
            /// Customizations first, then real targets (bundles.md §6.2).
            targets: Vec<BundleTarget>,
            /// Clusters that may be targeted at all.
            target_restrictions: Vec<TargetSelector>,
            /// Bundles that must be ready first.
            depends_on: Vec<BundleRef>,
            /// Id of content kept in an OCI registry.
            contents_id: String,
            /// Present: the bundle comes from a HelmOp.
            helm_op_options: Option<BundleHelmOptions>,
            /// Hash of the values kept in the secret named like the bundle.
            values_hash: String,
        }
    }
}

go_struct! {
    /// One file of a bundle.
    pub struct BundleResource {
        omit {
            /// Path relative to the bundle.
            name: String,
            /// Text, or what `encoding` says.
            content: String,
            /// "", `base64`, `gz` or `base64+gz`.
            encoding: String,
        }
    }
}

go_struct! {
    /// A selection of clusters with options of its own. Go decodes `namespaceLabels` and
    /// `namespaceAnnotations` into the outer fields only; so do we.
    pub struct BundleTarget {
        flatten {
            /// Options for clusters of this target; their namespace labels and annotations stay empty.
            options: BundleDeploymentOptions,
        }
        omit {
            /// Name; `target%03d` if unnamed in fleet.yaml.
            name: String,
            /// Name of one cluster.
            cluster_name: String,
            /// Labels of clusters; `{}` is all.
            cluster_selector: Option<LabelSelector>,
            /// Name of one cluster group.
            cluster_group: String,
            /// Labels of cluster groups.
            cluster_group_selector: Option<LabelSelector>,
            /// Skip the clusters of this target.
            do_not_deploy: bool,
            /// Labels for the release namespace (all targets' are merged).
            namespace_labels: Option<BTreeMap<String, String>>,
            /// Annotations for the release namespace (all targets' are merged).
            namespace_annotations: Option<BTreeMap<String, String>>,
        }
    }
}

go_struct! {
    /// A selection of clusters.
    pub struct TargetSelector {
        omit {
            /// Name of the selection.
            name: String,
            /// Name of one cluster.
            cluster_name: String,
            /// Labels of clusters; `{}` is all.
            cluster_selector: Option<LabelSelector>,
            /// Name of one cluster group.
            cluster_group: String,
            /// Labels of cluster groups.
            cluster_group_selector: Option<LabelSelector>,
        }
    }
}

go_struct! {
    /// How changes spread over clusters (bundles.md §9).
    pub struct RolloutStrategy {
        omit {
            /// Clusters that may be unavailable; 100% if absent.
            max_unavailable: Option<IntOrString>,
            /// Partitions that may be unavailable; 0 if absent.
            max_unavailable_partitions: Option<IntOrString>,
            /// Size of automatic partitions; 25% if absent.
            auto_partition_size: Option<IntOrString>,
            /// Clusters from which on automatic partitions are made; 200 if absent.
            auto_partition_threshold: Option<i64>,
            /// New deployments per pass; 50 if absent.
            max_new: Option<i64>,
            /// Partitions by hand.
            partitions: Vec<Partition>,
        }
    }
}

go_struct! {
    /// One partition of a roll-out.
    pub struct Partition {
        omit {
            /// Name.
            name: String,
            /// Clusters of this partition that may be unavailable.
            max_unavailable: Option<IntOrString>,
            /// Name of one cluster.
            cluster_name: String,
            /// Labels of clusters.
            cluster_selector: Option<LabelSelector>,
            /// Name of one cluster group.
            cluster_group: String,
            /// Labels of cluster groups.
            cluster_group_selector: Option<LabelSelector>,
        }
    }
}

go_struct! {
    /// A bundle that must be in a certain state first.
    pub struct BundleRef {
        omit {
            /// Name of the bundle.
            name: String,
            /// Or labels of bundles.
            selector: Option<LabelSelector>,
            /// States that suffice; `Ready` if empty.
            accepted_states: Vec<String>,
        }
    }
}

go_struct! {
    /// What a bundle from a HelmOp needs to fetch its chart.
    pub struct BundleHelmOptions {
        omit {
            /// Secret with credentials.
            #[serde(rename = "helmOpSecretName")]
            secret_name: String,
            /// Skip TLS verification.
            #[serde(rename = "helmOpInsecureSkipTLSVerify")]
            insecure_skip_tls_verify: bool,
            /// CA bundle, base64.
            #[serde(rename = "helmOpCABundle")]
            ca_bundle: String,
        }
    }
}

go_struct! {
    /// What is known of a Bundle.
    pub struct BundleStatus {
        always {
            /// Clusters that are unavailable.
            unavailable: i64,
            /// Partitions that are unavailable.
            unavailable_partitions: i64,
            /// Clusters that may be unavailable.
            max_unavailable: i64,
            /// Partitions that may be unavailable.
            max_unavailable_partitions: i64,
            /// Deployments by state.
            summary: BundleSummary,
            /// Texts for tables.
            display: BundleDisplay,
            /// Generation that was last acted on.
            observed_generation: i64,
        }
        omit {
            /// Conditions.
            conditions: Vec<Condition>,
            /// Deployments created in the last pass.
            newly_created: i64,
            /// The roll-out's partitions.
            partitions: Vec<PartitionStatus>,
            /// `oci://…` of content in a registry.
            oci_reference: String,
            /// Content hash, full hex sha256.
            #[serde(rename = "resourcesSha256Sum")]
            resources_sha256_sum: String,
        }
    }
}

go_struct! {
    /// Texts for tables of bundles.
    pub struct BundleDisplay {
        omit {
            /// `ready/desired`.
            ready_clusters: String,
            /// Worst state.
            state: String,
        }
    }
}

go_struct! {
    /// One partition of a roll-out as it is.
    pub struct PartitionStatus {
        always {
            /// Deployments by state, before this pass.
            summary: BundleSummary,
        }
        omit {
            /// Name.
            name: String,
            /// Clusters in it.
            count: i64,
            /// May be unavailable.
            max_unavailable: i64,
            /// Are unavailable.
            unavailable: i64,
        }
    }
}

kind! {
    /// Lets bundles of this namespace target clusters of other namespaces.
    BundleNamespaceMapping, plural "bundlenamespacemappings", scope NamespaceResourceScope {
        /// Labels of bundles.
        bundle_selector: Option<LabelSelector> => "bundleSelector",
        /// Labels of namespaces that hold clusters.
        namespace_selector: Option<LabelSelector> => "namespaceSelector",
    }
}
