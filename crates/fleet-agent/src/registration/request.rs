//! One request for an account: create a ClusterRegistration with the bootstrap token, poll for
//! the secret that the manager makes for exactly this request, store what it holds.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_api::{ClusterRegistration, labels, names};
use fleet_runtime::{Error, ResultExt};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;
use tokio::time::Instant;

use super::{connect, test, text};
use crate::config::{self, AgentConfig};
use crate::settings::Settings;

/// Time between two looks at the secret, also before the first.
const POLL: Duration = Duration::from_secs(2);
/// Time after which the request is given up.
const PATIENCE: Duration = Duration::from_secs(30 * 60);
/// Letters of a random token, as upstream draws them.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const TOKEN_LENGTH: usize = 54;

/// 54 letters from a cryptographic source, each equally likely.
fn random_token() -> Result<String, Error> {
    let mut token = String::with_capacity(TOKEN_LENGTH);
    while token.len() < TOKEN_LENGTH {
        let mut bytes = [0_u8; 64];
        aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Error::new("draw", "random token", "no randomness"))?;
        // 243 = 9 · 27: larger bytes would favour the first letters.
        for byte in bytes.iter().filter(|byte| **byte < 243) {
            if token.len() < TOKEN_LENGTH {
                token.push(char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]));
            }
        }
    }
    Ok(token)
}

/// The identity of this cluster: what the configuration says, else the uid of `kube-system`.
async fn client_id(local: &kube::Client, config: &AgentConfig) -> Result<String, Error> {
    if let Some(id) = config.client_id.as_ref().filter(|id| !id.is_empty()) {
        return Ok(id.clone());
    }
    let api: Api<Namespace> = Api::all(local.clone());
    let namespace = api
        .get("kube-system")
        .await
        .doing("get", || "namespace 'kube-system'")?;
    Ok(namespace.metadata.uid.unwrap_or_default())
}

/// What the bootstrap secret says.
struct Bootstrap {
    server: String,
    ca: String,
    token: String,
    namespace: String,
    system_namespace: String,
    token_name: String,
}

impl Bootstrap {
    fn of(secret: &Secret) -> Self {
        // The form of old charts: one key holds a YAML map of the others.
        let inner = goyaml::parse(&text(secret, "values")).unwrap_or_default();
        let read = |key: &str| match inner.get(key).and_then(serde_json::Value::as_str) {
            Some(value) => value.to_owned(),
            None => text(secret, key),
        };
        Self {
            server: read("apiServerURL"),
            ca: read("apiServerCA"),
            token: read("token"),
            namespace: read("clusterNamespace"),
            system_namespace: read("systemRegistrationNamespace"),
            token_name: read("tokenName"),
        }
    }

    fn kubeconfig(&self, token: &str, namespace: &str) -> String {
        use base64::Engine;
        let mut cluster = json!({"server": self.server});
        if !self.ca.is_empty() {
            cluster["certificate-authority-data"] = base64::engine::general_purpose::STANDARD.encode(&self.ca).into();
        }
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "cluster", "cluster": cluster}],
            "users": [{"name": "user", "user": {"token": token}}],
            "contexts": [{"name": "default", "context": {"cluster": "cluster", "user": "user", "namespace": namespace}}],
            "current-context": "default",
        })
        .to_string()
    }
}

/// Whether the machine's own trust store accepts the server; only asked in mode
/// `system-store`.
async fn trusted_by_system(server: &str) -> bool {
    let Ok(uri) = server.parse::<http::Uri>() else {
        return false;
    };
    let config = kube::Config::new(uri);
    let Ok(client) = kube::Client::try_from(config) else {
        return false;
    };
    let Ok(request) = http::Request::get("/").body(kube::client::Body::empty()) else {
        return false;
    };
    client.send(request).await.is_ok()
}

/// Asks for an account and stores it. Returns the stored secret.
pub(super) async fn run(local: &kube::Client, settings: &Settings, secrets: &Api<Secret>) -> Result<Secret, Error> {
    let what = || format!("secret '{}/{}'", settings.namespace, labels::AGENT_BOOTSTRAP);
    let secret = secrets.get(labels::AGENT_BOOTSTRAP).await.doing("get", what)?;
    let mut bootstrap = Bootstrap::of(&secret);
    let config = config::load(local, &settings.namespace).await?.unwrap_or_default();
    if config.agent_tls_mode.as_deref() == Some("system-store") && trusted_by_system(&bootstrap.server).await {
        bootstrap.ca.clear();
    }
    let (manager, _) = connect(&bootstrap.kubeconfig(&bootstrap.token, &bootstrap.namespace)).await?;
    let id = client_id(local, &config).await?;
    let random = random_token()?;
    let mut cluster_labels = config.labels.clone().unwrap_or_default();
    cluster_labels.insert(labels::CREATED_BY_AGENT_POD.to_owned(), settings.hostname.clone());
    let mut registration = ClusterRegistration::default();
    registration.metadata.generate_name = Some("request-".to_owned());
    registration.metadata.namespace = Some(bootstrap.namespace.clone());
    registration.metadata.labels = Some(BTreeMap::from([(
        labels::REGISTRATION_TOKEN.to_owned(),
        bootstrap.token_name.clone(),
    )]));
    registration.spec.client_id.clone_from(&id);
    registration.spec.client_random.clone_from(&random);
    registration.spec.cluster_labels = cluster_labels;
    let api: Api<ClusterRegistration> = Api::namespaced(manager.clone(), &bootstrap.namespace);
    let made = api
        .create(&PostParams::default(), &registration)
        .await
        .doing("create", || {
            format!("cluster registration in '{}'", bootstrap.namespace)
        })?;
    tracing::info!(request = made.metadata.name, "asked for an account");

    let name = names::credential_secret(&id, &random);
    let answers: Api<Secret> = Api::namespaced(manager, &bootstrap.system_namespace);
    let answer = wait(&answers, &name).await?;
    let namespace = text(&answer, "deploymentNamespace");
    let kubeconfig = bootstrap.kubeconfig(&text(&answer, "token"), &namespace);
    test(&kubeconfig).await?;
    let data = BTreeMap::from([
        ("kubeconfig".to_owned(), kubeconfig),
        ("deploymentNamespace".to_owned(), namespace),
        ("clusterNamespace".to_owned(), text(&answer, "clusterNamespace")),
        ("clusterName".to_owned(), text(&answer, "clusterName")),
    ]);
    store(settings, secrets, data).await
}

async fn wait(answers: &Api<Secret>, name: &str) -> Result<Secret, Error> {
    let until = Instant::now() + PATIENCE;
    loop {
        tokio::time::sleep(POLL).await;
        // Not there yet, or not readable yet: the manager grants both in one go.
        match answers.get(name).await.doing("get", || format!("secret '{name}'")) {
            Ok(secret) => return Ok(secret),
            Err(error) if Instant::now() >= until => return Err(error),
            Err(error) => tracing::debug!(error = fleet_runtime::chain(&error), "no account yet"),
        }
    }
}

async fn store(settings: &Settings, secrets: &Api<Secret>, data: BTreeMap<String, String>) -> Result<Secret, Error> {
    let what = || format!("secret '{}/{}'", settings.namespace, labels::AGENT_CONFIG);
    let mut secret = Secret::default();
    secret.metadata.name = Some(labels::AGENT_CONFIG.to_owned());
    secret.metadata.namespace = Some(settings.namespace.clone());
    secret.data = Some(
        data.into_iter()
            .map(|(key, value)| (key, ByteString(value.into_bytes())))
            .collect(),
    );
    match secrets
        .create(&PostParams::default(), &secret)
        .await
        .doing("create", what)
    {
        Err(error) if error.is_already_exists() => {
            secrets
                .delete(labels::AGENT_CONFIG, &DeleteParams::default())
                .await
                .doing("delete", what)?;
            secrets
                .create(&PostParams::default(), &secret)
                .await
                .doing("create", what)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_of_the_alphabet() {
        let (a, b) = (random_token().unwrap(), random_token().unwrap());
        assert_eq!(a.len(), TOKEN_LENGTH);
        assert!(a.bytes().all(|byte| ALPHABET.contains(&byte)));
        assert_ne!(a, b);
    }

    #[test]
    fn the_old_form_of_the_bootstrap_secret_is_read() {
        let mut secret = Secret::default();
        let values = "apiServerURL: https://a\ntoken: t\n";
        secret.data = Some(BTreeMap::from([
            ("values".to_owned(), ByteString(values.as_bytes().to_vec())),
            ("clusterNamespace".to_owned(), ByteString(b"n".to_vec())),
        ]));
        let bootstrap = Bootstrap::of(&secret);
        assert_eq!(
            (bootstrap.server.as_str(), bootstrap.namespace.as_str()),
            ("https://a", "n")
        );
        assert!(!bootstrap.kubeconfig("t", "x").contains("certificate-authority-data"));
    }
}
