//! One call of the `git` program: clean environment, no prompts, no hooks, no configuration but
//! ours, credentials through the environment, a time limit, messages without secrets.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::process::Command;

use super::address::{Address, Protocol};
use super::{Credentials, Limits};
use crate::env;

/// Why git did not do it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something the user wrote.
    #[error("{what} {text:?} is refused: {why}")]
    Refuse {
        /// What it is.
        what: &'static str,
        /// As written, without credentials.
        text: String,
        /// Why.
        why: &'static str,
    },
    /// The program itself.
    #[error("run git {action}")]
    Run {
        /// Sub-command.
        action: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A temporary file.
    #[error("prepare {what}")]
    Prepare {
        /// Which.
        what: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// It took too long.
    #[error("git {action} of {url} took longer than {seconds} s")]
    TimeOut {
        /// Sub-command.
        action: String,
        /// Without credentials.
        url: String,
        /// The limit.
        seconds: u64,
    },
    /// It failed.
    #[error("git {action} of {url} failed: {message}")]
    Fail {
        /// Sub-command.
        action: String,
        /// Without credentials.
        url: String,
        /// What git said, without credentials, on one line.
        message: String,
    },
    /// The branch, tag or commit is not there.
    #[error("commit not found for {what} {name:?} in {url}")]
    Find {
        /// `branch` or `revision`.
        what: &'static str,
        /// Its name.
        name: String,
        /// Without credentials.
        url: String,
    },
    /// A tree over the limits.
    #[error("the repository has {found} {what} at this commit, more than the {limit} allowed")]
    Exceed {
        /// How many there are.
        found: u64,
        /// Of what.
        what: &'static str,
        /// How many are allowed.
        limit: u64,
    },
}

/// Credential helper of git; the shell reads its answers from the environment, so neither this
/// text nor any argument holds a secret.
const HELPER: &str = "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' \"$FLEET_GIT_USERNAME\" \"$FLEET_GIT_PASSWORD\"; }; f";

/// Files that hold authorities on the usual systems.
const SYSTEM_AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Everything calls of git for one repository have in common. Holds the directory with keys and
/// authorities; it goes when this goes.
pub(super) struct Git {
    pub(super) address: Address,
    limits: Limits,
    home: tempfile::TempDir,
    variables: Vec<(String, String)>,
    secrets: Vec<String>,
}

impl Git {
    pub(super) fn new(address: Address, credentials: &Credentials, limits: Limits) -> Result<Self, Error> {
        let home = tempfile::Builder::new()
            .prefix("fleet-git-")
            .tempdir()
            .map_err(|source| Error::Prepare {
                what: "a temporary directory",
                source,
            })?;
        let mut git = Self {
            address,
            limits,
            home,
            variables: Vec::new(),
            secrets: Vec::new(),
        };
        git.prepare(credentials)?;
        Ok(git)
    }

    fn prepare(&mut self, credentials: &Credentials) -> Result<(), Error> {
        let mut configuration = vec![
            ("core.hooksPath".to_owned(), "/dev/null".to_owned()),
            ("core.fsmonitor".to_owned(), "false".to_owned()),
            ("credential.helper".to_owned(), String::new()),
            ("gc.auto".to_owned(), "0".to_owned()),
            ("maintenance.auto".to_owned(), "false".to_owned()),
            ("advice.detachedHead".to_owned(), "false".to_owned()),
            ("init.defaultBranch".to_owned(), "master".to_owned()),
            ("fetch.fsckObjects".to_owned(), "false".to_owned()),
        ];
        let protocols = match self.address.protocol {
            Protocol::Http => self.prepare_http(credentials, &mut configuration)?,
            Protocol::Ssh => self.prepare_ssh(credentials)?,
            Protocol::File => {
                configuration.push(("safe.directory".to_owned(), "*".to_owned()));
                "file:https:http:ssh"
            }
        };
        let home = self.home.path().to_string_lossy().into_owned();
        for (name, value) in [
            ("HOME", home.as_str()),
            ("XDG_CONFIG_HOME", home.as_str()),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", ""),
            ("SSH_ASKPASS", ""),
            ("GIT_ALLOW_PROTOCOL", protocols),
            ("LC_ALL", "C"),
        ] {
            self.variables.push((name.to_owned(), value.to_owned()));
        }
        self.variables
            .push(("GIT_CONFIG_COUNT".to_owned(), configuration.len().to_string()));
        for (index, (key, value)) in configuration.into_iter().enumerate() {
            self.variables.push((format!("GIT_CONFIG_KEY_{index}"), key));
            self.variables.push((format!("GIT_CONFIG_VALUE_{index}"), value));
        }
        Ok(())
    }

    fn prepare_http(
        &mut self,
        credentials: &Credentials,
        configuration: &mut Vec<(String, String)>,
    ) -> Result<&'static str, Error> {
        let (mut username, mut password) = (credentials.username.clone(), credentials.password.clone());
        if username.is_empty() && password.is_empty() {
            (username, password) = self.address.user.clone().unwrap_or_default();
        }
        if !username.is_empty() || !password.is_empty() {
            // A line end would let one value speak for another in git's credential protocol.
            if username.chars().chain(password.chars()).any(char::is_control) {
                return Err(Error::Refuse {
                    what: "credential",
                    text: String::new(),
                    why: "user or password contains control characters (a line end?)",
                });
            }
            // A token without a user goes into both places, as git servers expect of tokens.
            let username = if username.is_empty() {
                password.clone()
            } else {
                username
            };
            configuration.push((
                format!("credential.{}.helper", self.address.origin()),
                HELPER.to_owned(),
            ));
            // Servers may repeat what they were sent, and git shows what servers say.
            let header = STANDARD.encode(format!("{username}:{password}"));
            self.secrets.extend(
                [password.clone(), username.clone(), STANDARD.encode(&password), header]
                    .into_iter()
                    .filter(|text| text.len() > 3),
            );
            // The longest first: one may be a part of another.
            self.secrets.sort_by_key(|text| std::cmp::Reverse(text.len()));
            self.variables.push(("FLEET_GIT_USERNAME".to_owned(), username));
            self.variables.push(("FLEET_GIT_PASSWORD".to_owned(), password));
        }
        if credentials.insecure_skip_tls_verify {
            configuration.push(("http.sslVerify".to_owned(), "false".to_owned()));
        }
        let proxy = env::read(env::PROXY_CA_BUNDLE).unwrap_or_default();
        if !credentials.ca_bundle.is_empty() || !proxy.is_empty() {
            let mut authorities = system_authorities();
            for pem in [&credentials.ca_bundle, &proxy] {
                authorities.push_str(pem);
                authorities.push('\n');
            }
            let file = self.write("authorities.pem", &authorities)?;
            configuration.push(("http.sslCAInfo".to_owned(), file.to_string_lossy().into_owned()));
        }
        Ok("https:http")
    }

    fn prepare_ssh(&mut self, credentials: &Credentials) -> Result<&'static str, Error> {
        if credentials.ssh_private_key.is_empty() {
            return Err(Error::Refuse {
                what: "repository address",
                text: self.address.url.clone(),
                why: "an SSH address needs a secret of type kubernetes.io/ssh-auth with an SSH private key",
            });
        }
        let mut key = credentials.ssh_private_key.clone();
        if !key.ends_with('\n') {
            key.push('\n');
        }
        let key = self.write("key", &key)?;
        let hosts = self.write("known_hosts", &credentials.known_hosts)?;
        let strict = if credentials.known_hosts.is_empty() {
            "no"
        } else {
            "yes"
        };
        let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"));
        let command = format!(
            "ssh -F /dev/null -i {} -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking={strict} \
             -o UserKnownHostsFile={} -o GlobalKnownHostsFile=/dev/null -o ConnectTimeout=15",
            quoted(&key),
            quoted(&hosts),
        );
        self.variables.push(("GIT_SSH_COMMAND".to_owned(), command));
        self.variables.push(("GIT_SSH_VARIANT".to_owned(), "ssh".to_owned()));
        Ok("ssh")
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.home.path().join(name);
        let write = || {
            let mut file = std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)?;
            file.write_all(text.as_bytes())
        };
        write().map_err(|source| Error::Prepare {
            what: "keys and authorities",
            source,
        })?;
        Ok(path)
    }

    /// Runs git in a directory and returns what it prints.
    pub(super) async fn run<S: AsRef<OsStr>>(&self, directory: &Path, arguments: &[S]) -> Result<Vec<u8>, Error> {
        let action = arguments
            .first()
            .map(|first| first.as_ref().to_string_lossy().into_owned())
            .unwrap_or_default();
        let mut command = Command::new("git");
        command.arg("-C").arg(directory).args(arguments).env_clear();
        command
            .envs(env::passed_on())
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).kill_on_drop(true);
        let seconds = self.limits.git_seconds.max(1);
        let output = tokio::time::timeout(Duration::from_secs(seconds), command.output())
            .await
            .map_err(|_| Error::TimeOut {
                action: action.clone(),
                url: self.address.url.clone(),
                seconds,
            })?
            .map_err(|source| Error::Run {
                action: action.clone(),
                source,
            })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(Error::Fail {
            action,
            url: self.address.url.clone(),
            message: self.message(&output.stderr),
        })
    }

    /// What git said, made fit for a status: one line, no secrets, not too long.
    fn message(&self, stderr: &[u8]) -> String {
        let text = String::from_utf8_lossy(stderr);
        let noise = |line: &&str| {
            let line = line.trim();
            !line.is_empty()
                && !line.starts_with("hint:")
                && !line.starts_with("warning:")
                && !line.starts_with("Warning:")
        };
        let mut text = text.lines().filter(noise).map(str::trim).collect::<Vec<_>>().join("; ");
        for secret in &self.secrets {
            text = text.replace(secret.as_str(), "***");
        }
        text.retain(|c| !c.is_control());
        if text.len() > 1000 {
            let end = (0..=1000).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text.truncate(end);
        }
        if text.is_empty() { "no message".to_owned() } else { text }
    }
}

/// The system's authorities, PEM; "" if they are nowhere.
pub(crate) fn system_authorities() -> String {
    let configured = env::read(env::SSL_CERT_FILE);
    let files = configured.iter().map(String::as_str).chain(SYSTEM_AUTHORITIES);
    files
        .into_iter()
        .find_map(|file| std::fs::read_to_string(file).ok())
        .map(|text| text + "\n")
        .unwrap_or_default()
}
