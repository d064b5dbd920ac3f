//! Does what the plan asks: Content first, then deployments side by side, then removals. One that
//! fails does not stop the others; every failure is kept for the status.

use std::sync::Arc;
use std::time::Duration;

use fleet_api::{Bundle, BundleDeployment, BundleStatus, Content, content, labels};
use fleet_plan::{ClusterKey, DeploymentPlan, Plan};
use fleet_runtime::write::{self, ensure};
use fleet_runtime::{Action, Error, Failure as _};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Secret;
use serde_json::json;

use super::observe::Facts;
use super::{Parts, copies, deployment};
use crate::shell::{finalizers, has_finalizer, label, name, namespace};

/// Writes of one bundle at the same time.
const SIDE_BY_SIDE: usize = 16;
/// Time until something that is missing is looked for again.
const MISSING: Duration = Duration::from_secs(5);
/// Time until deployments that are being deleted are looked for again; their deletion is also watched.
const LEAVING: Duration = Duration::from_secs(2);

/// What came of it.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    pub(super) stored: Option<Bundle>,
    action: Action,
    failure: Option<Error>,
}

/// What the status has to say.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Nothing; the bundle is leaving, or unknown.
    Silent,
    /// It cannot be deployed.
    Refused {
        /// Why.
        message: String,
        /// Digest of its content, if it was looked at.
        sha256sum: String,
    },
    /// Something it needs is missing.
    Incomplete(String),
    /// What the plan says, and what could not be done of it.
    Planned {
        status: Box<BundleStatus>,
        ready_message: String,
        problems: Vec<String>,
    },
}

impl Done {
    fn new(outcome: Outcome, action: Action) -> Self {
        Self {
            outcome,
            stored: None,
            action,
            failure: None,
        }
    }

    pub(super) fn into_action(self) -> Result<Action, Error> {
        self.failure.map_or(Ok(self.action), Err)
    }
}

fn refused(message: String, sha256sum: String) -> Outcome {
    Outcome::Refused { message, sha256sum }
}

pub(super) async fn act(bundle: &Bundle, facts: Facts, parts: &Parts) -> Done {
    let held = match facts {
        Facts::Leaving(remaining) => return leave(bundle, &remaining, parts).await,
        _ => hold(bundle, parts).await,
    };
    let mut done = match facts {
        Facts::Leaving(_) | Facts::Unknown => Done::new(Outcome::Silent, Action::AwaitChange),
        Facts::Refused(message) => Done::new(refused(message, String::new()), Action::AwaitChange),
        Facts::Incomplete(message) => Done::new(Outcome::Incomplete(message), Action::After(MISSING)),
        Facts::Planned {
            plan,
            manifest,
            sha256sum,
        } => carry_out(bundle, *plan, &manifest, sha256sum, parts).await,
    };
    match held {
        Ok(stored) => done.stored = stored,
        Err(error) => done.failure = Some(error),
    }
    done
}

/// Adds the finalizer and drops a label of earlier versions.
async fn hold(bundle: &Bundle, parts: &Parts) -> Result<Option<Bundle>, Error> {
    let mut metadata = json!({});
    if !has_finalizer(bundle, labels::BUNDLE_FINALIZER) {
        metadata["finalizers"] = json!(finalizers(bundle, labels::BUNDLE_FINALIZER, true));
        metadata["resourceVersion"] = json!(bundle.metadata.resource_version);
    }
    if !label(bundle, labels::CREATED_BY_DISPLAY_NAME).is_empty() {
        metadata["labels"] = json!({labels::CREATED_BY_DISPLAY_NAME: null});
    }
    if metadata == json!({}) {
        return Ok(None);
    }
    let api = parts.shell.cx.namespaced::<Bundle>(namespace(bundle));
    write::patch(&api, name(bundle), &json!({"metadata": metadata}))
        .await
        .map(Some)
}

async fn leave(bundle: &Bundle, remaining: &[Arc<BundleDeployment>], parts: &Parts) -> Done {
    let mut done = Done::new(Outcome::Silent, Action::AwaitChange);
    done.failure = try_leave(bundle, remaining, parts).await.err();
    if !remaining.is_empty() {
        done.action = Action::After(LEAVING);
    }
    done
}

async fn try_leave(bundle: &Bundle, remaining: &[Arc<BundleDeployment>], parts: &Parts) -> Result<(), Error> {
    use fleet_runtime::ResultExt as _;
    let cx = &parts.shell.cx;
    if !has_finalizer(bundle, labels::BUNDLE_FINALIZER) {
        return Ok(());
    }
    if !remaining.is_empty() {
        let mut calls = Vec::new();
        for each in remaining {
            if !crate::shell::deleting(&**each) {
                calls.push(deployment::remove(each, cx));
            }
        }
        let mut removals = futures::stream::iter(calls).buffer_unordered(SIDE_BY_SIDE);
        let mut first = Ok(());
        while let Some(result) = removals.next().await {
            first = first.and(result);
        }
        return first;
    }
    if !bundle.spec.values_hash.is_empty() {
        let secrets = cx.namespaced::<Secret>(namespace(bundle));
        secrets
            .delete(name(bundle), &kube::api::DeleteParams::background())
            .await
            .unless_missing("delete", || format!("values of {}", write::describe(bundle)))?;
    }
    let left = finalizers(bundle, labels::BUNDLE_FINALIZER, false);
    let body = json!({"metadata": {"finalizers": left, "resourceVersion": bundle.metadata.resource_version}});
    match write::patch(&cx.namespaced::<Bundle>(namespace(bundle)), name(bundle), &body).await {
        Err(error) if !error.is_not_found() => Err(error),
        _ => Ok(()),
    }
}

async fn carry_out(bundle: &Bundle, plan: Plan, manifest: &str, sha256sum: String, parts: &Parts) -> Done {
    let Plan {
        bundle: _,
        content,
        deployments,
        delete,
        mut status,
        ready_message,
        problem,
        left_out: _,
        more,
    } = plan;
    if let Some(problem) = problem {
        let message = format!("targeting error: {}", problem.message);
        return Done::new(refused(message, sha256sum), Action::AwaitChange);
    }
    status.resources_sha256_sum = sha256sum;
    status.observed_generation = bundle.metadata.generation.unwrap_or_default();
    let mut problems = Vec::new();
    let mut failure = None;
    if let Some(id) = &content
        && let Err(error) = store_content(bundle, id, parts).await
    {
        // Without content no agent could run a deployment.
        problems.push(fleet_runtime::chain(&error));
        let outcome = Outcome::Planned {
            status: Box::new(status),
            ready_message,
            problems,
        };
        let mut done = Done::new(outcome, Action::AwaitChange);
        done.failure = Some(error);
        return done;
    }
    debug_assert!(content.as_deref().is_none_or(|id| id == manifest));
    let mut written = Vec::new();
    let mut calls = Vec::new();
    for each in &deployments {
        calls.push(write_one(each, parts));
    }
    let mut writes = futures::stream::iter(calls).buffer_unordered(SIDE_BY_SIDE);
    while let Some((cluster, result)) = writes.next().await {
        match result {
            Ok(stored) => written.push(stored),
            Err(error) => {
                problems.push(format!("cluster {cluster}: {}", fleet_runtime::chain(&error)));
                failure.get_or_insert(error);
            }
        }
    }
    drop(writes);
    let missing = match copies::refresh(bundle, &written, parts).await {
        Ok(missing) => missing,
        Err(error) => {
            let what = vec![fleet_runtime::chain(&error)];
            failure.get_or_insert(error);
            what
        }
    };
    for key in delete {
        let Some(known) = parts.shell.world.deployments.mirror().find(&key.namespace, &key.name) else {
            continue;
        };
        if let Err(error) = deployment::remove(&known, &parts.shell.cx).await {
            problems.push(format!("remove {key}: {}", fleet_runtime::chain(&error)));
            failure.get_or_insert(error);
        }
    }
    problems.sort();
    let incomplete = !missing.is_empty();
    problems.extend(missing);
    let action = match (more, incomplete) {
        (true, _) => Action::After(Duration::ZERO),
        (false, true) => Action::After(MISSING),
        (false, false) => Action::AwaitChange,
    };
    let mut done = Done::new(
        Outcome::Planned {
            status: Box::new(status),
            ready_message,
            problems,
        },
        action,
    );
    if let Some(error) = &failure {
        tracing::debug!(
            bundle = name(bundle),
            reason = error.reason(),
            "some deployments were not written"
        );
    }
    done.failure = failure;
    done
}

/// Writes one deployment.
async fn write_one(plan: &DeploymentPlan, parts: &Parts) -> (ClusterKey, Result<BundleDeployment, Error>) {
    (plan.cluster.clone(), deployment::write_one(plan, parts).await)
}

async fn store_content(bundle: &Bundle, id: &str, parts: &Parts) -> Result<(), Error> {
    if parts.shell.world.contents.mirror().find("", id).is_some() {
        return Ok(());
    }
    let content = content::Manifest::new(&bundle.spec.resources).content();
    ensure(&parts.shell.cx.cluster::<Content>(), None, &content)
        .await
        .map(drop)
}
