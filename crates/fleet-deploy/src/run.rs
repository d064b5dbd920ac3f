//! The steps of a release, one function each: install, upgrade, roll back, mark as failed,
//! finish a removal. Each reads what it needs, writes a pending record, then objects, then the
//! outcome. Mirrors Helm 4's actions as upstream's agent calls them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use fleet_api::chain::chain;
use helm::release::{Hook, Info, Release, Status};
use helm::step;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::cluster::{self, Cluster};
use crate::object::{self, ObjectKey};
use crate::ownership;
use crate::postrender::{self, Document};
use crate::write::{self, Method};
use crate::{hooks, store, wait};

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A kind the cluster does not serve.
    #[error("unable to build kubernetes objects from release manifest: resource mapping not found for name: \"{}\" namespace: \"{}\" from \"\": no matches for kind \"{}\" in version \"{}\"\nensure CRDs are installed first", .0.name, .0.namespace, .0.kind, .0.api_version)]
    UnknownKind(ObjectKey),
    /// The cluster could not be asked for a kind.
    #[error("look up kind {} in version {}", .0.kind, .0.api_version)]
    Kind(Box<ObjectKey>, #[source] cluster::Error),
    /// An object exists that is not the release's.
    #[error("unable to continue with {verb}: {} \"{}\" in namespace \"{}\" exists and cannot be imported into the current release: invalid ownership metadata; {objections}", .key.kind, .key.name, .key.namespace)]
    Foreign {
        /// `install` or `update`.
        verb: &'static str,
        /// The object.
        key: Box<ObjectKey>,
        /// What speaks against it.
        objections: String,
    },
    /// A live object could not be read.
    #[error("unable to continue with {verb}: could not get information about the resource {} \"{}\" in namespace \"{}\"", .key.kind, .key.name, .key.namespace)]
    Look {
        /// `install` or `update`.
        verb: &'static str,
        /// The object.
        key: Box<ObjectKey>,
        /// Cause.
        #[source]
        source: cluster::Error,
    },
    /// An object could not be written.
    #[error(transparent)]
    Write(#[from] write::Error),
    /// A definition of the chart's `crds/` could not be written.
    #[error("failed to install CRD '{name}'")]
    Definition {
        /// Its name.
        name: String,
        /// Cause.
        #[source]
        source: cluster::Error,
    },
    /// A record could not be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A hook failed.
    #[error(transparent)]
    Hook(#[from] hooks::Error),
    /// Objects did not become ready.
    #[error(transparent)]
    Wait(#[from] wait::Error),
    /// An object that is gone from the bundle could not be removed.
    #[error("delete {} \"{}\"", .0.kind, .0.name)]
    Delete(Box<ObjectKey>, #[source] cluster::Error),
    /// The record to build upon cannot be read.
    #[error("read manifest of revision {revision}")]
    Manifest {
        /// Which.
        revision: i64,
        /// Cause.
        #[source]
        source: goyaml::Error,
    },
    /// A revision that history named is gone.
    #[error("revision {0} is gone")]
    Gone(i64),
    /// An atomic installation failed and was removed again.
    #[error("release {name} failed, and has been uninstalled due to rollback-on-failure being set: {cause}")]
    Uninstalled {
        /// The release.
        name: String,
        /// Why it failed.
        cause: String,
    },
    /// An atomic upgrade failed and was taken back.
    #[error("release {name} failed, and has been rolled back due to rollback-on-failure being set: {cause}")]
    RolledBack {
        /// The release.
        name: String,
        /// Why it failed.
        cause: String,
    },
    /// The objects cannot be written as YAML.
    #[error(transparent)]
    Render(#[from] postrender::Error),
}

/// How a release is written.
#[derive(Clone, Debug, Default)]
pub struct Mode {
    /// Time for hooks and for readiness; 30 s for hooks if absent.
    pub timeout: Option<Duration>,
    /// Wait until objects are ready.
    pub wait: bool,
    /// Wait for jobs too.
    pub wait_for_jobs: bool,
    /// Undo what fails.
    pub atomic: bool,
    /// Replace objects instead of patching them.
    pub force: bool,
    /// Take over existing objects at installation.
    pub take_ownership: bool,
    /// Write the release namespace at installation.
    pub create_namespace: bool,
    /// Revisions kept at an upgrade.
    pub max_history: usize,
}

/// Everything one release consists of.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Name of the release.
    pub name: String,
    /// Namespace of the release.
    pub namespace: String,
    /// The chart, as it is recorded.
    pub chart: Value,
    /// The user's values, as they are recorded.
    pub config: Map<String, Value>,
    /// Rendered notes.
    pub notes: String,
    /// Objects, in order.
    pub documents: Vec<Document>,
    /// Hooks.
    pub hooks: Vec<Hook>,
    /// Definitions of the chart's `crds/`.
    pub definitions: Vec<Value>,
}

impl Target {
    fn objects(&self) -> Vec<&Value> {
        self.documents.iter().map(|document| &document.object).collect()
    }
}

/// The cluster seen with the rights of whoever deploys, and seen with the agent's own.
#[derive(Clone)]
pub struct Ports {
    /// Writes objects and records.
    pub cluster: Cluster,
    /// Reads records.
    pub agent: Cluster,
    /// Source of time.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Ports {
    pub(crate) fn stamp(&self) -> String {
        (self.now)().to_string()
    }
}

/// An object as it will be applied: marked, namespace filled in, kind known.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) key: ObjectKey,
    pub(crate) object: Value,
}

/// Resolves kinds and fills in namespaces. Without a release's name nothing is marked as owned.
pub(crate) async fn items(
    cluster: &Cluster,
    objects: &[&Value],
    release: &str,
    namespace: &str,
) -> Result<Vec<Item>, Error> {
    let mut items = Vec::new();
    for object in objects.iter().copied() {
        let mut key = ObjectKey::of(object);
        let kind = match cluster.kind(&key.api_version, &key.kind).await {
            Ok(kind) => kind,
            Err(cluster::Error::UnknownKind { .. }) => return Err(Error::UnknownKind(key)),
            Err(source) => return Err(Error::Kind(Box::new(key), source)),
        };
        let mut object = if release.is_empty() {
            object.clone()
        } else {
            ownership::marked(object, release, namespace)
        };
        if !kind.namespaced {
            key.namespace.clear();
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("namespace");
            }
        } else if key.namespace.is_empty() {
            namespace.clone_into(&mut key.namespace);
            object::set_namespace(&mut object, namespace);
        }
        items.push(Item { key, object });
    }
    Ok(items)
}

fn objects_of(release: &Release) -> Result<Vec<Value>, Error> {
    postrender::objects_of(&release.manifest).map_err(|source| Error::Manifest {
        revision: release.version,
        source,
    })
}

fn new_record(ports: &Ports, target: &Target, revision: i64, first: Option<String>) -> Result<Release, Error> {
    let now = ports.stamp();
    Ok(Release {
        name: target.name.clone(),
        namespace: target.namespace.clone(),
        version: revision,
        info: Info {
            first_deployed: Some(first.unwrap_or_else(|| now.clone())),
            last_deployed: Some(now),
            ..Info::default()
        },
        chart: target.chart.clone(),
        config: target.config.clone(),
        manifest: postrender::manifest(&target.documents)?,
        hooks: target.hooks.clone(),
        apply_method: String::new(),
    })
}

/// Writes the definitions of `crds/` that are not there yet, and waits until they are served.
pub(crate) async fn define(ports: &Ports, target: &Target) -> Result<(), Error> {
    for definition in &target.definitions {
        let key = ObjectKey::of(definition);
        let failed = |source| Error::Definition {
            name: key.name.clone(),
            source,
        };
        if ports.cluster.get(&key).await.map_err(failed)?.is_none() {
            ports.cluster.apply(definition).await.map_err(failed)?;
        }
        wait::established(&ports.cluster, &key).await?;
    }
    Ok(())
}

async fn create_namespace(ports: &Ports, target: &Target, method: Method) -> Result<(), Error> {
    let namespace = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": target.namespace, "labels": {"name": target.namespace}},
        // Owned although empty, as in what Go programs send.
        "spec": {},
    });
    if method == Method::ServerSide {
        write::write(&ports.cluster, method, &namespace, None, true).await?;
        return Ok(());
    }
    match ports.cluster.create(&namespace).await {
        Err(error) if !error.is_already_exists() => Err(write::Error::Create(error).into()),
        _ => Ok(()),
    }
}

/// First revision, or the first after a removal.
pub(crate) async fn install(ports: &Ports, target: &Target, mode: &Mode, revision: i64) -> Result<Release, Error> {
    define(ports, target).await?;
    let method = match (mode.force, mode.take_ownership) {
        (true, _) => Method::Replace,
        (false, true) => Method::ClientSide,
        (false, false) => Method::ServerSide,
    };
    let items = items(&ports.cluster, &target.objects(), &target.name, &target.namespace).await?;
    for item in &items {
        look(ports, target, item, "install", mode.take_ownership).await?;
    }
    if mode.create_namespace {
        create_namespace(ports, target, method).await?;
    }
    let mut record = new_record(ports, target, revision, None)?;
    record.apply_method = method.word().to_owned();
    record.info.status = Status::PendingInstall;
    "Initial install underway".clone_into(&mut record.info.description);
    store::create(&ports.cluster, &record, (ports.now)()).await?;
    let outcome = async {
        hooks::run(ports, &mut record, "pre-install", mode).await?;
        for item in &items {
            write::write(&ports.cluster, method, &item.object, None, true).await?;
        }
        if mode.wait {
            wait::ready(&ports.cluster, &items, mode).await?;
        }
        hooks::run(ports, &mut record, "post-install", mode).await?;
        Ok::<(), Error>(())
    }
    .await;
    if let Err(error) = outcome {
        let cause = chain(&error);
        record.info.status = Status::Failed;
        record.info.description = format!("Release \"{}\" failed: {cause}", target.name);
        store::update(&ports.cluster, &record, (ports.now)()).await?;
        if mode.atomic {
            uninstall(ports, &[record]).await?;
            return Err(Error::Uninstalled {
                name: target.name.clone(),
                cause,
            });
        }
        return Err(error);
    }
    record.info.status = Status::Deployed;
    "Install complete".clone_into(&mut record.info.description);
    record.info.notes.clone_from(&target.notes);
    store::update(&ports.cluster, &record, (ports.now)()).await?;
    Ok(record)
}

async fn look(
    ports: &Ports,
    target: &Target,
    item: &Item,
    verb: &'static str,
    take_ownership: bool,
) -> Result<(), Error> {
    let live = ports.cluster.get(&item.key).await.map_err(|source| Error::Look {
        verb,
        key: Box::new(item.key.clone()),
        source,
    })?;
    if let Some(live) = live.filter(|_| !take_ownership) {
        let objections = ownership::objections(&live, &target.name, &target.namespace);
        if !objections.is_empty() {
            return Err(Error::Foreign {
                verb,
                key: Box::new(item.key.clone()),
                objections: objections.join("; "),
            });
        }
    }
    Ok(())
}

/// Removes old revisions so that one more fits.
async fn prune(ports: &Ports, target: &Target, history: &[Release], max: usize) -> Result<(), Error> {
    if max == 0 {
        return Ok(());
    }
    for number in step::surplus(&store::revisions(history), max - 1) {
        store::delete(&ports.cluster, &target.namespace, &target.name, number).await?;
    }
    Ok(())
}

/// Applies `items` over the objects of `base`, and removes what is only in `base`.
async fn change(ports: &Ports, method: Method, items: &[Item], base: &[Item]) -> Result<(), Error> {
    for item in items {
        let previous = base
            .iter()
            .find(|other| other.key == item.key)
            .map(|other| &other.object);
        write::write(&ports.cluster, method, &item.object, previous, false).await?;
    }
    let wanted: BTreeSet<&ObjectKey> = items.iter().map(|item| &item.key).collect();
    for item in base.iter().filter(|item| !wanted.contains(&item.key)) {
        // The same object under another version of its group is not gone.
        let (group, _) = item.key.group_version();
        let renamed = wanted.iter().any(|other| {
            other.group_version().0 == group
                && (&other.kind, &other.namespace, &other.name) == (&item.key.kind, &item.key.namespace, &item.key.name)
        });
        if renamed {
            continue;
        }
        let failed = |source| Error::Delete(Box::new(item.key.clone()), source);
        let live = match ports.cluster.get(&item.key).await {
            Ok(live) => live,
            Err(cluster::Error::UnknownKind { .. }) => None,
            Err(error) => return Err(failed(error)),
        };
        if live.is_some_and(|live| !write::is_kept(&live)) {
            ports.cluster.delete(&item.key).await.map_err(failed)?;
        }
    }
    Ok(())
}

/// Objects of a stored revision; kinds that are no longer served have nothing to remove.
async fn base_items(ports: &Ports, release: &Release) -> Result<Vec<Item>, Error> {
    let mut found = Vec::new();
    for object in objects_of(release)? {
        match items(&ports.cluster, &[&object], &release.name, &release.namespace).await {
            Ok(item) => found.extend(item),
            Err(Error::UnknownKind(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Next revision.
pub(crate) async fn upgrade(
    ports: &Ports,
    target: &Target,
    mode: &Mode,
    history: &[Release],
    base: i64,
    revision: i64,
) -> Result<Release, Error> {
    let base = history
        .iter()
        .find(|release| release.version == base)
        .ok_or(Error::Gone(base))?;
    let method = match (mode.force, base.server_side()) {
        (true, _) => Method::Replace,
        (false, true) => Method::ServerSide,
        (false, false) => Method::ClientSide,
    };
    let new = items(&ports.cluster, &target.objects(), &target.name, &target.namespace).await?;
    let old = base_items(ports, base).await?;
    prune(ports, target, history, mode.max_history).await?;
    let mut record = new_record(ports, target, revision, base.info.first_deployed.clone())?;
    record.apply_method = method.word().to_owned();
    record.info.status = Status::PendingUpgrade;
    "Preparing upgrade".clone_into(&mut record.info.description);
    store::create(&ports.cluster, &record, (ports.now)()).await?;
    let outcome = async {
        hooks::run(ports, &mut record, "pre-upgrade", mode).await?;
        change(ports, method, &new, &old).await?;
        if mode.wait {
            wait::ready(&ports.cluster, &new, mode).await?;
        }
        hooks::run(ports, &mut record, "post-upgrade", mode).await?;
        Ok::<(), Error>(())
    }
    .await;
    if let Err(error) = outcome {
        let cause = chain(&error);
        record.info.status = Status::Failed;
        record.info.description = match &error {
            Error::Wait(_) => format!("Release \"{}\" failed: {cause}", target.name),
            _ => format!("Upgrade \"{}\" failed: {cause}", target.name),
        };
        store::update(&ports.cluster, &record, (ports.now)()).await?;
        if !mode.atomic {
            return Err(error);
        }
        let history = store::history(&ports.agent, &target.namespace, &target.name).await?;
        let good = history
            .iter()
            .filter(|release| matches!(release.info.status, Status::Deployed | Status::Superseded))
            .map(|release| release.version)
            .max();
        if let Some(good) = good {
            let way = Way {
                to: good,
                last: record.version,
                method,
            };
            roll_back(ports, target, mode, &history, way).await?;
        }
        return Err(Error::RolledBack {
            name: target.name.clone(),
            cause,
        });
    }
    let mut superseded = base.clone();
    superseded.info.status = Status::Superseded;
    store::update(&ports.cluster, &superseded, (ports.now)()).await?;
    record.info.status = Status::Deployed;
    "Upgrade complete".clone_into(&mut record.info.description);
    record.info.notes.clone_from(&target.notes);
    store::update(&ports.cluster, &record, (ports.now)()).await?;
    Ok(record)
}

/// From where to where a release goes back, and how its objects are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Revision whose manifest is applied.
    pub(crate) to: i64,
    /// The last revision.
    pub(crate) last: i64,
    /// How.
    pub(crate) method: Method,
}

/// The objects of revision `to` as a new revision after `last`.
pub(crate) async fn roll_back(
    ports: &Ports,
    target: &Target,
    mode: &Mode,
    history: &[Release],
    way: Way,
) -> Result<Release, Error> {
    let Way { to, last, method } = way;
    let find = |number: i64| {
        history
            .iter()
            .find(|release| release.version == number)
            .ok_or(Error::Gone(number))
    };
    let (good, current) = (find(to)?, find(last)?);
    let mut record = Release {
        version: last + 1,
        apply_method: method.word().to_owned(),
        info: Info {
            first_deployed: current.info.first_deployed.clone(),
            last_deployed: Some(ports.stamp()),
            deleted: None,
            description: format!("Rollback to {to}"),
            status: Status::PendingRollback,
            notes: good.info.notes.clone(),
        },
        ..good.clone()
    };
    let new = base_items(ports, good).await?;
    let old = base_items(ports, current).await?;
    store::create(&ports.cluster, &record, (ports.now)()).await?;
    let outcome = async {
        hooks::run(ports, &mut record, "pre-rollback", mode).await?;
        change(ports, method, &new, &old).await?;
        hooks::run(ports, &mut record, "post-rollback", mode).await?;
        Ok::<(), Error>(())
    }
    .await;
    if let Err(error) = outcome {
        record.info.status = Status::Failed;
        record.info.description = format!("Rollback \"{}\" failed: {}", target.name, chain(&error));
        store::update(&ports.cluster, &record, (ports.now)()).await?;
        return Err(error);
    }
    for other in history.iter().filter(|release| release.info.status == Status::Deployed) {
        if store::revision(&ports.agent, &other.namespace, &other.name, other.version)
            .await?
            .is_some()
        {
            let mut superseded = other.clone();
            superseded.info.status = Status::Superseded;
            store::update(&ports.cluster, &superseded, (ports.now)()).await?;
        }
    }
    record.info.status = Status::Deployed;
    store::update(&ports.cluster, &record, (ports.now)()).await?;
    Ok(record)
}

/// Writes `failed` over a pending record that has nothing to go back to.
pub(crate) async fn mark_failed(ports: &Ports, history: &[Release], revision: i64) -> Result<(), Error> {
    let mut record = history
        .iter()
        .find(|release| release.version == revision)
        .ok_or(Error::Gone(revision))?
        .clone();
    record.info.status = Status::Failed;
    store::update(&ports.cluster, &record, (ports.now)()).await?;
    Ok(())
}

/// Removes the objects of the newest revision, then all records. Objects that ask to be kept
/// stay.
///
/// # Errors
/// What could not be removed; records stay then, so that the next pass tries again.
pub async fn uninstall(ports: &Ports, history: &[Release]) -> Result<(), Error> {
    let Some(newest) = history.iter().max_by_key(|release| release.version) else {
        return Ok(());
    };
    let mut record = newest.clone();
    if record.info.status != Status::Uninstalling {
        record.info.status = Status::Uninstalling;
        record.info.deleted = Some(ports.stamp());
        "Deletion in progress (or silently failed)".clone_into(&mut record.info.description);
        store::update(&ports.cluster, &record, (ports.now)()).await?;
    }
    let mode = Mode::default();
    hooks::run(ports, &mut record, "pre-delete", &mode).await?;
    let mut doomed = base_items(ports, newest).await?;
    doomed.sort_by_key(|item| helm::order::uninstall(&item.key.kind));
    for item in doomed.iter().filter(|item| !write::is_kept(&item.object)) {
        ports
            .cluster
            .delete(&item.key)
            .await
            .map_err(|source| Error::Delete(Box::new(item.key.clone()), source))?;
    }
    hooks::run(ports, &mut record, "post-delete", &mode).await?;
    forget(ports, history).await
}

/// Removes all records and leaves the objects.
///
/// # Errors
/// A record could not be removed.
pub async fn forget(ports: &Ports, history: &[Release]) -> Result<(), Error> {
    for release in history {
        store::delete(&ports.cluster, &release.namespace, &release.name, release.version).await?;
    }
    Ok(())
}
