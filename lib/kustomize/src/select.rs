//! Which objects a target means: patterns for kind, name and namespace, selectors for labels and annotations.

use kubeschema::selector::LabelSelector;
use regex::Regex;
use serde_json::{Map, Value};

use crate::id::{Gvk, Id};
use crate::kustomization::Selector;
use crate::resource::Resource;

/// A selector, ready to be asked.
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
    /// # Errors
    /// A pattern or a selector that cannot be read.
    pub(crate) fn new(selector: &Selector) -> Result<Self, String> {
        let pattern = |what: &str, text: &str| {
            // Patterns hold for the whole text.
            let anchored = format!("^(?:{text})$");
            let read = || Regex::new(&anchored).map_err(|_| format!("{what}: '{text}' is no pattern"));
            (!text.is_empty()).then(read).transpose()
        };
        let labels = |what: &str, text: &str| {
            let read = || LabelSelector::parse(text).map_err(|error| format!("{what}: {error}"));
            (!text.is_empty()).then(read).transpose()
        };
        Ok(Self {
            group: pattern("group", &selector.group)?,
            version: pattern("version", &selector.version)?,
            kind: pattern("kind", &selector.kind)?,
            name: pattern("name", &selector.name)?,
            namespace: pattern("namespace", &selector.namespace)?,
            labels: labels("labelSelector", &selector.label_selector)?,
            annotations: labels("annotationSelector", &selector.annotation_selector)?,
        })
    }

    fn is_kind(&self, gvk: &Gvk) -> bool {
        fits(self.group.as_ref(), &gvk.group)
            && fits(self.version.as_ref(), &gvk.version)
            && fits(self.kind.as_ref(), &gvk.kind)
    }

    /// Whether a patch is meant for an object, by its first or its present name and namespace.
    pub(crate) fn selects(&self, resource: &Resource) -> bool {
        let (first, now) = (resource.original_id(), resource.id());
        let either = |pattern: &Option<Regex>, of: fn(&Id) -> &str| {
            fits(pattern.as_ref(), of(&first)) || fits(pattern.as_ref(), of(&now))
        };
        either(&self.namespace, Id::effective_namespace)
            && either(&self.name, |id| &id.name)
            && self.is_kind(&now.gvk)
            && self.is_marked(resource)
    }

    /// Whether one identity of an object is meant, its namespace taken as it is written.
    pub(crate) fn is(&self, id: &Id) -> bool {
        self.is_kind(&id.gvk) && fits(self.name.as_ref(), &id.name) && fits(self.namespace.as_ref(), &id.namespace)
    }

    /// Whether labels and annotations of an object are those that are asked for.
    pub(crate) fn is_marked(&self, resource: &Resource) -> bool {
        let has = |selector: &Option<LabelSelector>, what: &str| {
            selector.as_ref().is_none_or(|selector| {
                let texts = resource.texts(what).into_iter();
                let map: Map<String, Value> = texts.map(|(key, text)| (key, Value::String(text))).collect();
                selector.matches(&Value::Object(map))
            })
        };
        has(&self.labels, "labels") && has(&self.annotations, "annotations")
    }
}

fn fits(pattern: Option<&Regex>, text: &str) -> bool {
    pattern.is_none_or(|pattern| pattern.is_match(text))
}
