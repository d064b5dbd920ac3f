//! The options of a deployment: what a Bundle, its targets, a HelmOp, a BundleDeployment and
//! `fleet.yaml` have in common. The order of fields is hashed into the deployment id.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde_json::{Map, Value};

use crate::wire::go_struct;

/// Arbitrary values of a chart. Numbers are what JSON says; Go reads all of them as float64.
pub type GenericMap = Map<String, Value>;

go_struct! {
    /// How content becomes objects on a cluster.
    pub struct BundleDeploymentOptions {
        omit {
            /// Raw YAML: which directories of `overlays/` apply.
            yaml: Option<YamlOptions>,
            /// Kustomize: where its root lies.
            kustomize: Option<KustomizeOptions>,
            /// Namespace of namespaced objects that name none.
            default_namespace: String,
            /// Namespace forced onto every object; cluster-scoped objects are then refused.
            #[serde(rename = "namespace")]
            target_namespace: String,
            /// Helm options; also used for content that is not a chart (name, timeout, …).
            helm: Option<HelmOptions>,
            /// Service account on the downstream cluster that deploys this bundle.
            service_account: String,
            /// `false`: the agent must not create the release namespace.
            create_namespace: Option<bool>,
            /// A higher number than last time deploys again.
            force_sync_generation: i64,
            /// Differences that are no drift.
            diff: Option<DiffOptions>,
            /// Leave the objects in place when the bundle goes.
            keep_resources: bool,
            /// Remove the release namespace when the bundle goes.
            delete_namespace: bool,
            /// Conditions that do not count when readiness is computed.
            ignore: Option<IgnoreOptions>,
            /// Whether and how drift is corrected.
            correct_drift: Option<CorrectDrift>,
            /// Labels of the release namespace.
            namespace_labels: Option<BTreeMap<String, String>>,
            /// Annotations of the release namespace.
            namespace_annotations: Option<BTreeMap<String, String>>,
            /// Delete CRDs when the bundle goes.
            #[serde(rename = "deleteCRDResources")]
            delete_crd_resources: bool,
            /// Secrets and config maps copied from the bundle's namespace to the cluster.
            downstream_resources: Vec<DownstreamResource>,
            /// Objects taken over from a bundle that is being removed. Internal.
            overwrites: Vec<OverwrittenResource>,
            /// Set by the manager from a Policy: labels a target namespace must carry. Internal.
            #[serde(serialize_with = "crate::wire::selector_in_go_order")]
            allowed_target_namespace_selector: Option<LabelSelector>,
        }
    }
}

go_struct! {
    /// Options of raw YAML content.
    pub struct YamlOptions {
        omit {
            /// Names of directories below `overlays/`, applied in order.
            overlays: Vec<String>,
        }
    }
}

go_struct! {
    /// Options of Kustomize content.
    pub struct KustomizeOptions {
        omit {
            /// Directory of `kustomization.yaml`, relative to the bundle.
            dir: String,
        }
    }
}

go_struct! {
    /// Options of a Helm release.
    pub struct HelmOptions {
        omit {
            /// Files, relative to the bundle, whose values win over inline values.
            values_files: Vec<String>,
            /// Chart: local directory, name in `repo`, or URL.
            chart: String,
            /// Chart repository (https or oci).
            repo: String,
            /// Name of the release; derived from the bundle if empty.
            release_name: String,
            /// Version constraint of the chart.
            version: String,
            /// Seconds to wait for readiness; 0 does not wait.
            timeout_seconds: i64,
            /// Inline values. `Some` and empty is written as `{}`.
            values: Option<GenericMap>,
            /// Templates whose results replace top-level values.
            template_values: BTreeMap<String, String>,
            /// Values read on the downstream cluster.
            values_from: Vec<ValuesFrom>,
            /// Replace objects that cannot be updated.
            force: bool,
            /// Adopt existing objects without Helm's metadata.
            take_ownership: bool,
            /// Revisions kept.
            max_history: i64,
            /// Wait for jobs too.
            wait_for_jobs: bool,
            /// Roll back when an operation fails.
            atomic: bool,
            /// Do not run `${ }` templates over the values.
            disable_pre_process: bool,
            /// No DNS look-ups in templates.
            #[serde(rename = "disableDNS")]
            disable_dns: bool,
            /// Skip values.schema.json.
            skip_schema_validation: bool,
            /// Do not fetch missing chart dependencies.
            disable_dependency_update: bool,
        }
    }
}

go_struct! {
    /// One source of values on the downstream cluster.
    pub struct ValuesFrom {
        omit {
            /// From a config map.
            config_map_key_ref: Option<KeySelector>,
            /// From a secret.
            secret_key_ref: Option<KeySelector>,
        }
    }
}

go_struct! {
    /// A key of a secret or config map.
    pub struct KeySelector {
        always {
            /// Name of the object.
            name: String,
        }
        omit {
            /// Namespace of the object; the release namespace if empty.
            namespace: String,
            /// Key; `values.yaml` if empty.
            key: String,
        }
    }
}

go_struct! {
    /// Drift that is to be ignored.
    pub struct DiffOptions {
        omit {
            /// One entry per object or pattern.
            compare_patches: Vec<ComparePatch>,
        }
    }
}

go_struct! {
    /// What to ignore of one object.
    pub struct ComparePatch {
        omit {
            /// Kind of the object.
            kind: String,
            /// API version of the object.
            api_version: String,
            /// Namespace of the object; a regular expression.
            namespace: String,
            /// Name of the object; a regular expression.
            name: String,
            /// Operations on the difference.
            operations: Vec<Operation>,
            /// JSON pointers of ignored fields.
            json_pointers: Vec<String>,
        }
    }
}

go_struct! {
    /// One JSON patch operation, or `ignore`.
    pub struct Operation {
        omit {
            /// `remove`, `replace`, `add`, … or `ignore`.
            op: String,
            /// JSON pointer.
            path: String,
            /// New value, as text.
            value: String,
        }
    }
}

go_struct! {
    /// Conditions to ignore.
    pub struct IgnoreOptions {
        omit {
            /// A condition is ignored if all key/value pairs of one entry equal.
            conditions: Vec<BTreeMap<String, String>>,
        }
    }
}

go_struct! {
    /// Drift correction.
    pub struct CorrectDrift {
        omit {
            /// Correct drift at all.
            enabled: bool,
            /// Replace objects that cannot be patched.
            force: bool,
            /// Keep the release records of failed corrections.
            keep_fail_history: bool,
        }
    }
}

go_struct! {
    /// A secret or config map copied downstream.
    pub struct DownstreamResource {
        omit {
            /// `Secret` or `ConfigMap`, any case.
            kind: String,
            /// Name, in the bundle's namespace.
            name: String,
        }
    }
}

go_struct! {
    /// An object taken over from another bundle.
    pub struct OverwrittenResource {
        omit {
            /// Kind.
            kind: String,
            /// Name.
            name: String,
            /// Namespace.
            namespace: String,
        }
    }
}
