//! Decoding and encoding as the reference implementation's typed objects do it: what a round trip through Go's structs
//! changes in a JSON document.
//!
//! [`decode`] drops nulls, unknown fields and values that equal their zero, and brings quantities and times to their
//! canonical spelling. [`encode`] writes the zeroes that are never left out. Defaulting happens between the two.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};

use super::{Field, List, Object, Scalar, Type};
use crate::field;
use crate::quantity;

/// A value that cannot be read as its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Another JSON type.
    #[error("json: cannot unmarshal {found} into Go struct field {field} of type {wanted}")]
    Type {
        /// JSON type found: `string`, `number`, `object`, `array`, `bool`.
        found: &'static str,
        /// Path of the field.
        field: String,
        /// Go type wanted.
        wanted: &'static str,
    },
    /// Not a quantity.
    #[error("{0}")]
    Quantity(#[from] quantity::Error),
    /// Not a time.
    #[error("parsing time {0:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {0:?} as \"2006\"")]
    Time(String),
    /// Not a time with exactly six digits behind the second.
    #[error("parsing time {0:?} as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse {1:?} as \".000000\"")]
    MicroTime(String, String),
    /// Not base64.
    #[error("illegal base64 data at input byte {0}")]
    Base64(usize),
}

/// What decoding found besides the object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Paths of fields the type does not have; they were dropped.
    pub unknown: Vec<String>,
}

/// Reads a document as a type, in place.
///
/// # Errors
/// The first value that is not of its field's type.
pub fn decode(schema: &Type, value: &mut Value) -> Result<Decoded, DecodeError> {
    let mut decoded = Decoded::default();
    read(schema, value, "", &mut decoded)?;
    Ok(decoded)
}

/// Writes what is never left out, in place.
pub fn encode(schema: &Type, value: &mut Value) {
    match (schema.resolve(), value) {
        (Type::Object(object), Value::Object(map)) => {
            for (name, field) in &object.fields {
                match map.get_mut(name) {
                    Some(present) => encode(&field.schema, present),
                    None if field.zero.omit => {}
                    None => {
                        map.insert(name.clone(), zero(field));
                    }
                }
            }
            if let Some(rest) = &object.rest {
                for (name, present) in map.iter_mut() {
                    if !object.fields.contains_key(name) {
                        encode(rest, present);
                    }
                }
            }
        }
        (Type::List(list), Value::Array(items)) => {
            for item in items {
                encode(&list.item, item);
            }
        }
        _ => {}
    }
}

fn zero(field: &Field) -> Value {
    if field.zero.pointer || field.zero.collection {
        return Value::Null;
    }
    match field.schema.resolve() {
        schema @ Type::Object(_) => {
            let mut value = Value::Object(Map::new());
            encode(schema, &mut value);
            value
        }
        Type::Scalar(Scalar::String) => Value::from(""),
        Type::Scalar(Scalar::Quantity) => Value::from("0"),
        Type::Scalar(Scalar::Boolean) => Value::from(false),
        Type::Scalar(Scalar::Int32 | Scalar::Int64 | Scalar::Number | Scalar::IntOrString) => Value::from(0),
        _ => Value::Null,
    }
}

fn read(schema: &Type, value: &mut Value, path: &str, decoded: &mut Decoded) -> Result<(), DecodeError> {
    match schema.resolve() {
        Type::Any | Type::Named(_) => Ok(()),
        Type::Scalar(scalar) => read_scalar(*scalar, value, path),
        Type::Object(object) => read_object(object, value, path, decoded),
        Type::List(list) => read_list(list, value, path, decoded),
    }
}

fn read_object(object: &Object, value: &mut Value, path: &str, decoded: &mut Decoded) -> Result<(), DecodeError> {
    let Value::Object(map) = value else {
        let wanted = if object.rest.is_some() {
            "map[string]string"
        } else {
            "struct"
        };
        return Err(mismatch(value, path, wanted));
    };
    let names: Vec<String> = map.keys().cloned().collect();
    for name in names {
        let here = field::child(path, &name);
        let Some(child) = map.get_mut(&name) else { continue };
        if let Some(field) = object.fields.get(&name) {
            if !child.is_null() {
                read(&field.schema, child, &here, decoded)?;
            }
            if child.is_null() || (!field.zero.pointer && is_zero(&field.schema, child)) {
                map.remove(&name);
            }
        } else if let Some(rest) = &object.rest {
            if child.is_null() {
                *child = item_zero(rest);
            } else {
                read(rest, child, &here, decoded)?;
            }
        } else {
            decoded.unknown.push(here);
            map.remove(&name);
        }
    }
    Ok(())
}

fn read_list(list: &List, value: &mut Value, path: &str, decoded: &mut Decoded) -> Result<(), DecodeError> {
    let Value::Array(items) = value else {
        return Err(mismatch(value, path, "slice"));
    };
    for (position, item) in items.iter_mut().enumerate() {
        if item.is_null() {
            *item = item_zero(&list.item);
        } else {
            read(&list.item, item, &field::index(path, position), decoded)?;
        }
    }
    Ok(())
}

/// What null means as an item of a list or a value of a map.
fn item_zero(schema: &Type) -> Value {
    match schema.resolve() {
        Type::Object(object) if object.rest.is_none() => Value::Object(Map::new()),
        Type::Scalar(Scalar::String | Scalar::Bytes) => Value::from(""),
        Type::Scalar(Scalar::Quantity) => Value::from("0"),
        Type::Scalar(Scalar::Boolean) => Value::from(false),
        Type::Scalar(Scalar::Int32 | Scalar::Int64 | Scalar::Number | Scalar::IntOrString) => Value::from(0),
        _ => Value::Null,
    }
}

fn is_zero(schema: &Type, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) if matches!(schema.resolve(), Type::Scalar(Scalar::Quantity)) => text == "0",
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty() && !matches!(schema.resolve(), Type::Any | Type::Scalar(_)),
        Value::Bool(true) => false,
    }
}

fn read_scalar(scalar: Scalar, value: &mut Value, path: &str) -> Result<(), DecodeError> {
    match scalar {
        Scalar::Untyped => Ok(()),
        Scalar::String => value
            .is_string()
            .then_some(())
            .ok_or_else(|| mismatch(value, path, "string")),
        Scalar::Boolean => value
            .is_boolean()
            .then_some(())
            .ok_or_else(|| mismatch(value, path, "bool")),
        Scalar::Int32 => read_integer(value, path, "int32", i64::from(i32::MIN)..=i64::from(i32::MAX)),
        Scalar::Int64 => read_integer(value, path, "int64", i64::MIN..=i64::MAX),
        Scalar::Number => value
            .is_number()
            .then_some(())
            .ok_or_else(|| mismatch(value, path, "float64")),
        Scalar::IntOrString if value.is_string() => Ok(()),
        Scalar::IntOrString => read_integer(value, path, "int32", i64::from(i32::MIN)..=i64::from(i32::MAX)),
        Scalar::Quantity => {
            let text = match &*value {
                Value::String(text) => text.trim().to_owned(),
                Value::Number(number) => number.to_string(),
                _ => return Err(quantity::Error::Format.into()),
            };
            *value = Value::from(quantity::canonical(&text)?);
            Ok(())
        }
        Scalar::Time | Scalar::MicroTime => {
            let Some(text) = value.as_str() else {
                return Err(mismatch(value, path, "string"));
            };
            let time: jiff::Timestamp = text.parse().map_err(|_| DecodeError::Time(text.to_owned()))?;
            if scalar == Scalar::MicroTime {
                check_micro(text)?;
            }
            let format = if scalar == Scalar::Time {
                "%Y-%m-%dT%H:%M:%SZ"
            } else {
                "%Y-%m-%dT%H:%M:%S.%6fZ"
            };
            *value = Value::from(time.strftime(format).to_string());
            Ok(())
        }
        Scalar::Bytes => {
            let Some(text) = value.as_str() else {
                return Err(mismatch(value, path, "[]uint8"));
            };
            // Go's decoder skips line breaks.
            let plain: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
            let bytes = STANDARD.decode(&plain).map_err(|error| {
                DecodeError::Base64(match error {
                    base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                    _ => plain.len(),
                })
            })?;
            *value = Value::from(STANDARD.encode(bytes));
            Ok(())
        }
    }
}

/// The reference reads times of leader elections with exactly six digits of a second.
fn check_micro(text: &str) -> Result<(), DecodeError> {
    const SECONDS: usize = "2006-01-02T15:04:05".len();
    let rest = text.get(SECONDS..).unwrap_or_default();
    let digits = rest
        .strip_prefix('.')
        .map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    if digits == 6 {
        Ok(())
    } else {
        Err(DecodeError::MicroTime(text.to_owned(), rest.to_owned()))
    }
}

fn read_integer(
    value: &mut Value,
    path: &str,
    wanted: &'static str,
    range: std::ops::RangeInclusive<i64>,
) -> Result<(), DecodeError> {
    let integer = match &*value {
        Value::Number(number) => number.as_i64().or_else(|| whole(number)),
        _ => None,
    };
    match integer {
        Some(integer) if range.contains(&integer) => {
            *value = Value::from(integer);
            Ok(())
        }
        _ => Err(mismatch(value, path, wanted)),
    }
}

/// `2.0` is an integer to the reference as well.
fn whole(number: &Number) -> Option<i64> {
    let float = number.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "guarded by the range check")]
    (float.fract() == 0.0 && float.abs() < 9.0e15).then_some(float as i64)
}

fn mismatch(value: &Value, path: &str, wanted: &'static str) -> DecodeError {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    DecodeError::Type {
        found,
        field: path.to_owned(),
        wanted,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds;

    fn round_trip(api_version: &str, kind: &str, mut value: Value) -> (Value, Vec<String>) {
        let schema = kinds::schema_of(api_version, kind).unwrap();
        let decoded = decode(schema, &mut value).unwrap();
        encode(schema, &mut value);
        (value, decoded.unknown)
    }

    #[test]
    fn empty_values_vanish_where_the_reference_omits_them() {
        let (value, unknown) = round_trip(
            "v1",
            "ConfigMap",
            json!({"metadata": {"name": "a", "labels": {}, "annotations": null, "finalizers": []}, "data": {}, "immutable": false}),
        );
        assert_eq!(value, json!({"metadata": {"name": "a"}, "immutable": false}));
        assert!(unknown.is_empty());
    }

    #[test]
    fn what_is_never_omitted_is_written() {
        let (value, _) = round_trip(
            "rbac.authorization.k8s.io/v1",
            "Role",
            json!({"metadata": {"name": "a"}}),
        );
        assert_eq!(value, json!({"metadata": {"name": "a"}, "rules": null}));
        let (value, _) = round_trip(
            "v1",
            "Pod",
            json!({"spec": {"containers": [{"name": "c", "stdin": false}]}}),
        );
        assert_eq!(
            value,
            json!({"metadata": {}, "spec": {"containers": [{"name": "c", "resources": {}}]}, "status": {}})
        );
    }

    #[test]
    fn unknown_fields_are_dropped_and_reported_with_their_path() {
        let (value, unknown) = round_trip(
            "v1",
            "Pod",
            json!({"spec": {"containers": [{"name": "c", "port": 1}], "x": {}}, "metadata": {"labls": {}}}),
        );
        assert_eq!(unknown, ["metadata.labls", "spec.containers[0].port", "spec.x"]);
        assert!(value["spec"].get("x").is_none());
    }

    #[test]
    fn quantities_and_times_get_their_canonical_spelling() {
        let (value, _) = round_trip(
            "v1",
            "Pod",
            json!({"metadata": {"creationTimestamp": "2024-01-01T01:00:00.5+01:00"},
                "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": 0.5, "memory": "1024Mi"}}}]}}),
        );
        assert_eq!(value["metadata"]["creationTimestamp"], "2024-01-01T00:00:00Z");
        assert_eq!(
            value["spec"]["containers"][0]["resources"]["limits"],
            json!({"cpu": "500m", "memory": "1Gi"})
        );
    }

    #[test]
    fn wrong_types_are_errors_that_name_the_field() {
        for (kind, value, mentions) in [
            ("ConfigMap", json!({"data": {"k": 1}}), "data"),
            ("Pod", json!({"spec": {"priority": "2"}}), "priority"),
            ("Pod", json!({"spec": {"containers": {}}}), "containers"),
            (
                "Pod",
                json!({"spec": {"overhead": {"cpu": "many"}}}),
                "quantities must match",
            ),
            (
                "Pod",
                json!({"metadata": {"creationTimestamp": "yesterday"}}),
                "yesterday",
            ),
            ("Secret", json!({"data": {"k": "%%"}}), "base64"),
            ("Pod", json!({"spec": {"priority": 99_999_999_999_i64}}), "int32"),
        ] {
            let mut value = value;
            let error = decode(kinds::schema_of("v1", kind).unwrap(), &mut value)
                .unwrap_err()
                .to_string();
            assert!(error.contains(mentions), "{error}");
        }
    }
}
