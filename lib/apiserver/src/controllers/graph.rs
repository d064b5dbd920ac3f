//! Who depends on whom: dependents by their owner's uid. Holds only objects that name an owner.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::controllers::object::{Key, Owner};

/// A uid in 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Uid(u128);

impl Uid {
    /// Uids of the usual form are taken as they are; whatever else clients put into references is hashed.
    pub(crate) fn of(text: &str) -> Self {
        let digits: String = text.chars().filter(|char| *char != '-').collect();
        let number = if digits.len() == 32 {
            u128::from_str_radix(&digits, 16).ok()
        } else {
            None
        };
        Self(number.unwrap_or_else(|| {
            let hash = Sha256::digest(text.as_bytes());
            hash.iter()
                .take(16)
                .fold(0, |number, byte| number << 8 | u128::from(*byte))
        }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Edge {
    owner: Uid,
    blocks: bool,
}

/// The graph.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    edges: HashMap<Arc<Key>, Box<[Edge]>>,
    dependents: HashMap<Uid, HashSet<Arc<Key>>>,
    /// Objects that wait for their dependents to go.
    waiting: HashMap<Uid, Key>,
}

impl Graph {
    /// Takes over an object's owners. If they are others than before, gives the former ones that wait for it.
    pub(crate) fn set(&mut self, key: Key, owners: &[Owner]) -> Option<Vec<Key>> {
        let edges: Box<[Edge]> = owners
            .iter()
            .map(|owner| Edge {
                owner: Uid::of(&owner.uid),
                blocks: owner.blocks,
            })
            .collect();
        if self.edges.get(&key).map_or(edges.is_empty(), |known| *known == edges) {
            return None;
        }
        let waiting = self.remove(&key);
        if !edges.is_empty() {
            let key = Arc::new(key);
            for edge in &edges {
                self.dependents.entry(edge.owner).or_default().insert(Arc::clone(&key));
            }
            self.edges.insert(key, edges);
        }
        Some(waiting)
    }

    /// Forgets an object; gives the owners that wait for it.
    pub(crate) fn remove(&mut self, key: &Key) -> Vec<Key> {
        let Some(edges) = self.edges.remove(key) else {
            return Vec::new();
        };
        let mut waiting = Vec::new();
        for edge in &edges {
            if let Some(list) = self.dependents.get_mut(&edge.owner) {
                list.remove(key);
                if list.is_empty() {
                    self.dependents.remove(&edge.owner);
                }
            }
            waiting.extend(self.waiting.get(&edge.owner).cloned());
        }
        waiting
    }

    /// The objects that name an owner.
    pub(crate) fn dependents(&self, owner: Uid) -> Vec<Key> {
        self.dependents
            .get(&owner)
            .into_iter()
            .flatten()
            .map(|key| (**key).clone())
            .collect()
    }

    /// Those of them that must go first when the owner is deleted in the foreground.
    pub(crate) fn blocking(&self, owner: Uid) -> Vec<Key> {
        let mut all = self.dependents(owner);
        all.retain(|key| {
            self.edges
                .get(key)
                .is_some_and(|edges| edges.iter().any(|edge| edge.owner == owner && edge.blocks))
        });
        all
    }

    /// Remembers that an object waits for its dependents.
    pub(crate) fn wait(&mut self, uid: Uid, key: Key) {
        self.waiting.insert(uid, key);
    }

    /// Forgets that an object waits.
    pub(crate) fn stop_waiting(&mut self, uid: Uid) {
        self.waiting.remove(&uid);
    }

    /// Every object that names an owner.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Key> {
        self.edges.keys().map(|key| &**key)
    }
}
