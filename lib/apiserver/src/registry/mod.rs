//! Which resources are served: the built-in kinds, and those that CustomResourceDefinitions add while the server runs.
//!
//! A [`Registry`] is an immutable snapshot; a CRD write makes a new one. Mirrors upstream's scheme, REST mapper and the
//! storage map of the apiextensions server.

mod builtin;
mod definition;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::crd;

/// One resource in one version, as routing, discovery and the handlers need it.
#[derive(Debug, Clone)]
pub struct Resource {
    /// API group, empty for the core group.
    pub group: String,
    /// Version, for example `v1`.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Kind of lists.
    pub list_kind: String,
    /// Plural name, the one in paths.
    pub plural: String,
    /// Singular name.
    pub singular: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Short names for kubectl.
    pub short_names: Vec<String>,
    /// Categories such as `all`.
    pub categories: Vec<String>,
    /// What can be done with objects: `create`, `delete` and so on.
    pub verbs: Vec<String>,
    /// What else is served below an object.
    pub subresources: Vec<Subresource>,
    /// The hash discovery shows.
    pub hash: String,
    /// Whether `/status` is served (and writes to the object itself keep the status).
    pub status: bool,
    /// Whether `/scale` is served.
    pub scale: bool,
    /// Schema and the rest of what a CRD says; none for built-in kinds.
    pub custom: Option<Arc<Custom>>,
    /// Distinguishes resources within the process; two snapshots share it while nothing about the resource changed.
    pub id: u32,
    /// Revision since which it is served; watches from before are answered with 410.
    pub since: u64,
}

/// One subresource, such as `scale`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subresource {
    /// Its name in paths.
    pub name: String,
    /// Group of the kind it answers with.
    pub group: String,
    /// Version of that kind.
    pub version: String,
    /// The kind it answers with.
    pub kind: String,
    /// What can be done with it.
    pub verbs: Vec<String>,
}

/// What a CRD says about one of its versions.
#[derive(Debug)]
pub struct Custom {
    /// The CRD as stored when this was made.
    pub definition: Arc<Value>,
    /// The entry of `spec.versions`.
    pub version: Value,
    /// Schema: pruning, defaults, validation.
    pub schema: crd::Version,
    /// Whether the stored version has defaults, which stored objects get when they are read.
    pub fills: bool,
}

impl Custom {
    /// Whether objects are read as something else than what is stored.
    pub(crate) fn differs(&self) -> bool {
        self.fills || self.schema.converts()
    }
}

impl Resource {
    /// `v1` or `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Scope of all objects in the store, the same for every version of the resource.
    #[must_use]
    pub fn scope(&self) -> String {
        // Events are the same objects in both of their groups.
        let core = self.group.is_empty() || self.is("events.k8s.io", "events");
        let group = if core { "core" } else { &self.group };
        format!("/{group}/{}/", self.plural)
    }

    /// Scope of a namespace's objects, or of all of them for an empty namespace.
    #[must_use]
    pub fn scope_in(&self, namespace: &str) -> String {
        if namespace.is_empty() {
            self.scope()
        } else {
            format!("{}{namespace}/", self.scope())
        }
    }

    /// Key of one object in the store.
    #[must_use]
    pub fn key(&self, namespace: &str, name: &str) -> Arc<str> {
        format!("{}{name}", self.scope_in(if self.namespaced { namespace } else { "" })).into()
    }

    /// Whether a verb can be used on the resource or one of its subresources.
    #[must_use]
    pub fn allows(&self, subresource: &str, verb: &str) -> bool {
        let verbs = match subresource {
            "" => Some(&self.verbs),
            name => self
                .subresources
                .iter()
                .find(|sub| sub.name == name)
                .map(|sub| &sub.verbs),
        };
        verbs.is_some_and(|verbs| verbs.iter().any(|other| other == verb))
    }

    /// Whether it is one built-in resource.
    #[must_use]
    pub fn is(&self, group: &str, plural: &str) -> bool {
        self.custom.is_none() && self.group == group && self.plural == plural
    }
}

/// A snapshot of everything that is served.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    resources: Vec<Arc<Resource>>,
    by_path: BTreeMap<(String, String, String), usize>,
    next: u32,
}

impl Registry {
    /// The built-in kinds.
    #[must_use]
    pub fn builtin() -> Self {
        let mut registry = Self::default();
        for resource in builtin::resources() {
            registry.add(resource);
        }
        registry
    }

    /// Finds a resource by group, version and plural name.
    #[must_use]
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        let at = self
            .by_path
            .get(&(group.to_owned(), version.to_owned(), plural.to_owned()))?;
        self.resources.get(*at)
    }

    /// Everything, in the order of discovery.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.iter()
    }

    /// Whether anything is served in a group and version.
    #[must_use]
    pub fn serves(&self, group: &str, version: &str) -> bool {
        self.resources
            .iter()
            .any(|resource| resource.group == group && resource.version == version)
    }

    /// Whether a group is one of the built-in ones.
    #[must_use]
    pub fn builtin_group(&self, group: &str) -> bool {
        let mut own = self.resources.iter().filter(|resource| resource.custom.is_none());
        own.any(|resource| resource.group == group)
    }

    /// The CRD that adds a resource, if it is served.
    #[must_use]
    pub fn definition(&self, group: &str, plural: &str) -> Option<Arc<Value>> {
        let mut custom = self.resources.iter().filter_map(|resource| {
            let fits = resource.group == group && resource.plural == plural;
            resource.custom.as_ref().filter(|_| fits)
        });
        custom.next().map(|custom| Arc::clone(&custom.definition))
    }

    /// The snapshot after a CRD was written (`Some`) or removed (`None`).
    #[must_use]
    pub fn with_definition(&self, group: &str, plural: &str, definition: Option<&Value>, revision: u64) -> Self {
        let mut next = Self {
            next: self.next,
            ..Self::default()
        };
        let mut old = Vec::new();
        for resource in &self.resources {
            if resource.custom.is_some() && resource.group == group && resource.plural == plural {
                old.push(Arc::clone(resource));
            } else {
                next.insert(Arc::clone(resource));
            }
        }
        for mut resource in definition.map(definition::resources).unwrap_or_default() {
            resource.since = old.iter().map(|old| old.since).min().unwrap_or(revision);
            next.add(resource);
        }
        next
    }

    fn add(&mut self, mut resource: Resource) {
        resource.id = self.next;
        self.next += 1;
        self.insert(Arc::new(resource));
    }

    fn insert(&mut self, resource: Arc<Resource>) {
        let path = (
            resource.group.clone(),
            resource.version.clone(),
            resource.plural.clone(),
        );
        self.by_path.insert(path, self.resources.len());
        self.resources.push(resource);
    }
}
