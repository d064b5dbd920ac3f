//! What is written on this cluster for one deployment: copies, the release, namespace labels,
//! corrections. Every outcome, failures too, ends in [`Done`]; the status is made of it.

use std::sync::Arc;
use std::time::Duration;

use fleet_api::{BundleDeployment, BundleDeploymentStatus, condition, labels};
use fleet_deploy::assemble::Subject;
use fleet_deploy::cluster::Cluster;
use fleet_deploy::deploy::{self, Deployment};
use fleet_deploy::monitor::{self, Seen};
use fleet_deploy::object::ObjectKey;
use fleet_deploy::postrender::ObjectSet;
use fleet_deploy::release::{self, Deployed, Ports};
use fleet_deploy::{correct, store};
use fleet_runtime::{Action, chain};
use helm::release::Release;

use super::observe::{Facts, Obstacle, ReleaseId};
use super::{Error, account, copies, namespace, source};
use crate::context::Context;
use crate::watch::Watched;

/// Time after which bundles that are waited for are looked at again, if nothing told before.
const DEPENDENCY: Duration = Duration::from_secs(15);
/// Time after which a right that was missing is tried again.
const FORBIDDEN: Duration = Duration::from_secs(2 * 60);
/// Time between taking a release away and making it again, and after the first sign of a loss.
const OVERWRITE: Duration = Duration::from_secs(5);

/// What came of a call.
pub(super) struct Done {
    /// The status as it is now.
    pub(super) status: BundleDeploymentStatus,
    /// False if the status of this pass must not be stored.
    pub(super) store: bool,
    failures: Vec<String>,
    again: Option<Duration>,
}

impl Done {
    /// When to look again, or the failure that decides it.
    pub(super) fn into_action(self) -> Result<Action, Error> {
        match (self.failures.is_empty(), self.again) {
            (true, None) => Ok(Action::AwaitChange),
            (true, Some(delay)) => Ok(Action::After(delay)),
            (false, Some(delay)) => Err(Error::Waiting(self.failures.join("; "), delay)),
            (false, None) => Err(Error::Deploy(self.failures.join("; "))),
        }
    }
}

/// Rights and time for the actions on a release.
fn ports(cx: &Context, cluster: Cluster) -> Ports {
    let clock = cx.settings.clock.clone();
    Ports {
        cluster,
        agent: cx.local.clone(),
        now: Arc::new(move || clock.now()),
    }
}

struct Pass<'a> {
    deployment: &'a BundleDeployment,
    cx: &'a Context,
    facts: Facts,
    done: Done,
    /// A new revision was made: what the status says of the one before is history.
    deployed: bool,
    /// Objects of the new revision as the server answered when they were written.
    written: Option<Vec<serde_json::Value>>,
}

pub(super) async fn act(deployment: &BundleDeployment, facts: Facts, cx: &Context) -> Done {
    let done = Done {
        status: deployment.status.clone().unwrap_or_default(),
        store: true,
        failures: Vec::new(),
        again: None,
    };
    let mut pass = Pass {
        deployment,
        cx,
        facts,
        done,
        deployed: false,
        written: None,
    };
    if pass.bring().await {
        pass.look().await;
    }
    pass.done
}

impl Pass<'_> {
    fn name(&self) -> &str {
        self.deployment.metadata.name.as_deref().unwrap_or_default()
    }

    fn set(&mut self, kind: &str, error: Option<&str>) {
        let now = self.cx.now();
        condition::set_error(&mut self.done.status.conditions, kind, "", error, now);
    }

    fn fail(&mut self, message: String) {
        self.set(condition::DEPLOYED, Some(&message));
        self.done.failures.push(message);
    }

    /// Deploys if that is needed and allowed. False if there is nothing to look at afterwards.
    async fn bring(&mut self) -> bool {
        match self.facts.obstacle.take() {
            None => {}
            Some(Obstacle::Dependencies(message)) => {
                self.set(condition::DEPLOYED, Some(&message));
                self.done.again = Some(DEPENDENCY);
                return false;
            }
            Some(Obstacle::Other(message)) => {
                self.fail(message);
                return true;
            }
            Some(Obstacle::Quiet(message)) => {
                self.done.failures.push(message);
                return false;
            }
        }
        let copied = match copies::copy(self.deployment, &self.facts.options, self.cx).await {
            Ok(copied) => copied,
            Err(message) => {
                self.fail(message);
                return true;
            }
        };
        self.done.status.downstream_resources_generation = self.deployment.spec.downstream_resources_generation;
        let set = ObjectSet::of(self.name(), &self.cx.settings.scope);
        self.cx.watches.expect(self.name(), &set.hash);
        if !copied && !self.facts.outdated {
            if self.facts.release.is_some() {
                return self.label_namespace().await;
            }
            // It ended in an error that is most likely still there.
            if let Some(left) = self.time_to_next_try() {
                self.done.again = Some(left);
                return false;
            }
        }
        let Some(cluster) = self.facts.cluster.clone() else {
            return false;
        };
        match self.deploy(cluster).await {
            Ok(Deployed { release, live }) => {
                self.deployed = true;
                self.written = live;
                self.cx.patience.deployed(self.name());
                self.done.status.release = ReleaseId::of(&release);
                self.done
                    .status
                    .applied_deployment_id
                    .clone_from(&self.deployment.spec.deployment_id);
                let before = self.facts.release.replace(release);
                self.note_litter(before.as_ref());
                self.label_namespace().await
            }
            Err((message, true)) => {
                self.give_up(&message);
                true
            }
            Err((message, false)) => {
                self.fail(message);
                true
            }
        }
    }

    /// A release under another name or in another namespace is left behind.
    fn note_litter(&self, before: Option<&Release>) {
        let id = |release: &Release| (release.namespace.clone(), release.name.clone());
        if let (Some(before), Some(now)) = (before, &self.facts.release)
            && id(before) != id(now)
        {
            self.cx.litter.notify_one();
        }
    }

    async fn deploy(&self, cluster: Cluster) -> Result<Deployed, (String, bool)> {
        let resources = source::fetch(self.deployment, self.cx)
            .await
            .map_err(|error| (source::message(&error), false))?;
        let labels = self.deployment.metadata.labels.as_ref();
        let commit = labels
            .and_then(|all| all.get(labels::COMMIT))
            .map(String::as_str)
            .unwrap_or_default();
        let deployment = Deployment {
            subject: Subject {
                name: self.name(),
                manifest_id: source::manifest_id(self.deployment),
                commit,
                agent_namespace: &self.cx.settings.namespace,
            },
            options: &self.facts.options,
            resources: &resources,
            scope: &self.cx.settings.scope,
        };
        let ports = ports(self.cx, cluster);
        deploy::deploy(&ports, &deployment)
            .await
            .map_err(|error| (chain(&error), error.is_terminal()))
    }

    /// `None` if it is due: the time has come, or something else was in the way since.
    fn time_to_next_try(&self) -> Option<Duration> {
        if condition::is_false(&self.done.status.conditions, condition::DEPLOYED) {
            return None;
        }
        let id = &self.deployment.spec.deployment_id;
        let left = self.cx.patience.left(self.name(), id, self.cx.now());
        (!left.is_zero()).then_some(left)
    }

    /// An error that trying again at once cannot clear: a change of the deployment does, or what
    /// was in the way is found gone some minutes later.
    fn give_up(&mut self, message: &str) {
        let id = &self.deployment.spec.deployment_id;
        self.done.again = Some(self.cx.patience.failed(self.name(), id, self.cx.now()));
        let status = &mut self.done.status;
        status.ready = false;
        status.non_modified = true;
        status.release = String::new();
        status
            .applied_deployment_id
            .clone_from(&self.deployment.spec.deployment_id);
        self.facts.release = None;
        self.set(condition::READY, Some(&format!("not ready: {message}")));
        self.set(condition::INSTALLED, Some(&format!("not installed: {message}")));
        self.set(condition::DEPLOYED, None);
    }

    async fn label_namespace(&mut self) -> bool {
        let Some(cluster) = self.facts.cluster.clone() else {
            return true;
        };
        match namespace::label(&cluster, &self.facts.options).await {
            Ok(()) => {
                self.set(condition::INSTALLED, None);
                self.set(condition::DEPLOYED, None);
                true
            }
            Err(namespace::Error::Forbidden(message)) => {
                self.done.status.ready = false;
                self.done.status.non_modified = true;
                self.set(condition::READY, Some(&format!("not ready: {message}")));
                self.set(condition::INSTALLED, Some(&format!("not installed: {message}")));
                self.set(condition::DEPLOYED, None);
                self.done.again = Some(FORBIDDEN);
                false
            }
            Err(namespace::Error::Other(message)) => {
                self.fail(message);
                true
            }
        }
    }

    /// Looks at the release, takes drift back where that is wanted, and watches what is there.
    async fn look(&mut self) {
        let Some(release) = self.facts.release.take() else {
            return;
        };
        let wanted = self.done.status.applied_deployment_id == self.deployment.spec.deployment_id
            && !condition::is_false(&self.done.status.conditions, condition::INSTALLED);
        let seen = match self.observe(&release).await {
            Ok(seen) => seen,
            Err(error) => {
                if wanted {
                    self.set(condition::MONITORED, Some(&chain(&error)));
                }
                self.done.failures.push(chain(&error));
                return;
            }
        };
        if !wanted {
            self.watch(&seen).await;
            return;
        }
        if !self.deployed && self.is_overwritten() {
            self.reinstall(&release).await;
            return;
        }
        let seen = match self.correct(&release, &seen).await {
            None => seen,
            Some(Ok(corrected)) => corrected,
            Some(Err(message)) => {
                self.derive(&seen);
                self.set(condition::READY, Some(&message));
                self.done.failures.push(message);
                self.watch(&seen).await;
                return;
            }
        };
        self.derive(&seen);
        self.set(condition::MONITORED, None);
        self.look_again(&seen);
        self.watch(&seen).await;
    }

    /// What went missing just now may be the first sign of more: of a namespace that is being
    /// emptied, or of an object that another bundle took away.
    fn look_again(&mut self, seen: &Seen) {
        let missing = seen
            .differences
            .iter()
            .any(|(_, found)| matches!(found, monitor::Difference::Missing { .. }));
        let before = self.deployment.status.as_ref().map(|status| &status.modified_status);
        if missing && before != Some(&self.done.status.modified_status) {
            self.done.again = Some(OVERWRITE);
        }
    }

    fn derive(&mut self, seen: &Seen) {
        let settings = &self.cx.settings;
        let options = &self.facts.options;
        monitor::derive(
            seen,
            options,
            &settings.error_conditions,
            self.cx.now(),
            &mut self.done.status,
        );
    }

    async fn observe(&mut self, release: &Release) -> Result<Seen, monitor::Error> {
        let set = ObjectSet::of(self.name(), &self.cx.settings.scope);
        let options = &self.facts.options;
        let mut seen = match self.written.take() {
            // Nothing was removed, so nothing can be left over.
            Some(written) => {
                let cluster = self.cx.local.recalling(written);
                monitor::observe(&cluster, release, None, options, &set).await?
            }
            None => {
                let previous = self.previous(release).await;
                monitor::observe(&self.cx.local, release, previous.as_ref(), options, &set).await?
            }
        };
        monitor::allow_autoscaling(&mut seen);
        Ok(seen)
    }

    async fn previous(&self, release: &Release) -> Option<Release> {
        let number = release.version - 1;
        if number < 1 {
            return None;
        }
        let found = store::revision(&self.cx.local, &release.namespace, &release.name, number).await;
        found.ok().flatten()
    }

    /// `None` if nothing had to be corrected.
    async fn correct(&mut self, release: &Release, seen: &Seen) -> Option<Result<Seen, String>> {
        let options = self.deployment.spec.correct_drift.clone().unwrap_or_default();
        let own = self.name().starts_with("fleet-agent");
        if seen.differences.is_empty() || !(options.enabled || own) {
            return None;
        }
        let cluster = self.facts.cluster.clone()?;
        let (written, outcome) = correct::correct(&cluster, release, seen, options.force).await;
        if own {
            for (key, difference) in &seen.differences {
                if *difference == monitor::Difference::Extra
                    && let Err(error) = self.cx.local.delete(key).await
                {
                    tracing::warn!(
                        object = key.display(),
                        error = chain(&error),
                        "cannot delete old agent's object"
                    );
                }
            }
        }
        if let Err(error) = outcome {
            return Some(Err(chain(&error)));
        }
        if written == 0 {
            return None;
        }
        Some(self.observe(release).await.map_err(|error| chain(&error)))
    }

    /// An object that another bundle took away has to come back by a new installation.
    fn is_overwritten(&self) -> bool {
        let before = self
            .deployment
            .status
            .as_ref()
            .map(|status| status.modified_status.as_slice())
            .unwrap_or_default();
        before.iter().filter(|entry| entry.missing).any(|entry| {
            self.facts
                .options
                .overwrites
                .iter()
                .any(|other| other.kind == entry.kind && other.name == entry.name)
        })
    }

    async fn reinstall(&mut self, release: &Release) {
        self.done.store = false;
        let Some(cluster) = self.facts.cluster.clone() else {
            return;
        };
        let ports = ports(self.cx, cluster);
        let outcome = match store::history(&self.cx.local, &release.namespace, &release.name).await {
            Ok(history) => release::uninstall(&ports, &history)
                .await
                .map_err(|error| chain(&error)),
            Err(error) => Err(chain(&error)),
        };
        match outcome {
            Ok(()) => self.done.again = Some(OVERWRITE),
            Err(message) => self.done.failures.push(message),
        }
    }

    async fn watch(&self, seen: &Seen) {
        let mut watched = Vec::new();
        let live = seen.live.iter().map(|object| (ObjectKey::of(object), version(object)));
        let missing = seen
            .differences
            .iter()
            .filter_map(|(key, difference)| match difference {
                monitor::Difference::Missing { exists: false } => Some((key.clone(), String::new())),
                // Somebody else's: any event of it matters, its removal too.
                monitor::Difference::Missing { exists: true } => Some((key.clone(), "foreign".to_owned())),
                _ => None,
            });
        for (key, version) in live.chain(missing) {
            if let Ok(kind) = self.cx.local.kind(&key.api_version, &key.kind).await {
                watched.push(Watched {
                    kind,
                    namespace: key.namespace,
                    name: key.name,
                    version,
                });
            }
        }
        self.cx.watches.refresh(self.name(), watched);
    }
}

fn version(object: &serde_json::Value) -> String {
    object["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Removes everything of a deployment that is gone.
pub(super) async fn remove(cx: &Context, name: &str) -> Result<(), Error> {
    let failed = |message: String| Error::Uninstall(message);
    let releases = store::newest_with(&cx.local, labels::BUNDLE_ID, name)
        .await
        .map_err(|error| failed(chain(&error)))?;
    for release in releases {
        if release.chart_annotation(labels::AGENT_NAMESPACE) == Some(&cx.settings.namespace) {
            take_away(cx, name, &release).await.map_err(failed)?;
        }
    }
    copies::remove(&cx.local, name).await.map_err(failed)
}

/// Removes one release of a deployment, with the rights it was deployed with.
pub(crate) async fn take_away(cx: &Context, deployment: &str, release: &Release) -> Result<(), String> {
    let history = store::history(&cx.local, &release.namespace, &release.name)
        .await
        .map_err(|error| chain(&error))?;
    let ours = history
        .clone()
        .only(|revision| revision.chart_annotation(labels::BUNDLE_ID) == Some(deployment));
    let account = ours
        .all()
        .filter_map(|revision| revision.chart_annotation(labels::SERVICE_ACCOUNT))
        .find(|account| !account.is_empty())
        .unwrap_or_default()
        .to_owned();
    let cluster = account::cluster(&cx.local, &cx.settings.namespace, &account).await?;
    let ports = ports(cx, cluster);
    let keep = release.chart_annotation(labels::KEEP_RESOURCES) == Some("true");
    let outcome = if keep || deployment.starts_with("fleet-agent") {
        release::forget(&ports, &ours).await
    } else {
        release::uninstall(&ports, &history).await
    };
    tracing::info!(
        deployment,
        release = release.name,
        namespace = release.namespace,
        keep,
        "removed release"
    );
    outcome.map_err(|error| chain(&error))
}
