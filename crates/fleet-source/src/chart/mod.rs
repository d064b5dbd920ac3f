//! Charts that a bundle names but does not hold → files below `.chart/<hash>/`: from chart
//! repositories, addresses, git repositories and other directories of the repository. Credentials
//! go only where the user's regular expression allows, and never to another host than that.

pub mod archive;
pub mod index;
mod location;

use std::fs;
use std::path::Path;

use fleet_api::HelmOptions;
use fleet_api::names::sha256_hex;
use md5::Digest as _;
use regex::Regex;

use self::location::Location;
use crate::options::ChartAuth;
use crate::resources::{self, Files, Selection};
use crate::{git, http};

pub(crate) use archive::pack;

/// Largest archive that is downloaded, in bytes.
const MAX_ARCHIVE: u64 = 256 << 20;

/// Why a chart cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither a directory nor a file nor an address.
    #[error("chart {chart:?} is neither in the bundle's directory nor an address that can be fetched")]
    Find {
        /// As fleet.yaml names it.
        chart: String,
    },
    /// Outside of the repository.
    #[error("chart {chart:?} lies outside of the repository")]
    Leave {
        /// As fleet.yaml names it.
        chart: String,
    },
    /// The user's regular expression.
    #[error("the regular expression for chart repositories {regex:?} cannot be read: {why}")]
    ReadRegex {
        /// As given.
        regex: String,
        /// What is wrong.
        why: String,
    },
    /// A chart repository.
    #[error("failed to resolve URL of repo={repo} chart={chart} version={version}{hint}")]
    Resolve {
        /// Without credentials.
        repo: String,
        /// Name.
        chart: String,
        /// Constraint.
        version: String,
        /// What may be the cause.
        hint: &'static str,
        /// The cause.
        source: Box<index::Error>,
    },
    /// The connection.
    #[error("download chart{hint}")]
    Download {
        /// What may be the cause.
        hint: &'static str,
        /// The cause.
        source: http::Error,
    },
    /// The archive.
    #[error("unpack chart {chart:?}")]
    Unpack {
        /// As fleet.yaml names it.
        chart: String,
        /// The cause.
        source: archive::Error,
    },
    /// The archive is not what it was.
    #[error("chart {chart:?} does not match its checksum {checksum:?}")]
    CheckSum {
        /// As fleet.yaml names it.
        chart: String,
        /// As given.
        checksum: String,
    },
    /// A git repository.
    #[error("fetch chart from git")]
    FetchGit {
        /// The cause.
        source: Box<git::Error>,
    },
    /// The files.
    #[error("read files of chart {chart:?}")]
    ReadFiles {
        /// As fleet.yaml names it.
        chart: String,
        /// The cause.
        source: Box<resources::Error>,
    },
    /// A temporary directory.
    #[error("prepare a temporary directory")]
    Prepare {
        /// The cause.
        source: std::io::Error,
    },
    /// Not there yet.
    #[error("charts in OCI registries ({chart:?}) cannot be fetched yet: put the chart into the repository")]
    PullOci {
        /// As fleet.yaml names it.
        chart: String,
    },
}

/// Said where credentials were held back, because that is what users look for.
const HELD_BACK: &str = " (credentials were not sent: no helmRepoURLRegex is set)";

/// Credentials, and where they may go.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The credentials.
    pub auth: &'a ChartAuth,
    /// Addresses that may see them; none if empty.
    pub url_regex: &'a str,
}

impl Access<'_> {
    /// The credentials for an address: with user, password and key only if the expression matches
    /// from its beginning.
    fn for_address(&self, address: &str) -> Result<(ChartAuth, &'static str), Error> {
        let mut auth = self.auth.clone();
        let allowed = !self.url_regex.is_empty() && {
            Regex::new(&format!("^(?:{})", self.url_regex))
                .map_err(|error| Error::ReadRegex {
                    regex: self.url_regex.to_owned(),
                    why: error.to_string(),
                })?
                .is_match(address)
        };
        let has_any = !auth.password.is_empty() || !auth.ssh_private_key.is_empty();
        if !allowed {
            (auth.username, auth.password, auth.ssh_private_key) = (String::new(), String::new(), String::new());
        }
        Ok((
            auth,
            if has_any && self.url_regex.is_empty() {
                HELD_BACK
            } else {
                ""
            },
        ))
    }
}

/// Prefix of a fetched chart's files. The version is as written, not as resolved: deployment ids
/// depend on it.
#[must_use]
pub fn prefix(helm: &HelmOptions) -> String {
    format!(
        ".chart/{}",
        sha256_hex(format!("{}:{}:{}", helm.chart, helm.repo, helm.version).as_bytes())
    )
}

/// The version of a chart in a repository that a constraint stands for now.
///
/// # Errors
/// A repository that does not answer, nothing that fits.
pub fn version(repo: &str, chart: &str, constraint: &str, access: &Access<'_>) -> Result<String, Error> {
    resolve(repo, chart, constraint, access).map(|(entry, _, _)| entry.version)
}

fn resolve(
    repo: &str,
    chart: &str,
    version: &str,
    access: &Access<'_>,
) -> Result<(index::Entry, http::Client, &'static str), Error> {
    let (auth, hint) = access.for_address(repo)?;
    let client = http::Client::new(&auth).map_err(|source| Error::Download { hint: "", source })?;
    let entry = index::resolve(&client, repo, chart, version).map_err(|source| Error::Resolve {
        repo: git::shown(repo),
        chart: chart.to_owned(),
        version: version.to_owned(),
        hint,
        source: Box::new(source),
    })?;
    Ok((entry, client, hint))
}

/// The files of the chart with their prefix, unless the bundle holds it.
///
/// # Errors
/// A chart that cannot be had.
pub fn files(helm: &HelmOptions, directory: &Path, boundary: &Path, access: &Access<'_>) -> Result<Files, Error> {
    let chart = &helm.chart;
    if helm.repo.is_empty() && (chart.is_empty() || directory.join(chart).exists()) {
        return Ok(Files::new());
    }
    let fetched = if helm.repo.starts_with("oci://") || chart.starts_with("oci://") {
        return Err(Error::PullOci {
            chart: if helm.repo.is_empty() { chart } else { &helm.repo }.clone(),
        });
    } else if helm.repo.is_empty() {
        match location::parse(chart) {
            Location::Http {
                url,
                checksum,
                directory,
            } => download(chart, &url, &checksum, &directory, access)?,
            Location::Git {
                url,
                reference,
                directory,
            } => clone(chart, url, &reference, &directory, access)?,
            Location::Local(path) => local(chart, &directory.join(path), boundary)?,
        }
    } else {
        from_repository(&helm.repo, chart, &helm.version, access)?
    };
    let prefix = prefix(helm);
    Ok(fetched
        .into_iter()
        .map(|(name, bytes)| (format!("{prefix}/{name}"), bytes))
        .collect())
}

/// The unpacked archive of a chart in a repository.
fn from_repository(repo: &str, chart: &str, version: &str, access: &Access<'_>) -> Result<Files, Error> {
    unpacked(chart, &archive_from_repository(repo, chart, version, access)?.1)
}

/// A chart's version and archive from a repository. Credentials follow to another host only if
/// the expression allows it (upstream sends them wherever the index points).
pub(crate) fn archive_from_repository(
    repo: &str,
    chart: &str,
    version: &str,
    access: &Access<'_>,
) -> Result<(String, Vec<u8>), Error> {
    let (entry, client, hint) = resolve(repo, chart, version, access)?;
    let trusted = index::origin(&entry.url) == index::origin(repo) || {
        let (auth, _) = access.for_address(&entry.url)?;
        !auth.password.is_empty()
    };
    let bytes = client
        .get(&entry.url, trusted, MAX_ARCHIVE)
        .map_err(|source| Error::Download { hint, source })?;
    Ok((entry.version, bytes))
}

fn download(chart: &str, url: &str, checksum: &str, directory: &str, access: &Access<'_>) -> Result<Files, Error> {
    let (auth, hint) = access.for_address(chart)?;
    let client = http::Client::new(&auth).map_err(|source| Error::Download { hint: "", source })?;
    let bytes = client
        .get(url, true, MAX_ARCHIVE)
        .map_err(|source| Error::Download { hint, source })?;
    if !checksum.is_empty() && !matches_checksum(&bytes, checksum) {
        return Err(Error::CheckSum {
            chart: chart.to_owned(),
            checksum: checksum.to_owned(),
        });
    }
    let files = unpacked(chart, &bytes)?;
    Ok(below(files, directory))
}

/// The files below a directory, by name relative to it.
fn below(files: Files, directory: &str) -> Files {
    if directory.is_empty() {
        return files;
    }
    let prefix = format!("{directory}/");
    files
        .into_iter()
        .filter_map(|(name, bytes)| Some((name.strip_prefix(&prefix)?.to_owned(), bytes)))
        .collect()
}

fn matches_checksum(bytes: &[u8], checksum: &str) -> bool {
    let Some((algorithm, expected)) = checksum.split_once(':') else {
        return false;
    };
    let found = match algorithm {
        "md5" => hex::encode(md5::Md5::digest(bytes)),
        "sha1" => hex::encode(sha1::Sha1::digest(bytes)),
        "sha256" => sha256_hex(bytes),
        "sha512" => hex::encode(sha2::Sha512::digest(bytes)),
        _ => return false,
    };
    found.eq_ignore_ascii_case(expected)
}

/// The files of an archive, with what bundles leave out left out.
fn unpacked(chart: &str, bytes: &[u8]) -> Result<Files, Error> {
    let files = archive::unpack(bytes).map_err(|source| Error::Unpack {
        chart: chart.to_owned(),
        source,
    })?;
    let Some(files) = files else {
        let name = chart
            .split('?')
            .next()
            .unwrap_or_default()
            .rsplit('/')
            .next()
            .unwrap_or("file")
            .to_owned();
        return Ok([(name, bytes.to_vec())].into());
    };
    let directory = tempfile::tempdir().map_err(|source| Error::Prepare { source })?;
    for (name, bytes) in &files {
        let file = directory.path().join(name);
        let write = || {
            fs::create_dir_all(file.parent().unwrap_or(directory.path()))?;
            fs::write(&file, bytes)
        };
        write().map_err(|source| Error::Prepare { source })?;
    }
    read(chart, directory.path())
}

fn read(chart: &str, directory: &Path) -> Result<Files, Error> {
    resources::read_directory(directory, false, &Selection::default()).map_err(|source| Error::ReadFiles {
        chart: chart.to_owned(),
        source: Box::new(source),
    })
}

fn local(chart: &str, path: &Path, boundary: &Path) -> Result<Files, Error> {
    let find = |_| Error::Find {
        chart: chart.to_owned(),
    };
    let path = fs::canonicalize(path).map_err(find)?;
    if !path.starts_with(fs::canonicalize(boundary).map_err(find)?) {
        return Err(Error::Leave {
            chart: chart.to_owned(),
        });
    }
    if path.is_dir() {
        read(chart, &path)
    } else {
        unpacked(chart, &fs::read(&path).map_err(find)?)
    }
}

fn clone(chart: &str, url: String, reference: &str, directory: &str, access: &Access<'_>) -> Result<Files, Error> {
    let (auth, _) = access.for_address(chart)?;
    let source = git::Source {
        url,
        revision: if reference.is_empty() {
            "HEAD".to_owned()
        } else {
            reference.to_owned()
        },
        credentials: git::Credentials {
            username: auth.username,
            password: auth.password,
            ssh_private_key: auth.ssh_private_key,
            known_hosts: auth.ssh_known_hosts,
            ca_bundle: auth.ca_bundle,
            insecure_skip_tls_verify: auth.insecure_skip_verify,
        },
        ..git::Source::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Prepare { source })?;
    let fetched = runtime
        .block_on(git::fetch(&source, "", git::Limits::default()))
        .map_err(|source| Error::FetchGit {
            source: Box::new(source),
        })?;
    let root = fetched.directory();
    local(chart, &root.join(directory), &root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(auth: &ChartAuth, regex: &str, address: &str) -> String {
        Access { auth, url_regex: regex }
            .for_address(address)
            .map_or("error".to_owned(), |(auth, _)| auth.password)
    }

    #[test]
    fn credentials_go_only_where_the_expression_matches_from_the_start() {
        let auth = ChartAuth {
            username: "u".to_owned(),
            password: "p".to_owned(),
            ..ChartAuth::default()
        };
        assert_eq!(access(&auth, "", "https://h"), "");
        assert_eq!(access(&auth, "https://h/.*", "https://h/c"), "p");
        assert_eq!(access(&auth, "//h", "https://h/c"), "");
        assert_eq!(access(&auth, "a(", "https://h/c"), "error");
    }

    #[test]
    fn checksums_are_compared() {
        assert!(matches_checksum(b"x", "md5:9dd4e461268c8034f5c8564e155c67a6"));
        assert!(!matches_checksum(b"x", "sha256:00"));
        assert!(!matches_checksum(b"x", "file:whatever"));
    }
}
