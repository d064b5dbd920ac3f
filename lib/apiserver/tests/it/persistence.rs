//! What only this server has: a data directory that survives it.

use apiserver::{Options, Server, User};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use kube::{Api, Client};

use crate::{config_map, own};

#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_server_has_what_was_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let options = || Options {
        data: Some(directory.path().to_owned()),
        ..Options::default()
    };
    let Some(world) = own(options()).await else { return };
    let made = world.make("a").await;
    let crate::World {
        client,
        namespace,
        server,
    } = world;
    drop(client);
    server.expect("our own").shutdown().await;

    let server = Server::start(options()).await.unwrap();
    let client = Client::new(server.service(User::admin()), "default");
    let api: Api<ConfigMap> = Api::namespaced(client, &namespace);
    assert_eq!(api.get("a").await.unwrap(), made);
    let next = api.create(&PostParams::default(), &config_map("b", &[])).await.unwrap();
    let number = |object: &ConfigMap| {
        object
            .metadata
            .resource_version
            .as_ref()
            .and_then(|text| text.parse::<u64>().ok())
    };
    assert!(number(&next) > number(&made));
}
