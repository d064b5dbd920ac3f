//! Patches: reading them in either form, and their application to the objects they are for.

use serde_json::Value;

use crate::bound;
use crate::id::Id;
use crate::kustomization::{Patch, PatchOptions};
use crate::node::Node;
use crate::resource::Resource;
use crate::schema::Schemas;
use crate::select::Target;
use crate::{document, merge};

/// A patch, read.
#[derive(Debug)]
pub(crate) enum Content {
    /// Partial objects.
    Strategic(Vec<Node>),
    /// Operations, as a list.
    Json(Value),
}

/// Stands for the marks that the real program keeps in annotations, so that a path below them exists.
const MARK: &str = "internal.config.kubernetes.io/previousNames";

impl Content {
    /// Reads a patch: partial objects, or a list of JSON patch operations.
    ///
    /// # Errors
    /// It is neither.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let objects = document::read(text);
        match (objects, operations(text)) {
            (Ok(objects), Ok(Value::Array(operations))) if !objects.is_empty() && !operations.is_empty() => {
                Err("the patch is both a partial object and a list of operations".to_owned())
            }
            (Ok(objects), _) => Ok(Self::Strategic(objects)),
            (Err(_), Ok(operations)) => Ok(Self::Json(operations)),
            (Err(error), Err(_)) => Err(format!(
                "the patch is no partial object and no list of operations: {error}"
            )),
        }
    }
}

/// Reads a list of operations.
///
/// # Errors
/// It is none.
pub(crate) fn operations(text: &str) -> Result<Value, String> {
    // What looks like JSON must be JSON.
    let value = if text.starts_with('[') {
        serde_json::from_str(text).map_err(|error| error.to_string())?
    } else {
        goyaml::parse(text).map_err(|error| error.to_string())?
    };
    match value {
        Value::Null => Ok(Value::Array(Vec::new())),
        Value::Array(items) if items.iter().all(Value::is_object) => Ok(Value::Array(items)),
        _ => Err("a patch is a list of operations".to_owned()),
    }
}

/// Applies an entry of `patches`; `text` is the patch itself.
pub(crate) fn apply(schemas: &Schemas, entry: &Patch, text: &str, resources: &mut Vec<Resource>) -> Result<(), String> {
    let options = entry.options.unwrap_or_default();
    match (Content::read(text)?, &entry.target) {
        (Content::Strategic(patches), None) => untargeted(schemas, patches, options, resources),
        (Content::Strategic(patches), Some(target)) => {
            let target = Target::new(target).map_err(|message| format!("target: {message}"))?;
            let mut patches = patches.into_iter();
            let Some(patch) = patches.next() else { return Ok(()) };
            if patches.next().is_some() {
                return Err("more than one partial object in a patch with a target".to_owned());
            }
            to_all(schemas, &patch, options, resources, &|resource| {
                target.selects(resource)
            })
        }
        (Content::Json(_), None) => Err("a list of operations needs a target".to_owned()),
        (Content::Json(operations), Some(target)) => {
            let target = Target::new(target).map_err(|message| format!("target: {message}"))?;
            for resource in resources.iter_mut().filter(|resource| target.selects(resource)) {
                resource.remember();
                json(resource, &operations)?;
            }
            Ok(())
        }
    }
}

/// Partial objects that say themselves which object they are for.
fn untargeted(
    schemas: &Schemas,
    patches: Vec<Node>,
    options: PatchOptions,
    resources: &mut Vec<Resource>,
) -> Result<(), String> {
    // Deleted objects are still there for the patches that follow, as for the real program.
    let mut deleted = vec![false; resources.len()];
    for patch in patches {
        let id = Resource::new(patch.clone()).id();
        let at = unique(resources, &id, &deleted)?;
        let Some(resource) = resources.get_mut(at) else {
            continue;
        };
        let there = strategic(schemas, resource, patch, options)?;
        if let Some(mark) = deleted.get_mut(at) {
            *mark = !there;
        }
    }
    let mut deleted = deleted.into_iter();
    resources.retain(|_| !deleted.next().unwrap_or(false));
    Ok(())
}

/// Where the one object is that an identity means, under any of its names.
fn unique(resources: &[Resource], id: &Id, deleted: &[bool]) -> Result<usize, String> {
    let found: Vec<usize> = resources
        .iter()
        .enumerate()
        .filter(|(at, _)| !deleted.get(*at).copied().unwrap_or(false))
        .filter(|(_, resource)| resource.ids().iter().any(|own| own.is(id)))
        .map(|(at, _)| at)
        .collect();
    match found.as_slice() {
        [at] => Ok(*at),
        [] => Err(format!("no object matches the patch for {id}")),
        _ => Err(format!("{} objects match the patch for {id}", found.len())),
    }
}

/// Applies files of `patchesStrategicMerge`.
pub(crate) fn apply_strategic(
    schemas: &Schemas,
    patches: Vec<Node>,
    resources: &mut Vec<Resource>,
) -> Result<(), String> {
    for patch in patches {
        let id = Resource::new(patch.clone()).id();
        let at = unique(resources, &id, &[])?;
        let chosen = resources.get(at).map(Resource::id);
        let is = |resource: &Resource| Some(resource.id()) == chosen;
        to_all(schemas, &patch, PatchOptions::default(), resources, &is)?;
    }
    Ok(())
}

/// Applies a partial object to all objects that are meant, whatever name the patch says.
fn to_all(
    schemas: &Schemas,
    patch: &Node,
    options: PatchOptions,
    resources: &mut Vec<Resource>,
    is_meant: &dyn Fn(&Resource) -> bool,
) -> Result<(), String> {
    // Labels and annotations of such a patch are texts, nulls included; none at all are not deleted.
    let mut patch = Resource::new(patch.clone());
    for what in ["labels", "annotations"] {
        let texts = patch.texts(what);
        patch.set_texts(what, texts);
    }
    let namespace = patch.namespace().to_owned();
    patch.set_namespace(&namespace);
    let mut kept = Vec::with_capacity(resources.len());
    for mut resource in std::mem::take(resources) {
        if is_meant(&resource) {
            let mut patch = patch.object.clone();
            if let (Some(map), Some(version)) = (patch.as_map_mut(), resource.object.get("apiVersion")) {
                map.insert("apiVersion".to_owned(), version.clone());
            }
            if !strategic(schemas, &mut resource, patch, options)? {
                continue;
            }
        }
        kept.push(resource);
    }
    *resources = kept;
    no_twins(resources)
}

/// Names may have changed; two objects must not be the same one.
pub(crate) fn no_twins(resources: &[Resource]) -> Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    for resource in resources {
        let id = resource.id();
        let namespace = id.effective_namespace().to_owned();
        if !seen.insert((id.gvk.clone(), id.name.clone(), namespace)) {
            return Err(format!("there are two objects {id}"));
        }
    }
    Ok(())
}

/// Applies a partial object to one object; whether it is still there. Who the object is stays, unless allowed.
fn strategic(schemas: &Schemas, resource: &mut Resource, patch: Node, options: PatchOptions) -> Result<bool, String> {
    let id = resource.id();
    if options.allow_name_change || options.allow_kind_change {
        resource.remember();
    }
    let object = std::mem::replace(&mut resource.object, Node::map());
    let merged = merge::object(schemas, object, patch).map_err(|message| format!("object {id}: {message}"))?;
    let Some(object) = merged.filter(|object| !object.is_empty()) else {
        return Ok(false);
    };
    resource.object = object;
    if !options.allow_kind_change {
        resource.set_kind(&id.gvk.kind);
    }
    if !options.allow_name_change {
        resource.set_name(&id.name);
    }
    resource.set_namespace(&id.namespace);
    Ok(true)
}

/// An operation as the real program means it: what is replaced or copied in a map need not be there, places in lists
/// may be written with zeros in front, and the whole object is not a place.
fn meant(object: &Value, operation: &Value) -> Result<Value, String> {
    let mut operation = operation.clone();
    round_numbers(&mut operation);
    let kind = operation["op"].as_str().unwrap_or_default().to_owned();
    for pointer in ["path", "from"] {
        let Some(given) = operation[pointer].as_str() else {
            continue;
        };
        let whole = given.is_empty();
        let takes_no_whole = match kind.as_str() {
            "copy" | "move" => true,
            kind => kind == "add" && pointer == "path",
        };
        if whole && takes_no_whole {
            return Err(format!("{kind} operation does not apply: the {pointer} is empty"));
        }
        if whole
            && kind == "replace"
            && pointer == "path"
            && !(operation["value"].is_object() || operation["value"].is_array())
        {
            return Err("replace operation value must be object or array".to_owned());
        }
        if let Some(plain) = with_plain_indexes(object, given) {
            operation[pointer] = plain.into();
        }
    }
    let missing = |pointer: &str| {
        let parent = pointer.rsplit_once('/').map(|(parent, _)| object.pointer(parent));
        matches!(parent, Some(Some(Value::Object(_)))) && object.pointer(pointer).is_none()
    };
    let text = |key: &str| operation[key].as_str().unwrap_or_default().to_owned();
    match operation["op"].as_str() {
        Some("replace") if missing(&text("path")) => operation["op"] = "add".into(),
        Some("copy") if missing(&text("from")) => {
            operation["op"] = "add".into();
            operation["value"] = Value::Null;
        }
        _ => {}
    }
    Ok(operation)
}

/// A pointer whose places in lists are written without zeros in front; `None` if they are already.
fn with_plain_indexes(object: &Value, pointer: &str) -> Option<String> {
    let mut at = Some(object);
    let mut changed = false;
    let mut plain = String::with_capacity(pointer.len());
    for part in pointer.split('/').skip(1) {
        let index = part
            .trim_start_matches('-')
            .starts_with('0')
            .then(|| part.parse::<i64>().ok());
        let written = match (at, index.flatten()) {
            (Some(Value::Array(_)), Some(index)) => index.to_string(),
            _ => part.to_owned(),
        };
        changed |= written != part;
        at = at.and_then(|at| at.pointer(&format!("/{written}")));
        plain.push('/');
        plain.push_str(&written);
    }
    changed.then_some(plain)
}

/// Beyond this, not every integer is a float.
const EXACT: u64 = 1 << 53;

/// Whatever goes through a JSON patch has only floats for numbers.
fn round_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let large = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
            if large.is_some_and(|magnitude| magnitude > EXACT)
                && let Some(float) = number.as_f64()
            {
                *value = float.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(round_numbers),
        Value::Object(entries) => entries.values_mut().for_each(round_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Applies operations to one object.
pub(crate) fn json(resource: &mut Resource, operations: &Value) -> Result<(), String> {
    let id = resource.id();
    let failed = |message: String| format!("object {id}: {message}");
    let mut object = resource.object.value().map_err(failed)?;
    round_numbers(&mut object);
    let marked = !resource.former.is_empty() || !resource.prefixes.is_empty() || !resource.suffixes.is_empty();
    if marked
        && let Some(metadata) = object["metadata"].as_object_mut()
        && let Some(annotations) = metadata
            .entry("annotations")
            .or_insert_with(|| Value::Object(serde_json::Map::new()))
            .as_object_mut()
    {
        annotations.insert(MARK.to_owned(), "".into());
    }
    for operation in operations.as_array().into_iter().flatten() {
        let one = Value::Array(vec![meant(&object, operation).map_err(failed)?]);
        kubeschema::patch::json::apply(&mut object, &one).map_err(|error| failed(error.to_string()))?;
        if operation["op"] == "copy" {
            bound::check(&object).map_err(failed)?;
        }
    }
    bound::check(&object).map_err(failed)?;
    if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
        annotations.remove(MARK);
        if annotations.is_empty()
            && let Some(metadata) = object["metadata"].as_object_mut()
        {
            metadata.remove("annotations");
        }
    }
    if !object.is_object() {
        return Err(failed("nothing is left of it".to_owned()));
    }
    if object["metadata"].is_null() {
        object.as_object_mut().map(|map| map.remove("metadata"));
    }
    // What says who it is must still be there, and a null says nothing.
    if object.get("apiVersion").is_some_and(Value::is_null) {
        return Err(failed("its apiVersion is gone".to_owned()));
    }
    resource.object = Node::of(object);
    document::check_identity(&resource.object).map_err(failed)?;
    // The real program reads annotations as texts after every patch.
    let annotations = resource.texts("annotations");
    resource.set_texts("annotations", annotations);
    Ok(())
}
