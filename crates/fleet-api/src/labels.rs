//! Well-known labels, annotations, finalizers, secret types and names of `fleet.cattle.io`.
//! Only constants: other programs (upstream's agents and managers, Rancher) read them.

/// Git commit; on Bundle and BundleDeployment.
pub const COMMIT: &str = "fleet.cattle.io/commit";
/// GitRepo a Bundle, BundleDeployment, job or ImageScan comes from.
pub const REPO_NAME: &str = "fleet.cattle.io/repo-name";
/// HelmOp a Bundle or BundleDeployment comes from.
pub const HELM_NAME: &str = "fleet.cattle.io/fleet-helm-name";
/// Name of the Bundle of a BundleDeployment.
pub const BUNDLE_NAME: &str = "fleet.cattle.io/bundle-name";
/// Namespace of the Bundle of a BundleDeployment.
pub const BUNDLE_NAMESPACE: &str = "fleet.cattle.io/bundle-namespace";
/// Who made a GitRepo or HelmOp; only copied along.
pub const CREATED_BY_USER_ID: &str = "fleet.cattle.io/created-by-user-id";
/// Obsolete; removed from GitRepos and Bundles.
pub const CREATED_BY_DISPLAY_NAME: &str = "fleet.cattle.io/created-by-display-name";
/// Name of a Cluster.
pub const CLUSTER: &str = "fleet.cattle.io/cluster";
/// Namespace of a Cluster.
pub const CLUSTER_NAMESPACE: &str = "fleet.cattle.io/cluster-namespace";
/// `true` on what the manager owns and may clean up.
pub const MANAGED: &str = "fleet.cattle.io/managed";
/// Content of a BundleDeployment; counts its references.
pub const CONTENT_NAME: &str = "fleet.cattle.io/content-name";
/// BundleDeployment that a copied resource on the cluster belongs to.
pub const BUNDLE_DEPLOYMENT: &str = "fleet.cattle.io/bundledeployment";
/// `true` on secrets cloned for OCI and HelmOp content.
pub const BUNDLE_INTERNAL_SECRET: &str = "fleet.cattle.io/bundle-internal-secret";
/// Cluster or registration that others manage: left alone.
pub const CLUSTER_MANAGEMENT: &str = "fleet.cattle.io/cluster-management";
/// Token a ClusterRegistration was made with.
pub const REGISTRATION_TOKEN: &str = "fleet.cattle.io/registration-token";
/// Pod of the agent that registered; the only reserved label an agent may ask for.
pub const CREATED_BY_AGENT_POD: &str = "fleet.cattle.io/created-by-agent-pod";
/// Cluster whose agent the manager leaves alone.
pub const NON_MANAGED_AGENT: &str = "fleet.cattle.io/non-managed-agent";
/// Preferred node label of the agent.
pub const AGENT: &str = "fleet.cattle.io/agent";
/// Shard that handles the object.
pub const SHARD_REF: &str = "fleet.cattle.io/shard-ref";
/// Shard of a controller pod.
pub const SHARD_ID: &str = "fleet.cattle.io/shard-id";
/// On pods of the unsharded controller.
pub const SHARD_DEFAULT: &str = "fleet.cattle.io/shard-default";
/// GitRepo generation a job was made for.
pub const GITREPO_GENERATION: &str = "fleet.cattle.io/gitrepo-generation";
/// Forced-sync generation a job was made for.
pub const FORCE_SYNC_GENERATION: &str = "fleet.cattle.io/force-sync-generation";
/// Display name of a cluster in Rancher; matched by `clusterName`.
pub const DISPLAY_NAME: &str = "management.cattle.io/cluster-display-name";
/// Prefixes of labels that an agent cannot give its cluster.
pub const RESERVED_PREFIXES: [&str; 2] = ["fleet.cattle.io/", "management.cattle.io/"];

/// Registration a service account belongs to (annotation).
pub const CLUSTER_REGISTRATION: &str = "fleet.cattle.io/cluster-registration";
/// Namespace of that registration (annotation).
pub const CLUSTER_REGISTRATION_NAMESPACE: &str = "fleet.cattle.io/cluster-registration-namespace";
/// Last seen content of a GitRepo's client secret (annotation).
pub const CLIENT_SECRET_HASH: &str = "fleet.cattle.io/client-secret-hash";
/// Last seen content of a GitRepo's Helm secret (annotation).
pub const HELM_SECRET_HASH: &str = "fleet.cattle.io/helm-secret-hash";
/// Last seen content of a GitRepo's Helm secret for paths (annotation).
pub const HELM_SECRET_FOR_PATHS_HASH: &str = "fleet.cattle.io/helm-secret-for-paths-hash";
/// Marks a migrated GitRepo (annotation).
pub const HELM_REGEX_MIGRATED: &str = "fleet.cattle.io/helm-regex-auto-migrated";
/// Version a controller configuration is meant for (annotation).
pub const VERSION: &str = "fleet.cattle.io/version";
/// Bundle of a Helm release (annotation of its chart).
pub const BUNDLE_ID: &str = "fleet.cattle.io/bundle-id";
/// Agent of a Helm release (annotation of its chart).
pub const AGENT_NAMESPACE: &str = "fleet.cattle.io/agent-namespace";
/// Account of a Helm release (annotation of its chart).
pub const SERVICE_ACCOUNT: &str = "fleet.cattle.io/service-account";
/// Whether a Helm release outlives its bundle (annotation of its chart).
pub const KEEP_RESOURCES: &str = "fleet.cattle.io/keep-resources";

/// Label with the hash of the set an object belongs to.
pub const OBJECT_SET_HASH: &str = "objectset.rio.cattle.io/hash";
/// Annotation with the name of that set.
pub const OBJECT_SET_ID: &str = "objectset.rio.cattle.io/id";
/// Annotation with the kind of the set's owner.
pub const OBJECT_SET_OWNER_GVK: &str = "objectset.rio.cattle.io/owner-gvk";
/// Annotation with the name of the set's owner.
pub const OBJECT_SET_OWNER_NAME: &str = "objectset.rio.cattle.io/owner-name";
/// Annotation with the namespace of the set's owner.
pub const OBJECT_SET_OWNER_NAMESPACE: &str = "objectset.rio.cattle.io/owner-namespace";
/// Annotation with the object as last applied.
pub const OBJECT_SET_APPLIED: &str = "objectset.rio.cattle.io/applied";
/// Label that keeps an object from being pruned with its set.
pub const OBJECT_SET_PRUNE: &str = "objectset.rio.cattle.io/prune";

/// Finalizer of HelmOps.
pub const HELMOP_FINALIZER: &str = "fleet.cattle.io/helmop-finalizer";
/// Finalizer of GitRepos.
pub const GITREPO_FINALIZER: &str = "fleet.cattle.io/gitrepo-finalizer";
/// Finalizer of Bundles.
pub const BUNDLE_FINALIZER: &str = "fleet.cattle.io/bundle-finalizer";
/// Finalizer of BundleDeployments.
pub const BUNDLE_DEPLOYMENT_FINALIZER: &str = "fleet.cattle.io/bundle-deployment-finalizer";
/// Finalizer of Clusters.
pub const CLUSTER_FINALIZER: &str = "fleet.cattle.io/cluster-finalizer";
/// Finalizer of Schedules.
pub const SCHEDULE_FINALIZER: &str = "fleet.cattle.io/schedule-finalizer";

/// Secret with the values of a Bundle, named like it.
pub const SECRET_BUNDLE_VALUES: &str = "fleet.cattle.io/bundle-values/v1alpha1";
/// Secret with the values of a BundleDeployment, named like it.
pub const SECRET_DEPLOYMENT_VALUES: &str = "fleet.cattle.io/bundle-deployment/v1alpha1";
/// Secret with access to an OCI registry.
pub const SECRET_OCI_STORAGE: &str = "fleet.cattle.io/bundle-oci-storage/v1alpha1";
/// Clone of a HelmOp's access secret.
pub const SECRET_HELMOPS_ACCESS: &str = "fleet.cattle.io/bundle-helmops-access/v1alpha1";
/// Secret with the values for the agent's chart.
pub const SECRET_REGISTRATION_VALUES: &str = "fleet.cattle.io/cluster-registration-values";
/// Secret with an agent's credentials.
pub const SECRET_AGENT_CREDENTIAL: &str = "fleet.cattle.io/agent-credential";
/// Kubernetes' own type of service account tokens.
pub const SECRET_SERVICE_ACCOUNT_TOKEN: &str = "kubernetes.io/service-account-token";

/// Namespace of the manager.
pub const SYSTEM_NAMESPACE: &str = "cattle-fleet-system";
/// Namespace of the manager of old.
pub const LEGACY_SYSTEM_NAMESPACE: &str = "fleet-system";
/// Config map with the manager's configuration; its only key is [`CONFIG_KEY`].
pub const CONTROLLER_CONFIG: &str = "fleet-controller";
/// Key of the configuration in both config maps.
pub const CONFIG_KEY: &str = "config";
/// Config map and credential secret of the agent.
pub const AGENT_CONFIG: &str = "fleet-agent";
/// Secret with which an agent registers.
pub const AGENT_BOOTSTRAP: &str = "fleet-agent-bootstrap";
/// Account the local cluster is imported with.
pub const BOOTSTRAP_SERVICE_ACCOUNT: &str = "fleet-controller-bootstrap";
/// OCI storage secret that is used when none is named.
pub const DEFAULT_OCI_STORAGE_SECRET: &str = "ocistorage";
/// Git credentials that are used when none are named.
pub const DEFAULT_GIT_CREDENTIAL: &str = "gitcredential";
/// Cluster role of an agent in its namespace on the manager.
pub const ROLE_BUNDLE_DEPLOYMENT: &str = "fleet-bundle-deployment";
/// Cluster role of an agent for Contents.
pub const ROLE_CONTENT: &str = "fleet-content";
