//! What clients see of simulated workloads.

#![expect(
    clippy::needless_pass_by_value,
    reason = "literal objects read better without a reference"
)]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Detail, FAIL, Simulator, Workloads};
use crate::controllers::api::OBJECT;
use crate::controllers::world::World;
use crate::options::{Options, SystemClock};

struct Cluster {
    world: World,
    _stop: DropGuard,
}

impl Cluster {
    async fn new(detail: Detail, delay: Duration) -> Self {
        let world = World::new().await;
        let stop = CancellationToken::new();
        let simulator = Simulator::new(world.api.clone(), Workloads { delay, detail }, Arc::new(SystemClock));
        tokio::spawn(simulator.run(stop.clone()));
        Self {
            world,
            _stop: stop.drop_guard(),
        }
    }
}

impl std::ops::Deref for Cluster {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/n/deployments";
const SETS: &str = "/apis/apps/v1/namespaces/n/statefulsets";
const DAEMONS: &str = "/apis/apps/v1/namespaces/n/daemonsets";
const JOBS: &str = "/apis/batch/v1/namespaces/n/jobs";
const PODS: &str = "/api/v1/namespaces/n/pods";
const CLAIMS: &str = "/api/v1/namespaces/n/persistentvolumeclaims";
const SERVICES: &str = "/api/v1/namespaces/n/services";

fn workload(version: &str, kind: &str, extra: Value) -> Value {
    let mut object = json!({
        "apiVersion": version, "kind": kind, "metadata": {"name": "w"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}},
        },
    });
    for (field, value) in extra.as_object().unwrap() {
        object["spec"][field] = value.clone();
    }
    object
}

fn claim() -> Value {
    json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})
}

/// Whether the object's status has these values at these pointers.
fn has(wanted: &'static [(&'static str, &'static str)]) -> impl Fn(Option<&Value>) -> bool {
    move |object| {
        wanted.iter().all(|(pointer, value)| {
            let found = object.and_then(|object| object.pointer(&format!("/status{pointer}")));
            found.map(Value::to_string).unwrap_or_default() == *value
        })
    }
}

fn says(kind: &'static str, status: &'static str) -> impl Fn(Option<&Value>) -> bool {
    move |object| {
        let conditions = object
            .and_then(|object| object.pointer("/status/conditions"))
            .and_then(Value::as_array);
        conditions.is_some_and(|all| all.iter().any(|one| one["type"] == kind && one["status"] == status))
    }
}

#[tokio::test]
async fn workloads_become_ready_in_their_status() {
    let cluster = Cluster::new(Detail::Status, Duration::ZERO).await;
    cluster
        .create(DEPLOYMENTS, workload("apps/v1", "Deployment", json!({"replicas": 3})))
        .await;
    cluster
        .create(SETS, workload("apps/v1", "StatefulSet", json!({"serviceName": "s"})))
        .await;
    cluster
        .create(DAEMONS, workload("apps/v1", "DaemonSet", json!({})))
        .await;
    cluster
        .until(
            DEPLOYMENTS,
            "w",
            has(&[
                ("/observedGeneration", "1"),
                ("/readyReplicas", "3"),
                ("/updatedReplicas", "3"),
                ("/unavailableReplicas", ""),
            ]),
        )
        .await;
    cluster.until(DEPLOYMENTS, "w", says("Available", "True")).await;
    cluster
        .until(SETS, "w", has(&[("/readyReplicas", "1"), ("/currentReplicas", "1")]))
        .await;
    cluster
        .until(
            DAEMONS,
            "w",
            has(&[("/numberReady", "1"), ("/desiredNumberScheduled", "1")]),
        )
        .await;
    cluster
        .api
        .merge(&format!("{DEPLOYMENTS}/w"), &json!({"spec": {"replicas": 0}}))
        .await
        .unwrap();
    cluster
        .until(
            DEPLOYMENTS,
            "w",
            has(&[("/observedGeneration", "2"), ("/readyReplicas", "")]),
        )
        .await;
    cluster.until(DEPLOYMENTS, "w", says("Available", "True")).await;
}

#[tokio::test]
async fn a_workload_fails_while_it_is_told_to() {
    let cluster = Cluster::new(Detail::Status, Duration::ZERO).await;
    let mut broken = workload("apps/v1", "Deployment", json!({}));
    broken["metadata"]["annotations"] = json!({FAIL: ""});
    cluster.create(DEPLOYMENTS, broken).await;
    cluster.until(DEPLOYMENTS, "w", says("Available", "False")).await;
    cluster
        .until(
            DEPLOYMENTS,
            "w",
            has(&[("/unavailableReplicas", "1"), ("/readyReplicas", "")]),
        )
        .await;
    cluster
        .api
        .merge(&format!("{DEPLOYMENTS}/w"), &json!({"metadata": {"annotations": null}}))
        .await
        .unwrap();
    cluster.until(DEPLOYMENTS, "w", says("Available", "True")).await;
}

#[tokio::test]
async fn a_workload_is_unready_until_the_delay_is_over() {
    let cluster = Cluster::new(Detail::Status, Duration::from_millis(50)).await;
    let start = std::time::Instant::now();
    cluster
        .create(DEPLOYMENTS, workload("apps/v1", "Deployment", json!({})))
        .await;
    cluster.until(DEPLOYMENTS, "w", says("Available", "False")).await;
    cluster.until(DEPLOYMENTS, "w", says("Available", "True")).await;
    assert!(start.elapsed() >= Duration::from_millis(50));
}

#[tokio::test]
async fn jobs_end_claims_are_bound_and_balancers_get_addresses() {
    let cluster = Cluster::new(Detail::Status, Duration::ZERO).await;
    let job = |name: &str, annotations: Value| {
        json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "annotations": annotations},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}},
        })
    };
    cluster.create(JOBS, job("good", json!({}))).await;
    cluster.create(JOBS, job("bad", json!({FAIL: "true"}))).await;
    cluster
        .create(
            CLAIMS,
            json!({"kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": claim()}),
        )
        .await;
    let service = json!({"kind": "Service", "metadata": {"name": "s"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}});
    cluster.create(SERVICES, service).await;
    cluster.until(JOBS, "good", says("Complete", "True")).await;
    cluster.until(JOBS, "good", has(&[("/succeeded", "1")])).await;
    cluster.until(JOBS, "bad", says("Failed", "True")).await;
    cluster
        .until(
            CLAIMS,
            "c",
            has(&[("/phase", "\"Bound\""), ("/capacity/storage", "\"1Gi\"")]),
        )
        .await;
    let addressed = |object: Option<&Value>| {
        object.is_some_and(|object| object.pointer("/status/loadBalancer/ingress/0/ip").is_some())
    };
    cluster.until(SERVICES, "s", addressed).await;
}

#[tokio::test]
async fn with_pods_a_deployment_has_replica_sets_and_rolls_over() {
    let cluster = Cluster::new(Detail::Pods, Duration::ZERO).await;
    cluster
        .create(DEPLOYMENTS, workload("apps/v1", "Deployment", json!({"replicas": 2})))
        .await;
    cluster
        .until(
            DEPLOYMENTS,
            "w",
            has(&[("/readyReplicas", "2"), ("/observedGeneration", "1")]),
        )
        .await;
    let pods = cluster.api.get(PODS, OBJECT).await.unwrap();
    let pods = pods["items"].as_array().unwrap();
    assert_eq!(pods.len(), 2);
    assert!(pods.iter().all(|pod| pod["status"]["phase"] == "Running"), "{pods:?}");

    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}}});
    cluster.api.merge(&format!("{DEPLOYMENTS}/w"), &image).await.unwrap();
    let settled = has(&[
        ("/observedGeneration", "2"),
        ("/replicas", "2"),
        ("/updatedReplicas", "2"),
        ("/readyReplicas", "2"),
    ]);
    cluster.until(DEPLOYMENTS, "w", settled).await;
    let pods = cluster.api.get(PODS, OBJECT).await.unwrap();
    let images: Vec<&Value> = pods["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pod| &pod["spec"]["containers"][0]["image"])
        .collect();
    assert_eq!(images, ["i:2", "i:2"]);
}

#[tokio::test]
async fn with_pods_a_stateful_set_has_ordinals_and_claims() {
    let cluster = Cluster::new(Detail::Pods, Duration::ZERO).await;
    let mut set = workload("apps/v1", "StatefulSet", json!({"serviceName": "s", "replicas": 2}));
    set["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": claim()}]);
    cluster.create(SETS, set).await;
    cluster
        .until(SETS, "w", has(&[("/readyReplicas", "2"), ("/updatedReplicas", "2")]))
        .await;
    for name in ["w-0", "w-1"] {
        cluster.until(PODS, name, says("Ready", "True")).await;
        cluster
            .until(CLAIMS, &format!("data-{name}"), has(&[("/phase", "\"Bound\"")]))
            .await;
    }
    cluster
        .api
        .merge(&format!("{SETS}/w"), &json!({"spec": {"replicas": 1}}))
        .await
        .unwrap();
    cluster.gone(PODS, "w-1").await;
    cluster
        .until(SETS, "w", has(&[("/replicas", "1"), ("/readyReplicas", "1")]))
        .await;
}

#[tokio::test]
async fn with_pods_the_reason_of_a_failure_shows_in_the_pod() {
    let cluster = Cluster::new(Detail::Pods, Duration::ZERO).await;
    let mut broken = workload("apps/v1", "DaemonSet", json!({}));
    broken["metadata"]["annotations"] = json!({FAIL: "ImagePullBackOff"});
    cluster.create(DAEMONS, broken).await;
    cluster
        .until(DAEMONS, "w", has(&[("/numberUnavailable", "1"), ("/numberReady", "0")]))
        .await;
    let pods = cluster.api.get(PODS, OBJECT).await.unwrap();
    let name = pods["items"][0]["metadata"]["name"].as_str().unwrap().to_owned();
    let waits = has(&[
        ("/containerStatuses/0/state/waiting/reason", "\"ImagePullBackOff\""),
        ("/phase", "\"Pending\""),
    ]);
    cluster.until(PODS, &name, waits).await;
    cluster
        .api
        .merge(&format!("{DAEMONS}/w"), &json!({"metadata": {"annotations": null}}))
        .await
        .unwrap();
    cluster.until(DAEMONS, "w", has(&[("/numberReady", "1")])).await;
}

#[tokio::test]
async fn a_deleted_deployment_takes_its_pods_along() {
    let workloads = Workloads {
        delay: Duration::ZERO,
        detail: Detail::Pods,
    };
    let world = World::with(Options {
        controllers: true,
        workloads: Some(workloads),
        ..Options::default()
    })
    .await;
    world
        .create(DEPLOYMENTS, workload("apps/v1", "Deployment", json!({"replicas": 2})))
        .await;
    world.until(DEPLOYMENTS, "w", has(&[("/readyReplicas", "2")])).await;
    let pods = world.api.get(PODS, OBJECT).await.unwrap();
    let names: Vec<&str> = pods["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|pod| pod["metadata"]["name"].as_str())
        .collect();
    assert_eq!(names.len(), 2);
    world.delete(&format!("{DEPLOYMENTS}/w"), "Foreground").await;
    for name in names {
        world.gone(PODS, name).await;
    }
    world.gone(DEPLOYMENTS, "w").await;
    world.delete("/api/v1/namespaces/n", "Background").await;
    world.gone("/api/v1/namespaces", "n").await;
}
