//! The kustomization file as types. A field that is not listed is an error, as for the real program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::FieldSpec;
use crate::error::Error;
use crate::spelling;

pub(crate) type Texts = BTreeMap<String, String>;

/// One kustomization or component.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Kustomization {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) openapi: Texts,
    pub(crate) resources: Vec<String>,
    pub(crate) bases: Vec<String>,
    pub(crate) components: Vec<String>,
    pub(crate) crds: Vec<String>,
    pub(crate) namespace: String,
    pub(crate) name_prefix: String,
    pub(crate) name_suffix: String,
    pub(crate) common_labels: Texts,
    pub(crate) labels: Vec<Labels>,
    pub(crate) common_annotations: Texts,
    pub(crate) patches_strategic_merge: Vec<String>,
    pub(crate) patches_json6902: Vec<Patch>,
    pub(crate) patches: Vec<Patch>,
    pub(crate) images: Vec<Image>,
    pub(crate) image_tags: Vec<Image>,
    pub(crate) replicas: Vec<Replica>,
    pub(crate) replacements: Vec<Replacement>,
    pub(crate) vars: Vec<Variable>,
    pub(crate) sort_options: Option<SortOptions>,
    pub(crate) config_map_generator: Vec<Generator>,
    pub(crate) secret_generator: Vec<Generator>,
    pub(crate) generator_options: Option<GeneratorOptions>,
    pub(crate) configurations: Vec<String>,
    pub(crate) generators: Vec<String>,
    pub(crate) transformers: Vec<String>,
    pub(crate) validators: Vec<String>,
    pub(crate) build_metadata: Vec<String>,
    pub(crate) helm_globals: Option<Value>,
    pub(crate) helm_charts: Vec<Value>,
    pub(crate) helm_chart_inflation_generator: Vec<Value>,
}

/// Metadata of a kustomization, which nothing uses.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Metadata {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) labels: Texts,
    pub(crate) annotations: Texts,
}

/// Labels that may also go into selectors and templates.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Labels {
    pub(crate) pairs: Texts,
    pub(crate) include_selectors: bool,
    pub(crate) include_templates: bool,
    pub(crate) fields: Vec<FieldSpec>,
}

/// A patch of either sort.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Patch {
    pub(crate) path: String,
    pub(crate) patch: String,
    pub(crate) target: Option<Selector>,
    pub(crate) options: Option<PatchOptions>,
}

/// What a patch may change besides fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PatchOptions {
    pub(crate) allow_name_change: bool,
    pub(crate) allow_kind_change: bool,
}

/// Which objects are meant; parts of the identity are patterns.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Selector {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) label_selector: String,
    pub(crate) annotation_selector: String,
}

/// A change of an image.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Image {
    pub(crate) name: String,
    pub(crate) new_name: String,
    pub(crate) new_tag: String,
    pub(crate) tag_suffix: String,
    pub(crate) digest: String,
}

/// A number of replicas.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Replica {
    pub(crate) name: String,
    pub(crate) count: i64,
}

/// A config map or secret made from files and literals.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Generator {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) behavior: String,
    pub(crate) files: Vec<String>,
    pub(crate) literals: Vec<String>,
    pub(crate) envs: Vec<String>,
    pub(crate) env: String,
    #[serde(rename = "type")]
    pub(crate) secret_type: String,
    pub(crate) options: Option<GeneratorOptions>,
}

/// Options of generated objects.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct GeneratorOptions {
    pub(crate) labels: Texts,
    pub(crate) annotations: Texts,
    pub(crate) disable_name_suffix_hash: bool,
    pub(crate) immutable: bool,
}

/// A value copied from one object into others; or a file with such.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Replacement {
    pub(crate) path: String,
    pub(crate) source: Option<Source>,
    pub(crate) source_value: Option<String>,
    pub(crate) targets: Option<Vec<ReplacementTarget>>,
}

/// Where the value comes from. Parts of the identity that are empty fit all.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Source {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) field_path: String,
    pub(crate) options: Option<FieldOptions>,
}

/// Where the value goes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ReplacementTarget {
    pub(crate) select: Option<Selector>,
    pub(crate) reject: Vec<Selector>,
    pub(crate) field_paths: Vec<String>,
    pub(crate) options: Option<FieldOptions>,
}

/// Which part of a text is meant, and whether a missing field is made.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FieldOptions {
    pub(crate) delimiter: String,
    pub(crate) index: i64,
    pub(crate) encoding: String,
    pub(crate) create: bool,
}

/// A value of an object that texts of others may name as `$(NAME)`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) objref: ObjectReference,
    pub(crate) fieldref: FieldReference,
}

/// The object a variable takes its value from.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ObjectReference {
    pub(crate) api_version: String,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

/// The field a variable takes its value from.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FieldReference {
    pub(crate) field_path: String,
}

/// The order of objects.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SortOptions {
    pub(crate) order: String,
    pub(crate) legacy_sort_options: Option<LegacySortOptions>,
}

/// Kinds that come first and last.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LegacySortOptions {
    pub(crate) order_first: Vec<String>,
    pub(crate) order_last: Vec<String>,
}

impl Kustomization {
    /// Reads a kustomization file.
    pub(crate) fn read(file: &str, text: &str) -> Result<Self, Error> {
        let mut value = goyaml::parse(text).map_err(|error| Error::file(file, error.to_string()))?;
        spelling::canonical(&mut value);
        if value.is_null() {
            value = Value::Object(serde_json::Map::new());
        }
        let mut own = Self::deserialize(&value).map_err(|error| Error::file(file, error.to_string()))?;
        let read = serde_json::to_value(&own).map_err(|error| Error::file(file, error.to_string()))?;
        if let Some(key) = spelling::unknown(&value, &read) {
            return Err(Error::field(file, key, "unknown field"));
        }
        let bases = std::mem::take(&mut own.bases);
        own.resources.extend(bases);
        let tags = std::mem::take(&mut own.image_tags);
        own.images.extend(tags);
        if own.kind.is_empty() {
            "Kustomization".clone_into(&mut own.kind);
        }
        let nothing = Self {
            api_version: own.api_version.clone(),
            kind: own.kind.clone(),
            ..Self::default()
        };
        if own == nothing && !names_a_collection(&value) {
            return Err(Error::file(file, "kustomization.yaml is empty"));
        }
        own.check(file)?;
        Ok(own)
    }

    fn check(&self, file: &str) -> Result<(), Error> {
        let wanted = match self.kind.as_str() {
            "Kustomization" => "kustomize.config.k8s.io/v1beta1",
            "Component" => "kustomize.config.k8s.io/v1alpha1",
            kind => {
                let message = format!("'{kind}' is neither Kustomization nor Component");
                return Err(Error::field(file, "kind", message));
            }
        };
        if !self.api_version.is_empty() && self.api_version != wanted {
            let message = format!(
                "'{}' does not fit {}, which needs {wanted}",
                self.api_version, self.kind
            );
            return Err(Error::field(file, "apiVersion", message));
        }
        let helm = [
            ("helmCharts", !self.helm_charts.is_empty()),
            (
                "helmChartInflationGenerator",
                !self.helm_chart_inflation_generator.is_empty(),
            ),
        ];
        match helm.iter().find(|(_, used)| *used) {
            Some((field, _)) => Err(Error::field(file, *field, "charts are not rendered here")),
            None => Ok(()),
        }
    }

    pub(crate) fn is_component(&self) -> bool {
        self.kind == "Component"
    }
}

/// Whether a list or a map is written out, though nothing is in it: that is more than no kustomization at all. `bases`
/// become resources first, which leaves nothing of an empty list.
fn names_a_collection(kustomization: &Value) -> bool {
    let fields = kustomization.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| *name != "bases")
        .any(|(_, value)| value.is_array() || value.is_object())
}
