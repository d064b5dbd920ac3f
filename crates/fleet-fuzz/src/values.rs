//! Merging, setting and coalescing values: laws of a merge.

use std::collections::BTreeMap;

use helm::chart::Chart;
use helm::set::{Mode, set};
use helm::values::{Values, coalesce, merge};
use serde_json::Value;

use crate::null::has_null;
use crate::section;

/// Two values files, then the defaults of a chart and of the chart inside it, then expressions as `--set` takes them.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let [base, over, outer, inner, expressions] = section::parts(text);
    let (base, over) = (table(&base), table(&over));

    assert_eq!(merge(base.clone(), Values::new()), base, "nothing over something");
    assert_eq!(merge(Values::new(), over.clone()), over, "something over nothing");
    assert_eq!(merge(over.clone(), over.clone()), over, "itself over itself");
    let merged = merge(base.clone(), over.clone());
    assert_eq!(merge(merged.clone(), over.clone()), merged, "the same over the result");
    assert!(
        over.keys().chain(base.keys()).all(|key| merged.contains_key(key)),
        "a key is lost"
    );

    let merged = with_expressions(merged, &expressions);

    let files = BTreeMap::from([
        (
            "Chart.yaml".to_owned(),
            b"apiVersion: v2\nname: outer\nversion: 1.0.0\n".to_vec(),
        ),
        ("values.yaml".to_owned(), outer.into_bytes()),
        (
            "charts/inner/Chart.yaml".to_owned(),
            b"apiVersion: v2\nname: inner\nversion: 1.0.0\n".to_vec(),
        ),
        ("charts/inner/values.yaml".to_owned(), inner.into_bytes()),
    ]);
    let Ok(chart) = Chart::from_files(files) else { return };
    let first = coalesce(&chart, &merged);
    assert_eq!(first, coalesce(&chart, &merged), "not the same twice");
    let Ok(first) = first else { return };
    // What a null takes away comes back when the result is taken for a user's values, and a chart's own null acts only
    // where a user gives something.
    let defaults = |chart: &Chart| chart.values.values().any(has_null);
    if !merged.values().any(has_null) && !defaults(&chart) && !chart.dependencies.iter().any(defaults) {
        assert_eq!(
            coalesce(&chart, &first).as_ref(),
            Ok(&first),
            "coalescing again changes something"
        );
    }
    for key in merged.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key) {
        assert!(first.contains_key(key), "{key} is lost");
    }
}

/// A line each; the first letter chooses the flag.
fn with_expressions(mut values: Values, expressions: &str) -> Values {
    for line in expressions.lines() {
        let Some(letter) = line.chars().next() else { continue };
        let expression = &line[letter.len_utf8()..];
        // A long list is made as it is asked for, in Helm too.
        if expression
            .as_bytes()
            .windows(4)
            .any(|four| four.iter().all(u8::is_ascii_digit))
        {
            continue;
        }
        let read = |path: &str| {
            if path == "none" {
                Err(path.to_owned())
            } else {
                Ok(format!("<{path}>"))
            }
        };
        let mode = match letter {
            's' => Mode::Text,
            'l' => Mode::Literal,
            'j' => Mode::Json,
            'f' => Mode::File(&read),
            _ => Mode::Typed,
        };
        let (mut once, mut again) = (values.clone(), values.clone());
        let done = set(&mut once, expression, &mode);
        assert_eq!(done, set(&mut again, expression, &mode), "not the same twice");
        let Ok(()) = done else { continue };
        assert_eq!(once, again, "not the same twice");
        if let (Mode::Literal, Some((key, value))) = (&mode, expression.split_once('='))
            && !key.is_empty()
            && !key.contains(['.', '[', '\\'])
        {
            assert_eq!(once[key], value, "what is literal is changed");
        }
        values = once;
    }
    values
}

fn table(text: &str) -> Values {
    match goyaml::parse(text) {
        Ok(Value::Object(table)) => table,
        _ => Values::new(),
    }
}
