//! Validation of built-in kinds.

use serde_json::Value;

use crate::registry::Resource;
use crate::status::Cause;

/// Everything wrong with an object, immutable fields included when there is an old one.
#[must_use]
pub fn validate(_resource: &Resource, _object: &Value, _old: Option<&Value>) -> Vec<Cause> {
    Vec::new()
}
