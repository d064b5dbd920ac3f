//! Backend that keeps everything in one directory and survives being killed.
//!
//! One thread commits: it takes the writes that are waiting, checks each against what the ones before it left, and makes
//! them durable together (group commit), so that many writers share the cost of one flush. A write is acknowledged after
//! that flush and never before. Readers look at a snapshot that belongs to a revision; it moves on before the batch's
//! events are published. A listing in pages pins its snapshot, so that its later pages are plain scans, too. Values
//! lie compressed on disk; memory is bounded by the caches below, not by the number of objects. The recent past is not
//! kept over a restart: a watch from before it gets 410 and lists again.

use std::collections::{HashMap, VecDeque};
use std::ops::Bound;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, mpsc};
use std::thread::JoinHandle;

use bytes::Bytes;
use fjall::compaction::Leveled;
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable, Snapshot};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use super::history::within;
use super::memory::{check, page};
use super::{Entry, Error, Event, History, Page, Scan, Store, Write};

/// Blocks read lately; filled as they are read.
const CACHE: u64 = 64 << 20;
/// What was written and is not sorted into files yet: a share of what lies on disk, within these bounds. What an object
/// costs grows with how often it is merged, which grows with how much larger the files are than what is added to them.
const MEMTABLE: std::ops::RangeInclusive<u64> = 16 << 20..=128 << 20;
/// The share.
const MEMTABLE_SHARE: u64 = 16;
/// A write in a memtable beside its key and value, roughly.
const OVERHEAD: u64 = 64;
/// Journals kept until everything in them is in files, at most.
const JOURNAL: u64 = 512 << 20;
/// Neighbours (the objects of a namespace) compress well together; a single read unpacks one block.
const BLOCK: u32 = 16 << 10;
/// Files of the newest level, one per memtable, that are merged into the next level together. Half of what fjall halts
/// writers at.
const NEWEST: u8 = 16;
/// Compressed bytes of a file. With `NEWEST` it decides the size of the first sorted level (128 MiB), which should be
/// about what is merged into it at once: each merge rewrites all of it.
const FILE: u64 = 8 << 20;
/// How much more each further level may hold.
const FANOUT: f32 = 8.0;
/// Threads that write and merge files. fjall keeps one for writing alone, which hands merges back while the others are
/// busy, again and again: with two, its default on two cores, that took a third of the processor time of a load.
const WORKERS: usize = 4;
/// Writes made durable together at most.
const BATCH: usize = 1024;
/// Keys counted beyond a page; whoever pages through more is told this number, then what is left of it, until it is
/// counted again. The API calls it an estimate, and counting to the end would make a complete listing quadratic.
const COUNTED: u64 = 10_000;

/// Listings that go on at the same time, each at its own revision; a pin costs next to nothing.
const PINS: usize = 256;
/// A listing may take as many writes as this; then its pin goes, and with it the old versions that it kept on disk.
const PINNED: u64 = 1_000_000;

/// Key of the last revision in the keyspace of the same name.
const REVISION: &str = "revision";

type Reply = oneshot::Sender<Result<u64, Error>>;

enum Job {
    Write(Write, Reply),
    Stop,
}

/// What readers see.
#[derive(Clone)]
struct View {
    snapshot: Snapshot,
    revision: u64,
}

struct Shared {
    objects: Keyspace,
    view: RwLock<View>,
    /// Held while view and history move on, one after the other: whoever needs both to show the same waits here.
    moving: Mutex<()>,
    /// Views that listings go on with, in the order of their revisions.
    pins: Mutex<VecDeque<View>>,
    history: Arc<History>,
}

/// The store in a directory.
pub struct Disk {
    shared: Arc<Shared>,
    jobs: mpsc::Sender<Job>,
    committer: Option<JoinHandle<()>>,
}

impl Disk {
    /// Opens the store in `directory`, making it if there is none, and keeps `history` events in memory.
    ///
    /// # Errors
    /// The directory cannot be used, is in use, or holds something else.
    pub fn open(directory: &Path, history: usize) -> Result<Self, Error> {
        let open = |source| backend("open the store", source);
        let database = Database::builder(directory)
            .cache_size(CACHE)
            .max_journaling_size(JOURNAL)
            .worker_threads(WORKERS)
            .manual_journal_persist(true)
            .open()
            .map_err(open)?;
        let options = || {
            KeyspaceCreateOptions::default()
                // The committer is earlier; after a restart it does not know what the journal brought.
                .max_memtable_size(2 * MEMTABLE.end())
                .data_block_size_policy(BlockSizePolicy::all(BLOCK))
                // On the upper levels, too: writing less costs less than compressing.
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
                .compaction_strategy(Arc::new(
                    Leveled::default()
                        .with_l0_threshold(NEWEST)
                        .with_table_target_size(FILE)
                        .with_level_ratio_policy(vec![FANOUT]),
                ))
        };
        let objects = database.keyspace("objects", options).map_err(open)?;
        let facts = database.keyspace(REVISION, options).map_err(open)?;
        let revision = facts.get(REVISION).map_err(open)?;
        let revision = revision
            .and_then(|bytes| Some(u64::from_be_bytes(bytes.as_ref().try_into().ok()?)))
            .unwrap_or(1);
        let shared = Arc::new(Shared {
            objects,
            view: RwLock::new(View {
                snapshot: database.snapshot(),
                revision,
            }),
            moving: Mutex::default(),
            pins: Mutex::default(),
            history: Arc::new(History::new(revision, history)),
        });
        let (jobs, waiting) = mpsc::channel();
        let committer = Committer {
            database,
            facts,
            room: memtable(shared.objects.disk_space()),
            shared: Arc::clone(&shared),
            revision,
        };
        let committer = std::thread::Builder::new()
            .name("store-commit".to_owned())
            .spawn(move || committer.run(&waiting))
            .map_err(|source| backend("start the committer", source))?;
        Ok(Self {
            shared,
            jobs,
            committer: Some(committer),
        })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // What was asked for before is still committed; the directory is free afterwards.
        let _ = self.jobs.send(Job::Stop);
        if let Some(committer) = self.committer.take() {
            let _ = committer.join();
        }
    }
}

impl std::fmt::Debug for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Disk")
            .field("revision", &self.shared.view().revision)
            .finish_non_exhaustive()
    }
}

impl Store for Disk {
    fn revision(&self) -> u64 {
        self.shared.view().revision
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, Error> {
        self.shared.get(&self.shared.view().snapshot, key)
    }

    fn scan(&self, scan: &Scan<'_>) -> Result<Page, Error> {
        let view = self.shared.view();
        match scan.at {
            Some(revision) if revision < view.revision => match self.shared.pinned(revision) {
                Some(view) => self.shared.scan(&view, scan),
                None => self.scan_past(scan, revision),
            },
            _ => {
                let page = self.shared.scan(&view, scan)?;
                if page.more {
                    self.shared.pin(view);
                }
                Ok(page)
            }
        }
    }

    fn write(&self, write: Write) -> BoxFuture<'static, Result<u64, Error>> {
        // The channel holds what requests in flight hold anyway, so their number is its bound.
        let (reply, result) = oneshot::channel();
        if self.jobs.send(Job::Write(write, reply)).is_err() {
            return std::future::ready(Err(stopped())).boxed();
        }
        async move { result.await.unwrap_or_else(|_| Err(stopped())) }.boxed()
    }

    fn history(&self) -> &Arc<History> {
        &self.shared.history
    }
}

impl Disk {
    /// A page as it was: what is stored now with what the history says was different.
    fn scan_past(&self, scan: &Scan<'_>, revision: u64) -> Result<Page, Error> {
        let (view, then) = {
            let _still = lock(&self.shared.moving);
            (self.shared.view(), self.shared.history.overlay(scan.scope, revision)?)
        };
        // Enough to fill the page even if everything that has changed since is not part of it.
        let enough = if scan.limit == 0 {
            usize::MAX
        } else {
            scan.limit + then.len() + 1
        };
        let mut now = Vec::new();
        let mut cut = false;
        for guard in self.shared.range(&view, scan) {
            let (key, value) = guard.into_inner().map_err(|source| backend("scan", source))?;
            let key = text(&key)?;
            if !within(key, scan.scope) {
                break;
            }
            if now.len() == enough {
                cut = true;
                break;
            }
            now.push((Arc::from(key), decode(&value)?));
        }
        let mut result = page(now.into_iter(), then, scan, revision);
        result.more |= cut;
        Ok(result)
    }
}

impl Shared {
    fn view(&self) -> View {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps what a listing goes on with.
    fn pin(&self, view: View) {
        let mut pins = lock(&self.pins);
        let at = pins.partition_point(|pin| pin.revision < view.revision);
        if pins.get(at).is_none_or(|pin| pin.revision > view.revision) {
            pins.insert(at, view);
        }
        if pins.len() > PINS {
            pins.pop_front();
        }
    }

    fn pinned(&self, revision: u64) -> Option<View> {
        let pins = lock(&self.pins);
        let at = pins.binary_search_by_key(&revision, |pin| pin.revision).ok()?;
        pins.get(at).cloned()
    }

    /// Lets go of what was pinned too long ago.
    fn unpin(&self, revision: u64) {
        let mut pins = lock(&self.pins);
        while pins.front().is_some_and(|pin| pin.revision + PINNED < revision) {
            pins.pop_front();
        }
    }

    /// Everything from where a scan starts.
    fn range(&self, view: &View, scan: &Scan<'_>) -> fjall::Iter {
        let start = scan.after.map_or(Bound::Included(scan.scope), Bound::Excluded);
        view.snapshot.range::<&str, _>(&self.objects, (start, Bound::Unbounded))
    }

    fn scan(&self, view: &View, scan: &Scan<'_>) -> Result<Page, Error> {
        let mut guards = self.range(view, scan);
        let mut result = Page {
            revision: view.revision,
            ..Page::default()
        };
        for guard in guards.by_ref() {
            let (key, value) = guard.into_inner().map_err(|source| backend("scan", source))?;
            let key = text(&key)?;
            if !within(key, scan.scope) {
                return Ok(result);
            }
            if scan.limit > 0 && result.entries.len() == scan.limit {
                result.more = true;
                result.remaining = scan.left.saturating_sub(result.entries.len() as u64).max(1);
                break;
            }
            result.entries.push((key.into(), decode(&value)?));
        }
        if result.more && result.remaining == 1 {
            for guard in guards {
                let key = guard.key().map_err(|source| backend("scan", source))?;
                if !within(text(&key)?, scan.scope) || result.remaining == COUNTED {
                    break;
                }
                result.remaining += 1;
            }
        }
        Ok(result)
    }

    fn get(&self, snapshot: &Snapshot, key: &str) -> Result<Option<Entry>, Error> {
        let value = snapshot
            .get(&self.objects, key)
            .map_err(|source| backend("read", source))?;
        value.map(|value| decode(&value)).transpose()
    }
}

/// The only writer.
struct Committer {
    database: Database,
    facts: Keyspace,
    shared: Arc<Shared>,
    revision: u64,
    /// Bytes until what was written goes into a file.
    room: u64,
}

impl Committer {
    fn run(mut self, jobs: &mpsc::Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let mut writes = Vec::new();
            let mut stop = false;
            for job in std::iter::once(first).chain(jobs.try_iter().take(BATCH - 1)) {
                match job {
                    Job::Write(write, reply) => writes.push((write, reply)),
                    Job::Stop => {
                        stop = true;
                        break;
                    }
                }
            }
            self.commit(writes);
            if stop {
                return;
            }
        }
    }

    fn commit(&mut self, writes: Vec<(Write, Reply)>) {
        let snapshot = self.shared.view().snapshot;
        let mut pending: HashMap<Arc<str>, Option<Entry>> = HashMap::new();
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncData));
        let (mut events, mut replies) = (Vec::new(), Vec::new());
        let (mut revision, mut written) = (self.revision, 0);
        for (write, reply) in writes {
            let current = match pending.get(&write.key) {
                Some(entry) => Ok(entry.clone()),
                None => self.shared.get(&snapshot, &write.key),
            };
            let previous = match current.and_then(|current| check(write.expect, current.as_ref()).map(|()| current)) {
                Ok(previous) => previous,
                Err(error) => {
                    // Whoever asked may be gone.
                    let _ = reply.send(Err(error));
                    continue;
                }
            };
            revision += 1;
            let created = previous.as_ref().map_or(revision, |entry| entry.created);
            let entry = write.value.map(|value| Entry {
                value,
                created,
                modified: revision,
            });
            let size = entry.as_ref().map_or(0, |entry| entry.value.len()) + write.key.len();
            written += size as u64 + OVERHEAD;
            match &entry {
                Some(entry) => batch.insert(&self.shared.objects, &*write.key, encode(entry)),
                None => batch.remove(&self.shared.objects, &*write.key),
            }
            pending.insert(Arc::clone(&write.key), entry.clone());
            events.push(Event::new(write.key, revision, entry, previous));
            replies.push((reply, revision));
        }
        if events.is_empty() {
            return;
        }
        batch.insert(&self.facts, REVISION, revision.to_be_bytes());
        if let Err(source) = batch.commit() {
            let error = backend("commit", source);
            for (reply, _) in replies {
                let _ = reply.send(Err(error.clone()));
            }
            return;
        }
        self.revision = revision;
        {
            let _moving = lock(&self.shared.moving);
            // First what readers see, so that nobody hears of what they cannot read yet; they do not wait while
            // watchers, however many, are told.
            *self.shared.view.write().unwrap_or_else(PoisonError::into_inner) = View {
                snapshot: self.database.snapshot(),
                revision,
            };
            self.shared.history.publish(events);
        }
        self.shared.unpin(revision);
        for (reply, revision) in replies {
            let _ = reply.send(Ok(revision));
        }
        self.room = self.room.saturating_sub(written);
        if self.room == 0 {
            self.sort();
        }
    }

    /// Has what was written so far sorted into files.
    fn sort(&mut self) {
        // Both at the same time: a journal goes when nothing in it is needed. An error here is the next commit's, too,
        // which has someone to tell.
        for keyspace in [&self.shared.objects, &self.facts] {
            let _ = keyspace.rotate_memtable();
        }
        self.room = memtable(self.shared.objects.disk_space());
    }
}

/// How much is written before it goes into a file, beside so much on disk.
fn memtable(disk: u64) -> u64 {
    (disk / MEMTABLE_SHARE).clamp(*MEMTABLE.start(), *MEMTABLE.end())
}

/// Created and modified revision, then the value.
fn encode(entry: &Entry) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 + entry.value.len());
    bytes.extend_from_slice(&entry.created.to_be_bytes());
    bytes.extend_from_slice(&entry.modified.to_be_bytes());
    bytes.extend_from_slice(&entry.value);
    bytes
}

fn decode(bytes: &[u8]) -> Result<Entry, Error> {
    let read = || {
        let (created, rest) = bytes.split_first_chunk::<8>()?;
        let (modified, value) = rest.split_first_chunk::<8>()?;
        let value = Bytes::copy_from_slice(value);
        Some(Entry {
            value,
            created: u64::from_be_bytes(*created),
            modified: u64::from_be_bytes(*modified),
        })
    };
    read().ok_or_else(|| backend("read a stored value", std::io::Error::other("it is too short")))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(key: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(key).map_err(|source| backend("read a stored key", source))
}

fn backend(action: &'static str, source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Backend {
        action,
        source: Arc::new(source),
    }
}

fn stopped() -> Error {
    backend("write", std::io::Error::other("the store is closed"))
}

#[cfg(test)]
mod tests;
