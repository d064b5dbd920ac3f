//! Why an action on a release failed. Every text names the object or the revision it is about,
//! in Helm's words where users search for them.

use crate::cluster;
use crate::object::ObjectKey;
use crate::release::{hooks, wait};
use crate::{postrender, store, write};

/// Why an action failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A kind the cluster does not serve.
    #[error("unable to build kubernetes objects from release manifest: resource mapping not found for name: \"{}\" namespace: \"{}\" from \"\": no matches for kind \"{}\" in version \"{}\"\nensure CRDs are installed first", .0.name, .0.namespace, .0.kind, .0.api_version)]
    UnknownKind(ObjectKey),
    /// The cluster could not be asked for a kind.
    #[error("look up kind {} in version {}", .0.kind, .0.api_version)]
    Kind(Box<ObjectKey>, #[source] cluster::Error),
    /// An object exists that is not the release's.
    #[error("unable to continue with install: {} \"{}\" in namespace \"{}\" exists and cannot be imported into the current release: invalid ownership metadata; {objections}", .key.kind, .key.name, .key.namespace)]
    Foreign {
        /// The object.
        key: Box<ObjectKey>,
        /// What speaks against it.
        objections: String,
    },
    /// A live object could not be read.
    #[error("unable to continue with install: could not get information about the resource {} \"{}\" in namespace \"{}\"", .0.kind, .0.name, .0.namespace)]
    Look(Box<ObjectKey>, #[source] cluster::Error),
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
    /// Hooks of an installation failed.
    #[error("failed {event}: {source}")]
    InstallHook {
        /// Which.
        event: &'static str,
        /// Cause.
        source: Box<hooks::Error>,
    },
    /// Hooks of an upgrade failed.
    #[error("{event} hooks failed: {source}")]
    UpgradeHook {
        /// Which.
        event: &'static str,
        /// Cause.
        source: Box<hooks::Error>,
    },
    /// Objects did not become ready.
    #[error(transparent)]
    Wait(#[from] wait::Error),
    /// Fields of a predecessor could not be taken over.
    #[error("take over fields of {}", .0.display())]
    Migrate(Box<ObjectKey>, #[source] cluster::Error),
    /// An object that is gone from the bundle could not be removed.
    #[error("delete {} \"{}\"", .0.kind, .0.name)]
    Delete(Box<ObjectKey>, #[source] cluster::Error),
    /// Objects of a release that is removed could not be removed; all others were.
    #[error("failed to delete release: {}", .0.join("; "))]
    Remains(Vec<String>),
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
    /// An atomic installation failed, and so did its removal.
    #[error("an error occurred while uninstalling the release. original install error: {cause}: {failure}")]
    NotUninstalled {
        /// Why the installation failed.
        cause: String,
        /// Why the removal failed.
        failure: String,
    },
    /// An atomic upgrade failed and was taken back.
    #[error("release {name} failed, and has been rolled back due to rollback-on-failure being set: {cause}")]
    RolledBack {
        /// The release.
        name: String,
        /// Why it failed.
        cause: String,
    },
    /// An atomic upgrade failed, and so did taking it back.
    #[error("an error occurred while rolling back the release. original upgrade error: {cause}: {failure}")]
    NotRolledBack {
        /// Why the upgrade failed.
        cause: String,
        /// Why taking it back failed.
        failure: String,
    },
    /// An atomic upgrade failed, and there is nothing to go back to.
    #[error("unable to find a previously successful release when attempting to rollback. original upgrade error: {0}")]
    NothingToRollBackTo(String),
    /// The objects cannot be written as YAML.
    #[error(transparent)]
    Render(#[from] postrender::Error),
}
