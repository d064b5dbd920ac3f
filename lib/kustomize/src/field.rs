//! Walking an object along a path such as `spec/template/spec/containers/image`: lists on the way are entered item by
//! item, absent maps are made where the path says so.

use serde_json::{Map, Value};

/// Calls `change` on every value at `path`. With `create`, missing maps on the way and a missing last value (as null)
/// are made.
pub(crate) fn each(value: &mut Value, path: &[&str], create: bool, change: &mut dyn FnMut(&mut Value)) {
    let Some((head, rest)) = path.split_first() else {
        return change(value);
    };
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, path, create, change)),
        Value::Object(map) => {
            let head = head.strip_suffix("[]").unwrap_or(head);
            if create && map.get(head).is_none_or(Value::is_null) {
                let new = if rest.is_empty() {
                    Value::Null
                } else {
                    Value::Object(Map::new())
                };
                map.insert(head.to_owned(), new);
            }
            if let Some(next) = map.get_mut(head) {
                each(next, rest, create, change);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The parts of a path; `\/` is a slash inside of a part.
pub(crate) fn parts(path: &str) -> Vec<String> {
    path.replace("\\/", "\0")
        .split('/')
        .filter(|part| !part.is_empty())
        .map(|part| part.replace('\0', "/"))
        .collect()
}

/// [`each`] for a path as text.
pub(crate) fn at(value: &mut Value, path: &str, create: bool, change: &mut dyn FnMut(&mut Value)) {
    let parts = parts(path);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    each(value, &parts, create, change);
}
