//! What `kubectl get -o wide` is given: columns and cells of kinds that are seldom looked at.

use http::Request;
use serde_json::{Value, json};

use crate::{World, world};

async fn send(world: &World, method: &str, path: &str, body: &Value) -> Value {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .header("accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
        .body(body.to_string().into_bytes());
    world.client.request(request.unwrap()).await.unwrap()
}

/// Names of the columns, and the cells of the object that is made; without those that tell times.
async fn row(world: &World, path: &str, object: &Value) -> (Vec<String>, Vec<Value>) {
    let table = send(world, "POST", &format!("{path}?dryRun=All"), object).await;
    let columns = table["columnDefinitions"].as_array().unwrap();
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    columns
        .iter()
        .zip(cells)
        .map(|(column, cell)| (column["name"].as_str().unwrap().to_owned(), cell.clone()))
        .filter(|(name, _)| name != "Age")
        .unzip()
}

#[tokio::test]
async fn the_older_face_of_an_autoscaler_shows_all_metrics() {
    let world = world().await;
    let path = format!(
        "/apis/autoscaling/v1/namespaces/{}/horizontalpodautoscalers",
        world.namespace
    );
    let metrics = r#"[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}},{"type":"Pods","pods":{"metricName":"p","targetAverageValue":"10"}}]"#;
    let object = json!({
        "metadata": {"name": "a", "annotations": {"autoscaling.alpha.kubernetes.io/metrics": metrics}},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 5,
            "targetCPUUtilizationPercentage": 70},
    });
    let (_, cells) = row(&world, &path, &object).await;
    assert_eq!(cells[2], "memory: <unknown>/1Gi, <unknown>/10 + 1 more...");
}

#[tokio::test]
async fn levels_say_how_they_queue() {
    let world = world().await;
    let object = json!({"metadata": {"name": world.namespace}, "spec": {"type": "Limited", "limited": {
        "nominalConcurrencyShares": 5,
        "limitResponse": {"type": "Queue", "queuing": {"queues": 16, "handSize": 4, "queueLengthLimit": 50}}}}});
    let path = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";
    let (names, cells) = row(&world, path, &object).await;
    let shown = [
        "Name",
        "Type",
        "NominalConcurrencyShares",
        "Queues",
        "HandSize",
        "QueueLengthLimit",
    ];
    assert_eq!(names, shown);
    assert_eq!(cells[1..], [json!("Limited"), json!(5), json!(16), json!(4), json!(50)]);
}

#[tokio::test]
async fn a_pod_counts_its_sidecars_and_says_that_it_is_gated() {
    let world = world().await;
    let container = |name: &str| json!({"name": name, "image": "i"});
    let mut sidecar = container("s");
    sidecar["restartPolicy"] = json!("Always");
    let object = json!({"metadata": {"name": "a"}, "spec": {"automountServiceAccountToken": false,
        "schedulingGates": [{"name": "example.com/gate"}], "containers": [container("c")], "initContainers": [sidecar]}});
    let (_, cells) = row(&world, &format!("/api/v1/namespaces/{}/pods", world.namespace), &object).await;
    assert_eq!(cells[1..3], ["0/2", "SchedulingGated"].map(Value::from));
}

#[tokio::test]
async fn the_classes_that_every_cluster_has_are_there() {
    let world = world().await;
    let path = "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical";
    let table = send(&world, "GET", path, &Value::Null).await;
    assert_eq!(table["rows"][0]["cells"][1], 2_000_001_000);
}
