//! Git work in a process of its own: a request as JSON on its standard input, documents as JSON
//! lines on its standard output. A hostile repository hurts only that process: it has no
//! Kubernetes credentials, a clean environment, and limits on time, memory, processes and size.
//! Takes the place of upstream's git Job and its `fleet apply` container.

use std::path::PathBuf;

use fleet_api::{Bundle, ImageScan};
use serde::{Deserialize, Serialize};

use crate::git;
use crate::options::ApplyOptions;

/// The hidden sub-command of the binaries that calls [`serve`].
pub const SUB_COMMAND: &str = "git-work";

/// One piece of work. Holds credentials: goes through pipes only, never into arguments,
/// environment or logs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The repository.
    pub source: git::Source,
    /// What to do with it.
    pub work: Work,
    /// What the work may use.
    #[serde(default)]
    pub limits: git::Limits,
}

/// What to do with a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Work {
    /// Ask which commit the branch or revision is at.
    Resolve,
    /// Fetch it and turn its directories into bundles. With a `commit` exactly that one is
    /// fetched, else what the branch or revision is at.
    Bundles {
        /// Hex id, or "".
        commit: String,
        /// What to make of the directories. The commit label is set by the work if absent.
        apply: Box<ApplyOptions>,
    },
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// The commit, hex.
    pub commit: String,
    /// One per directory, in the order of the paths; empty for [`Work::Resolve`].
    pub bundles: Vec<Scanned>,
}

/// One bundle with its image scans.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scanned {
    /// The bundle; values are inline (`fleet_api::values` moves them to a secret).
    pub bundle: Bundle,
    /// Its image scans.
    #[serde(default)]
    pub image_scans: Vec<ImageScan>,
}

/// Why the work failed, as data: for a condition or an error line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}")]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// Which part of the work.
    pub stage: Stage,
    /// The whole story on one line, without credentials.
    pub what: String,
    /// The file it is about, relative to the repository.
    #[serde(default)]
    pub file: Option<String>,
    /// Line in that file, from 1.
    #[serde(default)]
    pub line: Option<usize>,
}

/// Part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// The request itself is refused.
    Request,
    /// Asking for the commit.
    Resolve,
    /// Fetching.
    Fetch,
    /// Turning directories into bundles.
    Bundles,
}

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The child process cannot be started.
    #[error("start {program:?} for git work")]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The pipes broke.
    #[error("talk to the git work process")]
    Talk {
        /// The cause.
        source: std::io::Error,
    },
    /// It did not end in time and was killed.
    #[error("git work took longer than {seconds} s")]
    TimeOut {
        /// The limit.
        seconds: u64,
    },
    /// It ended without an answer (killed by a limit, crashed).
    #[error("the git work process ended without an answer ({status}): {stderr}")]
    Died {
        /// Exit status.
        status: String,
        /// Its last words, shortened.
        stderr: String,
    },
    /// It answered that the work failed.
    #[error("{0}")]
    Work(Failure),
}

/// Who does the work.
#[derive(Clone, Debug)]
pub enum Runner {
    /// A child process of this program, called as `<program> git-work`.
    Program(PathBuf),
    /// This process; for tests.
    InProcess,
}
