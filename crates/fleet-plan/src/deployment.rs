//! How a planned deployment becomes an object: names, labels, ids, options with their values moved to a secret.
//!
//! Mirrors upstream's building of BundleDeployments. The bytes of ids are made in `fleet-api`.

use std::collections::BTreeMap;

use fleet_api::values::{self, Extracted};
use fleet_api::{Bundle, BundleDeployment, BundleDeploymentSpec, BundleResource, content, labels};

use crate::plan::{DeploymentPlan, Release};

/// What a bundle's content is known by: the name of its Content; its contents id when it is kept in a registry; nothing
/// for a HelmOp. `resources` are those of the bundle.
#[must_use]
pub fn manifest_id(bundle: &Bundle, resources: &[BundleResource], registry: bool) -> String {
    let spec = &bundle.spec;
    if spec.helm_op_options.is_some() || (registry && !spec.contents_id.is_empty()) {
        spec.contents_id.clone()
    } else {
        content::Manifest::new(resources).id()
    }
}

impl DeploymentPlan {
    /// The object to write, and the values that belong into its options secret.
    ///
    /// `current` is the object as stored, with the values of its options put back from the secret
    /// (`fleet_api::values::restore`); needed whenever it exists, because a release that is kept is taken from it.
    #[must_use]
    pub fn object(&self, current: Option<&BundleDeployment>) -> (BundleDeployment, Extracted) {
        let mut object = current
            .cloned()
            .unwrap_or_else(|| BundleDeployment::named(&self.key.name));
        object.metadata.namespace = Some(self.key.namespace.clone());
        object.metadata.labels = Some((*self.labels).clone());
        object.spec = self.spec(current.map(|current| &current.spec));
        let extracted = values::of_deployment(object.spec.options.as_ref(), object.spec.staged_options.as_ref());
        for options in [&mut object.spec.options, &mut object.spec.staged_options]
            .into_iter()
            .flatten()
        {
            values::clear_deployment(options);
        }
        object.spec.values_hash.clone_from(&extracted.hash);
        (object, extracted)
    }

    /// The spec with values inline and without their hash. `current` as for [`Self::object`].
    #[must_use]
    pub fn spec(&self, current: Option<&BundleDeploymentSpec>) -> BundleDeploymentSpec {
        let mut spec = (*self.rest).clone();
        let old = current.cloned().unwrap_or_default();
        let (staged, id) = match &self.staged {
            Some((options, id)) => ((**options).clone(), id.to_string()),
            None => (old.staged_options.unwrap_or_default(), old.staged_deployment_id),
        };
        match self.release {
            Release::Staged => {
                spec.options = Some(staged.clone());
                spec.deployment_id.clone_from(&id);
            }
            Release::Kept | Release::KeptWithDiff => {
                spec.options = Some(old.options.unwrap_or_default());
                spec.deployment_id = old.deployment_id;
                if let Some(options) = &mut spec.options {
                    let (labels, annotations) = &*self.namespace;
                    if !labels.is_empty() {
                        options.namespace_labels.get_or_insert_default().extend(labels.clone());
                    }
                    if !annotations.is_empty() {
                        options
                            .namespace_annotations
                            .get_or_insert_default()
                            .extend(annotations.clone());
                    }
                    if self.release == Release::KeptWithDiff {
                        options.diff.clone_from(&staged.diff);
                    }
                }
            }
        }
        spec.staged_options = Some(staged);
        spec.staged_deployment_id = id;
        spec.downstream_resources_generation = old.downstream_resources_generation;
        spec.waiting_for_values = old.waiting_for_values;
        spec
    }
}

/// Labels of a deployment: those of its bundle that are Fleet's or the user's, and who it is for. `content` is the name
/// of its Content, absent when content is not kept in one.
#[must_use]
pub fn deployment_labels(
    bundle: &Bundle,
    cluster: &crate::ClusterKey,
    content: Option<&str>,
) -> BTreeMap<String, String> {
    let empty = BTreeMap::new();
    let own = bundle.metadata.labels.as_ref().unwrap_or(&empty);
    let mut all: BTreeMap<String, String> = own
        .iter()
        .filter(|(key, _)| crate::template::is_usable(key) || key.starts_with("fleet.cattle.io/"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let namespace = bundle.metadata.namespace.as_deref().unwrap_or_default();
    let name = bundle.metadata.name.as_deref().unwrap_or_default();
    for (key, value) in [
        (labels::BUNDLE_NAME, name),
        (labels::BUNDLE_NAMESPACE, namespace),
        (labels::MANAGED, "true"),
        (labels::CLUSTER_NAMESPACE, cluster.namespace.as_str()),
        (labels::CLUSTER, cluster.name.as_str()),
    ] {
        all.insert(key.to_owned(), value.to_owned());
    }
    if let Some(content) = content {
        all.insert(labels::CONTENT_NAME.to_owned(), content.to_owned());
    }
    all
}
