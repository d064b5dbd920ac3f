//! CustomResourceDefinitions: what one version of a definition says about objects, ready to prune, default and check
//! them.
//!
//! Mirrors upstream's structural schemas and their validation, ratcheting and CEL rules included. Never stores
//! anything.

mod alternatives;
pub(crate) mod approval;
mod check;
pub(crate) mod definition;
mod fill;
mod format;
mod node;
mod number;
mod numbers;
mod optional;
mod pattern;
mod rules;
mod structural;

use std::collections::BTreeMap;

use kubeschema::field::FieldError;
use kubeschema::schema::{DecodeError, Type, from_json_schema};
use serde_json::Value;

use self::node::Node;
use crate::status::Cause;
use crate::validation::metadata;

/// Whether a CEL expression can be read.
///
/// # Errors
/// The parser's complaint.
pub(crate) fn parses(expression: &str) -> Result<(), String> {
    kube_cel::cel::Program::compile(&optional::plain(expression))
        .map(|_| ())
        .map_err(|error| error.to_string())
}

/// One served version of a CRD: its schema and subresources.
#[derive(Debug)]
pub struct Version {
    structure: Type,
    others: BTreeMap<String, Type>,
    /// The version that objects are stored in; none if it is this one.
    stored: Option<String>,
    root: Node,
    namespaced: bool,
}

impl Version {
    /// Reads a version out of a CRD object that was admitted.
    #[must_use]
    pub fn parse(definition: &Value, version: &str) -> Option<Self> {
        let mut structure = None;
        let mut others = BTreeMap::new();
        let mut stored = None;
        for entry in definition["spec"]["versions"].as_array()? {
            let schema = &entry["schema"]["openAPIV3Schema"];
            let name = entry["name"].as_str()?;
            if name == version {
                structure = Some((from_json_schema(schema), Node::read(schema)));
            } else {
                others.insert(name.to_owned(), from_json_schema(schema));
                if entry["storage"] == true {
                    stored = Some(name.to_owned());
                }
            }
        }
        let (structure, root) = structure?;
        Some(Self {
            structure,
            others,
            stored,
            root,
            namespaced: definition["spec"]["scope"] == "Namespaced",
        })
    }

    /// The type of the version's objects.
    pub(crate) fn structure(&self) -> &Type {
        &self.structure
    }

    /// The type of the objects in another version.
    pub(crate) fn structure_of(&self, version: &str) -> Option<&Type> {
        self.others.get(version)
    }

    /// Reads what a client sent: metadata decoded, unknown fields removed, defaults filled in. Gives the paths of the
    /// unknown fields.
    ///
    /// # Errors
    /// For metadata of wrong types.
    pub fn decode(&self, object: &mut Value) -> Result<Vec<String>, DecodeError> {
        let inside = fill::prune(&self.structure, object);
        let mut unknown = fill::metadata(object)?;
        unknown.extend(inside);
        self.default(object);
        Ok(unknown)
    }

    /// Removes unknown fields and gives their paths (for `fieldValidation`).
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        let mut unknown = fill::prune(&self.structure, object);
        // Metadata of wrong types stays for validation to refuse.
        unknown.extend(fill::metadata(object).unwrap_or_default());
        unknown
    }

    /// Fills in the schema's defaults.
    pub fn default(&self, object: &mut Value) {
        fill::default(&self.structure, object);
    }

    /// Brings an object into the version it is stored in: what that one does not know goes. Nothing happens to objects
    /// of the stored version itself.
    pub(crate) fn convert(&self, object: &mut Value) {
        if let Some(stored) = self.stored.as_ref().and_then(|name| self.others.get(name)) {
            fill::prune(stored, object);
        }
    }

    /// Whether objects of this version are stored in another one.
    pub(crate) fn converts(&self) -> bool {
        self.stored.is_some()
    }

    /// Reads a stored object: what the stored version defaults comes, then what this version does not know goes.
    pub(crate) fn read(&self, object: &mut Value) {
        match self.stored.as_ref().and_then(|name| self.others.get(name)) {
            None => {
                fill::prune(&self.structure, object);
                fill::default(&self.structure, object);
            }
            Some(stored) => {
                fill::prune(stored, object);
                fill::default(stored, object);
                fill::prune(&self.structure, object);
            }
        }
    }

    /// Everything wrong with an object, rules over the old object included.
    #[must_use]
    pub fn validate(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        let mut errors = metadata::validate(object, old, self.namespaced, metadata::Name::Subdomain);
        errors.extend(check::validate(&self.root, object, old));
        errors.iter().map(cause).collect()
    }
}

/// Whether a condition of an object is true.
pub(crate) fn condition(object: &Value, kind: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions
        .into_iter()
        .any(|condition| condition["type"] == kind && condition["status"] == "True")
}

/// A field error as the cause of a Status.
pub(crate) fn cause(error: &FieldError) -> Cause {
    Cause::new(error.kind.reason(), error.field.as_str(), error.body())
}
