//! Keys and values of configuration as Go's JSON reader takes them: keys in any case, and, where the real program reads
//! YAML straight into types, numbers and booleans as texts.

use serde_json::{Map, Value};

/// Every key of a kustomization and of what configures generators and transformers.
const KEYS: &[&str] = &[
    "allowKindChange",
    "allowNameChange",
    "annotations",
    "annotationSelector",
    "apiVersion",
    "bases",
    "behavior",
    "buildMetadata",
    "cloud",
    "commonAnnotations",
    "commonLabels",
    "components",
    "configMapGenerator",
    "configurations",
    "count",
    "crds",
    "create",
    "delimiter",
    "digest",
    "disableNameSuffixHash",
    "encoding",
    "env",
    "envs",
    "fieldPath",
    "fieldPaths",
    "fieldref",
    "fields",
    "fieldSpecs",
    "filePathPosition",
    "files",
    "generatorOptions",
    "generators",
    "group",
    "helmChartInflationGenerator",
    "helmCharts",
    "helmGlobals",
    "images",
    "imageTag",
    "imageTags",
    "immutable",
    "includeSelectors",
    "includeTemplates",
    "index",
    "jsonOp",
    "kind",
    "kubernetesService",
    "labels",
    "labelSelector",
    "legacySortOptions",
    "literals",
    "metadata",
    "name",
    "namePrefix",
    "nameReference",
    "namespace",
    "nameSuffix",
    "newName",
    "newTag",
    "objref",
    "openapi",
    "options",
    "order",
    "orderFirst",
    "orderLast",
    "pairs",
    "patch",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "path",
    "paths",
    "prefix",
    "projectId",
    "reject",
    "replacements",
    "replica",
    "replicas",
    "resources",
    "secretGenerator",
    "select",
    "selector",
    "serviceAccount",
    "setRoleBindingSubjects",
    "sortOptions",
    "source",
    "sourceValue",
    "suffix",
    "tagSuffix",
    "target",
    "targetFilePath",
    "targets",
    "templateLabels",
    "transformers",
    "type",
    "unsetOnly",
    "validators",
    "value",
    "varReference",
    "vars",
    "version",
];

/// Maps whose keys are the user's.
const OWN_KEYS: &[&str] = &[
    "pairs",
    "commonLabels",
    "commonAnnotations",
    "labels",
    "annotations",
    "openapi",
];

/// Fields that are no texts.
const NO_TEXTS: &[&str] = &[
    "allowKindChange",
    "allowNameChange",
    "count",
    "create",
    "disableNameSuffixHash",
    "filePathPosition",
    "immutable",
    "includeSelectors",
    "includeTemplates",
    "index",
    "unsetOnly",
];

/// Brings keys to the spelling that the types have, and drops those with nothing behind them.
pub(crate) fn canonical(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let mut spelled = Map::new();
            for (key, mut value) in std::mem::take(map) {
                if value.is_null() {
                    continue;
                }
                let known = KEYS.iter().find(|known| known.eq_ignore_ascii_case(&key));
                let name = known.map_or_else(|| key.clone(), |known| (*known).to_owned());
                let users = OWN_KEYS.contains(&name.as_str()) && value.is_object();
                if users {
                    // Nothing behind a key of the user's is an empty text.
                    for value in value.as_object_mut().into_iter().flat_map(|map| map.values_mut()) {
                        if value.is_null() {
                            *value = Value::String(String::new());
                        }
                    }
                } else {
                    canonical(&mut value);
                }
                // A key that is spelled right wins over one that is not.
                if name == key || !spelled.contains_key(&name) {
                    spelled.insert(name, value);
                }
            }
            *map = spelled;
        }
        Value::Array(items) => items.iter_mut().for_each(canonical),
        _ => {}
    }
}

/// Makes texts of numbers and booleans where texts are meant.
pub(crate) fn texts(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if !NO_TEXTS.contains(&key.as_str()) {
                    texts(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(texts),
        Value::Number(_) | Value::Bool(_) => *value = Value::String(value.to_string()),
        Value::String(_) | Value::Null => {}
    }
}

/// The first key of what was written that is not part of what was read, with the way to it.
pub(crate) fn unknown(written: &Value, read: &Value) -> Option<String> {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => written.iter().find_map(|(key, value)| match read.get(key) {
            None => Some(key.clone()),
            Some(read) => unknown(value, read).map(|inner| format!("{key}.{inner}")),
        }),
        (Value::Array(written), Value::Array(read)) => written
            .iter()
            .zip(read)
            .find_map(|(written, read)| unknown(written, read)),
        _ => None,
    }
}
