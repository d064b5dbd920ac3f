//! Repository → commit → directory, with the `git` program. What a user writes (addresses,
//! branches) never becomes an option, never leaves the allowed protocols; what is secret never
//! shows in arguments, addresses or messages; the machine's own git configuration has no say.

mod address;
mod command;
mod commit;
mod fetch;
mod head;

pub(crate) use address::hide_user as shown;
pub use command::Error;
pub(crate) use command::system_authorities;
pub use commit::commit;
pub use fetch::{Fetched, fetch};
pub use head::{head, top};

use serde::{Deserialize, Serialize};

/// A repository and what is wanted of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// `https://…`, `http://…`, `ssh://…`, `user@host:path`, or `file:///…` where allowed.
    pub url: String,
    /// Branch to follow; `master` if there is no revision either.
    pub branch: String,
    /// Tag or commit; the branch wins if both are given.
    pub revision: String,
    /// How to get in.
    pub credentials: Credentials,
    /// Whether `file:` URLs and paths are allowed (demo and tests; never in a shared manager).
    pub allow_file: bool,
}

/// How to get into a repository.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Credentials {
    /// User; may be empty with a token as password.
    pub username: String,
    /// Password or token.
    pub password: String,
    /// PEM or OpenSSH key.
    pub ssh_private_key: String,
    /// known_hosts lines; not empty: hosts are checked strictly.
    pub known_hosts: String,
    /// PEM of authorities to trust besides the system's.
    pub ca_bundle: String,
    /// Trust any certificate.
    pub insecure_skip_tls_verify: bool,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

/// What the work may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Seconds for one git command (upstream: gitClientTimeout, 30 s).
    pub git_seconds: u64,
    /// Seconds for the whole work.
    pub total_seconds: u64,
    /// Bytes of a checked-out tree.
    pub tree_bytes: u64,
    /// Files of a checked-out tree.
    pub tree_files: u64,
    /// Bytes of memory of the child process.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            git_seconds: 30,
            total_seconds: 600,
            tree_bytes: 2 << 30,
            tree_files: 200_000,
            memory_bytes: 2 << 30,
        }
    }
}
