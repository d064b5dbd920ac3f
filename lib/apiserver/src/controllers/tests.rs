//! Controllers beside a server in memory. Waiting is done by watching, never by sleeping.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::api::OBJECT;
use super::world::World;
use super::{Housekeeping, Switches};
use crate::authn::Tokens;
use crate::options::{SystemClock, SystemRandom};
use crate::store::memory::Memory;
use crate::tls::Pki;
use crate::token::Signer;

const AUTHORITY: &str = "the server's CA";

struct House {
    world: World,
    _stop: DropGuard,
}

impl House {
    async fn new() -> Self {
        let world = World::new().await;
        let pki = Pki::open(None, &[], jiff::Timestamp::now()).unwrap();
        let signer = Signer::new(pki.account_key_pem()).unwrap();
        let store = Arc::new(Memory::new(1));
        let tokens = Arc::new(Tokens::new(
            signer,
            store,
            Arc::new(SystemClock),
            Arc::new(SystemRandom),
        ));
        let stop = CancellationToken::new();
        let clock = Arc::new(SystemClock);
        let housekeeping = Housekeeping::new(
            world.api.clone(),
            tokens,
            AUTHORITY.to_owned(),
            clock,
            Switches::default(),
        );
        tokio::spawn(housekeeping.run(stop.clone()));
        Self {
            world,
            _stop: stop.drop_guard(),
        }
    }

    async fn owned(&self, name: &str, owners: &[(&str, &str, bool)]) -> String {
        let owners: Vec<Value> = owners
            .iter()
            .map(|(name, uid, blocks)| {
                json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": blocks})
            })
            .collect();
        let map = json!({"kind": "ConfigMap", "metadata": {"name": name, "ownerReferences": owners}});
        self.create(MAPS, map).await
    }
}

impl std::ops::Deref for House {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

const MAPS: &str = "/api/v1/namespaces/n/configmaps";
const SECRETS: &str = "/api/v1/namespaces/n/secrets";
const ACCOUNTS: &str = "/api/v1/namespaces/n/serviceaccounts";

#[tokio::test]
async fn dependents_go_with_their_last_owner() {
    let world = House::new().await;
    let (a, b) = (world.owned("a", &[]).await, world.owned("b", &[]).await);
    world.owned("both", &[("a", &a, false), ("b", &b, false)]).await;
    let child = world.owned("child", &[("a", &a, false)]).await;
    world.owned("grandchild", &[("child", &child, false)]).await;
    world.delete(&format!("{MAPS}/a"), "Background").await;
    world.gone(MAPS, "grandchild").await;
    let only_b = |object: Option<&Value>| {
        let owners = object.and_then(|object| object.pointer("/metadata/ownerReferences"));
        owners
            .and_then(Value::as_array)
            .is_some_and(|owners| owners.len() == 1 && owners[0]["name"] == "b")
    };
    world.until(MAPS, "both", only_b).await;
}

#[tokio::test]
async fn an_owner_of_the_same_name_but_another_uid_is_none() {
    let world = House::new().await;
    world.owned("a", &[]).await;
    world
        .owned("child", &[("a", "00000000-0000-4000-8000-000000000001", false)])
        .await;
    world.gone(MAPS, "child").await;
}

#[tokio::test]
async fn an_owner_of_an_unknown_kind_is_not_taken_for_absent() {
    let world = House::new().await;
    let owners = json!([{"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": "x"}]);
    world
        .create(
            MAPS,
            json!({"kind": "ConfigMap", "metadata": {"name": "kept", "ownerReferences": owners}}),
        )
        .await;
    world.owned("lost", &[("a", "x", false)]).await;
    world.gone(MAPS, "lost").await;
    world.until(MAPS, "kept", |object| object.is_some()).await;
}

#[tokio::test]
async fn a_foreground_deletion_waits_for_blocking_dependents() {
    let world = House::new().await;
    let a = world.owned("a", &[]).await;
    let owners = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": a, "blockOwnerDeletion": true}]);
    let held = json!({"name": "held", "ownerReferences": owners, "finalizers": ["example.com/hold"]});
    world.create(MAPS, json!({"kind": "ConfigMap", "metadata": held})).await;
    // The collector must know of the dependent: a later object of the same feed that it acted upon shows that.
    world.owned("lost", &[("x", "x", false)]).await;
    world.gone(MAPS, "lost").await;

    world.delete(&format!("{MAPS}/a"), "Foreground").await;
    let deleting =
        |object: Option<&Value>| object.is_some_and(|object| object.pointer("/metadata/deletionTimestamp").is_some());
    world.until(MAPS, "held", deleting).await;
    world.until(MAPS, "a", deleting).await;
    world
        .api
        .merge(&format!("{MAPS}/held"), &json!({"metadata": {"finalizers": null}}))
        .await
        .unwrap();
    world.gone(MAPS, "a").await;
}

#[tokio::test]
async fn a_foreground_deletion_ends_when_dependents_let_go_of_the_owner() {
    let world = House::new().await;
    let a = world.owned("a", &[]).await;
    let b = world.owned("b", &[]).await;
    world.owned("child", &[("a", &a, true), ("b", &b, true)]).await;
    world.owned("lost", &[("x", "x", false)]).await;
    world.gone(MAPS, "lost").await;
    world.delete(&format!("{MAPS}/a"), "Foreground").await;
    world.gone(MAPS, "a").await;
    let child = world.api.get(&format!("{MAPS}/child"), OBJECT).await.unwrap();
    assert_eq!(child.pointer("/metadata/ownerReferences/0/name"), Some(&json!("b")));
}

#[tokio::test]
async fn an_orphaning_deletion_leaves_dependents_without_reference() {
    let world = House::new().await;
    let a = world.owned("a", &[]).await;
    world.owned("child", &[("a", &a, false)]).await;
    world.owned("lost", &[("x", "x", false)]).await;
    world.gone(MAPS, "lost").await;
    world.delete(&format!("{MAPS}/a"), "Orphan").await;
    world.gone(MAPS, "a").await;
    let child = world.api.get(&format!("{MAPS}/child"), OBJECT).await.unwrap();
    assert_eq!(child.pointer("/metadata/ownerReferences"), None);
}

#[tokio::test]
async fn a_namespace_empties_and_reports_what_holds_it() {
    let world = House::new().await;
    world.until(ACCOUNTS, "default", |object| object.is_some()).await;
    world
        .create(
            SECRETS,
            json!({"kind": "Secret", "metadata": {"name": "s", "finalizers": ["example.com/hold"]}}),
        )
        .await;
    world.delete("/api/v1/namespaces/n", "Background").await;
    let reported = |object: Option<&Value>| {
        let conditions = object
            .and_then(|object| object.pointer("/status/conditions"))
            .and_then(Value::as_array);
        conditions.is_some_and(|conditions| {
            conditions.iter().any(|condition| {
                condition["type"] == "NamespaceFinalizersRemaining"
                    && condition["message"]
                        .as_str()
                        .is_some_and(|text| text.ends_with("example.com/hold in 1 resource instances"))
            })
        })
    };
    world.until("/api/v1/namespaces", "n", reported).await;
    world
        .api
        .merge(&format!("{SECRETS}/s"), &json!({"metadata": {"finalizers": null}}))
        .await
        .unwrap();
    world.gone("/api/v1/namespaces", "n").await;
}

#[tokio::test]
async fn every_namespace_has_its_account_and_the_authority_and_gets_them_back() {
    let world = House::new().await;
    let is_authority =
        |object: Option<&Value>| object.is_some_and(|object| object.get("data") == Some(&json!({"ca.crt": AUTHORITY})));
    world.until(MAPS, "kube-root-ca.crt", is_authority).await;
    world
        .api
        .merge(
            &format!("{MAPS}/kube-root-ca.crt"),
            &json!({"data": {"ca.crt": "false", "x": "y"}}),
        )
        .await
        .unwrap();
    world.until(MAPS, "kube-root-ca.crt", is_authority).await;
    world.until(ACCOUNTS, "default", |object| object.is_some()).await;
    world.delete(&format!("{ACCOUNTS}/default"), "Background").await;
    world.until(ACCOUNTS, "default", |object| object.is_some()).await;
}

#[tokio::test]
async fn a_token_secret_is_filled_and_goes_with_its_account() {
    let world = House::new().await;
    world
        .create(ACCOUNTS, json!({"kind": "ServiceAccount", "metadata": {"name": "sa"}}))
        .await;
    let secret = |name: &str| {
        json!({
            "kind": "Secret", "type": "kubernetes.io/service-account-token",
            "metadata": {"name": name, "annotations": {"kubernetes.io/service-account.name": "sa"}},
        })
    };
    world.create(SECRETS, secret("s")).await;
    let filled = |object: Option<&Value>| {
        let data = |key: &str| {
            object
                .and_then(|object| object.pointer("/data")?.get(key)?.as_str())
                .unwrap_or_default()
        };
        !data("token").is_empty() && !data("ca.crt").is_empty() && data("namespace") == "bg=="
    };
    world.until(SECRETS, "s", filled).await;
    world.delete(&format!("{ACCOUNTS}/sa"), "Background").await;
    world.gone(SECRETS, "s").await;
    world.create(SECRETS, secret("late")).await;
    world.gone(SECRETS, "late").await;
}

#[tokio::test]
async fn aggregated_roles_follow_what_they_select() {
    const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let world = House::new().await;
    let has = |resource: &'static str| {
        move |object: Option<&Value>| {
            let rules = object.and_then(|object| object.get("rules")).and_then(Value::as_array);
            rules.is_some_and(|rules| rules.iter().any(|rule| rule["resources"][0] == resource))
        }
    };
    world.until(ROLES, "view", has("configmaps")).await;
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "more", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        "rules": [{"apiGroups": ["example.com"], "resources": ["things"], "verbs": ["get"]}],
    });
    world.api.create(ROLES, &role).await.unwrap();
    // Through view and edit.
    world.until(ROLES, "admin", has("things")).await;
    world.delete(&format!("{ROLES}/more"), "Background").await;
    world.until(ROLES, "admin", |object| !has("things")(object)).await;
}
