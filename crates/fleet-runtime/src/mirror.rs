//! A watch as a local map: objects, reduced to what is used, keyed by namespace and name, plus a
//! stream of changes that never misses a deletion (a re-list is compared with what was there).
//! Must never write; must never show an object twice in one state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Arc, PoisonError, RwLock};

use futures::TryStreamExt;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch};
use kube::{Api, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::watch as signal;
use tokio_util::sync::CancellationToken;

/// Namespace (empty for cluster-scoped objects) and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Key {
    /// A key from its parts.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The key of an object.
    #[must_use]
    pub fn of<K: kube::Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self {
            namespace: meta.namespace.clone().unwrap_or_default(),
            name: meta.name.clone().unwrap_or_default(),
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// What happened to an object.
#[derive(Clone, Debug)]
pub enum Change<K> {
    /// It came or changed.
    Applied {
        /// As it was known before.
        old: Option<Arc<K>>,
        /// As it is.
        new: Arc<K>,
    },
    /// It is gone; this was its last known state.
    Deleted(Arc<K>),
}

impl<K> Change<K> {
    /// The object, as it is or last was.
    #[must_use]
    pub fn object(&self) -> &Arc<K> {
        match self {
            Self::Applied { new, .. } => new,
            Self::Deleted(old) => old,
        }
    }
}

/// The known objects of one kind. Clones share the content.
#[derive(Debug)]
pub struct Mirror<K> {
    objects: Arc<RwLock<BTreeMap<Key, Arc<K>>>>,
    noted: Arc<RwLock<Noted<K>>>,
    synced: signal::Sender<bool>,
}

/// States that writes returned and the watch has not delivered yet.
#[derive(Debug)]
struct Noted<K> {
    states: BTreeMap<Key, Arc<K>>,
    /// The newest version that the watch delivered, of any object. A watch delivers in the order of versions: what is
    /// not newer was delivered, and is missing only because its object is gone.
    seen: u64,
}

impl<K> Default for Noted<K> {
    fn default() -> Self {
        Self {
            states: BTreeMap::new(),
            seen: 0,
        }
    }
}

impl<K> Clone for Mirror<K> {
    fn clone(&self) -> Self {
        Self {
            objects: self.objects.clone(),
            noted: self.noted.clone(),
            synced: self.synced.clone(),
        }
    }
}

impl<K> Default for Mirror<K> {
    fn default() -> Self {
        Self {
            objects: Arc::default(),
            noted: Arc::default(),
            synced: signal::Sender::new(false),
        }
    }
}

impl<K> Mirror<K> {
    /// One object.
    #[must_use]
    pub fn find(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.at(&Key::new(namespace, name))
    }

    /// One object.
    #[must_use]
    pub fn at(&self, key: &Key) -> Option<Arc<K>> {
        let noted = self
            .noted
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .states
            .get(key)
            .cloned();
        noted.or_else(|| self.read().get(key).cloned())
    }

    /// All objects of a namespace, by name.
    #[must_use]
    pub fn within(&self, namespace: &str) -> Vec<Arc<K>> {
        self.read()
            .range(Key::new(namespace, "")..)
            .take_while(|(key, _)| key.namespace == namespace)
            .map(|(_, object)| object.clone())
            .collect()
    }

    /// All objects that satisfy a condition. Walks everything: not for steady state.
    #[must_use]
    pub fn matching(&self, condition: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
        self.read()
            .values()
            .filter(|object| condition(object))
            .cloned()
            .collect()
    }

    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// No objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read().is_empty()
    }

    /// Waits until the first list is complete.
    pub async fn ready(&self) {
        let _ = self.synced.subscribe().wait_for(|ready| *ready).await;
    }

    /// Stores a state that a write returned, so that the next look at this object does not see the
    /// old one before the watch delivers. Changes that are handed over are not affected, and an
    /// older state never hides a newer one, nor that its object is gone.
    pub fn note(&self, object: K) -> Arc<K>
    where
        K: kube::Resource,
    {
        let object = Arc::new(object);
        let key = Key::of(&*object);
        let mut noted = self.noted.write().unwrap_or_else(PoisonError::into_inner);
        if noted.seen < version(&*object) {
            noted.states.insert(key, object.clone());
        }
        object
    }

    /// The watch delivered this version: what was noted of the object up to it is not needed any more.
    fn delivered(&self, key: &Key, seen: u64)
    where
        K: kube::Resource,
    {
        let mut noted = self.noted.write().unwrap_or_else(PoisonError::into_inner);
        noted.seen = noted.seen.max(seen);
        if noted.states.get(key).is_some_and(|object| version(&**object) <= seen) {
            noted.states.remove(key);
        }
    }

    /// A list is complete: what is not in it is gone, whatever was noted of it. Objects that left are returned.
    fn retain(&self, listed: &BTreeSet<Key>) -> Vec<Change<K>>
    where
        K: kube::Resource,
    {
        let mut noted = self.noted.write().unwrap_or_else(PoisonError::into_inner);
        noted.states.retain(|key, _| listed.contains(key));
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let mut gone = Vec::new();
        objects.retain(|key, object| {
            let stays = listed.contains(key);
            if !stays {
                gone.push(Change::Deleted(object.clone()));
            }
            stays
        });
        // Versions may have begun anew, if a server was restored.
        noted.seen = objects.values().map(|object| version(&**object)).max().unwrap_or(0);
        gone
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<Key, Arc<K>>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, object: K) -> Option<Change<K>>
    where
        K: kube::Resource,
    {
        let new = Arc::new(object);
        let key = Key::of(&*new);
        let seen = version(&*new);
        let old = {
            let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
            objects.insert(key.clone(), new.clone())
        };
        self.delivered(&key, seen);
        Some(Change::Applied { old, new })
    }

    /// `last` is the object as its deletion tells it, with the version of the deletion.
    fn remove(&self, last: &K) -> Option<Change<K>>
    where
        K: kube::Resource,
    {
        let key = Key::of(last);
        let removed = {
            let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
            objects.remove(&key)
        };
        self.delivered(&key, version(last));
        removed.map(Change::Deleted)
    }
}

fn version<K: kube::Resource>(object: &K) -> u64 {
    object
        .meta()
        .resource_version
        .as_deref()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// Drops what no controller reads: field ownership and kubectl's copy of the object.
pub fn strip_metadata<K: kube::Resource>(object: &mut K) {
    let meta = object.meta_mut();
    meta.managed_fields = None;
    meta.self_link = None;
    if let Some(annotations) = &mut meta.annotations {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        if annotations.is_empty() {
            meta.annotations = None;
        }
    }
}

/// Keeps `mirror` up to date until `shutdown`, and hands every change to `on_change`, in order.
/// The first list is handed over object by object before `mirror.ready()` returns.
///
/// `strip` reduces an object before it is kept; metadata is stripped in any case. Connection
/// failures are retried for ever, with growing delays.
pub async fn follow<K>(
    api: Api<K>,
    config: watcher::Config,
    strip: impl Fn(&mut K) + Send,
    mirror: Mirror<K>,
    mut on_change: impl FnMut(Change<K>) + Send,
    shutdown: CancellationToken,
) where
    K: kube::Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
{
    let kind = K::kind(&()).into_owned();
    let stream = watch(api, config).default_backoff();
    let mut stream = std::pin::pin!(stream);
    let mut listed: Option<BTreeSet<Key>> = None;
    loop {
        let event = tokio::select! {
            () = shutdown.cancelled() => return,
            event = stream.try_next() => event,
        };
        let changes: Vec<Change<K>> = match event {
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(kind, error = crate::chain(&error), "watch interrupted");
                continue;
            }
            Ok(Some(Event::Init)) => {
                listed = Some(BTreeSet::new());
                continue;
            }
            Ok(Some(Event::InitApply(mut object) | Event::Apply(mut object))) => {
                strip_metadata(&mut object);
                strip(&mut object);
                let key = Key::of(&object);
                let same = mirror.read().get(&key).is_some_and(|old| {
                    old.meta().resource_version == object.meta().resource_version && object.resource_version().is_some()
                });
                if let Some(listed) = &mut listed {
                    listed.insert(key);
                    // Known in this state and already handed over, unless this is the first list.
                    if same && *mirror.synced.borrow() {
                        continue;
                    }
                }
                mirror.put(object).into_iter().collect()
            }
            Ok(Some(Event::Delete(object))) => mirror.remove(&object).into_iter().collect(),
            Ok(Some(Event::InitDone)) => {
                let listed = listed.take().unwrap_or_default();
                for change in mirror.retain(&listed) {
                    on_change(change);
                }
                mirror.synced.send_replace(true);
                continue;
            }
        };
        for change in changes {
            on_change(change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;

    fn map(version: &str) -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.name = Some("a".to_owned());
        map.metadata.resource_version = Some(version.to_owned());
        map
    }

    #[test]
    fn a_noted_state_is_seen_until_the_watch_delivers_and_changes_ignore_it() {
        let mirror = Mirror::default();
        mirror.put(map("1"));
        mirror.note(map("3"));
        let seen = |mirror: &Mirror<ConfigMap>| {
            mirror
                .find("", "a")
                .and_then(|map| map.metadata.resource_version.clone())
        };
        assert_eq!(seen(&mirror).as_deref(), Some("3"));
        mirror.put(map("2"));
        assert_eq!(seen(&mirror).as_deref(), Some("3"));
        let Some(Change::Applied { old: Some(old), .. }) = mirror.put(map("3")) else {
            panic!("no change")
        };
        assert_eq!(old.metadata.resource_version.as_deref(), Some("2"));
        mirror.note(map("2"));
        assert_eq!(seen(&mirror).as_deref(), Some("3"));
        mirror.remove(&map("4"));
        assert_eq!(seen(&mirror), None);
    }

    #[test]
    fn a_write_that_is_noted_after_its_object_was_deleted_does_not_bring_it_back() {
        let mirror = Mirror::default();
        mirror.put(map("1"));
        mirror.put(map("2"));
        mirror.remove(&map("3"));
        mirror.note(map("2"));
        assert!(mirror.find("", "a").is_none());
        mirror.note(map("4"));
        assert!(mirror.find("", "a").is_some(), "it was made again");
    }

    #[test]
    fn what_a_list_does_not_hold_is_gone_even_if_it_was_noted() {
        let mirror = Mirror::default();
        mirror.put(map("7"));
        mirror.note(map("9"));
        assert_eq!(mirror.retain(&BTreeSet::new()).len(), 1);
        assert!(mirror.find("", "a").is_none());
        // A server restored from a backup counts from an earlier version.
        mirror.note(map("5"));
        assert!(mirror.find("", "a").is_some());
    }
}
