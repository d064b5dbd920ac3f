//! The agent's config map `fleet-agent`: written by the manager or the chart, read at start.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_api::labels;
use fleet_runtime::{Error, ResultExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde::Deserialize;

/// What the agent uses of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentConfig {
    /// Identity of the cluster; the uid of the namespace `kube-system` if empty.
    #[serde(rename = "clientID")]
    pub client_id: Option<String>,
    /// Labels of the cluster when it registers.
    pub labels: Option<BTreeMap<String, String>>,
    /// `strict` or `system-store`.
    #[serde(rename = "agentTLSMode")]
    pub agent_tls_mode: Option<String>,
    /// A Go duration.
    pub garbage_collection_interval: Option<serde_json::Value>,
}

impl AgentConfig {
    /// Time between two passes of the garbage collector; 15 minutes if not given.
    #[must_use]
    pub fn collection_interval(&self) -> Duration {
        let given = match &self.garbage_collection_interval {
            Some(serde_json::Value::String(text)) => fleet_api::Duration::parse(text).map(fleet_api::Duration::to_std),
            Some(serde_json::Value::Number(nanoseconds)) => nanoseconds.as_u64().map(Duration::from_nanos),
            _ => None,
        };
        given
            .filter(|interval| !interval.is_zero())
            .unwrap_or(Duration::from_secs(15 * 60))
    }
}

/// Reads the config map; `None` if it is not there. A text that cannot be parsed is an error.
///
/// # Errors
/// The read failed, or the text is damaged.
pub async fn load(local: &kube::Client, namespace: &str) -> Result<Option<AgentConfig>, Error> {
    let what = || format!("config map '{namespace}/{}'", labels::AGENT_CONFIG);
    let api: Api<ConfigMap> = Api::namespaced(local.clone(), namespace);
    let Some(map) = api.get_opt(labels::AGENT_CONFIG).await.doing("get", what)? else {
        return Ok(None);
    };
    let text = map
        .data
        .and_then(|mut data| data.remove(labels::CONFIG_KEY))
        .unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Some(AgentConfig::default()));
    }
    let value = goyaml::parse(&text).map_err(|error| Error::new("parse", what(), error.to_string()))?;
    serde_json::from_value(value)
        .map(Some)
        .map_err(|error| Error::new("parse", what(), error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_read_as_go_writes_it() {
        let interval = |json: &str| serde_json::from_str::<AgentConfig>(json).unwrap().collection_interval();
        assert_eq!(
            interval(r#"{"garbageCollectionInterval":"5s"}"#),
            Duration::from_secs(5)
        );
        assert_eq!(
            interval(r#"{"garbageCollectionInterval":"0s","labels":null}"#),
            Duration::from_secs(900)
        );
        assert_eq!(interval("{}"), Duration::from_secs(900));
    }
}
