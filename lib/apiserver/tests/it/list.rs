//! Collections: pages, selectors, versions.

use kube::api::{DeleteParams, ListParams};

use crate::world;

fn names(list: &kube::api::ObjectList<k8s_openapi::api::core::v1::ConfigMap>) -> Vec<&str> {
    list.items
        .iter()
        .filter_map(|item| item.metadata.name.as_deref())
        .filter(|name| *name != "kube-root-ca.crt")
        .collect()
}

#[tokio::test]
async fn pages_show_one_moment_whatever_happens_between_them() {
    let world = world().await;
    for name in ["a", "b", "c", "d"] {
        world.make_labelled(name, &[("l", "x")]).await;
    }
    let params = ListParams::default().labels("l=x").limit(2);
    let first = world.config_maps().list(&params).await.unwrap();
    assert_eq!(names(&first), ["a", "b"]);
    world.config_maps().delete("c", &DeleteParams::default()).await.unwrap();
    world.make_labelled("cc", &[("l", "x")]).await;
    let token = first.metadata.continue_.clone().expect("there is more");
    let second = world
        .config_maps()
        .list(&params.clone().continue_token(&token))
        .await
        .unwrap();
    assert_eq!(names(&second), ["c", "d"]);
    assert_eq!(second.metadata.resource_version, first.metadata.resource_version);
    // A server may say that there is more when there is nothing more that matches.
    if let Some(token) = second.metadata.continue_.filter(|token| !token.is_empty()) {
        let third = world.config_maps().list(&params.continue_token(&token)).await.unwrap();
        assert!(names(&third).is_empty());
    }
}

#[tokio::test]
async fn selectors_pick() {
    let world = world().await;
    world.make_labelled("a", &[("env", "prod"), ("tier", "web")]).await;
    world.make_labelled("b", &[("env", "dev")]).await;
    for (selector, expected) in [
        ("env=prod", vec!["a"]),
        ("env in (prod,dev)", vec!["a", "b"]),
        ("env,!tier", vec!["b"]),
        ("env notin (prod),tier", vec![]),
    ] {
        let list = world
            .config_maps()
            .list(&ListParams::default().labels(selector))
            .await
            .unwrap();
        assert_eq!(names(&list), expected, "{selector}");
    }
    let list = world
        .config_maps()
        .list(&ListParams::default().fields("metadata.name=b"))
        .await
        .unwrap();
    assert_eq!(names(&list), ["b"]);
    let broken = world.config_maps().list(&ListParams::default().labels("a===b")).await;
    assert_eq!(crate::code(broken), 400);
}
