//! Says in a GitRepo's status where the branch is, which commit was worked on, and what went
//! wrong. Owns everything there but the roll-up and the condition `Ready`; because conditions are
//! one list, they are written against a version.

use std::time::Duration;

use fleet_api::condition::{self, Progress};
use fleet_api::{GitRepo, GitRepoStatus};
use fleet_runtime::clock::{between, parse_rfc3339};
use fleet_runtime::{Error, Key, write};
use k8s_openapi::jiff::Timestamp;

use super::Parts;
use super::act::{Done, Outcome};
use super::decide::CURRENT;
use super::memory::Task;
use super::observe::Facts;
use crate::shell::namespace;

/// State of work that failed.
const FAILED: &str = "Failed";
/// State of work under way.
const IN_PROGRESS: &str = "InProgress";
/// The time of the last look is written with other changes, and by itself this often: a write per
/// look and repository would be most of the manager's traffic.
const LOOK_SHOWN: Duration = Duration::from_secs(300);

pub(super) async fn report(repository: &GitRepo, facts: &Facts, done: &Done, parts: &Parts) -> Result<(), Error> {
    let now = parts.shell.cx.now();
    // Another writer may have been faster: decide again on the newest state that is known.
    let current = parts.shell.world.repositories.mirror().at(&Key::of(repository));
    let current = current.as_deref().unwrap_or(repository);
    let mut status = current.status.clone().unwrap_or_default();
    match &done.outcome {
        Outcome::Silent => return Ok(()),
        Outcome::Refused(message) => {
            condition::set_error(&mut status.base.conditions, condition::ACCEPTED, "", Some(message), now);
        }
        Outcome::Followed(worked) => {
            followed(&mut status, repository, facts, now);
            if let Some(worked) = worked {
                take(&mut status, &worked.task);
                let state = if worked.problem.is_some() { FAILED } else { CURRENT };
                state.clone_into(&mut status.git_job_status);
                let progress = worked.problem.as_deref().map_or(Progress::Settled, Progress::Stopped);
                condition::set_progress(&mut status.base.conditions, progress, now);
            }
        }
    }
    let same = {
        let mut before = current.status.clone().unwrap_or_default();
        let shown = before.last_polling_triggered.as_deref().and_then(parse_rfc3339);
        before.last_polling_triggered.clone_from(&status.last_polling_triggered);
        let recent = shown.is_some_and(|shown| between(shown, now) < LOOK_SHOWN);
        before == status && (recent || status.last_polling_triggered.is_none())
    };
    if same {
        return Ok(());
    }
    store(current, &status, parts).await
}

fn followed(status: &mut GitRepoStatus, repository: &GitRepo, facts: &Facts, now: Timestamp) {
    condition::set_error(&mut status.base.conditions, condition::ACCEPTED, "", None, now);
    if status.git_job_status.is_empty() {
        CURRENT.clone_into(&mut status.git_job_status);
    }
    let mut problem = facts.access.as_ref().err().cloned();
    if let Some(answer) = &facts.looked {
        if !repository.spec.disable_polling {
            status.last_polling_triggered = Some(condition::rfc3339(facts.looked_at));
        }
        let error = answer.as_ref().err();
        condition::set_error(
            &mut status.base.conditions,
            condition::GIT_POLLING,
            "",
            error.map(String::as_str),
            now,
        );
        match answer {
            Ok(commit) => status.polling_commit.clone_from(commit),
            Err(error) => problem = Some(error.clone()),
        }
    }
    let failed = status.git_job_status == FAILED;
    match problem {
        Some(problem) => {
            status.observed_generation = repository.metadata.generation.unwrap_or_default();
            condition::set_progress(&mut status.base.conditions, Progress::Stopped(&problem), now);
        }
        // A failure of the work stays until the work is done again.
        None if failed => {}
        None if facts.looked.is_some() || condition::find(&status.base.conditions, condition::STALLED).is_none() => {
            condition::set_progress(&mut status.base.conditions, Progress::Settled, now);
        }
        None => {}
    }
}

fn take(status: &mut GitRepoStatus, task: &Task) {
    status.commit.clone_from(&task.commit);
    status.observed_generation = task.generation;
    status.update_generation = task.force;
    if !status.webhook_commit.is_empty() {
        status.webhook_commit.clone_from(&task.commit);
    }
}

/// Says that work goes on.
pub(super) async fn announce(repository: &GitRepo, task: &Task, parts: &Parts) -> Result<(), Error> {
    let current = parts.shell.world.repositories.mirror().at(&Key::of(repository));
    let current = current.as_deref().unwrap_or(repository);
    let mut status = current.status.clone().unwrap_or_default();
    IN_PROGRESS.clone_into(&mut status.git_job_status);
    status.polling_commit.clone_from(&task.commit);
    let message = format!("fetching and reading commit {}", task.commit);
    condition::set_progress(
        &mut status.base.conditions,
        Progress::Working(&message),
        parts.shell.cx.now(),
    );
    store(current, &status, parts).await
}

async fn store(current: &GitRepo, status: &GitRepoStatus, parts: &Parts) -> Result<(), Error> {
    let api = parts.shell.cx.namespaced::<GitRepo>(namespace(current));
    if let Some(stored) = write::status_at(&api, current, current.status.as_ref(), status).await? {
        parts.shell.world.repositories.mirror().note(stored);
    }
    Ok(())
}
