//! The files of a bundle as they travel in a Content, an OCI layer or an input file: turns the
//! manifest JSON into names and bytes, after checking its digest. Never unpacks more than
//! [`LIMIT`] bytes. Mirrors upstream's `manifest`.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use fleet_api::BundleResource;
use fleet_api::content::Manifest;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Most bytes that one content or one resource may unpack to (Helm's own limit for a chart).
pub const LIMIT: u64 = 100 * 1024 * 1024;

/// Why content is not usable.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Damaged gzip.
    #[error("decompress {what}")]
    Gzip {
        /// `content`, or the resource.
        what: String,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// Damaged base64.
    #[error("decode base64 of {what}")]
    Base64 {
        /// `content`, or the resource.
        what: String,
        /// Cause.
        #[source]
        source: base64::DecodeError,
    },
    /// More than [`LIMIT`].
    #[error("{what} is larger than {LIMIT} bytes")]
    TooLarge {
        /// `content`, or the resource.
        what: String,
    },
    /// The bytes are not those that were promised.
    #[error("content does not match hash got {got}, expected {expected}")]
    Digest {
        /// Of the bytes.
        got: String,
        /// Promised.
        expected: String,
    },
    /// Not the manifest's JSON.
    #[error("parse manifest")]
    Json(#[source] serde_json::Error),
}

/// One file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Path relative to the bundle; may be empty.
    pub name: String,
    /// Its bytes.
    pub data: Vec<u8>,
    /// As it travelled, if not as plain text: content and encoding.
    pub packed: Option<(String, String)>,
}

impl Resource {
    /// A file of plain text.
    #[must_use]
    pub fn plain(name: &str, data: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            data: data.to_vec(),
            packed: None,
        }
    }
}

/// The id that content of these files in this order has.
#[must_use]
pub fn id(resources: &[Resource]) -> String {
    let travelling: Vec<BundleResource> = resources
        .iter()
        .map(|resource| match &resource.packed {
            Some((content, encoding)) => BundleResource {
                name: resource.name.clone(),
                content: content.clone(),
                encoding: encoding.clone(),
            },
            None => BundleResource {
                name: resource.name.clone(),
                content: String::from_utf8_lossy(&resource.data).into_owned(),
                encoding: String::new(),
            },
        })
        .collect();
    Manifest::new(&travelling).id()
}

#[derive(Deserialize)]
struct ManifestIn {
    #[serde(default)]
    resources: Option<Vec<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    encoding: Option<String>,
}

fn gunzip(what: &str, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    GzDecoder::new(bytes)
        .take(LIMIT + 1)
        .read_to_end(&mut out)
        .map_err(|source| Error::Gzip {
            what: what.to_owned(),
            source,
        })?;
    if out.len() as u64 > LIMIT {
        Err(Error::TooLarge { what: what.to_owned() })
    } else {
        Ok(out)
    }
}

fn base64(what: &str, text: &str) -> Result<Vec<u8>, Error> {
    let compact: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    STANDARD.decode(compact).map_err(|source| Error::Base64 {
        what: what.to_owned(),
        source,
    })
}

/// The files of a Content object: its base64 `content` and its `sha256sum` (not checked if
/// empty).
///
/// # Errors
/// What is wrong with it.
pub fn unpack(content: &str, sha256sum: &str) -> Result<Vec<Resource>, Error> {
    let manifest = gunzip("content", &base64("content", content)?)?;
    if !sha256sum.is_empty() {
        let got = hex::encode(Sha256::digest(&manifest));
        if got != sha256sum {
            return Err(Error::Digest {
                got,
                expected: sha256sum.to_owned(),
            });
        }
    }
    parse(&manifest)
}

/// The files of a manifest's JSON. An encoding that is not known is taken as plain text.
///
/// # Errors
/// What is wrong with it.
pub fn parse(manifest: &[u8]) -> Result<Vec<Resource>, Error> {
    let manifest: ManifestIn = serde_json::from_slice(manifest).map_err(Error::Json)?;
    manifest
        .resources
        .unwrap_or_default()
        .into_iter()
        .map(|entry| {
            let name = entry.name.unwrap_or_default();
            let content = entry.content.unwrap_or_default();
            let what = || format!("resource '{name}'");
            let data = match entry.encoding.as_deref().unwrap_or_default() {
                "base64" => base64(&what(), &content)?,
                "base64+gz" => gunzip(&what(), &base64(&what(), &content)?)?,
                "gz" => gunzip(&what(), content.as_bytes())?,
                _ => content.clone().into_bytes(),
            };
            let packed = entry
                .encoding
                .filter(|encoding| !encoding.is_empty())
                .map(|encoding| (content, encoding));
            Ok(Resource { name, data, packed })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(text: &str) -> String {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        STANDARD.encode(gzip.finish().unwrap())
    }

    #[test]
    fn every_encoding_is_read() {
        let json = format!(
            r#"{{"resources":[{{"name":"a","content":"x"}},{{"name":"b","content":"eA==","encoding":"base64"}},
               {{"content":"{}","encoding":"base64+gz"}},{{"content":"x","encoding":"odd"}}]}}"#,
            packed("x")
        );
        let sum = hex::encode(Sha256::digest(json.as_bytes()));
        let resources = unpack(&packed(&json), &sum).unwrap();
        assert_eq!(resources.len(), 4);
        assert!(resources.iter().all(|resource| resource.data == b"x"));
        assert!(matches!(unpack(&packed(&json), "00"), Err(Error::Digest { .. })));
        assert_eq!(unpack(&packed("{}"), "").unwrap(), []);
    }

    #[test]
    fn damaged_content_is_an_error() {
        assert!(matches!(unpack("%", ""), Err(Error::Base64 { .. })));
        assert!(matches!(unpack("eA==", ""), Err(Error::Gzip { .. })));
        assert!(matches!(parse(b"7"), Err(Error::Json(_))));
    }
}
