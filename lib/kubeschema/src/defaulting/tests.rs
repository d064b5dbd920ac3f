//! What defaulting makes of an object as a user writes it.

use serde_json::{Value, json};

use super::normalise;

#[expect(clippy::needless_pass_by_value, reason = "fixtures read better by value")]
fn spec(group: &str, version: &str, kind: &str, given: Value) -> Value {
    let mut object = json!({ "spec": given });
    normalise(group, version, kind, &mut object).unwrap();
    object["spec"].take()
}

fn pod_defaults(restart: &str) -> Value {
    json!({
        "containers": [{"name": "c", "image": "i", "imagePullPolicy": "Always", "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
        "dnsPolicy": "ClusterFirst", "restartPolicy": restart, "schedulerName": "default-scheduler",
        "securityContext": {}, "terminationGracePeriodSeconds": 30,
    })
}

#[test]
fn a_deployment_that_says_little_gets_the_rest() {
    let template = json!({"metadata": {"labels": {"x": "y"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let filled = spec(
        "apps",
        "v1",
        "Deployment",
        json!({"selector": {"matchLabels": {"x": "y"}}, "template": template}),
    );
    assert_eq!(
        filled,
        json!({
            "progressDeadlineSeconds": 600, "replicas": 1, "revisionHistoryLimit": 10,
            "selector": {"matchLabels": {"x": "y"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {"metadata": {"labels": {"x": "y"}}, "spec": pod_defaults("Always")},
        })
    );
    let kept = spec(
        "apps",
        "v1",
        "Deployment",
        json!({"replicas": 0, "strategy": {"type": "Recreate"}}),
    );
    assert_eq!(
        (&kept["replicas"], &kept["strategy"]),
        (&json!(0), &json!({"type": "Recreate"}))
    );
}

#[test]
fn cron_jobs_and_jobs_differ_in_what_their_templates_get() {
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}});
    let cron = spec(
        "batch",
        "v1",
        "CronJob",
        json!({"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template.clone()}}}),
    );
    assert_eq!(
        cron,
        json!({
            "concurrencyPolicy": "Allow", "failedJobsHistoryLimit": 1, "schedule": "* * * * *",
            "successfulJobsHistoryLimit": 3, "suspend": false,
            "jobTemplate": {"metadata": {}, "spec": {"template": {"metadata": {}, "spec": pod_defaults("Never")}}},
        })
    );
    let job = spec("batch", "v1", "Job", json!({"template": template}));
    assert_eq!(job["backoffLimit"], 6);
    assert_eq!(job["completionMode"], "NonIndexed");
    assert_eq!((&job["completions"], &job["parallelism"]), (&json!(1), &json!(1)));
}

#[test]
fn services_get_their_target_ports_and_policies() {
    let filled = spec(
        "",
        "v1",
        "Service",
        json!({"type": "NodePort", "ports": [{"port": 80, "targetPort": "web"}, {"port": 81}]}),
    );
    assert_eq!(
        filled,
        json!({
            "type": "NodePort", "sessionAffinity": "None", "externalTrafficPolicy": "Cluster",
            "internalTrafficPolicy": "Cluster",
            "ports": [{"port": 80, "protocol": "TCP", "targetPort": "web"}, {"port": 81, "protocol": "TCP", "targetPort": 81}],
        })
    );
    let external = spec(
        "",
        "v1",
        "Service",
        json!({"type": "ExternalName", "externalName": "x"}),
    );
    assert_eq!(
        external,
        json!({"type": "ExternalName", "externalName": "x", "sessionAffinity": "None"})
    );
}

#[test]
fn string_data_is_encoded_over_data() {
    let mut secret =
        json!({"metadata": {"name": "a"}, "data": {"k": "YQ==", "l": "Yg=="}, "stringData": {"k": "new", "m": "é"}});
    normalise("", "v1", "Secret", &mut secret).unwrap();
    assert_eq!(secret["data"], json!({"k": "bmV3", "l": "Yg==", "m": "w6k="}));
    assert_eq!(
        (secret["type"].as_str(), secret.get("stringData")),
        (Some("Opaque"), None)
    );
}

#[test]
fn smaller_kinds_get_theirs() {
    assert_eq!(
        spec(
            "networking.k8s.io",
            "v1",
            "NetworkPolicy",
            json!({"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]})
        ),
        json!({"podSelector": {}, "ingress": [{"ports": [{"port": 80, "protocol": "TCP"}]}], "policyTypes": ["Ingress"]})
    );
    assert_eq!(
        spec(
            "",
            "v1",
            "LimitRange",
            json!({"limits": [{"type": "Container", "max": {"cpu": 2}, "min": {"cpu": "100m"}}]})
        ),
        json!({"limits": [{"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "2"}, "max": {"cpu": "2"}, "min": {"cpu": "100m"}}]})
    );
    assert_eq!(
        spec("storage.k8s.io", "v1", "CSIDriver", json!({})),
        json!({"attachRequired": true, "fsGroupPolicy": "ReadWriteOnceWithFSType", "podInfoOnMount": false,
            "requiresRepublish": false, "seLinuxMount": false, "storageCapacity": false, "volumeLifecycleModes": ["Persistent"]})
    );
    let set = spec(
        "apps",
        "v1",
        "StatefulSet",
        json!({"volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {}}]}),
    );
    assert_eq!(set["updateStrategy"]["rollingUpdate"]["partition"], 0);
    assert_eq!(set["volumeClaimTemplates"][0]["kind"], "PersistentVolumeClaim");
}

#[test]
fn normalising_twice_changes_nothing() {
    let template = json!({"metadata": {"labels": {"x": "y"}}, "spec": {"containers": [
        {"name": "c", "image": "r.io:5000/a/b:1", "livenessProbe": {"httpGet": {"port": 80}}, "resources": {"limits": {"cpu": 0.5}}}],
        "volumes": [{"name": "v"}, {"name": "s", "secret": {"secretName": "q"}}]}});
    for (group, kind) in [
        ("apps", "Deployment"),
        ("apps", "DaemonSet"),
        ("apps", "StatefulSet"),
        ("batch", "Job"),
    ] {
        let mut once = json!({"metadata": {"name": "a"}, "spec": {"template": template}});
        normalise(group, "v1", kind, &mut once).unwrap();
        let mut twice = once.clone();
        normalise(group, "v1", kind, &mut twice).unwrap();
        assert_eq!(twice, once, "{kind}");
        assert_eq!(
            once["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"],
            "IfNotPresent"
        );
    }
}
