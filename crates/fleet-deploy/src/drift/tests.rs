//! Tables: wanted, live and rules → the difference.

use fleet_api::{ComparePatch, DiffOptions, Operation};
use serde_json::{Value, json};

use super::*;

fn map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}, "data": data})
}

fn object(api_version: &str, kind: &str, rest: &Value) -> Value {
    let mut object = rest.clone();
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    object["metadata"]["name"] = "a".into();
    object
}

/// As the API server shows it after our server-side apply of `fields`.
fn applied(mut live: Value, fields: &Value) -> Value {
    live["metadata"]["managedFields"] = json!([{"manager": "fleetagent", "operation": "Apply", "fieldsType": "FieldsV1",
        "apiVersion": live["apiVersion"], "fieldsV1": fields}]);
    live
}

fn rules(patches: &[ComparePatch]) -> DiffOptions {
    DiffOptions {
        compare_patches: patches.to_vec(),
    }
}

#[test]
fn only_fields_of_the_bundle_count() {
    let live = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n", "uid": "u",
        "labels": {"foreign": "1"}}, "data": {"k": "changed", "more": "1"}});
    assert_eq!(
        difference(&map(&json!({"k": "v"})), &live, None),
        Some(json!({"data": {"k": "v"}}))
    );
    assert_eq!(difference(&map(&json!({"k": "changed"})), &live, None), None);
}

/// Wanted and live that mean the same, without a word about owners.
#[test]
fn what_the_server_and_known_controllers_make_of_it_is_no_difference() {
    let pod = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
    let certificate = "LS0tLS1CRUdJTg==";
    for (api_version, kind, wanted, live) in [
        // Spellings of quantities, booleans, integers and empty things.
        (
            "apps/v1",
            "Deployment",
            pod(json!({"containers": [{"name": "c", "resources": {"limits": {"cpu": "1000m", "memory": "0.5Gi"}}}]})),
            pod(json!({"containers": [{"name": "c", "resources": {"limits": {"cpu": "1", "memory": "512Mi"}}}]})),
        ),
        (
            "apps/v1",
            "Deployment",
            json!({"spec": {"replicas": null, "template": {"spec": {"containers": [{"name": "c", "args": [], "env": null, "resources": {}}],
                "nodeSelector": {}, "hostNetwork": false}}}}),
            json!({"spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "c"}]}}}}),
        ),
        (
            "a.b/v1",
            "Thing",
            json!({"spec": {"size": 1.0, "note": null}}),
            json!({"spec": {"size": 1}}),
        ),
        ("v1", "ConfigMap", json!({"data": {}}), json!({})),
        (
            "v1",
            "ConfigMap",
            json!({"metadata": {"labels": null, "annotations": {}}}),
            json!({"metadata": {"labels": {"x": "y"}}}),
        ),
        // Defaults inside of lists that merge as a whole.
        (
            "networking.k8s.io/v1",
            "NetworkPolicy",
            json!({"spec": {"ingress": [{"ports": [{"port": 80}]}], "podSelector": {}}}),
            json!({"spec": {"ingress": [{"ports": [{"port": 80, "protocol": "TCP"}]}], "podSelector": {}, "policyTypes": ["Ingress"]}}),
        ),
        (
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            json!({"subjects": [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n", "apiGroup": ""}],
                "roleRef": {"kind": "Role", "name": "r"}}),
            json!({"subjects": [{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}],
                "roleRef": {"kind": "Role", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}}),
        ),
        (
            "v1",
            "Endpoints",
            json!({"subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 1}]}]}),
            json!({"subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 1, "protocol": "TCP"}]}]}),
        ),
        // Two ports of one number.
        (
            "v1",
            "Service",
            json!({"spec": {"ports": [{"name": "u", "port": 53, "protocol": "UDP"}, {"name": "t", "port": 53}]}}),
            json!({"spec": {"ports": [{"name": "u", "port": 53, "protocol": "UDP", "targetPort": 53}, {"name": "t", "port": 53, "protocol": "TCP", "targetPort": 53}],
                "clusterIP": "10.0.0.1", "type": "ClusterIP"}}),
        ),
        // Secrets.
        (
            "v1",
            "Secret",
            json!({"stringData": {"a": "b"}, "data": {"empty": null, "long": "aGVs\nbG8="}}),
            json!({"data": {"a": "Yg==", "empty": "", "long": "aGVsbG8="}, "type": "Opaque"}),
        ),
        // What others fill in.
        (
            "v1",
            "ServiceAccount",
            json!({}),
            json!({"secrets": [{"name": "token"}], "imagePullSecrets": [{"name": "pull"}]}),
        ),
        (
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}, "rules": []}),
            json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
                "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        ),
        (
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            json!({"webhooks": [{"name": "a", "clientConfig": {"url": "https://x"}}, {"name": "b", "clientConfig": {"url": "https://y", "caBundle": "Cg=="}}]}),
            json!({"webhooks": [{"name": "a", "clientConfig": {"url": "https://x", "caBundle": certificate}}, {"name": "b", "clientConfig": {"url": "https://y", "caBundle": certificate}}]}),
        ),
        (
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            json!({"spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": "Cg=="}}}}}),
            json!({"spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": certificate}}}}}),
        ),
        (
            "apiregistration.k8s.io/v1",
            "APIService",
            json!({"spec": {"caBundle": "", "group": "g"}}),
            json!({"spec": {"caBundle": certificate, "group": "g"}}),
        ),
        // A sidecar, an extra volume, an extra port.
        (
            "apps/v1",
            "Deployment",
            pod(json!({"containers": [{"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]})),
            pod(
                json!({"containers": [{"name": "side"}, {"name": "c", "volumeMounts": [{"name": "t", "mountPath": "/t"}, {"name": "v", "mountPath": "/v"}]}],
                "volumes": [{"name": "t"}]}),
            ),
        ),
        // Ours to write, not ours to judge.
        (
            "a.b/v1",
            "Thing",
            json!({"status": {"a": 1}}),
            json!({"status": {"a": 2}}),
        ),
        // Lists of other kinds, with fields that their server fills in.
        (
            "a.b/v1",
            "Thing",
            json!({"spec": {"rules": [{"host": "h"}]}}),
            json!({"spec": {"rules": [{"host": "h", "weight": 1}]}}),
        ),
    ] {
        let (wanted, live) = (object(api_version, kind, &wanted), object(api_version, kind, &live));
        assert_eq!(difference(&wanted, &live, None), None, "{wanted} {live}");
    }
}

#[test]
fn what_was_changed_is_found() {
    for (api_version, kind, wanted, live, change) in [
        (
            "v1",
            "ConfigMap",
            json!({"metadata": {"labels": {"a": "X"}}}),
            json!({"metadata": {"labels": {"a": "x"}}}),
            json!({"metadata": {"labels": {"a": "X"}}}),
        ),
        (
            "apps/v1",
            "Deployment",
            json!({"spec": {"replicas": 0}}),
            json!({"spec": {"replicas": 1}}),
            json!({"spec": {"replicas": 0}}),
        ),
        (
            "v1",
            "Service",
            json!({"spec": {"ports": [{"port": 53, "protocol": "UDP", "targetPort": 1}, {"port": 53, "targetPort": 2}]}}),
            json!({"spec": {"ports": [{"port": 53, "protocol": "UDP", "targetPort": 1}, {"port": 53, "protocol": "TCP", "targetPort": 3}]}}),
            json!({"spec": {"ports": [{"port": 53, "protocol": "UDP", "targetPort": 1}, {"port": 53, "protocol": "TCP", "targetPort": 2}]}}),
        ),
        (
            "rbac.authorization.k8s.io/v1",
            "Role",
            json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
            json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["x"]}]}),
            json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        ),
        (
            "v1",
            "Secret",
            json!({"stringData": {"a": "b"}}),
            json!({"data": {"a": "Yw=="}}),
            json!({"data": {"a": "Yg=="}}),
        ),
        (
            "a.b/v1",
            "Thing",
            json!({"spec": {"list": [1, 2]}}),
            json!({"spec": {"list": [1, 2, 3]}}),
            json!({"spec": {"list": [1, 2]}}),
        ),
        (
            "a.b/v1",
            "Thing",
            json!({"spec": {"on": {}}}),
            json!({"spec": {}}),
            json!({"spec": {"on": {}}}),
        ),
        (
            "apiregistration.k8s.io/v1",
            "APIService",
            json!({"spec": {"caBundle": "AAAA"}}),
            json!({"spec": {"caBundle": "BBBB"}}),
            json!({"spec": {"caBundle": "AAAA"}}),
        ),
    ] {
        let (wanted, live) = (object(api_version, kind, &wanted), object(api_version, kind, &live));
        assert_eq!(difference(&wanted, &live, None), Some(change), "{wanted} {live}");
    }
}

#[test]
fn a_change_beside_an_injected_certificate_does_not_show_it() {
    let hooks = |policy: &str, client: Value| {
        object(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            &json!({"webhooks": [{"name": "a", "failurePolicy": policy, "clientConfig": client}]}),
        )
    };
    let live = hooks("Fail", json!({"url": "https://x", "caBundle": "AAAA"}));
    let found = difference(&hooks("Ignore", json!({"url": "https://x"})), &live, None).unwrap();
    assert_eq!(found["webhooks"][0]["failurePolicy"], "Ignore");
    assert_eq!(found["webhooks"][0]["clientConfig"], json!({"url": "https://x"}));
}

#[test]
fn a_field_we_still_own_was_changed_by_nobody() {
    // A webhook put the mirror in front of the image, in our own write.
    let spec = |image: &str| json!({"spec": {"containers": [{"name": "c", "image": image}]}});
    let wanted = object("v1", "Pod", &spec("app:1"));
    let live = object("v1", "Pod", &spec("mirror/app:1"));
    let owned = json!({"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}, "f:name": {}}}}});
    assert_eq!(difference(&wanted, &applied(live.clone(), &owned), None), None);
    let lost = json!({"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}}}}});
    let found = difference(&wanted, &applied(live, &lost), None).unwrap();
    assert_eq!(found["spec"]["containers"][0]["image"], "app:1");
}

#[test]
fn a_field_added_to_a_list_that_was_ours_is_found() {
    let spec = |toleration: Value| object("v1", "Pod", &json!({"spec": {"tolerations": [toleration]}}));
    let wanted = spec(json!({"key": "a", "operator": "Exists"}));
    let live = spec(json!({"key": "a", "operator": "Exists", "effect": "NoExecute"}));
    assert_eq!(difference(&wanted, &live, None), None, "nobody knows who added it");
    let others = json!({"f:spec": {}});
    let found = difference(&wanted, &applied(live.clone(), &others), None);
    assert_eq!(
        found,
        Some(json!({"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}))
    );
    let ours = json!({"f:spec": {"f:tolerations": {}}});
    assert_eq!(difference(&wanted, &applied(live, &ours), None), None);
}

#[test]
fn items_of_other_kinds_are_told_apart_by_their_owners() {
    let gateway = |listeners: Value| object("a.b/v1", "Gateway", &json!({"spec": {"listeners": listeners}}));
    let wanted = gateway(json!([{"name": "a", "port": 1}]));
    let paths = json!({"f:spec": {"f:listeners": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}, "k:{\"name\":\"x\"}": {".": {}, "f:name": {}}}}});
    let live = |port: i64| {
        applied(
            gateway(json!([{"name": "x", "port": 9}, {"name": "a", "port": port}])),
            &paths,
        )
    };
    assert_eq!(difference(&wanted, &live(1), None), None, "an item of others");
    assert_eq!(
        difference(&wanted, &live(2), None),
        Some(json!({"spec": {"listeners": [{"name": "x", "port": 9}, {"name": "a", "port": 1}]}}))
    );
}

#[test]
fn kubectls_memory_of_a_field_counts_once_something_else_differs() {
    let remember = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v","gone":"1"}}"#;
    let live = |value: &str| {
        let mut live = map(&json!({"k": value, "gone": "1"}));
        live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = remember.into();
        live
    };
    assert_eq!(difference(&map(&json!({"k": "v"})), &live("v"), None), None);
    assert_eq!(
        difference(&map(&json!({"k": "v"})), &live("changed"), None),
        Some(json!({"data": {"gone": null, "k": "v"}}))
    );
}

#[test]
fn what_the_user_ignores_is_no_difference() {
    let live = map(&json!({"k": "changed", "a/b": "changed"}));
    let wanted = map(&json!({"k": "v", "a/b": "v"}));
    let pointers = ComparePatch {
        api_version: "v1".into(),
        kind: "Config*".into(),
        json_pointers: vec!["/data/k".into(), "/nothing/there".into(), "/data/a~1b".into()],
        ..ComparePatch::default()
    };
    assert_eq!(difference(&wanted, &live, Some(&rules(&[pointers]))), None);
    let operation = |op: &str, path: &str, value: &str| Operation {
        op: op.into(),
        path: path.into(),
        value: value.into(),
    };
    let exact = |operations: Vec<Operation>| ComparePatch {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        name: "a".into(),
        namespace: "n".into(),
        operations,
        ..ComparePatch::default()
    };
    let remove = |path: &str| operation("remove", path, "");
    let other = json!({"data": {"a/b": "v", "k": "v"}});
    for (rule, found) in [
        (exact(vec![remove("/data/k"), remove("/data/a~1b")]), None),
        (exact(vec![remove("/data/k")]), Some(json!({"data": {"a/b": "v"}}))),
        (exact(vec![operation("replace", "/data", r#"{"k":"same"}"#)]), None),
        (
            exact(vec![
                operation("replace", "/data/k", "same"),
                operation("add", "/data/a~1b", "\"x\""),
            ]),
            None,
        ),
        // One operation that fails takes the others with it.
        (
            exact(vec![remove("/data/k"), remove("/data/none")]),
            Some(other.clone()),
        ),
        (
            ComparePatch {
                namespace: String::new(),
                ..exact(vec![remove("/data")])
            },
            Some(other.clone()),
        ),
        (exact(vec![operation("ignore", "", "")]), Some(other)),
        // Nonsense changes nothing, and breaks nothing.
        (
            exact(vec![
                operation("replace", "/data", "text"),
                operation("replace", "/metadata", "1"),
            ]),
            None,
        ),
    ] {
        assert_eq!(
            difference(&wanted, &live, Some(&rules(std::slice::from_ref(&rule)))),
            found,
            "{rule:?}"
        );
    }
}

#[test]
fn rules_that_break_an_object_break_nothing_else() {
    let wanted = object(
        "apps/v1",
        "StatefulSet",
        &json!({"metadata": {"namespace": "n"}, "spec": {"replicas": 1}}),
    );
    for path in ["/spec", "/metadata", "/kind", "", "/spec/replicas"] {
        for value in ["\"text\"", "1", "[]", "null", "{}"] {
            let rule = ComparePatch {
                api_version: "apps/v1".into(),
                kind: "StatefulSet".into(),
                name: "a".into(),
                namespace: "n".into(),
                operations: vec![Operation {
                    op: "replace".into(),
                    path: path.into(),
                    value: value.into(),
                }],
                ..ComparePatch::default()
            };
            assert_eq!(
                difference(&wanted, &wanted, Some(&rules(&[rule]))),
                None,
                "{path} {value}"
            );
        }
    }
}

#[test]
fn absence_is_ignored_by_name_or_pattern() {
    let mut patch = ComparePatch {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        namespace: "n".into(),
        operations: vec![Operation {
            op: "ignore".into(),
            ..Operation::default()
        }],
        ..ComparePatch::default()
    };
    let key = ObjectKey {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        namespace: "n".into(),
        name: "ab".into(),
    };
    for (name, ignored) in [
        ("", true),
        ("ab", true),
        ("^a.$", true),
        ("b", true),
        ("[", false),
        ("c", false),
    ] {
        patch.name = name.into();
        assert_eq!(
            absence_is_ignored(&key, Some(&rules(std::slice::from_ref(&patch)))),
            ignored,
            "{name}"
        );
    }
    patch.name.clear();
    patch.namespace.clear();
    assert!(!absence_is_ignored(&key, Some(&rules(&[patch]))));
    assert!(!absence_is_ignored(&key, None));
}
