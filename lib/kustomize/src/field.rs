//! Walking an object along the path of a field such as `spec/template/spec/containers/image`: lists on the way are
//! entered item by item, what is missing is made where the field says so.

use crate::config::FieldSpec;
use crate::id::Gvk;
use crate::node::{Map, Node, Tag};

/// What stands at the end of a path that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Create {
    /// Nothing is made, whatever the field says.
    Nothing,
    /// An empty text.
    Text,
    /// An empty integer, to be filled in.
    Integer,
    /// An empty map.
    Map,
}

impl Create {
    fn node(self) -> Node {
        match self {
            Self::Map => Node::map(),
            Self::Text | Self::Nothing => Node::text(""),
            Self::Integer => Node::tagged("", Tag::Int),
        }
    }
}

/// Calls `change` on every value of the field, if the object is of its kind.
///
/// # Errors
/// A single value in the way; whatever `change` says.
pub(crate) fn each(
    object: &mut Node,
    field: &FieldSpec,
    create: Create,
    change: &mut dyn FnMut(&mut Node) -> Result<(), String>,
) -> Result<(), String> {
    if !Gvk::of(object).is_selected(&field.gvk) {
        return Ok(());
    }
    let parts = parts(&field.path, '/');
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let create = if field.create { create } else { Create::Nothing };
    walk(object, &parts, create, change).map_err(|message| format!("field '{}': {message}", field.path))
}

fn walk(
    node: &mut Node,
    path: &[&str],
    create: Create,
    change: &mut dyn FnMut(&mut Node) -> Result<(), String>,
) -> Result<(), String> {
    let Some((head, rest)) = path.split_first() else {
        return change(node);
    };
    if node.is_null() {
        return Ok(());
    }
    match node {
        Node::List(items) => items.iter_mut().try_for_each(|item| walk(item, path, create, change)),
        Node::Map(map) => {
            let (key, list) = match head.strip_suffix("[]") {
                Some(key) => (key, true),
                None => (*head, false),
            };
            if key.is_empty() {
                return Err("a part of the path is empty".to_owned());
            }
            if is_for_lists(key) {
                return Err(format!("'{key}' picks from a list, not from a map"));
            }
            if create != Create::Nothing && !list {
                make(map, key, rest.is_empty(), create);
            } else if list && map.get(key).is_some_and(Node::is_null) {
                map.insert(key.to_owned(), Node::List(Vec::new()));
            }
            match map.get_mut(key) {
                Some(next) => walk(next, rest, create, change),
                None => Ok(()),
            }
        }
        Node::Scalar(_) => Err("a list or a map is expected, not a single value".to_owned()),
    }
}

/// Whether a part of a path means items of a list, which no part of a field's path can: lists are entered item by item.
fn is_for_lists(part: &str) -> bool {
    matches!(part, "*" | "-") || part.parse::<usize>().is_ok() || part.starts_with('[') && part.ends_with(']')
}

fn make(map: &mut Map, key: &str, last: bool, create: Create) {
    if map.get(key).is_none_or(Node::is_null) {
        let new = if last { create.node() } else { Node::map() };
        map.insert(key.to_owned(), new);
    }
}

/// The parts of a path; a backslash before the separator makes it part of a key.
pub(crate) fn parts(path: &str, separator: char) -> Vec<String> {
    let mut pieces = path.split(separator).peekable();
    if path.starts_with(separator) {
        pieces.next();
    }
    let mut parts: Vec<String> = Vec::new();
    for piece in pieces {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(separator);
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_separator_is_part_of_a_key() {
        assert_eq!(
            parts("metadata/annotations/x.io\\/y", '/'),
            ["metadata", "annotations", "x.io/y"]
        );
        assert_eq!(parts("/spec/a", '/'), ["spec", "a"]);
        assert_eq!(parts("spec", '/'), ["spec"]);
    }
}
