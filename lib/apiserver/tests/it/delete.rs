//! Deletion.

use kube::api::{DeleteParams, ListParams, Patch, PatchParams, Preconditions};
use serde_json::json;

use crate::{code, world};

#[tokio::test]
async fn a_finalizer_holds_an_object_until_it_is_taken_away() {
    let world = world().await;
    world.make("a").await;
    let hold = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/hold"]}}));
    world
        .config_maps()
        .patch("a", &PatchParams::default(), &hold)
        .await
        .unwrap();
    let marked = world
        .config_maps()
        .delete("a", &DeleteParams::default())
        .await
        .unwrap()
        .left()
        .expect("the object");
    assert!(marked.metadata.deletion_timestamp.is_some());
    world.config_maps().get("a").await.unwrap();
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    world
        .config_maps()
        .patch("a", &PatchParams::default(), &release)
        .await
        .unwrap();
    assert_eq!(code(world.config_maps().get("a").await), 404);
}

#[tokio::test]
async fn preconditions_are_checked() {
    let world = world().await;
    let made = world.make("a").await;
    let wrong = Preconditions {
        uid: Some("00000000-0000-4000-8000-000000000000".to_owned()),
        resource_version: None,
    };
    assert_eq!(
        code(
            world
                .config_maps()
                .delete("a", &DeleteParams::default().preconditions(wrong))
                .await
        ),
        409
    );
    let right = Preconditions {
        uid: made.metadata.uid,
        resource_version: made.metadata.resource_version,
    };
    world
        .config_maps()
        .delete("a", &DeleteParams::default().preconditions(right))
        .await
        .unwrap();
}

#[tokio::test]
async fn propagation_leaves_its_finalizer() {
    let world = world().await;
    for (name, params, finalizer) in [
        ("a", DeleteParams::foreground(), "foregroundDeletion"),
        ("b", DeleteParams::orphan(), "orphan"),
    ] {
        world.make(name).await;
        let marked = world
            .config_maps()
            .delete(name, &params)
            .await
            .unwrap()
            .left()
            .expect("the object");
        assert_eq!(marked.metadata.finalizers, Some(vec![finalizer.to_owned()]));
    }
}

#[tokio::test]
async fn a_collection_is_deleted_by_selector() {
    let world = world().await;
    world.make_labelled("a", &[("l", "x")]).await;
    world.make_labelled("b", &[("l", "y")]).await;
    let selected = ListParams::default().labels("l=x");
    world
        .config_maps()
        .delete_collection(&DeleteParams::default(), &selected)
        .await
        .unwrap();
    assert_eq!(code(world.config_maps().get("a").await), 404);
    world.config_maps().get("b").await.unwrap();
}
