//! A user's values and a chart's defaults become the values that templates see.
//!
//! Upstream concept: Helm's coalescing. What the user gives wins; tables are merged; null takes a default away;
//! `global` flows down into the charts inside.

use serde_json::{Map, Value};

use crate::chart::Chart;

/// Why values cannot be combined.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The values of a subchart are not a table.
    #[error("type mismatch on {name}: {found}")]
    MatchTable {
        /// The subchart.
        name: String,
        /// What was given, as Go shows it.
        found: String,
    },
    /// A text is no table of values; the words are those of Go's libraries.
    #[error("cannot unmarshal yaml document: {0}")]
    Parse(String),
}

/// Values, keyed by name.
pub type Values = Map<String, Value>;

/// Reads a values file. Several documents are merged, later ones win.
///
/// # Errors
/// The text is no YAML, or holds something else than tables.
pub fn parse(data: &[u8]) -> Result<Values, Error> {
    let text = String::from_utf8_lossy(data);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut values = Values::new();
    for document in documents(text) {
        let value = goyaml::parse(document)
            .map_err(|error| Error::Parse(format!("error converting YAML to JSON: {}", error.as_go_tells())))?;
        match value {
            Value::Null => {}
            Value::Object(table) if values.is_empty() => values = table,
            Value::Object(table) => values = merge(values, table),
            other => {
                return Err(Error::Parse(format!(
                    "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type \
                     map[string]interface {{}}",
                    crate::go::kind(&other)
                )));
            }
        }
    }
    Ok(values)
}

/// The documents between lines that hold nothing but `---`.
fn documents(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.strip_prefix("---").is_some_and(|rest| rest.trim().is_empty()) {
            found.push(&text[start..at]);
            start = at + line.len();
        }
        at += line.len();
    }
    found.push(&text[start..]);
    found
}

/// What a null in higher values does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Null {
    /// It takes the key away.
    Removes,
    /// It stays, for a later pass to act on.
    Stays,
}

/// The values for rendering `chart`: `values` over the chart's defaults, for it and every chart inside it.
///
/// # Errors
/// A subchart's values are not a table.
pub fn coalesce(chart: &Chart, values: &Values) -> Result<Values, Error> {
    combine(chart, values, Null::Removes)
}

pub(crate) fn combine(chart: &Chart, values: &Values, null: Null) -> Result<Values, Error> {
    let mut result = values.clone();
    descend(chart, &mut result, null)?;
    Ok(result)
}

fn descend(chart: &Chart, values: &mut Values, null: Null) -> Result<(), Error> {
    defaults(chart, values, null);
    for child in &chart.dependencies {
        let name = child.name();
        let mut inner = match values.remove(name) {
            None => Values::new(),
            Some(Value::Object(inner)) => inner,
            Some(other) => {
                return Err(Error::MatchTable {
                    name: name.to_owned(),
                    found: shown(&other),
                });
            }
        };
        globals(&mut inner, values);
        descend(child, &mut inner, null)?;
        share(values, &inner);
        values.insert(name.to_owned(), Value::Object(inner));
    }
    Ok(())
}

/// A value as Go prints it with a verb that does not fit it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "%!t(<nil>)".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => {
            let number = number.as_f64().map(goyaml::number::format_g).unwrap_or_default();
            format!("%!t(float64={number})")
        }
        Value::String(text) => format!("%!t(string={text})"),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::Object(table) => {
            let entries = table
                .iter()
                .map(|(key, value)| format!("%!t(string={key}):{}", shown(value)));
            format!("map[{}]", entries.collect::<Vec<_>>().join(" "))
        }
    }
}

/// A default without the nulls in its tables: as a default, null means nothing.
fn cleaned(value: &Value) -> Value {
    match value {
        Value::Object(table) => {
            let kept = table.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), cleaned(value))).collect())
        }
        other => other.clone(),
    }
}

/// Fills in a chart's own defaults.
fn defaults(chart: &Chart, values: &mut Values, null: Null) {
    for (key, original) in &chart.values {
        let default = if null == Null::Removes {
            cleaned(original)
        } else {
            original.clone()
        };
        match values.get_mut(key) {
            None if default.is_null() && null == Null::Removes => {}
            None => {
                values.insert(key.clone(), default);
            }
            Some(Value::Null) if null == Null::Removes => {
                values.remove(key);
            }
            Some(Value::Object(table)) => {
                // What is meant for a chart inside keeps its nulls: they act on that chart's own defaults.
                let for_child = chart.dependencies.iter().any(|child| child.name() == key);
                let (default, null) = if for_child {
                    (original.clone(), Null::Stays)
                } else {
                    (default, null)
                };
                if let Value::Object(default) = &default {
                    tables(table, default, null);
                }
            }
            Some(_) => {}
        }
    }
}

/// Merges `low` into `high`, which wins.
pub(crate) fn tables(high: &mut Values, low: &Values, null: Null) {
    for (key, value) in low {
        match high.get_mut(key) {
            None => {
                high.insert(key.clone(), value.clone());
            }
            Some(Value::Null) if null == Null::Removes => {
                high.remove(key);
            }
            Some(Value::Object(inner)) => {
                if let Value::Object(value) = value {
                    tables(inner, value, null);
                }
            }
            Some(_) => {}
        }
    }
}

/// Lets the parent's `global` flow into a child's; the parent wins. What is no table on either side stops it.
fn globals(child: &mut Values, parent: &Values) {
    let empty = Values::new();
    let given = match parent.get("global") {
        None => &empty,
        Some(Value::Object(given)) => given,
        Some(_) => return,
    };
    let mut own = match child.get_mut("global") {
        None => Values::new(),
        Some(Value::Object(own)) => std::mem::take(own),
        Some(_) => return,
    };
    for (key, value) in given {
        match (value, own.get(key)) {
            (Value::Object(table), Some(Value::Object(below))) => {
                let mut merged = table.clone();
                tables(&mut merged, below, Null::Stays);
                own.insert(key.clone(), Value::Object(merged));
            }
            (Value::Object(_), _) => {
                own.insert(key.clone(), value.clone());
            }
            // A plain value does not replace a table.
            (_, Some(Value::Object(_))) => {}
            _ => {
                own.insert(key.clone(), value.clone());
            }
        }
    }
    child.insert("global".into(), Value::Object(own));
}

/// Tables inside the parent's global tables take over what the child added there. Helm does so by accident (parent and
/// child hold the same table); templates can see it, so this does too.
fn share(parent: &mut Values, child: &Values) {
    let (Some(Value::Object(global)), Some(Value::Object(below))) = (parent.get_mut("global"), child.get("global"))
    else {
        return;
    };
    for (key, table) in global {
        let (Value::Object(table), Some(Value::Object(below))) = (table, below.get(key)) else {
            continue;
        };
        for (name, inner) in table {
            if let (Value::Object(inner), Some(Value::Object(below))) = (inner, below.get(name)) {
                inner.clone_from(below);
            }
        }
    }
}

/// Deep merge of two sources of values: `over` wins, lists and scalars are replaced, null replaces too.
#[must_use]
pub fn merge(mut base: Values, over: Values) -> Values {
    for (key, value) in over {
        let merged = match (base.remove(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => Value::Object(merge(below, above)),
            (_, value) => value,
        };
        base.insert(key, merged);
    }
    base
}

/// The value at a dotted path.
pub(crate) fn at<'v>(values: &'v Values, path: &str) -> Option<&'v Value> {
    let (first, rest) = path
        .split_once('.')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    let value = values.get(first)?;
    match rest {
        None => Some(value),
        Some(rest) => at(value.as_object()?, rest),
    }
}

/// Every number as a float, whole ones too: values files hold nothing else, and only `--set` makes integers.
#[must_use]
pub fn floats(values: Values) -> Values {
    values.into_iter().map(|(key, value)| (key, float(value))).collect()
}

pub(crate) fn float(value: Value) -> Value {
    match value {
        Value::Number(number) => number
            .as_f64()
            .and_then(serde_json::Number::from_f64)
            .map_or(Value::Number(number), Value::Number),
        Value::Array(items) => items.into_iter().map(float).collect(),
        Value::Object(table) => Value::Object(floats(table)),
        other => other,
    }
}

/// The way back: whole floats as integers, which is how JSON readers know them.
pub(crate) fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => number
            .as_f64()
            .filter(|_| number.is_f64())
            .and_then(goyaml::number::from_f64)
            .unwrap_or_else(|| value.clone()),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(table) => Value::Object(table.iter().map(|(key, value)| (key.clone(), plain(value))).collect()),
        other => other.clone(),
    }
}
