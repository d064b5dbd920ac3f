//! What built-in validation says against an object, field by field and in upstream's words.

use serde_json::{Value, json};

use super::faults;

/// Objects are judged once their defaults are filled in.
fn defaulted(group: &str, kind: &str, mut object: Value) -> Value {
    kubeschema::defaulting::normalise(group, "v1", kind, &mut object).unwrap();
    object
}

#[expect(clippy::needless_pass_by_value, reason = "fixtures read better by value")]
fn told(group: &str, kind: &str, object: Value, old: Option<Value>) -> Vec<String> {
    faults(group, "v1", kind, &defaulted(group, kind, object), old.as_ref())
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn fields(group: &str, kind: &str, object: Value) -> Vec<String> {
    let mut found: Vec<String> = faults(group, "v1", kind, &defaulted(group, kind, object), None)
        .iter()
        .map(|error| format!("{} {}", error.field, error.kind.reason()))
        .collect();
    found.sort();
    found
}

#[test]
fn an_empty_deployment_lacks_three_things() {
    assert_eq!(
        fields("apps", "Deployment", json!({"metadata": {"name": "a"}, "spec": {}})),
        [
            "spec.selector FieldValueRequired",
            "spec.template.metadata.labels FieldValueInvalid",
            "spec.template.spec.containers FieldValueRequired",
        ]
    );
}

#[test]
fn many_faults_are_told_at_once() {
    let object = json!({"metadata": {"name": "a"}, "spec": {
    "replicas": -1, "strategy": {"type": "Sometimes"}, "selector": {"matchLabels": {"x": "y"}},
    "template": {"metadata": {"labels": {"x": "y"}}, "spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": ""},
        {"name": "c", "image": "i", "ports": [{"containerPort": 70000}], "volumeMounts": [{"name": "none", "mountPath": "/x"}]},
    ]}}}});
    assert_eq!(
        fields("apps", "Deployment", object),
        [
            "spec.replicas FieldValueInvalid",
            "spec.strategy FieldValueNotSupported",
            "spec.template.spec.containers[0].image FieldValueRequired",
            "spec.template.spec.containers[1].name FieldValueDuplicate",
            "spec.template.spec.containers[1].ports[0].containerPort FieldValueInvalid",
            "spec.template.spec.containers[1].volumeMounts[0].name FieldValueNotFound",
            "spec.template.spec.restartPolicy FieldValueNotSupported",
        ]
    );
}

#[test]
fn a_stateful_set_may_mount_what_its_claims_bring() {
    let object = json!({"metadata": {"name": "a"}, "spec": {
    "selector": {"matchLabels": {"x": "y"}}, "volumeClaimTemplates": [{"metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}],
    "template": {"metadata": {"labels": {"x": "y"}}, "spec": {"restartPolicy": "Always", "containers": [
        {"name": "c", "image": "i", "volumeMounts": [{"name": "data", "mountPath": "/x"}]},
    ]}}}});
    assert_eq!(fields("apps", "StatefulSet", object), [""; 0]);
}

#[test]
fn names_follow_the_rule_of_their_kind() {
    let named = |group: &str, kind: &str, name: &str| {
        let object = json!({"metadata": {"name": name}, "rules": [], "roleRef": {"kind": "Role", "name": "x"}});
        told(group, kind, object, None).is_empty()
    };
    assert!(named("", "ConfigMap", "a.b-c") && !named("", "ConfigMap", "A") && !named("", "ConfigMap", "a..b"));
    assert!(!named("", "Namespace", "a.b"));
    let rbac = "rbac.authorization.k8s.io";
    assert!(named(rbac, "Role", "system:x y") && !named(rbac, "Role", "a/b") && !named(rbac, "Role", "."));
}

#[test]
fn immutable_fields_stay() {
    let secret = |kind: &str| json!({"metadata": {"name": "a"}, "type": kind});
    assert_eq!(
        told("", "Secret", secret("other"), Some(secret("Opaque"))),
        ["type: Invalid value: \"other\": field is immutable"]
    );
    let sealed = |text: &str| json!({"metadata": {"name": "a"}, "immutable": true, "data": {"k": text}});
    assert_eq!(
        told("", "ConfigMap", sealed("w"), Some(sealed("v"))),
        ["data: Forbidden: field is immutable when `immutable` is set"]
    );
}

#[test]
fn owners_need_everything_and_only_one_controls() {
    let owned = |owners: Value| json!({"metadata": {"name": "a", "ownerReferences": owners}});
    assert_eq!(told("", "ConfigMap", owned(json!([{}])), None).len(), 4);
    let one = json!({"apiVersion": "v1", "kind": "Secret", "name": "x", "uid": "u", "controller": true});
    assert!(told("", "ConfigMap", owned(json!([one.clone()])), None).is_empty());
    assert_eq!(told("", "ConfigMap", owned(json!([one.clone(), one])), None).len(), 1);
}

#[test]
fn finalizers_are_qualified_and_not_added_while_deleting() {
    let held = |finalizers: Value| json!({"metadata": {"name": "a", "finalizers": finalizers}});
    assert!(told("", "ConfigMap", held(json!(["hold"])), None)[0].contains("nor is it fully qualified"));
    let mut deleting = held(json!(["example.com/one"]));
    deleting["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let found = told(
        "",
        "ConfigMap",
        held(json!(["example.com/one", "example.com/two"])),
        Some(deleting),
    );
    assert!(
        found[0].starts_with("metadata.finalizers: Forbidden: no new finalizers"),
        "{found:?}"
    );
}

#[test]
fn service_ports_are_checked_one_by_one() {
    let service = |spec: Value| json!({"metadata": {"name": "a"}, "spec": spec});
    assert_eq!(
        fields("", "Service", service(json!({}))),
        ["spec.ports FieldValueRequired"]
    );
    assert_eq!(
        fields(
            "",
            "Service",
            service(json!({"ports": [{"port": 1, "protocol": "TCP"}, {"port": 1, "protocol": "TCP"}]}))
        ),
        [
            "spec.ports[0].name FieldValueRequired",
            "spec.ports[1] FieldValueDuplicate",
            "spec.ports[1].name FieldValueRequired"
        ]
    );
    assert_eq!(
        fields("", "Service", service(json!({"type": "ExternalName"}))),
        ["spec.externalName FieldValueRequired"]
    );
}

#[test]
fn bindings_name_a_role_and_known_subjects() {
    let binding = json!({"metadata": {"name": "a"}, "roleRef": {"kind": "Thing", "name": ""},
        "subjects": [{"kind": "ServiceAccount", "name": "s"}, {"kind": "Robot", "name": "x"}]});
    assert_eq!(
        fields("rbac.authorization.k8s.io", "RoleBinding", binding),
        [
            "roleRef.kind FieldValueNotSupported",
            "roleRef.name FieldValueRequired",
            "subjects[1].kind FieldValueNotSupported"
        ]
    );
}

#[test]
fn network_kinds_are_checked() {
    let network = "networking.k8s.io";
    let spec = |spec: Value| json!({"metadata": {"name": "a"}, "spec": spec});
    assert_eq!(fields(network, "Ingress", spec(json!({}))), ["spec FieldValueInvalid"]);
    let path = json!({"path": "x", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {}}}});
    assert_eq!(
        fields(
            network,
            "Ingress",
            spec(json!({"rules": [{"http": {"paths": [path]}}]}))
        ),
        [
            "spec.rules[0].http.paths[0].backend FieldValueRequired",
            "spec.rules[0].http.paths[0].path FieldValueInvalid",
        ]
    );
    assert_eq!(
        fields(
            network,
            "NetworkPolicy",
            spec(json!({"podSelector": {}, "policyTypes": ["Sideways"], "ingress": [{"from": [{}]}]}))
        ),
        [
            "spec.ingress[0].from[0] FieldValueRequired",
            "spec.policyTypes[0] FieldValueNotSupported"
        ]
    );
    let subsets = json!([{"addresses": [{"ip": "1.2.3.400"}], "ports": [{"port": 0}]}]);
    assert_eq!(
        fields("", "Endpoints", json!({"metadata": {"name": "a"}, "subsets": subsets})),
        [
            "subsets[0].addresses[0].ip FieldValueInvalid",
            "subsets[0].ports[0].port FieldValueInvalid"
        ]
    );
}

#[test]
fn policies_that_contradict_themselves_are_refused() {
    let spec = |spec: Value| json!({"metadata": {"name": "a"}, "spec": spec});
    assert_eq!(
        fields(
            "policy",
            "PodDisruptionBudget",
            spec(json!({"minAvailable": 1, "maxUnavailable": "50%"}))
        ),
        ["spec FieldValueInvalid"]
    );
    assert_eq!(
        fields(
            "",
            "LimitRange",
            spec(json!({"limits": [{"type": "Pod", "min": {"cpu": "2"}, "max": {"cpu": "1"}}]}))
        ),
        ["spec.limits[0].min[cpu] FieldValueInvalid"]
    );
    let event = |home: &str, about: &str| json!({"metadata": {"name": "a", "namespace": home}, "involvedObject": {"namespace": about}});
    assert!(
        told("", "Event", event("n", "n"), None).is_empty() && told("", "Event", event("default", ""), None).is_empty()
    );
    assert_eq!(
        fields("", "Event", event("n", "m")),
        ["involvedObject.namespace FieldValueInvalid"]
    );
}
