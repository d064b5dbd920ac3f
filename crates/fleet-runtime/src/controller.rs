//! The loop around a reconcile function: keys in, calls out, bounded in number, repeated as the
//! result says. The one place where failures are logged and turned into delays.

use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::disposition::{Backoff, Failure, error_policy};
use crate::queue::Queue;

/// When to look at an object again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// When something changes.
    AwaitChange,
    /// After this long at the latest.
    After(Duration),
}

impl Action {
    /// The earlier of two.
    #[must_use]
    pub fn sooner(self, other: Self) -> Self {
        match (self, other) {
            (Self::After(a), Self::After(b)) => Self::After(a.min(b)),
            (Self::After(a), Self::AwaitChange) | (Self::AwaitChange, Self::After(a)) => Self::After(a),
            (Self::AwaitChange, Self::AwaitChange) => Self::AwaitChange,
        }
    }
}

/// How a controller runs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Name in logs.
    pub name: &'static str,
    /// Calls at the same time.
    pub workers: usize,
    /// Delays after failures.
    pub backoff: Backoff,
}

impl Options {
    /// A controller with the usual delays.
    #[must_use]
    pub fn new(name: &'static str, workers: usize) -> Self {
        Self {
            name,
            workers,
            backoff: Backoff::default(),
        }
    }
}

/// Works on the keys of `queue` until `shutdown`; calls under way then are awaited.
pub async fn run<Key, Fut, E>(
    options: Options,
    queue: Queue<Key>,
    reconcile: impl Fn(Key) -> Fut + Send,
    shutdown: CancellationToken,
) where
    Key: Ord + Clone + Hash + std::fmt::Display + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, E>> + Send + 'static,
    E: Failure,
{
    let mut calls: JoinSet<()> = JoinSet::new();
    loop {
        while calls.len() >= options.workers.max(1) {
            calls.join_next().await;
        }
        let key = tokio::select! {
            () = shutdown.cancelled() => break,
            key = queue.next() => key,
            Some(_) = calls.join_next(), if !calls.is_empty() => continue,
        };
        let future = reconcile(key.clone());
        let queue = queue.clone();
        calls.spawn(async move {
            // A panic of the call must not leave the key marked as being worked on.
            let guard = Guard {
                queue: &queue,
                key: &key,
            };
            let result = future.await;
            settle(&options, &queue, &key, result);
            drop(guard);
        });
    }
    while calls.join_next().await.is_some() {}
}

struct Guard<'a, Key: Ord + Clone> {
    queue: &'a Queue<Key>,
    key: &'a Key,
}

impl<Key: Ord + Clone> Drop for Guard<'_, Key> {
    fn drop(&mut self) {
        self.queue.done(self.key);
    }
}

fn settle<Key, E>(options: &Options, queue: &Queue<Key>, key: &Key, result: Result<Action, E>)
where
    Key: Ord + Clone + Hash + std::fmt::Display,
    E: Failure,
{
    match result {
        Ok(action) => {
            queue.succeeded(key);
            if let Action::After(delay) = action {
                queue.add_after(key.clone(), delay);
            }
        }
        Err(error) => {
            let failures = queue.failed(key);
            let mut hasher = DefaultHasher::new();
            key.hash(&mut hasher);
            let delay = error_policy(&error, &options.backoff, failures, hasher.finish());
            tracing::warn!(
                controller = options.name, %key, failures, reason = error.reason(),
                again_in = ?delay, error = crate::chain(&error), "reconcile failed"
            );
            if let Some(delay) = delay {
                queue.add_after(key.clone(), delay);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Debug, thiserror::Error)]
    #[error("no")]
    struct No;
    impl Failure for No {}

    #[tokio::test(start_paused = true)]
    async fn failures_are_repeated_until_they_stop() {
        let queue = Queue::default();
        queue.add("a".to_owned());
        let calls = Arc::new(AtomicU32::new(0));
        let shutdown = CancellationToken::new();
        let (counter, stop) = (calls.clone(), shutdown.clone());
        let reconcile = move |_: String| {
            let (counter, stop) = (counter.clone(), stop.clone());
            async move {
                if counter.fetch_add(1, Ordering::SeqCst) < 3 {
                    return Err(No);
                }
                stop.cancel();
                Ok(Action::AwaitChange)
            }
        };
        run(Options::new("test", 1), queue, reconcile, shutdown).await;
        assert_eq!(calls.load(Ordering::SeqCst), 4);
    }
}
