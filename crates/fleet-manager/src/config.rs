//! The ConfigMap `fleet-controller` as a typed configuration that follows its changes. Upstream's
//! concept: `internal/config`. A value that cannot be read is dropped with a log line and its
//! default applies; it never stops the manager.

use std::sync::Arc;
use std::time::Duration;

use fleet_api::labels;
use fleet_runtime::{Change, Context, Mirror, Services, mirror};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::Value;
use tokio::sync::watch;

/// What the administrator set.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// URL under which agents reach this API server.
    pub api_server_url: String,
    /// PEM of its authority.
    pub api_server_ca: String,
    /// Time between check-ins of agents.
    pub agent_checkin_interval: Duration,
    /// Time between clean-ups on clusters; absent: the agent's default.
    pub garbage_collection_interval: Option<Duration>,
    /// `strict` or `system-store`.
    pub agent_tls_mode: String,
    /// Labels that agents ask for are dropped.
    pub ignore_cluster_registration_labels: bool,
    /// The manager keeps bundles of the agent.
    pub manage_agent: bool,
    /// Longest wait for one git server.
    pub git_client_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            api_server_url: String::new(),
            api_server_ca: String::new(),
            agent_checkin_interval: Duration::from_secs(15 * 60),
            garbage_collection_interval: None,
            agent_tls_mode: String::new(),
            ignore_cluster_registration_labels: false,
            manage_agent: true,
            git_client_timeout: Duration::from_secs(30),
        }
    }
}

impl Config {
    /// Reads the text of key `config`, JSON or YAML. What cannot be read is named in the second
    /// part and left at its default.
    #[must_use]
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut config = Self::default();
        let mut problems = Vec::new();
        let value = match goyaml::parse(text) {
            Ok(value) => value,
            Err(error) => {
                problems.push(format!("not readable: {error}"));
                return (config, problems);
            }
        };
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let truth = |key: &str| value.get(key).and_then(Value::as_bool);
        let mut duration = |key: &str| match value.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::Number(number)) if number.as_f64() == Some(0.0) => None,
            Some(Value::String(text)) if text.is_empty() => None,
            Some(given) => {
                let parsed = given.as_str().and_then(fleet_api::Duration::parse);
                if parsed.is_none() {
                    problems.push(format!("{key}: {given} is not a duration"));
                }
                parsed
                    .map(fleet_api::Duration::to_std)
                    .filter(|duration| !duration.is_zero())
            }
        };
        if let Some(given) = duration("agentCheckinInterval") {
            config.agent_checkin_interval = given;
        }
        if let Some(given) = duration("gitClientTimeout") {
            config.git_client_timeout = given;
        }
        config.garbage_collection_interval = duration("garbageCollectionInterval");
        config.api_server_url = text("apiServerURL");
        config.api_server_ca = decode(&text("apiServerCA"));
        config.agent_tls_mode = text("agentTLSMode");
        config.ignore_cluster_registration_labels = truth("ignoreClusterRegistrationLabels").unwrap_or(false);
        config.manage_agent = truth("manageAgent").unwrap_or(true);
        (config, problems)
    }
}

/// JSON carries the PEM as base64; a plain PEM is taken too.
fn decode(text: &str) -> String {
    use base64::Engine as _;
    if text.contains("-----BEGIN") {
        return text.to_owned();
    }
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text.trim())
        .unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// Where the configuration comes from.
#[derive(Clone, Debug, Default)]
pub enum Source {
    /// The ConfigMap in the system namespace; its changes are followed.
    #[default]
    ConfigMap,
    /// Given by the caller.
    Fixed(Config),
}

/// The configuration as it is now, and its changes.
pub type Live = watch::Receiver<Arc<Config>>;

/// Loads the configuration, then follows the ConfigMap as one of `services`.
///
/// The version annotation that was loaded first counts as this program's own: a ConfigMap of
/// another version belongs to a manager that is about to replace this one and is ignored.
pub async fn load(source: &Source, namespace: &str, cx: &Context, services: &mut Services) -> Live {
    match source {
        Source::Fixed(config) => watch::channel(Arc::new(config.clone())).1,
        Source::ConfigMap => follow(namespace, cx, services).await,
    }
}

async fn follow(namespace: &str, cx: &Context, services: &mut Services) -> Live {
    let (sender, receiver) = watch::channel(Arc::new(Config::default()));
    let known = Mirror::<ConfigMap>::default();
    let settings =
        kube::runtime::watcher::Config::default().fields(&format!("metadata.name={}", labels::CONTROLLER_CONFIG));
    let mut own_version: Option<Option<String>> = None;
    let on_change = move |change: Change<ConfigMap>| {
        let Change::Applied { new, .. } = change else { return };
        let version = new
            .metadata
            .annotations
            .as_ref()
            .and_then(|all| all.get(labels::VERSION))
            .cloned();
        if *own_version.get_or_insert_with(|| version.clone()) != version {
            tracing::info!(?version, "configuration of another version ignored");
            return;
        }
        let Some(text) = new.data.as_ref().and_then(|data| data.get(labels::CONFIG_KEY)) else {
            return;
        };
        let (config, problems) = Config::parse(text);
        for problem in problems {
            tracing::warn!(problem, "part of the configuration is not used");
        }
        sender.send_if_modified(|now| {
            let changed = **now != config;
            if changed {
                *now = Arc::new(config);
            }
            changed
        });
    };
    let (api, shutdown, mirror) = (cx.namespaced(namespace), services.shutdown(), known.clone());
    services.spawn("configuration", async move {
        mirror::follow(api, settings, |_| {}, mirror, on_change, shutdown).await;
        Ok::<(), std::convert::Infallible>(())
    });
    let shutdown = services.shutdown();
    tokio::select! {
        () = known.ready() => {}
        () = shutdown.cancelled() => {}
    }
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_durations_fall_back_and_are_named() {
        let (config, problems) = Config::parse(
            r#"{"agentCheckinInterval": "soon", "gitClientTimeout": "1m", "garbageCollectionInterval": 0,
                "apiServerURL": "https://x", "apiServerCA": "cGVt", "manageAgent": false}"#,
        );
        assert_eq!(config.agent_checkin_interval, Duration::from_secs(900));
        assert_eq!(config.git_client_timeout, Duration::from_secs(60));
        assert_eq!(config.garbage_collection_interval, None);
        assert_eq!((config.api_server_ca.as_str(), config.manage_agent), ("pem", false));
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}
