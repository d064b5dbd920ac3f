//! Strategic merge as kustomize does it: like Kubernetes' by the merge keys of the object's type, but items of a patch
//! that are new stand before the items that were there.

use kubeschema::schema::Type;
use serde_json::{Map, Value};

const DIRECTIVE: &str = "$patch";

/// What is left of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Merged,
    Deleted,
}

/// Applies a patch to a map. Fields that say who the object is are the caller's business.
pub(crate) fn apply(schema: &Type, target: &mut Map<String, Value>, patch: &Map<String, Value>) -> Left {
    match patch.get(DIRECTIVE).and_then(Value::as_str) {
        Some("delete") => return Left::Deleted,
        Some("replace") => {
            *target = patch.clone();
            target.remove(DIRECTIVE);
            return Left::Merged;
        }
        _ => {}
    }
    for (key, change) in patch {
        if key.starts_with('$') {
            continue;
        }
        let field = schema.field(key);
        let inner = schema.child(key).unwrap_or_else(|| Type::any());
        match change {
            Value::Null => {
                target.remove(key);
            }
            Value::Object(change) => {
                let empty = Value::Object(Map::new());
                let slot = target.entry(key.clone()).or_insert_with(|| empty.clone());
                if !slot.is_object() {
                    *slot = empty;
                }
                let left = slot.as_object_mut().map(|map| apply(inner, map, change));
                if left == Some(Left::Deleted) {
                    target.remove(key);
                }
            }
            Value::Array(items) => {
                let strategy = field.map(|field| &field.strategy).filter(|strategy| strategy.merge);
                let replaced = items.iter().any(|item| item[DIRECTIVE] == "replace");
                match (strategy, target.get_mut(key)) {
                    (Some(strategy), Some(Value::Array(present))) if !replaced => {
                        let item = inner.item().unwrap_or_else(|| Type::any());
                        match &strategy.merge_key {
                            Some(merge_key) => by_key(item, merge_key, present, items),
                            None => union(present, items),
                        }
                    }
                    _ => {
                        target.insert(key.clone(), Value::Array(bare(items)));
                    }
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                target.insert(key.clone(), change.clone());
            }
        }
    }
    Left::Merged
}

/// Items of a patch where there is nothing to merge with: without directives, and without what they would delete.
fn bare(items: &[Value]) -> Vec<Value> {
    let mut bare = Vec::with_capacity(items.len());
    for item in items {
        if item.get(DIRECTIVE).is_some() {
            continue;
        }
        bare.push(item.clone());
    }
    bare
}

fn by_key(schema: &Type, key: &str, present: &mut Vec<Value>, patch: &[Value]) {
    let mut new = Vec::new();
    for item in patch {
        let Value::Object(change) = item else {
            new.push(item.clone());
            continue;
        };
        let same = |other: &Value| {
            let equal = |field: &str| other.get(field) == change.get(field);
            // Ports are told apart by their protocol too, where both say it.
            let protocol = other.get("protocol").is_none() || change.get("protocol").is_none() || equal("protocol");
            change.get(key).is_some() && equal(key) && protocol
        };
        match present.iter().position(same) {
            Some(at) => {
                let left = present[at].as_object_mut().map(|map| apply(schema, map, change));
                if left == Some(Left::Deleted) {
                    present.remove(at);
                }
            }
            None if change.get(DIRECTIVE).is_some() => {}
            None => {
                let mut fresh = Map::new();
                apply(schema, &mut fresh, change);
                new.push(Value::Object(fresh));
            }
        }
    }
    new.append(present);
    *present = new;
}

fn union(present: &mut Vec<Value>, patch: &[Value]) {
    let mut new: Vec<Value> = patch.iter().filter(|item| !present.contains(item)).cloned().collect();
    new.append(present);
    *present = new;
}
