//! Keys, bytes and one global revision: what is stored, and what happened to it.
//!
//! Mirrors what kube-apiserver asks of etcd plus its watch cache: compare-and-swap by revision, ordered scans, reads at
//! an earlier revision while the history reaches back, and resumable watches. A backend never looks into the bytes.
//!
//! Keys are `/GROUP/RESOURCE/NAME` or `/GROUP/RESOURCE/NAMESPACE/NAME`, `core` for the core group. A *scope* is a key,
//! or a prefix of keys that ends in `/`, or the empty string for everything.

pub mod disk;
pub mod history;
pub mod memory;

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;

pub use history::{Event, History, Subscription};

/// A stored value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The bytes as written.
    pub value: Bytes,
    /// Revision at which the key was made.
    pub created: u64,
    /// Revision of the last write.
    pub modified: u64,
}

/// What must be true of the key for a write to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// There is no such key.
    Absent,
    /// The key's last write was at this revision.
    Revision(u64),
}

/// One write: `value: None` removes the key.
#[derive(Debug, Clone)]
pub struct Write {
    /// Full key.
    pub key: Arc<str>,
    /// Precondition.
    pub expect: Expect,
    /// New bytes, or none to delete.
    pub value: Option<Bytes>,
}

/// A page of an ordered scan.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Key and value, in key order.
    pub entries: Vec<(Arc<str>, Entry)>,
    /// Revision the page shows.
    pub revision: u64,
    /// Whether keys follow after the last one.
    pub more: bool,
    /// How many keys follow after the last one, at least where there are very many; 0 without a limit.
    pub remaining: u64,
}

/// Which part of the key space to read, and when.
#[derive(Debug, Clone, Default)]
pub struct Scan<'a> {
    /// Scope, see the module.
    pub scope: &'a str,
    /// Start behind this key.
    pub after: Option<&'a str>,
    /// At most so many keys; 0 for all.
    pub limit: usize,
    /// As of this revision instead of now.
    pub at: Option<u64>,
    /// How many keys are known to follow behind `after`: an earlier page's `remaining`. Spares counting them again.
    pub left: u64,
}

/// Why the store did not do it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The precondition does not hold; what the key holds now is inside.
    #[error("the key was changed by someone else")]
    Conflict(Option<Entry>),
    /// The revision asked for is older than the history.
    #[error("revision {asked} is no longer kept, the oldest is {oldest}")]
    Expired {
        /// Revision asked for.
        asked: u64,
        /// Oldest one that can still be read from.
        oldest: u64,
    },
    /// The backend failed.
    #[error("cannot {action}")]
    Backend {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
}

/// A backend.
///
/// Guarantees: writes are totally ordered, each successful one has its own revision; an acknowledged write is seen by
/// every later read and survives a crash if the backend is persistent; events are published in revision order, after
/// they are readable. Backends may commit several writes together behind [`Store::write`].
pub trait Store: Send + Sync + 'static {
    /// The last revision; at least 1.
    fn revision(&self) -> u64;

    /// Reads one key.
    ///
    /// # Errors
    /// [`Error::Backend`].
    fn get(&self, key: &str) -> Result<Option<Entry>, Error>;

    /// Reads keys in order.
    ///
    /// # Errors
    /// [`Error::Expired`] for a revision that is no longer kept, [`Error::Backend`].
    fn scan(&self, scan: &Scan<'_>) -> Result<Page, Error>;

    /// Writes one key and gives the revision of the write. Writing is done when the future resolves, also durably.
    fn write(&self, write: Write) -> BoxFuture<'static, Result<u64, Error>>;

    /// The recent past and the subscribers; backends publish into it.
    fn history(&self) -> &Arc<History>;
}
