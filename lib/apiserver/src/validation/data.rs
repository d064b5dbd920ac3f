//! ConfigMaps and Secrets.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeschema::field::{self, FieldError};
use kubeschema::name;
use serde_json::Value;

/// What a ConfigMap or Secret may hold in all.
const MAXIMUM: usize = 1024 * 1024;
const SEALED: &str = "field is immutable when `immutable` is set";

pub(super) fn config_map(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let mut size = 0;
    for part in ["data", "binaryData"] {
        for (key, value) in object[part].as_object().into_iter().flatten() {
            key_of(part, key, errors);
            if part == "binaryData" && object["data"].get(key).is_some() {
                errors.push(FieldError::invalid(
                    field::key("data", key),
                    key.as_str(),
                    "duplicate of key present in binaryData",
                ));
            }
            size += value
                .as_str()
                .map_or(0, |text| if part == "data" { text.len() } else { bytes(text).len() });
        }
    }
    if size > MAXIMUM {
        errors.push(FieldError::too_long("", MAXIMUM));
    }
    sealed(object, old, &["data", "binaryData"], errors);
}

pub(super) fn secret(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let mut size = 0;
    for (key, value) in object["data"].as_object().into_iter().flatten() {
        key_of("data", key, errors);
        size += value.as_str().map_or(0, |text| bytes(text).len());
    }
    if size > MAXIMUM {
        errors.push(FieldError::too_long("data", MAXIMUM));
    }
    let has = |key: &str| object["data"].get(key).is_some();
    let mut require = |key: &str| {
        if !has(key) {
            errors.push(FieldError::required(field::key("data", key), ""));
        }
    };
    match object["type"].as_str() {
        Some("kubernetes.io/service-account-token") => {
            let key = "kubernetes.io/service-account.name";
            if object["metadata"]["annotations"][key]
                .as_str()
                .is_none_or(str::is_empty)
            {
                errors.push(FieldError::required(field::key("metadata.annotations", key), ""));
            }
        }
        Some("kubernetes.io/dockercfg") => json_in(object, ".dockercfg", errors),
        Some("kubernetes.io/dockerconfigjson") => json_in(object, ".dockerconfigjson", errors),
        Some("kubernetes.io/basic-auth") if !has("username") && !has("password") => {
            require("username");
            require("password");
        }
        Some("kubernetes.io/ssh-auth") if object["data"]["ssh-privatekey"].as_str().is_none_or(str::is_empty) => {
            errors.push(FieldError::required("data[ssh-privatekey]", ""));
        }
        Some("kubernetes.io/tls") => {
            require("tls.crt");
            require("tls.key");
        }
        _ => {}
    }
    super::immutable("type", "/type", object, old, errors);
    sealed(object, old, &["data"], errors);
}

fn key_of(part: &str, key: &str, errors: &mut Vec<FieldError>) {
    let problems = name::config_key(key);
    errors.extend(
        problems
            .into_iter()
            .map(|why| FieldError::invalid(field::key(part, key), key, why)),
    );
}

fn bytes(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap_or_default()
}

fn json_in(object: &Value, key: &str, errors: &mut Vec<FieldError>) {
    let path = field::key("data", key);
    match object["data"][key].as_str() {
        None => errors.push(FieldError::required(path, "")),
        Some(text) => {
            let content = bytes(text);
            if let Err(error) = serde_json::from_slice::<serde_json::Map<String, Value>>(&content) {
                errors.push(FieldError::invalid(
                    path,
                    "<secret contents redacted>",
                    error.to_string(),
                ));
            }
        }
    }
}

fn sealed(object: &Value, old: Option<&Value>, parts: &[&str], errors: &mut Vec<FieldError>) {
    let Some(old) = old.filter(|old| old["immutable"] == true) else {
        return;
    };
    if object["immutable"] != true {
        errors.push(FieldError::forbidden("immutable", SEALED));
    }
    for part in parts {
        if old[*part] != object[*part] {
            errors.push(FieldError::forbidden(*part, SEALED));
        }
    }
}
