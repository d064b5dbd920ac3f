//! Facts: which fields of which kinds hold selectors, templates, replicas, variables and the names of other objects.
//! Kustomize's defaults, as of v5.8; the gaps (a ReplicaSet's account, for one) are its own.

use crate::config::{Config, FieldSpec, NameReference};
use crate::id::Gvk;
use crate::order;

/// A field: `group/version/kind path`, each part of the kind possibly empty.
fn field(kind: &str, path: impl Into<String>, create: bool) -> FieldSpec {
    let mut parts = kind.rsplit('/');
    let mut part = || parts.next().unwrap_or_default().to_owned();
    let gvk = Gvk {
        kind: part(),
        version: part(),
        group: part(),
    };
    FieldSpec {
        gvk,
        path: path.into(),
        create,
    }
}

const APPS_DEPLOYMENT: &str = "apps//Deployment";
const APPS_STATEFUL_SET: &str = "apps//StatefulSet";
const POLICY: &str = "networking.k8s.io//NetworkPolicy";

/// The defaults.
pub(crate) fn defaults() -> Config {
    let mut config = Config {
        name_prefix: vec![field("", "metadata/name", false)],
        name_suffix: vec![field("", "metadata/name", false)],
        namespace: vec![
            field("Namespace", "metadata/name", true),
            field("apiregistration.k8s.io//APIService", "spec/service/namespace", true),
            field(
                "apiextensions.k8s.io//CustomResourceDefinition",
                "spec/conversion/webhook/clientConfig/service/namespace",
                false,
            ),
        ],
        common_labels: common_labels(),
        labels: Vec::new(),
        template_labels: [in_metadata("labels"), volume_claims()].concat(),
        common_annotations: in_metadata("annotations"),
        name_reference: name_references(),
        var_reference: variables(),
        images: images(),
        replicas: ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"]
            .map(|kind| field(kind, "spec/replicas", true))
            .to_vec(),
    };
    config
        .name_reference
        .sort_by_cached_key(|reference| order::rank(&reference.gvk()));
    config
}

/// Where labels or annotations go when they go into templates.
fn in_metadata(what: &str) -> Vec<FieldSpec> {
    let stateful_set = if what == "labels" {
        APPS_STATEFUL_SET
    } else {
        "StatefulSet"
    };
    let mut fields = vec![field("", format!("metadata/{what}"), true)];
    for kind in [
        "v1/ReplicationController",
        "Deployment",
        "ReplicaSet",
        "DaemonSet",
        stateful_set,
        "batch//Job",
    ] {
        fields.push(field(kind, format!("spec/template/metadata/{what}"), true));
    }
    for way in ["spec/jobTemplate", "spec/jobTemplate/spec/template"] {
        fields.push(field("batch//CronJob", format!("{way}/metadata/{what}"), true));
    }
    fields
}

fn volume_claims() -> Vec<FieldSpec> {
    vec![field(
        APPS_STATEFUL_SET,
        "spec/volumeClaimTemplates[]/metadata/labels",
        true,
    )]
}

/// Where labels go when they go into selectors (and then into templates too).
fn common_labels() -> Vec<FieldSpec> {
    let mut fields = vec![
        field("v1/Service", "spec/selector", true),
        field("v1/ReplicationController", "spec/selector", true),
    ];
    for kind in ["Deployment", "ReplicaSet", "DaemonSet", APPS_STATEFUL_SET] {
        fields.push(field(kind, "spec/selector/matchLabels", true));
    }
    for kind in [APPS_DEPLOYMENT, APPS_STATEFUL_SET] {
        for affinity in ["podAffinity", "podAntiAffinity"] {
            for term in [
                "preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm",
                "requiredDuringSchedulingIgnoredDuringExecution",
            ] {
                let path = format!("spec/template/spec/affinity/{affinity}/{term}/labelSelector/matchLabels");
                fields.push(field(kind, path, false));
            }
        }
        let path = "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels";
        fields.push(field(kind, path, false));
    }
    fields.extend([
        field("batch//Job", "spec/selector/matchLabels", false),
        field("batch//CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
        field("policy//PodDisruptionBudget", "spec/selector/matchLabels", false),
        field(POLICY, "spec/podSelector/matchLabels", false),
        field(POLICY, "spec/ingress/from/podSelector/matchLabels", false),
        field(POLICY, "spec/egress/to/podSelector/matchLabels", false),
    ]);
    fields.extend(in_metadata("labels"));
    fields.extend(volume_claims());
    fields
}

fn images() -> Vec<FieldSpec> {
    let mut fields = Vec::new();
    for way in ["spec", "spec/template/spec"] {
        for path in [
            "containers[]/image",
            "initContainers[]/image",
            "volumes[]/image/reference",
        ] {
            fields.push(field("", format!("{way}/{path}"), true));
        }
    }
    fields
}

/// The way to the pod of a kind.
fn pod(kind: &str) -> &'static str {
    match kind {
        "Pod" | "v1/Pod" => "spec",
        "PodTemplate" => "template/spec",
        "CronJob" => "spec/jobTemplate/spec/template/spec",
        _ => "spec/template/spec",
    }
}

/// Fields inside of the pods of some kinds.
fn in_pods(kinds: &[&str], paths: &[&str]) -> Vec<FieldSpec> {
    let mut fields = Vec::new();
    for kind in kinds {
        let way = pod(kind);
        fields.extend(paths.iter().map(|path| field(kind, format!("{way}/{path}"), false)));
    }
    fields
}

/// Kinds that mount config maps and secrets.
const MOUNTING: [&str; 8] = [
    "v1/Pod",
    "PodTemplate",
    "Deployment",
    "ReplicaSet",
    "DaemonSet",
    "StatefulSet",
    "Job",
    "CronJob",
];
/// Kinds whose pods name accounts, claims and priorities.
const RUNNING: [&str; 7] = [
    "Pod",
    "StatefulSet",
    "Deployment",
    "ReplicationController",
    "CronJob",
    "Job",
    "DaemonSet",
];

fn name_references() -> Vec<NameReference> {
    let rbac = "rbac.authorization.k8s.io";
    let role_ref = |kind: &str| field(&format!("{rbac}//{kind}"), "roleRef/name", false);
    let subjects = |kind: &str| field(&format!("{rbac}//{kind}"), "subjects", false);
    let plain = |kind: &str, path: &str| field(kind, path, false);
    let mut references: Vec<NameReference> = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"]
        .map(|kind| {
            let fields = vec![plain("HorizontalPodAutoscaler", "spec/scaleTargetRef/name")];
            NameReference::new("", "", kind, fields)
        })
        .to_vec();
    let mut accounts = vec![subjects("RoleBinding"), subjects("ClusterRoleBinding")];
    accounts.extend(in_pods(&RUNNING, &["serviceAccountName"]));
    let mut volumes = vec![plain("PersistentVolumeClaim", "spec/volumeName")];
    volumes.push(plain("ClusterRole", "rules/resourceNames"));
    references.extend([
        NameReference::new("", "v1", "ConfigMap", config_maps()),
        NameReference::new("", "v1", "Secret", secrets()),
        NameReference::new("", "v1", "Service", services()),
        NameReference::new(rbac, "", "Role", vec![role_ref("RoleBinding")]),
        NameReference::new(
            rbac,
            "",
            "ClusterRole",
            vec![role_ref("RoleBinding"), role_ref("ClusterRoleBinding")],
        ),
        NameReference::new("", "v1", "ServiceAccount", accounts),
        NameReference::new(
            "",
            "v1",
            "PersistentVolumeClaim",
            in_pods(&RUNNING, &["volumes/persistentVolumeClaim/claimName"]),
        ),
        NameReference::new("", "v1", "PersistentVolume", volumes),
        NameReference::new(
            "storage.k8s.io",
            "v1",
            "StorageClass",
            vec![
                plain("PersistentVolume", "spec/storageClassName"),
                plain("PersistentVolumeClaim", "spec/storageClassName"),
                plain("StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
            ],
        ),
        NameReference::new(
            "scheduling.k8s.io",
            "v1",
            "PriorityClass",
            in_pods(&RUNNING, &["priorityClassName"]),
        ),
        // No object has a group with a version in it, so this never finds any. It is the reference's own.
        NameReference::new(
            "networking.k8s.io/v1",
            "v1",
            "IngressClass",
            vec![plain("Ingress", "spec/ingressClassName")],
        ),
        NameReference::new(
            "admissionregistration.k8s.io",
            "",
            "ValidatingAdmissionPolicy",
            vec![plain(
                "admissionregistration.k8s.io//ValidatingAdmissionPolicyBinding",
                "spec/policyName",
            )],
        ),
    ]);
    references
}

fn config_maps() -> Vec<FieldSpec> {
    let mut fields = in_pods(
        &MOUNTING,
        &[
            "volumes/configMap/name",
            "containers/env/valueFrom/configMapKeyRef/name",
            "initContainers/env/valueFrom/configMapKeyRef/name",
            "containers/envFrom/configMapRef/name",
            "initContainers/envFrom/configMapRef/name",
            "volumes/projected/sources/configMap/name",
        ],
    );
    fields.extend([
        field("Node", "spec/configSource/configMap", false),
        field("Role", "rules/resourceNames", false),
        field("ClusterRole", "rules/resourceNames", false),
        field(
            "Ingress",
            "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap",
            false,
        ),
    ]);
    fields
}

fn secrets() -> Vec<FieldSpec> {
    let mut fields = in_pods(
        &MOUNTING,
        &[
            "volumes/secret/secretName",
            "containers/env/valueFrom/secretKeyRef/name",
            "initContainers/env/valueFrom/secretKeyRef/name",
            "containers/envFrom/secretRef/name",
            "initContainers/envFrom/secretRef/name",
            "imagePullSecrets/name",
            "volumes/projected/sources/secret/name",
        ],
    );
    fields.push(field("Ingress", "spec/tls/secretName", false));
    for key in [
        "ingress.kubernetes.io\\/auth-secret",
        "nginx.ingress.kubernetes.io\\/auth-secret",
        "nginx.ingress.kubernetes.io\\/auth-tls-secret",
    ] {
        fields.push(field("Ingress", format!("metadata/annotations/{key}"), false));
    }
    fields.push(field("ServiceAccount", "imagePullSecrets/name", false));
    for parameter in ["secretName", "adminSecretName", "userSecretName", "secretRef"] {
        fields.push(field("StorageClass", format!("parameters/{parameter}"), false));
    }
    fields.extend([
        field("Role", "rules/resourceNames", false),
        field("ClusterRole", "rules/resourceNames", false),
        field(
            "serving.knative.dev/v1/Service",
            "spec/template/spec/containers/env/valueFrom/secretKeyRef/name",
            false,
        ),
        field("PersistentVolume", "spec/azureFile/secretName", false),
    ]);
    fields
}

fn services() -> Vec<FieldSpec> {
    let mut fields = vec![field(APPS_STATEFUL_SET, "spec/serviceName", false)];
    for path in [
        "spec/rules/http/paths/backend/serviceName",
        "spec/backend/serviceName",
        "spec/rules/http/paths/backend/service/name",
        "spec/defaultBackend/service/name",
    ] {
        fields.push(field("Ingress", path, false));
    }
    fields.push(field("apiregistration.k8s.io//APIService", "spec/service/name", false));
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        let kind = format!("admissionregistration.k8s.io//{kind}");
        fields.push(field(&kind, "webhooks/clientConfig/service", false));
    }
    fields
}

fn variables() -> Vec<FieldSpec> {
    let mut fields = Vec::new();
    let kinds = [
        "CronJob",
        "DaemonSet",
        "Deployment",
        "Job",
        "Pod",
        "ReplicaSet",
        "StatefulSet",
    ];
    for kind in kinds {
        for containers in ["containers", "initContainers"] {
            for path in ["args", "command", "env/value", "volumeMounts/mountPath"] {
                fields.push(field(kind, format!("{}/{containers}/{path}", pod(kind)), false));
            }
        }
        let volumes = match kind {
            "CronJob" => "spec/jobTemplate/spec/template/volumes".to_owned(),
            "StatefulSet" => "spec/volumeClaimTemplates/spec".to_owned(),
            _ => format!("{}/volumes", pod(kind)),
        };
        fields.push(field(kind, format!("{volumes}/nfs/server"), false));
    }
    for (kind, path) in [
        ("Deployment", "spec/template/metadata/annotations"),
        ("Ingress", "spec/rules/host"),
        ("Ingress", "spec/tls/hosts"),
        ("Ingress", "spec/tls/secretName"),
        ("Service", "spec/ports/port"),
        ("Service", "spec/ports/targetPort"),
        ("PersistentVolume", "spec/nfs/server"),
        ("", "metadata/labels"),
        ("", "metadata/annotations"),
    ] {
        fields.push(field(kind, path, false));
    }
    fields
}
