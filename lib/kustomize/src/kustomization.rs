//! The kustomization file as types. A field that is not listed is an error; fields that are known but not supported say
//! so, because leaving them out would make other objects than the user expects.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;

type Texts = BTreeMap<String, String>;

/// One kustomization or component.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Kustomization {
    pub(crate) api_version: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) metadata: Option<Value>,
    pub(crate) resources: Vec<String>,
    pub(crate) bases: Vec<String>,
    pub(crate) components: Vec<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) name_prefix: Option<String>,
    pub(crate) name_suffix: Option<String>,
    pub(crate) common_labels: Texts,
    pub(crate) labels: Vec<Labels>,
    pub(crate) common_annotations: Texts,
    pub(crate) patches_strategic_merge: Vec<String>,
    pub(crate) patches_json6902: Vec<Patch>,
    pub(crate) patches: Vec<Patch>,
    pub(crate) images: Vec<Image>,
    pub(crate) replicas: Vec<Replica>,
    pub(crate) config_map_generator: Vec<Generator>,
    pub(crate) secret_generator: Vec<Generator>,
    pub(crate) generator_options: Option<GeneratorOptions>,
    pub(crate) replacements: Vec<Replacement>,
    pub(crate) sort_options: Option<SortOptions>,
    pub(crate) build_metadata: Option<Value>,
    pub(crate) configurations: Option<Value>,
    pub(crate) crds: Option<Value>,
    pub(crate) generators: Option<Value>,
    pub(crate) helm_chart_inflation_generator: Option<Value>,
    pub(crate) helm_charts: Option<Value>,
    pub(crate) helm_globals: Option<Value>,
    pub(crate) inventory: Option<Value>,
    pub(crate) openapi: Option<Value>,
    pub(crate) transformers: Option<Value>,
    pub(crate) validators: Option<Value>,
    pub(crate) vars: Option<Value>,
    pub(crate) image_tags: Option<Value>,
}

/// Labels that may also go into selectors and templates.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Labels {
    pub(crate) pairs: Texts,
    pub(crate) include_selectors: bool,
    pub(crate) include_templates: bool,
    #[serde(rename = "fields")]
    pub(crate) field_specs: Vec<FieldSpec>,
}

/// A field of some kinds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct FieldSpec {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) path: String,
    pub(crate) create: bool,
}

/// A patch of either sort.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Patch {
    pub(crate) path: String,
    pub(crate) patch: String,
    pub(crate) target: Option<Selector>,
    pub(crate) options: BTreeMap<String, bool>,
}

/// Which objects a patch is for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
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
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Image {
    pub(crate) name: String,
    pub(crate) new_name: String,
    pub(crate) new_tag: Option<Value>,
    pub(crate) tag_suffix: String,
    pub(crate) digest: String,
}

/// A number of replicas.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Replica {
    pub(crate) name: String,
    pub(crate) count: i64,
}

/// A config map or secret made from files and literals.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
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
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct GeneratorOptions {
    pub(crate) labels: Texts,
    pub(crate) annotations: Texts,
    pub(crate) disable_name_suffix_hash: bool,
    pub(crate) immutable: bool,
}

/// A value copied from one object into others; or a file with such.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Replacement {
    pub(crate) path: String,
    pub(crate) source: Option<Source>,
    pub(crate) targets: Vec<ReplacementTarget>,
}

/// Where the value comes from.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Source {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) field_path: String,
    pub(crate) options: Option<FieldOptions>,
}

impl Source {
    pub(crate) fn identity(&self) -> Identity {
        Identity {
            group: self.group.clone(),
            version: self.version.clone(),
            kind: self.kind.clone(),
            name: self.name.clone(),
            namespace: self.namespace.clone(),
        }
    }
}

/// Which objects; what is empty fits all.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Identity {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

impl Identity {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Where the value goes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct ReplacementTarget {
    pub(crate) select: Option<Identity>,
    pub(crate) reject: Vec<Identity>,
    pub(crate) field_paths: Vec<String>,
    pub(crate) options: Option<FieldOptions>,
}

/// Which part of a text is meant, and whether a missing field is made.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct FieldOptions {
    pub(crate) delimiter: String,
    pub(crate) index: i64,
    pub(crate) create: bool,
}

/// The order of objects.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct SortOptions {
    pub(crate) order: String,
    pub(crate) legacy_sort_options: Option<LegacySortOptions>,
}

/// Kinds that come first and last.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct LegacySortOptions {
    pub(crate) order_first: Vec<String>,
    pub(crate) order_last: Vec<String>,
}

impl Kustomization {
    /// Reads a kustomization file.
    pub(crate) fn read(file: &str, text: &str) -> Result<Self, Error> {
        let mut value = goyaml::parse_with(goyaml::Dialect::V2, text).map_err(|e| Error::file(file, e.to_string()))?;
        // An empty file is a kustomization without fields, which has nothing to build.
        if value.is_null() {
            return Err(Error::file(file, "kustomization.yaml is empty"));
        }
        drop_nulls(&mut value);
        let read: Self = serde_json::from_value(value).map_err(|error| Error::file(file, error.to_string()))?;
        read.check(file)?;
        Ok(read)
    }

    fn check(&self, file: &str) -> Result<(), Error> {
        let unsupported = [
            ("buildMetadata", &self.build_metadata),
            ("configurations", &self.configurations),
            ("crds", &self.crds),
            ("generators", &self.generators),
            ("helmChartInflationGenerator", &self.helm_chart_inflation_generator),
            ("helmCharts", &self.helm_charts),
            ("helmGlobals", &self.helm_globals),
            ("inventory", &self.inventory),
            ("openapi", &self.openapi),
            ("transformers", &self.transformers),
            ("validators", &self.validators),
            ("vars", &self.vars),
            ("imageTags", &self.image_tags),
        ];
        let empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        if let Some((field, _)) = unsupported
            .iter()
            .find(|(_, value)| value.as_ref().is_some_and(|v| !empty(v)))
        {
            return Err(Error::field(file, *field, "this field is not supported"));
        }
        let kind = self.kind.as_deref().unwrap_or("Kustomization");
        let version = self.api_version.as_deref().unwrap_or_default();
        let fits = match kind {
            "Kustomization" => matches!(
                version,
                "" | "kustomize.config.k8s.io/v1beta1" | "kustomize.config.k8s.io/v1"
            ),
            "Component" => matches!(version, "" | "kustomize.config.k8s.io/v1alpha1"),
            _ => {
                return Err(Error::field(
                    file,
                    "kind",
                    format!("'{kind}' is neither Kustomization nor Component"),
                ));
            }
        };
        if fits {
            Ok(())
        } else {
            Err(Error::field(
                file,
                "apiVersion",
                format!("'{version}' does not fit {kind}"),
            ))
        }
    }

    pub(crate) fn is_component(&self) -> bool {
        self.kind.as_deref() == Some("Component")
    }
}

/// A key with nothing behind it counts as absent.
fn drop_nulls(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|_, value| !value.is_null());
        map.values_mut().for_each(drop_nulls);
    } else if let Value::Array(items) = value {
        items.iter_mut().for_each(drop_nulls);
    }
}
