//! The secrets that a GitRepo names → credentials for git and for charts. A secret that is named
//! and missing is told to the user; the one that is used by default may be missing.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet_api::{GitRepoSpec, labels};
use fleet_runtime::write::find;
use fleet_runtime::{Error, Key, Queue};
use fleet_source::git::Credentials;
use fleet_source::options::{ChartAccess, ChartAuth};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use crate::shell::{Shell, name, namespace};

/// What a GitRepo may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Access {
    pub(super) git: Credentials,
    pub(super) charts: ChartAccess,
}

/// ConfigMap and key with the SSH hosts that are known to everybody.
const KNOWN_HOSTS: (&str, &str) = ("known-hosts", "known_hosts");
/// Key of the secret with credentials by path.
const BY_PATH: &str = "secrets-path.yaml";

/// Looks at a GitRepo again when a secret that it names changes.
pub(super) fn follow(shell: &Arc<Shell>, queue: &Queue<Key>) {
    let (repositories, add) = (shell.world.repositories.mirror(), queue.clone());
    shell.world.secrets.on(move |change| {
        let secret = &**change.object();
        for repository in repositories.within(namespace(secret)) {
            if names(&repository.spec).iter().any(|each| each == name(secret)) {
                add.add(Key::of(&*repository));
            }
        }
    });
}

fn names(spec: &GitRepoSpec) -> [String; 3] {
    let client = if spec.client_secret_name.is_empty() {
        labels::DEFAULT_GIT_CREDENTIAL
    } else {
        &spec.client_secret_name
    };
    [
        client.to_owned(),
        spec.helm_secret_name.clone(),
        spec.helm_secret_name_for_paths.clone(),
    ]
}

/// Reads the credentials; the inner error is for the user.
pub(super) async fn read(space: &str, spec: &GitRepoSpec, shell: &Shell) -> Result<Result<Access, String>, Error> {
    let mut access = Access::default();
    let [client, helm, helm_paths] = names(spec);
    match secret(space, &client, shell).await? {
        Some(secret) => access.git = git(&secret),
        None if spec.client_secret_name.is_empty() => {}
        None => {
            return Ok(Err(format!(
                "secret '{space}/{client}' with git credentials does not exist"
            )));
        }
    }
    access.git.ca_bundle = pem(&spec.ca_bundle);
    access.git.insecure_skip_tls_verify = spec.insecure_skip_tls_verify;
    if access.git.known_hosts.is_empty() && !access.git.ssh_private_key.is_empty() {
        access.git.known_hosts = known_hosts(shell).await?;
    }
    access.charts.url_regex.clone_from(&spec.helm_repo_url_regex);
    if !helm_paths.is_empty() {
        match secret(space, &helm_paths, shell).await? {
            Some(secret) => match by_path(&secret) {
                Ok(paths) => access.charts.by_path = Some(paths),
                Err(problem) => return Ok(Err(format!("secret '{space}/{helm_paths}': {problem}"))),
            },
            None => {
                return Ok(Err(format!(
                    "secret '{space}/{helm_paths}' with Helm credentials does not exist"
                )));
            }
        }
    } else if !helm.is_empty() {
        match secret(space, &helm, shell).await? {
            Some(secret) => access.charts.auth = chart(&secret),
            None => {
                return Ok(Err(format!(
                    "secret '{space}/{helm}' with Helm credentials does not exist"
                )));
            }
        }
    }
    access.charts.auth.insecure_skip_verify |= spec.insecure_skip_tls_verify;
    if access.charts.auth.ssh_known_hosts.is_empty() {
        access.charts.auth.ssh_known_hosts.clone_from(&access.git.known_hosts);
    }
    Ok(Ok(access))
}

/// Asks the server only for secrets that the watch has seen.
async fn secret(space: &str, name: &str, shell: &Shell) -> Result<Option<Secret>, Error> {
    if name.is_empty() || shell.world.secrets.mirror().find(space, name).is_none() {
        return Ok(None);
    }
    find(&shell.cx.namespaced::<Secret>(space), name).await
}

async fn known_hosts(shell: &Shell) -> Result<String, Error> {
    let api = shell.cx.namespaced::<ConfigMap>(&shell.settings.namespace);
    let map = find(&api, KNOWN_HOSTS.0).await?;
    Ok(map.and_then(|map| map.data?.remove(KNOWN_HOSTS.1)).unwrap_or_default())
}

fn text(secret: &Secret, key: &str) -> String {
    let bytes = secret
        .data
        .as_ref()
        .and_then(|data| data.get(key))
        .map(|bytes| bytes.0.clone());
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_default()
}

fn git(secret: &Secret) -> Credentials {
    let mut credentials = Credentials::default();
    match secret.type_.as_deref() {
        Some("kubernetes.io/ssh-auth") => {
            credentials.ssh_private_key = text(secret, "ssh-privatekey");
            credentials.known_hosts = text(secret, "known_hosts");
        }
        Some("kubernetes.io/basic-auth") => {
            credentials.username = text(secret, "username");
            credentials.password = text(secret, "password");
        }
        _ => {}
    }
    credentials
}

fn chart(secret: &Secret) -> ChartAuth {
    let truth = |key| text(secret, key).parse().unwrap_or(false);
    ChartAuth {
        username: text(secret, "username"),
        password: text(secret, "password"),
        ca_bundle: text(secret, "cacerts"),
        ssh_private_key: text(secret, "ssh-privatekey"),
        ssh_known_hosts: String::new(),
        insecure_skip_verify: truth("insecureSkipVerify"),
        basic_http: truth("basicHTTP"),
    }
}

fn by_path(secret: &Secret) -> Result<BTreeMap<String, ChartAuth>, String> {
    let value = goyaml::parse(&text(secret, BY_PATH)).map_err(|error| format!("key '{BY_PATH}': {error}"))?;
    let entries = value
        .as_object()
        .ok_or_else(|| format!("key '{BY_PATH}' is not a map of paths"))?;
    let read = |entry: &serde_json::Value, key: &str| {
        entry
            .get(key)
            .and_then(|value| value.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let truth =
        |entry: &serde_json::Value, key: &str| entry.get(key).and_then(serde_json::Value::as_bool).unwrap_or(false);
    Ok(entries
        .iter()
        .map(|(path, entry)| {
            let auth = ChartAuth {
                username: read(entry, "username"),
                password: read(entry, "password"),
                ca_bundle: pem(&read(entry, "caBundle")),
                ssh_private_key: pem(&read(entry, "sshPrivateKey")),
                ssh_known_hosts: String::new(),
                insecure_skip_verify: truth(entry, "insecureSkipVerify"),
                basic_http: truth(entry, "basicHTTP"),
            };
            (path.clone(), auth)
        })
        .collect())
}

/// Base64 of a text, or the text itself.
fn pem(given: &str) -> String {
    use base64::Engine as _;
    let decoded = base64::engine::general_purpose::STANDARD.decode(given.trim()).ok();
    decoded
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_else(|| given.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::ByteString;

    fn secret(kind: &str, data: &[(&str, &str)]) -> Secret {
        Secret {
            type_: Some(kind.to_owned()),
            data: Some(
                data.iter()
                    .map(|(k, v)| ((*k).to_owned(), ByteString(v.as_bytes().to_vec())))
                    .collect(),
            ),
            ..Secret::default()
        }
    }

    #[test]
    fn the_type_of_a_secret_says_what_it_is() {
        let basic = git(&secret(
            "kubernetes.io/basic-auth",
            &[("username", "u"), ("password", "p"), ("ssh-privatekey", "k")],
        ));
        assert_eq!(
            (
                basic.username.as_str(),
                basic.password.as_str(),
                basic.ssh_private_key.as_str()
            ),
            ("u", "p", "")
        );
        let ssh = git(&secret(
            "kubernetes.io/ssh-auth",
            &[("ssh-privatekey", "k"), ("known_hosts", "h")],
        ));
        assert_eq!((ssh.ssh_private_key.as_str(), ssh.known_hosts.as_str()), ("k", "h"));
    }

    #[test]
    fn credentials_by_path_are_read_from_one_key() {
        let paths = by_path(&secret(
            "Opaque",
            &[(
                BY_PATH,
                "a: {username: u, caBundle: cGVt}\nb: {insecureSkipVerify: true}",
            )],
        ));
        let paths = paths.unwrap();
        assert_eq!(
            (paths["a"].username.as_str(), paths["a"].ca_bundle.as_str()),
            ("u", "pem")
        );
        assert!(paths["b"].insecure_skip_verify);
        assert!(by_path(&secret("Opaque", &[(BY_PATH, "[]")])).is_err());
    }
}
