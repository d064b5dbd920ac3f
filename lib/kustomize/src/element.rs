//! Lists that merge item by item: by the fields that identify items, or by value. Items of the patch come first.

use std::collections::BTreeMap;

use crate::merge::{self, Merged};
use crate::node::{Map, Node};
use crate::schema::{Schema, Schemas};

/// Lists whose items are not simply told apart are compared item with item; longer ones than this are refused.
const MAX_COMPARED: usize = 3_000;

/// Merges two lists. No keys: items are texts.
pub(crate) fn lists(
    schemas: &Schemas,
    schema: Option<&Schema>,
    keys: &[String],
    old: Vec<Node>,
    patch: Vec<Node>,
) -> Result<Vec<Node>, String> {
    let merge = |old: Option<Node>, patch: Option<Node>| merge::walk(schemas, schema, old, patch);
    if let [key] = keys
        && let (Some(old_names), Some(patch_names)) = (names(&old, key), names(&patch, key))
    {
        return by_name(old, &old_names, patch, &patch_names, &merge);
    }
    if keys.is_empty() && old.iter().chain(&patch).all(|item| item.spelling().is_some()) {
        return Ok(texts(old, patch));
    }
    if old.len() + patch.len() > MAX_COMPARED {
        return Err(format!("a list of more than {MAX_COMPARED} items cannot be merged"));
    }
    by_keys(keys, old, &patch, &merge)
}

/// The values of a key that every item has; `None` if one does not.
fn names(items: &[Node], key: &str) -> Option<Vec<String>> {
    let name = |item: &Node| {
        let name = item.get(key)?.spelling()?;
        (!name.is_empty() && item.get(key).is_some_and(|name| !name.is_null())).then(|| name.to_owned())
    };
    items.iter().map(name).collect()
}

/// The usual case: every item has its own name.
fn by_name(
    old: Vec<Node>,
    old_names: &[String],
    patch: Vec<Node>,
    patch_names: &[String],
    merge: &dyn Fn(Option<Node>, Option<Node>) -> Result<Merged, String>,
) -> Result<Vec<Node>, String> {
    let mut changes: BTreeMap<&str, Node> = BTreeMap::new();
    for (name, item) in patch_names.iter().zip(patch) {
        changes.entry(name).or_insert(item);
    }
    // Of old items with the same name the first is merged; the last is what comes out.
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, name) in old_names.iter().enumerate() {
        first.entry(name).or_insert(index);
        last.insert(name, index);
    }
    let mut old: Vec<Option<Node>> = old.into_iter().map(Some).collect();
    let mut seen = std::collections::BTreeSet::new();
    let mut merged = Vec::new();
    for name in patch_names.iter().chain(old_names) {
        if !seen.insert(name.as_str()) {
            continue;
        }
        let (first, last) = (first.get(name.as_str()), last.get(name.as_str()));
        let before = first.and_then(|at| old.get(*at).cloned().flatten());
        let change = changes.remove(name.as_str());
        let result = merge(before, change)?;
        let Some(node) = result.node.filter(|node| !node.is_empty()) else {
            continue;
        };
        // An item that replaces the old one is lost to it: the old list is laid over the new one.
        match (first, last) {
            (Some(first), Some(last)) if first != last || result.replaces => {
                let mut item = old.get_mut(*last).and_then(Option::take);
                if let Some(map) = item.as_mut().and_then(Node::as_map_mut) {
                    map.shift_remove(merge::DIRECTIVE);
                }
                merged.extend(item);
            }
            _ => merged.push(node),
        }
    }
    Ok(merged)
}

/// Texts of both, each once.
fn texts(old: Vec<Node>, patch: Vec<Node>) -> Vec<Node> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut merged: Vec<Node> = Vec::new();
    for (replaces, item) in patch
        .into_iter()
        .map(|item| (false, item))
        .chain(old.into_iter().map(|item| (true, item)))
    {
        let Some(text) = item.spelling().filter(|_| !item.is_null()).map(str::to_owned) else {
            continue;
        };
        match places.get(&text) {
            Some(at) if replaces => {
                if let Some(slot) = merged.get_mut(*at) {
                    *slot = item;
                }
            }
            Some(_) => {}
            None => {
                places.insert(text, merged.len());
                merged.push(item);
            }
        }
    }
    merged
}

/// Items told apart by several fields, some of which they may lack.
fn by_keys(
    keys: &[String],
    mut old: Vec<Node>,
    patch: &[Node],
    merge: &dyn Fn(Option<Node>, Option<Node>) -> Result<Merged, String>,
) -> Result<Vec<Node>, String> {
    let mut identities: Vec<Vec<String>> = Vec::new();
    for item in patch.iter().chain(&old) {
        let identity: Vec<String> = keys.iter().map(|key| said(item, key)).collect();
        if !identities.contains(&identity) {
            identities.push(identity);
        }
    }
    if keys.len() > 1 {
        complete(&mut identities);
    }
    let any = |at: usize| {
        identities
            .iter()
            .any(|identity| identity.get(at).is_some_and(|text| !text.is_empty()))
    };
    let mut used: Vec<usize> = (0..keys.len()).filter(|at| any(*at)).collect();
    if used.is_empty() {
        used = (0..keys.len()).collect();
    }
    let keys: Vec<&str> = used.iter().filter_map(|at| keys.get(*at)).map(String::as_str).collect();
    let mut merged: Vec<Node> = Vec::new();
    for identity in &identities {
        let values: Vec<&str> = used
            .iter()
            .filter_map(|at| identity.get(*at))
            .map(String::as_str)
            .collect();
        let position = |items: &[Node]| items.iter().position(|item| matches_said(item, &keys, &values));
        let at = position(&old);
        let before = at.and_then(|at| old.get(at).cloned());
        let change = position(patch).and_then(|at| patch.get(at).cloned());
        let result = merge(before, change)?;
        let Some(mut node) = result.node.filter(|node| !node.is_empty()) else {
            put(&mut old, &keys, &values, None);
            continue;
        };
        if let Some(map) = node.as_map_mut() {
            for (key, value) in keys.iter().zip(&values) {
                if !value.is_empty() && !map.contains_key(*key) {
                    map.insert((*key).to_owned(), Node::plain(*value));
                }
            }
        }
        if let Some(slot) = at.filter(|_| !result.replaces).and_then(|at| old.get_mut(at)) {
            *slot = node.clone();
        }
        put(&mut merged, &keys, &values, Some(node));
    }
    for item in old {
        let mut values = Vec::new();
        for key in &keys {
            match item.get(key) {
                Some(value) => values.push(value.spelling().unwrap_or_default().to_owned()),
                None => merged.push(item.clone()),
            }
        }
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        if keys.len() > 1 {
            put(&mut merged, &keys, &values, None);
        }
        put(&mut merged, &keys, &values, Some(item));
    }
    Ok(merged)
}

fn said(item: &Node, key: &str) -> String {
    let value = item.get(key).filter(|value| !value.is_empty());
    value.and_then(Node::spelling).unwrap_or_default().to_owned()
}

/// Identities that say the same where both say something complete one another.
fn complete(identities: &mut [Vec<String>]) {
    for one in 0..identities.len() {
        let Some(own) = identities.get(one).cloned() else {
            return;
        };
        for other in 0..identities.len() {
            let joined = identities.get(other).and_then(|other| joined(&own, other));
            if let Some(joined) = joined {
                for at in [one, other] {
                    if let Some(slot) = identities.get_mut(at) {
                        slot.clone_from(&joined);
                    }
                }
            }
        }
    }
}

fn joined(one: &[String], other: &[String]) -> Option<Vec<String>> {
    let mut same = false;
    let mut joined = Vec::with_capacity(one.len());
    for (a, b) in one.iter().zip(other) {
        if a == b {
            same = true;
        } else if !a.is_empty() && !b.is_empty() {
            return None;
        }
        joined.push(if a.is_empty() { b.clone() } else { a.clone() });
    }
    same.then_some(joined)
}

/// Whether an item has the values that are said.
fn matches_said(item: &Node, keys: &[&str], values: &[&str]) -> bool {
    let nothing = values.iter().all(|value| value.is_empty());
    item.as_map().is_some()
        && keys.iter().zip(values).all(|(key, value)| {
            (value.is_empty() && !nothing) || item.get(key).is_some_and(|own| own.spelling() == Some(value))
        })
}

/// Puts an item in the place of those it equals, or at the end; with none, removes those. A value that is not said
/// equals any; items that are empty go.
fn put(items: &mut Vec<Node>, keys: &[&str], values: &[&str], new: Option<Node>) {
    let mut found = false;
    let mut kept = Vec::with_capacity(items.len() + 1);
    for item in items.drain(..) {
        if item.is_null() || item.as_map().is_some_and(Map::is_empty) {
            continue;
        }
        if item.as_map().is_none() {
            kept.push(item);
            continue;
        }
        let equal = keys
            .iter()
            .enumerate()
            .all(|(index, key)| match (item.get(key), values.get(index)) {
                (Some(own), Some(value)) => value.is_empty() || own.spelling() == Some(value),
                (None, Some(_)) => false,
                (_, None) => index > 0,
            });
        if !equal {
            if !values.is_empty() {
                kept.push(item);
            }
            continue;
        }
        found = true;
        kept.extend(new.clone());
    }
    if !found {
        kept.extend(new);
    }
    *items = kept;
}
