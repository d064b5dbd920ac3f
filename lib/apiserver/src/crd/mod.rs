//! CustomResourceDefinitions.

use serde_json::Value;

use crate::status::Cause;

/// One served version of a CRD: its schema and subresources.
#[derive(Debug)]
pub struct Version {}

impl Version {
    /// Reads a version out of a CRD object that was admitted.
    #[must_use]
    pub fn parse(_definition: &Value, _version: &str) -> Option<Self> {
        Some(Self {})
    }

    /// Removes unknown fields and gives their paths (for `fieldValidation`).
    pub fn prune(&self, _object: &mut Value) -> Vec<String> {
        Vec::new()
    }

    /// Fills in the schema's defaults.
    pub fn default(&self, _object: &mut Value) {}

    /// Everything wrong with an object, rules over the old object included.
    #[must_use]
    pub fn validate(&self, _object: &Value, _old: Option<&Value>) -> Vec<Cause> {
        Vec::new()
    }
}
