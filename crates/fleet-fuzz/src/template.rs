//! A template with Helm's functions: it ends, and ends the same way each time.

use std::collections::BTreeMap;

use helm::capabilities::Capabilities;
use helm::chart::Chart;
use helm::render::{ReleaseOptions, render};
use serde_json::Value;

use crate::section;

/// Functions whose answer differs from call to call.
const VARYING: &[&str] = &[
    "rand",
    "uuid",
    "now",
    "ago",
    "date",
    "gen",
    "shuffle",
    "htpasswd",
    "bcrypt",
    "encrypt",
    "derive",
    "buildCustom",
    "Date",
];

/// The template, then the chart's values.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let [template, values] = section::parts(text);
    let plain = gotemplate::Engine::new().functions(gotemplate::sprig::text());
    let root = goyaml::parse(&values).unwrap_or_default();
    let root = if root.is_object() {
        root
    } else {
        Value::Object(serde_json::Map::new())
    };
    let alone = plain.render("t", &template, &root);
    let varies = VARYING.iter().any(|name| template.contains(name));
    if !varies {
        assert_eq!(alone, plain.render("t", &template, &root), "not the same twice");
    }

    let files = BTreeMap::from([
        (
            "Chart.yaml".to_owned(),
            b"apiVersion: v2\nname: c\nversion: 1.0.0\n".to_vec(),
        ),
        ("values.yaml".to_owned(), values.into_bytes()),
        ("templates/t.yaml".to_owned(), template.into_bytes()),
    ]);
    let Ok(chart) = Chart::from_files(files) else { return };
    let release = ReleaseOptions {
        name: "r".to_owned(),
        namespace: "n".to_owned(),
        revision: 1,
        is_install: true,
        ..ReleaseOptions::default()
    };
    let print = || {
        render(
            &chart,
            &serde_json::Map::new(),
            &release,
            &Capabilities::default(),
            None,
        )
    };
    let first = print();
    if !varies {
        match (first, print()) {
            (Ok(first), Ok(second)) => assert_eq!(first.manifests, second.manifests, "not the same twice"),
            (Err(first), Err(second)) => assert_eq!(first.to_string(), second.to_string(), "not the same twice"),
            (first, second) => panic!("once {first:?}, once {second:?}"),
        }
    }
}
