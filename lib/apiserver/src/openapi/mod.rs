//! OpenAPI v3 documents, as far as clients need them to write: which kinds can be patched and with which parameters.
//!
//! Schemas are those of the built-in types without their descriptions, and those of custom resources.

pub(crate) mod v2;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::registry::{Registry, Resource};

/// The version of Kubernetes that is spoken.
const VERSION: &str = "v1.36.3";

/// Where the descriptions are that the schemas here leave out.
const REFERENCE: &str = "see https://kubernetes.io/docs/reference/kubernetes-api/";

/// Parameters of a patch.
const PATCH: &[&str] = &["dryRun", "fieldManager", "fieldValidation", "force"];

/// Parameters of other writes.
const WRITE: &[&str] = &["dryRun", "fieldManager", "fieldValidation"];

/// `/openapi/v3`.
pub(crate) fn index(registry: &Registry) -> Value {
    let mut paths = Map::new();
    for resource in registry.resources() {
        let path = root(resource).trim_start_matches('/').to_owned();
        if paths.contains_key(&path) {
            continue;
        }
        let hash = hex::encode_upper(Sha256::digest(identity(registry, resource)));
        paths.insert(
            path.clone(),
            json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={hash}")}),
        );
    }
    json!({ "paths": paths })
}

/// The document of one version of a group; none if it is not served.
pub(crate) fn document(registry: &Registry, group: &str, version: &str) -> Option<Value> {
    let mut paths = Map::new();
    let native = registry
        .resources()
        .any(|resource| resource.group == group && resource.custom.is_none());
    let mut schemas = if native { builtin(group, version) } else { Map::new() };
    for resource in registry
        .resources()
        .filter(|resource| resource.group == group && resource.version == version)
    {
        add(resource, &mut paths, &mut schemas);
    }
    if paths.is_empty() {
        return None;
    }
    Some(json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": VERSION},
        "paths": paths, "components": {"schemas": schemas},
    }))
}

/// What changes when the document of a resource's version changes.
fn identity(registry: &Registry, resource: &Resource) -> String {
    let mut text = format!("{VERSION} {}", resource.api_version());
    let same = |other: &&std::sync::Arc<Resource>| other.group == resource.group && other.version == resource.version;
    for custom in registry
        .resources()
        .filter(same)
        .filter_map(|other| other.custom.as_ref())
    {
        text.push_str(&custom.version.to_string());
        text.push_str(&custom.definition["spec"]["names"].to_string());
    }
    text
}

/// Schemas of the built-in types that a version uses; made once.
fn builtin(group: &str, version: &str) -> Map<String, Value> {
    static KNOWN: Mutex<BTreeMap<(String, String), Map<String, Value>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (group.to_owned(), version.to_owned());
    known
        .entry(key)
        .or_insert_with(|| {
            let mut schemas = kubeschema::openapi::schemas(group, version);
            for (name, schema) in &mut schemas {
                let kind = name.rsplit('.').next().unwrap_or_default();
                schema["description"] = format!("{kind}: {REFERENCE}").into();
            }
            schemas
        })
        .clone()
}

fn root(resource: &Resource) -> String {
    if resource.group.is_empty() {
        format!("/api/{}", resource.version)
    } else {
        format!("/apis/{}/{}", resource.group, resource.version)
    }
}

fn add(resource: &Resource, paths: &mut Map<String, Value>, schemas: &mut Map<String, Value>) {
    let root = root(resource);
    let collection = if resource.namespaced {
        format!("{root}/namespaces/{{namespace}}/{}", resource.plural)
    } else {
        format!("{root}/{}", resource.plural)
    };
    let mut many = Map::new();
    let mut one = Map::new();
    for verb in &resource.verbs {
        match verb.as_str() {
            "list" => drop(many.insert("get".to_owned(), operation(resource, "list", &[]))),
            "create" => drop(many.insert("post".to_owned(), operation(resource, "post", WRITE))),
            "deletecollection" => drop(many.insert(
                "delete".to_owned(),
                operation(resource, "deletecollection", &["dryRun"]),
            )),
            "get" => drop(one.insert("get".to_owned(), operation(resource, "get", &[]))),
            "update" => drop(one.insert("put".to_owned(), operation(resource, "put", WRITE))),
            "patch" => drop(one.insert("patch".to_owned(), operation(resource, "patch", PATCH))),
            "delete" => drop(one.insert("delete".to_owned(), operation(resource, "delete", &["dryRun"]))),
            _ => {}
        }
    }
    if !many.is_empty() {
        paths.insert(collection.clone(), many.into());
    }
    if !one.is_empty() {
        paths.insert(format!("{collection}/{{name}}"), one.into());
    }
    if let Some(custom) = &resource.custom {
        let mut schema = custom.version["schema"]["openAPIV3Schema"].clone();
        if schema.is_object() {
            schema["x-kubernetes-group-version-kind"] = json!([kind(resource)]);
            let group: Vec<&str> = resource.group.split('.').rev().collect();
            schemas.insert(
                format!("{}.{}.{}", group.join("."), resource.version, resource.kind),
                schema,
            );
        }
    }
}

fn kind(resource: &Resource) -> Value {
    json!({"group": resource.group, "version": resource.version, "kind": resource.kind})
}

fn operation(resource: &Resource, action: &str, parameters: &[&str]) -> Value {
    let parameters: Vec<Value> = parameters
        .iter()
        .map(|name| {
            let kind = if *name == "force" { "boolean" } else { "string" };
            json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}})
        })
        .collect();
    json!({
        "parameters": parameters, "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": action, "x-kubernetes-group-version-kind": kind(resource),
    })
}
