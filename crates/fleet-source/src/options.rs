//! What to make of a directory: the settings of `fleet apply` and of a GitRepo as one plain
//! value. Travels as JSON to the child process that does the work; never holds file names whose
//! content the work needs (targets, credentials): the parent reads those.

use std::collections::BTreeMap;

use fleet_api::{BundleTarget, CorrectDrift, TargetSelector};
use serde::{Deserialize, Serialize};

/// How directories are found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "mode")]
pub enum Scan {
    /// Paths are patterns; below each, every directory with a `fleet.yaml` makes a bundle.
    Classic,
    /// Paths are `directory` or `directory<separator>options file`; no recursion.
    Driven {
        /// Between directory and options file.
        separator: String,
    },
}

/// Settings of one run over a directory tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ApplyOptions {
    /// First part of the names of bundles; of a GitRepo its name.
    pub name: String,
    /// Namespace of the bundles.
    pub namespace: String,
    /// Where to look, relative to the root; `.` if empty.
    pub paths: Vec<String>,
    /// How to look.
    pub scan: Scan,
    /// Name of the options file in each directory; `fleet.yaml` (or `.yml`) if empty. It must
    /// exist, and its stem becomes a part of the name.
    pub bundle_file: String,
    /// Labels of all bundles; those of fleet.yaml win.
    pub labels: BTreeMap<String, String>,
    /// Targets and restrictions; not used by a fleet.yaml with `overrideTargets`.
    pub targets: Option<Targets>,
    /// Pack every file.
    pub compress: bool,
    /// Service account on downstream clusters; wins over fleet.yaml if not empty.
    pub service_account: String,
    /// forceSyncGeneration of all bundles.
    pub sync_generation: i64,
    /// Namespace forced on bundles and all their targets, if not empty.
    pub target_namespace: String,
    /// Pause all bundles.
    pub paused: bool,
    /// Keep objects when bundles go.
    pub keep_resources: bool,
    /// Remove release namespaces when bundles go.
    pub delete_namespace: bool,
    /// Drift correction; replaces that of fleet.yaml if enabled.
    pub correct_drift: CorrectDrift,
    /// Whether `imageScans` are allowed.
    pub image_scan: bool,
    /// Directories worked on at the same time.
    pub concurrency: usize,
    /// Access to chart repositories.
    pub charts: ChartAccess,
}

impl Default for ApplyOptions {
    fn default() -> Self {
        Self {
            name: String::new(),
            namespace: String::new(),
            paths: Vec::new(),
            scan: Scan::Classic,
            bundle_file: String::new(),
            labels: BTreeMap::new(),
            targets: None,
            compress: false,
            service_account: String::new(),
            sync_generation: 0,
            target_namespace: String::new(),
            paused: false,
            keep_resources: false,
            delete_namespace: false,
            correct_drift: CorrectDrift::default(),
            image_scan: false,
            concurrency: 4,
            charts: ChartAccess::default(),
        }
    }
}

/// Content of a targets file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Targets {
    /// Targets.
    #[serde(deserialize_with = "null_default")]
    pub targets: Vec<BundleTarget>,
    /// Clusters that may be targeted at all.
    #[serde(deserialize_with = "null_default")]
    pub target_restrictions: Vec<TargetSelector>,
}

fn null_default<'de, D: serde::Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Credentials for charts, and where they may be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChartAccess {
    /// Credentials for all paths; not used if `by_path` is given.
    pub auth: ChartAuth,
    /// Credentials by directory, exact or pattern.
    pub by_path: Option<BTreeMap<String, ChartAuth>>,
    /// Repositories (or charts, where there is no repository) that may see credentials; none if empty.
    pub url_regex: String,
}

/// Credentials for a chart repository.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChartAuth {
    /// User.
    pub username: String,
    /// Password.
    pub password: String,
    /// PEM.
    pub ca_bundle: String,
    /// PEM or OpenSSH key.
    pub ssh_private_key: String,
    /// known_hosts lines.
    pub ssh_known_hosts: String,
    /// Trust any certificate.
    pub insecure_skip_verify: bool,
    /// Plain HTTP for OCI registries.
    pub basic_http: bool,
}

impl std::fmt::Debug for ChartAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChartAuth")
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}
