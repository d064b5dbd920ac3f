//! Strategic merge as kustomize does it: like Kubernetes' by the merge keys of the object's type, but items of a patch
//! come first in the merged list, and `$retainKeys`, `$setElementOrder` and `$deleteFromPrimitiveList` mean nothing.
//!
//! A patch that makes a new map is merged with itself: that removes its nulls and follows the directives inside.

use crate::element;
use crate::node::{Map, Node};
use crate::schema::{Schema, Schemas};

pub(crate) const DIRECTIVE: &str = "$patch";

/// What a part of a patch asks for besides its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// What a merge made of two values.
#[derive(Debug)]
pub(crate) struct Merged {
    /// `None` if nothing is left.
    pub(crate) node: Option<Node>,
    /// It stands in for the old value instead of being the old value, changed.
    pub(crate) replaces: bool,
    /// A null that was written as such and stays.
    keep: bool,
}

impl Merged {
    const GONE: Merged = Merged {
        node: None,
        replaces: false,
        keep: false,
    };

    fn old(node: Node) -> Self {
        Self {
            node: Some(node),
            ..Self::GONE
        }
    }

    fn new(node: Option<Node>) -> Self {
        Self {
            node,
            replaces: true,
            keep: false,
        }
    }

    /// What is left to be stored.
    fn stored(self) -> Option<Node> {
        let keep = self.keep;
        self.node.filter(|node| keep || !node.is_null())
    }
}

/// Applies a partial object to an object; `None` if it deletes it.
///
/// # Errors
/// A map where the other has a list, and the like; directives nobody knows.
pub(crate) fn object(schemas: &Schemas, object: Node, patch: Node) -> Result<Option<Node>, String> {
    let before = object.clone();
    let merged = walk(schemas, None, Some(object), Some(patch))?;
    // An object that would be replaced as a whole stays what it was, as for the real program.
    if merged.replaces {
        return Ok(Some(before));
    }
    Ok(merged.stored())
}

/// Merges two values; either may be missing.
pub(crate) fn walk(
    schemas: &Schemas,
    schema: Option<&Schema>,
    old: Option<Node>,
    patch: Option<Node>,
) -> Result<Merged, String> {
    let found;
    let schema = match schema {
        Some(schema) => Some(schema),
        None => {
            found = own_schema(schemas, old.as_ref()).or_else(|| own_schema(schemas, patch.as_ref()));
            found.as_ref()
        }
    };
    let real = |node: &&Node| !node.is_null();
    let (a, b) = (old.as_ref().filter(real), patch.as_ref().filter(real));
    if let (Some(a), Some(b)) = (a, b)
        && a.shape() != b.shape()
    {
        return Err(format!("{} cannot be merged with {}", b.shape(), a.shape()));
    }
    match a.or(b) {
        Some(Node::Map(_)) | None => maps(schemas, schema, old, patch),
        Some(Node::List(_)) => lists(schemas, schema, old, patch),
        Some(Node::Scalar(_)) => Ok(match (old, patch) {
            (_, Some(patch)) => Merged::new(Some(patch)),
            (Some(old), None) => Merged::old(old),
            (None, None) => Merged::GONE,
        }),
    }
}

/// Objects inside of objects say themselves what they are.
fn own_schema(schemas: &Schemas, node: Option<&Node>) -> Option<Schema> {
    let node = node?;
    let (version, kind) = (node.spelling_at(&["apiVersion"]), node.spelling_at(&["kind"]));
    if version.is_empty() || kind.is_empty() {
        return None;
    }
    schemas.of(version, kind)
}

fn maps(
    schemas: &Schemas,
    schema: Option<&Schema>,
    old: Option<Node>,
    mut patch: Option<Node>,
) -> Result<Merged, String> {
    let old = match old {
        Some(Node::Map(old)) => old,
        old => {
            let directive = patch.as_mut().map(map_directive);
            if let Some(Ok(Directive::Delete)) = directive {
                return Ok(Merged::GONE);
            }
            return match (old, patch) {
                // `key: null` stays, `key:` goes.
                (Some(null), None) if !null.spelling().unwrap_or_default().is_empty() => Ok(Merged {
                    keep: true,
                    ..Merged::old(null)
                }),
                (_, Some(Node::Map(patch))) => {
                    let own = fields(schemas, schema, patch.clone(), Some(patch))?;
                    Ok(Merged::new(Some(Node::Map(own))))
                }
                (_, patch) => Ok(Merged::new(patch)),
            };
        }
    };
    let Some(mut patch) = patch else {
        return Ok(Merged::old(Node::Map(fields(schemas, schema, old, None)?)));
    };
    if patch.is_null() {
        return Ok(Merged::GONE);
    }
    let directive = map_directive(&mut patch)?;
    let Node::Map(patch) = patch else {
        return Ok(Merged::GONE);
    };
    match directive {
        Directive::Delete => Ok(Merged::GONE),
        Directive::Replace => {
            let own = fields(schemas, schema, patch.clone(), Some(patch))?;
            Ok(Merged::new(Some(Node::Map(own))))
        }
        Directive::Merge => {
            let mut old = old;
            old.shift_remove(DIRECTIVE);
            Ok(Merged::old(Node::Map(fields(schemas, schema, old, Some(patch))?)))
        }
    }
}

fn fields(schemas: &Schemas, schema: Option<&Schema>, mut old: Map, patch: Option<Map>) -> Result<Map, String> {
    let mut patch = patch.unwrap_or_default();
    let mut keys: Vec<String> = old.keys().cloned().collect();
    keys.extend(patch.keys().filter(|key| !old.contains_key(*key)).cloned());
    let mut gone = Vec::new();
    for key in keys {
        let inner = schema.and_then(|schema| schema.field(&key));
        let before = old.get_mut(&key).map(|slot| std::mem::replace(slot, Node::text("")));
        let change = patch.get_mut(&key).map(|slot| std::mem::replace(slot, Node::text("")));
        let merged = walk(schemas, inner.as_ref(), before, change).map_err(|message| {
            if message.starts_with("in ") {
                message.replacen("in ", &format!("in {key}."), 1)
            } else {
                format!("in {key}: {message}")
            }
        })?;
        match merged.stored() {
            Some(node) => {
                old.insert(key, node);
            }
            None => gone.push(key),
        }
    }
    if !gone.is_empty() {
        let gone: std::collections::BTreeSet<&String> = gone.iter().collect();
        old.retain(|key, _| !gone.contains(key));
    }
    Ok(old)
}

fn lists(schemas: &Schemas, schema: Option<&Schema>, old: Option<Node>, patch: Option<Node>) -> Result<Merged, String> {
    let Some(keys) = schema.and_then(Schema::merge_keys) else {
        return Ok(match (old, patch) {
            (_, Some(patch)) => Merged::new(Some(patch)),
            (Some(old), None) => Merged::old(old),
            (None, None) => Merged::GONE,
        });
    };
    let items = schema.and_then(Schema::items);
    let merge = |old: Vec<Node>, patch: Vec<Node>| element::lists(schemas, items.as_ref(), &keys, old, patch);
    match (old, patch) {
        (Some(Node::List(old)), None) => Ok(Merged::old(Node::List(merge(old, Vec::new())?))),
        (Some(Node::List(mut old)), Some(Node::List(mut patch))) => match list_directive(&mut patch)? {
            Directive::Delete => Ok(Merged::GONE),
            Directive::Replace => Ok(Merged::new(Some(Node::List(merge(patch.clone(), patch)?)))),
            Directive::Merge => {
                list_directive(&mut old)?;
                Ok(Merged::old(Node::List(merge(old, patch)?)))
            }
        },
        (_, Some(Node::List(patch))) => Ok(Merged::new(Some(Node::List(merge(patch.clone(), patch)?)))),
        _ => Ok(Merged::GONE),
    }
}

fn named(text: &str) -> Result<Directive, String> {
    match text {
        "merge" => Ok(Directive::Merge),
        "replace" => Ok(Directive::Replace),
        "delete" => Ok(Directive::Delete),
        other => Err(format!("{DIRECTIVE}: '{other}' is not one of merge, replace, delete")),
    }
}

/// The directive of a map, which is removed from it.
fn map_directive(patch: &mut Node) -> Result<Directive, String> {
    let Some(map) = patch.as_map_mut() else {
        return Ok(Directive::Merge);
    };
    match map.get(DIRECTIVE).map(|node| node.spelling().unwrap_or_default()) {
        None => Ok(Directive::Merge),
        Some(text) => {
            let directive = named(text)?;
            map.shift_remove(DIRECTIVE);
            Ok(directive)
        }
    }
}

/// The directive of a list: an item that is nothing else. It is removed.
fn list_directive(patch: &mut Vec<Node>) -> Result<Directive, String> {
    let Some(found) = patch.iter().find(|item| item.get(DIRECTIVE).is_some()) else {
        return Ok(Directive::Merge);
    };
    if found.as_map().is_none_or(|map| map.len() > 1) {
        return Ok(Directive::Merge);
    }
    let text = found.spelling_at(&[DIRECTIVE]).to_owned();
    let directive = named(&text)?;
    patch.retain(|item| !item.is_empty() && item.get(DIRECTIVE).and_then(Node::spelling) != Some(&text));
    Ok(directive)
}
