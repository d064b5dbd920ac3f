//! Roles and bindings by what a decision asks for: rules by role, bindings by namespace and subject.
//!
//! A plain value that is changed by one stored object at a time. It holds one copy of each text.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::authz::rule::Rule;

/// A stored RBAC object's place: `/rbac.authorization.k8s.io/RESOURCE/[NAMESPACE/]NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// ClusterRole (empty namespace) or Role.
    Role { namespace: &'a str, name: &'a str },
    /// ClusterRoleBinding (empty namespace) or RoleBinding.
    Binding { namespace: &'a str, name: &'a str },
}

impl<'a> Place<'a> {
    /// What a store key names, if it is an RBAC object.
    pub(super) fn of(key: &'a str) -> Option<Self> {
        let (resource, rest) = key.strip_prefix(PREFIX)?.split_once('/')?;
        let (namespace, name) = rest.split_once('/').unwrap_or(("", rest));
        match resource {
            "roles" | "clusterroles" => Some(Place::Role { namespace, name }),
            "rolebindings" | "clusterrolebindings" => Some(Place::Binding { namespace, name }),
            _ => None,
        }
    }
}

/// Scope of all RBAC objects in the store.
pub(super) const PREFIX: &str = "/rbac.authorization.k8s.io/";

/// Who a binding is for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Subject {
    pub(super) kind: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) namespace: String,
}

/// What a binding is of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct RoleRef {
    pub(super) kind: String,
    pub(super) name: String,
}

/// A ClusterRoleBinding or RoleBinding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binding {
    /// Empty for a ClusterRoleBinding.
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
    pub(super) role: RoleRef,
    pub(super) subjects: Box<[Subject]>,
}

impl Binding {
    fn parse(namespace: &str, name: &str, object: &Value) -> Option<Binding> {
        let role = RoleRef::deserialize(object.get("roleRef")?).ok()?;
        let subjects = object
            .get("subjects")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let subjects = subjects
            .iter()
            .filter_map(|subject| Subject::deserialize(subject).ok())
            .collect();
        Some(Binding {
            namespace: namespace.into(),
            name: name.into(),
            role,
            subjects,
        })
    }

    /// The namespace of the role: a ClusterRole's is empty.
    pub(super) fn role_namespace(&self) -> &str {
        if self.role.kind == "Role" { &self.namespace } else { "" }
    }
}

/// All roles and bindings.
#[derive(Debug, Default)]
pub(super) struct Index {
    roles: HashMap<Box<str>, Arc<[Rule]>>,
    bindings: HashMap<Box<str>, Arc<Binding>>,
    by_subject: HashMap<Box<str>, Vec<Arc<Binding>>>,
}

impl Index {
    /// Takes over what the store now holds at a place.
    pub(super) fn apply(&mut self, place: &Place<'_>, object: Option<&Value>) {
        match *place {
            Place::Role { namespace, name } => {
                let key = key(namespace, name);
                match object {
                    Some(object) => self.roles.insert(key, Rule::list(object.get("rules")).into()),
                    None => self.roles.remove(&key),
                };
            }
            Place::Binding { namespace, name } => {
                let key = key(namespace, name);
                if let Some(old) = self.bindings.remove(&key) {
                    self.unlink(&old);
                }
                if let Some(binding) = object.and_then(|object| Binding::parse(namespace, name, object)) {
                    let binding = Arc::new(binding);
                    self.link(&binding);
                    self.bindings.insert(key, binding);
                }
            }
        }
    }

    /// The rules of a role; an empty namespace means a ClusterRole.
    pub(super) fn rules(&self, namespace: &str, name: &str) -> Option<&Arc<[Rule]>> {
        self.roles.get(&key(namespace, name))
    }

    /// The bindings of a namespace (empty: of the cluster) that name the user or group.
    pub(super) fn bindings(&self, namespace: &str, kind: SubjectKind, name: &str) -> &[Arc<Binding>] {
        self.by_subject
            .get(&*subject_key(namespace, kind, name))
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    fn link(&mut self, binding: &Arc<Binding>) {
        for key in subject_keys(binding) {
            self.by_subject.entry(key).or_default().push(Arc::clone(binding));
        }
    }

    fn unlink(&mut self, binding: &Arc<Binding>) {
        for key in subject_keys(binding) {
            if let Some(list) = self.by_subject.get_mut(&key) {
                list.retain(|other| !Arc::ptr_eq(other, binding));
                if list.is_empty() {
                    self.by_subject.remove(&key);
                }
            }
        }
    }
}

/// How a request is matched with a subject: service accounts are users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubjectKind {
    User,
    Group,
}

impl Subject {
    /// The user or group that the subject stands for.
    pub(super) fn matches(&self) -> Option<(SubjectKind, String)> {
        match self.kind.as_str() {
            "User" => Some((SubjectKind::User, self.name.clone())),
            "Group" => Some((SubjectKind::Group, self.name.clone())),
            "ServiceAccount" if !self.namespace.is_empty() => {
                let name = format!("{}{}:{}", crate::authn::ACCOUNT_PREFIX, self.namespace, self.name);
                Some((SubjectKind::User, name))
            }
            _ => None,
        }
    }

    /// As reasons of decisions name it.
    pub(super) fn text(&self) -> String {
        match self.kind.as_str() {
            "ServiceAccount" => format!("ServiceAccount {:?}", format!("{}/{}", self.name, self.namespace)),
            kind => format!("{kind} {:?}", self.name),
        }
    }
}

/// Each key once, even where a binding names somebody twice.
fn subject_keys(binding: &Binding) -> Vec<Box<str>> {
    let mut keys: Vec<Box<str>> = binding
        .subjects
        .iter()
        .filter_map(Subject::matches)
        .map(|(kind, name)| subject_key(&binding.namespace, kind, &name))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Neither namespaces nor names contain a line feed.
fn subject_key(namespace: &str, kind: SubjectKind, name: &str) -> Box<str> {
    let kind = match kind {
        SubjectKind::User => 'u',
        SubjectKind::Group => 'g',
    };
    format!("{namespace}\n{kind}{name}").into()
}

fn key(namespace: &str, name: &str) -> Box<str> {
    format!("{namespace}\n{name}").into()
}
