//! How this process runs: everything that is fixed at start. What an administrator may change
//! while it runs is in [`crate::config`].

use std::time::Duration;

use fleet_api::{labels, names};

use crate::config::Source;
use crate::env;

/// Resolved settings of the manager.
#[derive(Clone, Debug)]
pub struct Settings {
    /// System namespace.
    pub namespace: String,
    /// Where the configuration comes from.
    pub config: Source,
    /// Tokens without a time to live are deleted.
    pub token_ttl_required: bool,
    /// How git work is run.
    pub git: fleet_source::child::Runner,
    /// Whether `file:` repositories may be read: only where everything runs for one person.
    pub allow_file: bool,
    /// Time between two looks at a repository that says nothing about it.
    pub polling_interval: Duration,
    /// Children for git work at the same time.
    pub git_workers: usize,
    /// Objects of a kind reconciled at the same time.
    pub workers: usize,
}

impl Settings {
    /// Defaults: configuration from the ConfigMap, git work in this process's own program.
    #[must_use]
    pub fn new(namespace: &str, git: fleet_source::child::Runner) -> Self {
        Self {
            namespace: namespace.to_owned(),
            config: Source::ConfigMap,
            token_ttl_required: env::flag(env::TOKEN_TTL_REQUIRED),
            git,
            allow_file: env::flag(env::ALLOW_FILE),
            polling_interval: Duration::from_secs(15),
            git_workers: 4,
            workers: env::count(env::BUNDLE_WORKERS).unwrap_or(50).min(50),
        }
    }

    /// Namespace of credentials on their way to agents.
    #[must_use]
    pub fn registration_namespace(&self) -> String {
        names::registration_namespace(&self.namespace)
    }

    /// Whether the system namespace has its usual name.
    #[must_use]
    pub fn usual_namespace(&self) -> bool {
        self.namespace == labels::SYSTEM_NAMESPACE
    }
}
