//! One object's life.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;

use crate::{code, config_map, world};

#[tokio::test]
async fn a_new_object_gets_an_identity() {
    let world = world().await;
    let made = world.make("a").await;
    assert!(made.metadata.uid.is_some() && made.metadata.creation_timestamp.is_some());
    assert_eq!(made.metadata.namespace.as_deref(), Some(world.namespace.as_str()));
    assert_eq!(world.config_maps().get("a").await.unwrap(), made);
    assert_eq!(
        code(
            world
                .config_maps()
                .create(&PostParams::default(), &config_map("a", &[]))
                .await
        ),
        409
    );
}

#[tokio::test]
async fn generated_names_differ() {
    let world = world().await;
    let mut object = ConfigMap::default();
    object.metadata.generate_name = Some("x-".to_owned());
    let make = || async {
        world
            .config_maps()
            .create(&PostParams::default(), &object)
            .await
            .unwrap()
            .metadata
            .name
    };
    let (one, other) = (make().await, make().await);
    assert!(
        one.as_ref()
            .is_some_and(|name| name.starts_with("x-") && name.len() == 7)
    );
    assert_ne!(one, other);
}

#[tokio::test]
async fn a_stale_replace_conflicts_and_a_fresh_one_wins() {
    let world = world().await;
    let first = world.make("a").await;
    let change = |value: &str| Patch::Merge(json!({"data": {"k": value}}));
    let second = world
        .config_maps()
        .patch("a", &PatchParams::default(), &change("v"))
        .await
        .unwrap();
    assert_eq!(
        code(world.config_maps().replace("a", &PostParams::default(), &first).await),
        409
    );
    let mut next = second;
    next.data = None;
    let third = world
        .config_maps()
        .replace("a", &PostParams::default(), &next)
        .await
        .unwrap();
    assert_ne!(third.metadata.resource_version, next.metadata.resource_version);
}

#[tokio::test]
async fn a_write_that_changes_nothing_keeps_the_version() {
    let world = world().await;
    let made = world.make("a").await;
    let patch = Patch::Merge(json!({"metadata": {"labels": {}}}));
    let after = world
        .config_maps()
        .patch("a", &PatchParams::default(), &patch)
        .await
        .unwrap();
    assert_eq!(after.metadata.resource_version, made.metadata.resource_version);
}

#[tokio::test]
async fn a_dry_run_writes_nothing() {
    let world = world().await;
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let made = world.config_maps().create(&dry, &config_map("a", &[])).await.unwrap();
    assert!(made.metadata.uid.is_some() && made.metadata.resource_version.is_none());
    assert_eq!(code(world.config_maps().get("a").await), 404);
}

#[tokio::test]
async fn nothing_is_made_in_a_namespace_that_is_not_there() {
    let world = world().await;
    let nowhere: kube::Api<ConfigMap> = kube::Api::namespaced(world.client.clone(), "it-nowhere");
    assert_eq!(
        code(nowhere.create(&PostParams::default(), &config_map("a", &[])).await),
        404
    );
}

#[tokio::test]
async fn simultaneous_patches_all_land() {
    let world = world().await;
    world.make("a").await;
    let patches = (0..20).map(|number| {
        let api = world.config_maps();
        async move {
            let patch = Patch::Merge(json!({"data": {format!("k{number}"): "v"}}));
            api.patch("a", &PatchParams::default(), &patch).await
        }
    });
    for result in futures::future::join_all(patches).await {
        result.unwrap();
    }
    assert_eq!(
        world
            .config_maps()
            .get("a")
            .await
            .unwrap()
            .data
            .unwrap_or_default()
            .len(),
        20
    );
}

#[tokio::test]
async fn unknown_fields_are_refused_when_asked_to() {
    let world = world().await;
    let strict = PatchParams {
        field_validation: Some(kube::api::ValidationDirective::Strict),
        ..PatchParams::default()
    };
    world.make("a").await;
    let typo = || Patch::Merge(json!({"dta": {"k": "v"}}));
    assert_eq!(code(world.config_maps().patch("a", &strict, &typo()).await), 422);
    let warned = world.config_maps().patch("a", &PatchParams::default(), &typo()).await;
    assert!(warned.is_ok());
}

#[tokio::test]
async fn an_autoscaler_loses_nothing_when_its_older_face_is_written() {
    use k8s_openapi::api::autoscaling::{v1, v2};
    let world = world().await;
    let newer: Api<v2::HorizontalPodAutoscaler> = Api::namespaced(world.client.clone(), &world.namespace);
    let older: Api<v1::HorizontalPodAutoscaler> = Api::namespaced(world.client.clone(), &world.namespace);
    let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}});
    let pods = json!({"type": "Pods", "pods": {"metric": {"name": "p"}, "target": {"type": "AverageValue", "averageValue": "10"}}});
    let object = serde_json::from_value(json!({"metadata": {"name": "a"}, "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 5, "metrics": [cpu, pods]}}))
    .unwrap();
    newer.create(&PostParams::default(), &object).await.unwrap();
    let mut seen = older.get("a").await.unwrap();
    assert_eq!(seen.spec.target_cpu_utilization_percentage, Some(60));
    seen.spec.max_replicas = 9;
    older.replace("a", &PostParams::default(), &seen).await.unwrap();
    let spec = newer.get("a").await.unwrap().spec;
    assert_eq!(spec.max_replicas, 9);
    assert_eq!(serde_json::to_value(spec.metrics).unwrap(), json!([pods, cpu]));
}
