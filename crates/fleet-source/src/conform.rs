//! Any JSON value → a value that fits a CRD schema, the way Go's JSON decoder fills structs: keys
//! match without regard to case, unknown keys are dropped, `null` is the zero value, and a value
//! of the wrong type is an error that names its place. Used for files that users write by hand.

use serde_json::{Map, Value};

/// A value of the wrong type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: cannot use a {found} as a {expected}{}", place(path), hint(expected, found))]
pub struct Mismatch {
    /// Keys and indexes from the top.
    pub path: Vec<String>,
    /// Type that is wanted.
    pub expected: &'static str,
    /// Type that is there.
    pub found: &'static str,
}

/// YAML 1.1 takes `n`, `on` or `1` for something else than text.
fn hint(expected: &str, found: &str) -> &'static str {
    if expected == "string" && matches!(found, "bool" | "number") {
        " (put it in quotes)"
    } else {
        ""
    }
}

/// `helm.values[2]` from keys and indexes.
fn place(path: &[String]) -> String {
    let mut out = String::new();
    for part in path {
        if !part.starts_with('[') && !out.is_empty() {
            out.push('.');
        }
        out.push_str(part);
    }
    if out.is_empty() { "the document".to_owned() } else { out }
}

/// The value as the schema wants it.
///
/// # Errors
/// The first value of a wrong type.
pub fn conform(value: Value, schema: &Value) -> Result<Value, Mismatch> {
    let mut path = Vec::new();
    walk(value, schema, &mut path)
}

fn walk(value: Value, schema: &Value, path: &mut Vec<String>) -> Result<Value, Mismatch> {
    let mismatch = |expected: &'static str, value: &Value, path: &[String]| Mismatch {
        path: path.to_vec(),
        expected,
        found: type_name(value),
    };
    if value.is_null() {
        return Ok(Value::Null);
    }
    if schema.get("x-kubernetes-int-or-string").is_some() {
        return match value {
            Value::String(_) => Ok(value),
            Value::Number(_) => integer(&value).ok_or_else(|| mismatch("integer or string", &value, path)),
            other => Err(mismatch("integer or string", &other, path)),
        };
    }
    match schema["type"].as_str().unwrap_or_default() {
        "string" if !value.is_string() => Err(mismatch("string", &value, path)),
        "boolean" if !value.is_boolean() => Err(mismatch("bool", &value, path)),
        "integer" => integer(&value).ok_or_else(|| mismatch("integer", &value, path)),
        "array" => match value {
            Value::Array(items) => {
                let mut out = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    path.push(format!("[{index}]"));
                    let item = walk(item, &schema["items"], path)?;
                    out.push(if item.is_null() { zero(&schema["items"]) } else { item });
                    path.pop();
                }
                Ok(Value::Array(out))
            }
            other => Err(mismatch("list", &other, path)),
        },
        "object" => match value {
            Value::Object(map) => object(map, schema, path).map(Value::Object),
            other => Err(mismatch("map", &other, path)),
        },
        _ => Ok(value),
    }
}

fn object(map: Map<String, Value>, schema: &Value, path: &mut Vec<String>) -> Result<Map<String, Value>, Mismatch> {
    if schema.get("x-kubernetes-preserve-unknown-fields").is_some() {
        return Ok(map);
    }
    let mut out = Map::new();
    for (key, value) in map {
        let (name, inner) = if let Some(properties) = schema["properties"].as_object() {
            let exact = properties.get_key_value(&key);
            let folded = || {
                properties
                    .iter()
                    .find(|(name, _)| name.to_lowercase() == key.to_lowercase())
            };
            let Some((name, inner)) = exact.or_else(folded) else {
                continue;
            };
            (name.clone(), inner)
        } else {
            (key, &schema["additionalProperties"])
        };
        path.push(name.clone());
        let mut value = walk(value, inner, path)?;
        path.pop();
        if value.is_null() {
            if schema.get("additionalProperties").is_none() {
                continue;
            }
            value = zero(inner);
        }
        match (out.get_mut(&name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
            (_, value) => {
                out.insert(name, value);
            }
        }
    }
    Ok(out)
}

/// An integer written as an integer (1e3 counts as one, 1.5 does not).
fn integer(value: &Value) -> Option<Value> {
    if value.is_i64() || value.is_u64() {
        return Some(value.clone());
    }
    let number = value.as_f64()?;
    (number.fract() == 0.0 && number.abs() < 9e18).then(|| Value::from(number as i64))
}

fn zero(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("string") => Value::from(""),
        Some("boolean") => Value::from(false),
        Some("integer") => Value::from(0),
        Some("array") => Value::Array(Vec::new()),
        Some("object") => Value::Object(Map::new()),
        _ => Value::Null,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "map",
    }
}

/// The line (from 1) on which a path starts in a block-style text; the best guess there is, since
/// parsed values carry no positions. Keys that cannot be found end the search.
#[must_use]
pub fn line_of(text: &str, path: &[String]) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    let mut found = None;
    for part in path {
        let matches = |line: &str| {
            let body = line.trim_start().trim_start_matches("- ").trim_start();
            if let Some(index) = part.strip_prefix('[') {
                index.starts_with('0') && line.trim_start().starts_with('-')
            } else {
                let key = body
                    .split(':')
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .trim_matches(['"', '\'', '{', ' ']);
                body.contains(':') && key.eq_ignore_ascii_case(part)
            }
        };
        if part.starts_with('[') && !part.starts_with("[0") {
            let wanted: usize = part.trim_matches(['[', ']']).parse().ok()?;
            let mut items = (at..lines.len()).filter(|index| lines[*index].trim_start().starts_with('-'));
            let first = items.next();
            let indent = first.map(|index| lines[index].len() - lines[index].trim_start().len());
            let nth = first
                .into_iter()
                .chain(items)
                .filter(|index| Some(lines[*index].len() - lines[*index].trim_start().len()) == indent);
            if let Some(index) = nth.into_iter().nth(wanted) {
                at = index;
                found = Some(index + 1);
            }
            continue;
        }
        match (at..lines.len()).find(|index| matches(lines[*index])) {
            Some(index) => {
                at = index;
                found = Some(index + 1);
            }
            None => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bundle(value: Value) -> Result<Value, Mismatch> {
        conform(value, &fleet_api::schema_of("Bundle").unwrap()["properties"]["spec"])
    }

    #[test]
    fn keys_match_without_case_and_unknown_ones_vanish() {
        assert_eq!(
            bundle(json!({"NAMESPACE": "a", "nope": 1, "Helm": {"Values": {"KeepCase": 1, "x": null}, "other": 2}, "paused": null})).unwrap(),
            json!({"namespace": "a", "helm": {"values": {"KeepCase": 1, "x": null}}})
        );
    }

    #[test]
    fn wrong_types_are_named_with_their_place() {
        let error = bundle(json!({"targets": [{}, {"helm": {"chart": true}}]})).unwrap_err();
        assert_eq!(
            error.to_string(),
            "targets[1].helm.chart: cannot use a bool as a string (put it in quotes)"
        );
        assert!(bundle(json!({"forceSyncGeneration": 1.5})).is_err());
        assert_eq!(
            bundle(json!({"forceSyncGeneration": 2.0})).unwrap(),
            json!({"forceSyncGeneration": 2})
        );
        assert!(bundle(json!([])).is_err());
    }

    #[test]
    fn the_line_of_a_key_is_found() {
        let text = "namespace: x\nhelm:\n  chart: a\ntargets:\n- name: a\n- name: b\n  helm: 1\n";
        let path = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        assert_eq!(line_of(text, &path(&["helm", "chart"])), Some(3));
        assert_eq!(line_of(text, &path(&["targets", "[1]", "helm"])), Some(7));
        assert_eq!(line_of(text, &path(&["none"])), None);
    }
}
