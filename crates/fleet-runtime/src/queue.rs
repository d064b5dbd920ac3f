//! A work queue of keys: each key is queued once, worked on by one worker at a time, queued again
//! if it changes meanwhile, and can be put off. Says when nothing is left to do.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// A queue of keys. Clones share the content.
#[derive(Debug)]
pub struct Queue<Key> {
    shared: Arc<Shared<Key>>,
}

#[derive(Debug)]
struct Shared<Key> {
    state: Mutex<State<Key>>,
    arrived: Notify,
    settled: Notify,
}

#[derive(Debug)]
struct State<Key> {
    ready: VecDeque<Key>,
    queued: BTreeSet<Key>,
    active: BTreeSet<Key>,
    again: BTreeSet<Key>,
    delayed: BTreeMap<(Instant, u64), Key>,
    delay_of: BTreeMap<Key, (Instant, u64)>,
    failures: BTreeMap<Key, u32>,
    counter: u64,
}

impl<Key> Clone for Queue<Key> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<Key: Ord + Clone> Default for Queue<Key> {
    fn default() -> Self {
        let state = State {
            ready: VecDeque::new(),
            queued: BTreeSet::new(),
            active: BTreeSet::new(),
            again: BTreeSet::new(),
            delayed: BTreeMap::new(),
            delay_of: BTreeMap::new(),
            failures: BTreeMap::new(),
            counter: 0,
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                arrived: Notify::new(),
                settled: Notify::new(),
            }),
        }
    }
}

impl<Key: Ord + Clone> Queue<Key> {
    /// Queues a key now. A key that is being worked on is queued when that ends.
    pub fn add(&self, key: Key) {
        self.lock().push(key);
        self.shared.arrived.notify_one();
    }

    /// Queues a key after `delay`; the earlier of two delays wins.
    pub fn add_after(&self, key: Key, delay: Duration) {
        if delay.is_zero() {
            return self.add(key);
        }
        let mut state = self.lock();
        let due = Instant::now() + delay;
        if let Some(known) = state.delay_of.get(&key).copied() {
            if known.0 <= due {
                return;
            }
            state.delayed.remove(&known);
        }
        state.counter += 1;
        let slot = (due, state.counter);
        state.delayed.insert(slot, key.clone());
        state.delay_of.insert(key, slot);
        drop(state);
        self.shared.arrived.notify_one();
    }

    /// Takes the next key; it stays with the caller until [`Queue::done`].
    pub async fn next(&self) -> Key {
        loop {
            let due = {
                let mut state = self.lock();
                state.ripen(Instant::now());
                if let Some(key) = state.ready.pop_front() {
                    state.queued.remove(&key);
                    state.active.insert(key.clone());
                    if !state.ready.is_empty() {
                        self.shared.arrived.notify_one();
                    }
                    return key;
                }
                state.delayed.keys().next().map(|(due, _)| *due)
            };
            let arrived = self.shared.arrived.notified();
            match due {
                None => arrived.await,
                Some(due) => tokio::select! {
                    () = arrived => {}
                    () = tokio::time::sleep_until(due) => {}
                },
            }
        }
    }

    /// Gives a key back.
    pub fn done(&self, key: &Key) {
        let mut state = self.lock();
        state.active.remove(key);
        if state.again.remove(key) {
            state.push(key.clone());
            self.shared.arrived.notify_one();
        }
        if state.quiet() {
            self.shared.settled.notify_waiters();
        }
    }

    /// Counts a failure of a key; returns how many there were in a row.
    pub fn failed(&self, key: &Key) -> u32 {
        let mut state = self.lock();
        let count = state.failures.entry(key.clone()).or_default();
        *count = count.saturating_add(1);
        *count
    }

    /// Forgets the failures of a key.
    pub fn succeeded(&self, key: &Key) {
        self.lock().failures.remove(key);
    }

    /// Waits until nothing is queued or worked on. Keys that were put off do not count.
    pub async fn idle(&self) {
        loop {
            let mut settled = std::pin::pin!(self.shared.settled.notified());
            settled.as_mut().enable();
            if self.lock().quiet() {
                return;
            }
            settled.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<Key>> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Key: Ord + Clone> State<Key> {
    fn push(&mut self, key: Key) {
        if self.active.contains(&key) {
            self.again.insert(key);
        } else if self.queued.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    fn ripen(&mut self, now: Instant) {
        while let Some(entry) = self.delayed.first_entry() {
            if entry.key().0 > now {
                return;
            }
            let key = entry.remove();
            self.delay_of.remove(&key);
            self.push(key);
        }
    }

    fn quiet(&self) -> bool {
        self.ready.is_empty() && self.active.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_is_queued_once_and_never_worked_on_twice_at_a_time() {
        let queue = Queue::default();
        queue.add("a");
        queue.add("a");
        queue.add("b");
        assert_eq!(queue.next().await, "a");
        queue.add("a");
        assert_eq!(queue.next().await, "b");
        queue.done(&"b");
        queue.done(&"a");
        assert_eq!(queue.next().await, "a");
        queue.done(&"a");
        queue.idle().await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_earlier_delay_wins() {
        let queue = Queue::default();
        let start = Instant::now();
        queue.add_after("a", Duration::from_secs(10));
        queue.add_after("a", Duration::from_secs(2));
        queue.add_after("a", Duration::from_secs(5));
        assert_eq!(queue.next().await, "a");
        assert_eq!(start.elapsed().as_secs(), 2);
    }
}
