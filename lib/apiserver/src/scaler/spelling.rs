//! Metrics, conditions and behaviour in the spelling of the other face.

use serde_json::{Map, Value, json};

use super::ordered::{Fields, list};

/// Which face is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Older,
    Newer,
}

/// Kinds of metrics: what `type` says, and the field that goes with it.
const KINDS: [(&str, &str); 5] = [
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
    ("Pods", "pods"),
    ("Object", "object"),
    ("External", "external"),
];

/// Metrics as JSON text. `amounts` is `target` for what is wanted and `current` for what was measured.
pub(super) fn metrics(metrics: &[Value], direction: Direction, amounts: &str) -> String {
    list(metrics.iter().filter_map(|metric| {
        let kind = metric["type"].as_str()?;
        let (_, field) = KINDS.iter().find(|(name, _)| *name == kind)?;
        let source = &metric[*field];
        let mut fields = Fields::default();
        fields.add("type", &metric["type"]);
        let text = match direction {
            Direction::Older => older(field, source, amounts),
            Direction::Newer => newer(field, source, amounts),
        };
        fields.text(field, &text);
        Some(fields.finish())
    }))
}

fn older(field: &str, source: &Value, amounts: &str) -> String {
    let amount = &source[amounts];
    let (percent, average, value) = (&amount["averageUtilization"], &amount["averageValue"], &amount["value"]);
    let name = |suffix: &str| format!("{amounts}{suffix}");
    let mut fields = Fields::default();
    match field {
        "resource" | "containerResource" => {
            fields.add("name", &source["name"]);
            fields.add(&name("AverageUtilization"), percent);
            fields.add(&name("AverageValue"), average);
            fields.add("container", &source["container"]);
        }
        "pods" => {
            fields.add("metricName", &source["metric"]["name"]);
            fields.add(&name("AverageValue"), average);
            selector(&mut fields, "selector", &source["metric"]["selector"]);
        }
        "object" => {
            let described = &source["describedObject"];
            let mut target = Fields::default();
            for key in ["kind", "name", "apiVersion"] {
                target.add(key, &described[key]);
            }
            fields.text("target", &target.finish());
            fields.add("metricName", &source["metric"]["name"]);
            // A value that is never left out.
            let none = json!("0");
            fields.add(&name("Value"), if value.is_null() { &none } else { value });
            selector(&mut fields, "selector", &source["metric"]["selector"]);
            fields.add("averageValue", average);
        }
        _ => {
            fields.add("metricName", &source["metric"]["name"]);
            selector(&mut fields, "metricSelector", &source["metric"]["selector"]);
            fields.add(&name("Value"), value);
            fields.add(&name("AverageValue"), average);
        }
    }
    fields.finish()
}

fn selector(fields: &mut Fields, name: &str, selector: &Value) {
    if !selector.is_null() {
        let mut inner = Fields::default();
        inner.add("matchLabels", &selector["matchLabels"]);
        inner.add("matchExpressions", &selector["matchExpressions"]);
        fields.text(name, &inner.finish());
    }
}

fn newer(field: &str, source: &Value, amounts: &str) -> String {
    let amount = |suffix: &str| source[format!("{amounts}{suffix}")].clone();
    let (percent, value) = (amount("AverageUtilization"), amount("Value"));
    let average = if field == "object" {
        source["averageValue"].clone()
    } else {
        amount("AverageValue")
    };
    // The value of an object that is measured by its average is a zero.
    let value = if average.is_null() { value } else { Value::Null };
    let mut found = Map::new();
    let kind = [
        (&percent, "averageUtilization", "Utilization"),
        (&average, "averageValue", "AverageValue"),
        (&value, "value", "Value"),
    ];
    for (given, key, kind) in kind {
        if given.is_null() {
            continue;
        }
        if amounts == "target" && found.is_empty() {
            found.insert("type".to_owned(), kind.into());
        }
        found.insert(key.to_owned(), given.clone());
    }
    let mut written = Map::new();
    written.insert(amounts.to_owned(), found.into());
    let mut copy = |from: &str, to: &str| {
        if !source[from].is_null() {
            written.insert(to.to_owned(), source[from].clone());
        }
    };
    if matches!(field, "resource" | "containerResource") {
        copy("name", "name");
        copy("container", "container");
    } else {
        if field == "object" {
            copy("target", "describedObject");
        }
        let mut metric = json!({"name": source["metricName"]});
        let from = if field == "external" {
            "metricSelector"
        } else {
            "selector"
        };
        if !source[from].is_null() {
            metric["selector"] = source[from].clone();
        }
        written.insert("metric".to_owned(), metric);
    }
    Value::Object(written).to_string()
}

/// Conditions as JSON text.
pub(super) fn conditions(conditions: &[Value]) -> String {
    list(conditions.iter().map(|condition| {
        let mut fields = Fields::default();
        for key in ["type", "status", "lastTransitionTime", "reason", "message"] {
            fields.add(key, &condition[key]);
        }
        fields.finish()
    }))
}

/// Behaviour as JSON text, with the capital letters of upstream's own type.
pub(super) fn behavior(behavior: &Value) -> String {
    let mut fields = Fields::default();
    for (name, key) in [("ScaleUp", "scaleUp"), ("ScaleDown", "scaleDown")] {
        fields.text(name, &rules(&behavior[key]));
    }
    fields.finish()
}

fn rules(rules: &Value) -> String {
    if rules.is_null() {
        return rules.to_string();
    }
    let policies = rules["policies"].as_array().into_iter().flatten().map(|policy| {
        let mut fields = Fields::default();
        for (name, key) in [("Type", "type"), ("Value", "value"), ("PeriodSeconds", "periodSeconds")] {
            fields.text(name, &policy[key].to_string());
        }
        fields.finish()
    });
    let mut fields = Fields::default();
    fields.text(
        "StabilizationWindowSeconds",
        &rules["stabilizationWindowSeconds"].to_string(),
    );
    fields.text("SelectPolicy", &rules["selectPolicy"].to_string());
    fields.text("Policies", &list(policies));
    fields.text("Tolerance", &rules["tolerance"].to_string());
    fields.finish()
}

/// The other way: names begin with small letters, and what is null is left out.
pub(super) fn lowered(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| {
                let mut letters = name.chars();
                let first = letters.next().map(|c| c.to_ascii_lowercase());
                (first.into_iter().chain(letters).collect(), lowered(value))
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.into_iter().map(lowered).collect(),
        other => other,
    }
}
