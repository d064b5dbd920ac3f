//! One object on its way through the build: what it is called now and what it was called before, so that patches and
//! references find it under any of its names.

use serde_json::{Map, Value};

/// An object and its history.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) object: Value,
    /// Names and namespaces it had, the original first; without the present ones.
    pub(crate) former: Vec<(String, String)>,
    /// Prefixes and suffixes it was given, the innermost first.
    pub(crate) affixes: Vec<(String, String)>,
    /// Its name gets a hash of its content.
    pub(crate) hashed: bool,
}

impl Resource {
    pub(crate) fn new(object: Value) -> Self {
        Self {
            object,
            former: Vec::new(),
            affixes: Vec::new(),
            hashed: false,
        }
    }

    pub(crate) fn text<'a>(&'a self, pointer: &str) -> &'a str {
        self.object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn kind(&self) -> &str {
        self.text("/kind")
    }

    pub(crate) fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    pub(crate) fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }

    /// Group and version.
    pub(crate) fn group_version(&self) -> (&str, &str) {
        let text = self.text("/apiVersion");
        text.split_once('/').unwrap_or(("", text))
    }

    /// All names and namespaces, the present ones last.
    pub(crate) fn identities(&self) -> impl Iterator<Item = (&str, &str)> {
        let former = self
            .former
            .iter()
            .map(|(name, namespace)| (name.as_str(), namespace.as_str()));
        former.chain(std::iter::once((self.name(), self.namespace())))
    }

    /// Whether objects of this kind live in namespaces; kinds nobody knows do.
    pub(crate) fn is_namespaced(&self) -> bool {
        let (group, version) = self.group_version();
        kubeschema::kinds::by_kind(group, version, self.kind()).is_none_or(|resource| resource.namespaced)
    }

    /// The identity under which it is registered; two objects must not share it.
    pub(crate) fn id(&self) -> String {
        let (group, version) = self.group_version();
        format!(
            "{}.{version}.{group}/{}.{}",
            self.kind(),
            self.name(),
            effective(self.namespace())
        )
    }

    pub(crate) fn rename(&mut self, name: &str) {
        if name != self.name() {
            self.remember();
            self.metadata().insert("name".to_owned(), name.into());
        }
    }

    pub(crate) fn move_to(&mut self, namespace: &str) {
        if namespace != self.namespace() {
            self.remember();
            self.metadata().insert("namespace".to_owned(), namespace.into());
        }
    }

    /// Keeps the present name and namespace findable, before they change.
    pub(crate) fn remember(&mut self) {
        let present = (self.name().to_owned(), self.namespace().to_owned());
        if !self.former.contains(&present) {
            self.former.push(present);
        }
    }

    pub(crate) fn metadata(&mut self) -> &mut Map<String, Value> {
        if !self.object["metadata"].is_object() {
            self.object["metadata"] = Value::Object(Map::new());
        }
        match &mut self.object["metadata"] {
            Value::Object(map) => map,
            // Set to an object just above.
            _ => unreachable!("metadata was made an object"),
        }
    }
}

/// Objects without a namespace count as if they were in `default`.
pub(crate) fn effective(namespace: &str) -> &str {
    if namespace.is_empty() { "default" } else { namespace }
}
