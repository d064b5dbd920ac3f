//! A chart repository's index → the address of the newest chart that satisfies a constraint, by
//! Helm's rules.

use gotemplate::semver::{Constraint, Version};
use serde_json::Value;

use crate::http;

/// Largest index that is read, in bytes.
const MAX_INDEX: u64 = 256 << 20;

/// Why a repository gives no chart.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No index.
    #[error("get the index")]
    Fetch {
        /// The cause.
        source: http::Error,
    },
    /// An index that is no YAML.
    #[error("read the index: yaml: line {line}: {message}")]
    Parse {
        /// From 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A version that is no constraint.
    #[error("version {version:?} is not a valid constraint")]
    ParseConstraint {
        /// As written.
        version: String,
    },
    /// Nothing fits.
    #[error("no chart version found for {chart}-{version}")]
    Find {
        /// Name.
        chart: String,
        /// Constraint.
        version: String,
    },
    /// An entry without an address.
    #[error("the index names no address for {chart} {version}")]
    Locate {
        /// Name.
        chart: String,
        /// Version.
        version: String,
    },
}

/// A chart in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Version as the index writes it.
    pub version: String,
    /// Address of the archive.
    pub url: String,
}

/// Asks a repository for a chart. An empty version is the latest stable one.
///
/// # Errors
/// No index, nothing that fits.
pub fn resolve(client: &http::Client, repo: &str, chart: &str, version: &str) -> Result<Entry, Error> {
    let base = repo.trim_end_matches('/');
    let text = client
        .get(&format!("{base}/index.yaml"), true, MAX_INDEX)
        .map_err(|source| Error::Fetch { source })?;
    select(&read(&text)?, base, chart, version)
}

/// An index as it is served, as JSON.
///
/// # Errors
/// The text is no YAML.
pub fn read(text: &[u8]) -> Result<Value, Error> {
    goyaml::parse(&String::from_utf8_lossy(text)).map_err(|error| Error::Parse {
        line: error.line,
        message: error.message,
    })
}

/// The newest version of `chart` in an index that satisfies a constraint (or is written exactly so). An empty version
/// is the latest stable one; addresses that are not complete are taken relative to `base`, which has no slash at its
/// end.
///
/// # Errors
/// No constraint, nothing that fits, no address.
pub fn select(index: &Value, base: &str, chart: &str, version: &str) -> Result<Entry, Error> {
    let mut entries: Vec<(Version, &Value)> = index["entries"][chart]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((Version::parse(entry["version"].as_str()?).ok()?, entry)))
        .collect();
    entries.sort_by(|left, right| right.0.compare(&left.0));
    let wanted = if version.is_empty() { "*" } else { version };
    let constraint = Constraint::parse(wanted).map_err(|_| Error::ParseConstraint {
        version: version.to_owned(),
    })?;
    let text = |entry: &Value| entry["version"].as_str().unwrap_or_default().to_owned();
    let found = entries
        .iter()
        .find(|(_, entry)| text(entry) == version)
        .or_else(|| entries.iter().find(|(version, _)| constraint.allows(version)));
    let Some((_, entry)) = found else {
        return Err(Error::Find {
            chart: chart.to_owned(),
            version: version.to_owned(),
        });
    };
    let Some(url) = entry["urls"][0].as_str().filter(|url| !url.is_empty()) else {
        return Err(Error::Locate {
            chart: chart.to_owned(),
            version: text(entry),
        });
    };
    let url = if url.contains("://") {
        url.to_owned()
    } else if url.starts_with('/') {
        format!("{}{url}", origin(base))
    } else {
        format!("{base}/{url}")
    };
    Ok(Entry {
        version: text(entry),
        url,
    })
}

/// Scheme, host and port of an address.
pub(super) fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    &url[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_that_fits_is_taken() {
        let index = serde_json::json!({"entries": {"demo": [
            {"version": "1.0.0", "urls": ["demo-1.0.0.tgz"]},
            {"version": "1.2.0", "urls": ["https://other/demo.tgz"]},
            {"version": "2.0.0-rc1", "urls": ["/x/demo.tgz"]},
            {"version": "nonsense", "urls": ["x"]},
            {"version": "0.1.0"}]}});
        let pick = |version: &str| select(&index, "https://h/charts", "demo", version);
        assert_eq!(pick("").unwrap().version, "1.2.0");
        assert_eq!(pick("1.0.x").unwrap().url, "https://h/charts/demo-1.0.0.tgz");
        assert_eq!(pick("2.0.0-rc1").unwrap().url, "https://h/x/demo.tgz");
        assert_eq!(
            pick(">=3").unwrap_err().to_string(),
            "no chart version found for demo->=3"
        );
        assert!(matches!(pick("0.1.0"), Err(Error::Locate { .. })));
        assert!(matches!(pick("a b c"), Err(Error::ParseConstraint { .. })));
    }
}
