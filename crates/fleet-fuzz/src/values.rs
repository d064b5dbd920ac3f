//! Merging and coalescing values: laws of a merge.

use std::collections::BTreeMap;

use helm::chart::Chart;
use helm::values::{Values, coalesce, merge};
use serde_json::Value;

use crate::section;

/// Two values files, then the defaults of a chart and of the chart inside it.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let [base, over, outer, inner] = section::parts(text);
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

fn table(text: &str) -> Values {
    match goyaml::parse(text) {
        Ok(Value::Object(table)) => table,
        _ => Values::new(),
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(entries) => entries.values().any(has_null),
        _ => false,
    }
}
