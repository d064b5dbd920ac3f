//! Looks at what is there: the status is made of it, drift is taken back where that is wanted, and
//! the objects are watched in the state they were seen in.

use fleet_api::condition;
use fleet_deploy::monitor::{self, Seen};
use fleet_deploy::object::ObjectKey;
use fleet_deploy::postrender::ObjectSet;
use fleet_deploy::{correct, release, store};
use fleet_runtime::chain;
use helm::release::Release;
use serde_json::Value;

use super::{OVERWRITE, Pass, ports};
use crate::watch::Watched;

impl Pass<'_> {
    /// Looks at the release, takes drift back where that is wanted, and watches what is there.
    pub(super) async fn look(&mut self) {
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
        let before = self.deployment.status.as_ref().map(|status| &status.modified_status);
        if is_missing_something(seen) && before != Some(&self.done.status.modified_status) {
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
        let local = &self.cx.local;
        let (read, previous) = match self.written.take() {
            // Nothing was removed, so nothing can be left over.
            Some(written) => (Some(written), None),
            None => {
                let previous = self.previous(release).await;
                (release::live(local, release, previous.as_ref()).await, previous)
            }
        };
        let cluster = read.map_or_else(|| local.clone(), |read| local.recalling(read));
        let mut seen = monitor::observe(&cluster, release, previous.as_ref(), options, &set).await?;
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
        let cluster = match self.account().await {
            Ok(cluster) => cluster,
            Err(message) => return Some(Err(message)),
        };
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
        if is_missing_something(seen) {
            // Whoever took it may be taking the release's record next (`helm uninstall`).
            self.done.again = Some(OVERWRITE);
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
        let cluster = match self.account().await {
            Ok(cluster) => cluster,
            Err(message) => {
                self.done.failures.push(message);
                return;
            }
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

fn is_missing_something(seen: &Seen) -> bool {
    let mut found = seen.differences.iter().map(|(_, difference)| difference);
    found.any(|difference| matches!(difference, monitor::Difference::Missing { .. }))
}

fn version(object: &Value) -> String {
    object["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}
