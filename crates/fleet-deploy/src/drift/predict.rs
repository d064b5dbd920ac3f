//! What a live object would be if the bundle were applied now, next to what it is. Fields that
//! the bundle does not set stay as they are; extra items of lists whose items have names stay
//! too. Built-in kinds get the server's defaults on both sides. Mirrors the three-way diff of
//! upstream's normalisation.

use kubeschema::defaulting;
use kubeschema::schema::{Field, Type, decode, encode};
use kubeschema::smd::Set;
use serde_json::{Map, Value};

use super::list::{self, Items};
use crate::object::ObjectKey;

/// Whether items of lists that are one value may have fields that the bundle does not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    /// They may: nobody knows who added them, and a difference that is none is worse than one
    /// that is overlooked.
    Tolerated,
    /// They may not.
    Reported,
}

/// Merges wanted into live.
pub(super) struct Merge<'a> {
    /// Type of the object; [`Type::Any`] if the kind is not built in.
    pub(super) schema: &'a Type,
    /// Paths anybody owns.
    pub(super) shape: &'a Set,
    /// Fields inside lists.
    pub(super) extra: Extra,
}

impl Merge<'_> {
    /// `live` with everything that `wanted` sets.
    pub(super) fn merged(&self, wanted: &Value, live: &Value) -> Value {
        self.value(self.schema, None, Some(self.shape), wanted, live)
    }

    fn value(&self, schema: &Type, field: Option<&Field>, shape: Option<&Set>, wanted: &Value, live: &Value) -> Value {
        match (wanted, live) {
            (Value::Object(wanted), Value::Object(there)) => Value::Object(self.map(schema, shape, wanted, there)),
            (Value::Array(wanted), Value::Array(there)) => match list::items(schema, field, shape) {
                Items::Keyed(keys) => self.keyed(&keys, schema, shape, wanted, there),
                Items::Values => {
                    let missing = wanted.iter().filter(|item| !there.contains(item));
                    there.iter().chain(missing).cloned().collect()
                }
                Items::Whole => self.whole(schema, wanted, there),
            },
            _ if list::equal(wanted, live) => live.clone(),
            _ => plain(wanted),
        }
    }

    fn map(
        &self,
        schema: &Type,
        shape: Option<&Set>,
        wanted: &Map<String, Value>,
        there: &Map<String, Value>,
    ) -> Map<String, Value> {
        let mut result = there.clone();
        for (key, value) in wanted {
            if value.is_null() {
                // A null that the server keeps is one that the kind allows.
                if there.get(key).is_some_and(|now| !now.is_null()) {
                    result.remove(key);
                }
                continue;
            }
            let merged = match there.get(key) {
                Some(now) => {
                    let inner = schema.child(key).unwrap_or(&Type::Any);
                    let deeper = shape.and_then(|shape| below(shape, &format!("f:{key}")));
                    let merged = self.value(inner, schema.field(key), deeper, value, now);
                    // Their order is the order in which they run.
                    if key == "initContainers" {
                        in_order(value, &merged)
                    } else {
                        merged
                    }
                }
                None => plain(value),
            };
            result.insert(key.clone(), merged);
        }
        result
    }

    /// Live items with what is wanted of them; an item that is missing comes after the one it
    /// follows in the bundle.
    fn keyed(&self, keys: &[String], schema: &Type, shape: Option<&Set>, wanted: &[Value], there: &[Value]) -> Value {
        let item_type = schema.item().unwrap_or(&Type::Any);
        let pairs = list::pairs(keys, item_type, wanted, there);
        let mut result: Vec<Value> = there.to_vec();
        for (one, position) in wanted.iter().zip(&pairs) {
            if let Some(slot) = position.and_then(|position| result.get_mut(position)) {
                *slot = self.value(item_type, None, shape, one, slot);
            }
        }
        let mut inserted = 0;
        let mut next = pairs.iter().flatten().min().copied().unwrap_or(result.len());
        for (one, position) in wanted.iter().zip(&pairs) {
            match position {
                Some(position) => next = position + inserted + 1,
                None => {
                    result.insert(next.min(result.len()), plain(one));
                    inserted += 1;
                    next += 1;
                }
            }
        }
        Value::Array(result)
    }

    fn whole(&self, schema: &Type, wanted: &[Value], there: &[Value]) -> Value {
        let item_type = schema.item().unwrap_or(&Type::Any);
        if wanted.len() != there.len() || self.extra == Extra::Reported {
            return wanted.iter().map(plain).collect();
        }
        let pairs = wanted.iter().zip(there);
        pairs
            .map(|(one, now)| self.value(item_type, None, None, one, now))
            .collect()
    }
}

fn below<'a>(set: &'a Set, element: &str) -> Option<&'a Set> {
    set.elements()
        .find(|(known, ..)| *known == element)
        .map(|(_, _, below)| below)
}

/// The named items that are wanted in the order in which they are wanted; others keep their places.
fn in_order(wanted: &Value, merged: &Value) -> Value {
    let (Value::Array(wanted), Value::Array(merged)) = (wanted, merged) else {
        return merged.clone();
    };
    let keys = ["name".to_owned()];
    let places: Vec<usize> = list::pairs(&keys, &Type::Any, wanted, merged)
        .into_iter()
        .flatten()
        .collect();
    let mut sorted = places.clone();
    sorted.sort_unstable();
    let mut result = merged.clone();
    for (to, from) in sorted.iter().zip(&places) {
        if let (Some(slot), Some(item)) = (result.get_mut(*to), merged.get(*from)) {
            slot.clone_from(item);
        }
    }
    Value::Array(result)
}

/// A wanted value as it stands where there was nothing: nulls vanish.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), plain(value)))
            .collect(),
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

/// Fills in what the server fills in, and writes what it never leaves out. A side that a user's
/// rule made something else than an object of its kind is left as it is.
pub(super) fn complete(key: &ObjectKey, schema: &Type, side: &mut Value) {
    let mut read = side.clone();
    if matches!(schema.resolve(), Type::Any) || decode(schema, &mut read).is_err() {
        return;
    }
    let (group, version) = key.group_version();
    defaulting::default(group, version, &key.kind, &mut read);
    encode(schema, &mut read);
    if let Some(map) = read.as_object_mut() {
        map.remove("status");
    }
    *side = read;
}

/// Removes what `original` named and `desired` does not.
pub(super) fn forget(predicted: &mut Value, original: &Value, desired: &Value) {
    let (Value::Object(map), Value::Object(before)) = (predicted, original) else {
        return;
    };
    for (key, value) in before {
        match desired.get(key) {
            None if matches!(key.as_str(), "metadata" | "status") => {}
            None => {
                map.remove(key);
            }
            Some(wanted) => {
                if let Some(slot) = map.get_mut(key) {
                    forget(slot, value, wanted);
                }
            }
        }
    }
}

/// JSON merge patch from `from` to `to`.
pub(super) fn changes(from: &Value, to: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (from, to) else {
        return (!list::equal(from, to)).then(|| to.clone());
    };
    let mut patch = Map::new();
    for (key, value) in after {
        match before.get(key) {
            Some(now) => {
                if let Some(change) = changes(now, value) {
                    patch.insert(key.clone(), change);
                }
            }
            None => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use kubeschema::kinds;
    use serde_json::json;

    use super::*;

    fn merged(kind: &str, wanted: &Value, live: &Value) -> Value {
        let merge = Merge {
            schema: kinds::schema_of("v1", kind).unwrap_or(&Type::Any),
            shape: &Set::default(),
            extra: Extra::Tolerated,
        };
        merge.merged(wanted, live)
    }

    #[test]
    fn ports_of_one_number_stay_apart() {
        let ports = json!({"spec": {"ports": [
            {"port": 53, "protocol": "UDP", "name": "u"}, {"port": 53, "protocol": "TCP", "name": "t"}]}});
        assert_eq!(merged("Service", &ports, &ports), ports);
    }

    #[test]
    fn missing_items_come_where_the_bundle_has_them() {
        let list = |names: &[&str]| {
            let items: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
            json!({"spec": {"containers": items}})
        };
        for (wanted, live, expected) in [
            (&["a", "b"][..], &["b"][..], &["a", "b"][..]),
            (&["a", "b", "c"], &["a", "c", "x"], &["a", "b", "c", "x"]),
            (&["a"], &["x"], &["x", "a"]),
            (&["b", "a"], &["a", "b"], &["a", "b"]),
        ] {
            assert_eq!(
                merged("Pod", &list(wanted), &list(live)),
                list(expected),
                "{wanted:?} {live:?}"
            );
        }
    }

    #[test]
    fn init_containers_have_an_order() {
        let list = |names: &[&str]| {
            let items: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
            json!({"spec": {"initContainers": items}})
        };
        assert_eq!(
            merged("Pod", &list(&["a", "b"]), &list(&["b", "x", "a"])),
            list(&["a", "x", "b"])
        );
    }

    #[test]
    fn the_patch_between_two_states_is_a_merge_patch() {
        assert_eq!(
            changes(
                &json!({"a": 1, "b": {"c": 1}, "d": 1}),
                &json!({"a": 1.0, "b": {"c": 2}})
            ),
            Some(json!({"b": {"c": 2}, "d": null}))
        );
        assert_eq!(changes(&json!({"a": [1]}), &json!({"a": [1]})), None);
    }
}
