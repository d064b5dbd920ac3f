//! How lists of objects merge: by the facts of the built-in kinds, or by an OpenAPI file that a kustomization names.

use std::rc::Rc;

use kubeschema::schema::{ListKind, Strategy, Type};
use serde_json::Value;

/// Where the facts come from.
#[derive(Clone, Debug, Default)]
pub(crate) enum Schemas {
    /// The kinds that kustomize knows.
    #[default]
    Builtin,
    /// The definitions of an OpenAPI file, and nothing else.
    Custom(Rc<Value>),
}

/// The type of a value.
#[derive(Clone, Debug)]
pub(crate) enum Schema {
    Builtin(&'static Type, Option<&'static Strategy>),
    Custom(Rc<Value>, Value),
}

/// Fields that merge today but were not known to the schema that kustomize carries (Kubernetes 1.21).
const YOUNGER: [&str; 5] = [
    "resourceClaims",
    "schedulingGates",
    "matchConditions",
    "hostIPs",
    "resourceClaimStatuses",
];
/// How deep references of a custom schema may go.
const MAX_REFERENCES: usize = 100;

impl Schemas {
    /// Reads an OpenAPI file.
    ///
    /// # Errors
    /// It is no YAML or has no definitions.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let value = goyaml::parse(text).map_err(|error| error.to_string())?;
        if value.is_object() {
            Ok(Self::Custom(Rc::new(value)))
        } else {
            Err("it is no OpenAPI document".to_owned())
        }
    }

    /// The type of objects of a kind.
    pub(crate) fn of(&self, api_version: &str, kind: &str) -> Option<Schema> {
        match self {
            Self::Builtin => builtin(api_version, kind),
            Self::Custom(document) => {
                let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
                let is_kind = |definition: &&Value| {
                    let kinds = definition["x-kubernetes-group-version-kind"].as_array();
                    kinds.into_iter().flatten().any(|entry| {
                        let text = |key: &str| entry[key].as_str().unwrap_or_default();
                        text("group") == group && text("version") == version && text("kind") == kind
                    })
                };
                let definitions = document["definitions"].as_object()?;
                let found = definitions.values().find(is_kind)?;
                Some(Schema::Custom(Rc::clone(document), found.clone()))
            }
        }
    }
}

fn builtin(api_version: &str, kind: &str) -> Option<Schema> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    // Versions that are gone since merge as their successors do; younger ones are not known.
    let version = match (group, version) {
        ("autoscaling", "v2") | ("resource.k8s.io", _) => return None,
        ("admissionregistration.k8s.io", _) if kind.starts_with("ValidatingAdmission") => return None,
        ("flowcontrol.apiserver.k8s.io", "v1beta1") => "v1",
        ("flowcontrol.apiserver.k8s.io", _) => return None,
        ("batch" | "policy" | "admissionregistration.k8s.io" | "certificates.k8s.io", "v1beta1") => "v1",
        ("apiextensions.k8s.io" | "apiregistration.k8s.io" | "networking.k8s.io" | "storage.k8s.io", "v1beta1") => "v1",
        (_, version) => version,
    };
    let api_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    let found = kubeschema::kinds::schema_of(&api_version, kind)?;
    Some(Schema::Builtin(found, None))
}

impl Schema {
    /// The type of a field.
    pub(crate) fn field(&self, key: &str) -> Option<Self> {
        match self {
            Self::Builtin(kind, _) => {
                if YOUNGER.contains(&key) {
                    return None;
                }
                let strategy = kind.field(key).map(|field| &field.strategy);
                match kind.child(key)? {
                    Type::Any => None,
                    child => Some(Self::Builtin(child, strategy)),
                }
            }
            Self::Custom(document, schema) => {
                let field = schema["properties"].get(key);
                let field = field.or_else(|| schema.get("additionalProperties").filter(|rest| rest.is_object()))?;
                Some(Self::Custom(Rc::clone(document), resolved(document, field)?))
            }
        }
    }

    /// The type of a list's items.
    pub(crate) fn items(&self) -> Option<Self> {
        match self {
            Self::Builtin(kind, _) => match kind.item()? {
                Type::Any => None,
                item => Some(Self::Builtin(item, None)),
            },
            Self::Custom(document, schema) => {
                let items = schema.get("items").filter(|_| schema["type"] == "array")?;
                Some(Self::Custom(Rc::clone(document), resolved(document, items)?))
            }
        }
    }

    /// The keys by which items of a list are the same; none for lists of texts; `None` if the list is replaced.
    pub(crate) fn merge_keys(&self) -> Option<Vec<String>> {
        match self {
            Self::Builtin(kind, strategy) => {
                let strategy = strategy.filter(|strategy| strategy.merge)?;
                match kind.resolve() {
                    Type::List(list) => match &list.kind {
                        ListKind::Map(keys) => Some(keys.clone()),
                        _ => Some(strategy.merge_key.iter().cloned().collect()),
                    },
                    _ => Some(strategy.merge_key.iter().cloned().collect()),
                }
            }
            Self::Custom(_, schema) => {
                let strategy = schema["x-kubernetes-patch-strategy"].as_str().unwrap_or_default();
                if !strategy.split(',').any(|part| part == "merge") {
                    return None;
                }
                let text = |value: &Value| value.as_str().map(str::to_owned);
                let keys = match schema["x-kubernetes-list-map-keys"].as_array() {
                    Some(keys) => keys.iter().filter_map(text).collect(),
                    None => text(&schema["x-kubernetes-patch-merge-key"]).into_iter().collect(),
                };
                Some(keys)
            }
        }
    }
}

fn resolved(document: &Value, schema: &Value) -> Option<Value> {
    let mut schema = schema;
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = schema["$ref"].as_str() else {
            return Some(schema.clone());
        };
        schema = document.pointer(reference.strip_prefix('#')?)?;
    }
    None
}
