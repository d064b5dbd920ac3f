//! What the controller remembers of its attempts, so that failures are repeated ever more slowly.
//! Only delays depend on it: a manager that starts anew tries everything once, at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fleet_runtime::Key;
use k8s_openapi::jiff::Timestamp;

/// One piece of work that a GitRepo asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) commit: String,
    pub(super) generation: i64,
    pub(super) force: i64,
}

/// Attempts of one GitRepo.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Memory {
    /// Last look for a commit.
    pub(super) looked: Option<Timestamp>,
    /// Generation of the GitRepo at that look.
    pub(super) looked_generation: i64,
    /// Looks that failed in a row.
    pub(super) look_failures: u32,
    /// Last work that failed.
    pub(super) failed: Option<Failed>,
}

/// Work that failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failed {
    pub(super) task: Task,
    pub(super) at: Timestamp,
    /// Failures of this task in a row.
    pub(super) times: u32,
}

/// Attempts of all GitRepos.
#[derive(Clone, Debug, Default)]
pub(super) struct Memories {
    all: Arc<Mutex<BTreeMap<Key, Memory>>>,
}

impl Memories {
    pub(super) fn of(&self, key: &Key) -> Memory {
        self.lock().get(key).cloned().unwrap_or_default()
    }

    pub(super) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    pub(super) fn looked(&self, key: &Key, at: Timestamp, generation: i64, success: bool) {
        let mut all = self.lock();
        let memory = all.entry(key.clone()).or_default();
        memory.looked = Some(at);
        memory.looked_generation = generation;
        memory.look_failures = if success {
            0
        } else {
            memory.look_failures.saturating_add(1)
        };
    }

    pub(super) fn worked(&self, key: &Key, task: &Task, at: Timestamp, success: bool) {
        let mut all = self.lock();
        let memory = all.entry(key.clone()).or_default();
        if success {
            memory.failed = None;
            return;
        }
        let times = memory
            .failed
            .as_ref()
            .filter(|failed| failed.task == *task)
            .map_or(0, |failed| failed.times);
        memory.failed = Some(Failed {
            task: task.clone(),
            at,
            times: times.saturating_add(1),
        });
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Memory>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
