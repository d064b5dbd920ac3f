//! Rust types → structural schemas of CRDs. The types declare their fields once; the macros of
//! `wire` feed them through here, so schema and types cannot drift. What types cannot say
//! (nullable fields, defaults, patterns, rules) is in the tables below.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Affinity, EnvVar, LocalObjectReference, ResourceRequirements, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::{Map, Value, json};

use crate::duration::Duration;

/// A type that knows its structural schema.
pub(crate) trait Described {
    fn schema() -> Value;
}

/// Fields that keep an explicit `null` instead of losing it, by struct.
const NULLABLE: &[(&str, &str)] = &[
    (
        "BundleDeploymentOptions",
        "yaml kustomize defaultNamespace namespace serviceAccount createNamespace diff ignore namespaceLabels \
         namespaceAnnotations allowedTargetNamespaceSelector",
    ),
    ("YamlOptions", "overlays"),
    ("KustomizeOptions", "dir"),
    (
        "HelmOptions",
        "valuesFiles chart repo releaseName version values templateValues valuesFrom",
    ),
    ("ValuesFrom", "configMapKeyRef secretKeyRef"),
    ("KeySelector", "namespace key"),
    ("DiffOptions", "comparePatches"),
    ("ComparePatch", "kind apiVersion namespace name operations jsonPointers"),
    ("Operation", "op path value"),
    ("IgnoreOptions", "conditions"),
    (
        "BundleSpec",
        "rolloutStrategy resources dependsOn contentsId helmOpOptions",
    ),
    ("BundleResource", "name content encoding"),
    (
        "BundleTarget",
        "name clusterName clusterSelector clusterGroup clusterGroupSelector namespaceLabels namespaceAnnotations",
    ),
    (
        "TargetSelector",
        "name clusterName clusterSelector clusterGroup clusterGroupSelector",
    ),
    (
        "RolloutStrategy",
        "maxUnavailable maxUnavailablePartitions autoPartitionSize autoPartitionThreshold maxNew partitions",
    ),
    ("Partition", "name clusterGroupSelector"),
    ("BundleHelmOptions", "helmOpCABundle"),
    ("BundleDisplay", "readyClusters state"),
    ("PartitionStatus", "name"),
    ("BundleSummary", "nonReadyResources"),
    (
        "NonReadyResource",
        "name bundleState message modifiedStatus nonReadyStatus",
    ),
    ("ModifiedStatus", "kind apiVersion namespace name patch"),
    ("NonReadyStatus", "uid kind apiVersion namespace name"),
    ("Resource", "apiVersion kind id namespace name message perClusterState"),
    (
        "BundleDeploymentSpec",
        "stagedDeploymentID deploymentID dependsOn valuesHash",
    ),
    (
        "BundleDeploymentStatus",
        "conditions appliedDeploymentID release nonReadyStatus modifiedStatus display syncGeneration resources",
    ),
    ("BundleDeploymentDisplay", "deployed monitored state"),
    ("BundleDeploymentResource", "kind apiVersion namespace name createdAt"),
    ("Content", "content"),
    (
        "ClusterSpec",
        "clientID kubeConfigSecret kubeConfigSecretNamespace agentEnvVars agentNamespace privateRepoURL \
         templateValues agentTolerations agentAffinity agentResources hostNetwork agentSchedulingCustomization \
         agentPullSecrets",
    ),
    (
        "ClusterStatus",
        "agentEnvVarsHash agentPrivateRepoURL agentDeployedGeneration agentResourcesHash agentTolerationsHash \
         apiServerURL apiServerCAHash agentTLSMode",
    ),
    ("ClusterDisplay", "state"),
    ("AgentStatus", "lastSeen namespace"),
    ("ClusterGroupSpec", "selector"),
    ("ClusterGroupStatus", "nonReadyClusters"),
    ("ClusterGroupDisplay", "state"),
    ("ClusterRegistrationSpec", "clientID clientRandom clusterLabels"),
    ("ClusterRegistrationStatus", "clusterName"),
    ("ClusterRegistrationTokenSpec", "ttl"),
    ("ClusterRegistrationTokenStatus", "expires secretName"),
    (
        "GitRepoSpec",
        "branch revision targetNamespace clientSecretName helmSecretName helmSecretNameForPaths helmRepoURLRegex \
         caBundle paths pollingInterval",
    ),
    (
        "GitRepoStatus",
        "lastWebhookTime lastSyncedImageScanTime lastPollingTriggered",
    ),
    ("HelmOpStatus", "lastPollingTriggered"),
    ("BundlePath", "options"),
    ("HelmOpSpec", "pollingInterval helmSecretName"),
    ("ImageScanSpec", "tagName gitrepoName interval secretRef"),
    ("ImagePolicy", "semver alphabetical"),
    ("SemVerPolicy", "range"),
    ("AlphabeticalPolicy", "order"),
    ("ImageScanStatus", "lastScanTime"),
    ("ScheduleStatus", "nextStartTime"),
    ("BundleNamespaceMapping", "bundleSelector namespaceSelector"),
    (
        "GitRepoRestriction",
        "defaultServiceAccount allowedServiceAccounts allowedRepoPatterns defaultClientSecretName \
         allowedClientSecretNames allowedTargetNamespaces allowedTargetNamespaceSelector",
    ),
    ("Policy", "allowedServiceAccounts"),
    ("GitRepoPolicy", "allowedClientSecretNames allowedRepoPatterns"),
    (
        "HelmOpPolicy",
        "allowedHelmSecretNames allowedHelmRepoPatterns allowedChartPatterns",
    ),
];

/// Fields that must be there, by struct.
const REQUIRED: &[(&str, &str)] = &[
    ("GitRepoSpec", "repo"),
    ("ImageScanSpec", "image interval"),
    ("Condition", "type status"),
    ("Resource", "perClusterState"),
];

/// Times and bytes: strings with a format, by struct.
const FORMATS: &[(&str, &str, &str)] = &[
    ("BundleHelmOptions", "helmOpCABundle", "byte"),
    ("GitRepoSpec", "caBundle", "byte"),
    ("Content", "content", "byte"),
    ("BundleDeploymentResource", "createdAt", "date-time"),
    ("AgentStatus", "lastSeen", "date-time"),
    ("ClusterRegistrationTokenStatus", "expires", "date-time"),
    (
        "GitRepoStatus",
        "lastWebhookTime lastSyncedImageScanTime lastPollingTriggered",
        "date-time",
    ),
    ("HelmOpStatus", "lastPollingTriggered", "date-time"),
    ("ImageScanStatus", "lastScanTime", "date-time"),
    ("ScheduleStatus", "nextStartTime", "date-time"),
];

/// Durations that users write, by struct: checked when they are written.
const DURATIONS: &[(&str, &str)] = &[
    ("GitRepoSpec", "pollingInterval imageScanInterval"),
    ("HelmOpSpec", "pollingInterval"),
    ("ImageScanSpec", "interval"),
    ("ClusterRegistrationTokenSpec", "ttl"),
    ("ScheduleSpec", "duration"),
];

fn listed(table: &[(&str, &str)], name: &str, key: &str) -> bool {
    table
        .iter()
        .any(|(owner, keys)| *owner == name && keys.split_whitespace().any(|listed| listed == key))
}

/// Upstream's rule for durations: Go's syntax, not negative, short enough for an int64 of
/// nanoseconds.
fn user_duration() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 32,
        "x-kubernetes-validations": [{
            "rule": "self == '0' || (self.matches('^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$') && duration(self) <= duration('2562047h'))",
            "message": "must be a duration like 15s, 10m or 1h30m, or 0: not negative, at most 2562047h, units ns, us, µs, ms, s, m, h (d and w are not supported, write 24h and 168h)",
        }],
    })
}

fn refine(name: &str, key: &str, schema: &mut Value) {
    if listed(DURATIONS, name, key) {
        *schema = merged(user_duration(), schema);
    }
    let Some(map) = schema.as_object_mut() else { return };
    if let Some((_, _, format)) = FORMATS
        .iter()
        .find(|(owner, keys, _)| *owner == name && keys.split_whitespace().any(|listed| listed == key))
    {
        map.insert("format".to_owned(), json!(format));
    }
    if listed(NULLABLE, name, key) {
        map.insert("nullable".to_owned(), json!(true));
    }
    match (name, key) {
        ("HelmOptions", "releaseName") => {
            map.insert("maxLength".to_owned(), json!(53));
            map.insert(
                "pattern".to_owned(),
                json!(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"),
            );
        }
        ("BundleSpec", "targetCustomizationMode") => {
            map.insert("enum".to_owned(), json!(["FirstMatch", "AllMatches"]));
            map.insert("default".to_owned(), json!("FirstMatch"));
        }
        ("GitRepoSpec", "repo") => {
            map.insert("minLength".to_owned(), json!(1));
        }
        _ => {}
    }
}

fn merged(mut base: Value, over: &Value) -> Value {
    if let (Some(base), Some(over)) = (base.as_object_mut(), over.as_object()) {
        base.extend(over.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    base
}

/// The schema of a struct while its fields are being added.
pub(crate) struct Object {
    name: &'static str,
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Object {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            properties: Map::new(),
            required: Vec::new(),
        }
    }

    /// Adds the fields of an embedded struct.
    pub(crate) fn embed(&mut self, schema: Value) {
        let Value::Object(mut schema) = schema else { return };
        if let Some(Value::Object(properties)) = schema.remove("properties") {
            self.properties.extend(properties);
        }
        if let Some(Value::Array(required)) = schema.remove("required") {
            self.required
                .extend(required.iter().filter_map(Value::as_str).map(str::to_owned));
        }
    }

    /// Adds a field under its JSON name: that of `#[serde(rename = "…")]`, else camelCase.
    pub(crate) fn field(&mut self, field: &str, attributes: &[&str], schema: Value) {
        let renamed = attributes.iter().find_map(|attribute| {
            let rest = attribute.split("rename = \"").nth(1)?;
            rest.split('"').next()
        });
        let key = renamed.map_or_else(|| camel_case(field), str::to_owned);
        self.keyed(&key, attributes, schema);
    }

    /// Adds a field under the given JSON name.
    pub(crate) fn keyed(&mut self, key: &str, attributes: &[&str], mut schema: Value) {
        if let (Some(text), Some(map)) = (description(attributes), schema.as_object_mut()) {
            map.insert("description".to_owned(), json!(text));
        }
        refine(self.name, key, &mut schema);
        if listed(REQUIRED, self.name, key) {
            self.required.push(key.to_owned());
        }
        self.properties.insert(key.to_owned(), schema);
    }

    pub(crate) fn finish(self, attributes: &[&str]) -> Value {
        #[cfg(test)]
        tests::SEEN.with_borrow_mut(|seen| seen.insert(self.name, self.properties.keys().cloned().collect()));
        let mut schema = json!({"type": "object", "properties": self.properties});
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        if let Some(text) = description(attributes) {
            schema["description"] = json!(text);
        }
        schema
    }
}

/// The text of doc comments among attributes, as `stringify!` shows them.
fn description(attributes: &[&str]) -> Option<String> {
    let lines: Vec<String> = attributes
        .iter()
        .filter_map(|attribute| {
            let literal = attribute
                .trim()
                .strip_prefix("doc")?
                .trim_start()
                .strip_prefix('=')?
                .trim();
            let text = literal
                .strip_prefix('r')
                .unwrap_or(literal)
                .trim_matches('#')
                .strip_prefix('"')?
                .strip_suffix('"')?;
            let text = if literal.starts_with('r') {
                text.to_owned()
            } else {
                text.replace("\\\"", "\"").replace("\\\\", "\\")
            };
            Some(text.trim().to_owned())
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join(" ").trim().to_owned())
}

fn camel_case(field: &str) -> String {
    let mut out = String::with_capacity(field.len());
    let mut upper = false;
    for c in field.chars() {
        if c == '_' {
            upper = true;
        } else {
            out.push(if upper { c.to_ascii_uppercase() } else { c });
            upper = false;
        }
    }
    out
}

macro_rules! described {
    ($($type:ty => $schema:expr;)*) => {
        $(impl Described for $type {
            fn schema() -> Value {
                $schema
            }
        })*
    };
}

described! {
    String => json!({"type": "string"});
    bool => json!({"type": "boolean"});
    i32 => json!({"type": "integer", "format": "int32"});
    i64 => json!({"type": "integer", "format": "int64"});
    Duration => json!({"type": "string"});
    IntOrString => json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true});
    Map<String, Value> => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    LabelSelector => json!({
        "type": "object", "x-kubernetes-map-type": "atomic",
        "properties": {
            "matchLabels": {"type": "object", "additionalProperties": {"type": "string"}},
            "matchExpressions": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {
                "type": "object", "required": ["key", "operator"],
                "properties": {
                    "key": {"type": "string"}, "operator": {"type": "string"},
                    "values": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"}}}}}
    });
    LocalObjectReference => json!({
        "type": "object", "x-kubernetes-map-type": "atomic", "properties": {"name": {"type": "string", "default": ""}}
    });
    EnvVar => crate::schema_core::env_var();
    Toleration => crate::schema_core::toleration();
    Affinity => crate::schema_core::affinity();
    ResourceRequirements => crate::schema_core::resources();
}

impl<T: Described> Described for Option<T> {
    fn schema() -> Value {
        T::schema()
    }
}
impl<T: Described> Described for Vec<T> {
    fn schema() -> Value {
        let mut items = T::schema();
        if let Some(items) = items.as_object_mut() {
            items.remove("nullable");
        }
        json!({"type": "array", "items": items})
    }
}
impl<T: Described> Described for BTreeMap<String, T> {
    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": T::schema()})
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        /// Fields of every struct that was described.
        pub(super) static SEEN: RefCell<BTreeMap<&'static str, Vec<String>>> = const { RefCell::new(BTreeMap::new()) };
    }

    #[test]
    fn tables_name_only_fields_that_exist() {
        assert_eq!(crate::crds().len(), 14);
        let known = SEEN.take();
        let formats = FORMATS.iter().map(|(name, keys, _)| (*name, *keys));
        let tables = [NULLABLE, REQUIRED, DURATIONS]
            .into_iter()
            .flatten()
            .copied()
            .chain(formats);
        for (name, keys) in tables {
            let fields: &Vec<String> = known.get(name).unwrap_or_else(|| panic!("no struct {name}"));
            for key in keys.split_whitespace() {
                assert!(fields.iter().any(|field| field == key), "{name} has no field {key}");
            }
        }
    }

    #[test]
    fn doc_comments_become_descriptions() {
        let schema = crate::BundleSpec::schema();
        assert_eq!(
            schema["properties"]["paused"]["description"],
            "Stage changes, release nothing."
        );
        assert_eq!(schema["properties"]["namespace"]["nullable"], true);
    }
}
