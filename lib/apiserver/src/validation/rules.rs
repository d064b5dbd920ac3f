//! Which rules belong to which type, as one table.
//!
//! A rule sees the value of one type and where it is; what several fields have to do with each other is a function of
//! the family's module. Mirrors the validating functions of upstream's API groups, one entry per type and field.

use kubeschema::name;

use super::place::{Errors, Place};
use super::{admission, autoscaler, job, network, pod, storage};

/// What a field must be.
enum Rule {
    /// There.
    There,
    /// There, and a name of a kind.
    Must(fn(&str) -> Vec<String>),
    /// A name of a kind, unless it is empty.
    Named(fn(&str) -> Vec<String>),
    /// A name of a kind, even if it is empty; a field that is not there counts as empty.
    Exactly(fn(&str) -> Vec<String>),
    /// Not negative.
    Natural,
    /// Between two numbers; the text says so.
    Within(i64, i64, &'static str),
    /// A port.
    Port,
    /// One of these, unless it is not there.
    Choice(&'static [&'static str]),
    /// A list of these.
    Choices(&'static [&'static str]),
    /// Whatever a function finds; it sees the field, or the whole value if the field's name is empty.
    With(fn(&Place<'_>, &mut Errors)),
}

use Rule::{Choice, Choices, Exactly, Must, Named, Natural, Port, There, With, Within};

const IDENTITY: Rule = Within(0, i32::MAX as i64, "must be between 0 and 2147483647, inclusive");
const OPERATIONS: Rule = Choices(&["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]);
const LUN: Rule = Within(0, 255, "must be between 0 and 255, inclusive");
const MODE: Rule = Within(0, 0o777, "must be a number between 0 and 0777 (octal), both inclusive");
const WEIGHT: Rule = Within(1, 100, "must be in the range 1-100");
const TEN_MINUTES: Rule = Within(600, i64::MAX, "may not specify a duration less than 10 minutes");

type Entry = (&'static str, &'static [(&'static str, Rule)]);

/// Sorted by type.
const TABLE: &[Entry] = &[
    (
        "admissionregistration.v1.MatchCondition",
        &[
            ("expression", There),
            ("expression", With(admission::expression)),
            ("name", Must(name::qualified)),
        ],
    ),
    (
        "admissionregistration.v1.MutatingWebhook",
        &[("", With(admission::webhook))],
    ),
    (
        "admissionregistration.v1.NamedRuleWithOperations",
        &[("operations", OPERATIONS), ("", With(admission::rule))],
    ),
    (
        "admissionregistration.v1.ParamKind",
        &[("", With(admission::parameter_kind))],
    ),
    (
        "admissionregistration.v1.ParamRef",
        &[("", With(admission::parameters))],
    ),
    (
        "admissionregistration.v1.RuleWithOperations",
        &[("operations", OPERATIONS), ("", With(admission::rule))],
    ),
    (
        "admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec",
        &[
            ("policyName", Must(name::dns_subdomain)),
            ("", With(admission::binding)),
        ],
    ),
    (
        "admissionregistration.v1.ValidatingAdmissionPolicySpec",
        &[("", With(admission::policy))],
    ),
    (
        "admissionregistration.v1.ValidatingWebhook",
        &[("", With(admission::webhook))],
    ),
    ("apps.v1.RollingUpdateStatefulSetStrategy", &[("partition", Natural)]),
    ("apps.v1.StatefulSetOrdinals", &[("start", Natural)]),
    (
        "autoscaling.v1.CrossVersionObjectReference",
        &[("", With(autoscaler::reference))],
    ),
    (
        "autoscaling.v2.CrossVersionObjectReference",
        &[("", With(autoscaler::reference))],
    ),
    ("autoscaling.v2.HPAScalingPolicy", &[("", With(autoscaler::policy))]),
    ("autoscaling.v2.HPAScalingRules", &[("", With(autoscaler::rules))]),
    ("autoscaling.v2.MetricSpec", &[("", With(autoscaler::metric))]),
    ("batch.v1.JobSpec", &[("", With(job::spec))]),
    ("core.v1.AWSElasticBlockStoreVolumeSource", &[("volumeID", There)]),
    ("core.v1.AppArmorProfile", &[("", With(pod::security::app_armor))]),
    (
        "core.v1.AzureDiskVolumeSource",
        &[
            ("diskName", There),
            ("diskURI", There),
            ("diskURI", With(pod::volume::disk_address)),
        ],
    ),
    (
        "core.v1.AzureFileVolumeSource",
        &[("secretName", There), ("shareName", There)],
    ),
    (
        "core.v1.CSIPersistentVolumeSource",
        &[("driver", With(pod::volume::driver)), ("volumeHandle", There)],
    ),
    (
        "core.v1.CSIVolumeSource",
        &[
            ("driver", With(pod::volume::driver)),
            ("nodePublishSecretRef", With(pod::volume::publish_secret)),
        ],
    ),
    ("core.v1.CephFSVolumeSource", &[("monitors", There)]),
    ("core.v1.CinderVolumeSource", &[("volumeID", There)]),
    ("core.v1.ConfigMapEnvSource", &[("name", Must(name::dns_subdomain))]),
    (
        "core.v1.ConfigMapKeySelector",
        &[("name", Exactly(name::dns_subdomain)), ("key", Must(name::config_key))],
    ),
    ("core.v1.ConfigMapProjection", &[("name", There)]),
    (
        "core.v1.ConfigMapVolumeSource",
        &[("name", There), ("defaultMode", MODE)],
    ),
    (
        "core.v1.Container",
        &[
            ("restartPolicy", Choice(&["Always", "Never", "OnFailure"])),
            ("", With(pod::container::check)),
        ],
    ),
    ("core.v1.ContainerResizePolicy", &[("", With(pod::container::resize))]),
    (
        "core.v1.DownwardAPIVolumeFile",
        &[("", With(pod::volume::downward_file))],
    ),
    ("core.v1.DownwardAPIVolumeSource", &[("defaultMode", MODE)]),
    (
        "core.v1.EmptyDirVolumeSource",
        &[("sizeLimit", With(pod::volume::size_limit))],
    ),
    ("core.v1.EndpointAddress", &[("", With(network::endpoint_address))]),
    (
        "core.v1.EnvFromSource",
        &[("", With(pod::container::environment_source))],
    ),
    ("core.v1.EnvVar", &[("", With(pod::container::variable))]),
    ("core.v1.EnvVarSource", &[("", With(pod::container::variable_source))]),
    ("core.v1.EphemeralContainer", &[("", With(pod::container::check))]),
    (
        "core.v1.EphemeralVolumeSource",
        &[("volumeClaimTemplate", With(pod::volume::claim_template))],
    ),
    ("core.v1.ExecAction", &[("command", There)]),
    (
        "core.v1.FCVolumeSource",
        &[("", With(pod::volume::fibre_channel)), ("lun", LUN)],
    ),
    ("core.v1.FlexVolumeSource", &[("driver", There)]),
    ("core.v1.FlockerVolumeSource", &[("", With(pod::volume::flocker))]),
    (
        "core.v1.GCEPersistentDiskVolumeSource",
        &[("", With(pod::volume::disk_name))],
    ),
    ("core.v1.GRPCAction", &[("port", Port)]),
    ("core.v1.GitRepoVolumeSource", &[("repository", There)]),
    (
        "core.v1.GlusterfsVolumeSource",
        &[("endpoints", There), ("path", There)],
    ),
    ("core.v1.HTTPGetAction", &[("", With(pod::probe::request))]),
    ("core.v1.HostAlias", &[("", With(pod::alias))]),
    (
        "core.v1.HostPathVolumeSource",
        &[("path", There), ("path", With(pod::volume::no_way_back))],
    ),
    (
        "core.v1.ISCSIVolumeSource",
        &[
            ("targetPortal", There),
            ("iqn", There),
            ("iqn", With(pod::volume::initiator)),
            ("lun", LUN),
        ],
    ),
    ("core.v1.ImageVolumeSource", &[("reference", There)]),
    (
        "core.v1.KeyToPath",
        &[
            ("key", There),
            ("path", There),
            ("path", With(pod::volume::relative)),
            ("mode", MODE),
        ],
    ),
    (
        "core.v1.LocalVolumeSource",
        &[("path", There), ("path", With(pod::volume::no_way_back))],
    ),
    (
        "core.v1.NFSVolumeSource",
        &[
            ("server", There),
            ("path", There),
            ("path", With(pod::volume::absolute)),
        ],
    ),
    (
        "core.v1.NodeSelector",
        &[("nodeSelectorTerms", With(pod::scheduling::terms))],
    ),
    ("core.v1.NodeSelectorTerm", &[("", With(pod::scheduling::term))]),
    (
        "core.v1.ObjectFieldSelector",
        &[("", With(pod::container::field_selector))],
    ),
    ("core.v1.PersistentVolumeClaimSpec", &[("", With(storage::claim_spec))]),
    ("core.v1.PersistentVolumeClaimVolumeSource", &[("claimName", There)]),
    ("core.v1.PhotonPersistentDiskVolumeSource", &[("pdID", There)]),
    ("core.v1.PodAffinityTerm", &[("", With(pod::scheduling::affinity_term))]),
    ("core.v1.PodDNSConfig", &[("", With(pod::resolver))]),
    ("core.v1.PodOS", &[("", With(pod::system))]),
    (
        "core.v1.PodReadinessGate",
        &[("conditionType", Exactly(name::qualified))],
    ),
    ("core.v1.PodSecurityContext", &[("", With(pod::security::pod))]),
    ("core.v1.PodSpec", &[("", With(pod::spec))]),
    ("core.v1.PodTemplateSpec", &[("", With(pod::template))]),
    ("core.v1.PortworxVolumeSource", &[("volumeID", There)]),
    ("core.v1.PreferredSchedulingTerm", &[("weight", WEIGHT)]),
    (
        "core.v1.ProjectedVolumeSource",
        &[("defaultMode", MODE), ("", With(pod::volume::projected))],
    ),
    ("core.v1.QuobyteVolumeSource", &[("", With(pod::volume::quobyte))]),
    ("core.v1.RBDVolumeSource", &[("monitors", There), ("image", There)]),
    (
        "core.v1.ResourceFieldSelector",
        &[("", With(pod::container::resource_field))],
    ),
    ("core.v1.ResourceRequirements", &[("", With(pod::resources::check))]),
    (
        "core.v1.ScaleIOVolumeSource",
        &[("gateway", There), ("system", There), ("volumeName", There)],
    ),
    ("core.v1.SeccompProfile", &[("", With(pod::security::seccomp))]),
    ("core.v1.SecretEnvSource", &[("name", Must(name::dns_subdomain))]),
    (
        "core.v1.SecretKeySelector",
        &[("name", Exactly(name::dns_subdomain)), ("key", Must(name::config_key))],
    ),
    ("core.v1.SecretProjection", &[("name", There)]),
    (
        "core.v1.SecretVolumeSource",
        &[("secretName", There), ("defaultMode", MODE)],
    ),
    (
        "core.v1.SecurityContext",
        &[
            ("runAsUser", IDENTITY),
            ("runAsGroup", IDENTITY),
            ("", With(pod::security::container)),
        ],
    ),
    (
        "core.v1.ServiceAccountTokenProjection",
        &[
            ("expirationSeconds", TEN_MINUTES),
            ("path", With(pod::volume::token_path)),
        ],
    ),
    ("core.v1.Toleration", &[("", With(pod::scheduling::toleration))]),
    ("core.v1.TopologySelectorTerm", &[("", With(storage::topology))]),
    (
        "core.v1.TopologySpreadConstraint",
        &[("", With(pod::scheduling::spread))],
    ),
    ("core.v1.VsphereVirtualDiskVolumeSource", &[("volumePath", There)]),
    (
        "core.v1.VolumeNodeAffinity",
        &[("required", With(storage::node_constraints))],
    ),
    ("core.v1.WeightedPodAffinityTerm", &[("weight", WEIGHT)]),
    (
        "storage.v1.CSIDriverSpec",
        &[("fsGroupPolicy", Choice(&["File", "None", "ReadWriteOnceWithFSType"]))],
    ),
    ("storage.v1.CSINodeSpec", &[("drivers", With(storage::node_drivers))]),
    (
        "admissionregistration.v1.Validation",
        &[("reason", Choice(&["Forbidden", "Invalid", "RequestEntityTooLarge"]))],
    ),
    (
        "admissionregistration.v1.ValidatingWebhookConfiguration",
        &[("webhooks", With(admission::webhooks))],
    ),
    (
        "admissionregistration.v1.MutatingWebhookConfiguration",
        &[("webhooks", With(admission::webhooks))],
    ),
    (
        "batch.v1.PodFailurePolicyOnPodConditionsPattern",
        &[("status", Choice(&["False", "True", "Unknown"]))],
    ),
    ("networking.v1.NetworkPolicyPort", &[("", With(network::policy_port))]),
    ("networking.v1.IPBlock", &[("", With(network::block))]),
    ("storage.v1.TokenRequest", &[("expirationSeconds", TEN_MINUTES)]),
    ("storage.v1.CSINodeDriver", &[("", With(storage::node_driver))]),
    ("storage.v1.VolumeNodeResources", &[("count", Natural)]),
    (
        "storage.v1.VolumeAttachmentSpec",
        &[
            ("attacher", With(pod::volume::driver)),
            ("nodeName", Exactly(name::dns_subdomain)),
            ("", With(storage::attachment)),
        ],
    ),
    ("discovery.v1.ForZone", &[("name", Named(name::label_value))]),
    (
        "core.v1.SessionAffinityConfig",
        &[("clientIP", With(super::service::affinity))],
    ),
    (
        "core.v1.ScopedResourceSelectorRequirement",
        &[("", With(super::quota::scope))],
    ),
    (
        "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
        &[("", With(network::selector))],
    ),
    (
        "scheduling.v1.PriorityClass",
        &[("preemptionPolicy", With(storage::preemption))],
    ),
    (
        "rbac.v1.AggregationRule",
        &[("clusterRoleSelectors", With(super::rbac::selectors))],
    ),
    (
        "flowcontrol.v1.PolicyRulesWithSubjects",
        &[("", With(super::flow::rule))],
    ),
    ("flowcontrol.v1.FlowSchemaSpec", &[("", With(super::flow::schema))]),
    (
        "flowcontrol.v1.PriorityLevelConfigurationSpec",
        &[("", With(super::flow::level))],
    ),
    (
        "networking.v1.IngressClassParametersReference",
        &[
            ("scope", Choice(&["Cluster", "Namespace"])),
            ("", With(network::class_parameters)),
        ],
    ),
    (
        "apps.v1.DaemonSetUpdateStrategy",
        &[("", With(super::workload::daemon_strategy))],
    ),
    (
        "apps.v1.StatefulSetUpdateStrategy",
        &[("", With(super::workload::stateful_strategy))],
    ),
    (
        "discovery.v1.EndpointPort",
        &[("protocol", Choice(&["SCTP", "TCP", "UDP"]))],
    ),
];

/// Fields that a rule of the table judges instead of their type, or that nobody judges.
const JUDGED: &[(&str, &str)] = &[
    ("autoscaling.v2.MetricIdentifier", "selector"),
    ("core.v1.PodSpec", "preemptionPolicy"),
    ("core.v1.VolumeMount", "mountPropagation"),
    ("core.v1.VolumeMount", "recursiveReadOnly"),
    ("scheduling.v1.PriorityClass", "preemptionPolicy"),
    ("core.v1.ContainerResizePolicy", "resourceName"),
    ("core.v1.ContainerResizePolicy", "restartPolicy"),
    ("core.v1.NodeSelectorRequirement", "operator"),
    ("core.v1.PodOS", "name"),
    ("core.v1.ScopedResourceSelectorRequirement", "operator"),
    ("core.v1.ScopedResourceSelectorRequirement", "scopeName"),
    ("core.v1.Taint", "effect"),
    ("apps.v1.DaemonSetUpdateStrategy", "type"),
    ("apps.v1.StatefulSetUpdateStrategy", "type"),
    ("apps.v1.StatefulSetSpec", "podManagementPolicy"),
    ("apps.v1.DeploymentStrategy", "type"),
];

/// Whether a rule judges an enumerated field, so that the schema need not.
pub(super) fn judges(owner: &str, field: &str) -> bool {
    JUDGED.contains(&(owner, field))
}

/// Applies the rules of a type to a value.
pub(super) fn check(owner: &str, place: &Place<'_>, errors: &mut Errors) {
    let rules = TABLE.iter().filter(|(name, _)| *name == owner);
    for (field, rule) in rules.flat_map(|(_, rules)| rules.iter()) {
        let place = if field.is_empty() {
            place.clone()
        } else {
            place.at(field)
        };
        apply(rule, &place, errors);
    }
}

fn apply(rule: &Rule, place: &Place<'_>, errors: &mut Errors) {
    match rule {
        There => place.want("", errors),
        Must(rule) => place.must(*rule, errors),
        Named(rule) => place.perhaps(*rule, errors),
        Exactly(rule) => place.named(*rule, errors),
        Natural => place.natural(errors),
        Within(low, high, why) => place.within(*low..=*high, why, errors),
        Port => network::port(place, errors),
        Choice(_) if place.value.is_null() => {}
        Choice(choices) => place.choice(choices, errors),
        Choices(choices) => place.items().for_each(|item| item.choice(choices, errors)),
        With(rule) => rule(place, errors),
    }
}
