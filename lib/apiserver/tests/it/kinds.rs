//! Every field of every built-in kind, spoilt: what the server says against it is what kube-apiserver said.
//!
//! `tests/data/kinds.yaml` holds whole objects; each is sent as it is and with one field removed or given a bad value, as a
//! dry run. `tests/data/kinds.answers` is what kube-apiserver answered: one line per refusal, accepted ones are left out.
//! `UPDATE_EXPECT=1` with `APISERVER_TEST_KUBECONFIG` naming a real server writes it anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{World, external, world};

/// Answers that differ from the reference's; may only fall. The reference panics over an indexed job with a success policy
/// and no completions, so nothing was recorded; and its dry runs take two node ports that the write would refuse.
const DIFFERING: usize = 3;

/// A change of one object: what it is called, and the object after it.
type Spoilt = (String, Value);

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// JSON pointers of everything below a value.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, inner)| (key.replace('~', "~0").replace('/', "~1"), inner))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(position, inner)| (position.to_string(), inner))
            .collect(),
        _ => Vec::new(),
    };
    for (key, inner) in children {
        let pointer = format!("{at}/{key}");
        pointers(inner, &pointer, found);
        found.push(pointer);
    }
}

fn without(object: &Value, pointer: &str) -> Value {
    let mut object = object.clone();
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match object.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.remove(&last.replace("~1", "/").replace("~0", "~"))),
        Value::Array(items) => drop(items.remove(last.parse::<usize>().unwrap())),
        _ => panic!("{pointer} has a parent"),
    }
    object
}

fn spoilt(object: &Value) -> Vec<Spoilt> {
    let mut found = Vec::new();
    pointers(object, "", &mut found);
    let mut all = vec![("whole".to_owned(), object.clone())];
    for pointer in found
        .iter()
        .filter(|p| p.starts_with("/spec") || p.starts_with("/webhooks") || p.matches('/').count() > 1)
    {
        let mut put = |name: &str, value: Value| {
            let mut object = object.clone();
            *object.pointer_mut(pointer).unwrap() = value;
            all.push((format!("{pointer} {name}"), object));
        };
        match object.pointer(pointer).unwrap() {
            Value::String(_) => put("bad", json!("Bad_Value!")),
            Value::Number(_) => put("negative", json!(-1)),
            Value::Array(_) => put("empty", json!([])),
            _ => {}
        }
        all.push((format!("{pointer} gone"), without(object, pointer)));
    }
    all
}

/// `422 spec.replicas FieldValueInvalid, …`; empty for what is accepted.
async fn answer(world: &World, object: &Value) -> String {
    let (version, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
    let (group, version_name) = version.split_once('/').unwrap_or(("", version));
    let resource = kubeschema::kinds::by_kind(group, version_name, kind).unwrap();
    let root = if group.is_empty() { "/api" } else { "/apis" };
    let namespace = if resource.namespaced {
        format!("/namespaces/{}", world.namespace)
    } else {
        String::new()
    };
    let path = format!(
        "{root}/{version}{namespace}/{}?dryRun=All&fieldValidation=Ignore",
        resource.name
    );
    let body = object
        .to_string()
        .replace("\"namespace\":\"f\"", &format!("\"namespace\":\"{}\"", world.namespace));
    let request = http::Request::post(path)
        .header("content-type", "application/json")
        .body(body.into_bytes())
        .unwrap();
    match world.client.request::<Value>(request).await {
        Ok(_) => String::new(),
        Err(kube::Error::Api(status)) => {
            let causes = status.details.map(|details| details.causes).unwrap_or_default();
            let mut told: Vec<String> = causes
                .iter()
                .map(|cause| format!("{} {}", cause.field, cause.reason))
                .collect();
            told.sort();
            told.dedup();
            format!("{} {}", status.code, told.join(", ")).trim_end().to_owned()
        }
        // The reference panics over a few of these.
        Err(_) => "disconnected".to_owned(),
    }
}

#[expect(clippy::disallowed_methods, reason = "the test remakes its own record")]
fn recording() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some() && external().is_some()
}

#[tokio::test]
async fn every_field_is_judged_as_the_reference_judges_it() {
    let world = world().await;
    let objects = goyaml::parse_documents(&std::fs::read_to_string(data("kinds.yaml")).unwrap()).unwrap();
    let mut answers = BTreeMap::new();
    for document in &objects {
        let object = &document.value;
        let name = format!(
            "{} {}",
            object["kind"].as_str().unwrap(),
            object["metadata"]["name"].as_str().unwrap()
        );
        for (change, object) in spoilt(object) {
            answers.insert(format!("{name} {change}"), answer(&world, &object).await);
        }
    }
    let total = answers.len();
    answers.retain(|_, answer| answer != "disconnected");
    let lines: Vec<String> = answers
        .iter()
        .filter(|(_, answer)| !answer.is_empty())
        .map(|(change, answer)| format!("{change}: {answer}"))
        .collect();
    if recording() {
        std::fs::write(data("kinds.answers"), lines.join("\n") + "\n").unwrap();
        return;
    }
    let record = std::fs::read_to_string(data("kinds.answers")).unwrap();
    let mut expected: BTreeMap<&str, &str> = record.lines().filter_map(|line| line.split_once(": ")).collect();
    let mut differing = Vec::new();
    for (change, answer) in &answers {
        let wanted = expected.remove(change.as_str()).unwrap_or_default();
        if wanted != answer {
            differing.push(format!("{change}\n  expected {wanted:?}\n  got      {answer:?}"));
        }
    }
    let text = differing.join("\n");
    assert!(
        differing.len() <= DIFFERING,
        "{} of {total} differ, {DIFFERING} may:\n{text}",
        differing.len()
    );
}
