//! Roles and bindings by what a decision asks for: bindings by namespace and subject, and for those whose role names its
//! objects one by one, also by the object's name.
//!
//! The second matters where one account has very many such bindings: a registration token that is shared by a million
//! clusters may read a million secrets, each through a binding of its own, and a decision must still be a look-up. A
//! plain value that is changed by one stored object at a time.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::authz::binding::{Binding, Place, Subject, SubjectKind};
use crate::authz::rule::Rule;

/// A role that names more objects than this is not looked up by their names.
const NAMES: usize = 32;

/// Bindings in the order of their places.
type Bindings = BTreeSet<Arc<Binding>>;

/// All roles and bindings.
#[derive(Debug, Default)]
pub(super) struct Index {
    roles: HashMap<Box<str>, Role>,
    bindings: HashMap<Box<str>, Arc<Binding>>,
    subjects: HashMap<Box<str>, Granted>,
    by_object: HashMap<Box<str>, Bindings>,
}

/// A role that exists, or that bindings speak of.
#[derive(Debug, Default)]
struct Role {
    rules: Option<Arc<[Rule]>>,
    bindings: Bindings,
}

/// The bindings of a subject in a namespace.
#[derive(Debug, Default)]
struct Granted {
    /// Whose roles may concern any object, or do not exist.
    general: Bindings,
    /// Whose roles concern only objects that they name.
    named: Bindings,
}

/// Which bindings are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About<'a> {
    /// Every one.
    Everything,
    /// Those that may say something about the object of this name; an empty one is no object.
    Object(&'a str),
}

impl Index {
    /// Takes over what the store now holds at a place.
    pub(super) fn apply(&mut self, place: &Place<'_>, object: Option<&Value>) {
        match *place {
            Place::Role { namespace, name } => {
                let rules = object.map(|object| Rule::list(object.get("rules")).into());
                self.set_rules(&key(namespace, name), rules);
            }
            Place::Binding { namespace, name } => {
                let key = key(namespace, name);
                if let Some(old) = self.bindings.remove(&key) {
                    self.unlink(&old);
                    self.forget(&old);
                }
                if let Some(binding) = object.and_then(|object| Binding::parse(namespace, name, object)) {
                    let binding = Arc::new(binding);
                    self.roles
                        .entry(role_key(&binding))
                        .or_default()
                        .bindings
                        .insert(Arc::clone(&binding));
                    self.link(&binding);
                    self.bindings.insert(key, binding);
                }
            }
        }
    }

    /// The rules of a role; an empty namespace means a ClusterRole.
    pub(super) fn rules(&self, namespace: &str, name: &str) -> Option<&Arc<[Rule]>> {
        self.roles.get(&key(namespace, name))?.rules.as_ref()
    }

    /// The bindings of a namespace (empty: of the cluster) that name the user or group, with the subject that does.
    pub(super) fn bindings<'a>(
        &'a self,
        namespace: &str,
        kind: SubjectKind,
        name: &'a str,
        about: About<'_>,
    ) -> impl Iterator<Item = (&'a Arc<Binding>, &'a Subject)> {
        let subject = subject_key(namespace, kind, name);
        let granted = self.subjects.get(&subject);
        let by_object = match about {
            About::Object(object) if !object.is_empty() => self.by_object.get(&object_key(&subject, object)),
            About::Object(_) => None,
            About::Everything => granted.map(|granted| &granted.named),
        };
        let general = granted.map(|granted| &granted.general);
        general
            .into_iter()
            .chain(by_object)
            .flatten()
            .filter_map(move |binding| Some((binding, binding.subject(kind, name)?)))
    }

    fn set_rules(&mut self, key: &str, rules: Option<Arc<[Rule]>>) {
        let role = self.roles.entry(key.into()).or_default();
        if object_names(role.rules.as_deref()) == object_names(rules.as_deref()) {
            role.rules = rules;
        } else {
            // Its bindings are found under other names from now on.
            let bindings = std::mem::take(&mut role.bindings);
            for binding in &bindings {
                self.unlink(binding);
            }
            self.roles.insert(
                key.into(),
                Role {
                    rules,
                    bindings: bindings.clone(),
                },
            );
            for binding in &bindings {
                self.link(binding);
            }
        }
        self.drop_if_unused(key);
    }

    fn link(&mut self, binding: &Arc<Binding>) {
        let names = self.names(binding);
        for key in subject_keys(binding) {
            let granted = self.subjects.entry(key.clone()).or_default();
            let Some(names) = &names else {
                granted.general.insert(Arc::clone(binding));
                continue;
            };
            granted.named.insert(Arc::clone(binding));
            for name in names {
                self.by_object
                    .entry(object_key(&key, name))
                    .or_default()
                    .insert(Arc::clone(binding));
            }
        }
    }

    fn unlink(&mut self, binding: &Arc<Binding>) {
        let names = self.names(binding);
        for key in subject_keys(binding) {
            for name in names.iter().flatten() {
                let key = object_key(&key, name);
                if let Some(bindings) = self.by_object.get_mut(&key) {
                    bindings.remove(binding);
                    if bindings.is_empty() {
                        self.by_object.remove(&key);
                    }
                }
            }
            if let Some(granted) = self.subjects.get_mut(&key) {
                granted.general.remove(binding);
                granted.named.remove(binding);
                if granted.general.is_empty() && granted.named.is_empty() {
                    self.subjects.remove(&key);
                }
            }
        }
    }

    /// Takes a binding from its role.
    fn forget(&mut self, binding: &Arc<Binding>) {
        let key = role_key(binding);
        if let Some(role) = self.roles.get_mut(&key) {
            role.bindings.remove(binding);
        }
        self.drop_if_unused(&key);
    }

    fn drop_if_unused(&mut self, key: &str) {
        if self
            .roles
            .get(key)
            .is_some_and(|role| role.rules.is_none() && role.bindings.is_empty())
        {
            self.roles.remove(key);
        }
    }

    /// The objects that a binding's role names, owned.
    fn names(&self, binding: &Binding) -> Option<Vec<Box<str>>> {
        let rules = self
            .rules(binding.role_namespace(), &binding.role.name)
            .map(|rules| &**rules);
        Some(object_names(rules)?.into_iter().map(Into::into).collect())
    }
}

/// The objects that rules are about; none if they may be about any.
fn object_names(rules: Option<&[Rule]>) -> Option<BTreeSet<&str>> {
    let rules = rules?;
    let open = |rule: &Rule| {
        rule.resource_names.is_empty()
            || rule.resource_names.iter().any(String::is_empty)
            || !rule.non_resource_urls.is_empty()
    };
    if rules.iter().any(open) {
        return None;
    }
    let names: BTreeSet<&str> = rules
        .iter()
        .flat_map(|rule| &rule.resource_names)
        .map(String::as_str)
        .collect();
    (names.len() <= NAMES).then_some(names)
}

/// Each key once, even where a binding names somebody twice.
fn subject_keys(binding: &Binding) -> BTreeSet<Box<str>> {
    let subjects = binding.subjects.iter().filter_map(Subject::matches);
    subjects
        .map(|(kind, name)| subject_key(&binding.namespace, kind, &name))
        .collect()
}

/// Names of certificates may hold anything, so what is found under a key is compared again before it counts.
fn subject_key(namespace: &str, kind: SubjectKind, name: &str) -> Box<str> {
    let kind = match kind {
        SubjectKind::User => 'u',
        SubjectKind::Group => 'g',
    };
    format!("{namespace}\n{kind}{name}").into()
}

fn object_key(subject: &str, object: &str) -> Box<str> {
    format!("{object}\n{subject}").into()
}

fn role_key(binding: &Binding) -> Box<str> {
    key(binding.role_namespace(), &binding.role.name)
}

fn key(namespace: &str, name: &str) -> Box<str> {
    format!("{namespace}\n{name}").into()
}
