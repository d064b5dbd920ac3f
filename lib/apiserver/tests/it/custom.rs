//! Custom resources.

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, core::GroupVersionKind};
use serde_json::{Value, json};

use crate::{World, code, world};

struct Widgets {
    api: Api<DynamicObject>,
    definitions: Api<CustomResourceDefinition>,
    name: String,
    resource: ApiResource,
}

impl Widgets {
    async fn new(world: &World) -> Self {
        // The group is the test's own, as tests of a real server share it.
        let group = format!("{}.example.com", world.namespace);
        let name = format!("widgets.{group}");
        let definition: CustomResourceDefinition = serde_json::from_value(json!({
            "metadata": {"name": name},
            "spec": {
                "group": group, "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                        "spec": {"type": "object", "properties": {
                            "size": {"type": "integer", "minimum": 1}, "colour": {"type": "string", "default": "red"}}},
                        "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}}}}}}],
            },
        }))
        .unwrap();
        let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
        definitions.create(&PostParams::default(), &definition).await.unwrap();
        await_condition(definitions.clone(), &name, conditions::is_crd_established())
            .await
            .unwrap();
        let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(&group, "v1", "Widget"), "widgets");
        let api = Api::namespaced_with(world.client.clone(), &world.namespace, &resource);
        Self {
            api,
            definitions,
            name,
            resource,
        }
    }

    fn object(&self, name: &str, spec: &Value) -> DynamicObject {
        DynamicObject::new(name, &self.resource).data(json!({ "spec": spec }))
    }

    async fn make(&self, name: &str, spec: &Value) -> Result<DynamicObject, kube::Error> {
        self.api.create(&PostParams::default(), &self.object(name, spec)).await
    }
}

#[tokio::test]
async fn schemas_default_prune_and_refuse() {
    let widgets = Widgets::new(&world().await).await;
    let made = widgets.make("a", &json!({"size": 3, "unknown": true})).await.unwrap();
    assert_eq!(made.data["spec"], json!({"size": 3, "colour": "red"}));
    assert_eq!(code(widgets.make("b", &json!({"size": 0})).await), 422);
}

#[tokio::test]
async fn status_and_spec_are_written_apart() {
    let widgets = Widgets::new(&world().await).await;
    widgets.make("a", &json!({"size": 3})).await.unwrap();
    let both = Patch::Merge(json!({"spec": {"size": 5}, "status": {"ready": true}}));
    let written = widgets
        .api
        .patch_status("a", &PatchParams::default(), &both)
        .await
        .unwrap();
    assert_eq!(
        (&written.data["spec"]["size"], &written.data["status"]["ready"]),
        (&json!(3), &json!(true))
    );
    assert_eq!(written.metadata.generation, Some(1));
    let written = widgets
        .api
        .patch(
            "a",
            &PatchParams::default(),
            &Patch::Merge(json!({"spec": {"size": 5}, "status": null})),
        )
        .await
        .unwrap();
    assert_eq!(
        (&written.data["spec"]["size"], &written.data["status"]["ready"]),
        (&json!(5), &json!(true))
    );
    assert_eq!(written.metadata.generation, Some(2));
}

#[tokio::test]
async fn deleting_a_definition_deletes_its_objects_and_ends_their_watches() {
    let widgets = Widgets::new(&world().await).await;
    let made = widgets.make("a", &json!({"size": 3})).await.unwrap();
    let version = made.metadata.resource_version.unwrap_or_default();
    let stream = widgets.api.watch(&WatchParams::default(), &version).await.unwrap();
    widgets
        .definitions
        .delete(&widgets.name, &DeleteParams::default())
        .await
        .unwrap();
    let events: Vec<WatchEvent<DynamicObject>> = stream.boxed().try_collect().await.unwrap();
    assert!(
        events.iter().any(|event| matches!(event, WatchEvent::Deleted(_))),
        "{events:?}"
    );
    await_condition(widgets.definitions.clone(), &widgets.name, conditions::is_deleted(""))
        .await
        .unwrap();
    assert_eq!(code(widgets.api.get("a").await), 404);
}
