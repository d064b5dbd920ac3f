//! Sources: GitRepo, HelmOp, ImageScan; and what limits them: Policy, GitRepoRestriction; Schedule.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::LocalObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::bundle::{BundleSpec, TargetSelector};
use crate::duration::Duration;
use crate::options::CorrectDrift;
use crate::status::{Condition, StatusBase};
use crate::wire::{go_struct, kind};

kind! {
    /// A git repository that is followed.
    GitRepo, plural "gitrepos", scope NamespaceResourceScope {
        /// What is wanted.
        spec: GitRepoSpec => "spec",
        /// What is.
        status: Option<GitRepoStatus> => "status",
    }
}

go_struct! {
    /// Which repository, which part of it, and for whom.
    pub struct GitRepoSpec {
        omit {
            /// Clone URL.
            repo: String,
            /// Branch followed; `master` when no revision is given either.
            branch: String,
            /// Commit or tag.
            revision: String,
            /// Namespace forced onto every object.
            target_namespace: String,
            /// Secret with git credentials; `gitcredential` if empty.
            client_secret_name: String,
            /// Secret with Helm credentials.
            helm_secret_name: String,
            /// Secret with Helm credentials by path; wins.
            helm_secret_name_for_paths: String,
            /// Repositories that get the Helm credentials.
            #[serde(rename = "helmRepoURLRegex")]
            helm_repo_url_regex: String,
            /// PEM for git over TLS, base64.
            #[serde(rename = "caBundle")]
            ca_bundle: String,
            /// Skip TLS verification.
            #[serde(rename = "insecureSkipTLSVerify")]
            insecure_skip_tls_verify: bool,
            /// Directories to scan; globs allowed.
            paths: Vec<String>,
            /// Bundles are made paused.
            paused: bool,
            /// Service account that deploys.
            service_account: String,
            /// Clusters.
            targets: Vec<TargetSelector>,
            /// Time between look-ups; 15s if absent.
            polling_interval: Option<Duration>,
            /// Another number runs again.
            force_sync_generation: i64,
            /// Time between image scan commits.
            image_scan_interval: Option<Duration>,
            /// Author of image scan commits.
            image_scan_commit: Option<CommitSpec>,
            /// Leave objects in place when the GitRepo goes.
            keep_resources: bool,
            /// Remove release namespaces when the GitRepo goes.
            delete_namespace: bool,
            /// Drift correction.
            correct_drift: Option<CorrectDrift>,
            /// Only webhooks look.
            disable_polling: bool,
            /// Secret of an OCI registry.
            oci_registry_secret: String,
            /// Secret of webhooks.
            webhook_secret: String,
            /// Directories without recursion; wins over `paths`.
            bundles: Vec<BundlePath>,
        }
    }
}

go_struct! {
    /// Author of image scan commits.
    pub struct CommitSpec {
        always {
            /// Name.
            author_name: String,
            /// Address.
            author_email: String,
        }
        omit {
            /// Template of the message.
            message_template: String,
        }
    }
}

go_struct! {
    /// One directory of a driven scan.
    pub struct BundlePath {
        omit {
            /// Directory.
            base: String,
            /// Options file in it.
            options: String,
        }
    }
}

go_struct! {
    /// What is known of a GitRepo.
    pub struct GitRepoStatus {
        flatten {
            /// Roll-up of its deployments.
            base: StatusBase,
        }
        always {
            /// Generation last acted on.
            observed_generation: i64,
        }
        omit {
            /// forceSyncGeneration last acted on.
            update_generation: i64,
            /// Commit last applied.
            commit: String,
            /// Commit a webhook told.
            webhook_commit: String,
            /// When a webhook came, RFC 3339 UTC.
            last_webhook_time: Option<String>,
            /// Commit polling found.
            polling_commit: String,
            /// `Current`, `InProgress`, `Failed`, … of the work on the last commit.
            git_job_status: String,
            /// Last image scan, RFC 3339 UTC.
            last_synced_image_scan_time: Option<String>,
            /// Last look-up, RFC 3339 UTC.
            last_polling_triggered: Option<String>,
        }
    }
}

kind! {
    /// A chart that is followed.
    HelmOp, plural "helmops", scope NamespaceResourceScope {
        /// What is wanted.
        spec: HelmOpSpec => "spec",
        /// What is.
        status: Option<HelmOpStatus> => "status",
    }
}

go_struct! {
    /// A bundle spec plus where its chart comes from.
    pub struct HelmOpSpec {
        flatten {
            /// As of a Bundle.
            bundle: BundleSpec,
        }
        omit {
            /// Labels of the bundle.
            labels: BTreeMap<String, String>,
            /// Time between look-ups.
            polling_interval: Option<Duration>,
            /// Secret with credentials.
            helm_secret_name: String,
            /// Skip TLS verification.
            #[serde(rename = "insecureSkipTLSVerify")]
            insecure_skip_tls_verify: bool,
        }
    }
}

go_struct! {
    /// What is known of a HelmOp.
    pub struct HelmOpStatus {
        flatten {
            /// Roll-up of its deployments.
            base: StatusBase,
        }
        omit {
            /// Last look-up, RFC 3339 UTC.
            last_polling_triggered: Option<String>,
            /// Version found.
            version: String,
        }
    }
}

kind! {
    /// An image whose tags are followed.
    ImageScan, plural "imagescans", scope NamespaceResourceScope {
        /// What is wanted.
        spec: ImageScanSpec => "spec",
        /// What is.
        status: Option<ImageScanStatus> => "status",
    }
}

go_struct! {
    /// Which image, how often, which tag wins.
    pub struct ImageScanSpec {
        always {
            /// Which tag wins.
            policy: ImagePolicy,
        }
        omit {
            /// Name of the scan in the repository's markers.
            tag_name: String,
            /// GitRepo that is committed to.
            gitrepo_name: String,
            /// Image without tag.
            image: String,
            /// Time between scans.
            interval: Option<Duration>,
            /// Credentials.
            secret_ref: Option<LocalObjectReference>,
            /// Do nothing.
            suspend: bool,
        }
    }
}

go_struct! {
    /// Which tag wins.
    pub struct ImagePolicy {
        omit {
            /// Highest version in a range.
            semver: Option<SemVerPolicy>,
            /// First or last in the alphabet.
            alphabetical: Option<AlphabeticalPolicy>,
        }
    }
}

go_struct! {
    /// Highest version in a range.
    pub struct SemVerPolicy {
        always {
            /// Range.
            range: String,
        }
        omit {}
    }
}

go_struct! {
    /// First or last in the alphabet.
    pub struct AlphabeticalPolicy {
        omit {
            /// `ASC` or `DESC`.
            order: String,
        }
    }
}

go_struct! {
    /// What a scan found.
    pub struct ImageScanStatus {
        omit {
            /// Conditions.
            conditions: Vec<Condition>,
            /// RFC 3339 UTC.
            last_scan_time: Option<String>,
            /// Image with tag.
            latest_image: String,
            /// Tag.
            latest_tag: String,
            /// Digest.
            latest_digest: String,
            /// Generation last acted on.
            observed_generation: i64,
            /// Name with registry.
            canonical_image_name: String,
        }
    }
}

kind! {
    /// Limits of the GitRepos of a namespace. Deprecated in favour of [`Policy`].
    GitRepoRestriction, plural "gitreporestrictions", scope NamespaceResourceScope {
        /// Service account where none is given.
        default_service_account: String => "defaultServiceAccount",
        /// Service accounts allowed.
        allowed_service_accounts: Vec<String> => "allowedServiceAccounts",
        /// Repositories allowed; regular expressions.
        allowed_repo_patterns: Vec<String> => "allowedRepoPatterns",
        /// Client secret where none is given.
        default_client_secret_name: String => "defaultClientSecretName",
        /// Client secrets allowed.
        allowed_client_secret_names: Vec<String> => "allowedClientSecretNames",
        /// Target namespaces allowed.
        allowed_target_namespaces: Vec<String> => "allowedTargetNamespaces",
        /// Labels a target namespace must carry.
        allowed_target_namespace_selector: Option<LabelSelector> => "allowedTargetNamespaceSelector",
    }
}

kind! {
    /// Limits of everything in a namespace.
    Policy, plural "policies", scope NamespaceResourceScope {
        /// A service account must be given.
        require_service_account: bool => "requireServiceAccount",
        /// Service accounts allowed.
        allowed_service_accounts: Vec<String> => "allowedServiceAccounts",
        /// Agents may create release namespaces.
        allow_namespace_creation: bool => "allowNamespaceCreation",
        /// Limits of GitRepos.
        git_repo: Option<GitRepoPolicy> => "gitRepo",
        /// Limits of HelmOps.
        helm_op: Option<HelmOpPolicy> => "helmOp",
    }
}

go_struct! {
    /// Limits of GitRepos.
    pub struct GitRepoPolicy {
        omit {
            /// Service account where none is given.
            default_service_account: String,
            /// Client secret where none is given.
            default_client_secret_name: String,
            /// Client secrets allowed.
            allowed_client_secret_names: Vec<String>,
            /// Repositories allowed; regular expressions.
            allowed_repo_patterns: Vec<String>,
        }
    }
}

go_struct! {
    /// Limits of HelmOps.
    pub struct HelmOpPolicy {
        omit {
            /// Service account where none is given.
            default_service_account: String,
            /// Secret where none is given.
            default_helm_secret_name: String,
            /// Secrets allowed.
            allowed_helm_secret_names: Vec<String>,
            /// Repositories allowed; regular expressions.
            allowed_helm_repo_patterns: Vec<String>,
            /// Charts allowed; regular expressions.
            allowed_chart_patterns: Vec<String>,
        }
    }
}

kind! {
    /// When clusters may be changed.
    Schedule, plural "schedules", scope NamespaceResourceScope {
        /// What is wanted.
        spec: ScheduleSpec => "spec",
        /// What is.
        status: Option<ScheduleStatus> => "status",
    }
}

go_struct! {
    /// When, how long, where, for whom.
    pub struct ScheduleSpec {
        omit {
            /// Cron expression, seconds first.
            schedule: String,
            /// How long it stays active.
            duration: Option<Duration>,
            /// Time zone.
            location: String,
            /// Clusters.
            targets: Option<ScheduleTargets>,
        }
    }
}

go_struct! {
    /// Clusters of a schedule.
    pub struct ScheduleTargets {
        omit {
            /// Selections.
            clusters: Vec<TargetSelector>,
        }
    }
}

go_struct! {
    /// What is known of a schedule.
    pub struct ScheduleStatus {
        omit {
            /// Active now.
            active: bool,
            /// RFC 3339 UTC.
            next_start_time: Option<String>,
            /// Conditions.
            conditions: Vec<Condition>,
            /// Names of clusters; cut at 100.
            matching_clusters: Vec<String>,
        }
    }
}
