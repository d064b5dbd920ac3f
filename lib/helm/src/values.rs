//! A user's values and a chart's defaults become the values that templates see.
//!
//! Upstream concept: Helm's coalescing. What the user gives wins; tables are merged; null takes a default away;
//! `global` flows down into the charts inside.

use memchr::memmem;
use serde_json::{Map, Value};

use crate::chart::Chart;
use crate::file;
use crate::overlay::{self, Node, Numbers, Table};

/// Charts that may take part in one, each counted under every name it is used by.
pub(crate) const MAX_CHARTS: usize = 10_000;

/// Names of the path under which values are imported.
pub(crate) const MAX_PATH: usize = 100;

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
    /// Aliases multiply the charts inside beyond all measure.
    #[error("more than {MAX_CHARTS} charts take part")]
    Count,
    /// The path under which a chart imports values is too long.
    #[error("values are imported under more than {MAX_PATH} names")]
    Nest,
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
    let text = file::text(data);
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
    let mut start = 0;
    for at in memmem::find_iter(text.as_bytes(), "---") {
        if at > 0 && text.as_bytes()[at - 1] != b'\n' {
            continue;
        }
        let line = text[at..].split_inclusive('\n').next().unwrap_or_default();
        if line["---".len()..].trim().is_empty() {
            found.push(&text[start..at]);
            start = at + line.len();
        }
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

/// What a chart and the charts inside it bring along.
pub(crate) struct Defaults<'c> {
    pub(crate) own: Table<'c>,
    /// In the order of the charts inside.
    pub(crate) inside: Vec<Defaults<'c>>,
}

impl<'c> Defaults<'c> {
    pub(crate) fn of(chart: &'c Chart) -> Self {
        Self {
            own: overlay::defaults(&chart.values),
            inside: chart.dependencies.iter().map(Self::of).collect(),
        }
    }
}

/// The values for rendering `chart`: `values` over the chart's defaults, for it and every chart inside it.
///
/// # Errors
/// A subchart's values are not a table.
pub fn coalesce(chart: &Chart, values: &Values) -> Result<Values, Error> {
    let combined = combine(chart, &Defaults::of(chart), overlay::given(values), Null::Removes)?;
    Ok(overlay::to_json(&combined, Numbers::Floats))
}

pub(crate) fn combine<'v>(
    chart: &'v Chart,
    defaults: &Defaults<'v>,
    mut values: Table<'v>,
    null: Null,
) -> Result<Table<'v>, Error> {
    descend(chart, defaults, &mut values, null)?;
    Ok(values)
}

fn descend<'v>(chart: &'v Chart, defaults: &Defaults<'v>, values: &mut Table<'v>, null: Null) -> Result<(), Error> {
    fill(chart, &defaults.own, values, null);
    for (child, defaults) in chart.dependencies.iter().zip(&defaults.inside) {
        let name = child.name();
        let inner = values.remove(name).unwrap_or_else(|| Node::Table(Table::new()));
        let mut inner = inner.into_table().map_err(|other| Error::MatchTable {
            name: name.to_owned(),
            found: shown(&other.to_json(Numbers::Floats)),
        })?;
        overlay::globals(&mut inner, values);
        descend(child, defaults, &mut inner, null)?;
        overlay::share(values, &inner);
        values.insert(name, Node::Table(inner));
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

/// Fills in a chart's own defaults.
fn fill<'v>(chart: &Chart, defaults: &Table<'v>, values: &mut Table<'v>, null: Null) {
    for (key, original) in defaults {
        // As a default, null means nothing.
        let default = || match null {
            Null::Removes => original.cleaned(),
            Null::Stays => original.clone(),
        };
        match values.get_mut(key) {
            None if original.is_null() && null == Null::Removes => {}
            None => {
                values.insert(key, default());
            }
            Some(given) if given.is_null() && null == Null::Removes => {
                values.remove(key);
            }
            Some(given) if original.is_table() => {
                // What is meant for a chart inside keeps its nulls: they act on that chart's own defaults.
                let for_child = chart.dependencies.iter().any(|child| child.name() == *key);
                match given.open() {
                    Some(table) if for_child => overlay::lay(table, original, Null::Stays),
                    Some(table) => overlay::lay(table, &default(), null),
                    None => {}
                }
            }
            Some(_) => {}
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
pub(crate) fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => number
            .as_f64()
            .filter(|_| number.is_f64())
            .and_then(goyaml::number::from_f64)
            .unwrap_or(Value::Number(number)),
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(table) => Value::Object(table.into_iter().map(|(key, value)| (key, plain(value))).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_three_hyphens_part_documents() {
        assert_eq!(documents("---\na: 1\n--- \r\nb: 2\n---"), ["", "a: 1\n", "b: 2\n", ""]);
        for one in [
            "",
            "a: ---\n",
            "a: 1\n ---\n",
            "----\n",
            "--- # b\n",
            "a: |\n  x\n---b\n",
        ] {
            assert_eq!(documents(one), [one]);
        }
    }
}
