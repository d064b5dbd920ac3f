//! Who an object is: group, version, kind, name, namespace; and which kinds live outside of namespaces.

use crate::node::Node;

/// Group, version and kind. As a selector an empty part fits all.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gvk {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
}

/// The namespace of objects that say none.
pub(crate) const DEFAULT: &str = "default";
/// Stands for the namespace of objects that live in none; no real namespace can be called that.
pub(crate) const NO_NAMESPACE: &str = "_non_namespaceable_";

/// Kinds that are known to live outside of namespaces, as of the schema that kustomize carries (Kubernetes 1.21); what
/// nobody knows is taken for namespaced.
const CLUSTER_SCOPED: [(&str, &str, &str); 36] = [
    ("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration"),
    (
        "admissionregistration.k8s.io",
        "v1beta1",
        "MutatingWebhookConfiguration",
    ),
    (
        "admissionregistration.k8s.io",
        "v1beta1",
        "ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
    ("apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "v1", "APIService"),
    ("apiregistration.k8s.io", "v1beta1", "APIService"),
    ("certificates.k8s.io", "v1", "CertificateSigningRequest"),
    ("certificates.k8s.io", "v1beta1", "CertificateSigningRequest"),
    ("flowcontrol.apiserver.k8s.io", "v1beta1", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "v1beta1", "PriorityLevelConfiguration"),
    ("networking.k8s.io", "v1", "IngressClass"),
    ("networking.k8s.io", "v1beta1", "IngressClass"),
    ("node.k8s.io", "v1", "RuntimeClass"),
    ("node.k8s.io", "v1beta1", "RuntimeClass"),
    ("policy", "v1beta1", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "v1", "ClusterRole"),
    ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "v1beta1", "ClusterRole"),
    ("rbac.authorization.k8s.io", "v1beta1", "ClusterRoleBinding"),
    ("scheduling.k8s.io", "v1", "PriorityClass"),
    ("scheduling.k8s.io", "v1beta1", "PriorityClass"),
    ("storage.k8s.io", "v1", "CSIDriver"),
    ("storage.k8s.io", "v1", "CSINode"),
    ("storage.k8s.io", "v1", "StorageClass"),
    ("storage.k8s.io", "v1", "VolumeAttachment"),
    ("storage.k8s.io", "v1beta1", "CSIDriver"),
    ("storage.k8s.io", "v1beta1", "CSINode"),
    ("storage.k8s.io", "v1beta1", "StorageClass"),
    ("storage.k8s.io", "v1beta1", "VolumeAttachment"),
    ("", "v1", "ComponentStatus"),
    ("", "v1", "Namespace"),
    ("", "v1", "Node"),
    ("", "v1", "NodeProxyOptions"),
    ("", "v1", "PersistentVolume"),
];

impl Gvk {
    /// From `apiVersion` and `kind`.
    pub(crate) fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        }
    }

    pub(crate) fn of(object: &Node) -> Self {
        Self::new(object.spelling_at(&["apiVersion"]), object.spelling_at(&["kind"]))
    }

    /// Whether `selector` means this; its empty parts fit all.
    pub(crate) fn is_selected(&self, selector: &Gvk) -> bool {
        let fits = |wanted: &str, own: &str| wanted.is_empty() || wanted == own;
        fits(&selector.group, &self.group) && fits(&selector.version, &self.version) && fits(&selector.kind, &self.kind)
    }

    pub(crate) fn is_cluster_scoped(&self) -> bool {
        CLUSTER_SCOPED.contains(&(self.group.as_str(), self.version.as_str(), self.kind.as_str()))
    }
}

/// Who an object is or was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Id {
    pub(crate) gvk: Gvk,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

impl Id {
    /// The namespace that counts: `default` where none is said, [`NO_NAMESPACE`] outside of namespaces.
    pub(crate) fn effective_namespace(&self) -> &str {
        if self.gvk.is_cluster_scoped() {
            NO_NAMESPACE
        } else if self.namespace.is_empty() {
            DEFAULT
        } else {
            &self.namespace
        }
    }

    /// Whether both mean the same object.
    pub(crate) fn is(&self, other: &Id) -> bool {
        self.is_named(other) && self.effective_namespace() == other.effective_namespace()
    }

    /// Whether both have the same kind and name.
    pub(crate) fn is_named(&self, other: &Id) -> bool {
        self.name == other.name && self.gvk == other.gvk
    }

    /// Whether `selector` means this; its empty parts fit all.
    pub(crate) fn is_selected(&self, selector: &Id) -> bool {
        (selector.name.is_empty() || selector.name == self.name)
            && (selector.namespace.is_empty() || selector.effective_namespace() == self.effective_namespace())
            && self.gvk.is_selected(&selector.gvk)
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Gvk { group, version, kind } = &self.gvk;
        let point = if group.is_empty() { "" } else { "." };
        write!(formatter, "{kind}.{version}{point}{group} '{}'", self.name)?;
        if self.namespace.is_empty() {
            Ok(())
        } else {
            write!(formatter, " in namespace '{}'", self.namespace)
        }
    }
}
