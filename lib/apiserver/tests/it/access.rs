//! Who may come in: over TLS, and in process as somebody.

use apiserver::{Options, User};
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{ListParams, PostParams, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::json;

use crate::{code, config_map, own};

fn account(namespace: &str, name: &str) -> User {
    User {
        name: format!("system:serviceaccount:{namespace}:{name}"),
        groups: ["system:serviceaccounts", "system:authenticated"]
            .map(str::to_owned)
            .to_vec(),
        ..User::default()
    }
}

#[tokio::test]
async fn a_user_may_do_what_a_role_grants_and_no_more() {
    let Some(world) = own(Options::default()).await else {
        return;
    };
    let namespace = world.namespace.as_str();
    let server = world.server.as_ref().expect("our own");
    let client = Client::new(server.service(account(namespace, "robot")), namespace);
    let api: Api<ConfigMap> = Api::namespaced(client, namespace);
    assert_eq!(code(api.list(&ListParams::default()).await), 403);

    let role: Role = serde_json::from_value(json!({
        "metadata": {"name": "reader"}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}],
    }))
    .unwrap();
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": {"name": "readers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": "robot"}],
    }))
    .unwrap();
    let post = PostParams::default();
    Api::<Role>::namespaced(world.client.clone(), namespace)
        .create(&post, &role)
        .await
        .unwrap();
    Api::<RoleBinding>::namespaced(world.client.clone(), namespace)
        .create(&post, &binding)
        .await
        .unwrap();

    api.list(&ListParams::default()).await.unwrap();
    assert_eq!(code(api.create(&post, &config_map("a", &[])).await), 403);
}

#[tokio::test]
async fn rights_to_one_object_let_its_name_be_listed_and_watched() {
    let Some(world) = own(Options::default()).await else {
        return;
    };
    let namespace = world.namespace.as_str();
    let server = world.server.as_ref().expect("our own");
    let role: Role = serde_json::from_value(json!({"metadata": {"name": "one"}, "rules": [
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["list", "watch"]}]}))
    .unwrap();
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": {"name": "one"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "one"},
        "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": "robot"}],
    }))
    .unwrap();
    let post = PostParams::default();
    let roles: Api<Role> = Api::namespaced(world.client.clone(), namespace);
    roles.create(&post, &role).await.unwrap();
    let bindings: Api<RoleBinding> = Api::namespaced(world.client.clone(), namespace);
    bindings.create(&post, &binding).await.unwrap();
    world.make("a").await;
    world.make("b").await;

    let client = Client::new(server.service(account(namespace, "robot")), namespace);
    let api: Api<ConfigMap> = Api::namespaced(client, namespace);
    let named = |selector: &str| ListParams::default().fields(selector);
    let found = api.list(&named("metadata.name=a")).await.unwrap();
    assert_eq!(found.items.len(), 1);
    assert_eq!(code(api.list(&named("metadata.name=b")).await), 403);
    assert_eq!(code(api.list(&named("metadata.name!=b")).await), 403);
    assert_eq!(code(api.list(&ListParams::default()).await), 403);
    let watched = WatchParams::default().fields("metadata.name=a").timeout(1);
    assert!(api.watch(&watched, "0").await.is_ok());
}

#[tokio::test]
async fn the_administrators_kubeconfig_works_over_tls_and_strangers_are_refused() {
    let listen = Some(([127, 0, 0, 1], 0).into());
    let Some(world) = own(Options {
        listen,
        ..Options::default()
    })
    .await
    else {
        return;
    };
    let server = world.server.as_ref().expect("our own");
    let kubeconfig = Kubeconfig::from_yaml(&server.admin_kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .unwrap();
    let mut stranger = config.clone();
    stranger.auth_info = kube::config::AuthInfo::default();

    let accounts: Api<ServiceAccount> = Api::namespaced(Client::try_from(config).unwrap(), &world.namespace);
    accounts.list(&ListParams::default()).await.unwrap();
    let accounts: Api<ServiceAccount> = Api::namespaced(Client::try_from(stranger).unwrap(), &world.namespace);
    assert_eq!(code(accounts.list(&ListParams::default()).await), 403);
    server.shutdown().await;
}
