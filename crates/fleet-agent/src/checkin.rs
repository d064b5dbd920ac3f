//! Telling the manager that this agent lives: one JSON patch of the Cluster's status, a moment
//! after the start and then at every interval.

use std::time::Duration;

use fleet_api::{GROUP, VERSION};
use fleet_runtime::clock::rfc3339;
use fleet_runtime::{Clock, Error, ResultExt, chain};
use serde_json::{Value, json};
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;

use crate::settings::Settings;
use crate::upstream::Upstream;

/// Longest time one check-in may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Checks in until `shutdown`. Failures are logged; the next interval tries again.
pub(crate) async fn run(upstream: Upstream, settings: Settings, shutdown: CancellationToken) {
    let start = Instant::now();
    let mut every = interval_at(start + settings.checkin_interval, settings.checkin_interval);
    let first = tokio::time::sleep_until(start + settings.checkin_delay);
    let mut first = std::pin::pin!(first);
    let mut waiting = true;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = &mut first, if waiting => waiting = false,
            _ = every.tick() => {}
        }
        let call = check_in(&upstream, &settings.namespace, &*settings.clock);
        match tokio::time::timeout(LIMIT, call).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(error = chain(&error), "check-in failed"),
            Err(_) => tracing::warn!("check-in took too long"),
        }
    }
}

async fn check_in(upstream: &Upstream, namespace: &str, clock: &dyn Clock) -> Result<(), Error> {
    let agent = json!({"lastSeen": rfc3339(clock.now()), "namespace": namespace});
    let add = json!([{"op": "add", "path": "/status/agent", "value": agent}]);
    match send(upstream, "application/json-patch+json", &add).await {
        // A Cluster without any status has no place to add to.
        Err(error) if error.is_invalid() => {
            send(
                upstream,
                "application/merge-patch+json",
                &json!({"status": {"agent": agent}}),
            )
            .await
        }
        other => other,
    }
}

async fn send(upstream: &Upstream, content_type: &str, body: &Value) -> Result<(), Error> {
    let what = || format!("cluster '{}/{}'", upstream.cluster_namespace, upstream.cluster_name);
    let uri = format!(
        "/apis/{GROUP}/{VERSION}/namespaces/{}/clusters/{}/status",
        upstream.cluster_namespace, upstream.cluster_name
    );
    let request = http::Request::patch(uri)
        .header("content-type", content_type)
        .body(body.to_string().into_bytes())
        .map_err(|error| Error::new("patch status of", what(), error.to_string()))?;
    upstream
        .client
        .request::<Value>(request)
        .await
        .doing("patch status of", what)?;
    Ok(())
}
