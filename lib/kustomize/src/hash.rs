//! The suffix that makes a config map's or secret's name follow its content.

use goyaml::json;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// Ten characters out of the content of a config map, secret, or any other object.
pub(crate) fn suffix(object: &Value) -> String {
    let text = match object["kind"].as_str() {
        Some("ConfigMap") => config_map(object),
        Some("Secret") => secret(object),
        _ => json::to_string(object),
    };
    // Characters that could spell words or be misread are replaced.
    let digest = hex::encode(Sha256::digest(text.as_bytes()));
    digest
        .chars()
        .take(10)
        .map(|c| match c {
            '0' => 'g',
            '1' => 'h',
            '3' => 'k',
            'a' => 'm',
            'e' => 't',
            other => other,
        })
        .collect()
}

fn config_map(object: &Value) -> String {
    let mut map = start("ConfigMap", object);
    if let Some(data) = object.get("binaryData").filter(|data| data.is_object()) {
        map.insert("binaryData".to_owned(), data.clone());
    }
    json::to_string(&map)
}

fn secret(object: &Value) -> String {
    let mut map = start("Secret", object);
    map.insert("type".to_owned(), object["type"].as_str().unwrap_or_default().into());
    if let Some(data) = object.get("stringData").filter(|data| data.is_object()) {
        map.insert("stringData".to_owned(), data.clone());
    }
    json::to_string(&map)
}

fn start(kind: &str, object: &Value) -> Map<String, Value> {
    let data = match object.get("data") {
        None | Some(Value::Null) => "".into(),
        Some(data) => data.clone(),
    };
    // The name is part of the text but always empty: names may differ where contents are the same.
    Map::from_iter([
        ("kind".to_owned(), kind.into()),
        ("name".to_owned(), "".into()),
        ("data".to_owned(), data),
    ])
}
