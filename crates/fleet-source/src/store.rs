//! Bundles → a cluster: created or updated, their values moved to secrets, bundles of the same
//! repository that are not made any more removed. Used by `fleet apply` and by the manager (with
//! a client that acts as the GitRepo's service account). Writes nothing that equals what is
//! stored; a second run repairs what a first one left half done.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::{Bundle, ImageScan, labels, values};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::{Client, Resource};

use crate::child::Scanned;
use crate::overwrite;

/// Why bundles could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server refused or did not answer.
    #[error("{action} {kind} {name:?}")]
    Request {
        /// `create`, …
        action: &'static str,
        /// Of the object.
        kind: &'static str,
        /// `namespace/name`, or the label that was asked for.
        name: String,
        /// The cause.
        source: Box<kube::Error>,
    },
    /// Still there, but on its way out.
    #[error("the bundle {name:?} is being deleted: wait until it is gone and try again")]
    Deleting {
        /// `namespace/name`
        name: String,
    },
    /// Belongs to a HelmOp.
    #[error("a helmOps bundle with name {name:?} already exists: rename the HelmOp or the bundle")]
    Owned {
        /// `namespace/name`
        name: String,
    },
    /// Values that cannot be moved to a secret.
    #[error("move the values of bundle {name:?} to a secret")]
    MoveValues {
        /// Name of the bundle.
        name: String,
        /// The cause.
        source: values::Error,
    },
    /// The registry secret is not of the right type.
    #[error(
        "secret {name:?} has type {found:?}, an OCI registry needs {}",
        labels::SECRET_OCI_STORAGE
    )]
    CheckRegistrySecret {
        /// Name of the secret.
        name: String,
        /// Its type.
        found: String,
    },
    /// Not there yet.
    #[error(
        "secret {name:?} asks for content in an OCI registry, which is not supported yet: set OCI_STORAGE=false or remove the secret"
    )]
    PushContent {
        /// Name of the secret.
        name: String,
    },
}

impl Error {
    /// Whether somebody else wrote at the same time, so that another attempt makes sense.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Request { source, .. } if matches!(&**source, kube::Error::Api(status) if status.code == 409))
    }
}

fn request(action: &'static str, kind: &'static str, name: &str) -> impl FnOnce(kube::Error) -> Error {
    let name = name.to_owned();
    move |source| Error::Request {
        action,
        kind,
        name,
        source: Box::new(source),
    }
}

/// Where and how bundles are stored.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Namespace of the bundles.
    pub namespace: String,
    /// Value of the repo-name label whose other bundles are removed.
    pub repository: String,
    /// Content may go to an OCI registry.
    pub registry: bool,
    /// Secret with access to it, which must exist; if empty the default one is used if it exists.
    pub registry_secret: String,
}

/// What happened to one bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Created,
    /// It is different.
    Updated,
    /// It was stored like that already.
    Unchanged,
    /// It is not made any more.
    Deleted,
}

/// One bundle and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Name of the bundle.
    pub name: String,
    /// What happened.
    pub change: Change,
}

/// Stores the bundles of one repository: removes those that are not made any more, then writes
/// the others in order. An empty list removes all: the caller decides whether that is an error.
///
/// # Errors
/// The first thing that fails; what was done before stays.
pub async fn store(client: &Client, mut scanned: Vec<Scanned>, settings: &Settings) -> Result<Vec<Stored>, Error> {
    check_registry(client, settings).await?;
    let mut done = prune(client, &mut scanned, settings).await?;
    for scanned in scanned {
        let name = scanned.bundle.metadata.name.clone().unwrap_or_default();
        let change = store_bundle(client, scanned, settings).await?;
        done.push(Stored { name, change });
    }
    Ok(done)
}

/// A registry is used if its secret is there.
async fn check_registry(client: &Client, settings: &Settings) -> Result<(), Error> {
    if !settings.registry {
        return Ok(());
    }
    let named = !settings.registry_secret.is_empty();
    let name = if named {
        settings.registry_secret.as_str()
    } else {
        labels::DEFAULT_OCI_STORAGE_SECRET
    };
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &settings.namespace);
    let found = match secrets.get_opt(name).await {
        // Who may not read secrets has no registry, as long as none was asked for.
        Err(kube::Error::Api(status)) if status.code == 403 && !named => None,
        other => other.map_err(request("get", "secret", name))?,
    };
    match found {
        None if named => {
            let missing =
                kube::core::Status::failure(&format!("secrets {name:?} not found"), "NotFound").with_code(404);
            Err(request("get", "secret", name)(kube::Error::Api(missing.boxed())))
        }
        None => Ok(()),
        Some(secret) => {
            let found = secret.type_.unwrap_or_default();
            if found == labels::SECRET_OCI_STORAGE {
                Err(Error::PushContent { name: name.to_owned() })
            } else {
                Err(Error::CheckRegistrySecret {
                    name: name.to_owned(),
                    found,
                })
            }
        }
    }
}

async fn prune(client: &Client, scanned: &mut [Scanned], settings: &Settings) -> Result<Vec<Stored>, Error> {
    let bundles: Api<Bundle> = Api::namespaced(client.clone(), &settings.namespace);
    let selector = format!("{}={}", labels::REPO_NAME, settings.repository);
    let kept: BTreeSet<String> = scanned
        .iter()
        .filter_map(|scanned| scanned.bundle.metadata.name.clone())
        .collect();
    let stored = bundles
        .list(&ListParams::default().labels(&selector))
        .await
        .map_err(request("list", "bundles", &selector))?;
    let mut done = Vec::new();
    for going in stored {
        let name = going.metadata.name.clone().unwrap_or_default();
        if kept.contains(&name) {
            continue;
        }
        for scanned in scanned.iter_mut() {
            overwrite::record(&mut scanned.bundle, &going);
        }
        match bundles.delete(&name, &DeleteParams::default()).await {
            Ok(_) => done.push(Stored {
                name,
                change: Change::Deleted,
            }),
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => return Err(request("delete", "bundle", &name)(error)),
        }
    }
    Ok(done)
}

async fn store_bundle(client: &Client, scanned: Scanned, settings: &Settings) -> Result<Change, Error> {
    let Scanned {
        mut bundle,
        image_scans,
    } = scanned;
    bundle.metadata.namespace = Some(settings.namespace.clone());
    let name = bundle.metadata.name.clone().unwrap_or_default();
    let extracted = values::of_bundle(&bundle.spec).map_err(|source| Error::MoveValues {
        name: name.clone(),
        source,
    })?;
    if !extracted.hash.is_empty() {
        values::clear_bundle(&mut bundle.spec);
    }
    bundle.spec.values_hash.clone_from(&extracted.hash);

    let (stored, change) = save(client, bundle, settings).await?;
    if extracted.hash.is_empty() {
        delete_secret(client, &name, settings).await?;
    } else {
        save_secret(client, &stored, extracted.data, settings).await?;
    }
    for scan in image_scans {
        save_scan(client, &stored, scan, settings).await?;
    }
    Ok(change)
}

async fn save(client: &Client, mut bundle: Bundle, settings: &Settings) -> Result<(Bundle, Change), Error> {
    let bundles: Api<Bundle> = Api::namespaced(client.clone(), &settings.namespace);
    let name = bundle.metadata.name.clone().unwrap_or_default();
    let full = format!("{}/{name}", settings.namespace);
    let Some(mut stored) = bundles.get_opt(&name).await.map_err(request("get", "bundle", &full))? else {
        let created = bundles.create(&PostParams::default(), &bundle).await;
        return Ok((created.map_err(request("create", "bundle", &full))?, Change::Created));
    };
    if stored.metadata.deletion_timestamp.is_some() {
        return Err(Error::Deleting { name: full });
    }
    if stored.spec.helm_op_options.is_some() && bundle.spec.helm_op_options.is_none() {
        return Err(Error::Owned { name: full });
    }
    // The server fills in the default, which is no difference.
    if bundle.spec.target_customization_mode.is_empty() && stored.spec.target_customization_mode == "FirstMatch" {
        bundle
            .spec
            .target_customization_mode
            .clone_from(&stored.spec.target_customization_mode);
    }
    let same = |left: &Option<BTreeMap<String, String>>, right: &Option<BTreeMap<String, String>>| {
        left.as_ref().filter(|map| !map.is_empty()) == right.as_ref().filter(|map| !map.is_empty())
    };
    if stored.spec == bundle.spec
        && same(&stored.metadata.labels, &bundle.metadata.labels)
        && same(&stored.metadata.annotations, &bundle.metadata.annotations)
    {
        return Ok((stored, Change::Unchanged));
    }
    stored.spec = bundle.spec;
    stored.metadata.labels = bundle.metadata.labels;
    stored.metadata.annotations = bundle.metadata.annotations;
    let updated = bundles.replace(&name, &PostParams::default(), &stored).await;
    Ok((updated.map_err(request("update", "bundle", &full))?, Change::Updated))
}

fn owner(bundle: &Bundle) -> OwnerReference {
    OwnerReference {
        api_version: Bundle::api_version(&()).into_owned(),
        kind: Bundle::kind(&()).into_owned(),
        name: bundle.metadata.name.clone().unwrap_or_default(),
        uid: bundle.metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

async fn save_secret(
    client: &Client,
    bundle: &Bundle,
    data: BTreeMap<String, Vec<u8>>,
    settings: &Settings,
) -> Result<(), Error> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &settings.namespace);
    let name = bundle.metadata.name.clone().unwrap_or_default();
    let mut wanted = Secret {
        type_: Some(labels::SECRET_BUNDLE_VALUES.to_owned()),
        data: Some(data.into_iter().map(|(key, value)| (key, ByteString(value))).collect()),
        ..Secret::default()
    };
    wanted.metadata.name = Some(name.clone());
    wanted.metadata.namespace = Some(settings.namespace.clone());
    wanted.metadata.labels.clone_from(&bundle.metadata.labels);
    wanted.metadata.owner_references = Some(vec![owner(bundle)]);
    match secrets.get_opt(&name).await.map_err(request("get", "secret", &name))? {
        None => {
            secrets
                .create(&PostParams::default(), &wanted)
                .await
                .map_err(request("create", "secret", &name))?;
        }
        Some(mut stored) => {
            let unchanged = stored.data == wanted.data
                && stored.metadata.labels == wanted.metadata.labels
                && stored.metadata.owner_references == wanted.metadata.owner_references;
            if !unchanged {
                stored.data = wanted.data;
                stored.metadata.labels = wanted.metadata.labels;
                stored.metadata.owner_references = wanted.metadata.owner_references;
                secrets
                    .replace(&name, &PostParams::default(), &stored)
                    .await
                    .map_err(request("update", "secret", &name))?;
            }
        }
    }
    Ok(())
}

/// Removes the values secret of a bundle that has no values any more; only one of that type, not
/// whatever secret happens to have the name.
async fn delete_secret(client: &Client, name: &str, settings: &Settings) -> Result<(), Error> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &settings.namespace);
    let found = secrets.get_opt(name).await.map_err(request("get", "secret", name))?;
    if found.is_none_or(|secret| secret.type_.as_deref() != Some(labels::SECRET_BUNDLE_VALUES)) {
        return Ok(());
    }
    match secrets.delete(name, &DeleteParams::default()).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(request("delete", "secret", name)(error)),
    }
}

async fn save_scan(client: &Client, bundle: &Bundle, mut scan: ImageScan, settings: &Settings) -> Result<(), Error> {
    let scans: Api<ImageScan> = Api::namespaced(client.clone(), &settings.namespace);
    let name = scan.metadata.name.clone().unwrap_or_default();
    scan.metadata.namespace = Some(settings.namespace.clone());
    scan.metadata.labels.clone_from(&bundle.metadata.labels);
    scan.metadata.annotations.clone_from(&bundle.metadata.annotations);
    let repository = bundle
        .metadata
        .labels
        .as_ref()
        .and_then(|labels| labels.get(labels::REPO_NAME));
    scan.spec.gitrepo_name = repository.cloned().unwrap_or_default();
    match scans.get_opt(&name).await.map_err(request("get", "imagescan", &name))? {
        None => {
            scans
                .create(&PostParams::default(), &scan)
                .await
                .map_err(request("create", "imagescan", &name))?;
        }
        Some(mut stored) => {
            let unchanged = stored.spec == scan.spec
                && stored.metadata.labels == scan.metadata.labels
                && stored.metadata.annotations == scan.metadata.annotations;
            if !unchanged {
                stored.spec = scan.spec;
                stored.metadata.labels = scan.metadata.labels;
                stored.metadata.annotations = scan.metadata.annotations;
                scans
                    .replace(&name, &PostParams::default(), &stored)
                    .await
                    .map_err(request("update", "imagescan", &name))?;
            }
        }
    }
    Ok(())
}
