//! A server in memory for tests of its companions. Waiting is done by watching, never by sleeping.

use std::time::Duration;

use serde_json::{Value, json};

use crate::access::User;
use crate::controllers::Api;
use crate::controllers::api::{METADATA, OBJECT};
use crate::options::Options;
use crate::server::Server;

/// A server with an empty namespace `n`.
pub(crate) struct World {
    pub(crate) api: Api,
    _server: Server,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let server = Server::start(options).await.unwrap();
        let api = Api::new(server.service(User::admin()));
        let world = Self { api, _server: server };
        world
            .create(
                "/api/v1/namespaces",
                json!({"kind": "Namespace", "metadata": {"name": "n"}}),
            )
            .await;
        world
    }

    /// Creates an object (core/v1 unless it says otherwise) and gives its uid.
    pub(crate) async fn create(&self, path: &str, mut object: Value) -> String {
        if object.get("apiVersion").is_none() {
            object["apiVersion"] = "v1".into();
        }
        let made = self.api.create(path, &object).await.unwrap();
        made.pointer("/metadata/uid")
            .and_then(Value::as_str)
            .unwrap()
            .to_owned()
    }

    pub(crate) async fn delete(&self, path: &str, policy: &str) {
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy});
        self.api.delete(path, &options).await.unwrap();
    }

    /// Waits until the object `path/name` (none: it does not exist) is as wanted.
    pub(crate) async fn until(&self, path: &str, name: &str, wanted: impl Fn(Option<&Value>) -> bool) {
        let wait = async {
            let list = self.api.get(path, METADATA).await.unwrap();
            let version = list
                .pointer("/metadata/resourceVersion")
                .and_then(Value::as_str)
                .unwrap()
                .to_owned();
            let now = self.api.get(&format!("{path}/{name}"), OBJECT).await.ok();
            if wanted(now.as_ref()) {
                return;
            }
            let query = format!("watch=true&fieldSelector=metadata.name%3D{name}&resourceVersion={version}");
            let mut stream = self.api.watch(&format!("{path}?{query}"), OBJECT).await.unwrap();
            while let Some(event) = stream.next().await {
                let object = Some(&event["object"]).filter(|_| event["type"] != "DELETED");
                if wanted(object) {
                    return;
                }
            }
            panic!("the watch ended");
        };
        // The limit is there for a test that fails, not for one that waits.
        let result = tokio::time::timeout(Duration::from_secs(20), wait).await;
        assert!(
            result.is_ok(),
            "{path}/{name} stays {:?}",
            self.api.get(&format!("{path}/{name}"), OBJECT).await
        );
    }

    pub(crate) async fn gone(&self, path: &str, name: &str) {
        self.until(path, name, |object| object.is_none()).await;
    }
}
