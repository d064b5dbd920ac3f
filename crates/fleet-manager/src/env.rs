//! Environment variables of the manager; upstream's names. Read here and nowhere else.

/// System namespace, unless `--namespace` says otherwise.
pub const NAMESPACE: &str = "NAMESPACE";
/// Tokens without a time to live are deleted if true.
pub const TOKEN_TTL_REQUIRED: &str = "FLEET_REGISTRATION_TOKEN_TTL_REQUIRED";
/// Name of this replica in leader election.
pub const HOSTNAME: &str = "HOSTNAME";
/// `file:` repositories may be read if true; for tests and try-outs on one machine.
pub const ALLOW_FILE: &str = "FLEET_ALLOW_FILE_REPOSITORIES";
/// Bundles reconciled at the same time.
pub const BUNDLE_WORKERS: &str = "BUNDLE_RECONCILER_WORKERS";
/// GitRepos reconciled at the same time.
pub const GITREPO_WORKERS: &str = "GITREPO_RECONCILER_WORKERS";
/// Clusters reconciled at the same time.
pub const CLUSTER_WORKERS: &str = "CLUSTER_RECONCILER_WORKERS";

/// The text of a variable; `None` when absent or empty.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the place where the environment is read"
)]
pub fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A Go boolean; false when absent or unreadable.
#[must_use]
pub fn flag(name: &str) -> bool {
    matches!(text(name).as_deref(), Some("1" | "t" | "T" | "true" | "TRUE" | "True"))
}

/// A count; `None` when absent, unreadable or zero.
#[must_use]
pub fn count(name: &str) -> Option<usize> {
    text(name)?.parse().ok().filter(|count| *count > 0)
}
