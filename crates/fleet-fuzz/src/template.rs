//! A template with Helm's functions: it ends, and ends the same way each time.

use std::collections::BTreeMap;

use helm::capabilities::Capabilities;
use helm::chart::Chart;
use helm::render::{Manifest, ReleaseOptions, render};
use serde_json::Value;

use crate::{call, section};

/// Functions whose answer differs from call to call.
pub(crate) const VARYING: &[&str] = &[
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

/// What the engine says after a panic, which it keeps from its caller: here it must not.
pub(crate) const PANICKED: &str = "the execution stopped";

/// The template, then the chart's values; or, after a byte 1, choices that become calls of functions.
pub fn check(data: &[u8]) {
    if let [1, choices @ ..] = data {
        return law(&call::template(choices), call::VALUES);
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let [template, values] = section::parts(text);
    law(&template, &values);
}

fn law(template: &str, values: &str) {
    let varies = VARYING.iter().any(|name| template.contains(name));
    alone(template, values, varies);
    in_a_chart(template, values, varies);
}

fn alone(template: &str, values: &str, varies: bool) {
    let plain = gotemplate::Engine::new().functions(gotemplate::sprig::text());
    let root = goyaml::parse(values).unwrap_or_default();
    let root = if root.is_object() {
        root
    } else {
        Value::Object(serde_json::Map::new())
    };
    let first = plain.render("t", template, &root);
    if let Err(error) = &first {
        assert!(!error.to_string().contains(PANICKED), "a panic in {template}");
    }
    if !varies {
        assert_eq!(
            first,
            plain.render("t", template, &root),
            "not the same twice: {template}"
        );
    }
}

fn in_a_chart(template: &str, values: &str, varies: bool) {
    let Ok(chart) = chart(template, values) else { return };
    let first = rendered(&chart);
    if let Err(error) = &first {
        assert!(!error.contains(PANICKED), "a panic in {template}");
    }
    if !varies {
        assert_eq!(first, rendered(&chart), "not the same twice: {template}");
    }
}

fn chart(template: &str, values: &str) -> Result<Chart, helm::chart::Error> {
    let files = [
        ("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("values.yaml", values),
        ("files/f.txt", "line\nk=v\n"),
        ("templates/_h.tpl", "{{ define \"h\" }}{{ .Values }}{{ end }}"),
        ("templates/t.yaml", template),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    Chart::from_files(BTreeMap::from(files))
}

fn rendered(chart: &Chart) -> Result<Vec<Manifest>, String> {
    let release = ReleaseOptions {
        name: "r".to_owned(),
        namespace: "n".to_owned(),
        revision: 1,
        is_install: true,
        ..ReleaseOptions::default()
    };
    let values = serde_json::Map::new();
    match render(chart, &values, &release, &Capabilities::default(), None) {
        Ok(printed) => Ok(printed.manifests),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words by which a caught panic is known are the engine's.
    #[test]
    fn a_panic_of_the_engine_is_known_by_its_words() {
        let failing = gotemplate::Functions::new().with("boom", "", |_, _| panic!("on purpose"));
        let engine = gotemplate::Engine::new().functions(failing);
        let error = engine.render("t", "{{ boom }}", &Value::Null).unwrap_err();
        assert!(error.to_string().contains(PANICKED), "{error}");
    }

    #[test]
    fn templates_that_explode_are_stopped() {
        for name in ["shared-parts", "shared-texts", "separators", "indentation"] {
            let path = format!(
                "{}/../../fuzz/regressions/template/{name}.txt",
                env!("CARGO_MANIFEST_DIR")
            );
            let text = std::fs::read_to_string(path).unwrap();
            let [template, values] = section::parts(&text);
            // Each line is a template of its own, which begins with what it explodes.
            let (before, calls) = template.split_once('\n').unwrap();
            for call in calls.lines() {
                match rendered(&chart(&format!("{before}{call}"), &values).unwrap()) {
                    Ok(_) => panic!("{name}: {call} is printed"),
                    Err(error) => assert!(error.contains(" more than "), "{name}: {call}: {error}"),
                }
            }
        }
    }

    /// A target whose templates all fail at the first function would find nothing.
    #[test]
    fn seeds_are_executed_to_their_end() {
        for seed in ["app", "functions", "lists", "texts", "data"] {
            let path = format!("{}/../../fuzz/seeds/template/{seed}.txt", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let [template, values] = section::parts(&text);
            if let Err(error) = rendered(&chart(&template, &values).unwrap()) {
                panic!("{seed}: {error}");
            }
        }
    }
}
