//! The order in which kinds are installed and removed, so that what others depend on comes
//! first. Turns a kind into a rank. Mirrors Helm's install and uninstall order.

const INSTALL: [&str; 39] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    // Nothing of ours sorts after this; a kind that is not listed does, by name.
    "",
];

/// Sort key for installing: listed kinds by rank, then all others by name.
#[must_use]
pub fn install(kind: &str) -> (usize, &str) {
    match INSTALL.iter().position(|known| *known == kind && !kind.is_empty()) {
        Some(rank) => (rank, ""),
        None => (INSTALL.len(), kind),
    }
}

/// Sort key for removing: webhooks first so that they cannot block the rest, then the
/// install order reversed except that services go before the workloads they lead to; kinds
/// that are not listed come last, by name.
#[must_use]
pub fn uninstall(kind: &str) -> (usize, &str) {
    match kind {
        "ValidatingWebhookConfiguration" => (0, ""),
        "MutatingWebhookConfiguration" => (1, ""),
        "APIService" => (2, ""),
        "Ingress" => (3, ""),
        "IngressClass" => (4, ""),
        "Service" => (5, ""),
        _ => match install(kind) {
            (rank, "") if rank < INSTALL.len() => (6 + INSTALL.len() - rank, ""),
            (_, name) => (7 + INSTALL.len(), name),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_come_before_what_lives_in_them_and_go_after() {
        let mut kinds = ["Deployment", "Widget", "ConfigMap", "Alpha", "Namespace", "ValidatingWebhookConfiguration"];
        kinds.sort_by(|a, b| install(a).cmp(&install(b)));
        assert_eq!(kinds, ["Namespace", "ConfigMap", "Deployment", "ValidatingWebhookConfiguration", "Alpha", "Widget"]);
        kinds.sort_by(|a, b| uninstall(a).cmp(&uninstall(b)));
        assert_eq!(kinds, ["ValidatingWebhookConfiguration", "Deployment", "ConfigMap", "Namespace", "Alpha", "Widget"]);
    }
}
