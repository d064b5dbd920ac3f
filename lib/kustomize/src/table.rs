//! Facts: which fields of which kinds hold selectors, templates, replicas, and the names of other objects.
//!
//! An empty group or kind stands for all. Paths enter lists item by item.

use std::sync::LazyLock;

/// A field of some kinds.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) path: String,
    pub(crate) create: bool,
}

/// Fields that name an object of one kind.
#[derive(Debug)]
pub(crate) struct Naming {
    /// The kind that is named.
    pub(crate) kind: &'static str,
    pub(crate) fields: Vec<Spec>,
}

fn spec(group: &'static str, kind: &'static str, path: impl Into<String>, create: bool) -> Spec {
    Spec {
        group,
        kind,
        path: path.into(),
        create,
    }
}

/// Kinds with a pod in them: group, kind, and the way to the pod's metadata and spec.
const PODS: [(&str, &str, &str); 8] = [
    ("", "Pod", ""),
    ("", "ReplicationController", "spec/template/"),
    ("apps", "Deployment", "spec/template/"),
    ("apps", "ReplicaSet", "spec/template/"),
    ("apps", "DaemonSet", "spec/template/"),
    ("apps", "StatefulSet", "spec/template/"),
    ("batch", "Job", "spec/template/"),
    ("batch", "CronJob", "spec/jobTemplate/spec/template/"),
];

/// Where labels go when they go into templates.
pub(crate) static TEMPLATE_LABELS: LazyLock<Vec<Spec>> = LazyLock::new(|| template("labels"));

/// Where annotations go besides the object's own.
pub(crate) static TEMPLATE_ANNOTATIONS: LazyLock<Vec<Spec>> = LazyLock::new(|| {
    let mut specs = template("annotations");
    specs.push(spec("batch", "CronJob", "spec/jobTemplate/metadata/annotations", true));
    specs
});

fn template(what: &str) -> Vec<Spec> {
    let mut specs: Vec<Spec> = PODS
        .iter()
        .filter(|(_, _, way)| !way.is_empty())
        .map(|(group, kind, way)| spec(group, kind, format!("{way}metadata/{what}"), true))
        .collect();
    if what == "labels" {
        specs.push(spec("batch", "CronJob", "spec/jobTemplate/metadata/labels", true));
        specs.push(spec(
            "apps",
            "StatefulSet",
            "spec/volumeClaimTemplates/metadata/labels",
            true,
        ));
    }
    specs
}

/// Where labels go when they go into selectors (and then into templates too).
pub(crate) static SELECTOR_LABELS: LazyLock<Vec<Spec>> = LazyLock::new(|| {
    let mut specs = vec![
        spec("", "Service", "spec/selector", true),
        spec("", "ReplicationController", "spec/selector", true),
        spec("batch", "Job", "spec/selector/matchLabels", false),
        spec("batch", "CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
        spec("policy", "PodDisruptionBudget", "spec/selector/matchLabels", false),
        spec(
            "networking.k8s.io",
            "NetworkPolicy",
            "spec/podSelector/matchLabels",
            false,
        ),
        spec(
            "networking.k8s.io",
            "NetworkPolicy",
            "spec/ingress/from/podSelector/matchLabels",
            false,
        ),
        spec(
            "networking.k8s.io",
            "NetworkPolicy",
            "spec/egress/to/podSelector/matchLabels",
            false,
        ),
    ];
    for kind in ["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"] {
        specs.push(spec("", kind, "spec/selector/matchLabels", true));
    }
    for kind in ["Deployment", "StatefulSet"] {
        for affinity in ["podAffinity", "podAntiAffinity"] {
            let way = format!("spec/template/spec/affinity/{affinity}");
            let preferred = "preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm";
            let required = "requiredDuringSchedulingIgnoredDuringExecution";
            for term in [preferred, required] {
                specs.push(spec(
                    "apps",
                    kind,
                    format!("{way}/{term}/labelSelector/matchLabels"),
                    false,
                ));
            }
        }
        let spread = "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels";
        specs.push(spec("apps", kind, spread, false));
    }
    specs.extend(TEMPLATE_LABELS.iter().cloned());
    specs
});

/// Kinds with a number of replicas.
pub(crate) const REPLICAS: [&str; 4] = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];

/// Kinds whose names never get a prefix or suffix.
pub(crate) const FIXED_NAMES: [&str; 3] = ["CustomResourceDefinition", "APIService", "Namespace"];

/// Fields with a namespace besides the object's own.
pub(crate) static NAMESPACES: LazyLock<Vec<Spec>> = LazyLock::new(|| {
    vec![
        spec("", "Namespace", "metadata/name", true),
        spec("apiregistration.k8s.io", "APIService", "spec/service/namespace", true),
        spec(
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
            "spec/conversion/webhook/clientConfig/service/namespace",
            false,
        ),
    ]
});

/// All fields of a pod that are at these paths below its spec.
fn in_pods(paths: &[&str]) -> Vec<Spec> {
    let mut specs = Vec::with_capacity(PODS.len() * paths.len());
    for (group, kind, way) in PODS {
        specs.extend(
            paths
                .iter()
                .map(|path| spec(group, kind, format!("{way}spec/{path}"), false)),
        );
    }
    specs
}

/// Which fields name which kinds.
pub(crate) static NAMES: LazyLock<Vec<Naming>> = LazyLock::new(|| {
    let mut table = Vec::new();
    let scaled = || {
        spec(
            "autoscaling",
            "HorizontalPodAutoscaler",
            "spec/scaleTargetRef/name",
            false,
        )
    };
    for kind in REPLICAS {
        table.push(Naming {
            kind,
            fields: vec![scaled()],
        });
    }
    let rules = |fields: &mut Vec<Spec>| {
        for kind in ["Role", "ClusterRole"] {
            fields.push(spec("rbac.authorization.k8s.io", kind, "rules/resourceNames", false));
        }
    };

    let mut config_map = in_pods(&[
        "volumes/configMap/name",
        "volumes/projected/sources/configMap/name",
        "containers/env/valueFrom/configMapKeyRef/name",
        "initContainers/env/valueFrom/configMapKeyRef/name",
        "containers/envFrom/configMapRef/name",
        "initContainers/envFrom/configMapRef/name",
    ]);
    config_map.push(spec("", "Node", "spec/configSource/configMap", false));
    rules(&mut config_map);
    let annotation = |key: &str| {
        spec(
            "",
            "Ingress",
            format!("metadata/annotations/nginx.ingress.kubernetes.io\\/{key}"),
            false,
        )
    };
    config_map.push(annotation("fastcgi-params-configmap"));
    table.push(Naming {
        kind: "ConfigMap",
        fields: config_map,
    });

    let mut secret = in_pods(&[
        "volumes/secret/secretName",
        "volumes/projected/sources/secret/name",
        "volumes/azureFile/secretName",
        "volumes/cephfs/secretRef/name",
        "volumes/rbd/secretRef/name",
        "volumes/flexVolume/secretRef/name",
        "volumes/iscsi/secretRef/name",
        "containers/env/valueFrom/secretKeyRef/name",
        "initContainers/env/valueFrom/secretKeyRef/name",
        "containers/envFrom/secretRef/name",
        "initContainers/envFrom/secretRef/name",
        "imagePullSecrets/name",
    ]);
    secret.extend([
        spec("", "Ingress", "spec/tls/secretName", false),
        annotation("auth-secret"),
        annotation("auth-tls-secret"),
        spec("", "ServiceAccount", "imagePullSecrets/name", false),
        spec("", "ServiceAccount", "secrets/name", false),
        spec("", "StorageClass", "parameters/secretName", false),
        spec("", "StorageClass", "parameters/adminSecretName", false),
        spec("", "StorageClass", "parameters/userSecretName", false),
        spec("", "StorageClass", "parameters/secretRef", false),
        spec("", "PersistentVolume", "spec/azureFile/secretName", false),
        spec("", "PersistentVolume", "spec/cephfs/secretRef/name", false),
        spec("", "PersistentVolume", "spec/rbd/secretRef/name", false),
    ]);
    rules(&mut secret);
    table.push(Naming {
        kind: "Secret",
        fields: secret,
    });

    let mut service = vec![
        spec("apps", "StatefulSet", "spec/serviceName", false),
        spec("", "Ingress", "spec/rules/http/paths/backend/serviceName", false),
        spec("", "Ingress", "spec/rules/http/paths/backend/service/name", false),
        spec("", "Ingress", "spec/backend/serviceName", false),
        spec("", "Ingress", "spec/defaultBackend/service/name", false),
        spec("apiregistration.k8s.io", "APIService", "spec/service/name", false),
        spec(
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
            "spec/conversion/webhook/clientConfig/service/name",
            false,
        ),
    ];
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        service.push(spec(
            "admissionregistration.k8s.io",
            kind,
            "webhooks/clientConfig/service/name",
            false,
        ));
    }
    table.push(Naming {
        kind: "Service",
        fields: service,
    });

    let binding = |kind| spec("rbac.authorization.k8s.io", kind, "roleRef/name", false);
    table.push(Naming {
        kind: "Role",
        fields: vec![binding("RoleBinding")],
    });
    table.push(Naming {
        kind: "ClusterRole",
        fields: vec![binding("RoleBinding"), binding("ClusterRoleBinding")],
    });

    let mut account = in_pods(&["serviceAccountName"]);
    for kind in ["RoleBinding", "ClusterRoleBinding"] {
        account.push(spec("rbac.authorization.k8s.io", kind, "subjects/name", false));
    }
    table.push(Naming {
        kind: "ServiceAccount",
        fields: account,
    });
    table.push(Naming {
        kind: "PersistentVolumeClaim",
        fields: in_pods(&["volumes/persistentVolumeClaim/claimName"]),
    });
    table.push(Naming {
        kind: "PersistentVolume",
        fields: vec![spec("", "PersistentVolumeClaim", "spec/volumeName", false)],
    });
    table.push(Naming {
        kind: "StorageClass",
        fields: vec![
            spec("", "PersistentVolume", "spec/storageClassName", false),
            spec("", "PersistentVolumeClaim", "spec/storageClassName", false),
            spec(
                "apps",
                "StatefulSet",
                "spec/volumeClaimTemplates/spec/storageClassName",
                false,
            ),
        ],
    });
    table.push(Naming {
        kind: "PriorityClass",
        fields: in_pods(&["priorityClassName"]),
    });
    table.push(Naming {
        kind: "IngressClass",
        fields: vec![spec("", "Ingress", "spec/ingressClassName", false)],
    });
    table
});
