//! Files ⇄ Content: the JSON of a bundle's files, its digest (which names the Content object),
//! its packed form, and the encodings of single files. Mirrors upstream's `manifest` and
//! `content`. Readers always check the digest and bound what they unpack.

use std::io::{Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use crate::bundle::BundleResource;
use crate::bundledeployment::Content;
use crate::json;
use crate::names::sha256_hex;

/// Encoding of a file that is packed.
pub const PACKED: &str = "base64+gz";
/// Most that is ever unpacked from one Content or file, in bytes: a bundle is at most about a
/// megabyte packed, and a thousandfold is what gzip can do at worst.
pub const MAX_UNPACKED: u64 = 1 << 30;

/// Why content cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not base64.
    #[error("decode base64 of {what}")]
    Decode {
        /// Which content or file.
        what: String,
        /// The cause.
        source: base64::DecodeError,
    },
    /// Not gzip, or more than [`MAX_UNPACKED`].
    #[error("unpack {what}")]
    Unpack {
        /// Which content or file.
        what: String,
        /// The cause.
        source: std::io::Error,
    },
    /// Not the JSON of a list of files.
    #[error("parse manifest {what}")]
    Parse {
        /// Which content.
        what: String,
        /// The cause.
        source: serde_json::Error,
    },
    /// Somebody changed the content.
    #[error("content {what:?} does not match its checksum: expected {expected}, found {found}")]
    CheckDigest {
        /// Which content.
        what: String,
        /// What the object says.
        expected: String,
        /// What its bytes are.
        found: String,
    },
}

#[derive(Serialize)]
struct ManifestOut<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    resources: &'a [BundleResource],
}

#[derive(Deserialize)]
struct ManifestIn {
    #[serde(default, deserialize_with = "crate::wire::null_default")]
    resources: Vec<BundleResource>,
}

/// The files of a bundle as one text, with its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Go-identical JSON with a final newline.
    pub json: String,
    /// Hex sha256 of `json`.
    pub sha256sum: String,
}

impl Manifest {
    /// The manifest of these files, in this order.
    #[must_use]
    pub fn new(resources: &[BundleResource]) -> Self {
        let json = json::encode(&ManifestOut { resources });
        let sha256sum = sha256_hex(json.as_bytes());
        Self { json, sha256sum }
    }

    /// Name of the Content object, `s-` and 61 digits.
    #[must_use]
    pub fn id(&self) -> String {
        content_id(&self.sha256sum)
    }

    /// The Content object.
    #[must_use]
    pub fn content(&self) -> Content {
        let mut content = Content::named(&self.id());
        content.content = STANDARD.encode(pack(self.json.as_bytes()));
        content.sha256sum.clone_from(&self.sha256sum);
        content
    }
}

/// Name of the Content object with this digest.
#[must_use]
pub fn content_id(sha256sum: &str) -> String {
    let mut id = format!("s-{sha256sum}");
    id.truncate(63);
    id
}

/// The files of a Content object.
///
/// # Errors
/// Anything that is not what [`Manifest::content`] wrote.
pub fn read(content: &Content) -> Result<Vec<BundleResource>, Error> {
    let what = content.metadata.name.as_deref().unwrap_or_default();
    let packed = STANDARD.decode(&content.content).map_err(|source| Error::Decode {
        what: what.to_owned(),
        source,
    })?;
    let json = unpack(&packed).map_err(|source| Error::Unpack {
        what: what.to_owned(),
        source,
    })?;
    read_manifest(&json, &content.sha256sum, what)
}

/// The files of a manifest's JSON, as stored in an OCI registry; `expected` may be empty.
///
/// # Errors
/// A digest that does not fit, or no manifest.
pub fn read_manifest(json: &[u8], expected: &str, what: &str) -> Result<Vec<BundleResource>, Error> {
    let found = sha256_hex(json);
    if !expected.is_empty() && expected != found {
        return Err(Error::CheckDigest {
            what: what.to_owned(),
            expected: expected.to_owned(),
            found,
        });
    }
    let manifest: ManifestIn = serde_json::from_slice(json).map_err(|source| Error::Parse {
        what: what.to_owned(),
        source,
    })?;
    Ok(manifest.resources)
}

/// A file as a resource: text as it is, else (or if `compress`) packed.
#[must_use]
pub fn resource(name: &str, bytes: &[u8], compress: bool) -> BundleResource {
    let text = if compress {
        None
    } else {
        std::str::from_utf8(bytes).ok()
    };
    match text {
        Some(text) => BundleResource {
            name: name.to_owned(),
            content: text.to_owned(),
            encoding: String::new(),
        },
        None => BundleResource {
            name: name.to_owned(),
            content: STANDARD.encode(pack(bytes)),
            encoding: PACKED.to_owned(),
        },
    }
}

/// The bytes of a resource. An unknown encoding is taken as plain text, as upstream does.
///
/// # Errors
/// Content that does not fit its encoding.
pub fn resource_bytes(resource: &BundleResource) -> Result<Vec<u8>, Error> {
    let what = || resource.name.clone();
    let decode = |text: &str| {
        STANDARD
            .decode(text)
            .map_err(|source| Error::Decode { what: what(), source })
    };
    let unpack = |bytes: &[u8]| unpack(bytes).map_err(|source| Error::Unpack { what: what(), source });
    match resource.encoding.as_str() {
        "base64" => decode(&resource.content),
        "base64+gz" => unpack(&decode(&resource.content)?),
        "gz" => unpack(resource.content.as_bytes()),
        _ => Ok(resource.content.clone().into_bytes()),
    }
}

/// gzip.
#[must_use]
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("a vector takes every byte");
    encoder.finish().expect("a vector takes every byte")
}

/// gzip, backwards.
///
/// # Errors
/// Not gzip, or more than [`MAX_UNPACKED`] bytes.
pub fn unpack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let read = GzDecoder::new(bytes).take(MAX_UNPACKED + 1).read_to_end(&mut out)?;
    if read as u64 > MAX_UNPACKED {
        return Err(std::io::Error::other("too large when unpacked"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, content: &str) -> BundleResource {
        BundleResource {
            name: name.to_owned(),
            content: content.to_owned(),
            encoding: String::new(),
        }
    }

    #[test]
    fn ids_are_upstreams() {
        assert_eq!(
            Manifest::new(&[file("a.yaml", "x: <1>\n")]).id(),
            "s-53ee562496ed3c120e2fdb1b9af0ad201e91689ec06d4fc0efce2864e4cf3"
        );
        assert_eq!(
            Manifest::new(&[]).id(),
            "s-ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442"
        );
    }

    #[test]
    fn content_reads_back_and_a_changed_one_is_refused() {
        let files = vec![file("a.yaml", "x: 1\n")];
        let mut content = Manifest::new(&files).content();
        assert_eq!(read(&content).unwrap(), files);
        content.sha256sum = "0".repeat(64);
        assert!(matches!(read(&content), Err(Error::CheckDigest { .. })));
    }

    #[test]
    fn binary_files_are_packed_and_come_back() {
        let packed = resource("a", &[0xff, 0], false);
        assert_eq!(packed.encoding, PACKED);
        assert_eq!(resource_bytes(&packed).unwrap(), vec![0xff, 0]);
        assert_eq!(resource("a", b"x", false).content, "x");
        assert_eq!(resource_bytes(&resource("a", b"x", true)).unwrap(), b"x");
    }
}
