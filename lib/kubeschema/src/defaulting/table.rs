//! Defaults that belong to a type wherever it occurs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

type Entries = Vec<(&'static str, Value)>;

static TABLE: LazyLock<BTreeMap<&'static str, Entries>> = LazyLock::new(table);

/// The defaults of a type.
pub(super) fn of(name: &str) -> &'static [(&'static str, Value)] {
    TABLE.get(name).map(Vec::as_slice).unwrap_or_default()
}

fn table() -> BTreeMap<&'static str, Entries> {
    let webhook = || {
        vec![
            ("failurePolicy", json!("Fail")),
            ("matchPolicy", json!("Equivalent")),
            ("namespaceSelector", json!({})),
            ("objectSelector", json!({})),
            ("timeoutSeconds", json!(10)),
        ]
    };
    let container = || {
        vec![
            ("terminationMessagePath", json!("/dev/termination-log")),
            ("terminationMessagePolicy", json!("File")),
        ]
    };
    let mode = || vec![("defaultMode", json!(420))];
    let group = || vec![("apiGroup", json!("rbac.authorization.k8s.io"))];
    BTreeMap::from([
        ("io.k8s.api.core.v1.Container", container()),
        ("io.k8s.api.core.v1.EphemeralContainer", container()),
        (
            "io.k8s.api.core.v1.PodSpec",
            vec![
                ("dnsPolicy", json!("ClusterFirst")),
                ("restartPolicy", json!("Always")),
                ("securityContext", json!({})),
                ("terminationGracePeriodSeconds", json!(30)),
                ("schedulerName", json!("default-scheduler")),
            ],
        ),
        (
            "io.k8s.api.core.v1.Probe",
            vec![
                ("timeoutSeconds", json!(1)),
                ("periodSeconds", json!(10)),
                ("successThreshold", json!(1)),
                ("failureThreshold", json!(3)),
            ],
        ),
        (
            "io.k8s.api.core.v1.HTTPGetAction",
            vec![("path", json!("/")), ("scheme", json!("HTTP"))],
        ),
        ("io.k8s.api.core.v1.SecretVolumeSource", mode()),
        ("io.k8s.api.core.v1.ConfigMapVolumeSource", mode()),
        ("io.k8s.api.core.v1.DownwardAPIVolumeSource", mode()),
        ("io.k8s.api.core.v1.ProjectedVolumeSource", mode()),
        (
            "io.k8s.api.core.v1.ServiceAccountTokenProjection",
            vec![("expirationSeconds", json!(3600))],
        ),
        ("io.k8s.api.core.v1.HostPathVolumeSource", vec![("type", json!(""))]),
        (
            "io.k8s.api.core.v1.ObjectFieldSelector",
            vec![("apiVersion", json!("v1"))],
        ),
        ("io.k8s.api.core.v1.EndpointPort", vec![("protocol", json!("TCP"))]),
        (
            "io.k8s.api.core.v1.PersistentVolumeClaimSpec",
            vec![("volumeMode", json!("Filesystem"))],
        ),
        (
            "io.k8s.api.core.v1.PersistentVolumeSpec",
            vec![
                ("persistentVolumeReclaimPolicy", json!("Retain")),
                ("volumeMode", json!("Filesystem")),
            ],
        ),
        ("io.k8s.api.core.v1.Secret", vec![("type", json!("Opaque"))]),
        (
            "io.k8s.api.apps.v1.DeploymentSpec",
            vec![
                ("replicas", json!(1)),
                ("revisionHistoryLimit", json!(10)),
                ("progressDeadlineSeconds", json!(600)),
                ("strategy", json!({})),
            ],
        ),
        (
            "io.k8s.api.apps.v1.DaemonSetSpec",
            vec![("revisionHistoryLimit", json!(10)), ("updateStrategy", json!({}))],
        ),
        (
            "io.k8s.api.apps.v1.StatefulSetSpec",
            vec![
                ("replicas", json!(1)),
                ("revisionHistoryLimit", json!(10)),
                ("podManagementPolicy", json!("OrderedReady")),
                ("updateStrategy", json!({})),
                ("persistentVolumeClaimRetentionPolicy", json!({})),
            ],
        ),
        (
            "io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy",
            vec![("whenDeleted", json!("Retain")), ("whenScaled", json!("Retain"))],
        ),
        ("io.k8s.api.apps.v1.ReplicaSetSpec", vec![("replicas", json!(1))]),
        (
            "io.k8s.api.batch.v1.CronJobSpec",
            vec![
                ("concurrencyPolicy", json!("Allow")),
                ("suspend", json!(false)),
                ("successfulJobsHistoryLimit", json!(3)),
                ("failedJobsHistoryLimit", json!(1)),
            ],
        ),
        (
            "io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern",
            vec![("status", json!("True"))],
        ),
        (
            "io.k8s.api.networking.v1.NetworkPolicyPort",
            vec![("protocol", json!("TCP"))],
        ),
        (
            "io.k8s.api.networking.v1.IngressClassParametersReference",
            vec![("scope", json!("Cluster"))],
        ),
        (
            "io.k8s.api.storage.v1.StorageClass",
            vec![
                ("reclaimPolicy", json!("Delete")),
                ("volumeBindingMode", json!("Immediate")),
            ],
        ),
        (
            "io.k8s.api.storage.v1.CSIDriverSpec",
            vec![
                ("attachRequired", json!(true)),
                ("podInfoOnMount", json!(false)),
                ("storageCapacity", json!(false)),
                ("fsGroupPolicy", json!("ReadWriteOnceWithFSType")),
                ("volumeLifecycleModes", json!(["Persistent"])),
                ("requiresRepublish", json!(false)),
                ("seLinuxMount", json!(false)),
            ],
        ),
        (
            "io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec",
            vec![("minReplicas", json!(1))],
        ),
        (
            "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec",
            vec![("minReplicas", json!(1))],
        ),
        ("io.k8s.api.rbac.v1.RoleRef", group()),
        ("io.k8s.api.admissionregistration.v1.ValidatingWebhook", webhook()),
        (
            "io.k8s.api.admissionregistration.v1.MutatingWebhook",
            webhook()
                .into_iter()
                .chain([("reinvocationPolicy", json!("Never"))])
                .collect(),
        ),
        (
            "io.k8s.api.admissionregistration.v1.RuleWithOperations",
            vec![("scope", json!("*"))],
        ),
        (
            "io.k8s.api.admissionregistration.v1.NamedRuleWithOperations",
            vec![("scope", json!("*"))],
        ),
        (
            "io.k8s.api.admissionregistration.v1.ServiceReference",
            vec![("port", json!(443))],
        ),
        (
            "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec",
            vec![("failurePolicy", json!("Fail"))],
        ),
        (
            "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec",
            vec![("failurePolicy", json!("Fail"))],
        ),
        (
            "io.k8s.api.admissionregistration.v1.MatchResources",
            vec![
                ("matchPolicy", json!("Equivalent")),
                ("namespaceSelector", json!({})),
                ("objectSelector", json!({})),
            ],
        ),
        (
            "io.k8s.api.discovery.v1.EndpointPort",
            vec![("name", json!("")), ("protocol", json!("TCP"))],
        ),
        (
            "io.k8s.api.scheduling.v1.PriorityClass",
            vec![("preemptionPolicy", json!("PreemptLowerPriority"))],
        ),
        (
            "io.k8s.api.flowcontrol.v1.FlowSchemaSpec",
            vec![("matchingPrecedence", json!(1000))],
        ),
        (
            "io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration",
            vec![("nominalConcurrencyShares", json!(0)), ("lendablePercent", json!(0))],
        ),
        (
            "io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration",
            vec![("nominalConcurrencyShares", json!(30)), ("lendablePercent", json!(0))],
        ),
        (
            "io.k8s.api.flowcontrol.v1.QueuingConfiguration",
            vec![
                ("handSize", json!(8)),
                ("queues", json!(64)),
                ("queueLengthLimit", json!(50)),
            ],
        ),
        (
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference",
            vec![("port", json!(443))],
        ),
        (
            "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference",
            vec![("port", json!(443))],
        ),
    ])
}
