//! Hooks: objects that are made before or after an operation, by weight and name, and that
//! have to end well before it goes on. Mirrors Helm's hook weights and delete policies.

use std::time::Duration;

use fleet_api::chain::chain;
use helm::release::{Hook, Release};

use crate::cluster;
use crate::object::ObjectKey;
use crate::run::{self, Item, Mode, Ports};
use crate::write::{self, Method};
use crate::{postrender, store, wait};

/// Time a hook has when the options give none.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Why a hook failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recorded hook is not YAML.
    #[error("hook '{path}': {message}")]
    Manifest {
        /// Its template.
        path: String,
        /// Cause.
        message: String,
    },
    /// Its run could not be noted.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// It could not be removed.
    #[error("failed {event}: delete hook {name}")]
    Delete {
        /// Event.
        event: &'static str,
        /// Object.
        name: String,
        /// Cause.
        #[source]
        source: cluster::Error,
    },
    /// It could not be made, or did not end well.
    #[error("failed {event}: {message}")]
    Run {
        /// Event.
        event: &'static str,
        /// Cause.
        message: String,
    },
}

fn policies(hook: &Hook) -> Vec<&str> {
    if hook.delete_policies.is_empty() {
        vec!["before-hook-creation"]
    } else {
        hook.delete_policies.iter().map(String::as_str).collect()
    }
}

/// Runs the record's hooks of one event and notes in the record how they went.
pub(crate) async fn run(ports: &Ports, record: &mut Release, event: &'static str, mode: &Mode) -> Result<(), Error> {
    let mut order: Vec<usize> = (0..record.hooks.len())
        .filter(|index| record.hooks[*index].events.iter().any(|known| known == event))
        .collect();
    order.sort_by(|a, b| {
        let (a, b) = (&record.hooks[*a], &record.hooks[*b]);
        (a.weight, &a.name).cmp(&(b.weight, &b.name))
    });
    let namespace = record.namespace.clone();
    let mut done = Vec::new();
    for index in order {
        let hook = &mut record.hooks[index];
        if hook.delete_policies.is_empty() {
            hook.delete_policies = vec!["before-hook-creation".to_owned()];
        }
        let items = items(ports, hook, event, &namespace).await?;
        if policies(hook).contains(&"before-hook-creation") {
            delete(ports, &items, event).await?;
        }
        hook.last_run.started_at = Some(ports.stamp());
        "Running".clone_into(&mut hook.last_run.phase);
        store::update(&ports.cluster, record, (ports.now)()).await?;
        let hook = &mut record.hooks[index];
        let outcome = create(ports, &items, event, mode).await;
        hook.last_run.completed_at = Some(ports.stamp());
        match outcome {
            Ok(()) => {
                "Succeeded".clone_into(&mut hook.last_run.phase);
                done.push((policies(hook).contains(&"hook-succeeded"), items));
            }
            Err(error) => {
                "Failed".clone_into(&mut hook.last_run.phase);
                if policies(hook).contains(&"hook-failed") {
                    delete(ports, &items, event).await?;
                }
                return Err(error);
            }
        }
    }
    for (_, items) in done.iter().filter(|(remove, _)| *remove) {
        delete(ports, items, event).await?;
    }
    Ok(())
}

async fn items(ports: &Ports, hook: &Hook, event: &'static str, namespace: &str) -> Result<Vec<Item>, Error> {
    let objects = postrender::objects_of(&hook.manifest).map_err(|error| Error::Manifest {
        path: hook.path.clone(),
        message: error.to_string(),
    })?;
    // Hooks are nobody's: a later release may have to replace them.
    run::items(&ports.cluster, &objects.iter().collect::<Vec<_>>(), "", namespace)
        .await
        .map_err(|error| Error::Run {
            event,
            message: chain(&error),
        })
}

async fn create(ports: &Ports, items: &[Item], event: &'static str, mode: &Mode) -> Result<(), Error> {
    for item in items {
        write::write(&ports.cluster, Method::ServerSide, &item.object, None, true)
            .await
            .map_err(|error| Error::Run {
                event,
                message: chain(&error),
            })?;
    }
    wait::ended(&ports.cluster, items, mode.timeout.unwrap_or(TIMEOUT))
        .await
        .map_err(|error| Error::Run {
            event,
            message: chain(&error),
        })
}

async fn delete(ports: &Ports, items: &[Item], event: &'static str) -> Result<(), Error> {
    for item in items {
        let failed = |source| Error::Delete {
            event,
            name: item.key.name.clone(),
            source,
        };
        ports.cluster.delete(&item.key).await.map_err(failed)?;
    }
    for item in items {
        let key: &ObjectKey = &item.key;
        wait::gone(&ports.cluster, key, TIMEOUT)
            .await
            .map_err(|error| Error::Run {
                event,
                message: chain(&error),
            })?;
    }
    Ok(())
}
