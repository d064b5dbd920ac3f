//! Values to and from JSON, with bounds on depth, number of nodes and length of their texts: a value tied into itself,
//! or one that shares a part many times, must not be followed for ever.

use serde_json::{Number, Value as Json};

use crate::failure::Failure;
use crate::machine::Machine;
use crate::object::Kind;
use crate::value::{Element, List, Map, Value};

/// Nesting at which conversion gives up.
const MAX_DEPTH: usize = 1_000;

/// Nodes at which conversion gives up.
const MAX_NODES: usize = 1_000_000;

/// Nodes that are converted and written, or read, while the machine takes one step.
pub(crate) const NODES_PER_STEP: usize = 4;

/// Bytes of all texts together at which conversion gives up.
const MAX_TEXT: usize = 64 << 20;

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
    Converter::default().value(value, 0)
}

/// [`to_json`] for a function, which is charged for it.
///
/// # Errors
/// As [`to_json`]; or the limit of steps is reached.
pub fn given(machine: &mut Machine<'_>, value: &Value) -> Result<Json, Failure> {
    let mut converter = Converter::default();
    let converted = converter.value(value, 0);
    machine.work(converter.nodes / NODES_PER_STEP)?;
    converted
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

#[derive(Default)]
struct Converter {
    nodes: usize,
    /// Bytes of texts, and of the indentation that they may be written with.
    text: usize,
}

impl Converter {
    fn value(&mut self, value: &Value, depth: usize) -> Result<Json, Failure> {
        self.nodes += 1;
        if depth > MAX_DEPTH {
            return Err("json: unsupported value: encountered a cycle".into());
        }
        if self.nodes > MAX_NODES {
            return Err(Failure::Limit(format!("a value of more than {MAX_NODES} nodes")));
        }
        self.text(2 * depth)?;
        Ok(match value {
            Value::Missing | Value::Nil => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(number) | Value::Int64(number) | Value::Sized(_, number) => Json::from(*number),
            Value::Uint(number) => Json::from(*number),
            Value::Float(number) => goyaml::number::from_f64(*number).ok_or_else(|| {
                Failure::new(format!(
                    "json: unsupported value: {}",
                    crate::number::general(*number, None)
                ))
            })?,
            Value::Str(text) => {
                self.text(text.len())?;
                Json::String(crate::bytes::lossy(text).into_owned())
            }
            Value::List(list) if list.element() == Element::Byte => {
                let bytes: Vec<u8> = list
                    .to_vec()
                    .iter()
                    .filter_map(|item| u8::try_from(item.as_integer()?).ok())
                    .collect();
                Json::String(base64::Engine::encode(
                    &base64::engine::general_purpose::STANDARD,
                    bytes,
                ))
            }
            Value::List(list) if list.is_absent() => Json::Null,
            Value::List(list) => self.list(list, depth)?,
            Value::Map(map) => {
                let mut object = serde_json::Map::new();
                for (key, value) in map.to_vec() {
                    self.text(key.len())?;
                    object.insert(key.to_string(), self.value(&value, depth + 1)?);
                }
                Json::Object(object)
            }
            Value::Object(object) => {
                if let Some(value) = object.json() {
                    return self.value(&value, depth + 1);
                }
                if object.kind() == Kind::Func {
                    return Err(Failure::new(format!("json: unsupported type: {}", object.type_name())));
                }
                let mut entries = serde_json::Map::new();
                for (key, value) in object.entries() {
                    let key = key.as_str().map_or_else(|| crate::print::shown(&key), str::to_owned);
                    entries.insert(key, self.value(&value, depth + 1)?);
                }
                Json::Object(entries)
            }
        })
    }

    fn text(&mut self, bytes: usize) -> Result<(), Failure> {
        self.text = self.text.saturating_add(bytes);
        if self.text > MAX_TEXT {
            return Err(Failure::Limit(format!("a value of more than {MAX_TEXT} bytes of text")));
        }
        Ok(())
    }

    fn list(&mut self, list: &List, depth: usize) -> Result<Json, Failure> {
        let items = list.to_vec();
        Ok(Json::Array(
            items
                .iter()
                .map(|item| self.value(item, depth + 1))
                .collect::<Result<_, _>>()?,
        ))
    }
}
