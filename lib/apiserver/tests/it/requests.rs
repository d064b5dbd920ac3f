//! Requests that are seldom sent, and what kube-apiserver answered to them.
//!
//! `tests/data/requests.yaml` holds scenarios of requests; each runs in a namespace of its own. `tests/data/requests.answers` is
//! what kube-apiserver answered, one line per request: the status code, then a refusal's causes or words, then the values and warnings
//! that the request asks to see. `UPDATE_EXPECT=1` with `APISERVER_TEST_KUBECONFIG` naming a real server writes it anew.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http::{HeaderMap, Request};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::Value;

use crate::{World, external, world};

/// How often a request is repeated that has to have an effect first, and after how long.
const PATIENCE: (usize, Duration) = (300, Duration::from_millis(50));

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// What stands for the names of a scenario in its requests, and in what is said about them.
fn names(world: &World) -> [(&'static str, String); 2] {
    let group = format!("{}.example.com", world.namespace);
    [("${group}", group), ("${ns}", world.namespace.clone())]
}

fn fill(world: &World, text: &str) -> String {
    names(world)
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
}

fn content_type(step: &Value) -> &str {
    match step["as"].as_str() {
        Some("merge") => "application/merge-patch+json",
        Some("json") => "application/json-patch+json",
        Some("strategic") => "application/strategic-merge-patch+json",
        Some("apply") => "application/apply-patch+yaml",
        Some(other) => other,
        None => "application/json",
    }
}

async fn send(world: &World, step: &Value) -> (u16, HeaderMap, String) {
    let fill = |text: &str| fill(world, text);
    let line = fill(step["do"].as_str().unwrap());
    let (method, path) = line.split_once(' ').unwrap();
    let body = match (&step["body"], &step["text"]) {
        (Value::Null, Value::String(text)) => fill(text),
        (Value::Null, _) => String::new(),
        (body, _) => fill(&body.to_string()),
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", content_type(step));
    let request = match step["accept"].as_str() {
        Some(media) => request.header("accept", media),
        None => request,
    };
    // Another user, whom the administrator stands in for.
    let request = match step["by"].as_str() {
        Some(user) => request.header("impersonate-user", fill(user)),
        None => request,
    };
    let request = request.body(Body::from(body.into_bytes())).unwrap();
    let (head, body) = world.client.send(request).await.unwrap().into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    (
        head.status.as_u16(),
        head.headers,
        String::from_utf8_lossy(&bytes).into_owned(),
    )
}

/// One line about an answer: what clients act on.
fn told(step: &Value, code: u16, headers: &HeaderMap, text: &str) -> String {
    let mut line = vec![code.to_string()];
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    match body["details"]["causes"].as_array() {
        Some(causes) if code == 422 => {
            let mut causes: Vec<String> = causes
                .iter()
                .map(|cause| {
                    format!(
                        "{} {}",
                        cause["field"].as_str().unwrap_or_default(),
                        cause["reason"].as_str().unwrap()
                    )
                })
                .collect();
            causes.sort();
            causes.dedup();
            line.push(causes.join(", "));
        }
        // The words about bodies that cannot be read are nobody's business.
        _ if code == 400 => {}
        _ if code > 400 && body.is_object() => {
            // The uid of an object is another one every time.
            let message = body["message"].as_str().unwrap_or_default();
            line.push(
                message
                    .split("UID in object meta")
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            );
        }
        _ if code > 400 => line.push(format!("{text:?}")),
        _ => {}
    }
    for warning in headers.get_all("warning") {
        line.push(warning.to_str().unwrap().to_owned());
    }
    for pointer in step["see"].as_array().into_iter().flatten() {
        let pointer = pointer.as_str().unwrap();
        line.push(format!("{pointer}={}", body.pointer(pointer).unwrap_or(&Value::Null)));
    }
    line.join(" ")
}

/// Whether an answer is the one that a step waits for: `until` names a status code, or the texts to find at JSON pointers.
fn awaited(world: &World, step: &Value, code: u16, text: &str) -> bool {
    match &step["until"] {
        Value::Object(values) => {
            let body: Value = serde_json::from_str(text).unwrap_or_default();
            values.iter().all(|(pointer, value)| {
                let wanted = fill(world, value.as_str().unwrap());
                body.pointer(pointer).and_then(Value::as_str) == Some(wanted.as_str())
            })
        }
        until => until.as_u64().is_none_or(|until| until == u64::from(code)),
    }
}

async fn answer(world: &World, step: &Value) -> String {
    let mut got = send(world, step).await;
    for _ in 0..PATIENCE.0 {
        if awaited(world, step, got.0, &got.2) {
            break;
        }
        tokio::time::sleep(PATIENCE.1).await;
        got = send(world, step).await;
    }
    let line = told(step, got.0, &got.1, &got.2);
    names(world)
        .iter()
        .fold(line, |line, (name, value)| line.replace(value, name))
}

#[expect(clippy::disallowed_methods, reason = "the test remakes its own record")]
fn recording() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some() && external().is_some()
}

#[tokio::test]
async fn requests_are_answered_as_the_reference_answers_them() {
    let scenarios = goyaml::parse_documents(&std::fs::read_to_string(data("requests.yaml")).unwrap()).unwrap();
    let mut lines = Vec::new();
    for document in &scenarios {
        let scenario = &document.value;
        let about = scenario["about"].as_str().unwrap();
        let world = world().await;
        for (position, step) in scenario["steps"].as_array().unwrap().iter().enumerate() {
            let answer = answer(&world, step).await;
            lines.push(format!(
                "{about} #{} {}: {answer}",
                position + 1,
                step["do"].as_str().unwrap()
            ));
        }
    }
    let text = lines.join("\n") + "\n";
    if recording() {
        std::fs::write(data("requests.answers"), text).unwrap();
        return;
    }
    let record = std::fs::read_to_string(data("requests.answers")).unwrap();
    let wanted: Vec<&str> = record.lines().collect();
    let got: Vec<&str> = text.lines().collect();
    let differing: Vec<String> = wanted
        .iter()
        .zip(&got)
        .filter(|(wanted, got)| wanted != got)
        .map(|(wanted, got)| format!("expected {wanted}\n     got {got}"))
        .collect();
    assert!(
        differing.is_empty(),
        "{} differ:\n{}",
        differing.len(),
        differing.join("\n")
    );
    assert_eq!(wanted.len(), got.len());
}
