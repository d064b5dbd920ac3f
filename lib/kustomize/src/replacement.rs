//! Replacements: a value of one object copied into fields of others, whole or as one part of a text, also into JSON and
//! YAML that stands in a text.

use goyaml::{Dialect, json};
use serde_json::Value;

use crate::bound::Budget;
use crate::id::{Gvk, Id};
use crate::kustomization::{FieldOptions, Replacement, ReplacementTarget, Selector, Source};
use crate::node::{Node, Scalar, Tag};
use crate::path::{self, Make, Slot};
use crate::resource::Resource;
use crate::select::Target;

const DEFAULT_FIELD: &str = "metadata.name";

/// Carries out one replacement.
///
/// # Errors
/// Which part of it is wrong, and why.
pub(crate) fn apply(resources: &mut [Resource], replacement: &Replacement, budget: &Budget) -> Result<(), String> {
    let Some(targets) = &replacement.targets else {
        return Err("targets: at least one is needed".to_owned());
    };
    let value = match (&replacement.source, &replacement.source_value) {
        (Some(_), Some(_)) => return Err("source and sourceValue exclude one another".to_owned()),
        (None, None) => return Err("source: it is needed".to_owned()),
        (None, Some(text)) => Node::plain(text),
        (Some(source), None) => found(resources, source).map_err(|message| format!("source: {message}"))?,
    };
    for (index, target) in targets.iter().enumerate() {
        copy(resources, &value, target, budget).map_err(|message| format!("targets[{index}].{message}"))?;
    }
    Ok(())
}

fn found(resources: &[Resource], source: &Source) -> Result<Node, String> {
    let selector = Id {
        gvk: Gvk {
            group: source.group.clone(),
            version: source.version.clone(),
            kind: source.kind.clone(),
        },
        name: source.name.clone(),
        namespace: source.namespace.clone(),
    };
    let is = |resource: &&Resource| resource.ids().iter().any(|id| id.is_selected(&selector));
    let chosen: Vec<&Resource> = resources.iter().filter(is).collect();
    let [resource] = chosen.as_slice() else {
        return Err(format!("{} objects are selected, one is needed", chosen.len()));
    };
    let field = if source.field_path.is_empty() {
        DEFAULT_FIELD
    } else {
        &source.field_path
    };
    let missing = || format!("object {} has no field '{field}'", resource.id());
    let node = path::find(&resource.object, &path::split(field)).map_err(|message| format!("{field}: {message}"))?;
    let node = node.filter(|node| !node.is_empty()).ok_or_else(missing)?;
    let Some(options) = source.options.as_ref().filter(|options| !options.delimiter.is_empty()) else {
        return Ok(node.clone());
    };
    let Node::Scalar(scalar) = node else {
        return Err(format!("a delimiter needs a text, field '{field}' is {}", node.shape()));
    };
    let index = usize::try_from(options.index).ok();
    let part = index.and_then(|index| scalar.text.split(options.delimiter.as_str()).nth(index));
    match part {
        Some(part) => Ok(Node::tagged(part, scalar.tag)),
        None => Err(format!("'{}' has no part {}", scalar.text, options.index)),
    }
}

fn copy(resources: &mut [Resource], value: &Node, target: &ReplacementTarget, budget: &Budget) -> Result<(), String> {
    let Some(select) = &target.select else {
        return Err("select: it is needed".to_owned());
    };
    let select = Target::new(select).map_err(|message| format!("select: {message}"))?;
    let mut rejects = Vec::new();
    for reject in &target.reject {
        let compiled = Target::new(reject).map_err(|message| format!("reject: {message}"))?;
        rejects.push((compiled, says_who(reject), says_marks(reject)));
    }
    let default = [DEFAULT_FIELD.to_owned()];
    let fields: &[String] = if target.field_paths.is_empty() {
        &default
    } else {
        &target.field_paths
    };
    for resource in resources {
        let ids = resource.ids();
        let rejected = rejects.iter().any(|(reject, who, marks)| {
            (*marks && reject.is_marked(resource)) || (*who && ids.iter().any(|id| reject.is(id)))
        });
        if rejected || !select.is_marked(resource) || !ids.iter().any(|id| select.is(id)) {
            continue;
        }
        for field in fields {
            budget.spend(value.size() * 64)?;
            set(&mut resource.object, value, field, target.options.as_ref())
                .map_err(|message| format!("fieldPaths: object {}: {message}", resource.id()))?;
        }
    }
    Ok(())
}

fn says_who(selector: &Selector) -> bool {
    let parts = [
        &selector.group,
        &selector.version,
        &selector.kind,
        &selector.name,
        &selector.namespace,
    ];
    parts.iter().any(|part| !part.is_empty())
}

fn says_marks(selector: &Selector) -> bool {
    !selector.label_selector.is_empty() || !selector.annotation_selector.is_empty()
}

fn set(object: &mut Node, value: &Node, field: &str, options: Option<&FieldOptions>) -> Result<(), String> {
    let parts = path::split(field);
    let make = options.is_some_and(|options| options.create).then(|| Make::like(value));
    if inside_text(object, &parts, make, value, options).is_some() {
        return Ok(());
    }
    let count = path::each(object, &parts, make, &mut |mut slot| put(&mut slot, value, options))
        .map_err(|message| format!("field '{field}': {message}"))?;
    if count == 0 {
        return Err(format!("there is no field '{field}'"));
    }
    Ok(())
}

/// Longest text that replacements may make.
const MAX_TEXT: usize = 4 << 20;

/// Sets one field. A single value keeps what it was, a number or a text; only its spelling changes.
fn put(slot: &mut Slot<'_>, value: &Node, options: Option<&FieldOptions>) -> Result<(), String> {
    let spelling = value.spelling().unwrap_or_default();
    let mut text = spelling.to_owned();
    if let Some(options) = options.filter(|options| !options.delimiter.is_empty()) {
        let (Some(old), Some(new)) = (slot.node.spelling(), value.spelling()) else {
            return Err("a delimiter needs texts on both sides".to_owned());
        };
        let mut parts: Vec<&str> = old.split(options.delimiter.as_str()).collect();
        match usize::try_from(options.index) {
            Err(_) => parts.insert(0, new),
            Ok(index) => match parts.get_mut(index) {
                Some(part) => *part = new,
                None => parts.push(new),
            },
        }
        text = parts.join(&options.delimiter);
    }
    if text.len() > MAX_TEXT {
        return Err(format!("the text has more than {MAX_TEXT} bytes"));
    }
    *slot.node = match &*slot.node {
        Node::Scalar(_) if slot.made => Node::plain(text),
        Node::Scalar(old) => Node::Scalar(Scalar { text, tag: old.tag }),
        Node::List(_) | Node::Map(_) => match value {
            Node::Scalar(scalar) => Node::Scalar(Scalar { text, tag: scalar.tag }),
            other => other.clone(),
        },
    };
    Ok(())
}

/// Follows a path into a document that stands in a text, and writes that back. `None` if it does not lead there.
fn inside_text(
    object: &mut Node,
    parts: &[String],
    make: Option<Make>,
    value: &Node,
    options: Option<&FieldOptions>,
) -> Option<()> {
    let is_text = |length: &usize| {
        let way = parts.get(..*length).unwrap_or_default();
        matches!(path::find(object, way), Ok(Some(Node::Scalar(_))))
    };
    let length = (1..parts.len()).find(is_text)?;
    let (way, rest) = parts.split_at(length);
    let text = path::find(object, way).ok()??.spelling()?.to_owned();
    let tree = goyaml::tree::documents(&text).ok()?.into_iter().next()?.0;
    let mut document = Node::read(tree).ok()?;
    document
        .as_map()
        .map(|_| ())
        .or_else(|| document.as_list().map(|_| ()))?;
    let count = path::each(&mut document, rest, make, &mut |mut slot| {
        put(&mut slot, value, options)
    })
    .ok()?;
    if count == 0 {
        return None;
    }
    let written = written(&document, &text)?;
    let mut write = |slot: Slot<'_>| {
        *slot.node = Node::Scalar(Scalar {
            text: written.clone(),
            tag: Tag::Text,
        });
        Ok(())
    };
    path::each(object, way, None, &mut write).ok().map(|_| ())
}

/// A document as text, in the form it had: JSON on one line or several, or YAML.
fn written(document: &Node, before: &str) -> Option<String> {
    if !before.trim_start().starts_with(['{', '[']) {
        let mut lines = String::new();
        yaml(document, 0, &mut lines).ok()?;
        return Some(lines.trim().to_owned());
    }
    let value = document.value().ok()?;
    if before.contains('\n') && before.contains("  ") {
        let pretty = serde_json::to_string_pretty(&value).ok()?;
        let escaped = pretty
            .replace('&', "\\u0026")
            .replace('<', "\\u003c")
            .replace('>', "\\u003e");
        return Some(escaped);
    }
    Some(json::to_string(&value))
}

/// YAML in the order of the document.
fn yaml(node: &Node, indent: usize, out: &mut String) -> Result<(), String> {
    let pad = " ".repeat(indent);
    let scalar = |node: &Node| -> Result<String, String> {
        let value: Value = node.value()?;
        let text = goyaml::to_yaml_with(Dialect::V3, &value).map_err(|error| error.to_string())?;
        Ok(text.trim_end_matches('\n').replace('\n', &format!("\n{pad}")))
    };
    match node {
        Node::Map(map) if !map.is_empty() => {
            for (key, value) in map {
                let key = scalar(&Node::text(key))?;
                match value {
                    Node::Scalar(_) => out.push_str(&format!("{pad}{key}: {}\n", scalar(value)?)),
                    value if value.is_empty() => out.push_str(&format!("{pad}{key}: {}\n", scalar(value)?)),
                    Node::List(_) => {
                        out.push_str(&format!("{pad}{key}:\n"));
                        yaml(value, indent, out)?;
                    }
                    Node::Map(_) => {
                        out.push_str(&format!("{pad}{key}:\n"));
                        yaml(value, indent + 2, out)?;
                    }
                }
            }
        }
        Node::List(items) if !items.is_empty() => {
            for item in items {
                let mut inner = String::new();
                yaml(item, indent + 2, &mut inner)?;
                let inner = inner.get(indent + 2..).unwrap_or_default();
                out.push_str(&format!("{pad}- {inner}"));
            }
        }
        other => out.push_str(&format!("{pad}{}\n", scalar(other)?)),
    }
    Ok(())
}
