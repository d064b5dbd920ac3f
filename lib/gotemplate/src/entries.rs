//! The entries of a map, in the order of their keys' bytes.
//!
//! Most maps of charts are small: their entries stand side by side, where a key is found soon and a whole map is made,
//! copied and freed at once. A template may also make a map of a million entries, one by one: from a certain size on
//! they are kept in a tree.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::value::{Text, Value};

/// Entries that may stand side by side: more would take long to be looked through, and to be moved for a new one.
const FEW: usize = 16;

/// Only one of both holds anything.
#[derive(Default)]
pub(crate) struct Entries {
    few: Vec<(Text, Value)>,
    many: BTreeMap<Text, Value>,
}

impl Entries {
    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        if self.many.is_empty() {
            // Most others have another length: comparing all is faster than halving.
            let found = self.few.iter().find(|(known, _)| known.as_str() == key);
            found.map(|(_, value)| value)
        } else {
            self.many.get(key)
        }
    }

    pub(crate) fn insert(&mut self, key: &str, value: Value) {
        if !self.many.is_empty() {
            self.many.insert(key.into(), value);
            return;
        }
        match self.find(key) {
            Ok(at) => self.few[at].1 = value,
            Err(at) if self.few.len() < FEW => self.few.insert(at, (key.into(), value)),
            Err(_) => {
                self.many.extend(self.few.drain(..));
                self.many.insert(key.into(), value);
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Value> {
        match self.find(key) {
            Ok(at) => Some(self.few.remove(at).1),
            Err(_) => self.many.remove(key),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Text, &Value)> {
        let few = self.few.iter().map(|(key, value)| (key, value));
        few.chain(&self.many)
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = Value> {
        let few = self.few.into_iter().map(|(_, value)| value);
        few.chain(self.many.into_values())
    }

    /// The place of a key among the few, or where it belongs.
    fn find(&self, key: &str) -> Result<usize, usize> {
        self.few.binary_search_by(|(known, _)| order(known, key))
    }
}

/// Of entries with the same key the last one stays.
impl FromIterator<(Text, Value)> for Entries {
    fn from_iter<I: IntoIterator<Item = (Text, Value)>>(entries: I) -> Self {
        let mut few: Vec<_> = entries.into_iter().collect();
        if few.len() > FEW {
            return Self {
                few: Vec::new(),
                many: few.into_iter().collect(),
            };
        }
        few.sort_by(|(left, _), (right, _)| order(left, right));
        few.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        Self {
            few,
            many: BTreeMap::new(),
        }
    }
}

/// Compares two keys; mostly their first bytes tell.
fn order(left: &str, right: &str) -> Ordering {
    match (left.as_bytes().first(), right.as_bytes().first()) {
        (Some(one), Some(other)) if one != other => one.cmp(other),
        _ => left.cmp(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<'e>(entries: impl Iterator<Item = (&'e Text, &'e Value)>) -> Vec<(String, i64)> {
        let shown = entries.map(|(key, value)| (key.to_string(), value.as_integer().unwrap()));
        shown.collect()
    }

    #[test]
    fn entries_are_those_of_a_tree_whatever_their_number() {
        let names = ["", "a", "ab", "b", "é", "e", "a longer key than fits in place"];
        // Every other key comes again soon.
        let number = |place| if place % 2 == 0 { 0 } else { place * 7919 % 101 };
        let keys = (0..10 * FEW).map(|place| format!("{}{}", names[place * place % 7], number(place)));
        let keys: Vec<String> = keys.collect();
        for count in [0, 1, 2, FEW - 1, FEW, FEW + 1, keys.len()] {
            let given = keys[..count].iter().zip(0..);
            let given = given.map(|(key, place)| (Text::from(key), Value::Int(place)));
            let mut tree: BTreeMap<Text, Value> = given.clone().collect();
            let collected: Entries = given.clone().collect();
            let mut inserted = Entries::default();
            given.for_each(|(key, value)| inserted.insert(&key, value));
            assert_eq!(shown(collected.iter()), shown(tree.iter()));
            for key in &keys {
                let there = |value: Option<&Value>| value.and_then(Value::as_integer);
                assert_eq!(there(inserted.get(key)), there(tree.get(key.as_str())), "{key}");
                if key.contains('a') {
                    assert_eq!(inserted.remove(key).is_some(), tree.remove(key.as_str()).is_some());
                }
                assert_eq!(inserted.len(), tree.len());
            }
            assert_eq!(shown(inserted.iter()), shown(tree.iter()));
            let values = inserted.into_values().map(|value| value.as_integer());
            assert!(values.eq(tree.into_values().map(|value| value.as_integer())));
        }
    }
}
