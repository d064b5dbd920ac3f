//! Whole charts: what Helm rendered is data; the number of agreeing charts may only rise.

use std::collections::BTreeMap;

use helm::capabilities::Capabilities;
use helm::chart::Chart;
use helm::render::{ReleaseOptions, render};
use serde_json::Value;

/// Raise it when more charts agree; never lower it.
const AGREE: usize = 82;

fn content(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    match text.strip_prefix("base64:") {
        Some(encoded) => base64::engine::general_purpose::STANDARD.decode(encoded).unwrap(),
        None => text.as_bytes().to_vec(),
    }
}

fn answer(case: &Value) -> Result<BTreeMap<String, String>, String> {
    let files = case["files"].as_object().unwrap();
    let files = files
        .iter()
        .map(|(name, text)| (name.clone(), content(text.as_str().unwrap())))
        .collect();
    let chart = Chart::from_files(files).map_err(|error| error.to_string())?;
    let release = ReleaseOptions {
        name: "rel".into(),
        namespace: "ns".into(),
        revision: 1,
        is_install: true,
        ..ReleaseOptions::default()
    };
    let values = case["values"].as_object().unwrap();
    let rendered = render(&chart, values, &release, &Capabilities::default(), None).map_err(|e| e.to_string())?;
    let mut found: BTreeMap<_, _> = rendered.manifests.into_iter().map(|m| (m.path, m.text)).collect();
    found.insert("notes".into(), rendered.notes);
    Ok(found)
}

/// Helm's answer in our shape: notes apart, partials (which Helm lists as empty) left out.
fn expected(case: &Value) -> Result<BTreeMap<String, String>, String> {
    if let Some(error) = case.get("error") {
        return Err(error.as_str().unwrap().to_owned());
    }
    let mut found = BTreeMap::from([("notes".to_owned(), String::new())]);
    for (path, text) in case["files_out"].as_object().unwrap() {
        let text = text.as_str().unwrap().to_owned();
        let base = path.rsplit('/').next().unwrap();
        if path == "top/templates/NOTES.txt" {
            found.insert("notes".into(), text);
        } else if base != "NOTES.txt" && !base.starts_with('_') {
            found.insert(path.clone(), text);
        }
    }
    Ok(found)
}

#[test]
fn charts_render_as_helm_renders_them() {
    let cases = super::data("charts.json");
    let cases = cases.as_array().unwrap();
    let mut agree = 0;
    let mut report = String::new();
    for case in cases {
        let (got, want) = (answer(case), expected(case));
        if got == want {
            agree += 1;
        } else {
            report += &format!("{}\n  helm {want:?}\n  ours {got:?}\n", case["about"]);
        }
    }
    println!("{agree} of {} agree\n{report}", cases.len());
    assert!(agree >= AGREE, "only {agree} of {} agree\n{report}", cases.len());
}

#[test]
fn the_recorded_chart_knows_which_dependencies_take_part() {
    let file = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
    let chart = "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n- {name: a, version: '*', condition: a.used}\n- {name: b, version: '*', alias: c, condition: c.used}\n- {name: gone, version: '*'}\n";
    let files = BTreeMap::from([
        file("Chart.yaml", chart),
        file("values.yaml", "a: {used: false}\nc: {used: true}\n"),
        file("charts/a/Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n"),
        file("charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n"),
    ]);
    let chart = Chart::from_files(files).unwrap();
    let release = ReleaseOptions::default();
    let values = serde_json::Map::new();
    let rendered = render(&chart, &values, &release, &Capabilities::default(), None).unwrap();
    let record = rendered.chart.to_json();
    let dependencies = record["metadata"]["dependencies"].as_array().unwrap();
    let found: Vec<_> = dependencies
        .iter()
        .map(|dependency| (dependency["name"].as_str().unwrap(), &dependency["enabled"]))
        .collect();
    assert_eq!(found, [("c", &Value::Bool(true)), ("gone", &Value::Bool(true))]);
}
