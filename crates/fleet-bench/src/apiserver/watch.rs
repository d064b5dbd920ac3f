//! From a write to the last of many watchers, each with a connection of its own as agents have.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::client::{Access, Asked, Connection};
use crate::payload;
use crate::side::{NAMESPACE, Side, objects};

/// A write that takes longer to arrive is lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// Watchers that shake hands at the same time.
const OPENING: usize = 32;

/// Open watches and somebody who writes.
pub(super) struct Watches {
    writer: Connection,
    shared: Arc<Shared>,
    complete: mpsc::UnboundedReceiver<()>,
    _readers: JoinSet<()>,
}

struct Shared {
    watchers: usize,
    /// When each watcher has seen the write at hand.
    arrived: Mutex<Vec<Instant>>,
    done: mpsc::UnboundedSender<()>,
}

/// How long a write was on its way.
pub(super) struct Seen {
    pub(super) last: Duration,
    /// Milliseconds of each watcher.
    pub(super) all: Vec<f64>,
}

impl Watches {
    pub(super) async fn open(side: &Side, watchers: usize) -> Result<Self> {
        let mut writer = side.user.connect().await?;
        let list = writer.must(Asked::get(&format!("{}?limit=1", objects()))).await?;
        let list: serde_json::Value = serde_json::from_slice(&list)?;
        let version = list["metadata"]["resourceVersion"]
            .as_str()
            .context("a list has no version")?;
        let (done, complete) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            watchers,
            arrived: Mutex::new(Vec::with_capacity(watchers)),
            done,
        });
        let mut opening = JoinSet::new();
        let mut readers = JoinSet::new();
        let path = format!("{}?watch=1&resourceVersion={version}&timeoutSeconds=3600", objects());
        for opened in 0..watchers + OPENING {
            if opened < watchers {
                let (user, path) = (side.user.clone(), path.clone());
                opening.spawn(async move { open(&user, &path).await });
            }
            if opened >= OPENING.min(watchers)
                && let Some(body) = opening.join_next().await
            {
                let (connection, body) = body??;
                readers.spawn(follow(connection, body, Arc::clone(&shared)));
            }
        }
        Ok(Self {
            writer,
            shared,
            complete,
            _readers: readers,
        })
    }

    /// Writes once and waits until everybody has seen it.
    pub(super) async fn write(&mut self, number: usize) -> Result<Seen> {
        lock(&self.shared.arrived).clear();
        let body = payload::config_map(NAMESPACE, &format!("watched-{number}"), number as u64);
        let begin = Instant::now();
        self.writer.create(&objects(), body).await?;
        if timeout(PATIENCE, self.complete.recv()).await.is_err() {
            let arrived = lock(&self.shared.arrived).len();
            bail!("a write reached {arrived} of {} watchers", self.shared.watchers);
        }
        let since = |at: &Instant| at.duration_since(begin);
        let arrived = lock(&self.shared.arrived);
        let last = arrived.iter().map(since).max().unwrap_or_default();
        let all = arrived.iter().map(|at| since(at).as_secs_f64() * 1e3).collect();
        Ok(Seen { last, all })
    }
}

async fn open(user: &Access, path: &str) -> Result<(Connection, Incoming)> {
    let mut connection = user.connect().await?;
    let response = connection.send(Asked::get(path)).await?;
    if !response.status().is_success() {
        bail!("a watch was refused with {}", response.status());
    }
    Ok((connection, response.into_body()))
}

/// Notes when events come; an event is a line.
async fn follow(_connection: Connection, mut body: Incoming, shared: Arc<Shared>) {
    while let Some(Ok(frame)) = body.frame().await {
        let now = Instant::now();
        let Some(data) = frame.data_ref() else { continue };
        for _ in memchr::memchr_iter(b'\n', data) {
            let mut arrived = lock(&shared.arrived);
            arrived.push(now);
            if arrived.len() == shared.watchers {
                // The writer may have given up.
                let _ = shared.done.send(());
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
