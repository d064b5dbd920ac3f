//! Owners that were deleted and whose objects have to follow, where Kubernetes' garbage collector
//! is too slow or cannot follow owner references at all. What is missed while no manager runs is
//! found by the clean-up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fleet_runtime::write::{self, Object, find};
use fleet_runtime::{Error, Key};
use kube::Api;

use crate::objectset::ObjectSet;
use crate::shell::uid;

/// Deleted owners by name; several of one name can follow each other.
#[derive(Debug)]
pub(crate) struct Gone<K> {
    owners: Arc<Mutex<BTreeMap<Key, Vec<Arc<K>>>>>,
}

impl<K> Clone for Gone<K> {
    fn clone(&self) -> Self {
        Self {
            owners: self.owners.clone(),
        }
    }
}

impl<K> Default for Gone<K> {
    fn default() -> Self {
        Self { owners: Arc::default() }
    }
}

impl<K: kube::Resource> Gone<K> {
    /// Remembers a deleted owner.
    pub(crate) fn note(&self, owner: Arc<K>) {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.entry(Key::of(&*owner)).or_default().push(owner);
    }

    /// The first deleted owner of this name.
    pub(crate) fn first(&self, key: &Key) -> Option<Arc<K>> {
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.get(key).and_then(|all| all.first()).cloned()
    }

    /// Everything of this owner is gone.
    pub(crate) fn forget(&self, key: &Key, owner: &K) {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(all) = owners.get_mut(key) {
            all.retain(|each| uid(&**each) != uid(owner));
            if all.is_empty() {
                owners.remove(key);
            }
        }
    }
}

/// Deletes an object if it belongs to a set; whatever else has its name is left alone.
pub(crate) async fn drop_if_ours<K: Object>(set: &ObjectSet, api: &Api<K>, name: &str) -> Result<(), Error> {
    match find(api, name).await? {
        Some(object) if set.owns(&object) => write::delete(api, &object).await,
        _ => Ok(()),
    }
}
