//! What only pods have: binding, ephemeral containers, replacement by the manifest they were made from.

use http::Request;
use serde_json::{Value, json};

use crate::{World, code, world};

fn manifest() -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "c", "image": "i:1"}], "automountServiceAccountToken": false}})
}

async fn send(world: &World, method: &str, path: &str, body: &Value) -> Result<Value, kube::Error> {
    let media = if method == "PATCH" {
        "application/strategic-merge-patch+json"
    } else {
        "application/json"
    };
    let path = format!("/api/v1/namespaces/{}/pods{path}", world.namespace);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media);
    world
        .client
        .request(request.body(body.to_string().into_bytes()).unwrap())
        .await
}

#[tokio::test]
async fn a_pod_is_bound_once() {
    let world = world().await;
    send(&world, "POST", "", &manifest()).await.unwrap();
    let binding = |node: &str| json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": node}});
    let done = send(&world, "POST", "/p/binding", &binding("one")).await.unwrap();
    assert_eq!((&done["status"], &done["code"]), (&json!("Success"), &json!(201)));
    let pod = send(&world, "GET", "/p", &Value::Null).await.unwrap();
    assert_eq!(pod["spec"]["nodeName"], "one");
    assert_eq!(pod["status"]["conditions"][0]["type"], "PodScheduled");
    assert_eq!(code(send(&world, "POST", "/p/binding", &binding("two")).await), 409);
    assert_eq!(code(send(&world, "POST", "/p/binding", &binding("")).await), 500);
    assert_eq!(code(send(&world, "POST", "/q/binding", &binding("one")).await), 400);
}

#[tokio::test]
async fn ephemeral_containers_come_by_their_own_way() {
    let world = world().await;
    send(&world, "POST", "", &manifest()).await.unwrap();
    let patch = json!({"spec": {"ephemeralContainers": [{"name": "look", "image": "busybox"}]}});
    assert_eq!(code(send(&world, "PATCH", "/p", &patch).await), 422);
    let pod = send(&world, "PATCH", "/p/ephemeralcontainers", &patch).await.unwrap();
    assert_eq!(pod["spec"]["ephemeralContainers"][0]["name"], "look");
    assert_eq!(pod["spec"]["containers"][0]["image"], "i:1");
}

#[tokio::test]
async fn a_pod_may_be_replaced_by_its_manifest() {
    let world = world().await;
    send(&world, "POST", "", &manifest()).await.unwrap();
    let mut next = manifest();
    next["spec"]["containers"][0]["image"] = json!("i:2");
    let pod = send(&world, "PUT", "/p", &next).await.unwrap();
    assert_eq!(pod["spec"]["containers"][0]["image"], "i:2");
    next["spec"]["containers"][0]["name"] = json!("d");
    assert_eq!(code(send(&world, "PUT", "/p", &next).await), 422);
}

#[tokio::test]
async fn the_class_of_a_pod_decides_its_priority() {
    let world = world().await;
    let class = json!({"metadata": {"name": world.namespace}, "value": 7, "preemptionPolicy": "Never"});
    let request = Request::post("/apis/scheduling.k8s.io/v1/priorityclasses")
        .header("content-type", "application/json")
        .body(class.to_string().into_bytes());
    let _: Value = world.client.request(request.unwrap()).await.unwrap();
    let with = |spec: &[(&str, Value)]| {
        let mut pod = manifest();
        for (field, value) in spec {
            pod["spec"][*field] = value.clone();
        }
        pod
    };
    let named = ("priorityClassName", json!(world.namespace));
    let dry = "?dryRun=All";
    let pod = send(&world, "POST", dry, &with(std::slice::from_ref(&named)))
        .await
        .unwrap();
    assert_eq!(
        (&pod["spec"]["priority"], &pod["spec"]["preemptionPolicy"]),
        (&json!(7), &json!("Never"))
    );
    let plain = send(&world, "POST", dry, &manifest()).await.unwrap();
    assert_eq!(plain["spec"]["priority"], 0);
    for refused in [
        with(&[named, ("priority", json!(8))]),
        with(&[("priority", json!(1))]),
        with(&[("preemptionPolicy", json!("Never"))]),
        with(&[("priorityClassName", json!("none-such"))]),
    ] {
        assert_eq!(
            code(send(&world, "POST", dry, &refused).await),
            403,
            "{}",
            refused["spec"]
        );
    }
}
