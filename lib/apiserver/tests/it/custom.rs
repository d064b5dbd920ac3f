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

/// A definition in a group of the test's own.
fn definition(world: &World, plural: &str, names: &Value, versions: &Value) -> CustomResourceDefinition {
    let group = format!("{}.example.com", world.namespace);
    let mut names = names.clone();
    names["plural"] = json!(plural);
    serde_json::from_value(json!({
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": versions},
    }))
    .unwrap()
}

fn plain() -> Value {
    json!([{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}])
}

/// Waits until a condition of a definition has a status and a reason.
async fn settled(definitions: &Api<CustomResourceDefinition>, name: &str, kind: &str, status: &str, reason: &str) {
    let holds = |object: Option<&CustomResourceDefinition>| {
        let conditions = object.and_then(|object| object.status.as_ref()?.conditions.as_ref());
        conditions.is_some_and(|list| {
            list.iter()
                .any(|one| one.type_ == kind && one.status == status && one.reason.as_deref() == Some(reason))
        })
    };
    await_condition(definitions.clone(), name, holds).await.unwrap();
}

#[tokio::test]
async fn a_name_that_another_definition_holds_is_accepted_once_that_one_is_gone() {
    let world = world().await;
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    let first = definition(&world, "foos", &json!({"kind": "Foo", "shortNames": ["fo"]}), &plain());
    let second = definition(&world, "bars", &json!({"kind": "Bar", "shortNames": ["fo"]}), &plain());
    let (first_name, second_name) = (
        first.metadata.name.clone().unwrap(),
        second.metadata.name.clone().unwrap(),
    );
    definitions.create(&PostParams::default(), &first).await.unwrap();
    settled(&definitions, &first_name, "Established", "True", "InitialNamesAccepted").await;
    definitions.create(&PostParams::default(), &second).await.unwrap();
    settled(
        &definitions,
        &second_name,
        "NamesAccepted",
        "False",
        "ShortNamesConflict",
    )
    .await;
    settled(&definitions, &second_name, "Established", "False", "NotAccepted").await;
    let status = definitions.get(&second_name).await.unwrap().status.unwrap();
    let accepted = status.accepted_names.unwrap();
    assert_eq!((accepted.plural.as_str(), accepted.short_names), ("bars", None));
    definitions.delete(&first_name, &DeleteParams::default()).await.unwrap();
    settled(
        &definitions,
        &second_name,
        "Established",
        "True",
        "InitialNamesAccepted",
    )
    .await;
    definitions
        .delete(&second_name, &DeleteParams::default())
        .await
        .unwrap();
}

#[tokio::test]
async fn definitions_in_groups_of_kubernetes_say_who_approved_them() {
    let world = world().await;
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    let group = format!("{}.k8s.io", world.namespace);
    let mut wanted = definition(&world, "foos", &json!({"kind": "Foo"}), &plain());
    wanted.spec.group.clone_from(&group);
    let name = format!("foos.{group}");
    wanted.metadata.name = Some(name.clone());
    assert_eq!(code(definitions.create(&PostParams::default(), &wanted).await), 422);
    wanted.metadata.annotations =
        Some([("api-approved.kubernetes.io".to_owned(), "unapproved, a test".to_owned())].into());
    definitions.create(&PostParams::default(), &wanted).await.unwrap();
    let kind = "KubernetesAPIApprovalPolicyConformant";
    settled(&definitions, &name, kind, "False", "UnapprovedAnnotation").await;
    definitions.delete(&name, &DeleteParams::default()).await.unwrap();
}

#[tokio::test]
async fn objects_keep_only_what_the_stored_version_knows() {
    let world = world().await;
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    let version = |name: &str, storage: bool, spec: Value| {
        json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}}})
    };
    let text = json!({"type": "string"});
    let versions = json!([
        version(
            "v1",
            true,
            json!({"a": text, "late": {"type": "string", "default": "stored"}})
        ),
        version("v1beta1", false, json!({"a": text, "old": text})),
    ]);
    let wanted = definition(&world, "foos", &json!({"kind": "Foo"}), &versions);
    let name = wanted.metadata.name.clone().unwrap();
    definitions.create(&PostParams::default(), &wanted).await.unwrap();
    await_condition(definitions.clone(), &name, conditions::is_crd_established())
        .await
        .unwrap();
    let kind = GroupVersionKind::gvk(&wanted.spec.group, "v1beta1", "Foo");
    let resource = ApiResource::from_gvk_with_plural(&kind, "foos");
    let api: Api<DynamicObject> = Api::namespaced_with(world.client.clone(), &world.namespace, &resource);
    let object = DynamicObject::new("a", &resource).data(json!({"spec": {"a": "x", "old": "y"}}));
    let made = api.create(&PostParams::default(), &object).await.unwrap();
    assert_eq!(made.data["spec"], json!({"a": "x"}));
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(&wanted.spec.group, "v1", "Foo"), "foos");
    let stored: Api<DynamicObject> = Api::namespaced_with(world.client.clone(), &world.namespace, &resource);
    assert_eq!(
        stored.get("a").await.unwrap().data["spec"],
        json!({"a": "x", "late": "stored"})
    );
    assert_eq!(api.get("a").await.unwrap().data["spec"], json!({"a": "x"}));
    definitions.delete(&name, &DeleteParams::default()).await.unwrap();
}
