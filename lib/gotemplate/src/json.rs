//! Values to and from JSON data.

use goyaml::{Emit, Part};
use serde_json::{Number, Value as Json};

use crate::failure::Failure;
use crate::machine::Machine;
use crate::part::{Node, Seen};
use crate::value::{Map, Value};

/// Nodes that are converted and written, or read, while the machine takes one step.
pub(crate) const NODES_PER_STEP: usize = 4;

/// A template value for JSON data; every number becomes a float64.
pub fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(value) => number(value),
        Json::String(text) => Value::str(text),
        Json::Array(items) => Value::from(items.iter().map(from_json).collect::<Vec<_>>()),
        Json::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.into(), from_json(value)));
            entries.collect::<Map>().into()
        }
    }
}

/// The value of a number: a float64, however it was written.
pub(crate) fn number(number: &Number) -> Value {
    Value::Float(number.as_f64().unwrap_or(0.0))
}

/// Reads JSON text; errors are in the words of Go's decoder.
///
/// # Errors
/// The text is not JSON.
pub fn parse(text: &str) -> Result<Json, String> {
    serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            return "unexpected end of JSON input".into();
        }
        let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or("");
        let before = error.column().saturating_sub(1);
        let found = line.as_bytes().get(before).map_or(' ', |byte| char::from(*byte));
        let reason = error.to_string();
        let context = if reason.starts_with("key must be a string") {
            "looking for beginning of object key string"
        } else if reason.starts_with("expected `,` or `}`") {
            "after object key:value pair"
        } else if reason.starts_with("expected `,` or `]`") {
            "after array element"
        } else if reason.starts_with("expected `:`") {
            "after object key"
        } else if reason.starts_with("trailing characters") {
            "after top-level value"
        } else {
            "looking for beginning of value"
        };
        format!("invalid character '{found}' {context}")
    })
}

/// JSON data for a template value. A float that is a whole number becomes an integer where it fits, as in Go's JSON.
///
/// # Errors
/// The value contains a number that JSON has no form for, or is too deep or too large.
pub fn to_json(value: &Value) -> Result<Json, Failure> {
    converted(Node::root(value, &Seen::default()))
}

/// [`to_json`] for a function, which is charged for it.
///
/// # Errors
/// As [`to_json`]; or the limit of steps is reached.
pub fn given(machine: &mut Machine<'_>, value: &Value) -> Result<Json, Failure> {
    let seen = Seen::default();
    let converted = converted(Node::root(value, &seen));
    machine.work(seen.nodes() / NODES_PER_STEP)?;
    converted
}

fn converted(node: Node<'_>) -> Result<Json, Failure> {
    Ok(match node.part()? {
        Part::Null => Json::Null,
        Part::Bool(value) => Json::Bool(value),
        Part::Number(number) => Json::Number(number),
        Part::Text(text) => Json::String(text.as_str().to_owned()),
        Part::List(items) => Json::Array(items.into_iter().map(converted).collect::<Result<_, _>>()?),
        Part::Map(entries) => {
            let entries = entries.into_iter();
            let entries = entries.map(|(key, value)| Ok((key.as_str().to_owned(), converted(value)?)));
            Json::Object(entries.collect::<Result<_, Failure>>()?)
        }
    })
}

/// [`from_json`] for a function, which is charged for it.
///
/// # Errors
/// The limit of steps is reached.
pub fn taken(machine: &mut Machine<'_>, json: &Json) -> Result<Value, Failure> {
    machine.work(nodes(json) / NODES_PER_STEP)?;
    Ok(from_json(json))
}

/// Values in a value, itself among them.
fn nodes(json: &Json) -> usize {
    1 + match json {
        Json::Array(items) => items.iter().map(nodes).sum(),
        Json::Object(entries) => entries.values().map(nodes).sum(),
        _ => 0,
    }
}
