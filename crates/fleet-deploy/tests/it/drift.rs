//! No false alarm and nothing overlooked: objects of many kinds are applied as the agent applies them, then each of
//! their fields is changed by somebody else; a correction is one write for each object that differs.

use std::collections::BTreeSet;

use fleet_api::{BundleDeploymentOptions, labels};
use fleet_deploy::monitor::{self, Difference, Seen};
use fleet_deploy::object::{self, ObjectKey};
use fleet_deploy::postrender::ObjectSet;
use fleet_deploy::{correct, drift};
use helm::release::Release;
use serde_json::{Value, json};

use crate::site::Site;

const OBJECTS: &str = include_str!("objects.yaml");

/// Objects, with the namespace and label that a deployment gives them.
fn objects() -> Vec<Value> {
    let set = ObjectSet::of("bundle", "");
    goyaml::parse_documents(OBJECTS)
        .expect("the file can be read")
        .into_iter()
        .map(|document| {
            let mut object = document.value;
            object::set_label(&mut object, labels::OBJECT_SET_HASH, &set.hash);
            object
        })
        .collect()
}

async fn apply(site: &Site) -> Vec<(Value, Value)> {
    let mut applied = Vec::new();
    for object in objects() {
        let key = ObjectKey::of(&object);
        let mut placed = object.clone();
        if served(site, &key).await.namespaced {
            object::set_namespace(&mut placed, "drift");
        }
        let outcome = site.cluster.apply(&placed).await;
        assert!(outcome.is_ok(), "{}: {outcome:?}", key.display());
        applied.push((object, placed));
    }
    let mut both = Vec::new();
    for (object, placed) in applied {
        let live = site.cluster.get(&ObjectKey::of(&placed)).await.expect("it can be read");
        both.push((object, live.expect("it is there")));
    }
    both
}

/// A definition that was applied a moment ago is served a moment later.
async fn served(site: &Site, key: &ObjectKey) -> fleet_deploy::cluster::Kind {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        match site.cluster.kind(&key.api_version, &key.kind).await {
            Ok(kind) => return kind,
            Err(error) => assert!(tokio::time::Instant::now() < deadline, "{error}"),
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

fn unowned(live: &Value) -> Value {
    let mut live = live.clone();
    if let Some(metadata) = live["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    live
}

/// Places of values that are both wanted and there.
fn places(wanted: &Value, live: &Value, at: &str, found: &mut Vec<String>) {
    if !wanted.is_null() {
        found.push(at.to_owned());
    }
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(there)) => {
            for (key, value) in wanted {
                if let Some(now) = there.get(key) {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    places(value, now, &format!("{at}/{key}"), found);
                }
            }
        }
        (Value::Array(wanted), Value::Array(there)) if wanted.len() == there.len() => {
            for (position, (value, now)) in wanted.iter().zip(there).enumerate() {
                places(value, now, &format!("{at}/{position}"), found);
            }
        }
        _ => {}
    }
}

/// Other values of the same sort; the server takes one of them, or the field cannot be changed.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Number(number) => vec![
            json!(number.as_i64().unwrap_or_default() + 1),
            json!(number.as_i64().unwrap_or_default().saturating_sub(1)),
        ],
        Value::String(text) => [
            format!("{text}x"),
            "77".into(),
            "77Mi".into(),
            "33%".into(),
            "QUFB".into(),
            "UDP".into(),
            "Always".into(),
        ]
        .into_iter()
        .filter(|other| other != text)
        .map(Value::from)
        .collect(),
        _ => Vec::new(),
    }
}

/// Not what names the object, nor rules that a controller fills in, nor what is empty where nothing is the same.
fn is_compared(live: &Value, place: &str) -> bool {
    let aggregated = !live["aggregationRule"].is_null() && place.starts_with("/rules");
    let same = ["", "/data", "/metadata", "/metadata/labels", "/metadata/annotations"];
    !aggregated
        && !same.contains(&place)
        && ![
            "/apiVersion",
            "/kind",
            "/metadata/name",
            "/metadata/labels/objectset.rio.cattle.io",
        ]
        .iter()
        .any(|prefix| place.starts_with(prefix))
}

async fn every_change_is_found(site: &Site) {
    let mut found = 0;
    for (wanted, live) in apply(site).await {
        let name = ObjectKey::of(&live).display();
        assert_eq!(drift::difference(&wanted, &live, None), None, "{name}");
        assert_eq!(
            drift::difference(&wanted, &unowned(&live), None),
            None,
            "{name} without owners"
        );
        let mut both = Vec::new();
        places(&wanted, &live, "", &mut both);
        for place in both.into_iter().filter(|place| is_compared(&live, place)) {
            let now = live.pointer(&place).expect("it was just found").clone();
            let mut patches = vec![json!([{"op": "remove", "path": place}])];
            patches.extend(
                others(&now)
                    .into_iter()
                    .map(|value| json!([{"op": "replace", "path": place, "value": value}])),
            );
            for patch in patches {
                let Some(changed) = site.meddle(&live, &patch, true).await else {
                    continue;
                };
                if changed.pointer(&place) == Some(&now) {
                    continue; // The server puts it back itself.
                }
                assert!(drift::difference(&wanted, &changed, None).is_some(), "{name} {patch}");
                found += 1;
                if patch[0]["op"] == "replace" {
                    break;
                }
            }
        }
    }
    assert!(found > 480, "only {found} fields could be changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_found_and_nothing_else_on_the_embedded_server() {
    every_change_is_found(&Site::embedded().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_found_and_nothing_else_on_a_real_server() {
    if let Some(site) = Site::real().await {
        every_change_is_found(&site).await;
    }
}

fn release() -> Release {
    let documents: Vec<String> = objects().iter().map(Value::to_string).collect();
    Release {
        name: "bundle".into(),
        namespace: "drift".into(),
        version: 1,
        manifest: documents.join("\n---\n"),
        ..Release::default()
    }
}

async fn observe(site: &Site) -> Seen {
    let set = ObjectSet::of("bundle", "");
    let options = BundleDeploymentOptions::default();
    monitor::observe(&site.cluster, &release(), None, &options, &set)
        .await
        .expect("it can be looked at")
}

/// Objects that differ.
fn names(seen: &Seen) -> BTreeSet<String> {
    seen.differences.iter().map(|(key, _)| key.name.clone()).collect()
}

async fn a_correction_is_one_write(site: &Site, force: bool) {
    let live = apply(site).await;
    let of = |kind: &str, name: &str| {
        let found = live.iter().map(|(_, live)| live);
        found
            .into_iter()
            .find(|live| live["kind"] == kind && object::name(live) == name)
            .expect("it is there")
    };
    let replace = |path: &str, value: Value| json!([{"op": "replace", "path": path, "value": value}]);
    for (live, patch) in [
        (of("ConfigMap", "plain"), replace("/data/key", json!("meddled"))),
        (
            of("Deployment", "web"),
            replace("/spec/template/spec/containers/0/image", json!("evil")),
        ),
        (of("Gadget", "gadget"), replace("/spec/size", json!(7))),
        (of("Role", "reader"), replace("/rules/0/verbs", json!(["*"]))),
        (
            of("ServiceAccount", "account"),
            json!([{"op": "remove", "path": "/metadata/labels/objectset.rio.cattle.io~1hash"}]),
        ),
    ] {
        assert!(site.meddle(live, &patch, false).await.is_some(), "{patch}");
    }
    assert!(site.scale(of("StatefulSet", "store"), 1).await, "as kubectl scale does");
    site.cluster
        .delete(&ObjectKey::of(of("Secret", "texts")))
        .await
        .expect("it can be deleted");
    let meddled: BTreeSet<String> = ["account", "gadget", "plain", "reader", "store", "texts", "web"]
        .map(String::from)
        .into();
    let seen = observe(site).await;
    assert_eq!(names(&seen), meddled);
    let exists = |name: &str| {
        seen.differences
            .iter()
            .find(|(key, _)| key.name == name)
            .map(|(_, found)| found.clone())
    };
    assert_eq!(exists("account"), Some(Difference::Missing { exists: true }));
    assert_eq!(exists("texts"), Some(Difference::Missing { exists: false }));

    site.writes();
    let (written, outcome) = correct::correct(&site.cluster, &release(), &seen, force).await;
    outcome.expect("all can be corrected");
    assert_eq!((written, site.writes()), (meddled.len(), meddled.len()));

    let seen = observe(site).await;
    assert_eq!(seen.differences, [], "forced: {force}");
    let (written, outcome) = correct::correct(&site.cluster, &release(), &seen, force).await;
    outcome.expect("nothing is to be done");
    assert_eq!((written, site.writes()), (0, 0));
    let records = site
        .cluster
        .list("v1", "Secret", "drift", "owner=helm")
        .await
        .expect("they can be listed");
    assert!(records.is_empty(), "a correction makes no revision");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_is_one_write_on_the_embedded_server() {
    a_correction_is_one_write(&Site::embedded().await, false).await;
    a_correction_is_one_write(&Site::embedded().await, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_is_one_write_on_a_real_server() {
    if let Some(site) = Site::real().await {
        a_correction_is_one_write(&site, false).await;
        a_correction_is_one_write(&site, true).await;
    }
}
