//! How Go's decoders see JSON data: the names of kinds in their errors, and the scalars that pass for a string.

use serde_json::Value;

/// The kind as `encoding/json` names it.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A scalar where Go has a string field: numbers and booleans of YAML become their text, null the empty one.
///
/// # Errors
/// The kind of what is no scalar.
pub(crate) fn text(value: Option<&Value>) -> Result<String, &'static str> {
    Ok(match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Number(number)) if !number.is_f64() => number.to_string(),
        Some(Value::Number(number)) => number.as_f64().map(goyaml::number::format_g).unwrap_or_default(),
        Some(other) => return Err(kind(other)),
    })
}
