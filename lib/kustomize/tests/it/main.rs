//! Agreement with the real kustomize over our own cases, byte by byte. `tests/reference/remake.py` makes the answers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use goyaml::Dialect;
use kustomize::Order;
use serde_json::Value;

mod bound;

/// Cases that do not agree, and why.
///
/// - Texts with YAML in them lose comments and quotes when a replacement changes them.
const DIFFERENT: [&str; 1] = ["replacement inside of yaml texts"];

fn files(case: &Value) -> BTreeMap<String, Vec<u8>> {
    let files = case["files"].as_object().unwrap().iter();
    files
        .map(|(path, text)| (path.clone(), text.as_str().unwrap().as_bytes().to_vec()))
        .collect()
}

fn built(case: &Value) -> Result<String, String> {
    let dir = case["dir"].as_str().unwrap_or_default();
    let objects = kustomize::build_in_order(&files(case), dir, Order::Legacy).map_err(|error| error.to_string())?;
    kustomize::to_yaml(&objects).map_err(|error| error.to_string())
}

/// The first line where two texts differ.
fn difference(want: &str, got: &str) -> Option<String> {
    let (want, got): (Vec<&str>, Vec<&str>) = (want.split('\n').collect(), got.split('\n').collect());
    let at = (0..want.len().max(got.len())).find(|at| want.get(*at) != got.get(*at))?;
    let line = |lines: &[&str]| lines.get(at).map_or("(the end)".to_owned(), |line| format!("'{line}'"));
    Some(format!("line {}: want {}, got {}", at + 1, line(&want), line(&got)))
}

fn check(cases: &str) {
    let cases = goyaml::parse_with(Dialect::V3, cases).unwrap();
    let mut differing = Vec::new();
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let found = match (built(case), case["output"].as_str(), case["error"].as_str()) {
            (Ok(text), Some(output), _) => difference(output, &text),
            (Err(message), Some(_), _) => Some(format!("fails: {message}")),
            (Ok(_), None, _) => Some("should fail".to_owned()),
            (Err(message), None, Some(wanted)) => difference(wanted, &message),
            (Err(message), None, None) => Some(format!("no error is recorded for: {message}")),
        };
        if found.is_some() != DIFFERENT.contains(&name) {
            differing.push(format!("{name}: {}", found.unwrap_or_else(|| "agrees now".to_owned())));
        }
    }
    assert!(
        differing.is_empty(),
        "{} differ:\n{}",
        differing.len(),
        differing.join("\n")
    );
}

#[test]
fn whole_kustomizations_agree() {
    check(include_str!("../baseline/cases.yaml"));
}

#[test]
fn patches_agree() {
    check(include_str!("../baseline/patches.yaml"));
}

#[test]
fn merges_names_and_files_agree() {
    check(include_str!("../baseline/merges.yaml"));
}

#[test]
fn fields_agree() {
    check(include_str!("../baseline/fields.yaml"));
}

#[test]
fn values_and_plugins_agree() {
    check(include_str!("../baseline/values.yaml"));
}

#[test]
fn objects_come_in_the_order_of_resources_unless_asked_otherwise() {
    let files = BTreeMap::from([
        (
            "kustomization.yaml".to_owned(),
            b"resources: [b.yaml, a.yaml]\nnamespace: x\n".to_vec(),
        ),
        (
            "a.yaml".to_owned(),
            b"kind: Namespace\napiVersion: v1\nmetadata: {name: x}\n".to_vec(),
        ),
        (
            "b.yaml".to_owned(),
            b"kind: Pod\napiVersion: v1\nmetadata: {name: x}\n".to_vec(),
        ),
    ]);
    let kinds = |objects: Vec<Value>| -> Vec<String> {
        objects
            .iter()
            .map(|object| object["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(kinds(kustomize::build(&files, "").unwrap()), ["Pod", "Namespace"]);
    let sorted = kustomize::build_in_order(&files, "", Order::Legacy).unwrap();
    assert_eq!(kinds(sorted), ["Namespace", "Pod"]);
}

#[test]
fn links_do_not_lead_out_of_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::create_dir(path("app")).unwrap();
    std::fs::write(path("secret.txt"), "x").unwrap();
    std::os::unix::fs::symlink(path("secret.txt"), path("app/link.txt")).unwrap();
    std::fs::write(
        path("app/kustomization.yaml"),
        "configMapGenerator: [{name: a, files: [link.txt]}]\n",
    )
    .unwrap();
    let error = kustomize::build_directory(&path("app"), Order::Given).unwrap_err();
    assert!(error.message.contains("is not in or below"), "{error}");
}
