//! Whether a cluster needs a namespace made. Pure.

use fleet_api::{Cluster, labels};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::ObjectMeta;

use super::observe::Facts;
use crate::shell::{deleting, label, name, namespace};

/// What is to be done for a cluster.
#[derive(Debug)]
pub(super) struct Plan {
    /// The namespace it has; `None` if something else manages the cluster.
    pub(super) namespace: Option<String>,
    /// The namespace to be made.
    pub(super) create: Option<Namespace>,
}

/// `None` for clusters that are leaving.
pub(super) fn decide(cluster: &Cluster, facts: &Facts) -> Option<Plan> {
    if deleting(cluster) {
        return None;
    }
    if !label(cluster, labels::CLUSTER_MANAGEMENT).is_empty() {
        return Some(Plan {
            namespace: None,
            create: None,
        });
    }
    let create = (!facts.exists).then(|| Namespace {
        metadata: ObjectMeta {
            name: Some(facts.namespace.clone()),
            labels: Some([(labels::MANAGED.to_owned(), "true".to_owned())].into()),
            annotations: Some(
                [
                    (labels::CLUSTER_NAMESPACE, namespace(cluster)),
                    (labels::CLUSTER, name(cluster)),
                ]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
            ),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    });
    Some(Plan {
        namespace: Some(facts.namespace.clone()),
        create,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managed_elsewhere_means_no_namespace() {
        let facts = Facts {
            namespace: "cn".to_owned(),
            exists: false,
        };
        let mut cluster = Cluster::named("c");
        assert!(decide(&cluster, &facts).is_some_and(|plan| plan.create.is_some()));
        cluster.metadata.labels = Some([(labels::CLUSTER_MANAGEMENT.to_owned(), "x".to_owned())].into());
        assert!(decide(&cluster, &facts).is_some_and(|plan| plan.create.is_none() && plan.namespace.is_none()));
    }
}
