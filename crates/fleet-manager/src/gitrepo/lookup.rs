//! Which commit a branch is at. One question per repository, branch and credentials serves every
//! GitRepo that asks at about the same time; questions at the same time are bounded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fleet_source::child::{self, Request, Runner, Work};
use fleet_source::git::{Limits, Source};
use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// The commit, or why it is not known.
pub(super) type Answer = Result<String, String>;

struct Entry {
    asked: Instant,
    answer: Shared<BoxFuture<'static, Answer>>,
}

/// Questions under way and recent answers.
#[derive(Clone)]
pub(super) struct Lookups {
    runner: Runner,
    entries: Arc<Mutex<BTreeMap<String, Entry>>>,
    bound: Arc<Semaphore>,
}

/// Answers are forgotten after this long; nobody polls more slowly and wants an old answer.
const KEPT: Duration = Duration::from_secs(600);

impl Lookups {
    pub(super) fn new(runner: Runner, at_once: usize) -> Self {
        Self {
            runner,
            entries: Arc::default(),
            bound: Arc::new(Semaphore::new(at_once.max(1))),
        }
    }

    /// The commit of a source, asked for at most `age` ago.
    pub(super) async fn commit(&self, source: Source, limits: Limits, age: Duration) -> Answer {
        self.share(source, limits, age).await
    }

    fn share(&self, source: Source, limits: Limits, age: Duration) -> Shared<BoxFuture<'static, Answer>> {
        let key = fingerprint(&source);
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|_, entry| entry.asked.elapsed() < KEPT || entry.answer.peek().is_none());
        if let Some(entry) = entries.get(&key)
            && (entry.answer.peek().is_none() || entry.asked.elapsed() < age)
        {
            return entry.answer.clone();
        }
        let (runner, bound) = (self.runner.clone(), self.bound.clone());
        let answer = async move {
            let Ok(_permit) = bound.acquire().await else {
                return Err("the manager is stopping".to_owned());
            };
            let request = Request {
                source,
                work: Work::Resolve,
                limits,
            };
            match runner.run(&request).await {
                Ok(output) => Ok(output.commit),
                Err(error) => Err(explain(&error)),
            }
        }
        .boxed()
        .shared();
        entries.insert(
            key,
            Entry {
                asked: Instant::now(),
                answer: answer.clone(),
            },
        );
        answer
    }
}

/// What went wrong, for the user. The child's own words are complete; other failures are chained.
pub(super) fn explain(error: &child::Error) -> String {
    match error {
        child::Error::Work(failure) => failure.what.clone(),
        other => fleet_runtime::chain(other),
    }
}

/// Everything that decides the answer, as a digest: credentials must not lie around as keys.
fn fingerprint(source: &Source) -> String {
    fleet_api::names::sha256_hex(fleet_api::json::to_string(source).as_bytes())
}
