//! kube-rs' runtime on the server.

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, reflector, watcher as watch};
use serde_json::json;

use crate::world;

async fn sees_everything(config: watcher::Config) {
    let world = world().await;
    world.make_labelled("a", &[("l", "x")]).await;
    world.make_labelled("b", &[("l", "x")]).await;
    let mut events = watch(world.config_maps(), config.labels("l=x")).boxed();
    let mut names = Vec::new();
    let mut ready = false;
    while let Some(event) = events.try_next().await.unwrap() {
        match event {
            Event::Init => {}
            Event::InitApply(object) => names.push(object.metadata.name.unwrap_or_default()),
            Event::InitDone => {
                ready = true;
                world.make_labelled("c", &[("l", "x")]).await;
            }
            Event::Apply(object) => {
                assert!(ready);
                names.push(object.metadata.name.unwrap_or_default());
                break;
            }
            Event::Delete(object) => panic!("deleted: {:?}", object.metadata.name),
        }
    }
    assert_eq!(names, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_watcher_lists_then_follows() {
    sees_everything(watcher::Config::default().page_size(1)).await;
}

#[tokio::test]
async fn a_watcher_streams_its_list() {
    sees_everything(watcher::Config::default().streaming_lists()).await;
}

#[tokio::test]
async fn a_reflector_holds_the_newest_state() {
    let world = world().await;
    world.make_labelled("a", &[("l", "x")]).await;
    let (reader, writer) = reflector::store::<ConfigMap>();
    let config = watcher::Config::default().labels("l=x");
    let mut applied = reflector(writer, watch(world.config_maps(), config))
        .applied_objects()
        .boxed();
    applied.try_next().await.unwrap();
    let patch = Patch::Merge(json!({"data": {"k": "v"}}));
    world
        .config_maps()
        .patch("a", &PatchParams::default(), &patch)
        .await
        .unwrap();
    applied.try_next().await.unwrap();
    let held = reader
        .get(&reflector::ObjectRef::new("a").within(&world.namespace))
        .expect("it is held");
    assert_eq!(held.data.clone().unwrap_or_default()["k"], "v");
}
