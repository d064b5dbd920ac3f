//! Counts of requests, as monitoring reads them; the real server counts alike.

use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::{World, world};

/// The count of requests for ConfigMaps with a verb and a code.
async fn count(world: &World, verb: &str, code: u16) -> u64 {
    let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
    let text = world.client.request_text(request).await.unwrap();
    let matches = |line: &&str| {
        let labels = [
            format!("verb=\"{verb}\""),
            format!("code=\"{code}\""),
            ",resource=\"configmaps\"".to_owned(),
        ];
        line.starts_with("apiserver_request_total{") && labels.iter().all(|label| line.contains(label.as_str()))
    };
    let counts = text.lines().filter(matches).filter_map(|line| line.rsplit(' ').next());
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}

#[tokio::test]
async fn requests_are_counted_by_verb_and_code() {
    let world = world().await;
    let before = (
        count(&world, "POST", 201).await,
        count(&world, "APPLY", 200).await,
        count(&world, "GET", 404).await,
    );
    world.make("a").await;
    world.make("b").await;
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
    let params = PatchParams::apply("it");
    world
        .config_maps()
        .patch("a", &params, &Patch::Apply(&applied))
        .await
        .unwrap();
    world.config_maps().get("missing").await.unwrap_err();
    let after = (
        count(&world, "POST", 201).await,
        count(&world, "APPLY", 200).await,
        count(&world, "GET", 404).await,
    );
    assert_eq!(after, (before.0 + 2, before.1 + 1, before.2 + 1));
}
