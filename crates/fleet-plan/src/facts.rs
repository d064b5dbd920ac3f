//! What is kept of objects: compact projections with the hashes and flags that decisions need, never the objects.
//!
//! A deployment's options are kept as hashes only; whether it has to be written is a comparison of hashes, and whoever
//! writes reads the object fresh.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use fleet_api::condition::{self, DEPLOYED, INSTALLED, MONITORED};
use fleet_api::state::BundleState;
use fleet_api::{
    BundleDeployment, BundleDeploymentOptions, BundleDeploymentResource, BundleDeploymentSpec, Cluster, GenericMap,
    ModifiedStatus, NonReadyResource, NonReadyStatus, ResourceCounts, json, labels, values,
};

use crate::key::{BundleKey, ClusterKey, DeploymentKey, SourceKey, SourceKind};

type Labels = BTreeMap<String, String>;

/// What targeting and roll-out need of a Cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClusterFacts {
    pub(crate) labels: Labels,
    pub(crate) annotations: Labels,
    pub(crate) values: GenericMap,
    /// Where its deployments live; empty while there is no such namespace.
    pub(crate) home: String,
    pub(crate) paused: bool,
    pub(crate) off_schedule: bool,
}

impl ClusterFacts {
    pub(crate) fn of(cluster: &Cluster) -> Self {
        let status = cluster.status.clone().unwrap_or_default();
        let mut annotations = cluster.metadata.annotations.clone().unwrap_or_default();
        // Tools keep whole objects in annotations; templates cannot see those anyway.
        annotations.retain(|key, _| crate::template::is_usable(key));
        Self {
            labels: cluster.metadata.labels.clone().unwrap_or_default(),
            annotations,
            values: cluster.spec.template_values.clone().unwrap_or_default(),
            home: status.namespace,
            paused: cluster.spec.paused,
            off_schedule: status.scheduled && !status.active_schedule,
        }
    }

    pub(crate) fn template<'a>(&'a self, key: &'a ClusterKey) -> crate::template::Facts<'a> {
        crate::template::Facts {
            namespace: &key.namespace,
            name: &key.name,
            labels: &self.labels,
            annotations: &self.annotations,
            values: &self.values,
        }
    }
}

/// Hashes of the parts of a deployment that are compared with what is planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) labels: u64,
    pub(crate) staged: u64,
    pub(crate) rest: u64,
    pub(crate) staged_diff: u64,
}

/// What is kept of a BundleDeployment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeploymentFacts {
    pub(crate) bundle: BundleKey,
    /// The cluster its labels name.
    pub(crate) cluster: ClusterKey,
    pub(crate) uid: Box<str>,
    pub(crate) source: Option<SourceKey>,
    /// The Content its label names.
    pub(crate) content: Option<Arc<str>>,
    pub(crate) marks: Marks,
    /// Hash of the `diff` of the options that run.
    pub(crate) diff: u64,
    /// Namespace labels and annotations of the options that run; usually none.
    pub(crate) namespace: Option<Box<(Labels, Labels)>>,
    pub(crate) staged_id: Arc<str>,
    pub(crate) deployment_id: Arc<str>,
    pub(crate) applied_id: Arc<str>,
    pub(crate) failed: bool,
    pub(crate) ready: bool,
    pub(crate) non_modified: bool,
    pub(crate) deleting: bool,
    pub(crate) off_schedule: bool,
    pub(crate) waiting_for_values: bool,
    pub(crate) incomplete: bool,
    pub(crate) detail: Option<Box<Detail>>,
    pub(crate) counts: ResourceCounts,
    pub(crate) resources: Arc<[BundleDeploymentResource]>,
}

/// What an agent says beyond states; most have nothing to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Detail {
    pub(crate) deployed: String,
    pub(crate) installed: String,
    pub(crate) monitored: String,
    pub(crate) modified: Vec<ModifiedStatus>,
    pub(crate) non_ready: Vec<NonReadyStatus>,
}

impl DeploymentFacts {
    /// The projection; `None` if the object does not say which bundle it belongs to.
    pub(crate) fn of(object: &BundleDeployment, ids: &mut Interned) -> Option<(DeploymentKey, Self)> {
        let meta = &object.metadata;
        let all = meta.labels.as_ref()?;
        let label = |key: &str| all.get(key).cloned().unwrap_or_default();
        let bundle = BundleKey::new(label(labels::BUNDLE_NAMESPACE), label(labels::BUNDLE_NAME));
        if bundle.name.is_empty() {
            return None;
        }
        let source = [
            (labels::REPO_NAME, SourceKind::GitRepo),
            (labels::HELM_NAME, SourceKind::HelmOp),
        ]
        .into_iter()
        .find_map(|(key, kind)| {
            all.get(key)
                .map(|name| SourceKey::new(kind, bundle.namespace.clone(), name.clone()))
        });
        let key = DeploymentKey::new(
            meta.namespace.clone().unwrap_or_default(),
            meta.name.clone().unwrap_or_default(),
        );
        let spec = &object.spec;
        let status = object.status.clone().unwrap_or_default();
        let detail = Detail {
            deployed: condition::message(&status.conditions, DEPLOYED).to_owned(),
            installed: condition::message(&status.conditions, INSTALLED).to_owned(),
            monitored: condition::message(&status.conditions, MONITORED).to_owned(),
            modified: status.modified_status,
            non_ready: status.non_ready_status,
        };
        let namespace = spec.options.as_ref().and_then(|options| {
            let labels = options.namespace_labels.clone().unwrap_or_default();
            let annotations = options.namespace_annotations.clone().unwrap_or_default();
            (!labels.is_empty() || !annotations.is_empty()).then(|| Box::new((labels, annotations)))
        });
        let facts = Self {
            cluster: ClusterKey::new(label(labels::CLUSTER_NAMESPACE), label(labels::CLUSTER)),
            uid: meta.uid.as_deref().unwrap_or_default().into(),
            source,
            content: all.get(labels::CONTENT_NAME).map(|name| ids.text(name)),
            marks: Marks {
                labels: hash(all),
                staged: spec.staged_options.as_ref().map_or(0, options_mark),
                rest: rest_mark(spec),
                staged_diff: spec.staged_options.as_ref().map_or(0, diff_mark),
            },
            diff: spec.options.as_ref().map_or(0, diff_mark),
            namespace,
            staged_id: ids.text(&spec.staged_deployment_id),
            deployment_id: ids.text(&spec.deployment_id),
            applied_id: ids.text(&status.applied_deployment_id),
            failed: condition::is_false(&status.conditions, DEPLOYED),
            ready: status.ready,
            non_modified: status.non_modified,
            deleting: meta.deletion_timestamp.is_some(),
            off_schedule: spec.off_schedule,
            waiting_for_values: spec.waiting_for_values,
            incomplete: status.incomplete_state,
            detail: (detail != Detail::default()).then(|| Box::new(detail)),
            counts: status.resource_counts.unwrap_or_default(),
            resources: ids.resources(status.resources),
            bundle,
        };
        Some((key, facts))
    }

    /// Its state, seen as if `id` were the release it should run.
    pub(crate) fn state(&self, id: &str) -> BundleState {
        if *self.applied_id != *id {
            if self.failed {
                BundleState::ErrApplied
            } else {
                BundleState::WaitApplied
            }
        } else if !self.ready {
            BundleState::NotReady
        } else if *self.staged_id != *id {
            BundleState::OutOfSync
        } else if !self.non_modified {
            BundleState::Modified
        } else {
            BundleState::Ready
        }
    }

    /// Its state as stored.
    pub(crate) fn own_state(&self) -> BundleState {
        self.state(&self.deployment_id)
    }

    /// It does not run what it should, or not well.
    pub(crate) fn unavailable(&self) -> bool {
        self.applied_id != self.deployment_id || !self.ready
    }

    /// Whether `other` differs in nothing but what a plan writes: labels, what is staged, and the release.
    pub(crate) fn reports_the_same(&self, other: &Self) -> bool {
        let rewritten = Self {
            content: other.content.clone(),
            marks: other.marks,
            diff: other.diff,
            namespace: other.namespace.clone(),
            staged_id: Arc::clone(&other.staged_id),
            deployment_id: Arc::clone(&other.deployment_id),
            ..self.clone()
        };
        rewritten == *other
    }

    /// What the agent says, seen as if `id` were the release it should run.
    pub(crate) fn message(&self, id: &str) -> &str {
        let Some(detail) = &self.detail else { return "" };
        if !detail.deployed.is_empty() {
            &detail.deployed
        } else if *self.applied_id == *id && !detail.installed.is_empty() {
            &detail.installed
        } else {
            &detail.monitored
        }
    }

    /// Its entry in a list of what is not ready.
    pub(crate) fn non_ready(&self, name: String, id: &str) -> NonReadyResource {
        let (modified_status, non_ready_status) = self
            .detail
            .as_ref()
            .map(|d| (d.modified.clone(), d.non_ready.clone()))
            .unwrap_or_default();
        NonReadyResource {
            name,
            message: self.message(id).to_owned(),
            modified_status,
            non_ready_status,
            ..NonReadyResource::default()
        }
    }
}

/// Hash of anything by the text it travels as. Only compared within one process.
pub(crate) fn hash(value: &impl serde::Serialize) -> u64 {
    let mut hasher = DefaultHasher::new();
    json::to_string(value).hash(&mut hasher);
    hasher.finish()
}

/// Mark of options as they are stored: without values, which the id covers.
pub(crate) fn options_mark(options: &BundleDeploymentOptions) -> u64 {
    let mut options = options.clone();
    values::clear_deployment(&mut options);
    hash(&options)
}

pub(crate) fn diff_mark(options: &BundleDeploymentOptions) -> u64 {
    options.diff.as_ref().map_or(0, hash)
}

/// Mark of what is left of a spec without options, ids and what other parts of the manager count.
pub(crate) fn rest_mark(spec: &BundleDeploymentSpec) -> u64 {
    let BundleDeploymentSpec {
        paused,
        staged_options: _,
        staged_deployment_id: _,
        options: _,
        deployment_id: _,
        depends_on,
        correct_drift,
        oci_contents,
        helm_chart_options,
        values_hash: _,
        downstream_resources_generation: _,
        off_schedule,
        waiting_for_values: _,
    } = spec;
    let rest = BundleDeploymentSpec {
        paused: *paused,
        depends_on: depends_on.clone(),
        correct_drift: correct_drift.clone(),
        oci_contents: *oci_contents,
        helm_chart_options: helm_chart_options.clone(),
        off_schedule: *off_schedule,
        ..BundleDeploymentSpec::default()
    };
    hash(&rest)
}

/// Texts and lists that many deployments share, kept once.
#[derive(Debug, Default)]
pub(crate) struct Interned {
    texts: std::collections::BTreeSet<Arc<str>>,
    lists: BTreeMap<u64, Arc<[BundleDeploymentResource]>>,
    sweep_at: usize,
}

impl Interned {
    pub(crate) fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        self.sweep();
        let new: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&new));
        new
    }

    fn resources(&mut self, mut list: Vec<BundleDeploymentResource>) -> Arc<[BundleDeploymentResource]> {
        for resource in &mut list {
            // Differs per cluster and is not rolled up.
            resource.created_at.clear();
        }
        let mark = hash(&list);
        match self.lists.get(&mark) {
            Some(known) if **known == *list => Arc::clone(known),
            _ => {
                let new: Arc<[BundleDeploymentResource]> = list.into();
                self.lists.insert(mark, Arc::clone(&new));
                new
            }
        }
    }

    /// Forgets what nobody uses any more, seldom enough to cost nothing.
    fn sweep(&mut self) {
        if self.texts.len() + self.lists.len() < self.sweep_at.max(1024) {
            return;
        }
        self.texts.retain(|text| Arc::strong_count(text) > 1);
        self.lists.retain(|_, list| Arc::strong_count(list) > 1);
        self.sweep_at = 2 * (self.texts.len() + self.lists.len());
    }
}
