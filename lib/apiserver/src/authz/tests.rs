//! Decisions, reasons and refusals over a store that changes.

#![expect(
    clippy::needless_pass_by_value,
    reason = "literal objects read better without a reference"
)]

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Rbac, default_bindings, default_roles, forbidden};
use crate::access::{Attributes, Authorizer, User};
use crate::store::memory::Memory;
use crate::store::{Expect, Store, Write};

struct World {
    store: Arc<Memory>,
    rbac: Rbac,
}

impl World {
    fn new() -> Self {
        let store = Arc::new(Memory::new(50));
        let rbac = Rbac::new(store.clone()).unwrap();
        Self { store, rbac }
    }

    fn put(&self, key: &str, object: Option<&Value>) {
        let key: Arc<str> = format!("/rbac.authorization.k8s.io/{key}").into();
        let expect = match self.store.get(&key).unwrap() {
            Some(entry) => Expect::Revision(entry.modified),
            None => Expect::Absent,
        };
        let value = object.map(|object| Bytes::from(object.to_string()));
        futures::executor::block_on(self.store.write(Write { key, expect, value })).unwrap();
    }

    fn role(&self, namespace: &str, name: &str, rules: Value) {
        let key = if namespace.is_empty() {
            format!("clusterroles/{name}")
        } else {
            format!("roles/{namespace}/{name}")
        };
        self.put(&key, Some(&json!({"metadata": {"name": name}, "rules": rules})));
    }

    fn bind(&self, namespace: &str, name: &str, kind: &str, role: &str, subject: Value) {
        self.put(&binding_key(namespace, name), Some(&binding(kind, role, subject)));
    }

    fn asks(&self, user: &User, text: &str) -> (bool, String) {
        let decision = self.rbac.authorize(user, &attributes(text));
        (decision.allowed, decision.reason)
    }
}

fn binding_key(namespace: &str, name: &str) -> String {
    match namespace {
        "" => format!("clusterrolebindings/{name}"),
        namespace => format!("rolebindings/{namespace}/{name}"),
    }
}

fn binding(kind: &str, role: &str, subject: Value) -> Value {
    json!({"roleRef": {"kind": kind, "name": role}, "subjects": [subject]})
}

/// `VERB GROUP/RESOURCE[/SUBRESOURCE] [NAMESPACE [NAME]]`, `-` for the core group, or `VERB :PATH`.
fn attributes(text: &str) -> Attributes {
    let mut words = text.split(' ');
    let verb = words.next().unwrap_or_default().to_owned();
    let what = words.next().unwrap_or_default();
    if let Some(path) = what.strip_prefix(':') {
        return Attributes {
            verb,
            path: path.to_owned(),
            ..Attributes::default()
        };
    }
    let mut parts = what.split('/');
    let group = parts.next().unwrap_or_default().replace('-', "");
    Attributes {
        verb,
        group,
        resource: parts.next().unwrap_or_default().to_owned(),
        subresource: parts.next().unwrap_or_default().to_owned(),
        namespace: words.next().unwrap_or_default().to_owned(),
        name: words.next().unwrap_or_default().to_owned(),
        ..Attributes::default()
    }
}

fn user(name: &str, groups: &[&str]) -> User {
    let groups = groups.iter().map(ToString::to_string).collect();
    User {
        name: name.to_owned(),
        groups,
        ..User::default()
    }
}

fn account() -> Value {
    json!({"kind": "ServiceAccount", "name": "sa", "namespace": "a"})
}

#[test]
fn a_binding_grants_in_its_namespace_only_and_says_why() {
    let world = World::new();
    let bob = user("bob", &[]);
    world.role(
        "a",
        "r",
        json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["x"]}]),
    );
    world.bind("a", "b", "Role", "r", json!({"kind": "User", "name": "bob"}));
    assert_eq!(
        world.asks(&bob, "get -/secrets a x"),
        (
            true,
            "RBAC: allowed by RoleBinding \"b/a\" of Role \"r\" to User \"bob\"".to_owned()
        )
    );
    for other in [
        "get -/secrets a y",
        "list -/secrets a",
        "get -/secrets c x",
        "get -/secrets  x",
        "get -/secrets/s a x",
        "get apps/secrets a x",
    ] {
        assert_eq!(world.asks(&bob, other), (false, String::new()), "{other}");
    }
}

#[test]
fn a_withdrawn_right_is_gone_at_once() {
    let world = World::new();
    let sa = user("system:serviceaccount:a:sa", &[]);
    world.role(
        "",
        "r",
        json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]),
    );
    world.bind("", "b", "ClusterRole", "r", account());
    let (allowed, reason) = world.asks(&sa, "delete apps/deployments/scale z");
    assert!(allowed);
    assert_eq!(
        reason,
        "RBAC: allowed by ClusterRoleBinding \"b\" of ClusterRole \"r\" to ServiceAccount \"sa/a\""
    );
    world.bind("", "b", "ClusterRole", "r", json!({"kind": "Group", "name": "g"}));
    assert!(!world.asks(&sa, "delete apps/deployments/scale z").0);
    assert!(world.asks(&user("x", &["g"]), "delete apps/deployments/scale z").0);
    world.put("clusterroles/r", None);
    let (allowed, reason) = world.asks(&user("x", &["g"]), "delete apps/deployments z");
    assert!(!allowed);
    assert_eq!(reason, "RBAC: clusterrole.rbac.authorization.k8s.io \"r\" not found");
    world.put("clusterrolebindings/b", None);
    assert_eq!(
        world.asks(&user("x", &["g"]), "delete apps/deployments z"),
        (false, String::new())
    );
}

#[test]
fn rights_are_rebuilt_when_more_happened_than_the_history_keeps() {
    let world = World::new();
    world.role(
        "",
        "r",
        json!([{"nonResourceURLs": ["/healthz", "/a/*"], "verbs": ["get"]}]),
    );
    assert!(!world.asks(&user("u7000", &[]), "get :/healthz").0);
    for number in 0..5000 {
        world.bind(
            "",
            &format!("b{number}"),
            "ClusterRole",
            "r",
            json!({"kind": "User", "name": format!("u{number}")}),
        );
    }
    world.put("clusterrolebindings/b0", None);
    assert!(!world.asks(&user("u0", &[]), "get :/healthz").0);
    assert!(world.asks(&user("u1", &[]), "get :/a/b").0);
    assert!(world.asks(&user("u4999", &[]), "get :/healthz").0);
    assert!(!world.asks(&user("u4999", &[]), "get :/version").0);
}

#[test]
fn rights_to_single_objects_are_found_among_very_many() {
    let world = World::new();
    let sa = user("system:serviceaccount:a:sa", &[]);
    let named =
        |name: &str| json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": [name]}]);
    // Some bindings come before their roles, some after.
    for number in 0..300 {
        let name = format!("c-{number}");
        if number % 2 == 0 {
            world.role("a", &name, named(&name));
        }
        world.bind("a", &name, "Role", &name, account());
        if number % 2 == 1 {
            world.role("a", &name, named(&name));
        }
    }
    for number in 0..300 {
        assert!(world.asks(&sa, &format!("get -/secrets a c-{number}")).0, "{number}");
    }
    for request in [
        "get -/secrets a c-300",
        "list -/secrets a",
        "get -/secrets c c-1",
        "get -/configmaps a c-1",
    ] {
        assert_eq!(world.asks(&sa, request), (false, String::new()), "{request}");
    }
    assert_eq!(world.rbac.grants(&sa, "a").len(), 300);

    world.role("a", "c-7", named("other"));
    assert!(!world.asks(&sa, "get -/secrets a c-7").0);
    assert!(world.asks(&sa, "get -/secrets a other").0);
    world.role(
        "a",
        "c-7",
        json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}]),
    );
    assert!(world.asks(&sa, "list -/secrets a").0);
    assert!(!world.asks(&sa, "get -/secrets a other").0);
    world.put("roles/a/c-7", None);
    let (allowed, reason) = world.asks(&sa, "list -/secrets a");
    assert!(!allowed);
    assert_eq!(reason, "RBAC: role.rbac.authorization.k8s.io \"c-7\" not found");
    world.role("a", "c-7", named("c-7"));
    assert!(world.asks(&sa, "get -/secrets a c-7").0);
    world.put("rolebindings/a/c-7", None);
    assert!(!world.asks(&sa, "get -/secrets a c-7").0);
    assert_eq!(world.rbac.grants(&sa, "a").len(), 299);
}

#[test]
fn subresources_are_rights_of_their_own() {
    let world = World::new();
    let bob = user("bob", &[]);
    world.role(
        "a",
        "r",
        json!([
            {"apiGroups": ["apps"], "resources": ["deployments/status", "*/scale"], "verbs": ["get"]}
        ]),
    );
    world.bind("a", "b", "Role", "r", json!({"kind": "User", "name": "bob"}));
    for (request, expected) in [
        ("get apps/deployments/status a x", true),
        ("get apps/statefulsets/scale a x", true),
        ("get apps/deployments a x", false),
        ("get apps/statefulsets/status a x", false),
    ] {
        assert_eq!(world.asks(&bob, request).0, expected, "{request}");
    }
}

#[test]
fn the_administrators_group_needs_no_binding() {
    assert!(World::new().asks(&User::admin(), "delete -/nodes").0);
}

#[test]
fn broken_rules_and_bindings_grant_nothing() {
    let world = World::new();
    let bob = user("bob", &[]);
    world.role(
        "",
        "r",
        json!([{"apiGroups": null, "resources": 7, "verbs": ["*"]}, 5, {"verbs": null}]),
    );
    world.bind("", "b", "ClusterRole", "r", json!({"kind": "User", "name": "bob"}));
    world.put(
        "clusterrolebindings/c",
        Some(&json!({"subjects": [{"kind": "User", "name": "bob"}]})),
    );
    world.put("clusterrolebindings/d", Some(&json!([])));
    assert!(!world.asks(&bob, "get -/pods").0);
}

#[test]
fn nobody_grants_more_than_they_hold() {
    let world = World::new();
    let bob = user("bob", &["system:authenticated"]);
    world.role(
        "a",
        "r",
        json!([
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["pods/*", "*/status"], "verbs": ["get"]},
        ]),
    );
    world.bind("a", "b", "Role", "r", json!({"kind": "User", "name": "bob"}));
    let check = |new: &Value, old: Option<&Value>| world.rbac.check_write(&bob, "roles", "a", new, old);
    let role = |rules: Value| json!({"metadata": {"name": "n"}, "rules": rules});

    let own = role(json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": ["x"]}]));
    check(&own, None).unwrap();
    let more = role(json!([{"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["get", "list"]}]));
    let refused = check(&more, Some(&own)).unwrap_err();
    assert_eq!(refused.code, 403);
    assert_eq!(
        refused.message,
        "roles.rbac.authorization.k8s.io \"n\" is forbidden: user \"bob\" (groups=[\"system:authenticated\"]) is \
         attempting to grant RBAC permissions not currently held:\n\
         {APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"list\"]}\n\
         {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}"
    );
    check(&more, Some(&more)).unwrap();
    world
        .rbac
        .check_write(&User::admin(), "roles", "a", &more, None)
        .unwrap();

    let bind = |role: &str| {
        let new = binding("Role", role, account());
        world.rbac.check_write(&bob, "rolebindings", "a", &new, None)
    };
    bind("r").unwrap();
    assert_eq!(bind("none").unwrap_err().code, 404);
    world.role(
        "a",
        "strong",
        json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]),
    );
    assert_eq!(bind("strong").unwrap_err().code, 403);

    world.role(
        "a",
        "power",
        json!([
            {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["bind", "escalate"]}
        ]),
    );
    world.bind(
        "a",
        "p",
        "Role",
        "power",
        json!({"kind": "Group", "name": "system:authenticated"}),
    );
    bind("strong").unwrap();
    check(&more, None).unwrap();
}

#[test]
fn aggregation_needs_full_rights() {
    let world = World::new();
    let role = json!({"metadata": {"name": "n"}, "aggregationRule": {"clusterRoleSelectors": []}});
    let refused = world
        .rbac
        .check_write(&user("bob", &[]), "clusterroles", "", &role, None)
        .unwrap_err();
    let wanted = "must have cluster-admin privileges to use the aggregationRule";
    assert!(refused.message.ends_with(wanted), "{}", refused.message);
}

#[test]
fn a_refusal_names_verb_resource_and_place() {
    let check = |request: &str, expected: &str| {
        assert_eq!(forbidden(&user("bob", &[]), &attributes(request), "").message, expected);
    };
    check(
        "list -/secrets n",
        "secrets is forbidden: User \"bob\" cannot list resource \"secrets\" in API group \"\" in the namespace \"n\"",
    );
    check(
        "patch apps/deployments/scale n a",
        "deployments.apps \"a\" is forbidden: User \"bob\" cannot patch resource \"deployments/scale\" in API group \"apps\" in the namespace \"n\"",
    );
    check(
        "get -/nodes",
        "nodes is forbidden: User \"bob\" cannot get resource \"nodes\" in API group \"\" at the cluster scope",
    );
    check("get :/api", "forbidden: User \"bob\" cannot get path \"/api\"");
}

#[test]
fn the_default_roles_let_everybody_discover_and_ask_about_themselves() {
    let world = World::new();
    for role in default_roles() {
        world.put(
            &format!("clusterroles/{}", role["metadata"]["name"].as_str().unwrap()),
            Some(&role),
        );
    }
    for binding in default_bindings() {
        world.put(
            &format!("clusterrolebindings/{}", binding["metadata"]["name"].as_str().unwrap()),
            Some(&binding),
        );
    }
    let (somebody, nobody) = (user("x", &["system:authenticated"]), User::anonymous());
    for (request, known, unknown) in [
        ("get :/version", true, true),
        ("get :/healthz", true, true),
        ("get :/apis/apps/v1", true, false),
        ("get :/metrics", false, false),
        ("create authorization.k8s.io/selfsubjectaccessreviews", true, false),
        ("create authorization.k8s.io/subjectaccessreviews", false, false),
        ("list -/pods", false, false),
    ] {
        assert_eq!(world.asks(&somebody, request).0, known, "{request}");
        assert_eq!(world.asks(&nobody, request).0, unknown, "{request}");
    }
}
