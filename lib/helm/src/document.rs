//! What templates printed becomes documents: split, told apart (objects, hooks), in the order of installation.
//!
//! Upstream concept: Helm's sorting of manifests. The text of a document is never changed.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::go;
use crate::order;
use crate::render::Manifest;

/// Why a printed text is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A document is no YAML, or has no shape of an object.
    #[error("YAML parse error on {path}: {message}")]
    Parse {
        /// The template.
        path: String,
        /// What the parser said.
        message: String,
    },
}

/// One document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The template it came from.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its kind; may be empty.
    pub kind: String,
    /// The events that it is a hook for; empty for an object.
    pub events: Vec<String>,
}

/// Objects and hooks, each in the order of installation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    /// What a release consists of.
    pub objects: Vec<Document>,
    /// What runs at events.
    pub hooks: Vec<Document>,
}

/// The events a hook may name; `test-success` is an older name of `test`.
pub const EVENTS: [&str; 10] = [
    "pre-install",
    "post-install",
    "pre-delete",
    "post-delete",
    "pre-upgrade",
    "post-upgrade",
    "pre-rollback",
    "post-rollback",
    "test",
    "test-success",
];

/// Splits and sorts; `manifests` are in the order of their paths.
///
/// # Errors
/// The first document that is no object.
pub fn sort<'m>(manifests: impl IntoIterator<Item = &'m Manifest>) -> Result<Documents, Error> {
    let mut found = Documents::default();
    for manifest in manifests {
        for text in split(&manifest.text) {
            let head = Head::read(text).map_err(|message| Error::Parse {
                path: manifest.path.clone(),
                message,
            })?;
            let mut document = Document {
                path: manifest.path.clone(),
                text: text.to_owned(),
                kind: head.kind,
                events: Vec::new(),
            };
            let Some(hook) = head.hook else {
                found.objects.push(document);
                continue;
            };
            let events: Vec<String> = hook.split(',').map(|event| event.trim().to_lowercase()).collect();
            // A hook for an event nobody knows is no hook, and no object either.
            if events.iter().all(|event| EVENTS.contains(&event.as_str())) {
                document.events = events;
                found.hooks.push(document);
            }
        }
    }
    found
        .objects
        .sort_by_cached_key(|document| order::install(&document.kind));
    found
        .hooks
        .sort_by_cached_key(|document| order::install(&document.kind));
    Ok(found)
}

static SEPARATOR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?:^|\s*\n)---\s*").ok());

/// The documents of a text. What surrounds a separator belongs to it, what follows the last document stays.
pub fn split(text: &str) -> Vec<&str> {
    let text = text.trim_start();
    let Some(separator) = SEPARATOR.as_ref() else {
        return vec![text];
    };
    separator
        .split(text)
        .filter(|document| !document.trim().is_empty())
        .collect()
}

struct Head {
    kind: String,
    hook: Option<String>,
}

impl Head {
    fn read(text: &str) -> Result<Self, String> {
        let wrong = |message| format!("error unmarshaling JSON: while decoding JSON: json: {message}");
        let value =
            goyaml::parse(text).map_err(|error| format!("error converting YAML to JSON: {}", error.as_go_tells()))?;
        let object = match &value {
            Value::Null => {
                return Ok(Self {
                    kind: String::new(),
                    hook: None,
                });
            }
            Value::Object(object) => object,
            other => {
                return Err(wrong(format!(
                    "cannot unmarshal {} into Go value of type util.SimpleHead",
                    go::kind(other)
                )));
            }
        };
        let word = |value: Option<&Value>, field: &str| {
            go::text(value).map_err(|found| {
                wrong(format!(
                    "cannot unmarshal {found} into Go struct field {field} of type string"
                ))
            })
        };
        // In the order of the keys, as a decoder meets them.
        word(object.get("apiVersion"), "SimpleHead.apiVersion")?;
        let kind = word(object.get("kind"), "SimpleHead.kind")?;
        let mut hook = None;
        match object.get("metadata") {
            None | Some(Value::Null) => {}
            Some(Value::Object(metadata)) => {
                match metadata.get("annotations") {
                    None | Some(Value::Null) => {}
                    Some(Value::Object(annotations)) => {
                        for (name, value) in annotations {
                            let value = word(Some(value), ".metadata.annotations")?;
                            if name == "helm.sh/hook" {
                                hook = Some(value);
                            }
                        }
                    }
                    Some(other) => {
                        return Err(wrong(format!(
                            "cannot unmarshal {} into Go struct field .metadata.annotations of type \
                             map[string]string",
                            go::kind(other)
                        )));
                    }
                }
                word(metadata.get("name"), ".metadata.name")?;
            }
            Some(other) => {
                return Err(wrong(format!(
                    "cannot unmarshal {} into Go struct field SimpleHead.metadata of type struct {{ Name string \
                     \"json:\\\"name\\\"\"; Annotations map[string]string \"json:\\\"annotations\\\"\" }}",
                    go::kind(other)
                )));
            }
        }
        Ok(Self { kind, hook })
    }
}
