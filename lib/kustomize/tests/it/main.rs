//! Agreement with the real kustomize over our own cases. `tests/reference/remake.py` makes the answers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use goyaml::Dialect;
use serde_json::Value;

/// How many cases agree. May only rise. The one that does not: a null label in a file of patchesStrategicMerge becomes
/// the text "null" there; here it removes the label.
const AGREEMENT: usize = 61;

fn build(case: &Value) -> Result<Vec<Value>, kustomize::Error> {
    let files: BTreeMap<String, Vec<u8>> = case["files"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(path, text)| (path.clone(), text.as_str().unwrap().as_bytes().to_vec()))
        .collect();
    kustomize::build(&files, case["dir"].as_str().unwrap_or_default())
}

/// The first place where two values differ.
fn difference(path: &str, want: &Value, got: &Value) -> Option<String> {
    match (want, got) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter()
                .find_map(|key| difference(&format!("{path}/{key}"), &want[key], &got[key]))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|at| difference(&format!("{path}/{at}"), &a[at], &b[at]))
        }
        _ => (want != got).then(|| format!("{path}: want {want}, got {got}")),
    }
}

#[test]
fn the_reference_and_this_crate_agree() {
    let cases = goyaml::parse_with(Dialect::V3, include_str!("../baseline/cases.yaml")).unwrap();
    let cases = cases.as_array().unwrap();
    let mut differing = Vec::new();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let found = match (build(case), case["fails"] == true) {
            (Err(_), true) => None,
            (Ok(_), true) => Some("should fail".to_owned()),
            (Err(error), false) => Some(format!("fails: {error}")),
            (Ok(objects), false) => difference("", &case["objects"], &Value::Array(objects)),
        };
        differing.extend(found.map(|found| format!("{name}: {found}")));
    }
    assert!(
        cases.len() - differing.len() >= AGREEMENT,
        "{} differ:\n{}",
        differing.len(),
        differing.join("\n")
    );
}

#[test]
fn errors_name_the_file_and_the_field() {
    let files = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect::<BTreeMap<_, _>>()
    };
    let error = |pairs: &[(&str, &str)]| kustomize::build(&files(pairs), "app").unwrap_err().to_string();
    assert_eq!(
        error(&[("app/kustomization.yaml", "resources: [a.yaml]")]),
        "app/kustomization.yaml: resources[0]: file 'a.yaml' does not exist"
    );
    assert_eq!(
        error(&[("app/kustomization.yaml", "resources: [https://example.com/x]")]),
        "app/kustomization.yaml: resources[0]: 'https://example.com/x' is remote; only files of the bundle can be used"
    );
    assert_eq!(
        error(&[
            ("app/kustomization.yaml", "resources: [a.yaml]"),
            ("app/a.yaml", "a: b: c")
        ]),
        "app/a.yaml: line 1, column 5: mapping values are not allowed in this context"
    );
    assert_eq!(
        error(&[("app/kustomization.yaml", "vars: [{name: x}]")]),
        "app/kustomization.yaml: vars: this field is not supported"
    );
    assert!(error(&[("app/kustomization.yaml", "nope: 1")]).contains("unknown field `nope`"));
}
