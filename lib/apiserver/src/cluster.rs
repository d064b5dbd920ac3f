//! What every request shares: store, registry, time, dice and the authorizer. Nothing here knows HTTP.

use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::access::{Attributes, Authorizer, Decision, User};
use crate::object;
use crate::options::{Clock, Random, uuid};
use crate::registry::{Registry, Resource};
use crate::security::Security;
use crate::status::{Result, Status};
use crate::store::{Entry, Error, Expect, Scan, Store, Write};
use crate::verb::Taken;

/// Largest object that is stored, as etcd has it by default.
const LARGEST: usize = 1536 * 1024;

/// The served state.
pub(crate) struct Cluster {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    registry: RwLock<Arc<Registry>>,
    pub(crate) security: Security,
    /// Addresses and ports of Services.
    pub(crate) services: Taken,
    /// Held while the names of definitions are accepted.
    pub(crate) naming: tokio::sync::Mutex<()>,
    /// Work that goes on after its request was answered.
    pub(crate) tasks: TaskTracker,
}

impl Cluster {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        security: Security,
    ) -> Self {
        let registry = RwLock::new(Arc::new(Registry::builtin()));
        Self {
            store,
            clock,
            random,
            registry,
            security,
            services: Taken::default(),
            naming: tokio::sync::Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    pub(crate) fn authorize(&self, user: &User, attributes: &Attributes) -> Decision {
        self.security.rbac.authorize(user, attributes)
    }

    pub(crate) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the resources of one CRD.
    pub(crate) fn serve_definition(&self, group: &str, plural: &str, definition: Option<&Value>, revision: u64) {
        let mut registry = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        *registry = Arc::new(registry.with_definition(group, plural, definition, revision));
    }

    /// A built-in resource that this server cannot do without.
    pub(crate) fn builtin(&self, group: &str, version: &str, plural: &str) -> Result<Arc<Resource>> {
        let found = self.registry().find(group, version, plural).cloned();
        found.ok_or_else(|| Box::new(Status::internal(format!("{plural} are not served"))))
    }

    pub(crate) fn get(&self, key: &str) -> Result<Option<Entry>> {
        self.store.get(key).map_err(|error| failure(&error))
    }

    pub(crate) fn scan(&self, scan: &Scan<'_>) -> std::result::Result<crate::store::Page, Error> {
        self.store.scan(scan)
    }

    /// Everything in a scope, in the order of keys.
    pub(crate) fn all(&self, scope: &str) -> Result<Vec<(Arc<str>, Entry)>> {
        let scan = Scan {
            scope,
            ..Scan::default()
        };
        let page = self.store.scan(&scan).map_err(|error| failure(&error))?;
        Ok(page.entries)
    }

    /// Writes an object; `Ok(Err(now))` when the expectation does not hold.
    pub(crate) async fn put(
        &self,
        resource: &Resource,
        key: &Arc<str>,
        expect: Expect,
        object: &Value,
    ) -> Result<std::result::Result<Entry, Option<Entry>>> {
        let value = object::encode(resource, object);
        if value.len() > LARGEST {
            // Upstream's store says it so, and clients know the words.
            return Err(Box::new(Status::new(500, "", "etcdserver: request is too large")));
        }
        let write = Write {
            key: Arc::clone(key),
            expect,
            value: Some(value.clone()),
        };
        match self.store.write(write).await {
            Ok(revision) => {
                let created = match expect {
                    Expect::Absent => revision,
                    Expect::Revision(old) => old,
                };
                Ok(Ok(Entry {
                    value,
                    created,
                    modified: revision,
                }))
            }
            Err(Error::Conflict(now)) => Ok(Err(now)),
            Err(error) => Err(failure(&error)),
        }
    }

    /// Removes an object; gives the revision of the removal, or `Ok(Err(now))`.
    pub(crate) async fn remove(
        &self,
        key: &Arc<str>,
        modified: u64,
    ) -> Result<std::result::Result<u64, Option<Entry>>> {
        let write = Write {
            key: Arc::clone(key),
            expect: Expect::Revision(modified),
            value: None,
        };
        match self.store.write(write).await {
            Ok(revision) => Ok(Ok(revision)),
            Err(Error::Conflict(now)) => Ok(Err(now)),
            Err(error) => Err(failure(&error)),
        }
    }

    /// Now, as timestamps in metadata are written: whole seconds, UTC.
    pub(crate) fn timestamp(&self) -> String {
        timestamp(self.clock.now())
    }

    /// A fresh version 4 UUID.
    pub(crate) fn uid(&self) -> String {
        uuid(&*self.random)
    }

    /// Five characters that cannot form a word, for generated names.
    pub(crate) fn suffix(&self) -> String {
        const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut bytes = [0_u8; 5];
        self.random.fill(&mut bytes);
        bytes
            .iter()
            .map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]))
            .collect()
    }
}

/// Whole seconds, UTC, with `Z`.
pub(crate) fn timestamp(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A backend's failure as an answer.
pub(crate) fn failure(error: &Error) -> Box<Status> {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Box::new(Status::internal(text))
}
