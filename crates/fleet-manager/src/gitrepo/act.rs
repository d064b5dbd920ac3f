//! Carries out the next step of a GitRepo: metadata, then git work in a child, then bundles. Long
//! work says in the status that it goes on.

use std::time::Duration;

use fleet_api::{Bundle, GitRepo};
use fleet_runtime::write;
use fleet_runtime::{Action, Error, Key, ResultExt as _};
use fleet_source::child::Request;
use k8s_openapi::api::core::v1::Namespace;
use serde_json::{Value, json};

use super::decide::{Follow, Leave, Plan};
use super::memory::Task;
use super::observe::Facts;
use super::{Parts, bundles, lookup, report};
use crate::shell::{deleting, name, namespace};

/// Work that takes longer is announced.
const ANNOUNCED_AFTER: Duration = Duration::from_secs(2);
/// Time until bundles that are being deleted are looked for again; their deletion is also watched.
const LEAVING: Duration = Duration::from_secs(2);

/// What came of it.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    action: Action,
    failure: Option<Error>,
}

/// What the status has to say.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Nothing.
    Silent,
    /// It breaks a rule.
    Refused(String),
    /// It was looked at; this came of the work, if there was any.
    Followed(Option<Worked>),
}

/// What came of a task.
#[derive(Debug)]
pub(super) struct Worked {
    pub(super) task: Task,
    /// Why it failed.
    pub(super) problem: Option<String>,
}

impl Done {
    fn new(outcome: Outcome, action: Action) -> Self {
        Self {
            outcome,
            action,
            failure: None,
        }
    }

    pub(super) fn into_action(self) -> Result<Action, Error> {
        self.failure.map_or(Ok(self.action), Err)
    }
}

pub(super) async fn act(repository: &GitRepo, plan: Plan, facts: &Facts, parts: &Parts) -> Done {
    match plan {
        Plan::Nothing => Done::new(Outcome::Silent, Action::AwaitChange),
        Plan::Refuse(message) => Done::new(Outcome::Refused(message), Action::AwaitChange),
        Plan::FillIn(body) => {
            let mut done = Done::new(Outcome::Silent, Action::AwaitChange);
            done.failure = patch(repository, &body, parts).await.err();
            done
        }
        Plan::Leave(leave) => {
            let mut done = Done::new(Outcome::Silent, Action::AwaitChange);
            if !facts.bundles.is_empty() {
                done.action = Action::After(LEAVING);
            }
            done.failure = self::leave(repository, leave, facts, parts).await.err();
            done
        }
        Plan::Follow(follow) => self::follow(repository, *follow, facts, parts).await,
    }
}

async fn patch(repository: &GitRepo, body: &Value, parts: &Parts) -> Result<(), Error> {
    let api = parts.shell.cx.namespaced::<GitRepo>(namespace(repository));
    match write::patch(&api, name(repository), body).await {
        Err(error) if !error.is_not_found() => Err(error),
        _ => Ok(()),
    }
}

async fn leave(repository: &GitRepo, leave: Leave, facts: &Facts, parts: &Parts) -> Result<(), Error> {
    let Leave {
        namespace: space,
        remaining,
    } = leave;
    let cx = &parts.shell.cx;
    for bundle in &facts.bundles {
        if !deleting(&**bundle) {
            write::delete(&cx.namespaced::<Bundle>(namespace(&**bundle)), &**bundle).await?;
        }
    }
    if !facts.bundles.is_empty() {
        return Ok(());
    }
    if let Some(space) = space {
        cx.cluster::<Namespace>()
            .delete(&space, &kube::api::DeleteParams::background())
            .await
            .unless_missing("delete", || format!("namespace '{space}'"))?;
    }
    let version = &repository.metadata.resource_version;
    patch(
        repository,
        &json!({"metadata": {"finalizers": remaining, "resourceVersion": version}}),
        parts,
    )
    .await
}

async fn follow(repository: &GitRepo, follow: Follow, facts: &Facts, parts: &Parts) -> Done {
    let Follow { metadata, work, again } = follow;
    if let Some(metadata) = metadata
        && let Err(error) = patch(repository, &json!({"metadata": metadata}), parts).await
    {
        let mut done = Done::new(Outcome::Silent, Action::AwaitChange);
        done.failure = Some(error);
        return done;
    }
    let Some((task, request)) = work else {
        return Done::new(
            Outcome::Followed(None),
            again.map_or(Action::AwaitChange, Action::After),
        );
    };
    let problem = announced(repository, &task, run(repository, &request, facts, parts), parts)
        .await
        .err();
    parts
        .memory
        .worked(&Key::of(repository), &task, parts.shell.cx.now(), problem.is_none());
    // When to come back is decided anew, with what is known now.
    Done::new(
        Outcome::Followed(Some(Worked { task, problem })),
        Action::After(Duration::from_millis(100)),
    )
}

/// Waits for work; says in the status that it goes on if it takes long.
async fn announced(
    repository: &GitRepo,
    task: &Task,
    work: impl Future<Output = Result<(), String>>,
    parts: &Parts,
) -> Result<(), String> {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        result = &mut work => return result,
        () = tokio::time::sleep(ANNOUNCED_AFTER) => {}
    }
    if let Err(error) = report::announce(repository, task, parts).await {
        tracing::debug!(
            repository = name(repository),
            error = fleet_runtime::chain(&error),
            "progress not told"
        );
    }
    work.await
}

async fn run(repository: &GitRepo, request: &Request, facts: &Facts, parts: &Parts) -> Result<(), String> {
    let output = {
        let _permit = parts
            .work
            .acquire()
            .await
            .map_err(|_| "the manager is stopping".to_owned())?;
        parts
            .shell
            .settings
            .git
            .run(request)
            .await
            .map_err(|error| lookup::explain(&error))?
    };
    if output.bundles.is_empty() {
        return Err("the repository holds no bundle at the given paths; the bundles that exist stay".to_owned());
    }
    tracing::info!(
        repository = name(repository),
        commit = output.commit,
        bundles = output.bundles.len(),
        "writing bundles"
    );
    bundles::store(name(repository), output.bundles, &facts.bundles, &parts.shell)
        .await
        .map_err(|problems| problems.join("\n"))
}
