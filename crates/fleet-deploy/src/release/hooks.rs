//! Hooks: objects that are made before or after an action, by weight and name, and that have to
//! end well before it goes on. Notes in the release's record how each went. Hooks of the event
//! `test` are only stored: `helm test` runs them. What a hook wants done with its logs is stored
//! too and not acted on; there is nobody at a terminal. Mirrors Helm's hooks.

use std::time::Duration;

use fleet_api::chain::chain;
use helm::release::{Hook, Release};

use crate::cluster;
use crate::object::ObjectKey;
use crate::release::item::{Item, item};
use crate::release::{Mode, Ports, wait};
use crate::write::{self, Method};
use crate::{postrender, store};

/// Time a hook has when the options give none.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

const BEFORE: &str = "before-hook-creation";
const SUCCEEDED: &str = "hook-succeeded";
const FAILED: &str = "hook-failed";

/// Why a hook failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recorded hook is not YAML.
    #[error("hook '{path}'")]
    Manifest {
        /// Its template.
        path: String,
        /// Cause.
        #[source]
        source: goyaml::Error,
    },
    /// The recorded hook cannot be made into objects.
    #[error("unable to build kubernetes object for {event} hook {path}: {message}")]
    Build {
        /// Event.
        event: &'static str,
        /// Its template.
        path: String,
        /// Cause.
        message: String,
    },
    /// Its run could not be noted.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// It could not be removed.
    #[error("delete hook {0}")]
    Delete(String, #[source] cluster::Error),
    /// It was removed and is still there.
    #[error(transparent)]
    Remains(wait::Error),
    /// It could not be made.
    #[error("warning: Hook {event} {path} failed")]
    Create {
        /// Event.
        event: &'static str,
        /// Its template.
        path: String,
        /// Cause.
        #[source]
        source: write::Error,
    },
    /// It did not end well.
    #[error(transparent)]
    Run(wait::Error),
}

/// Indexes of the hooks of one event, in the order they run.
fn order(hooks: &[Hook], event: &str) -> Vec<usize> {
    let mut order: Vec<usize> = (0..hooks.len())
        .filter(|index| hooks[*index].events.iter().any(|known| known == event))
        .collect();
    // Stable: hooks of the same weight and name stay in order of their kinds.
    order.sort_by(|a, b| (hooks[*a].weight, &hooks[*a].name).cmp(&(hooks[*b].weight, &hooks[*b].name)));
    order
}

/// Whether a hook's objects go at this moment of its life. Removing a definition would remove
/// every object of its kind, so one always stays.
fn goes(hook: &Hook, moment: &str) -> bool {
    hook.kind != "CustomResourceDefinition" && hook.delete_policies.iter().any(|policy| policy == moment)
}

/// Runs the record's hooks of one event and notes in the record how they went.
pub(crate) async fn run(ports: &Ports, record: &mut Release, event: &'static str, mode: &Mode) -> Result<(), Error> {
    let timeout = mode.timeout.unwrap_or(TIMEOUT);
    let mut done: Vec<(bool, Vec<Item>)> = Vec::new();
    for index in order(&record.hooks, event) {
        if record.hooks[index].delete_policies.is_empty() {
            record.hooks[index].delete_policies = vec![BEFORE.to_owned()];
        }
        let hook = &record.hooks[index];
        let items = items(ports, hook, event, &record.namespace).await?;
        if goes(hook, BEFORE) {
            delete(ports, &items, timeout).await?;
        }
        begin(ports, record, index).await?;
        let outcome = make(ports, &record.hooks[index].path, &items, event, timeout).await;
        let hook = &mut record.hooks[index];
        hook.last_run.completed_at = Some(ports.stamp());
        if let Err(error) = outcome {
            "Failed".clone_into(&mut hook.last_run.phase);
            if goes(hook, FAILED) {
                clear(ports, &items, timeout).await;
            }
            for (_, items) in done.iter().filter(|(goes, _)| *goes) {
                clear(ports, items, timeout).await;
            }
            return Err(error);
        }
        "Succeeded".clone_into(&mut hook.last_run.phase);
        done.push((goes(hook, SUCCEEDED), items));
    }
    for (_, items) in done.iter().rev().filter(|(goes, _)| *goes) {
        delete(ports, items, timeout).await?;
    }
    Ok(())
}

async fn begin(ports: &Ports, record: &mut Release, index: usize) -> Result<(), Error> {
    let run = &mut record.hooks[index].last_run;
    run.started_at = Some(ports.stamp());
    run.completed_at = None;
    "Running".clone_into(&mut run.phase);
    Ok(store::update(&ports.cluster, record, (ports.now)()).await?)
}

async fn items(ports: &Ports, hook: &Hook, event: &'static str, namespace: &str) -> Result<Vec<Item>, Error> {
    let objects = postrender::objects_of(&hook.manifest).map_err(|source| Error::Manifest {
        path: hook.path.clone(),
        source,
    })?;
    let mut items = Vec::new();
    for object in objects {
        // Not marked: hooks are nobody's, a later release may have to replace them.
        let found = item(&ports.cluster, object, namespace).await;
        items.push(found.map_err(|error| Error::Build {
            event,
            path: hook.path.clone(),
            message: chain(&error),
        })?);
    }
    Ok(items)
}

async fn make(ports: &Ports, path: &str, items: &[Item], event: &'static str, timeout: Duration) -> Result<(), Error> {
    for item in items {
        write::write(&ports.cluster, Method::ServerSide, &item.object, None, true)
            .await
            .map_err(|source| Error::Create {
                event,
                path: path.to_owned(),
                source,
            })?;
    }
    wait::ended(ports, items, timeout).await.map_err(Error::Run)
}

async fn delete(ports: &Ports, items: &[Item], timeout: Duration) -> Result<(), Error> {
    for item in items {
        let failed = |source| Error::Delete(item.key.name.clone(), source);
        ports.cluster.delete(&item.key).await.map_err(failed)?;
    }
    for item in items {
        let key: &ObjectKey = &item.key;
        wait::gone(ports, key, timeout).await.map_err(Error::Remains)?;
    }
    Ok(())
}

/// As [`delete`], beside a failure that is worth telling more.
async fn clear(ports: &Ports, items: &[Item], timeout: Duration) {
    if let Err(error) = delete(ports, items, timeout).await {
        tracing::warn!(error = chain(&error), "cannot remove a hook");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(name: &str, kind: &str, weight: i64, events: &[&str]) -> Hook {
        Hook {
            name: name.to_owned(),
            kind: kind.to_owned(),
            weight,
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            ..Hook::default()
        }
    }

    #[test]
    fn hooks_of_an_event_run_by_weight_then_name_then_kind() {
        let hooks = [
            hook("b", "Secret", 0, &["pre-install"]),
            hook("b", "Job", 0, &["pre-install", "pre-upgrade"]),
            hook("a", "Job", 0, &["pre-install"]),
            hook("z", "Job", -5, &["pre-install"]),
            hook("t", "Pod", -9, &["test"]),
        ];
        assert_eq!(order(&hooks, "pre-install"), [3, 2, 0, 1]);
        assert_eq!(order(&hooks, "pre-upgrade"), [1]);
        assert!(order(&hooks, "post-install").is_empty());
    }

    #[test]
    fn a_definition_never_goes() {
        let mut hook = hook("a", "ConfigMap", 0, &["pre-install"]);
        hook.delete_policies = vec![BEFORE.to_owned(), FAILED.to_owned()];
        assert!(goes(&hook, BEFORE) && goes(&hook, FAILED) && !goes(&hook, SUCCEEDED));
        "CustomResourceDefinition".clone_into(&mut hook.kind);
        assert!(!goes(&hook, BEFORE) && !goes(&hook, FAILED));
    }
}
