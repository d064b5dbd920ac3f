//! Server-side apply.

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::{code, world};

fn colour(value: &str) -> Patch<Value> {
    Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"colour": value}}))
}

#[tokio::test]
async fn applying_makes_owns_and_is_idempotent() {
    let world = world().await;
    let made = world
        .config_maps()
        .patch("a", &PatchParams::apply("one"), &colour("red"))
        .await
        .unwrap();
    let again = world
        .config_maps()
        .patch("a", &PatchParams::apply("one"), &colour("red"))
        .await
        .unwrap();
    assert_eq!(again.metadata.resource_version, made.metadata.resource_version);
    let managers = again.metadata.managed_fields.unwrap_or_default();
    assert_eq!(managers.len(), 1);
    assert_eq!(managers[0].manager.as_deref(), Some("one"));
}

#[tokio::test]
async fn what_another_owns_conflicts_unless_forced() {
    let world = world().await;
    world
        .config_maps()
        .patch("a", &PatchParams::apply("one"), &colour("red"))
        .await
        .unwrap();
    let refused = world
        .config_maps()
        .patch("a", &PatchParams::apply("two"), &colour("blue"))
        .await;
    match refused {
        Err(kube::Error::Api(status)) => {
            assert_eq!(status.code, 409);
            assert!(
                status.message.contains("conflict with \"one\": .data.colour"),
                "{}",
                status.message
            );
        }
        other => panic!("not refused: {other:?}"),
    }
    let forced = world
        .config_maps()
        .patch("a", &PatchParams::apply("two").force(), &colour("blue"))
        .await
        .unwrap();
    assert_eq!(forced.data.unwrap_or_default()["colour"], "blue");
}

#[tokio::test]
async fn what_is_no_longer_applied_is_removed() {
    let world = world().await;
    world
        .config_maps()
        .patch("a", &PatchParams::apply("one"), &colour("red"))
        .await
        .unwrap();
    let nothing = Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
    let after = world
        .config_maps()
        .patch("a", &PatchParams::apply("one"), &nothing)
        .await
        .unwrap();
    assert!(after.data.unwrap_or_default().is_empty());
}

#[tokio::test]
async fn an_apply_needs_a_manager_and_a_name_that_fits() {
    let world = world().await;
    assert_eq!(
        code(
            world
                .config_maps()
                .patch("b", &PatchParams::apply("one"), &colour("red"))
                .await
        ),
        400
    );
}
