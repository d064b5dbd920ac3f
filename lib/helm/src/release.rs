//! The release record: what Helm keeps of every revision in a secret, and what `helm list`,
//! `status`, `history` and `get` read. Turns a [`Release`] into the secret's text and back.
//! Must never lose a field it does not understand of a chart (the chart is kept as data), and
//! never unpack more than [`LIMIT`] bytes. Mirrors Helm 4's secret storage driver; reads what
//! Helm 3 wrote.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Type of a release secret.
pub const SECRET_TYPE: &str = "helm.sh/release.v1";
/// Key of the record in the secret's data.
pub const SECRET_KEY: &str = "release";
/// Most bytes a record may unpack to: a chart's own limit plus as much manifest.
pub const LIMIT: u64 = 256 * 1024 * 1024;

/// Why a record could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not base64.
    #[error("decode base64 of release record")]
    Base64(#[source] base64::DecodeError),
    /// The bytes are not gzip.
    #[error("decompress release record")]
    Gzip(#[source] std::io::Error),
    /// The record is larger than [`LIMIT`].
    #[error("release record is larger than {LIMIT} bytes")]
    TooLarge,
    /// The bytes are not a release in JSON.
    #[error("parse release record")]
    Json(#[source] serde_json::Error),
}

/// How far a revision got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// A word this program does not know.
    #[default]
    Unknown,
    /// The current revision.
    Deployed,
    /// Removed, record kept.
    Uninstalled,
    /// Replaced by a later revision.
    Superseded,
    /// Ended with an error.
    Failed,
    /// Being removed.
    Uninstalling,
    /// Being installed.
    PendingInstall,
    /// Being upgraded.
    PendingUpgrade,
    /// Being rolled back.
    PendingRollback,
}

impl Status {
    /// The word of records and labels.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Deployed => "deployed",
            Self::Uninstalled => "uninstalled",
            Self::Superseded => "superseded",
            Self::Failed => "failed",
            Self::Uninstalling => "uninstalling",
            Self::PendingInstall => "pending-install",
            Self::PendingUpgrade => "pending-upgrade",
            Self::PendingRollback => "pending-rollback",
        }
    }

    /// The status a word stands for; `Unknown` for any other word.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word {
            "deployed" => Self::Deployed,
            "uninstalled" => Self::Uninstalled,
            "superseded" => Self::Superseded,
            "failed" => Self::Failed,
            "uninstalling" => Self::Uninstalling,
            "pending-install" => Self::PendingInstall,
            "pending-upgrade" => Self::PendingUpgrade,
            "pending-rollback" => Self::PendingRollback,
            _ => Self::Unknown,
        }
    }

    /// Whether an operation was under way when the record was written.
    #[must_use]
    pub fn is_pending(self) -> bool {
        matches!(
            self,
            Self::PendingInstall | Self::PendingUpgrade | Self::PendingRollback
        )
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_word(
            &Option::<String>::deserialize(deserializer)?.unwrap_or_default(),
        ))
    }
}

/// One revision of one release.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Release {
    /// Name of the release.
    #[serde(default)]
    pub name: String,
    /// Times, status, notes.
    #[serde(default)]
    pub info: Info,
    /// The chart as Helm stores it: metadata, templates, values, files (contents in base64).
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub chart: Value,
    /// Values the user gave.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// Rendered documents without hooks, each after a `# Source:` line.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "String::is_empty")]
    pub manifest: String,
    /// Hooks of all events.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Hook>,
    /// Revision, from 1.
    #[serde(default)]
    pub version: i64,
    /// Namespace the release is stored in.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Labels of the user's; kept on the secret, not in its text.
    #[serde(skip)]
    pub labels: BTreeMap<String, String>,
    /// `ssa` or `csa`; absent means `csa`.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "String::is_empty")]
    pub apply_method: String,
}

impl Release {
    /// The annotation of the chart's metadata, if there.
    #[must_use]
    pub fn chart_annotation(&self, key: &str) -> Option<&str> {
        self.chart.get("metadata")?.get("annotations")?.get(key)?.as_str()
    }

    /// Whether objects were written by server-side apply.
    #[must_use]
    pub fn server_side(&self) -> bool {
        self.apply_method == "ssa"
    }
}

/// Times are RFC 3339; absent when they never came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// When revision 1 was made.
    #[serde(default, deserialize_with = "empty_is_none", skip_serializing_if = "Option::is_none")]
    pub first_deployed: Option<String>,
    /// When this revision was made.
    #[serde(default, deserialize_with = "empty_is_none", skip_serializing_if = "Option::is_none")]
    pub last_deployed: Option<String>,
    /// When it was removed.
    #[serde(default, deserialize_with = "empty_is_none", skip_serializing_if = "Option::is_none")]
    pub deleted: Option<String>,
    /// One line for people.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How far it got.
    #[serde(default)]
    pub status: Status,
    /// Rendered NOTES.txt.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

/// One hook of a release.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hook {
    /// Name of the object.
    #[serde(default)]
    pub name: String,
    /// Kind of the object.
    #[serde(default)]
    pub kind: String,
    /// Template it came from.
    #[serde(default)]
    pub path: String,
    /// The document.
    #[serde(default)]
    pub manifest: String,
    /// `pre-install`, `post-upgrade`, …
    #[serde(default, deserialize_with = "null_default")]
    pub events: Vec<String>,
    /// The last time it ran.
    #[serde(default, deserialize_with = "null_default")]
    pub last_run: HookRun,
    /// Lower ones run first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub weight: i64,
    /// `before-hook-creation`, `hook-succeeded`, `hook-failed`.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub delete_policies: Vec<String>,
    /// When logs are to be printed; kept, not acted on.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub output_log_policies: Vec<String>,
}

/// One run of a hook.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HookRun {
    /// RFC 3339.
    #[serde(default, deserialize_with = "empty_is_none", skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// RFC 3339.
    #[serde(default, deserialize_with = "empty_is_none", skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// `Unknown`, `Running`, `Succeeded`, `Failed`, or empty when it never ran.
    #[serde(default, deserialize_with = "null_default")]
    pub phase: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

fn empty_is_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.filter(|time| !time.is_empty()))
}

/// Name of the secret of one revision.
#[must_use]
pub fn secret_name(release: &str, revision: i64) -> String {
    format!("sh.helm.release.v1.{release}.v{revision}")
}

/// The record as text of the secret's `release` key (before Kubernetes' own base64).
///
/// # Errors
/// [`Error::Json`] or [`Error::Gzip`] only if memory runs out.
pub fn encode(release: &Release) -> Result<String, Error> {
    // Numbers as Go writes them: other programs compare records.
    let json = goyaml::json::to_string(release).into_bytes();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&json).map_err(Error::Gzip)?;
    Ok(STANDARD.encode(gzip.finish().map_err(Error::Gzip)?))
}

/// A record from the text of the secret's `release` key (Kubernetes' own base64 removed).
/// Records of early Helm 3 without compression are read too.
///
/// # Errors
/// What is wrong with the text.
pub fn decode(text: &[u8]) -> Result<Release, Error> {
    let bytes = STANDARD.decode(text).map_err(Error::Base64)?;
    if !bytes.starts_with(&[0x1f, 0x8b, 0x08]) {
        return serde_json::from_slice(&bytes).map_err(Error::Json);
    }
    let mut json = Vec::new();
    GzDecoder::new(bytes.as_slice())
        .take(LIMIT + 1)
        .read_to_end(&mut json)
        .map_err(Error::Gzip)?;
    if json.len() as u64 > LIMIT {
        return Err(Error::TooLarge);
    }
    serde_json::from_slice(&json).map_err(Error::Json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_its_secret() {
        let release = Release {
            name: "r".into(),
            version: 3,
            namespace: "n".into(),
            apply_method: "ssa".into(),
            info: Info {
                status: Status::PendingUpgrade,
                description: "Preparing upgrade".into(),
                ..Info::default()
            },
            chart: serde_json::json!({"metadata": {"name": "c", "annotations": {"a": "b"}}}),
            ..Release::default()
        };
        let text = encode(&release).unwrap();
        let back = decode(text.as_bytes()).unwrap();
        assert_eq!(back, release);
        assert_eq!(back.chart_annotation("a"), Some("b"));
        assert_eq!(secret_name("r", 3), "sh.helm.release.v1.r.v3");
    }

    #[test]
    fn a_record_of_helm_3_with_empty_times_is_read() {
        let json = r#"{"name":"r","info":{"first_deployed":"2024-01-01T00:00:00Z","deleted":"","status":"deployed"},
            "config":null,"hooks":[{"name":"h","events":["test"],"last_run":{"started_at":"","completed_at":"","phase":""}}],"version":1}"#;
        let release = decode(STANDARD.encode(json).as_bytes()).unwrap();
        assert_eq!(release.info.deleted, None);
        assert_eq!(release.hooks[0].events, ["test"]);
        assert!(!release.server_side());
    }

    #[test]
    fn rubbish_is_an_error_and_not_a_panic() {
        for text in ["", "%%%", "H4sI", "bm90IGpzb24="] {
            assert!(decode(text.as_bytes()).is_err(), "{text}");
        }
    }
}
