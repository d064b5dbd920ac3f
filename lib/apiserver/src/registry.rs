//! Which resources are served: the built-in kinds, and those that CustomResourceDefinitions add while the server runs.

use std::sync::Arc;

use crate::crd;

/// One resource in one version, as routing, discovery and the handlers need it.
#[derive(Debug, Clone)]
pub struct Resource {
    /// API group, empty for the core group.
    pub group: String,
    /// Version, for example `v1`.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Plural name, the one in paths.
    pub plural: String,
    /// Singular name.
    pub singular: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Short names for kubectl.
    pub short_names: Vec<String>,
    /// Categories such as `all`.
    pub categories: Vec<String>,
    /// Whether `/status` is served (and writes to the object itself keep the status).
    pub status: bool,
    /// Whether `/scale` is served.
    pub scale: bool,
    /// Schema and the rest of what a CRD says; none for built-in kinds.
    pub custom: Option<Arc<crd::Version>>,
}

impl Resource {
    /// `v1` or `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}
