//! One table: object → summary as text, by the rules of the summarisers.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;

fn summary(object: &Value) -> ResourceSummary {
    summarize(
        object,
        &ErrorConditions::default(),
        Timestamp::from_second(1_767_225_660).unwrap(),
    )
}

fn check(object: &Value, state: &str, text: &str) {
    let found = summary(object);
    assert_eq!(
        (found.state.as_str(), text_of(&found).as_str()),
        (state, text),
        "{object}"
    );
}

fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

fn of(api_version: &str, kind: &str, conditions: &Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "status": {"conditions": conditions}})
}

fn thing(conditions: &Value) -> Value {
    of("case.test/v1", "Thing", conditions)
}

#[test]
fn each_known_condition_has_its_state() {
    for (kind, state) in [
        ("Active", "activating"),
        ("AgentDeployed", "provisioning"),
        ("ConfigOK", "configuring"),
        ("Built", "building"),
        ("Deployed", "deploying"),
        ("etcd", "provisioning"),
        ("Inactive", "deactivating"),
        ("Pending", "pending"),
        ("Processed", "processed"),
        ("RunCompleted", "running"),
        ("ScalingActive", "pending"),
        ("Upgraded", "upgrading"),
        ("Waiting", "waiting"),
    ] {
        check(
            &thing(&json!([condition(kind, "False", "", "m")])),
            state,
            "error] m, Resource is current",
        );
        check(
            &thing(&json!([condition(kind, "Unknown", "", "m")])),
            state,
            "[progressing] m, Resource is current",
        );
        check(&thing(&json!([condition(kind, "True", "", "m")])), "active", "active");
    }
}

#[test]
fn steps_on_the_way_take_their_state_from_the_kind_or_the_reason() {
    for (kind, state) in [
        ("Completed", "activating"),
        ("Available", "updating"),
        ("BootstrapReady", "why"),
        ("InfrastructureReady", "why"),
        ("NodeHealthy", "why"),
    ] {
        check(
            &thing(&json!([condition(kind, "False", "Why", "m")])),
            state,
            "[progressing] m, Resource is current",
        );
        check(
            &thing(&json!([condition(kind, "Unknown", "Why", "m")])),
            state,
            "error] m, Resource is current",
        );
    }
}

#[test]
fn readiness_speaks_when_nothing_else_did() {
    let unready = condition("Ready", "False", "", "not yet");
    check(&thing(&json!([unready])), "unavailable", "[progressing] not yet");
    check(
        &thing(&json!([unready, condition("Available", "False", "", "soon")])),
        "updating",
        "[progressing] soon, not yet",
    );
    check(
        &thing(&json!([condition("Ready", "Unknown", "", "lost contact")])),
        "unavailable",
        "[progressing,error] lost contact",
    );
    check(
        &thing(&json!([condition("Reconciling", "True", "", "doing"), unready])),
        "reconciling",
        "[progressing] doing",
    );
}

#[test]
fn some_conditions_are_errors_and_a_reason_may_say_so() {
    let broke = condition("Synced", "False", "Error", "sync broke");
    check(
        &thing(&json!([broke])),
        "error",
        "error] sync broke, Resource is current",
    );
    check(
        &thing(&json!([condition("Failed", "True", "", "it did")])),
        "error",
        "error] it did, Resource is current",
    );
    check(
        &thing(&json!([condition("Failed", "False", "", "")])),
        "active",
        "active",
    );
    check(
        &thing(&json!([condition("Stalled", "True", "", "stuck")])),
        "error",
        "error] stuck",
    );
    // Kinds with a map of their own do not use the common one.
    let deployment = |found: Value| summary(&of("apps/v1", "Deployment", &json!([found]))).error;
    assert!(deployment(condition("ReplicaFailure", "True", "", "quota")));
    assert!(deployment(condition("Progressing", "False", "", "late")));
    assert!(!deployment(condition("Failed", "True", "", "")));
    assert!(deployment(condition("Failed", "False", "Error", "")));
    let chart = |found: Value| summary(&of("helm.cattle.io/v1", "HelmChart", &json!([found]))).error;
    assert!(chart(condition("Failed", "True", "", "")));
    assert!(!chart(condition("JobCreated", "True", "Job", "")));
    for pressure in ["OutOfDisk", "MemoryPressure", "DiskPressure", "NetworkUnavailable"] {
        assert!(summary(&of("v1", "Node", &json!([condition(pressure, "True", "", "")]))).error);
    }
}

#[test]
fn an_object_may_say_itself_how_it_is_shown() {
    let shown = |status: Value| json!({"apiVersion": "case.test/v1", "kind": "Thing", "status": status});
    check(
        &shown(json!({"display": {"state": "Cooking", "transitioning": true, "message": "almost"}})),
        "cooking",
        "[progressing] almost, Resource is current",
    );
    check(
        &shown(json!({"summary": {"state": "burnt", "error": "true", "message": ["a", "b"]}})),
        "burnt",
        "error] a, b, Resource is current",
    );
    check(
        &shown(json!({"display": {}, "summary": {"state": "done"}})),
        "done",
        "done",
    );
}

#[test]
fn phases_and_switches() {
    let phase = |phase: &str, conditions: Value| json!({"apiVersion": "case.test/v1", "kind": "Thing", "status": {"phase": phase, "conditions": conditions}});
    check(&phase("Growing", json!([])), "growing", "growing");
    check(
        &phase("Growing", json!([condition("Created", "Unknown", "", "m")])),
        "creating",
        "[progressing] m, Resource is current",
    );
    check(
        &phase("Succeeded", json!([condition("Created", "Unknown", "", "m")])),
        "succeeded",
        "succeeded",
    );
    check(&phase("Bound", json!([])), "bound", "bound");
    for (active, state) in [
        (json!(true), "active"),
        (json!("true"), "active"),
        (json!(false), "inactive"),
        (json!("false"), "inactive"),
        (json!(1), "active"),
    ] {
        check(
            &json!({"apiVersion": "case.test/v1", "kind": "Thing", "spec": {"active": active}}),
            state,
            state,
        );
    }
}

#[test]
fn objects_on_their_way_in_and_out() {
    let mut young = json!({"apiVersion": "x.cattle.io/v1", "kind": "Thing", "metadata": {"created": "2026-01-01T00:00:58Z"}, "status": {"conditions": []}});
    check(&young, "initializing", "[progressing] Resource is current");
    young["metadata"]["created"] = "2026-01-01T00:00:50Z".into();
    check(&young, "active", "active");
    let mut going = json!({"apiVersion": "x.cattle.io/v1", "kind": "Thing", "metadata": {"removed": "2026-01-01T00:00:00Z"},
        "status": {"conditions": [condition("Removed", "Unknown", "", "emptying")]}});
    let current = "Resource is current";
    check(&going, "removing", &format!("[progressing] emptying, {current}"));
    for (finalizer, what) in [
        ("controller.cattle.io/volume-cleanup", "volume-cleanup"),
        ("foregroundDeletion", "object cleanup"),
        ("other", "other"),
    ] {
        going["metadata"]["finalizers"] = json!([finalizer]);
        check(
            &going,
            "removing",
            &format!("[progressing] emptying, waiting on {what}, {current}"),
        );
    }
    going["metadata"]["removed"] = "2025-12-31T23:00:00Z".into();
    assert!(summary(&going).error, "it takes too long");
    check(
        &json!({"kind": "Thing", "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
        "removing",
        "[progressing] Resource scheduled for deletion",
    );
}

#[test]
fn a_service_waits_for_its_load_balancer() {
    let mut service =
        json!({"apiVersion": "v1", "kind": "Service", "spec": {"type": "LoadBalancer", "clusterIP": "10.0.0.1"}});
    check(
        &service,
        "pending",
        "[progressing] Service is ready, Load balancer is being provisioned",
    );
    service["status"] = json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}});
    check(&service, "active", "active");
    check(
        &json!({"apiVersion": "v1", "kind": "Service", "spec": {"type": "NodePort"}}),
        "active",
        "active",
    );
}

#[test]
fn an_autoscaler_tells_of_its_metrics() {
    let scaler = |conditions: Value| of("autoscaling/v2", "HorizontalPodAutoscaler", &conditions);
    check(
        &scaler(json!([
            condition("AbleToScale", "True", "", ""),
            condition("ScalingActive", "False", "FailedGetResourceMetric", "no metrics")
        ])),
        "pending",
        "error] no metrics, Resource is current",
    );
    check(
        &scaler(json!([condition("ScalingLimited", "True", "TooManyReplicas", "")])),
        "active",
        "active",
    );
}

#[test]
fn an_api_service_waits_for_its_backend() {
    check(
        &of(
            "apiregistration.k8s.io/v1",
            "APIService",
            &json!([condition("Available", "False", "MissingEndpoints", "no endpoints")]),
        ),
        "updating",
        "[progressing] no endpoints, Resource is current",
    );
}

#[test]
fn what_a_pod_shows_comes_from_its_phase_and_kstatus() {
    let pod = |status: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}, "status": status});
    check(
        &pod(
            json!({"phase": "Pending", "conditions": [condition("PodScheduled", "False", "Unschedulable", "0/1 nodes")]}),
        ),
        "scheduling",
        "error] 0/1 nodes, Pod could not be scheduled",
    );
    check(
        &pod(
            json!({"phase": "Running", "conditions": [condition("Initialized", "False", "", "init runs"), condition("Ready", "False", "", "")]}),
        ),
        "initializing",
        "[progressing,error] init runs, Pod is running but is not Ready",
    );
    check(&pod(json!({"phase": "Failed"})), "failed", "failed");
    check(&pod(json!({"phase": "Unknown"})), "unknown", "unknown");
}

#[test]
fn conditions_may_stand_in_an_annotation() {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"annotations": {
        "cattle.io/status": "{\"conditions\":[{\"type\":\"Created\",\"status\":\"Unknown\",\"message\":\"making it\"}]}"}}});
    check(&object, "creating", "[progressing] making it, Resource is always ready");
}

#[test]
fn a_status_that_cannot_be_read_says_nothing() {
    check(
        &json!({"apiVersion": "case.test/v1", "kind": "Thing", "status": {"conditions": "none"}}),
        "active",
        "active",
    );
}

#[test]
fn messages_are_said_once() {
    check(
        &thing(&json!([
            condition("Created", "False", "", " same "),
            condition("Saved", "False", "", "same"),
            condition("Ready", "False", "", "a; b; a")
        ])),
        "saving",
        "[progressing,error] same, a; b",
    );
}

#[test]
fn the_map_of_error_conditions_can_be_extended() {
    let says = |object: &Value, errors: &ErrorConditions| text_of(&summarize(object, errors, Timestamp::UNIX_EPOCH));
    let object = thing(&json!([condition("Broken", "True", "", "it is")]));
    let more = ErrorConditions::with(
        r#"[{"gvk":"case.test/v1, Kind=Thing","conditionMappings":[{"type":"Broken","status":["True"]}]},
            {"gvk":"apps/v1, Kind=Deployment","conditionMappings":[{"type":"Progressing","status":[]}]}]"#,
    );
    assert_eq!(says(&object, &more), "error] it is, Resource is current");
    let late = of(
        "apps/v1",
        "Deployment",
        &json!([condition("Progressing", "False", "", "late")]),
    );
    assert!(!summarize(&late, &more, Timestamp::UNIX_EPOCH).error);
    assert_eq!(ErrorConditions::with("{"), ErrorConditions::default());
}
