//! What the controllers know of an object: where it is, and the parts of its metadata that matter to them.

use std::sync::Arc;

use serde_json::Value;

/// A resource as discovery describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Resource {
    /// API group, empty for core.
    pub(crate) group: String,
    /// The version to speak.
    pub(crate) version: String,
    /// Plural name.
    pub(crate) plural: String,
    /// Kind.
    pub(crate) kind: String,
    /// Whether its objects live in namespaces.
    pub(crate) namespaced: bool,
}

impl Resource {
    /// Path of all objects, or of those of one namespace.
    pub(crate) fn path(&self, namespace: &str) -> String {
        let root = if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        };
        if namespace.is_empty() {
            format!("{root}/{}", self.plural)
        } else {
            format!("{root}/namespaces/{namespace}/{}", self.plural)
        }
    }

    /// `deployments.apps`, `secrets.`: the way upstream's namespace conditions write it.
    pub(crate) fn dotted(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// Whether it is the core resource of that name.
    pub(crate) fn is_core(&self, plural: &str) -> bool {
        self.group.is_empty() && self.plural == plural
    }
}

/// An object's place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) resource: Arc<Resource>,
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
}

impl Key {
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.resource.path(&self.namespace), self.name)
    }
}

/// A reference to an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    /// The owner waits for this dependent when it is deleted in the foreground.
    pub(crate) blocks: bool,
}

/// Metadata of an object, borrowed from its JSON.
#[derive(Clone, Copy)]
pub(crate) struct Meta<'a>(pub(crate) &'a Value);

impl<'a> Meta<'a> {
    fn field(self, name: &str) -> Option<&'a Value> {
        self.0.get("metadata")?.get(name)
    }

    fn text(self, name: &str) -> &'a str {
        self.field(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn name(self) -> &'a str {
        self.text("name")
    }

    pub(crate) fn namespace(self) -> &'a str {
        self.text("namespace")
    }

    pub(crate) fn uid(self) -> &'a str {
        self.text("uid")
    }

    pub(crate) fn resource_version(self) -> &'a str {
        self.text("resourceVersion")
    }

    pub(crate) fn deleting(self) -> bool {
        self.field("deletionTimestamp").is_some_and(|time| !time.is_null())
    }

    pub(crate) fn annotation(self, key: &str) -> Option<&'a str> {
        self.field("annotations")?.get(key)?.as_str()
    }

    pub(crate) fn finalizers(self) -> Vec<&'a str> {
        let list = self
            .field("finalizers")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        list.iter().filter_map(Value::as_str).collect()
    }

    pub(crate) fn owners(self) -> Vec<Owner> {
        let list = self
            .field("ownerReferences")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let text = |owner: &Value, field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        list.iter()
            .map(|owner| Owner {
                api_version: text(owner, "apiVersion"),
                kind: text(owner, "kind"),
                name: text(owner, "name"),
                uid: text(owner, "uid"),
                blocks: owner
                    .get("blockOwnerDeletion")
                    .and_then(Value::as_bool)
                    .unwrap_or_default(),
            })
            .collect()
    }
}
