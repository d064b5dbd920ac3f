//! Uninstall: the objects of the newest revision go, then all records. Or only the records go.

use fleet_api::chain::chain;
use helm::release::Status;

use crate::release::item::{Item, recorded};
use crate::release::{Error, Mode, Ports, hooks, record};
use crate::store::{self, History};
use crate::write;

/// Removes the objects of the newest revision, then all records. Objects that ask to be kept
/// stay. Can be called again after any failure.
///
/// # Errors
/// What could not be removed; everything else was, and the records stay, so that the next call
/// tries again.
pub async fn uninstall(ports: &Ports, history: &History) -> Result<(), Error> {
    let Some(newest) = history.last() else {
        return Ok(());
    };
    let mut record = newest.clone();
    if record.info.status == Status::Uninstalled {
        return forget(ports, history).await;
    }
    if record.info.status != Status::Uninstalling {
        record.info.deleted = Some(ports.stamp());
        let description = "Deletion in progress (or silently failed)".to_owned();
        record::end(ports, &mut record, Status::Uninstalling, description).await?;
    }
    let mode = Mode::default();
    hooks::run(ports, &mut record, "pre-delete", &mode).await?;
    remove(ports, recorded(ports, newest).await?).await?;
    hooks::run(ports, &mut record, "post-delete", &mode).await?;
    forget(ports, history).await
}

async fn remove(ports: &Ports, mut items: Vec<Item>) -> Result<(), Error> {
    items.sort_by_key(|item| helm::order::uninstall(&item.key.kind));
    let mut remains = Vec::new();
    for item in items.iter().filter(|item| !write::is_kept(&item.object)) {
        if let Err(source) = ports.cluster.delete(&item.key).await {
            remains.push(chain(&Error::Delete(Box::new(item.key.clone()), source)));
        }
    }
    if remains.is_empty() {
        return Ok(());
    }
    Err(Error::Remains(remains))
}

/// Removes all records and leaves the objects.
///
/// # Errors
/// A record could not be removed.
pub async fn forget(ports: &Ports, history: &History) -> Result<(), Error> {
    for release in history.all() {
        store::delete(&ports.cluster, &release.namespace, &release.name, release.version).await?;
    }
    Ok(())
}
