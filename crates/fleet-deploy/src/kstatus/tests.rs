//! One table: object → standing and message, by the documented rules of kstatus.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;

/// A minute after the objects here were made.
const NOW: i64 = 1_767_225_660;

fn check(object: &Value, standing: Standing, message: &str) {
    let found = compute(object, Timestamp::from_second(NOW).unwrap());
    assert_eq!(
        (found.standing, found.message.as_str()),
        (standing, message),
        "{object}"
    );
}

fn object(api_version: &str, kind: &str, spec: &Value, status: &Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "spec": spec, "status": status,
        "metadata": {"name": "x", "creationTimestamp": "2026-01-01T00:00:00Z"}})
}

fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

#[test]
fn every_kind_can_be_on_its_way_out() {
    for kind in ["ConfigMap", "Pod", "Thing"] {
        let mut object = object("v1", kind, &json!({}), &json!({"observedGeneration": 1}));
        object["metadata"]["generation"] = 2.into();
        object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        check(&object, Standing::Terminating, "Resource scheduled for deletion");
        object["metadata"]["deletionTimestamp"] = "".into();
        let late = format!("{kind} generation is 2, but latest observed generation is 1");
        check(&object, Standing::InProgress, &late);
    }
}

#[test]
fn a_generation_counts_only_where_both_are_said() {
    let thing = |generation: Value, observed: Value| {
        let mut object = object("a.b/v1", "Thing", &json!({}), &json!({}));
        object["metadata"]["generation"] = generation;
        object["status"]["observedGeneration"] = observed;
        object
    };
    let newer = "Thing generation is 1, but latest observed generation is 2";
    check(&thing(1.into(), 2.into()), Standing::InProgress, newer);
    check(&thing(1.into(), 1.into()), Standing::Current, "Resource is current");
    check(
        &thing("1".into(), 1.into()),
        Standing::Unknown,
        "/metadata/generation is no integer",
    );
    check(
        &thing(1.into(), 1.5.into()),
        Standing::Unknown,
        "/status/observedGeneration is no integer",
    );
    let without = object("a.b/v1", "Thing", &json!({}), &json!({"observedGeneration": 3}));
    check(&without, Standing::Current, "Resource is current");
}

#[test]
fn standard_conditions_speak_for_any_kind_first_come_first() {
    let reconciling = condition("Reconciling", "True", "", "doing it");
    let stalled = condition("Stalled", "True", "", "cannot");
    let ready = condition("Ready", "True", "", "");
    for (conditions, standing, message) in [
        (json!([reconciling, stalled]), Standing::InProgress, "doing it"),
        (json!([stalled, reconciling]), Standing::Failed, "cannot"),
        (json!([ready, stalled]), Standing::Failed, "cannot"),
        (
            json!([condition("Stalled", "False", "", "m"), ready]),
            Standing::Current,
            "Resource is Ready",
        ),
    ] {
        let thing = object("a.b/v1", "Thing", &json!({}), &json!({"conditions": conditions}));
        check(&thing, standing, message);
    }
    let claim = json!({"phase": "Bound", "conditions": [stalled]});
    check(
        &object("v1", "PersistentVolumeClaim", &json!({}), &claim),
        Standing::Failed,
        "cannot",
    );
}

#[test]
fn any_kind_may_say_ready() {
    for (status, standing, message) in [
        ("True", Standing::Current, "Resource is Ready"),
        ("False", Standing::InProgress, "m"),
        ("Unknown", Standing::InProgress, "m"),
        ("Maybe", Standing::Current, "Resource is current"),
    ] {
        let status = json!({"conditions": [condition("Other", "False", "", ""), condition("Ready", status, "", "m")]});
        check(&object("a.b/v1", "Thing", &json!({}), &status), standing, message);
    }
    check(&json!({"kind": "Thing"}), Standing::Current, "Resource is current");
}

#[test]
fn a_status_that_cannot_be_read_is_neither_good_nor_bad() {
    for (status, message) in [
        (json!({"conditions": "yes"}), "status.conditions is no list"),
        (json!({"conditions": [1]}), "a condition is no object"),
        (
            json!({"conditions": [{"type": "Ready", "status": true}]}),
            "status of a condition is no text",
        ),
        (json!("fine"), "status.conditions is no list"),
    ] {
        check(
            &object("a.b/v1", "Thing", &json!({}), &status),
            Standing::Unknown,
            message,
        );
    }
    for status in [json!(null), json!({"conditions": null}), json!({"conditions": []})] {
        check(
            &object("a.b/v1", "Thing", &json!({}), &status),
            Standing::Current,
            "Resource is current",
        );
    }
}

#[test]
fn kinds_without_a_life_of_their_own_are_ready() {
    for (api_version, kind, message) in [
        ("v1", "Secret", "Resource is always ready"),
        ("v1", "ConfigMap", "Resource is always ready"),
        ("batch/v1", "CronJob", "Resource is always ready"),
        (
            "policy/v1",
            "PodDisruptionBudget",
            "AllowedDisruptions has been computed.",
        ),
        ("v1", "ServiceAccount", "Resource is current"),
        ("v1", "Namespace", "Resource is current"),
        ("networking.k8s.io/v1", "Ingress", "Resource is current"),
        ("autoscaling/v2", "HorizontalPodAutoscaler", "Resource is current"),
        ("apiregistration.k8s.io/v1", "APIService", "Resource is current"),
        // Another group's kind of the same name has no rules of its own.
        ("a.b/v1", "Deployment", "Resource is current"),
    ] {
        check(
            &object(api_version, kind, &json!({}), &json!({})),
            Standing::Current,
            message,
        );
    }
}

#[test]
fn services_and_claims() {
    let service = |spec: Value| object("v1", "Service", &spec, &json!({}));
    let waiting = "ClusterIP not set. Service type: LoadBalancer";
    check(&service(json!({"type": "LoadBalancer"})), Standing::InProgress, waiting);
    for spec in [
        json!({}),
        json!({"type": "LoadBalancer", "clusterIP": "10.0.0.1"}),
        json!({"type": "ExternalName"}),
    ] {
        check(&service(spec), Standing::Current, "Service is ready");
    }
    for (status, standing, message) in [
        (json!({}), Standing::InProgress, "PVC is not Bound. phase: unknown"),
        (
            json!({"phase": "Pending"}),
            Standing::InProgress,
            "PVC is not Bound. phase: Pending",
        ),
        (
            json!({"phase": "Lost"}),
            Standing::InProgress,
            "PVC is not Bound. phase: Lost",
        ),
        (json!({"phase": "Bound"}), Standing::Current, "PVC is Bound"),
    ] {
        check(
            &object("v1", "PersistentVolumeClaim", &json!({}), &status),
            standing,
            message,
        );
    }
}

#[test]
fn definitions_are_accepted_then_established() {
    let accepted = condition("NamesAccepted", "True", "", "");
    for (conditions, standing, message) in [
        (json!([]), Standing::InProgress, "Install in progress"),
        (json!([accepted]), Standing::InProgress, "Install in progress"),
        (
            json!([condition("NamesAccepted", "False", "", "taken")]),
            Standing::Failed,
            "taken",
        ),
        (
            json!([accepted, condition("Established", "False", "Installing", "soon")]),
            Standing::InProgress,
            "Install in progress",
        ),
        (
            json!([accepted, condition("Established", "False", "NotAccepted", "no")]),
            Standing::Failed,
            "no",
        ),
        (
            json!([accepted, condition("Established", "True", "", "")]),
            Standing::Current,
            "CRD is established",
        ),
    ] {
        let status = json!({"conditions": conditions});
        check(
            &object(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                &json!({}),
                &status,
            ),
            standing,
            message,
        );
    }
}

#[test]
fn pods_in_all_phases() {
    let waiting = |name: &str, reason: &str| json!({"name": name, "state": {"waiting": {"reason": reason}}});
    let unschedulable = condition("PodScheduled", "False", "Unschedulable", "0/1 nodes");
    let ready = |status: &str| json!([condition("Ready", status, "", "")]);
    for (status, standing, message) in [
        (json!({}), Standing::InProgress, "Pod phase not available"),
        (
            json!({"phase": "Pending"}),
            Standing::InProgress,
            "Pod is in the Pending phase",
        ),
        // Init containers run while the pod is pending.
        (
            json!({"phase": "Pending", "initContainerStatuses": [waiting("i", "CrashLoopBackOff")]}),
            Standing::InProgress,
            "Pod is in the Pending phase",
        ),
        (
            json!({"phase": "Pending", "conditions": [condition("PodScheduled", "False", "SchedulingGated", "")]}),
            Standing::InProgress,
            "Pod is in the Pending phase",
        ),
        (
            json!({"phase": "Pending", "conditions": [unschedulable]}),
            Standing::Failed,
            "Pod could not be scheduled",
        ),
        (
            json!({"phase": "Running", "conditions": ready("True")}),
            Standing::Current,
            "Pod is Ready",
        ),
        (
            json!({"phase": "Running", "conditions": ready("False")}),
            Standing::InProgress,
            "Pod is running but is not Ready",
        ),
        (
            json!({"phase": "Running", "containerStatuses": [waiting("a", "ImagePullBackOff")]}),
            Standing::InProgress,
            "Pod is running but is not Ready",
        ),
        (
            json!({"phase": "Running", "containerStatuses": [waiting("a", "CrashLoopBackOff"), waiting("b", "x"), waiting("c", "CrashLoopBackOff")]}),
            Standing::Failed,
            "Containers in CrashLoop state: a,c",
        ),
        (
            json!({"phase": "Succeeded"}),
            Standing::Current,
            "Pod has completed successfully",
        ),
        (
            json!({"phase": "Failed"}),
            Standing::Current,
            "Pod has completed, but not successfully",
        ),
        (json!({"phase": "Unknown"}), Standing::Unknown, "unknown phase Unknown"),
    ] {
        check(&object("v1", "Pod", &json!({}), &status), standing, message);
    }
    let mut young = object(
        "v1",
        "Pod",
        &json!({}),
        &json!({"phase": "Pending", "conditions": [unschedulable]}),
    );
    young["metadata"]["creationTimestamp"] = "2026-01-01T00:00:50Z".into();
    check(&young, Standing::InProgress, "Pod has not been scheduled");
    young["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:40Z".into();
    check(&young, Standing::Failed, "Pod could not be scheduled");
}

#[test]
fn deployments_roll_out() {
    let progressing = |status: &str, reason: &str| condition("Progressing", status, reason, "");
    let done = progressing("True", "NewReplicaSetAvailable");
    let available = condition("Available", "True", "", "");
    let full = |conditions: Value| json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2, "conditions": conditions});
    let spec = json!({"replicas": 2, "progressDeadlineSeconds": 600});
    for (spec, status, standing, message) in [
        (&spec, json!({}), Standing::InProgress, "Replicas: 0/2"),
        (
            &spec,
            json!({"replicas": 2, "updatedReplicas": 1}),
            Standing::InProgress,
            "Updated: 1/2",
        ),
        (
            &spec,
            json!({"replicas": 3, "updatedReplicas": 2}),
            Standing::InProgress,
            "Pending termination: 1",
        ),
        (
            &spec,
            json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 1}),
            Standing::InProgress,
            "Available: 1/2",
        ),
        (
            &spec,
            json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 1}),
            Standing::InProgress,
            "Ready: 1/2",
        ),
        (
            &spec,
            full(json!([available])),
            Standing::InProgress,
            "ReplicaSet not Available",
        ),
        // A paused deployment does not progress.
        (
            &spec,
            full(json!([available, progressing("Unknown", "DeploymentPaused")])),
            Standing::InProgress,
            "ReplicaSet not Available",
        ),
        (
            &spec,
            full(json!([done])),
            Standing::InProgress,
            "Deployment not Available",
        ),
        (
            &spec,
            full(json!([done, available])),
            Standing::Current,
            "Deployment is available. Replicas: 2",
        ),
        (
            &spec,
            full(json!([progressing("False", "ProgressDeadlineExceeded"), available])),
            Standing::Failed,
            "Progress deadline exceeded",
        ),
        // Without a deadline nothing tells of progress.
        (
            &json!({"replicas": 2}),
            full(json!([available])),
            Standing::Current,
            "Deployment is available. Replicas: 2",
        ),
        (
            &json!({"replicas": 2, "progressDeadlineSeconds": 2_147_483_647}),
            full(json!([available])),
            Standing::Current,
            "Deployment is available. Replicas: 2",
        ),
        (
            &json!({"replicas": 0}),
            json!({"conditions": [available]}),
            Standing::Current,
            "Deployment is available. Replicas: 0",
        ),
        (&json!({}), json!({}), Standing::InProgress, "Replicas: 0/1"),
    ] {
        for version in ["apps/v1", "extensions/v1beta1"] {
            check(&object(version, "Deployment", spec, &status), standing, message);
        }
    }
}

#[test]
fn replica_sets_count_labels_too() {
    let spec = json!({"replicas": 2});
    for (status, standing, message) in [
        (json!({}), Standing::InProgress, "Labelled: 0/2"),
        (
            json!({"fullyLabeledReplicas": 2}),
            Standing::InProgress,
            "Available: 0/2",
        ),
        (
            json!({"fullyLabeledReplicas": 2, "availableReplicas": 2, "readyReplicas": 1}),
            Standing::InProgress,
            "Ready: 1/2",
        ),
        (
            json!({"fullyLabeledReplicas": 2, "availableReplicas": 2, "readyReplicas": 2, "replicas": 4}),
            Standing::InProgress,
            "Pending termination: 2",
        ),
        (
            json!({"fullyLabeledReplicas": 2, "availableReplicas": 2, "readyReplicas": 2, "replicas": 2}),
            Standing::Current,
            "ReplicaSet is available. Replicas: 2",
        ),
        (
            json!({"conditions": [condition("ReplicaFailure", "True", "", "quota")]}),
            Standing::InProgress,
            "Replica Failure condition. Check Pods",
        ),
    ] {
        check(&object("apps/v1", "ReplicaSet", &spec, &status), standing, message);
    }
}

#[test]
fn stateful_sets_go_revision_by_revision() {
    let plain = json!({"replicas": 3});
    let parted = json!({"replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}});
    let counts = |more: Value| {
        let mut status = json!({"replicas": 3, "readyReplicas": 3});
        for (key, value) in more.as_object().unwrap() {
            status[key] = value.clone();
        }
        status
    };
    for (spec, status, standing, message) in [
        (&plain, json!({}), Standing::InProgress, "Replicas: 0/3"),
        (
            &plain,
            json!({"replicas": 3, "readyReplicas": 2}),
            Standing::InProgress,
            "Ready: 2/3",
        ),
        (
            &plain,
            counts(json!({"replicas": 5})),
            Standing::InProgress,
            "Pending termination: 2",
        ),
        (
            &plain,
            counts(json!({"currentReplicas": 2})),
            Standing::InProgress,
            "current: 2/3",
        ),
        (
            &plain,
            counts(json!({"currentReplicas": 3, "currentRevision": "a", "updateRevision": "b"})),
            Standing::InProgress,
            "Waiting for updated revision to match current",
        ),
        (
            &plain,
            counts(json!({"currentReplicas": 3, "currentRevision": "b", "updateRevision": "b"})),
            Standing::Current,
            "All replicas scheduled as expected. Replicas: 3",
        ),
        (
            &parted,
            counts(json!({"updatedReplicas": 1})),
            Standing::InProgress,
            "updated: 1/2",
        ),
        (
            &parted,
            counts(json!({"updatedReplicas": 2, "currentRevision": "a", "updateRevision": "b"})),
            Standing::Current,
            "Partition rollout complete. updated: 2",
        ),
        (
            &json!({"replicas": 3, "updateStrategy": {"type": "OnDelete"}}),
            json!({}),
            Standing::Current,
            "StatefulSet is using the ondelete update strategy",
        ),
    ] {
        check(&object("apps/v1", "StatefulSet", spec, &status), standing, message);
    }
}

#[test]
fn daemon_sets_must_have_been_looked_at() {
    let mut set = object("apps/v1", "DaemonSet", &json!({}), &json!({}));
    check(&set, Standing::InProgress, "DaemonSet metadata.generation not found");
    set["metadata"]["generation"] = 1.into();
    check(
        &set,
        Standing::InProgress,
        "DaemonSet status.observedGeneration not found",
    );
    set["status"] = json!({"observedGeneration": 1});
    check(&set, Standing::InProgress, "Missing .status.desiredNumberScheduled");
    set["status"]["desiredNumberScheduled"] = 2.into();
    for (field, label) in [
        ("currentNumberScheduled", "Current"),
        ("updatedNumberScheduled", "Updated"),
        ("numberAvailable", "Available"),
        ("numberReady", "Ready"),
    ] {
        set["status"][field] = 1.into();
        check(&set, Standing::InProgress, &format!("{label}: 1/2"));
        set["status"][field] = 2.into();
    }
    check(
        &set,
        Standing::Current,
        "All replicas scheduled as expected. Replicas: 2",
    );
    set["status"] = json!({"observedGeneration": 1, "desiredNumberScheduled": 0});
    check(
        &set,
        Standing::Current,
        "All replicas scheduled as expected. Replicas: 0",
    );
}

#[test]
fn jobs_start_run_and_end() {
    let ended = |kind: &str| {
        json!([
            condition("SuccessCriteriaMet", "True", "", ""),
            condition(kind, "True", "", "")
        ])
    };
    for (spec, status, standing, message) in [
        (json!({}), json!({}), Standing::InProgress, "Job not started"),
        (
            json!({"suspend": true}),
            json!({"conditions": [condition("Suspended", "True", "", "")]}),
            Standing::InProgress,
            "Job not started",
        ),
        (
            json!({}),
            json!({"startTime": "2026-01-01T00:00:00Z", "active": 1}),
            Standing::Current,
            "Job in progress. success:0, active: 1, failed: 0",
        ),
        (
            json!({"completions": 3}),
            json!({"succeeded": 3, "conditions": ended("Complete")}),
            Standing::Current,
            "Job Completed. succeeded: 3/3",
        ),
        (
            json!({"parallelism": 2}),
            json!({"failed": 1, "conditions": ended("Failed")}),
            Standing::Failed,
            "Job Failed. failed: 1/2",
        ),
        (
            json!({}),
            json!({"startTime": "2026-01-01T00:00:00Z", "conditions": [condition("Failed", "False", "", "")]}),
            Standing::Current,
            "Job in progress. success:0, active: 0, failed: 0",
        ),
    ] {
        check(&object("batch/v1", "Job", &spec, &status), standing, message);
    }
    assert!(job_complete(&object(
        "batch/v1",
        "Job",
        &json!({}),
        &json!({"conditions": ended("Complete")})
    )));
    assert!(!job_complete(&object("batch/v1", "Job", &json!({}), &json!({}))));
}
