//! Replacements: a value of one object copied into fields of others, whole or as one part of a text.

use serde_json::{Map, Value};

use crate::kustomization::{FieldOptions, Identity, Replacement};
use crate::resource::{Resource, effective};

/// Carries out one replacement.
///
/// # Errors
/// Which part of it is wrong, and why.
pub(crate) fn apply(resources: &mut [Resource], replacement: &Replacement) -> Result<(), (String, String)> {
    let value = source(resources, replacement).map_err(|message| ("source".to_owned(), message))?;
    for (index, target) in replacement.targets.iter().enumerate() {
        let place = |part: &str| format!("targets[{index}].{part}");
        let Some(select) = &target.select else {
            return Err((place("select"), "it is needed".to_owned()));
        };
        let selected = |resource: &Resource| {
            is(select, resource)
                && !target
                    .reject
                    .iter()
                    .any(|reject| !reject.is_empty() && is(reject, resource))
        };
        for resource in resources.iter_mut().filter(|resource| selected(resource)) {
            resource.remember();
            for path in &target.field_paths {
                let options = target.options.as_ref();
                let create = options.is_some_and(|options| options.create);
                let mut found = false;
                let mut failure = None;
                walk(&mut resource.object, &split(path), create, &mut |slot| {
                    found = true;
                    match replaced(slot, &value, options) {
                        Ok(new) => *slot = new,
                        Err(message) => failure = Some(message),
                    }
                });
                let missing = format!("object {} has no field '{path}'", resource.id());
                if let Some(message) = failure.or_else(|| (!found).then_some(missing)) {
                    return Err((place("fieldPaths"), message));
                }
            }
            forget_if_unchanged(resource);
        }
    }
    Ok(())
}

/// A name that did not change is not a former one.
fn forget_if_unchanged(resource: &mut Resource) {
    let present = (resource.name().to_owned(), resource.namespace().to_owned());
    resource.former.retain(|former| *former != present);
}

fn is(identity: &Identity, resource: &Resource) -> bool {
    let Identity {
        group,
        version,
        kind,
        name,
        namespace,
    } = identity;
    let (own_group, own_version) = resource.group_version();
    let fits = |wanted: &str, own: &str| wanted.is_empty() || wanted == own;
    fits(group, own_group)
        && fits(version, own_version)
        && fits(kind, resource.kind())
        && resource.identities().any(|(own_name, own_namespace)| {
            fits(name, own_name) && (namespace.is_empty() || effective(namespace) == effective(own_namespace))
        })
}

fn source(resources: &[Resource], replacement: &Replacement) -> Result<Value, String> {
    let Some(source) = &replacement.source else {
        return Err("it is needed".to_owned());
    };
    let found: Vec<&Resource> = resources
        .iter()
        .filter(|resource| is(&source.identity(), resource))
        .collect();
    let [resource] = found.as_slice() else {
        return Err(format!("{} objects are selected, one is needed", found.len()));
    };
    let path = if source.field_path.is_empty() {
        "metadata.name"
    } else {
        &source.field_path
    };
    let mut value = None;
    walk(&mut resource.object.clone(), &split(path), false, &mut |found| {
        value = Some(found.clone());
    });
    let Some(value) = value else {
        return Err(format!("object {} has no field '{path}'", resource.id()));
    };
    match source.options.as_ref().filter(|options| !options.delimiter.is_empty()) {
        None => Ok(value),
        Some(options) => {
            let text = scalar(&value).ok_or_else(|| format!("field '{path}' is not a text"))?;
            let mut parts = text.split(options.delimiter.as_str());
            let part = usize::try_from(options.index).ok().and_then(|index| parts.nth(index));
            part.map(Value::from)
                .ok_or_else(|| format!("'{text}' has no part {}", options.index))
        }
    }
}

/// What a field becomes.
fn replaced(field: &Value, value: &Value, options: Option<&FieldOptions>) -> Result<Value, String> {
    let Some(options) = options.filter(|options| !options.delimiter.is_empty()) else {
        return Ok(value.clone());
    };
    let (Some(old), Some(new)) = (scalar(field), scalar(value)) else {
        return Err("a delimiter needs texts on both sides".to_owned());
    };
    let mut parts: Vec<&str> = old.split(options.delimiter.as_str()).collect();
    match usize::try_from(options.index) {
        Err(_) => parts.insert(0, &new),
        Ok(index) => match parts.get_mut(index) {
            Some(part) => *part = &new,
            None => parts.push(&new),
        },
    }
    Ok(parts.join(&options.delimiter).into())
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// The parts of a path: dots separate, except within brackets and after a backslash.
fn split(path: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut brackets = 0_usize;
    let mut characters = path.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                if let (Some(next), Some(part)) = (characters.next(), parts.last_mut()) {
                    part.push(next);
                }
                continue;
            }
            '.' if brackets == 0 => {
                parts.push(String::new());
                continue;
            }
            '[' => brackets += 1,
            ']' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Calls `change` on every value at a path.
fn walk(value: &mut Value, path: &[String], create: bool, change: &mut dyn FnMut(&mut Value)) {
    let Some((head, rest)) = path.split_first() else {
        return change(value);
    };
    let inner = head.strip_prefix('[').and_then(|head| head.strip_suffix(']'));
    match value {
        Value::Array(items) => {
            if head == "*" {
                items.iter_mut().for_each(|item| walk(item, rest, create, change));
            } else if let Some((key, wanted)) = inner.and_then(|inner| inner.split_once('=')) {
                let is_wanted = |item: &Value| match item.get(key) {
                    Some(found) => scalar(found).as_deref() == Some(wanted),
                    None => key.is_empty() && scalar(item).as_deref() == Some(wanted),
                };
                if create && !items.iter().any(is_wanted) && !key.is_empty() {
                    items.push(Value::Object(Map::from_iter([(key.to_owned(), Value::from(wanted))])));
                }
                for item in items.iter_mut().filter(|item| is_wanted(item)) {
                    walk(item, rest, create, change);
                }
            } else if let Some(item) = head.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                walk(item, rest, create, change);
            }
        }
        Value::Object(map) => {
            if head == "*" {
                return map.values_mut().for_each(|value| walk(value, rest, create, change));
            }
            let key = inner.unwrap_or(head);
            if create && !map.contains_key(key) {
                let list = rest
                    .first()
                    .is_some_and(|next| next.starts_with('[') && next.contains('='));
                let new = match (rest.is_empty(), list) {
                    (true, _) => Value::Null,
                    (false, true) => Value::Array(Vec::new()),
                    (false, false) => Value::Object(Map::new()),
                };
                map.insert(key.to_owned(), new);
            }
            if let Some(next) = map.get_mut(key) {
                walk(next, rest, create, change);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
