//! Rendered text becomes documents; those with a hook annotation are hooks.
//!
//! Upstream concept: Helm's splitting and sorting of manifests.

use serde_json::Value;

use crate::order;
use crate::render::Manifest;

/// The annotation that makes an object a hook; its value lists events.
pub const EVENTS: &str = "helm.sh/hook";
/// The order among hooks of one event.
pub const WEIGHT: &str = "helm.sh/hook-weight";
/// When a hook's object is deleted.
pub const DELETE_POLICY: &str = "helm.sh/hook-delete-policy";
/// When a hook's log is shown.
pub const LOG_POLICY: &str = "helm.sh/hook-output-log-policy";

/// Why rendered text cannot be split.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A document is no YAML.
    #[error("YAML parse error on {path}: {source}")]
    Parse {
        /// The template.
        path: String,
        /// What the parser said.
        source: goyaml::Error,
    },
}

/// One document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The template it comes from.
    pub path: String,
    /// Its text, without separators.
    pub text: String,
    /// Its content.
    pub object: Value,
}

impl Document {
    /// The object's kind; empty if it has none.
    pub fn kind(&self) -> &str {
        self.object.get("kind").and_then(Value::as_str).unwrap_or("")
    }
}

/// A hook.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// The object.
    pub document: Document,
    /// `pre-install`, `post-upgrade`, …, as given.
    pub events: Vec<String>,
    /// Lower ones run first.
    pub weight: i64,
    /// `before-hook-creation`, `hook-succeeded`, `hook-failed`.
    pub delete_policies: Vec<String>,
    /// The same words, for logs.
    pub log_policies: Vec<String>,
}

/// All documents of a render.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Split {
    /// In the order in which they are installed.
    pub objects: Vec<Document>,
    /// In the order in which they were found.
    pub hooks: Vec<Hook>,
}

/// Cuts a text at its `---` lines; blank documents fall away.
pub fn documents(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("---") {
            found.push(&text[start..at]);
            start = at + 3;
        }
        at += line.len();
    }
    found.push(&text[start.min(text.len())..]);
    found
        .into_iter()
        .map(str::trim)
        .filter(|document| !document.is_empty())
        .collect()
}

/// Splits manifests into objects and hooks.
///
/// # Errors
/// A document is no YAML.
pub fn split(manifests: &[Manifest]) -> Result<Split, Error> {
    let mut split = Split::default();
    for manifest in manifests {
        for text in documents(&manifest.text) {
            let path = manifest.path.clone();
            let object = goyaml::parse(text).map_err(|source| Error::Parse {
                path: path.clone(),
                source,
            })?;
            let document = Document {
                path,
                text: text.to_owned(),
                object,
            };
            match recognise(&document) {
                Some(hook) => split.hooks.push(hook),
                None if document.object.is_null() => {}
                None => split.objects.push(document),
            }
        }
    }
    split
        .objects
        .sort_by(|left, right| order::install(left.kind()).cmp(&order::install(right.kind())));
    split
        .hooks
        .sort_by(|left, right| order::install(left.document.kind()).cmp(&order::install(right.document.kind())));
    Ok(split)
}

/// The hook a document is, if it is one.
pub fn recognise(document: &Document) -> Option<Hook> {
    let annotations = document.object.get("metadata")?.get("annotations")?;
    let words = |key: &str| -> Vec<String> {
        let text = annotations.get(key).and_then(Value::as_str).unwrap_or("");
        text.split(',')
            .map(|word| word.trim().to_lowercase())
            .filter(|word| !word.is_empty())
            .collect()
    };
    annotations.get(EVENTS)?.as_str()?;
    Some(Hook {
        document: document.clone(),
        events: words(EVENTS),
        weight: annotations
            .get(WEIGHT)
            .and_then(Value::as_str)
            .and_then(|weight| weight.parse().ok())
            .unwrap_or(0),
        delete_policies: words(DELETE_POLICY),
        log_policies: words(LOG_POLICY),
    })
}
