//! BundleDeployment and Content: what one cluster is told to run, and what came of it.

use crate::bundle::{BundleHelmOptions, BundleRef};
use crate::options::{BundleDeploymentOptions, CorrectDrift};
use crate::status::{Condition, ModifiedStatus, NonReadyStatus, ResourceCounts};
use crate::wire::{go_struct, kind};

kind! {
    /// One bundle on one cluster; lives in the cluster's namespace.
    BundleDeployment, plural "bundledeployments", scope NamespaceResourceScope {
        /// What is wanted, written by the manager.
        spec: BundleDeploymentSpec => "spec",
        /// What is, written by the agent (`display` by the manager).
        status: Option<BundleDeploymentStatus> => "status",
    }
}

go_struct! {
    /// What a cluster is told to run.
    pub struct BundleDeploymentSpec {
        omit {
            /// Do nothing.
            paused: bool,
            /// Options of the next release.
            staged_options: Option<BundleDeploymentOptions>,
            /// Id of the next release.
            #[serde(rename = "stagedDeploymentID")]
            staged_deployment_id: String,
            /// Options of the release to run.
            options: Option<BundleDeploymentOptions>,
            /// `<manifest id>:<hash of options>` of the release to run.
            #[serde(rename = "deploymentID")]
            deployment_id: String,
            /// Bundles that must be ready first.
            depends_on: Vec<BundleRef>,
            /// Drift correction, copied out of the options.
            correct_drift: Option<CorrectDrift>,
            /// Content is in an OCI registry.
            #[serde(rename = "ociContents")]
            oci_contents: bool,
            /// Present: content is a chart fetched by the agent.
            helm_chart_options: Option<BundleHelmOptions>,
            /// Hash of the values kept in the secret named like the deployment.
            values_hash: String,
            /// Counts changes of copied resources.
            downstream_resources_generation: i64,
            /// Outside of its schedule.
            off_schedule: bool,
            /// Its values secret is missing.
            waiting_for_values: bool,
        }
    }
}

go_struct! {
    /// What came of it.
    pub struct BundleDeploymentStatus {
        omit {
            /// `Ready`, `Installed`, `Deployed`, `Monitored`.
            conditions: Vec<Condition>,
            /// Id last applied.
            #[serde(rename = "appliedDeploymentID")]
            applied_deployment_id: String,
            /// `<namespace>/<name>:<revision>`.
            release: String,
            /// All objects ready.
            ready: bool,
            /// No object differs.
            non_modified: bool,
            /// At most ten.
            non_ready_status: Vec<NonReadyStatus>,
            /// At most ten.
            modified_status: Vec<ModifiedStatus>,
            /// One of the lists was cut.
            incomplete_state: bool,
            /// Texts for tables; written by the manager.
            display: Option<BundleDeploymentDisplay>,
            /// The forceSyncGeneration last acted on; absent before.
            sync_generation: Option<i64>,
            /// Live objects.
            resources: Vec<BundleDeploymentResource>,
            /// Objects by state.
            resource_counts: Option<ResourceCounts>,
            /// The downstreamResourcesGeneration last acted on.
            downstream_resources_generation: i64,
        }
    }
}

go_struct! {
    /// Texts for tables.
    pub struct BundleDeploymentDisplay {
        omit {
            /// Of condition Deployed.
            deployed: String,
            /// Of condition Monitored.
            monitored: String,
            /// Deployment state.
            state: String,
        }
    }
}

go_struct! {
    /// A live object.
    pub struct BundleDeploymentResource {
        omit {
            /// Kind.
            kind: String,
            /// API version.
            api_version: String,
            /// Namespace.
            namespace: String,
            /// Name.
            name: String,
            /// Creation time, RFC 3339.
            created_at: String,
        }
    }
}

kind! {
    /// The files of a bundle, named by their digest; cluster-scoped, written once.
    Content, plural "contents", scope ClusterResourceScope {
        /// gzip of the manifest JSON, base64.
        content: String => "content",
        /// Digest of the uncompressed bytes, hex.
        sha256sum: String => "sha256sum",
        /// How often it is used.
        status: Option<ContentStatus> => "status",
    }
}

go_struct! {
    /// How often content is used.
    pub struct ContentStatus {
        omit {
            /// Deployments that name it.
            reference_count: i64,
        }
    }
}
