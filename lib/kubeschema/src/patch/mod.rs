//! Patches: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and strategic merge patch, applied and made.
//!
//! [`json`] and [`merge`] know nothing of types. [`strategic`] joins lists by the merge keys of the object's type and
//! obeys the directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`);
//! [`difference`] makes such patches from two or three states of an object.

pub mod difference;
pub mod json;
pub mod merge;
mod order;
pub mod strategic;

use serde_json::Value;

/// Why a patch cannot be applied or made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The patch is malformed: a bad request.
    #[error("{0}")]
    Malformed(String),
    /// The patch is well-formed but does not fit the object: unprocessable.
    #[error("{0}")]
    Unprocessable(String),
    /// The reference answers these with an internal error.
    #[error("{0}")]
    Internal(String),
}

/// Values as Go prints them with `%v`, for messages.
fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().map(go_text).collect();
            format!("[{}]", texts.join(" "))
        }
        Value::Object(map) => {
            let texts: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}:{}", go_text(value)))
                .collect();
            format!("map[{}]", texts.join(" "))
        }
        other => other.to_string(),
    }
}
