//! The recent past as a bounded ring of events, and the watchers that follow it.
//!
//! Mirrors upstream's watch cache. A watcher costs its own buffer; an event goes only to watchers of its key, of a
//! directory above it, or of everything. A watcher that does not keep up is dropped and starts again from where it was.
//! The ring is bounded by events and by bytes, so that large objects do not make the past expensive.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{Entry, Error};

/// What an event costs beside its key and values: itself, its reference count, allocations.
const OVERHEAD: usize = 200;

/// Something that happened to a key.
#[derive(Debug)]
pub struct Event {
    /// Full key.
    pub key: Arc<str>,
    /// Revision of the write.
    pub revision: u64,
    /// What the key holds since; none after a deletion.
    pub entry: Option<Entry>,
    /// What it held before.
    pub previous: Option<Entry>,
    encoded: Mutex<Vec<(u64, Bytes)>>,
}

impl Event {
    /// An event that was not encoded for anyone yet.
    #[must_use]
    pub fn new(key: Arc<str>, revision: u64, entry: Option<Entry>, previous: Option<Entry>) -> Self {
        Self {
            key,
            revision,
            entry,
            previous,
            encoded: Mutex::new(Vec::new()),
        }
    }

    /// What the event holds in memory, roughly; encodings are not counted, they do not stay.
    fn size(&self) -> usize {
        let held = |entry: &Option<Entry>| entry.as_ref().map_or(0, |entry| entry.value.len());
        OVERHEAD + self.key.len() + held(&self.entry) + held(&self.previous)
    }

    /// Drops what was encoded: whoever has not asked by now has to ask for an encoding of their own.
    fn forget_encoded(&self) {
        *lock(&self.encoded) = Vec::new();
    }

    /// The event in one output form; `make` runs once per form, whoever asks first.
    pub fn encoded(&self, form: u64, make: impl FnOnce() -> Bytes) -> Bytes {
        let mut known = lock(&self.encoded);
        if let Some((_, bytes)) = known.iter().find(|(other, _)| *other == form) {
            return bytes.clone();
        }
        let bytes = make();
        known.push((form, bytes.clone()));
        bytes
    }
}

/// A watcher's end.
#[derive(Debug)]
pub struct Subscription {
    receiver: mpsc::Receiver<Arc<Event>>,
    backlog: VecDeque<Arc<Event>>,
    after: u64,
    history: Arc<History>,
}

impl Subscription {
    /// The next event; none when the watcher was too slow or the store is gone.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        match self.backlog.pop_front() {
            Some(event) => Some(event),
            None => self.receiver.recv().await,
        }
    }

    /// The next event if there already is one.
    pub fn ready(&mut self) -> Option<Arc<Event>> {
        self.backlog.pop_front().or_else(|| self.receiver.try_recv().ok())
    }

    /// The revision up to which everything has been published. Once [`Self::ready`] has given none *after* this call,
    /// the watcher has seen everything up to it.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.history.revision().max(self.after)
    }
}

#[derive(Debug)]
struct Watcher {
    sender: mpsc::Sender<Arc<Event>>,
    /// It knows everything up to this revision, perhaps before that was published.
    after: u64,
}

#[derive(Debug, Default)]
struct State {
    /// Last published revision.
    revision: u64,
    /// Everything after this revision is in the ring.
    floor: u64,
    ring: VecDeque<Arc<Event>>,
    /// What the ring's events hold.
    bytes: usize,
    watchers: HashMap<Box<str>, Vec<Watcher>>,
}

/// Ring and subscribers of one store.
#[derive(Debug)]
pub struct History {
    capacity: usize,
    bytes: usize,
    buffer: usize,
    state: Mutex<State>,
}

impl History {
    /// Events that one watcher may fall behind before it is dropped.
    const BUFFER: usize = 4096;

    /// What all events together may hold: some tens of thousands of usual ones. Whoever was away for longer lists again.
    const BYTES: usize = 24 << 20;

    /// An empty past that starts after `revision` and keeps `capacity` events, or fewer large ones.
    #[must_use]
    pub fn new(revision: u64, capacity: usize) -> Self {
        let state = State {
            revision,
            floor: revision,
            ..State::default()
        };
        Self {
            capacity,
            bytes: Self::BYTES,
            buffer: Self::BUFFER,
            state: Mutex::new(state),
        }
    }

    /// Last published revision.
    pub fn revision(&self) -> u64 {
        lock(&self.state).revision
    }

    /// Makes events known, in the order of their revisions.
    pub fn publish(&self, events: impl IntoIterator<Item = Event>) {
        let mut state = lock(&self.state);
        for event in events {
            let event = Arc::new(event);
            state.dispatch(&event);
            state.revision = event.revision;
            state.bytes += event.size();
            state.ring.push_back(event);
            while (state.ring.len() > self.capacity || state.bytes > self.bytes)
                && let Some(dropped) = state.ring.pop_front()
            {
                state.bytes -= dropped.size();
                state.floor = dropped.revision;
            }
            // A watcher that is further behind than this is dropped, so nobody shares this encoding any more.
            if let Some(old) = state.ring.len().checked_sub(self.buffer) {
                state.ring[old].forget_encoded();
            }
        }
    }

    /// Follows a scope from behind a revision.
    ///
    /// # Errors
    /// [`Error::Expired`] when the ring does not reach back that far.
    pub fn subscribe(self: &Arc<Self>, scope: &str, after: u64) -> Result<Subscription, Error> {
        let (sender, receiver) = mpsc::channel(self.buffer);
        let mut state = lock(&self.state);
        let backlog = state
            .since(after)?
            .filter(|event| within(&event.key, scope))
            .cloned()
            .collect();
        let watchers = state.watchers.entry(scope.into()).or_default();
        watchers.retain(|watcher| !watcher.sender.is_closed());
        watchers.push(Watcher { sender, after });
        drop(state);
        Ok(Subscription {
            receiver,
            backlog,
            after,
            history: Arc::clone(self),
        })
    }

    /// What the keys of a scope held at a revision, for those that were written since.
    ///
    /// # Errors
    /// [`Error::Expired`] when the ring does not reach back that far.
    pub fn overlay(&self, scope: &str, at: u64) -> Result<BTreeMap<Arc<str>, Option<Entry>>, Error> {
        let mut then = BTreeMap::new();
        for event in lock(&self.state).since(at)?.filter(|event| within(&event.key, scope)) {
            then.entry(Arc::clone(&event.key))
                .or_insert_with(|| event.previous.clone());
        }
        Ok(then)
    }

    /// Ends the watchers of a scope and of everything in it, after what they have not read yet.
    pub fn end(&self, scope: &str) {
        lock(&self.state).watchers.retain(|watched, _| !within(watched, scope));
    }

    /// How many watchers there are, for tests and metrics.
    pub fn watchers(&self) -> usize {
        lock(&self.state)
            .watchers
            .values()
            .flatten()
            .filter(|watcher| !watcher.sender.is_closed())
            .count()
    }
}

impl State {
    fn since(&self, after: u64) -> Result<impl Iterator<Item = &Arc<Event>>, Error> {
        if after < self.floor {
            return Err(Error::Expired {
                asked: after,
                oldest: self.floor,
            });
        }
        let start = self.ring.partition_point(|event| event.revision <= after);
        Ok(self.ring.range(start..))
    }

    fn dispatch(&mut self, event: &Arc<Event>) {
        let key = &event.key;
        self.send("", event);
        for (at, _) in key.match_indices('/').skip(1) {
            self.send(&key[..=at], event);
        }
        self.send(key, event);
    }

    fn send(&mut self, scope: &str, event: &Arc<Event>) {
        let Some(watchers) = self.watchers.get_mut(scope) else {
            return;
        };
        // A full or closed buffer ends the watcher: it may resume from the ring.
        watchers
            .retain(|watcher| watcher.after >= event.revision || watcher.sender.try_send(Arc::clone(event)).is_ok());
        if watchers.is_empty() {
            self.watchers.remove(scope);
        }
    }
}

/// Whether a key lies in a scope.
#[must_use]
pub fn within(key: &str, scope: &str) -> bool {
    if scope.is_empty() || scope.ends_with('/') {
        key.starts_with(scope)
    } else {
        key == scope
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(key: &str, revision: u64) -> Event {
        let entry = Entry {
            value: Bytes::from_static(b"v"),
            created: revision,
            modified: revision,
        };
        Event::new(key.into(), revision, Some(entry), None)
    }

    fn keys(subscription: &mut Subscription) -> Vec<String> {
        std::iter::from_fn(|| subscription.ready())
            .map(|event| event.key.to_string())
            .collect()
    }

    #[test]
    fn a_watcher_gets_the_past_and_the_future_of_its_scope_only() {
        let history = Arc::new(History::new(1, 10));
        history.publish([event("/core/pods/a/x", 2), event("/core/pods/ab/x", 3)]);
        let mut namespace = history.subscribe("/core/pods/a/", 1).unwrap();
        let mut object = history.subscribe("/core/pods/a/x", 1).unwrap();
        let mut all = history.subscribe("", 2).unwrap();
        history.publish([event("/core/pods/a/y", 4)]);
        assert_eq!(keys(&mut namespace), ["/core/pods/a/x", "/core/pods/a/y"]);
        assert_eq!(keys(&mut object), ["/core/pods/a/x"]);
        assert_eq!(keys(&mut all), ["/core/pods/ab/x", "/core/pods/a/y"]);
    }

    #[test]
    fn a_watcher_is_not_told_what_it_already_read() {
        let history = Arc::new(History::new(1, 10));
        // A reader may see a write before it is published.
        let mut early = history.subscribe("", 2).unwrap();
        history.publish([event("/core/pods/a/x", 2), event("/core/pods/a/y", 3)]);
        assert_eq!(keys(&mut early), ["/core/pods/a/y"]);
    }

    #[test]
    fn what_the_ring_forgot_cannot_be_followed() {
        let history = Arc::new(History::new(1, 2));
        history.publish((2..6).map(|revision| event("/core/pods/a/x", revision)));
        assert!(matches!(
            history.subscribe("", 2),
            Err(Error::Expired { asked: 2, oldest: 3 })
        ));
        assert!(history.subscribe("", 3).is_ok());
    }

    #[test]
    fn the_ring_is_bounded_by_what_it_holds() {
        let history = Arc::new(History {
            bytes: 3 * (OVERHEAD + "/core/pods/a/x".len() + 1),
            ..History::new(1, 100)
        });
        history.publish((2..12).map(|revision| event("/core/pods/a/x", revision)));
        assert!(matches!(
            history.subscribe("", 7),
            Err(Error::Expired { oldest: 8, .. })
        ));
        assert_eq!(keys(&mut history.subscribe("", 8).unwrap()).len(), 3);
    }

    #[tokio::test]
    async fn a_watcher_that_does_not_keep_up_is_dropped_after_what_it_has() {
        let history = Arc::new(History {
            buffer: 2,
            ..History::new(1, 10)
        });
        let mut slow = history.subscribe("", 1).unwrap();
        history.publish((2..6).map(|revision| event("/core/pods/a/x", revision)));
        let mut seen = Vec::new();
        while let Some(event) = slow.next().await {
            seen.push(event.revision);
        }
        assert_eq!(seen, [2, 3]);
        assert_eq!(history.watchers(), 0);
    }

    #[test]
    fn an_event_is_encoded_once_per_form() {
        let event = event("/core/pods/a/x", 2);
        let first = event.encoded(1, || Bytes::from_static(b"one"));
        assert_eq!(event.encoded(1, || Bytes::from_static(b"other")), first);
        assert_eq!(event.encoded(2, || Bytes::from_static(b"two")), "two");
    }
}
