//! Waiting for live objects: ready after an operation with a timeout, ended for hooks, served
//! for definitions, gone after a removal. Asks the cluster at growing intervals; each wait has
//! an end.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::cluster;
use crate::kstatus::{self, Standing};
use crate::object::ObjectKey;
use crate::release::item::Item;
use crate::release::{Mode, Ports, hooks};

/// Time a definition has to be served.
const ESTABLISHED: Duration = Duration::from_secs(60);
/// First interval between two looks; doubles up to [`SLOWEST`].
const FIRST: Duration = Duration::from_millis(50);
const SLOWEST: Duration = Duration::from_secs(2);

/// Why a wait ended without what was waited for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not ready in time. One line per object.
    #[error("{0}\ncontext deadline exceeded")]
    NotReady(String),
    /// Will never be ready.
    #[error("{0}")]
    Failed(String),
    /// Could not look.
    #[error("look at {} \"{}\"", .0.kind, .0.name)]
    Look(Box<ObjectKey>, #[source] cluster::Error),
    /// Still there.
    #[error("{} \"{}\" is still there", .0.kind, .0.name)]
    StillThere(ObjectKey),
}

struct Pace {
    until: Instant,
    next: Duration,
}

impl Pace {
    fn new(timeout: Duration) -> Self {
        Self {
            until: Instant::now() + timeout,
            next: FIRST,
        }
    }

    /// Sleeps; false if the time is over.
    async fn again(&mut self) -> bool {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        sleep(self.next.min(left)).await;
        self.next = (self.next * 2).min(SLOWEST);
        true
    }
}

fn line(key: &ObjectKey, standing: &kstatus::Result) -> String {
    format!(
        "resource {}/{}/{} not ready. status: {}, message: {}",
        key.kind,
        key.namespace,
        key.name,
        standing.standing.word(),
        standing.message
    )
}

/// What counts as ready: kstatus, and for jobs their completion if that is asked for.
fn standing(live: Option<&Value>, jobs: bool, now: Timestamp) -> kstatus::Result {
    let Some(live) = live else {
        return kstatus::Result {
            standing: Standing::NotFound,
            message: "Resource not found".to_owned(),
        };
    };
    let found = kstatus::compute(live, now);
    let running = matches!(found.standing, Standing::Current | Standing::InProgress);
    if jobs && live["kind"] == "Job" && running && !kstatus::job_complete(live) {
        return kstatus::Result {
            standing: Standing::InProgress,
            message: "Job in progress".to_owned(),
        };
    }
    found
}

async fn until(ports: &Ports, items: &[Item], timeout: Duration, jobs: bool) -> Result<(), Error> {
    let mut pace = Pace::new(timeout);
    loop {
        let mut lines = Vec::new();
        for item in items {
            let live = ports
                .cluster
                .get(&item.key)
                .await
                .map_err(|error| Error::Look(Box::new(item.key.clone()), error))?;
            let found = standing(live.as_ref(), jobs, (ports.now)());
            match found.standing {
                Standing::Current => {}
                Standing::Failed if jobs => return Err(Error::Failed(line(&item.key, &found))),
                _ => lines.push(line(&item.key, &found)),
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        if !pace.again().await {
            return Err(Error::NotReady(lines.join("\n")));
        }
    }
}

/// Until every object is ready.
pub(crate) async fn ready(ports: &Ports, items: &[Item], mode: &Mode) -> Result<(), Error> {
    until(ports, items, mode.timeout.unwrap_or(hooks::TIMEOUT), mode.wait_for_jobs).await
}

/// Until hooks have ended: jobs complete, pods succeeded, everything else there.
pub(crate) async fn ended(ports: &Ports, items: &[Item], timeout: Duration) -> Result<(), Error> {
    let slow: Vec<Item> = items
        .iter()
        .filter(|item| matches!(item.key.kind.as_str(), "Job" | "Pod"))
        .cloned()
        .collect();
    until(ports, &slow, timeout, true).await
}

/// Until a definition is served.
pub(crate) async fn established(ports: &Ports, key: &ObjectKey) -> Result<(), Error> {
    let mut pace = Pace::new(ESTABLISHED);
    loop {
        let live = ports
            .cluster
            .get(key)
            .await
            .map_err(|error| Error::Look(Box::new(key.clone()), error))?;
        let found = standing(live.as_ref(), false, (ports.now)());
        if found.standing == Standing::Current {
            return Ok(());
        }
        if !pace.again().await {
            return Err(Error::NotReady(line(key, &found)));
        }
    }
}

/// Until an object is gone.
pub(crate) async fn gone(ports: &Ports, key: &ObjectKey, timeout: Duration) -> Result<(), Error> {
    let mut pace = Pace::new(timeout);
    loop {
        match ports.cluster.get(key).await {
            Ok(None) | Err(cluster::Error::UnknownKind { .. }) => return Ok(()),
            Ok(Some(_)) => {}
            Err(error) => return Err(Error::Look(Box::new(key.clone()), error)),
        }
        if !pace.again().await {
            return Err(Error::StillThere(key.clone()));
        }
    }
}
