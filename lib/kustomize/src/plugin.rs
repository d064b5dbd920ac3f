//! Generators and transformers that are configured by objects of their own (`generators`, `transformers`, `validators`).
//! Only the built-in ones are known; programs and containers are refused by name.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::config::FieldSpec;
use crate::hash;
use crate::kustomization::{
    Generator, GeneratorOptions, Image, Patch, PatchOptions, Replacement, Replica, Selector, Texts,
};
use crate::resource::Resource;
use crate::spelling;

/// A built-in generator or transformer with its configuration.
pub(crate) enum Plugin {
    ConfigMap(Generator),
    Secret(Generator),
    Policy(Policy),
    Annotations(Texts, Vec<FieldSpec>),
    Labels(Texts, Vec<FieldSpec>),
    Prefix(String, Vec<FieldSpec>),
    Suffix(String, Vec<FieldSpec>),
    PrefixSuffix(String, String, Vec<FieldSpec>),
    Namespace(NamespaceConfig),
    Image(Image, Vec<FieldSpec>),
    Replica(Replica, Vec<FieldSpec>),
    Patch(Patch),
    Json(Patch),
    Strategic(Vec<String>, String),
    Replacements(Vec<Replacement>),
    Values(Values),
    Hash,
}

/// What a namespace transformer is told.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct NamespaceConfig {
    metadata: Named,
    pub(crate) field_specs: Vec<FieldSpec>,
    pub(crate) unset_only: bool,
    pub(crate) set_role_binding_subjects: String,
}

impl NamespaceConfig {
    pub(crate) fn namespace(&self) -> &str {
        &self.metadata.namespace
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: String,
    namespace: String,
}

/// A service account that stands for one of a cloud.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Policy {
    pub(crate) cloud: String,
    pub(crate) kubernetes_service: PolicyService,
    pub(crate) service_account: PolicyAccount,
}

/// The account in the cluster.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct PolicyService {
    pub(crate) name: String,
    pub(crate) namespace: String,
}

/// The account in the cloud.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PolicyAccount {
    pub(crate) name: String,
    pub(crate) project_id: String,
}

/// A value for fields of objects.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Values {
    pub(crate) value: String,
    pub(crate) targets: Vec<ValueTarget>,
    pub(crate) target_file_path: String,
}

/// Where a value goes.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ValueTarget {
    pub(crate) selector: Option<Selector>,
    pub(crate) field_path: String,
    pub(crate) file_path_position: i64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Fields {
    annotations: Texts,
    labels: Texts,
    prefix: String,
    suffix: String,
    image_tag: Image,
    replica: Replica,
    field_specs: Option<Vec<FieldSpec>>,
    metadata: Named,
    target: Option<Selector>,
    path: String,
    patch: String,
    json_op: String,
    options: Option<Value>,
    paths: Vec<String>,
    patches: String,
    replacements: Vec<Replacement>,
}

impl Plugin {
    /// Reads the configuration.
    ///
    /// # Errors
    /// The kind is not built in, or the configuration is wrong.
    pub(crate) fn read(resource: &Resource) -> Result<Self, String> {
        let gvk = resource.gvk();
        let kind = gvk.kind.as_str();
        if !gvk.group.is_empty() || gvk.version != "builtin" {
            return Err(format!("'{kind}' is not built in; programs and containers are not run"));
        }
        let mut value = resource.object.value()?;
        spelling::canonical(&mut value);
        spelling::texts(&mut value);
        let failed = |message: String| format!("{kind} '{}': {message}", resource.name());
        Self::of_kind(kind, value).map_err(failed)
    }

    fn of_kind(kind: &str, value: Value) -> Result<Self, String> {
        match kind {
            "ConfigMapGenerator" => Ok(Self::ConfigMap(generator(value)?)),
            "SecretGenerator" => Ok(Self::Secret(generator(value)?)),
            "IAMPolicyGenerator" => Ok(Self::Policy(read(value)?)),
            "NamespaceTransformer" => Ok(Self::Namespace(read(value)?)),
            "ValueAddTransformer" => Ok(Self::Values(read(value)?)),
            "HashTransformer" => Ok(Self::Hash),
            "HelmChartInflationGenerator" => Err("charts are not rendered here".to_owned()),
            _ => Self::of_fields(kind, read(value)?),
        }
    }

    fn of_fields(kind: &str, fields: Fields) -> Result<Self, String> {
        let wanted = || "fieldSpecs: they are needed".to_owned();
        let specs = fields.field_specs;
        let some = specs.clone().unwrap_or_default();
        Ok(match kind {
            "AnnotationsTransformer" => Self::Annotations(fields.annotations, some),
            "LabelTransformer" => Self::Labels(fields.labels, some),
            "PrefixTransformer" => Self::Prefix(fields.prefix, specs.ok_or_else(wanted)?),
            "SuffixTransformer" => Self::Suffix(fields.suffix, specs.ok_or_else(wanted)?),
            "PrefixSuffixTransformer" => Self::PrefixSuffix(fields.prefix, fields.suffix, specs.ok_or_else(wanted)?),
            "ImageTagTransformer" => Self::Image(fields.image_tag, some),
            "ReplicaCountTransformer" => Self::Replica(fields.replica, some),
            "ReplacementTransformer" => Self::Replacements(fields.replacements),
            "PatchStrategicMergeTransformer" => Self::Strategic(fields.paths, fields.patches),
            "PatchTransformer" => Self::Patch(Patch {
                path: fields.path,
                patch: fields.patch,
                target: fields.target,
                options: fields.options.map(read::<PatchOptions>).transpose()?,
            }),
            "PatchJson6902Transformer" => Self::Json(Patch {
                path: fields.path,
                patch: fields.json_op,
                target: fields.target,
                options: None,
            }),
            other => return Err(format!("'{other}' is not built in")),
        })
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// A generator whose name may stand in its metadata.
fn generator(value: Value) -> Result<Generator, String> {
    let named: Fields = read(serde_json::json!({ "metadata": value["metadata"] }))?;
    let mut generator: Generator = read(value)?;
    if generator.name.is_empty() {
        generator.name = named.metadata.name;
    }
    if generator.namespace.is_empty() {
        generator.namespace = named.metadata.namespace;
    }
    let options: Option<GeneratorOptions> = generator.options.take();
    generator.options = options;
    Ok(generator)
}

/// Gives every object that asks for it the hash of its content.
pub(crate) fn hash_names(resources: &mut [Resource]) -> Result<(), String> {
    for resource in resources.iter_mut().filter(|resource| resource.hashed) {
        let value = resource
            .object
            .value()
            .map_err(|message| format!("object {}: {message}", resource.id()))?;
        let name = format!("{}-{}", resource.name(), hash::suffix(&value));
        resource.remember();
        resource.set_name(&name);
    }
    Ok(())
}
