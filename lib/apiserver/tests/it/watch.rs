//! Watches.

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, Patch, PatchParams, WatchEvent, WatchParams};
use serde_json::json;

use crate::{own, world};

fn shown(event: &WatchEvent<ConfigMap>) -> String {
    let name = |object: &ConfigMap| object.metadata.name.clone().unwrap_or_default();
    match event {
        WatchEvent::Added(object) => format!("+{}", name(object)),
        WatchEvent::Modified(object) => format!("~{}", name(object)),
        WatchEvent::Deleted(object) => format!("-{}", name(object)),
        WatchEvent::Bookmark(_) => "bookmark".to_owned(),
        WatchEvent::Error(status) => format!("error {}", status.code),
    }
}

#[tokio::test]
async fn everything_since_a_version_comes_once_and_in_order() {
    let world = world().await;
    let made = world.make("a").await;
    let version = made.metadata.resource_version.unwrap_or_default();
    let params = WatchParams::default().fields("metadata.name=a");
    let live = world.config_maps().watch(&params, &version).await.unwrap();
    for value in ["1", "2"] {
        let patch = Patch::Merge(json!({"data": {"k": value}}));
        world
            .config_maps()
            .patch("a", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }
    world.config_maps().delete("a", &DeleteParams::default()).await.unwrap();
    let late = world.config_maps().watch(&params, &version).await.unwrap();
    for stream in [live.boxed(), late.boxed()] {
        let events: Vec<WatchEvent<ConfigMap>> = stream.take(3).try_collect().await.unwrap();
        assert_eq!(events.iter().map(shown).collect::<Vec<_>>(), ["~a", "~a", "-a"]);
    }
}

#[tokio::test]
async fn an_object_that_leaves_the_selection_is_deleted_from_it() {
    let world = world().await;
    let made = world.make_labelled("a", &[("on", "no")]).await;
    let version = made.metadata.resource_version.unwrap_or_default();
    let stream = world
        .config_maps()
        .watch(&WatchParams::default().labels("on=yes"), &version)
        .await
        .unwrap();
    for value in ["yes", "yes", "no", "yes"] {
        let patch = Patch::Merge(json!({"metadata": {"labels": {"on": value}}, "data": {"k": value}}));
        world
            .config_maps()
            .patch("a", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }
    let events: Vec<WatchEvent<ConfigMap>> = stream.boxed().take(3).try_collect().await.unwrap();
    assert_eq!(events.iter().map(shown).collect::<Vec<_>>(), ["+a", "-a", "+a"]);
}

#[tokio::test]
async fn initial_events_end_with_a_bookmark() {
    let world = world().await;
    world.make_labelled("a", &[("l", "x")]).await;
    world.make_labelled("b", &[("l", "x")]).await;
    let params = WatchParams::default().labels("l=x").initial_events();
    let stream = world.config_maps().watch(&params, "0").await.unwrap();
    let events: Vec<WatchEvent<ConfigMap>> = stream.boxed().take(3).try_collect().await.unwrap();
    assert_eq!(events.iter().map(shown).collect::<Vec<_>>(), ["+a", "+b", "bookmark"]);
}

#[tokio::test]
async fn a_version_that_is_no_longer_kept_is_an_error_event() {
    let options = apiserver::Options {
        history: 4,
        ..apiserver::Options::default()
    };
    let Some(world) = own(options).await else { return };
    let made = world.make("a").await;
    for name in ["b", "c", "d", "e", "f"] {
        world.make(name).await;
    }
    let version = made.metadata.resource_version.unwrap_or_default();
    let stream = world
        .config_maps()
        .watch(&WatchParams::default(), &version)
        .await
        .unwrap();
    let events: Vec<WatchEvent<ConfigMap>> = stream.boxed().try_collect().await.unwrap();
    assert_eq!(events.iter().map(shown).collect::<Vec<_>>(), ["error 410"]);
}

#[tokio::test]
async fn a_watch_ends_after_its_time() {
    let world = world().await;
    let stream = world
        .config_maps()
        .watch(&WatchParams::default().timeout(1).labels("no=such"), "0")
        .await
        .unwrap();
    let events: Vec<WatchEvent<ConfigMap>> = stream.boxed().try_collect().await.unwrap();
    assert!(events.iter().all(|event| matches!(event, WatchEvent::Bookmark(_))));
}
