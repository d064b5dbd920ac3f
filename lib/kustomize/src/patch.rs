//! Patches: which objects one is for, and its application in either form.

use kubeschema::schema::Type;
use kubeschema::selector::LabelSelector;
use regex::Regex;
use serde_json::Value;

use crate::kustomization::Selector;
use crate::merge::{self, Left};
use crate::resource::{Resource, effective};

/// A patch, read.
#[derive(Debug)]
pub(crate) enum Content {
    /// Partial objects.
    Strategic(Vec<Value>),
    /// Operations, as a list.
    Json(Value),
}

impl Content {
    /// Reads a patch: a list is JSON patch operations, anything else partial objects.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let documents = goyaml::parse_documents_with(goyaml::Dialect::V3, text).map_err(|error| error.to_string())?;
        let mut values: Vec<Value> = documents.into_iter().map(|document| document.value).collect();
        match values.first() {
            None => Err("the patch is empty".to_owned()),
            Some(Value::Array(_)) if values.len() == 1 => Ok(Self::Json(values.remove(0))),
            _ if values.iter().all(Value::is_object) => Ok(Self::Strategic(values)),
            _ => Err("a patch is a list of operations or a partial object".to_owned()),
        }
    }
}

/// A compiled target.
pub(crate) struct Target {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    name: Option<Regex>,
    namespace: Option<Regex>,
    labels: Option<LabelSelector>,
    annotations: Option<LabelSelector>,
}

impl Target {
    pub(crate) fn new(selector: &Selector) -> Result<Self, String> {
        let pattern = |text: &str| {
            // Patterns hold for the whole text.
            let anchored = format!("^(?:{text})$");
            (!text.is_empty())
                .then(|| Regex::new(&anchored).map_err(|error| error.to_string()))
                .transpose()
        };
        let labels = |text: &str| {
            (!text.is_empty())
                .then(|| LabelSelector::parse(text).map_err(|error| error.to_string()))
                .transpose()
        };
        Ok(Self {
            group: pattern(&selector.group)?,
            version: pattern(&selector.version)?,
            kind: pattern(&selector.kind)?,
            name: pattern(&selector.name)?,
            namespace: pattern(&selector.namespace)?,
            labels: labels(&selector.label_selector)?,
            annotations: labels(&selector.annotation_selector)?,
        })
    }

    pub(crate) fn selects(&self, resource: &Resource) -> bool {
        let fits = |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
        let (group, version) = resource.group_version();
        let listed = |selector: &Option<LabelSelector>, pointer: &str| {
            let empty = Value::Null;
            let labels = resource.object.pointer(pointer).unwrap_or(&empty);
            selector.as_ref().is_none_or(|selector| selector.matches(labels))
        };
        fits(&self.group, group)
            && fits(&self.version, version)
            && fits(&self.kind, resource.kind())
            && resource
                .identities()
                .any(|(name, namespace)| fits(&self.name, name) && fits(&self.namespace, effective(namespace)))
            && listed(&self.labels, "/metadata/labels")
            && listed(&self.annotations, "/metadata/annotations")
    }
}

/// Applies a partial object to one object; whether it is still there. Who the object is stays, unless allowed.
pub(crate) fn strategic(resource: &mut Resource, patch: &Value, names: bool, kinds: bool) -> Left {
    let schema = kubeschema::kinds::schema_of(resource.text("/apiVersion"), resource.kind());
    let (kind, name, namespace) = (
        resource.kind().to_owned(),
        resource.name().to_owned(),
        resource.namespace().to_owned(),
    );
    let version = resource.text("/apiVersion").to_owned();
    let (Some(target), Some(patch)) = (resource.object.as_object_mut(), patch.as_object()) else {
        return Left::Merged;
    };
    if merge::apply(schema.unwrap_or_else(|| Type::any()), target, patch) == Left::Deleted {
        return Left::Deleted;
    }
    if !kinds {
        target.insert("kind".to_owned(), kind.into());
        target.insert("apiVersion".to_owned(), version.into());
    }
    let changed = resource.name().to_owned();
    if names && changed != name {
        resource.metadata().insert("name".to_owned(), name.as_str().into());
        resource.rename(&changed);
    } else {
        resource.metadata().insert("name".to_owned(), name.into());
    }
    if namespace.is_empty() {
        resource.metadata().remove("namespace");
    } else {
        resource.metadata().insert("namespace".to_owned(), namespace.into());
    }
    Left::Merged
}

/// Whether a partial object names a resource, under any of its names.
pub(crate) fn is_for(patch: &Value, resource: &Resource) -> bool {
    let text = |pointer: &str| patch.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (group, _) = resource.group_version();
    let (wanted, _) = text("/apiVersion").split_once('/').unwrap_or(("", ""));
    text("/kind") == resource.kind()
        && wanted == group
        && resource.identities().any(|(name, namespace)| {
            name == text("/metadata/name") && effective(namespace) == effective(text("/metadata/namespace"))
        })
}
