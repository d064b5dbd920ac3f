//! Input that would make a careless program hang, crash or fill the memory: an error instead, and quickly.

use std::collections::BTreeMap;

fn error(files: &[(&str, String)]) -> String {
    let files: BTreeMap<String, Vec<u8>> = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect();
    kustomize::build(&files, "").unwrap_err().to_string()
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {a: {b: c}}\n";

#[test]
fn copies_that_double_an_object_end() {
    let operations: String = (0..60)
        .map(|number| format!("- {{op: copy, from: /spec, path: /spec/x{number}}}\n"))
        .collect();
    let kustomization = "resources: [p.yaml]\npatches: [{target: {kind: Pod}, path: j.yaml}]\n".to_owned();
    let found = error(&[
        ("kustomization.yaml", kustomization),
        ("p.yaml", POD.to_owned()),
        ("j.yaml", operations),
    ]);
    assert!(found.contains("values or 125 levels"), "{found}");
}

#[test]
fn replacements_that_double_a_text_end() {
    let mut kustomization = "resources: [p.yaml]\nreplacements:\n".to_owned();
    for _ in 0..60 {
        kustomization.push_str(
            "- source: {kind: Pod, fieldPath: spec.a.b}\n  targets: [{select: {kind: Pod}, fieldPaths: [spec.a.b], \
             options: {delimiter: x, index: -1}}]\n",
        );
    }
    let found = error(&[("kustomization.yaml", kustomization), ("p.yaml", POD.to_owned())]);
    assert!(found.contains("more than"), "{found}");
}

#[test]
fn replacements_that_double_an_object_end() {
    let mut kustomization = "resources: [p.yaml]\nreplacements:\n".to_owned();
    for number in 0..60 {
        kustomization.push_str(&format!(
            "- source: {{kind: Pod, fieldPath: spec}}\n  targets: [{{select: {{kind: Pod}}, fieldPaths: \
             [spec.x{number}], options: {{create: true}}}}]\n",
        ));
    }
    let found = error(&[("kustomization.yaml", kustomization), ("p.yaml", POD.to_owned())]);
    assert!(found.contains("more than"), "{found}");
}

#[test]
fn variables_that_fill_the_memory_end() {
    let text = format!("data: {{a: '{}'}}", "x".repeat(1 << 20));
    let many = "$(V)".repeat(500);
    let config =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, annotations: {{x: '{many}'}}}}\n{text}\n");
    let kustomization = "resources: [c.yaml]\nvars: [{name: V, objref: {apiVersion: v1, kind: ConfigMap, name: c}, \
                         fieldref: {fieldpath: data.a}}]\n";
    let found = error(&[("kustomization.yaml", kustomization.to_owned()), ("c.yaml", config)]);
    assert!(found.contains("more than"), "{found}");
}

#[test]
fn bases_that_double_end() {
    let mut files = vec![
        ("kustomization.yaml".to_owned(), "resources: [l29/a]\n".to_owned()),
        (
            "l0/a/kustomization.yaml".to_owned(),
            "resources: [p.yaml]\nnamePrefix: a\n".to_owned(),
        ),
        (
            "l0/b/kustomization.yaml".to_owned(),
            "resources: [p.yaml]\nnamePrefix: b\n".to_owned(),
        ),
        ("l0/a/p.yaml".to_owned(), POD.to_owned()),
        ("l0/b/p.yaml".to_owned(), POD.to_owned()),
    ];
    for level in 1..30 {
        let below = level - 1;
        for side in ["a", "b"] {
            files.push((
                format!("l{level}/{side}/kustomization.yaml"),
                format!("resources: [../../l{below}/a, ../../l{below}/b]\nnamePrefix: {side}\n"),
            ));
        }
    }
    let files: BTreeMap<String, Vec<u8>> = files
        .into_iter()
        .map(|(path, text)| (path, text.into_bytes()))
        .collect();
    let found = kustomize::build(&files, "").unwrap_err().to_string();
    assert!(found.contains("kustomizations"), "{found}");
}

#[test]
fn nesting_and_cycles_end() {
    let deep = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {}1{}\n",
        "[".repeat(9000),
        "]".repeat(9000)
    );
    let kustomization = "resources: [p.yaml]\n".to_owned();
    assert!(error(&[("kustomization.yaml", kustomization), ("p.yaml", deep)]).contains("levels deep"));
    let cycle = [
        ("kustomization.yaml", "resources: [a]\n".to_owned()),
        ("a/kustomization.yaml", "components: [../a]\n".to_owned()),
    ];
    assert!(error(&cycle).contains("cycle"));
    let mut schema = "T: {Schema: {properties: {kind: {}, apiVersion: {}, metadata: {}, t: {$ref: T}}}}\n".to_owned();
    schema.push_str("U: {Schema: {properties: {}}}\n");
    let found = error(&[
        ("kustomization.yaml", "crds: [c.yaml]\n".to_owned()),
        ("c.yaml", schema),
    ]);
    assert!(found.contains("holds itself"), "{found}");
}

#[test]
fn a_very_long_list_of_ports_is_refused() {
    let ports: String = (0..4000).map(|port| format!("    - containerPort: {port}\n")).collect();
    let pod = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n  - name: c\n    ports:\n{ports}"
    );
    let kustomization = "resources: [p.yaml]\npatches: [{path: p.yaml}]\n".to_owned();
    let found = error(&[("kustomization.yaml", kustomization), ("p.yaml", pod)]);
    assert!(found.contains("items cannot be merged"), "{found}");
}
