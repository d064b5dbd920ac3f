//! The order in which kinds are installed and removed, so that what others depend on comes
//! first. Turns a kind into a rank. Mirrors Helm's install and uninstall order.

const INSTALL: [&str; 38] = [
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
];

/// Sort key for installing: listed kinds by rank, then all others by name.
#[must_use]
pub fn install(kind: &str) -> (usize, String) {
    match INSTALL.iter().position(|known| *known == kind) {
        Some(rank) => (rank, String::new()),
        None => (INSTALL.len(), kind.to_owned()),
    }
}

/// Sort key for removing: webhooks first so that they cannot block the rest, then the
/// install order reversed except that services go before the workloads they lead to; kinds
/// that are not listed come last, by name.
#[must_use]
pub fn uninstall(kind: &str) -> (usize, String) {
    const FIRST: [&str; 6] = [
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
        "APIService",
        "Ingress",
        "IngressClass",
        "Service",
    ];
    if let Some(rank) = FIRST.iter().position(|known| *known == kind) {
        return (rank, String::new());
    }
    match install(kind) {
        (rank, _) if rank < INSTALL.len() => (FIRST.len() + INSTALL.len() - rank, String::new()),
        (_, name) => (FIRST.len() + INSTALL.len() + 1, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_come_before_what_lives_in_them_and_go_after() {
        let mut kinds = [
            "Deployment",
            "Widget",
            "ConfigMap",
            "Alpha",
            "Namespace",
            "ValidatingWebhookConfiguration",
        ];
        kinds.sort_by_key(|a| install(a));
        assert_eq!(
            kinds,
            [
                "Namespace",
                "ConfigMap",
                "Deployment",
                "ValidatingWebhookConfiguration",
                "Alpha",
                "Widget"
            ]
        );
        kinds.sort_by_key(|a| uninstall(a));
        assert_eq!(
            kinds,
            [
                "ValidatingWebhookConfiguration",
                "Deployment",
                "ConfigMap",
                "Namespace",
                "Alpha",
                "Widget"
            ]
        );
    }
}
