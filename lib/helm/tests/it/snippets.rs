//! Template snippets: what Helm printed is data; the number of agreeing answers may only rise.

use std::collections::BTreeMap;

use helm::capabilities::Capabilities;
use helm::chart::Chart;
use helm::render::{ReleaseOptions, render};
use serde_json::Value;

use super::data;

/// Raise it when more snippets agree; never lower it.
const AGREE: usize = 2684;

fn answer(chart: &Value, values: &Value, snippet: &str) -> Result<String, String> {
    let mut files: BTreeMap<String, Vec<u8>> = chart
        .as_object()
        .unwrap()
        .iter()
        .map(|(k, v)| (k.clone(), v.as_str().unwrap().as_bytes().to_vec()))
        .collect();
    files.insert("templates/t.yaml".into(), snippet.as_bytes().to_vec());
    let chart = Chart::from_files(files).unwrap();
    let release = ReleaseOptions {
        name: "rel".into(),
        namespace: "ns".into(),
        revision: 1,
        is_install: true,
        ..ReleaseOptions::default()
    };
    let rendered = render(
        &chart,
        values.as_object().unwrap(),
        &release,
        &Capabilities::default(),
        None,
    );
    match rendered {
        Ok(rendered) => Ok(rendered
            .manifests
            .into_iter()
            .find(|m| m.path == "c/templates/t.yaml")
            .unwrap()
            .text),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn snippets_print_what_helm_prints() {
    let (cases, chart, values) = (
        data("snippets.json"),
        data("snippets-chart.json"),
        data("snippets-values.json"),
    );
    let cases = cases.as_array().unwrap();
    let mut agree = 0;
    let mut report = String::new();
    for case in cases {
        let snippet = case["snippet"].as_str().unwrap();
        let got = answer(&chart, &values, snippet);
        let same = match &got {
            Ok(text) => case["text"].as_str() == Some(text),
            Err(error) => case["error"].as_str() == Some(error),
        };
        if same {
            agree += 1;
        } else {
            report += &format!(
                "{snippet}\n  helm {}\n  ours {got:?}\n",
                case.get("text").or(case.get("error")).unwrap()
            );
        }
    }
    println!("{agree} of {} agree\n{report}", cases.len());
    assert!(agree >= AGREE, "only {agree} of {} agree\n{report}", cases.len());
}
