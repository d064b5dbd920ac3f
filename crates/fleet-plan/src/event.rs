//! What the shells tell the state, and what the state answers: which decisions have to be looked at again.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::{Bundle, BundleDeployment, BundleNamespaceMapping, Cluster, ClusterGroup};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::key::{BundleKey, ClusterKey, DeploymentKey, GroupKey, MappingKey, SourceKey};

/// One change of the world. Objects are borrowed: the state keeps what it needs of them.
///
/// The order of events does not matter; feeding the same object twice changes nothing.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A Cluster came or changed.
    Cluster(&'a Cluster),
    /// A Cluster is gone.
    ClusterDeleted(&'a ClusterKey),
    /// A ClusterGroup came or changed.
    Group(&'a ClusterGroup),
    /// A ClusterGroup is gone.
    GroupDeleted(&'a GroupKey),
    /// A Bundle came or changed. Values kept in its secret have been put back (`fleet_api::values::restore_bundle`).
    /// `manifest` is what its content is known by (see [`crate::deployment::manifest_id`]).
    Bundle {
        /// The bundle; its resources are not looked at and may be left out.
        bundle: &'a Bundle,
        /// Name of the Content, or id of OCI content, or empty for a HelmOp.
        manifest: &'a str,
    },
    /// A Bundle is gone.
    BundleDeleted(&'a BundleKey),
    /// A BundleDeployment came or changed.
    Deployment(&'a BundleDeployment),
    /// A BundleDeployment is gone.
    DeploymentDeleted(&'a DeploymentKey),
    /// A BundleNamespaceMapping came or changed.
    Mapping(&'a BundleNamespaceMapping),
    /// A BundleNamespaceMapping is gone.
    MappingDeleted(&'a MappingKey),
    /// A Namespace came or its labels changed.
    Namespace {
        /// Name.
        name: &'a str,
        /// Labels.
        labels: &'a BTreeMap<String, String>,
    },
    /// A Namespace is gone.
    NamespaceDeleted(&'a str),
    /// What the Policies and GitRepoRestrictions of a namespace add up to; the default where there is none.
    Policy {
        /// Namespace.
        namespace: &'a str,
        /// Their sum.
        policy: NamespacePolicy,
    },
    /// A GitRepo or HelmOp exists.
    Source(&'a SourceKey),
    /// A GitRepo or HelmOp is gone.
    SourceDeleted(&'a SourceKey),
}

/// What the policies of a namespace mean for deployments of its bundles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamespacePolicy {
    /// Agents must not create release namespaces (`requireServiceAccount` without `allowNamespaceCreation`).
    pub forbid_namespace_creation: bool,
    /// Labels that a target namespace must carry; for bundles of GitRepos.
    pub target_namespace_selector: Option<LabelSelector>,
}

/// What has to be looked at again after an event. Sets only grow; merge them with [`Dirty::merge`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dirty {
    /// Bundles whose plan or status may have changed: ask [`crate::State::desired`]. A deployment that was written as
    /// planned is no reason: the plan already said what it counts for.
    pub bundles: BTreeSet<BundleKey>,
    /// Clusters whose roll-up may have changed: ask [`crate::State::cluster_rollup`].
    pub clusters: BTreeSet<ClusterKey>,
    /// Groups whose roll-up may have changed: ask [`crate::State::group_rollup`].
    pub groups: BTreeSet<GroupKey>,
    /// GitRepos and HelmOps whose roll-up may have changed: ask [`crate::State::source_rollup`].
    pub sources: BTreeSet<SourceKey>,
    /// Contents whose reference count changed: ask [`crate::State::content_references`].
    pub contents: BTreeSet<String>,
    /// Deployments whose display may have changed: ask [`crate::rollup::deployment_display`].
    pub deployments: BTreeSet<DeploymentKey>,
}

impl Dirty {
    /// Adds what another answer asks for.
    pub fn merge(&mut self, other: Self) {
        let Self {
            bundles,
            clusters,
            groups,
            sources,
            contents,
            deployments,
        } = other;
        self.bundles.extend(bundles);
        self.clusters.extend(clusters);
        self.groups.extend(groups);
        self.sources.extend(sources);
        self.contents.extend(contents);
        self.deployments.extend(deployments);
    }

    /// Nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
