//! Environment variables that git work reads. Everything else of the environment is dropped.

/// Where programs are found.
pub const PATH: &str = "PATH";
/// Proxies, as git and curl read them; both spellings are passed on.
pub const PROXIES: [&str; 8] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
];
/// Authority of the proxy, PEM.
pub const PROXY_CA_BUNDLE: &str = "PROXY_CA_BUNDLE";
/// Directory of temporary files.
pub const TMPDIR: &str = "TMPDIR";
/// Another file with the system's authorities.
pub const SSL_CERT_FILE: &str = "SSL_CERT_FILE";

/// The variable's value, if it is set, not empty and UTF-8.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub(crate) fn read(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The variables that child processes get: where programs and temporary files are, and proxies.
pub(crate) fn passed_on() -> Vec<(&'static str, String)> {
    [PATH, TMPDIR, PROXY_CA_BUNDLE, SSL_CERT_FILE]
        .into_iter()
        .chain(PROXIES)
        .filter_map(|name| Some((name, read(name)?)))
        .collect()
}
