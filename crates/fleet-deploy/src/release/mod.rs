//! A release and what can be done with it: one file per action, each of which reads like the list
//! of its steps. An action is given what was read before ([`crate::store::History`]) and what is
//! wanted ([`Target`]); it writes a pending record, then objects, then the outcome, so that
//! whoever finds the record knows how far a dead predecessor came. Which action is due is decided
//! elsewhere (`helm::step`); nothing here chooses. Mirrors Helm 4's actions as upstream's agent
//! calls them.

mod define;
mod error;
mod item;
mod record;

mod install;
mod recover;
mod rollback;
mod uninstall;
mod upgrade;

mod change;
mod migrate;

pub mod hooks;
mod live;
pub mod wait;

use std::sync::Arc;
use std::time::Duration;

use helm::cache::Cache;
use helm::release::{Hook, Release};
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::cluster::Cluster;
use crate::postrender::Document;

pub(crate) use define::define;
pub use error::Error;
pub(crate) use install::install;
pub use live::live;
pub(crate) use recover::mark_failed;
pub(crate) use rollback::{Way, roll_back};
pub use uninstall::{forget, uninstall};
pub(crate) use upgrade::{Numbers, upgrade};

/// How a release is written.
#[derive(Clone, Debug, Default)]
pub struct Mode {
    /// Time for hooks and for readiness; 30 s for hooks if absent.
    pub timeout: Option<Duration>,
    /// Wait until objects are ready.
    pub wait: bool,
    /// Wait for jobs too.
    pub wait_for_jobs: bool,
    /// Undo what fails.
    pub atomic: bool,
    /// Replace objects instead of patching them.
    pub force: bool,
    /// Take over existing objects at installation.
    pub take_ownership: bool,
    /// Write the release namespace at installation.
    pub create_namespace: bool,
    /// Revisions kept at an upgrade.
    pub max_history: usize,
}

/// Everything one release consists of.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Name of the release.
    pub name: String,
    /// Namespace of the release.
    pub namespace: String,
    /// The chart, as it is recorded.
    pub chart: Value,
    /// The user's values, as they are recorded.
    pub config: Map<String, Value>,
    /// Rendered notes.
    pub notes: String,
    /// Objects, in order.
    pub documents: Vec<Document>,
    /// Hooks.
    pub hooks: Vec<Hook>,
}

impl Target {
    fn objects(&self) -> Vec<&Value> {
        self.documents.iter().map(|document| &document.object).collect()
    }
}

/// The cluster seen with the rights of whoever deploys, and seen with the agent's own.
#[derive(Clone)]
pub struct Ports {
    /// Writes objects and records.
    pub cluster: Cluster,
    /// Reads records.
    pub agent: Cluster,
    /// Source of time.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// What was made of the templates of other charts: many releases share all or some of theirs.
    pub charts: Arc<Cache>,
}

impl Ports {
    fn stamp(&self) -> String {
        (self.now)().to_string()
    }
}

/// What an action that brings objects leaves behind.
#[derive(Clone, Debug)]
pub struct Deployed {
    /// The record of the new revision.
    pub release: Release,
    /// The objects of the new revision as the server answered when they were written. `None` if
    /// that says too little about the cluster now: there was a wait since, or objects of the
    /// revision before had to go.
    pub live: Option<Vec<Value>>,
}
