//! Git work in a process of its own: a request as JSON on its standard input, documents as JSON
//! lines on its standard output. A hostile repository hurts only that process: it has no
//! Kubernetes credentials, a clean environment, and limits on time, memory, processes and size.
//! Takes the place of upstream's git Job and its `fleet apply` container.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use fleet_api::chain::chain;
use fleet_api::{Bundle, ImageScan};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, setrlimit};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::options::ApplyOptions;
use crate::{assemble, env, git, scan};

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

/// Longest answer, in bytes: bundles of one repository.
const MAX_ANSWER: u64 = 1 << 30;
/// Longest request, in bytes.
const MAX_REQUEST: u64 = 64 << 20;
/// How much of a dead child's last words is kept.
const MAX_LAST_WORDS: u64 = 4096;

/// One line of the child's answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Line {
    Commit(String),
    Bundle(Box<Scanned>),
    Failure(Failure),
    /// The last line of an answer that is complete.
    End,
}

impl Runner {
    /// Does one piece of work.
    ///
    /// # Errors
    /// [`Error::Work`] if the work itself failed; everything else is about the process.
    pub async fn run(&self, request: &Request) -> Result<Output, Error> {
        match self {
            Self::InProcess => work(request).await.map_err(Error::Work),
            Self::Program(program) => run_child(program, request).await,
        }
    }
}

async fn run_child(program: &PathBuf, request: &Request) -> Result<Output, Error> {
    let mut command = tokio::process::Command::new(program);
    command.arg(SUB_COMMAND).env_clear().envs(env::passed_on());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    let mut child = command.spawn().map_err(|source| Error::Start {
        program: program.clone(),
        source,
    })?;
    let group = Group(child.id());
    let seconds = request.limits.total_seconds.max(1);
    let answer = tokio::time::timeout(Duration::from_secs(seconds), talk(&mut child, request)).await;
    drop(group);
    answer.map_err(|_| Error::TimeOut { seconds })?
}

/// The child's process group; what is left of it is killed when this goes.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        let pid = self.0.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

async fn talk(child: &mut tokio::process::Child, request: &Request) -> Result<Output, Error> {
    let broken = |source: std::io::Error| Error::Talk { source };
    let missing = || broken(std::io::Error::other("no pipe"));
    let mut stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stderr = child.stderr.take().ok_or_else(missing)?;
    let question = serde_json::to_vec(request).map_err(|error| broken(error.into()))?;
    let ask = async move {
        // A child that dies early closes the pipe; its exit says more than this error.
        let _ = stdin.write_all(&question).await;
        let _ = stdin.shutdown().await;
    };
    let (mut answer, mut last_words) = (Vec::new(), Vec::new());
    let mut stdout = stdout.take(MAX_ANSWER);
    let mut stderr = stderr.take(MAX_LAST_WORDS);
    let ((), read, words) = tokio::join!(
        ask,
        stdout.read_to_end(&mut answer),
        stderr.read_to_end(&mut last_words)
    );
    read.map_err(broken)?;
    words.map_err(broken)?;
    drop((stdout, stderr));
    let status = child.wait().await.map_err(broken)?;
    let mut output = Output::default();
    for line in answer.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line) {
            Ok(Line::Commit(commit)) => output.commit = commit,
            Ok(Line::Bundle(bundle)) => output.bundles.push(*bundle),
            Ok(Line::Failure(failure)) => return Err(Error::Work(failure)),
            Ok(Line::End) => return Ok(output),
            Err(_) => break,
        }
    }
    let stderr = String::from_utf8_lossy(&last_words)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    Err(Error::Died {
        status: status.to_string(),
        stderr,
    })
}

/// The child's side: reads the request from standard input, answers on standard output. The whole
/// of the hidden sub-command; never prompts, never logs the request.
#[must_use]
pub fn serve() -> ExitCode {
    let answer = match read_request() {
        Ok(request) => {
            limit_this_process(&request.limits);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => runtime.block_on(work(&request)),
                Err(error) => Err(failure(Stage::Request, &error)),
            }
        }
        Err(failure) => Err(failure),
    };
    if write_answer(answer).is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn read_request() -> Result<Request, Failure> {
    let mut text = Vec::new();
    std::io::stdin()
        .take(MAX_REQUEST)
        .read_to_end(&mut text)
        .map_err(|error| failure(Stage::Request, &error))?;
    serde_json::from_slice(&text).map_err(|error| Failure {
        stage: Stage::Request,
        // serde's message may quote the request, which holds credentials.
        what: format!(
            "the request is not understood (line {}, column {})",
            error.line(),
            error.column()
        ),
        file: None,
        line: None,
    })
}

fn write_answer(answer: Result<Output, Failure>) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut line = |line: &Line| -> std::io::Result<()> {
        serde_json::to_writer(&mut out, line)?;
        out.write_all(b"\n")
    };
    match answer {
        Ok(output) => {
            line(&Line::Commit(output.commit))?;
            for bundle in output.bundles {
                line(&Line::Bundle(Box::new(bundle)))?;
            }
            line(&Line::End)?;
        }
        Err(failure) => line(&Line::Failure(failure))?,
    }
    out.flush()
}

/// Limits that the kernel keeps for this process and everything it starts. Best effort: a limit
/// that cannot be set (a harder one stands already) is left as it is.
fn limit_this_process(limits: &git::Limits) {
    let limit = |resource, value: u64| {
        let _ = setrlimit(
            resource,
            Rlimit {
                current: Some(value),
                maximum: Some(value),
            },
        );
    };
    limit(Resource::As, limits.memory_bytes);
    limit(Resource::Fsize, limits.tree_bytes);
    limit(Resource::Cpu, limits.total_seconds);
    limit(Resource::Core, 0);
}

/// The work itself.
async fn work(request: &Request) -> Result<Output, Failure> {
    let commit = match &request.work {
        Work::Resolve => {
            let commit = git::commit(&request.source, request.limits).await;
            return commit
                .map(|commit| Output {
                    commit,
                    bundles: Vec::new(),
                })
                .map_err(|error| failure(Stage::Resolve, &error));
        }
        Work::Bundles { commit, .. } => commit,
    };
    let fetched = git::fetch(&request.source, commit, request.limits)
        .await
        .map_err(|error| failure(Stage::Fetch, &error))?;
    let Work::Bundles { apply, .. } = &request.work else {
        return Ok(Output::default());
    };
    let (apply, directory) = (apply.clone(), fetched.directory());
    let scanned = tokio::task::spawn_blocking(move || scan::bundles(&directory, &apply)).await;
    let mut bundles = scanned
        .map_err(|error| failure(Stage::Bundles, &error))?
        .map_err(|error| {
            let (file, line) = error.place();
            Failure {
                file,
                line,
                ..failure(Stage::Bundles, &error)
            }
        })?;
    for scanned in &mut bundles {
        assemble::set_commit(&mut scanned.bundle, &fetched.commit);
    }
    Ok(Output {
        commit: fetched.commit.clone(),
        bundles,
    })
}

fn failure(stage: Stage, error: &dyn std::error::Error) -> Failure {
    Failure {
        stage,
        what: chain(error),
        file: None,
        line: None,
    }
}
