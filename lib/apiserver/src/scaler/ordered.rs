//! JSON text with its fields in a given order, as Go writes structs.

use serde_json::Value;

/// An object that is being written; absent and null values are left out.
#[derive(Default)]
pub(super) struct Fields(Vec<String>);

impl Fields {
    /// Adds a value, unless it is null.
    pub(super) fn add(&mut self, name: &str, value: &Value) {
        if !value.is_null() {
            self.text(name, &value.to_string());
        }
    }

    /// Adds JSON text.
    pub(super) fn text(&mut self, name: &str, json: &str) {
        self.0.push(format!("{}:{json}", Value::from(name)));
    }

    /// The object.
    pub(super) fn finish(self) -> String {
        format!("{{{}}}", self.0.join(","))
    }
}

/// A list of texts that are JSON already.
pub(super) fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
