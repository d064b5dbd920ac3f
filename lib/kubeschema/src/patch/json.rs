//! JSON patch: a list of operations on paths, applied all or none.

use serde_json::Value;

use super::Error;

/// More operations than this are refused by a server.
pub const MAXIMUM: usize = 10_000;

/// Applies a patch; the document is unchanged if an operation fails.
///
/// # Errors
/// [`Error::Malformed`] for a patch that is none, [`Error::Unprocessable`] for an operation that does not apply.
pub fn apply(document: &mut Value, patch: &Value) -> Result<(), Error> {
    let operations = patch
        .as_array()
        .ok_or_else(|| Error::Malformed("error decoding patch: a JSON patch is a list".to_owned()))?;
    let mut result = document.clone();
    for operation in operations {
        if !operation.is_object() {
            return Err(Error::Malformed(
                "error decoding patch: an operation is an object".to_owned(),
            ));
        }
        step(&mut result, operation)?;
    }
    *document = result;
    Ok(())
}

fn step(document: &mut Value, operation: &Value) -> Result<(), Error> {
    let name = operation["op"].as_str().unwrap_or_default();
    let missing = |field: &str| Error::Unprocessable(format!("{name} operation has no {field}"));
    let path = || operation["path"].as_str().ok_or_else(|| missing("path"));
    let from = || operation["from"].as_str().ok_or_else(|| missing("from"));
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    match name {
        "add" => add(document, path()?, value()),
        "remove" => remove(document, path()?).map(|_| ()),
        "replace" => {
            let path = path()?;
            let target = find(document, path).ok_or_else(|| absent("replace", path))?;
            *target = value();
            Ok(())
        }
        "move" => {
            let moved = remove(document, from()?)?;
            add(document, path()?, moved)
        }
        "copy" => {
            let from = from()?;
            let copied = find(document, from).ok_or_else(|| absent("copy", from))?.clone();
            add(document, path()?, copied)
        }
        "test" => {
            let path = path()?;
            let wanted = value();
            let found = find(document, path).map_or(&Value::Null, |found| found);
            if *found == wanted {
                return Ok(());
            }
            Err(Error::Unprocessable(format!(
                "testing value {path} failed: test failed"
            )))
        }
        other => Err(Error::Unprocessable(format!("Unexpected kind: {other}"))),
    }
}

fn absent(operation: &str, path: &str) -> Error {
    Error::Unprocessable(format!(
        "{operation} operation does not apply: doc is missing path: {path}: missing value"
    ))
}

/// The decoded segments of a path; none if it does not start with a slash.
fn segments(path: &str) -> Option<Vec<String>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    let rest = path.strip_prefix('/')?;
    Some(
        rest.split('/')
            .map(|segment| segment.replace("~1", "/").replace("~0", "~"))
            .collect(),
    )
}

fn find<'a>(document: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let mut here = document;
    for segment in segments(path)? {
        here = match here {
            Value::Object(map) => map.get_mut(&segment)?,
            Value::Array(list) => {
                let position = position(&segment, list.len())?;
                list.get_mut(position)?
            }
            _ => return None,
        };
    }
    Some(here)
}

/// A negative number counts from the end, as the reference's library has it.
fn position(segment: &str, length: usize) -> Option<usize> {
    match segment.strip_prefix('-') {
        Some(back) if !back.is_empty() => length.checked_sub(back.parse().ok()?),
        _ if segment.len() > 1 && segment.starts_with('0') => None,
        _ => segment.parse().ok(),
    }
}

fn parent<'a, 'p>(document: &'a mut Value, path: &'p str) -> Option<(&'a mut Value, &'p str)> {
    let (before, last) = path.rsplit_once('/')?;
    Some((find(document, before)?, last))
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), Error> {
    if path.is_empty() {
        *document = value;
        return Ok(());
    }
    let missing = || absent("add", path);
    let (parent, last) = parent(document, path).ok_or_else(missing)?;
    match parent {
        Value::Object(map) => {
            map.insert(last.replace("~1", "/").replace("~0", "~"), value);
            Ok(())
        }
        Value::Array(list) if last == "-" => {
            list.push(value);
            Ok(())
        }
        Value::Array(list) => {
            let position = position(last, list.len() + 1)
                .filter(|p| *p <= list.len())
                .ok_or_else(missing)?;
            list.insert(position, value);
            Ok(())
        }
        _ => Err(missing()),
    }
}

fn remove(document: &mut Value, path: &str) -> Result<Value, Error> {
    let missing = || absent("remove", path);
    let (parent, last) = parent(document, path).ok_or_else(missing)?;
    match parent {
        Value::Object(map) => map
            .remove(&last.replace("~1", "/").replace("~0", "~"))
            .ok_or_else(missing),
        Value::Array(list) => {
            let position = position(last, list.len())
                .filter(|p| *p < list.len())
                .ok_or_else(missing)?;
            Ok(list.remove(position))
        }
        _ => Err(missing()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_six_operations_work() {
        let mut document = json!({"data": {"k": "v", "l": "m", "x/y": "1"}, "list": [1]});
        let patch = json!([
            {"op": "test", "path": "/data/k", "value": "v"},
            {"op": "add", "path": "/data/new", "value": "n"},
            {"op": "replace", "path": "/data/k", "value": "w"},
            {"op": "remove", "path": "/data/l"},
            {"op": "copy", "from": "/data/k", "path": "/data/copy"},
            {"op": "move", "from": "/data/new", "path": "/data/moved"},
            {"op": "replace", "path": "/data/x~1y", "value": "2"},
            {"op": "add", "path": "/list/-", "value": 2},
            {"op": "add", "path": "/list/0", "value": 0},
        ]);
        apply(&mut document, &patch).unwrap();
        let after = json!({"data": {"k": "w", "copy": "w", "moved": "n", "x/y": "2"}, "list": [0, 1, 2]});
        assert_eq!(document, after);
    }

    #[test]
    fn a_failing_operation_leaves_the_document_alone() {
        for last in [
            json!({"op": "remove", "path": "/none"}),
            json!({"op": "replace", "path": "/none", "value": 1}),
            json!({"op": "add", "path": "/none/deeper", "value": 1}),
            json!({"op": "test", "path": "/a", "value": 2}),
            json!({"op": "add", "path": "/list/5", "value": 2}),
            json!({"op": "jump", "path": "/a"}),
            json!({"op": "add", "value": 2}),
        ] {
            let mut document = json!({"a": 1, "list": []});
            let patch = json!([{"op": "add", "path": "/b", "value": 1}, last]);
            assert!(
                matches!(apply(&mut document, &patch), Err(Error::Unprocessable(_))),
                "{last}"
            );
            assert_eq!(document, json!({"a": 1, "list": []}));
        }
        assert!(matches!(apply(&mut json!({}), &json!({})), Err(Error::Malformed(_))));
    }
}
