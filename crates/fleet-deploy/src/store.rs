//! Release records in the cluster: one secret per revision. Turns secrets into [`Release`]s and
//! back. Reads with the agent's own rights; writes with those of whoever deploys. A record that
//! cannot be read still counts as a revision, of which nothing but number and status is known:
//! whoever overlooked it would try for ever to write the same number.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use helm::release::{self, Info, Release, Status};
use helm::step::Revision;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cluster::{self, Cluster};
use crate::object::{self, ObjectKey};

/// Why records cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The list failed.
    #[error("list releases")]
    List(#[source] cluster::Error),
    /// A read failed.
    #[error("get release '{0}'")]
    Get(String, #[source] cluster::Error),
    /// A new record cannot be written.
    #[error("create: failed to create")]
    Create(#[source] cluster::Error),
    /// A record cannot be changed.
    #[error("update release '{0}'")]
    Update(String, #[source] cluster::Error),
    /// A record cannot be removed.
    #[error("delete release '{0}'")]
    Delete(String, #[source] cluster::Error),
    /// A record cannot be read or packed.
    #[error("release record '{0}'")]
    Record(String, #[source] release::Error),
}

/// Labels that say which record a secret is.
const SYSTEM_LABELS: [&str; 6] = ["name", "owner", "status", "version", "createdAt", "modifiedAt"];

fn secret_key(namespace: &str, name: &str, revision: i64) -> ObjectKey {
    ObjectKey {
        api_version: "v1".into(),
        kind: "Secret".into(),
        namespace: namespace.into(),
        name: release::secret_name(name, revision),
    }
}

fn record(secret: &Value) -> Result<Release, Error> {
    let name = object::name(secret);
    let text = secret["data"][release::SECRET_KEY].as_str().unwrap_or_default();
    let inner = STANDARD
        .decode(text)
        .map_err(|error| Error::Record(name.to_owned(), release::Error::Base64(error)))?;
    let mut release = release::decode(&inner).map_err(|error| Error::Record(name.to_owned(), error))?;
    // The secret says where it is; a record copied elsewhere must not point back.
    release.namespace = object::namespace(secret).to_owned();
    release.labels = custom_labels(secret);
    Ok(release)
}

/// Labels that users gave a release (`helm install --labels`); they live on the secret alone.
fn custom_labels(secret: &Value) -> BTreeMap<String, String> {
    let labels = secret["metadata"]["labels"].as_object();
    labels
        .into_iter()
        .flatten()
        .filter(|(key, _)| !SYSTEM_LABELS.contains(&key.as_str()))
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

fn secret(release: &Release, stamp: &str, now: Timestamp) -> Result<Value, Error> {
    let key = secret_key(&release.namespace, &release.name, release.version);
    let text = release::encode(release).map_err(|error| Error::Record(key.name.clone(), error))?;
    let mut labels = release.labels.clone();
    labels.extend([
        ("name".to_owned(), release.name.clone()),
        ("owner".to_owned(), "helm".to_owned()),
        ("status".to_owned(), release.info.status.as_str().to_owned()),
        ("version".to_owned(), release.version.to_string()),
        (stamp.to_owned(), now.as_second().to_string()),
    ]);
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": release::SECRET_TYPE,
        "metadata": {
            "name": key.name,
            "namespace": key.namespace,
            "labels": labels,
        },
        "data": {release::SECRET_KEY: STANDARD.encode(text)},
    }))
}

/// Every revision of one release.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Oldest first.
    releases: Vec<Release>,
}

impl History {
    /// All revisions, oldest first.
    pub fn all(&self) -> impl Iterator<Item = &Release> {
        self.releases.iter()
    }

    /// The newest revision.
    #[must_use]
    pub fn last(&self) -> Option<&Release> {
        self.releases.last()
    }

    /// The revision with this number.
    #[must_use]
    pub fn find(&self, number: i64) -> Option<&Release> {
        self.all().find(|release| release.version == number)
    }

    /// What the choice of the next action needs to know.
    #[must_use]
    pub fn revisions(&self) -> Vec<Revision> {
        self.all()
            .map(|release| Revision {
                number: release.version,
                status: release.info.status,
            })
            .collect()
    }

    /// The revisions for which `wanted` says yes.
    #[must_use]
    pub fn only(self, wanted: impl Fn(&Release) -> bool) -> Self {
        let releases = self.releases.into_iter().filter(wanted).collect();
        Self { releases }
    }
}

/// What a secret's labels tell of a record that cannot be read.
fn outline(secret: &Value) -> Option<Release> {
    let label = |key: &str| object::label(secret, key).unwrap_or_default();
    Some(Release {
        name: label("name").to_owned(),
        namespace: object::namespace(secret).to_owned(),
        version: label("version").parse().ok()?,
        info: Info {
            status: Status::from_word(label("status")),
            ..Info::default()
        },
        ..Release::default()
    })
}

/// All revisions of one release.
///
/// # Errors
/// The list failed.
pub async fn history(cluster: &Cluster, namespace: &str, name: &str) -> Result<History, Error> {
    let selector = format!("name={name},owner=helm");
    let secrets = cluster
        .list("v1", "Secret", namespace, &selector)
        .await
        .map_err(Error::List)?;
    let mut releases: Vec<Release> = secrets
        .iter()
        .filter_map(|secret| record(secret).ok().or_else(|| outline(secret)))
        .filter(|release| release.name == name)
        .collect();
    releases.sort_by_key(|release| release.version);
    Ok(History { releases })
}

/// The newest revision of every release in every namespace whose chart carries the annotation
/// `key` with `value`, by namespace and name.
///
/// # Errors
/// The list failed.
pub async fn newest_with(cluster: &Cluster, key: &str, value: &str) -> Result<Vec<Release>, Error> {
    let secrets = cluster
        .list("v1", "Secret", "", "owner=helm")
        .await
        .map_err(Error::List)?;
    let mut newest = BTreeMap::new();
    for secret in &secrets {
        let revision: i64 = object::label(secret, "version")
            .and_then(|text| text.parse().ok())
            .unwrap_or_default();
        let place = (
            object::namespace(secret).to_owned(),
            object::label(secret, "name").unwrap_or_default().to_owned(),
        );
        let entry = newest.entry(place).or_insert((revision, secret));
        if revision > entry.0 {
            *entry = (revision, secret);
        }
    }
    Ok(newest
        .into_values()
        .filter_map(|(_, secret)| record(secret).ok())
        .filter(|release| release.chart_annotation(key) == Some(value))
        .collect())
}

/// One revision, if there.
///
/// # Errors
/// The read failed, or the record is damaged.
pub async fn revision(cluster: &Cluster, namespace: &str, name: &str, number: i64) -> Result<Option<Release>, Error> {
    let key = secret_key(namespace, name, number);
    match cluster
        .get(&key)
        .await
        .map_err(|error| Error::Get(key.name.clone(), error))?
    {
        Some(secret) => record(&secret).map(Some),
        None => Ok(None),
    }
}

/// Writes a new revision.
///
/// # Errors
/// The write failed, for example because the revision exists.
pub async fn create(cluster: &Cluster, release: &Release, now: Timestamp) -> Result<(), Error> {
    let secret = secret(release, "createdAt", now)?;
    cluster.create(&secret).await.map_err(Error::Create)?;
    Ok(())
}

/// Writes over a revision.
///
/// # Errors
/// The write failed.
pub async fn update(cluster: &Cluster, release: &Release, now: Timestamp) -> Result<(), Error> {
    let secret = secret(release, "modifiedAt", now)?;
    cluster
        .replace(&secret)
        .await
        .map_err(|error| Error::Update(object::name(&secret).to_owned(), error))?;
    Ok(())
}

/// Removes a revision; one that is gone is fine.
///
/// # Errors
/// The call failed.
pub async fn delete(cluster: &Cluster, namespace: &str, name: &str, number: i64) -> Result<(), Error> {
    let key = secret_key(namespace, name, number);
    cluster
        .delete(&key)
        .await
        .map_err(|error| Error::Delete(key.name.clone(), error))?;
    Ok(())
}
