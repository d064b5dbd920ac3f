//! Reads whether a cluster's namespace exists.

use fleet_api::{Cluster, names};

use crate::shell::{Shell, name, namespace};

/// What exists.
#[derive(Debug)]
pub(super) struct Facts {
    /// Name of the namespace, decided before or now.
    pub(super) namespace: String,
    /// It exists (maybe terminating: then it is waited for).
    pub(super) exists: bool,
}

pub(super) fn observe(cluster: &Cluster, shell: &Shell) -> Facts {
    let decided = cluster
        .status
        .as_ref()
        .map(|status| status.namespace.clone())
        .filter(|name| !name.is_empty());
    let space = decided.unwrap_or_else(|| names::cluster_namespace(namespace(cluster), name(cluster)));
    Facts {
        exists: shell.world.namespaces.mirror().find("", &space).is_some(),
        namespace: space,
    }
}
