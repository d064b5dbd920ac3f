//! One object on its way through the build: what it is now, what it was called before, and what is to happen to it at
//! the end. The real program keeps this in annotations that it removes at the end; here it stands beside the object.

use crate::id::{Gvk, Id};
use crate::node::{Map, Node};
use crate::origin::Origin;

/// An object and its history.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) object: Node,
    /// Names, namespaces (as they count) and kinds it had, the original first.
    pub(crate) former: Vec<Former>,
    /// Prefixes it was given, the innermost first.
    pub(crate) prefixes: Vec<String>,
    /// Suffixes it was given, the innermost first.
    pub(crate) suffixes: Vec<String>,
    /// Its name gets a hash of its content.
    pub(crate) hashed: bool,
    /// What happens if a generated object is already there.
    pub(crate) behavior: Behavior,
    /// Names of the variables that take their value from it.
    pub(crate) variables: Vec<String>,
    /// Where it comes from, if that is recorded.
    pub(crate) origin: Option<Origin>,
    /// What changed it, if that is recorded.
    pub(crate) transformations: Vec<Origin>,
}

/// What an object was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Former {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) kind: String,
}

/// What happens if a generated object is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behavior {
    Create,
    Replace,
    Merge,
}

impl Behavior {
    /// Reads `behavior`; words nobody knows mean nothing special.
    pub(crate) fn read(text: &str) -> Self {
        match text {
            "replace" => Self::Replace,
            "merge" => Self::Merge,
            _ => Self::Create,
        }
    }
}

impl Resource {
    pub(crate) fn new(object: Node) -> Self {
        Self {
            object,
            former: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            hashed: false,
            behavior: Behavior::Create,
            variables: Vec::new(),
            origin: None,
            transformations: Vec::new(),
        }
    }

    pub(crate) fn gvk(&self) -> Gvk {
        Gvk::of(&self.object)
    }

    pub(crate) fn kind(&self) -> &str {
        self.object.spelling_at(&["kind"])
    }

    pub(crate) fn name(&self) -> &str {
        self.object.spelling_at(&["metadata", "name"])
    }

    pub(crate) fn namespace(&self) -> &str {
        match self.object.at(&["metadata", "namespace"]) {
            Some(namespace) if !namespace.is_null() => namespace.spelling().unwrap_or_default(),
            _ => "",
        }
    }

    /// Who it is now.
    pub(crate) fn id(&self) -> Id {
        Id {
            gvk: self.gvk(),
            name: self.name().to_owned(),
            namespace: self.namespace().to_owned(),
        }
    }

    /// Who it was, the original first; group and version are the present ones.
    pub(crate) fn former_ids(&self) -> Vec<Id> {
        let gvk = self.gvk();
        let id = |former: &Former| Id {
            gvk: Gvk {
                kind: former.kind.clone(),
                ..gvk.clone()
            },
            name: former.name.clone(),
            namespace: former.namespace.clone(),
        };
        self.former.iter().map(id).collect()
    }

    /// Who it was first.
    pub(crate) fn original_id(&self) -> Id {
        match self.former_ids().into_iter().next() {
            Some(id) => id,
            None => self.id(),
        }
    }

    /// Who it was and is.
    pub(crate) fn ids(&self) -> Vec<Id> {
        let mut ids = self.former_ids();
        ids.push(self.id());
        ids
    }

    /// Keeps the present name, namespace and kind findable, before they change.
    pub(crate) fn remember(&mut self) {
        let id = self.id();
        self.former.push(Former {
            namespace: id.effective_namespace().to_owned(),
            name: id.name,
            kind: id.gvk.kind,
        });
    }

    pub(crate) fn set_name(&mut self, name: &str) {
        if let Some(metadata) = self.object.map_under("metadata") {
            metadata.insert("name".to_owned(), Node::text(name));
        }
    }

    /// Sets the namespace; an empty one removes it.
    pub(crate) fn set_namespace(&mut self, namespace: &str) {
        if namespace.is_empty() {
            if let Some(metadata) = self.object.as_map_mut().and_then(|map| map.get_mut("metadata")) {
                metadata.as_map_mut().map(|map| map.shift_remove("namespace"));
            }
        } else if let Some(metadata) = self.object.map_under("metadata") {
            metadata.insert("namespace".to_owned(), Node::text(namespace));
        }
    }

    pub(crate) fn set_kind(&mut self, kind: &str) {
        if let Some(map) = self.object.as_map_mut() {
            map.insert("kind".to_owned(), Node::text(kind));
        }
    }

    /// Labels or annotations as texts.
    pub(crate) fn texts(&self, what: &str) -> Vec<(String, String)> {
        let map = self.object.at(&["metadata", what]).and_then(Node::as_map);
        let text = |(key, value): (&String, &Node)| Some((key.clone(), value.spelling()?.to_owned()));
        map.into_iter().flatten().filter_map(text).collect()
    }

    /// Sets labels or annotations; none removes the field.
    pub(crate) fn set_texts(&mut self, what: &str, mut texts: Vec<(String, String)>) {
        if texts.is_empty() {
            if let Some(metadata) = self.object.as_map_mut().and_then(|map| map.get_mut("metadata")) {
                metadata.as_map_mut().map(|map| map.shift_remove(what));
            }
            return;
        }
        texts.sort();
        let map: Map = texts.into_iter().map(|(key, text)| (key, Node::text(text))).collect();
        if let Some(metadata) = self.object.map_under("metadata") {
            metadata.insert(what.to_owned(), Node::Map(map));
        }
    }

    /// Takes labels, annotations, name, namespace and history over from the object it stands in for; own labels and
    /// annotations win.
    pub(crate) fn succeed(&mut self, other: &Resource) {
        for what in ["labels", "annotations"] {
            let mut texts = other.texts(what);
            let own = self.texts(what);
            texts.retain(|(key, _)| own.iter().all(|(other, _)| other != key));
            texts.extend(own);
            self.set_texts(what, texts);
        }
        self.set_name(other.name());
        self.set_namespace(other.namespace());
        self.variables.clone_from(&other.variables);
        self.former.clone_from(&other.former);
        self.prefixes.clone_from(&other.prefixes);
        self.suffixes.clone_from(&other.suffixes);
        self.hashed = self.hashed && other.hashed;
        self.transformations.clone_from(&other.transformations);
    }
}
