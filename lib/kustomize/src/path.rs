//! Paths of replacements and variables such as `spec.containers.[name=app].env.0.value`: to find one value, or to
//! change all that fit and make what is missing.

use regex::Regex;

use crate::field;
use crate::node::{Map, Node, Tag};

/// The parts of a path: dots separate, except within brackets and after a backslash.
pub(crate) fn split(path: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut pieces = field::parts(path, '.').into_iter();
    while let Some(piece) = pieces.next() {
        if !piece.starts_with('[') || piece.ends_with(']') {
            parts.push(piece);
            continue;
        }
        let mut bracketed = piece;
        for piece in pieces.by_ref() {
            bracketed.push('.');
            bracketed.push_str(&piece);
            if piece.ends_with(']') {
                break;
            }
        }
        parts.push(if bracketed.contains('=') {
            bracketed
        } else {
            bracketed.trim_matches(['[', ']']).to_owned()
        });
    }
    parts
}

/// Key and value of a part such as `[name=app]`; the key may be empty.
fn condition(part: &str) -> Option<Result<(&str, &str), String>> {
    let inner = part.strip_prefix('[')?.strip_suffix(']')?;
    Some(
        inner
            .split_once('=')
            .ok_or_else(|| format!("'{part}' is not of the form [key=value]")),
    )
}

/// The one value a path means; `None` if there is none.
///
/// # Errors
/// A part that cannot be followed: `*`, a key of a list.
pub(crate) fn find<'n>(node: &'n Node, path: &[String]) -> Result<Option<&'n Node>, String> {
    let mut node = node;
    for part in path.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        let next = if part == "*" {
            return Err("'*' cannot be used to find one value".to_owned());
        } else if part == "-" {
            items(node, part)?.last()
        } else if let Ok(index) = part.parse::<i64>() {
            let index = usize::try_from(index).map_err(|_| format!("index {index} is negative"))?;
            items(node, part)?.get(index)
        } else if let Some(condition) = condition(part) {
            let (key, value) = condition?;
            let is = |item: &&Node| match key {
                "" => item.spelling() == Some(value),
                key => item.get(key).is_some_and(|found| found.spelling() == Some(value)),
            };
            items(node, part)?.iter().find(is)
        } else {
            let map = node.as_map().ok_or_else(|| format!("'{part}' of {}", node.shape()))?;
            map.get(part)
        };
        match next {
            Some(found) => node = found,
            None => return Ok(None),
        }
    }
    Ok(Some(node))
}

fn items<'n>(node: &'n Node, part: &str) -> Result<&'n [Node], String> {
    node.as_list()
        .ok_or_else(|| format!("a list is expected at '{part}', not {}", node.shape()))
}

/// What is made at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Make {
    Scalar,
    List,
    Map,
}

impl Make {
    pub(crate) fn like(node: &Node) -> Self {
        match node {
            Node::Scalar(_) => Self::Scalar,
            Node::List(_) => Self::List,
            Node::Map(_) => Self::Map,
        }
    }

    fn node(self) -> Node {
        match self {
            Self::Scalar => Node::tagged("", Tag::Null),
            Self::List => Node::List(Vec::new()),
            Self::Map => Node::map(),
        }
    }
}

/// A value that a path fits.
pub(crate) struct Slot<'n> {
    pub(crate) node: &'n mut Node,
    /// It was not there before.
    pub(crate) made: bool,
}

type Change<'c> = &'c mut dyn FnMut(Slot<'_>) -> Result<(), String>;

/// Calls `change` on every value a path fits; how many there were. With `make`, what is missing is made.
///
/// # Errors
/// A part that cannot be followed; whatever `change` says.
pub(crate) fn each(node: &mut Node, path: &[String], make: Option<Make>, change: Change<'_>) -> Result<usize, String> {
    walk(Slot { node, made: false }, path, make, change)
}

fn walk(slot: Slot<'_>, path: &[String], make: Option<Make>, change: Change<'_>) -> Result<usize, String> {
    let Some((part, rest)) = path.split_first() else {
        change(slot)?;
        return Ok(1);
    };
    if let Ok(index) = part.parse::<usize>() {
        return at_index(slot.node, index, rest, make, change);
    }
    if let Some(condition) = condition(part) {
        let (key, value) = condition?;
        return at_items(slot.node, (key, value), rest, make, change);
    }
    if part == "*" {
        let shape = slot.node.shape();
        let Node::List(items) = slot.node else {
            return Err(format!("a list is expected at '*', not {shape}"));
        };
        let mut count = 0;
        for node in items {
            count += walk(Slot { node, made: false }, rest, make, change)?;
        }
        return Ok(count);
    }
    at_key(slot.node, part, rest, make, change)
}

/// What a missing value before the rest of a path has to be.
fn missing(rest: &[String], make: Make) -> Node {
    match rest.first() {
        None => make.node(),
        Some(next) if condition(next).is_some() || next.parse::<usize>().is_ok() => Node::List(Vec::new()),
        Some(_) => Node::map(),
    }
}

fn at_key(
    node: &mut Node,
    key: &str,
    rest: &[String],
    make: Option<Make>,
    change: Change<'_>,
) -> Result<usize, String> {
    let shape = node.shape();
    let Node::Map(map) = node else {
        return Err(format!("'{key}' of {shape}"));
    };
    let mut made = false;
    if let Some(make) = make
        && !map.contains_key(key)
    {
        if key.is_empty() {
            return Err("a part of the path is empty".to_owned());
        }
        map.insert(key.to_owned(), missing(rest, make));
        made = true;
    }
    match map.get_mut(key) {
        None => Ok(0),
        Some(node) => walk(Slot { node, made }, rest, make, change),
    }
}

fn at_index(
    node: &mut Node,
    index: usize,
    rest: &[String],
    make: Option<Make>,
    change: Change<'_>,
) -> Result<usize, String> {
    let shape = node.shape();
    let Node::List(items) = node else {
        return Err(format!("a list is expected at '{index}', not {shape}"));
    };
    let mut made = false;
    if let Some(make) = make
        && items.len() == index
    {
        items.push(missing(rest, make));
        made = true;
    }
    let count = items.len();
    match items.get_mut(index) {
        Some(node) => walk(Slot { node, made }, rest, make, change),
        None => Err(format!("there are {count} items, none at {index}")),
    }
}

fn at_items(
    node: &mut Node,
    (key, value): (&str, &str),
    rest: &[String],
    make: Option<Make>,
    change: Change<'_>,
) -> Result<usize, String> {
    let shape = node.shape();
    let Node::List(items) = node else {
        return Err(format!("a list is expected at '[{key}={value}]', not {shape}"));
    };
    // The value is a pattern, and fits parts of texts, as for the real program.
    let pattern = Regex::new(value).map_err(|_| format!("'[{key}={value}]': '{value}' is no pattern"))?;
    let fits = |item: &Node| {
        let found = if key.is_empty() { Some(item) } else { item.get(key) };
        found
            .and_then(Node::spelling)
            .is_some_and(|text| pattern.is_match(text.trim()))
    };
    if make.is_some() && !items.iter().any(fits) {
        items.push(if key.is_empty() {
            Node::plain(value)
        } else {
            Node::Map(Map::from_iter([(key.to_owned(), Node::plain(value))]))
        });
    }
    let mut count = 0;
    for node in items.iter_mut().filter(|item| fits(item)) {
        if key.is_empty() {
            change(Slot { node, made: false })?;
            count += 1;
        } else {
            count += walk(Slot { node, made: false }, rest, make, change)?;
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_inside_of_brackets_and_behind_backslashes_do_not_separate() {
        for (path, parts) in [
            ("a.b", vec!["a", "b"]),
            ("a.[b.c=d.e].f", vec!["a", "[b.c=d.e]", "f"]),
            ("metadata.annotations.a\\.b/c", vec!["metadata", "annotations", "a.b/c"]),
            (
                "metadata.annotations.[a.b/c].d",
                vec!["metadata", "annotations", "a.b/c", "d"],
            ),
            ("spec.0.*", vec!["spec", "0", "*"]),
        ] {
            assert_eq!(split(path), parts, "{path}");
        }
    }
}
