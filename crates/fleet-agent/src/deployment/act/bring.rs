//! Brings what is wanted: the copies, the release, the namespace's labels.

use std::time::Duration;

use fleet_api::{condition, labels};
use fleet_deploy::assemble::Subject;
use fleet_deploy::cluster::Cluster;
use fleet_deploy::deploy::{self, Deployment};
use fleet_deploy::postrender::ObjectSet;
use fleet_deploy::release::Deployed;
use fleet_runtime::chain;
use helm::release::Release;

use super::{DEPENDENCY, FORBIDDEN, Pass, ports};
use crate::deployment::observe::{Obstacle, ReleaseId};
use crate::deployment::{copies, namespace, source};

impl Pass<'_> {
    /// Deploys if that is needed and allowed. False if there is nothing to look at afterwards.
    pub(super) async fn bring(&mut self) -> bool {
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
        let cluster = match self.account().await {
            Ok(cluster) => cluster,
            Err(message) => {
                self.fail(message);
                return true;
            }
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
        let outcome = if namespace::has_wishes(&self.facts.options) {
            match self.account().await {
                Ok(cluster) => namespace::label(&cluster, &self.facts.options).await,
                Err(message) => Err(namespace::Error::Other(message)),
            }
        } else {
            Ok(())
        };
        match outcome {
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
}
