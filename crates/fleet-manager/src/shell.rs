//! What all controllers of a process share: context, settings, configuration, watches; and small
//! reads of metadata that several of them need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use fleet_runtime::{Change, Context, Key};

use crate::config::Live;
use crate::settings::Settings;
use crate::world::World;

/// Context, settings, configuration, watches.
pub(crate) struct Shell {
    pub(crate) cx: Context,
    pub(crate) settings: Settings,
    pub(crate) config: Live,
    pub(crate) world: World,
}

/// A label, or "".
pub(crate) fn label<'a, K: kube::Resource>(object: &'a K, key: &str) -> &'a str {
    object
        .meta()
        .labels
        .as_ref()
        .and_then(|all| all.get(key))
        .map_or("", String::as_str)
}

/// An annotation, or "".
pub(crate) fn annotation<'a, K: kube::Resource>(object: &'a K, key: &str) -> &'a str {
    object
        .meta()
        .annotations
        .as_ref()
        .and_then(|all| all.get(key))
        .map_or("", String::as_str)
}

/// The name, or "".
pub(crate) fn name<K: kube::Resource>(object: &K) -> &str {
    object.meta().name.as_deref().unwrap_or_default()
}

/// The namespace, or "".
pub(crate) fn namespace<K: kube::Resource>(object: &K) -> &str {
    object.meta().namespace.as_deref().unwrap_or_default()
}

/// The uid, or "".
pub(crate) fn uid<K: kube::Resource>(object: &K) -> &str {
    object.meta().uid.as_deref().unwrap_or_default()
}

/// Deletion has begun.
pub(crate) fn deleting<K: kube::Resource>(object: &K) -> bool {
    object.meta().deletion_timestamp.is_some()
}

/// Carries this finalizer.
pub(crate) fn has_finalizer<K: kube::Resource>(object: &K, finalizer: &str) -> bool {
    object
        .meta()
        .finalizers
        .as_ref()
        .is_some_and(|all| all.iter().any(|each| each == finalizer))
}

/// The finalizers with one more, or one less.
pub(crate) fn finalizers<K: kube::Resource>(object: &K, finalizer: &str, wanted: bool) -> Vec<String> {
    let mut all: Vec<String> = object.meta().finalizers.clone().unwrap_or_default();
    all.retain(|each| each != finalizer);
    if wanted {
        all.push(finalizer.to_owned());
    }
    all
}

/// Objects by a text that is taken from them, e.g. registrations by client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    entries: Arc<Mutex<BTreeMap<String, BTreeSet<Key>>>>,
}

impl Index {
    /// Follows a change; `of` tells under which text an object is found.
    pub(crate) fn follow<K: kube::Resource>(&self, change: &Change<K>, of: impl Fn(&K) -> Option<String>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (old, new) = match change {
            Change::Applied { old, new } => (old.as_ref(), Some(new)),
            Change::Deleted(old) => (Some(old), None),
        };
        if let Some((object, text)) = old.and_then(|object| Some((object, of(object)?)))
            && let Some(keys) = entries.get_mut(&text)
        {
            keys.remove(&Key::of(&**object));
            if keys.is_empty() {
                entries.remove(&text);
            }
        }
        if let Some((object, text)) = new.and_then(|object| Some((object, of(object)?))) {
            entries.entry(text).or_default().insert(Key::of(&**object));
        }
    }

    /// The keys found under a text, in order.
    pub(crate) fn find(&self, text: &str) -> Vec<Key> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries
            .get(text)
            .map(|keys| keys.iter().cloned().collect())
            .unwrap_or_default()
    }
}
