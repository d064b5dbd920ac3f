//! Work that is due, each piece at most once at a time.
//!
//! A piece that is added while it is worked on is done again afterwards; one that failed comes back after a while that
//! doubles. Mirrors client-go's rate-limited work queue.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

const FIRST_DELAY: Duration = Duration::from_millis(5);
const LAST_DELAY: Duration = Duration::from_secs(60);

/// The queue. Clones share it.
pub(crate) struct Queue<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Notify,
}

struct State<T> {
    due: VecDeque<T>,
    /// What is in `due`, or is to come back to it once its present round is over.
    wanted: HashSet<T>,
    running: HashSet<T>,
    failures: HashMap<T, u32>,
    /// What becomes due later; the number keeps equal times apart.
    later: BTreeMap<(Instant, u64), T>,
    added: u64,
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T: Clone + Eq + Hash> Queue<T> {
    pub(crate) fn new() -> Self {
        let state = State {
            due: VecDeque::new(),
            wanted: HashSet::new(),
            running: HashSet::new(),
            failures: HashMap::new(),
            later: BTreeMap::new(),
            added: 0,
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                changed: Notify::new(),
            }),
        }
    }

    /// Makes a piece of work due.
    pub(crate) fn add(&self, work: T) {
        self.lock().add(work);
        self.shared.changed.notify_one();
    }

    /// Makes a piece of work due after a while.
    pub(crate) fn add_after(&self, work: T, delay: Duration) {
        if delay.is_zero() {
            return self.add(work);
        }
        let mut state = self.lock();
        state.added += 1;
        let number = state.added;
        state.later.insert((Instant::now() + delay, number), work);
        drop(state);
        self.shared.changed.notify_one();
    }

    /// The next piece of work; [`Queue::done`] or [`Queue::failed`] must follow.
    pub(crate) async fn next(&self) -> T {
        loop {
            let changed = self.shared.changed.notified();
            let wake = {
                let mut state = self.lock();
                let wake = state.take_due();
                if let Some(work) = state.due.pop_front() {
                    state.wanted.remove(&work);
                    state.running.insert(work.clone());
                    let more = !state.due.is_empty() || wake.is_some();
                    drop(state);
                    if more {
                        self.shared.changed.notify_one();
                    }
                    return work;
                }
                wake
            };
            match wake {
                Some(time) => {
                    let _ = tokio::time::timeout_at(time, changed).await;
                }
                None => changed.await,
            }
        }
    }

    /// A piece of work ended well.
    pub(crate) fn done(&self, work: &T) {
        let mut state = self.lock();
        state.failures.remove(work);
        state.finish(work);
        drop(state);
        self.shared.changed.notify_one();
    }

    /// A piece of work failed and comes back.
    pub(crate) fn failed(&self, work: &T) {
        let mut state = self.lock();
        let failures = state.failures.entry(work.clone()).or_default();
        let delay = FIRST_DELAY.saturating_mul(1 << (*failures).min(20)).min(LAST_DELAY);
        *failures += 1;
        state.finish(work);
        drop(state);
        self.add_after(work.clone(), delay);
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone + Eq + Hash> State<T> {
    fn add(&mut self, work: T) {
        if self.wanted.insert(work.clone()) && !self.running.contains(&work) {
            self.due.push_back(work);
        }
    }

    /// Moves what has become due, and gives the time of the next that will.
    fn take_due(&mut self) -> Option<Instant> {
        while let Some(entry) = self.later.first_entry() {
            if entry.key().0 > Instant::now() {
                return Some(entry.key().0);
            }
            let work = entry.remove();
            self.add(work);
        }
        None
    }

    fn finish(&mut self, work: &T) {
        self.running.remove(work);
        if self.wanted.contains(work) {
            self.due.push_back(work.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;

    use super::Queue;

    #[tokio::test]
    async fn a_piece_added_while_it_runs_is_done_again_afterwards() {
        let queue = Queue::new();
        queue.add(1);
        queue.add(1);
        let one = queue.next().await;
        queue.add(1);
        assert!(queue.next().now_or_never().is_none());
        queue.done(&one);
        assert_eq!(queue.next().await, 1);
        queue.done(&one);
        assert!(queue.next().now_or_never().is_none());
    }

    #[tokio::test]
    async fn failures_come_back_later_and_later() {
        let queue = Queue::new();
        queue.add("x");
        let mut work = queue.next().await;
        for expected in [5, 10, 20, 40] {
            let start = tokio::time::Instant::now();
            queue.failed(&work);
            work = queue.next().await;
            assert!(start.elapsed().as_millis() >= expected);
        }
    }

    #[tokio::test]
    async fn a_new_earlier_time_wakes_the_waiting_worker() {
        let queue = Queue::new();
        queue.add_after("late", Duration::from_secs(3600));
        let waiting = queue.clone();
        let worker = tokio::spawn(async move { waiting.next().await });
        tokio::task::yield_now().await;
        queue.add_after("early", Duration::from_millis(1));
        assert_eq!(worker.await.unwrap(), "early");
    }
}
