//! Environment variables of this stretch: what git work passes on to its children (everything else
//! of the environment is dropped), and what `fleet apply` reads.

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

/// Namespace, where the flag has its default.
pub const NAMESPACE: &str = "NAMESPACE";
/// Commit label, where the flag is not given.
pub const COMMIT: &str = "COMMIT";
/// User for chart repositories, where the flag is not given.
pub const HELM_USERNAME: &str = "HELM_USERNAME";
/// Directories worked on at the same time, where the flag has its default.
pub const CONCURRENCY: &str = "FLEET_BUNDLE_CREATION_MAX_CONCURRENCY";
/// How often storing is tried when others write at the same time (1).
pub const CONFLICT_RETRIES: &str = "FLEET_APPLY_CONFLICT_RETRIES";
/// known_hosts lines for charts in git repositories.
pub const KNOWN_HOSTS: &str = "FLEET_KNOWN_HOSTS";
/// `false`: content never goes to an OCI registry.
pub const OCI_STORAGE: &str = "OCI_STORAGE";
/// `true`: errors are one line of JSON.
pub const JSON_OUTPUT: &str = "FLEET_JSON_OUTPUT";

/// A switch, as Go reads booleans; `None` if it is absent or no boolean.
#[must_use]
pub fn switch(name: &str) -> Option<bool> {
    match read(name)?.as_str() {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// The variable's value, if it is set, not empty and UTF-8.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
#[must_use]
pub fn read(name: &str) -> Option<String> {
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
