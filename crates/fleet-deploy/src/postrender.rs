//! From rendered templates and plain manifests to the objects of a release: kustomize, labels
//! that tie every object to its bundle, forced namespaces, and the split into hooks and
//! manifest. Pure; which kinds are cluster-scoped is asked by [`namespaced_check`]'s caller.
//! Mirrors upstream's post-renderer and Helm 4's way of feeding it hooks and templates alike.

use std::collections::BTreeMap;

use fleet_api::{BundleDeploymentOptions, labels, names};
use helm::document::EVENTS;
use helm::release::{Hook, HookRun};
use serde_json::Value;

use crate::assemble::{Assembled, RAW};
use crate::content::Resource;
use crate::object;

/// Annotation that remembers through kustomize which template a document came from.
const ORIGIN: &str = "postrenderer.helm.sh/postrender-filename";
/// Annotation that keeps an object when its release goes.
const POLICY: &str = "helm.sh/resource-policy";

/// Why the objects cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A rendered template is not YAML.
    #[error("error merging manifests: parsing {path}: MalformedYAMLError: yaml: line {}: {}", .cause.line, .cause.message)]
    Template {
        /// The template.
        path: String,
        /// Cause; part of the text, as everywhere in this crate where a file is named.
        cause: goyaml::Error,
    },
    /// A plain manifest is not YAML.
    #[error("error while running post render on files: {path}: yaml: line {}: {}", .cause.line, .cause.message)]
    Raw {
        /// The file.
        path: String,
        /// Cause.
        cause: goyaml::Error,
    },
    /// A document that is no object.
    #[error("error while running post render on files: {path}: a document is {what}, not an object")]
    NoObject {
        /// The file.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// Kustomize refuses.
    #[error("error while running post render on files: {0}")]
    Kustomize(String),
    /// An object cannot be written as YAML.
    #[error("write manifest of {path}")]
    Write {
        /// The file.
        path: String,
        /// Cause.
        #[source]
        source: goyaml::Error,
    },
}

/// A rendered template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// `chart/templates/file.yaml`.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// One object with the file it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// As shown after `# Source:`.
    pub source: String,
    /// The object.
    pub object: Value,
}

/// The identity written on every object of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectSet {
    /// Annotation value.
    pub id: String,
    /// Label value.
    pub hash: String,
}

impl ObjectSet {
    /// The set of a BundleDeployment as seen by an agent with the given scope (mostly empty).
    #[must_use]
    pub fn of(deployment: &str, scope: &str) -> Self {
        let id = match (deployment.starts_with("fleet-agent"), scope) {
            (true, "") => "fleet-agent-bootstrap".to_owned(),
            (true, scope) => names::safe_concat(&["fleet-agent-bootstrap", scope]),
            (false, "") => names::safe_concat(&["default", deployment]),
            (false, scope) => names::safe_concat(&["default", deployment, scope]),
        };
        Self::from_id(id)
    }

    /// The set `fleet deploy --dry-run` writes: without a default namespace in its name.
    #[must_use]
    pub fn of_template(deployment: &str) -> Self {
        if deployment.starts_with("fleet-agent") {
            return Self::of(deployment, "");
        }
        Self::from_id(names::safe_concat(&["", deployment]))
    }

    fn from_id(id: String) -> Self {
        let hash = names::object_set_hash(&id, "", "", "");
        Self { id, hash }
    }
}

/// What became of the files.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// In the order they are installed.
    pub documents: Vec<Document>,
    /// In the order they were rendered.
    pub hooks: Vec<Hook>,
}

/// Makes the objects.
///
/// # Errors
/// The file that cannot be read, or what kustomize refuses.
pub fn post_render(
    rendered: &[Rendered],
    assembled: &Assembled,
    resources: &[Resource],
    options: &BundleDeploymentOptions,
    set: &ObjectSet,
) -> Result<Vec<Document>, Error> {
    let mut objects = templates(rendered)?;
    if let Some(kustomized) = crate::kustomization::run(&objects, resources, options)? {
        objects = kustomized;
    }
    for (path, data) in assembled.raw() {
        raw(path, &String::from_utf8_lossy(data), &mut objects)?;
    }
    let mut documents = Vec::with_capacity(objects.len());
    for (index, mut object) in objects.into_iter().enumerate() {
        let source = object::annotation(&object, ORIGIN)
            .map_or_else(|| format!("generated-by-postrender-{index}.yaml"), str::to_owned);
        object::remove_annotation(&mut object, ORIGIN);
        object::set_label(&mut object, labels::OBJECT_SET_HASH, &set.hash);
        object::set_annotation(&mut object, labels::OBJECT_SET_ID, &set.id);
        if object::kind(&object) == "CustomResourceDefinition" && !options.delete_crd_resources {
            object::set_annotation(&mut object, POLICY, "keep");
        }
        documents.push(Document { source, object });
    }
    Ok(documents)
}

/// Documents of rendered templates, each marked with its template.
fn templates(rendered: &[Rendered]) -> Result<Vec<Value>, Error> {
    let mut objects = Vec::new();
    for file in rendered {
        let documents = goyaml::parse_documents(&file.text).map_err(|cause| Error::Template {
            path: file.path.clone(),
            cause,
        })?;
        for document in documents {
            match document.value {
                Value::Null => {}
                value @ Value::Object(_) => {
                    for mut object in object::flatten(value) {
                        object::set_annotation(&mut object, ORIGIN, &file.path);
                        objects.push(object);
                    }
                }
                other => {
                    return Err(Error::NoObject {
                        path: file.path.clone(),
                        what: what(&other),
                    });
                }
            }
        }
    }
    Ok(objects)
}

fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Objects of one plain manifest; documents without kind or version are no objects and are
/// passed over.
fn raw(path: &str, text: &str, objects: &mut Vec<Value>) -> Result<(), Error> {
    let name = path.strip_prefix(RAW).unwrap_or(path);
    let documents = goyaml::parse_documents(text).map_err(|cause| Error::Raw {
        path: name.to_owned(),
        cause,
    })?;
    for document in documents {
        add(document.value, name, objects)?;
    }
    Ok(())
}

fn add(value: Value, name: &str, objects: &mut Vec<Value>) -> Result<(), Error> {
    match value {
        Value::Null => Ok(()),
        value @ Value::Object(_) => {
            let whole = |object: &Value| !object::kind(object).is_empty() && !object::api_version(object).is_empty();
            objects.extend(object::flatten(value).into_iter().filter(whole));
            Ok(())
        }
        other => Err(Error::NoObject {
            path: name.to_owned(),
            what: what(&other),
        }),
    }
}

/// Splits hooks from the rest and sorts the rest by kind for installation, files in order of
/// their names.
///
/// # Errors
/// [`Error::Write`].
pub fn sort(documents: Vec<Document>) -> Result<Objects, Error> {
    let mut by_file: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for document in documents {
        by_file.entry(document.source).or_default().push(document.object);
    }
    let mut objects = Objects::default();
    for (source, list) in by_file {
        for object in list {
            match object::annotation(&object, "helm.sh/hook") {
                Some(events) => {
                    let hook = hook(&source, &object, events)?;
                    objects.hooks.extend(hook);
                }
                None => objects.documents.push(Document {
                    source: source.clone(),
                    object,
                }),
            }
        }
    }
    objects.documents.sort_by(|a, b| {
        helm::order::install(object::kind(&a.object)).cmp(&helm::order::install(object::kind(&b.object)))
    });
    objects.hooks.sort_by_key(|hook| helm::order::install(&hook.kind));
    Ok(objects)
}

fn words(text: &str) -> Vec<String> {
    text.split(',')
        .map(|word| word.trim().to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

/// The hook an object declares; `None` if it names an event that is not known: such an object is
/// neither a hook nor part of the release.
fn hook(source: &str, object: &Value, events: &str) -> Result<Option<Hook>, Error> {
    let events: Vec<String> = words(events)
        .into_iter()
        .map(|event| {
            if event == "test-success" {
                "test".to_owned()
            } else {
                event
            }
        })
        .collect();
    if events.is_empty() || events.iter().any(|event| !EVENTS.contains(&event.as_str())) {
        return Ok(None);
    }
    let manifest = goyaml::to_yaml(object).map_err(|error| Error::Write {
        path: source.to_owned(),
        source: error,
    })?;
    let annotation = |key: &str| object::annotation(object, key).unwrap_or_default();
    Ok(Some(Hook {
        name: object::name(object).to_owned(),
        kind: object::kind(object).to_owned(),
        path: source.to_owned(),
        manifest,
        events,
        last_run: HookRun::default(),
        weight: annotation("helm.sh/hook-weight").trim().parse().unwrap_or_default(),
        delete_policies: words(annotation("helm.sh/hook-delete-policy")),
        output_log_policies: words(annotation("helm.sh/hook-output-log-policy")),
    }))
}

/// The release record's manifest.
///
/// # Errors
/// [`Error::Write`].
pub fn manifest(documents: &[Document]) -> Result<String, Error> {
    let mut text = String::new();
    for document in documents {
        let yaml = goyaml::to_yaml(&document.object).map_err(|source| Error::Write {
            path: document.source.clone(),
            source,
        })?;
        text.push_str("---\n# Source: ");
        text.push_str(&document.source);
        text.push('\n');
        text.push_str(&yaml);
        if !yaml.ends_with('\n') {
            text.push('\n');
        }
    }
    Ok(text)
}

/// Objects of a release record's manifest, lists opened.
///
/// # Errors
/// The record's YAML is damaged.
pub fn objects_of(manifest: &str) -> Result<Vec<Value>, goyaml::Error> {
    Ok(goyaml::parse_documents(manifest)?
        .into_iter()
        .flat_map(|document| object::flatten(document.value))
        .filter(|object| !object::kind(object).is_empty())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(path: &str, text: &str) -> Rendered {
        Rendered {
            path: path.into(),
            text: text.into(),
        }
    }

    fn render(raw: &[(&str, &str)], templates: &[Rendered]) -> Result<Objects, Error> {
        let mut assembled = Assembled::default();
        for (name, text) in raw {
            assembled.files.insert(format!("{RAW}{name}"), text.as_bytes().to_vec());
        }
        let options = BundleDeploymentOptions::default();
        sort(post_render(
            templates,
            &assembled,
            &[],
            &options,
            &ObjectSet::of("b", ""),
        )?)
    }

    #[test]
    fn objects_are_marked_sorted_and_numbered() {
        let deployment = "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: d}\n---\n# only a comment\n";
        let map = "---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: c}\n---\nfoo: bar\n";
        let objects = render(&[("a.yaml", deployment), ("b.yaml", map)], &[]).unwrap();
        let sources: Vec<&str> = objects
            .documents
            .iter()
            .map(|document| document.source.as_str())
            .collect();
        assert_eq!(
            sources,
            ["generated-by-postrender-1.yaml", "generated-by-postrender-0.yaml"]
        );
        let first = &objects.documents[0].object;
        assert_eq!(object::annotation(first, labels::OBJECT_SET_ID), Some("default-b"));
        assert!(object::label(first, labels::OBJECT_SET_HASH).is_some());
        let text = manifest(&objects.documents).unwrap();
        assert_eq!(objects_of(&text).unwrap().len(), 2);
    }

    #[test]
    fn hooks_leave_the_manifest() {
        let text = "kind: Job\napiVersion: batch/v1\nmetadata:\n  name: j\n  annotations:\n    helm.sh/hook: pre-install, post-upgrade\n    helm.sh/hook-weight: '5'\n";
        let objects = render(&[], &[rendered("ch/templates/j.yaml", text)]).unwrap();
        assert!(objects.documents.is_empty());
        assert_eq!(objects.hooks[0].events, ["pre-install", "post-upgrade"]);
        assert_eq!(
            (objects.hooks[0].weight, objects.hooks[0].path.as_str()),
            (5, "ch/templates/j.yaml")
        );
        assert!(!objects.hooks[0].manifest.contains(ORIGIN));
    }

    #[test]
    fn an_object_with_an_unknown_hook_is_left_out() {
        let text = "kind: Job\napiVersion: batch/v1\nmetadata:\n  name: j\n  annotations:\n    helm.sh/hook: pre-install, someday\n";
        let objects = render(&[], &[rendered("ch/templates/j.yaml", text)]).unwrap();
        assert!(objects.documents.is_empty() && objects.hooks.is_empty());
    }

    #[test]
    fn an_error_names_the_file() {
        let error = render(&[("dir/a.yaml", "a: b: c")], &[]).unwrap_err();
        assert!(error.to_string().contains("dir/a.yaml"), "{error}");
        let error = render(&[("l.yaml", "- a")], &[]).unwrap_err();
        assert!(error.to_string().contains("l.yaml: a document is a list"), "{error}");
    }

    #[test]
    fn definitions_are_kept_unless_the_options_say_otherwise() {
        let text = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nmetadata: {name: x}\n";
        let objects = render(&[("a.yaml", text)], &[]).unwrap();
        assert_eq!(object::annotation(&objects.documents[0].object, POLICY), Some("keep"));
    }
}
