//! A binding: who gets a role, and where the objects of RBAC lie in the store.

use serde::Deserialize;
use serde_json::Value;

/// Scope of all RBAC objects in the store.
pub(super) const PREFIX: &str = "/rbac.authorization.k8s.io/";

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

/// A ClusterRoleBinding or RoleBinding. Two are the same if they are at the same place.
#[derive(Debug)]
pub(super) struct Binding {
    /// Empty for a ClusterRoleBinding.
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
    pub(super) role: RoleRef,
    pub(super) subjects: Box<[Subject]>,
}

/// What a binding is of.
#[derive(Debug, Deserialize)]
pub(super) struct RoleRef {
    pub(super) kind: Box<str>,
    pub(super) name: Box<str>,
}

/// Who a binding is for.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Subject {
    pub(super) kind: Box<str>,
    pub(super) name: Box<str>,
    #[serde(default)]
    pub(super) namespace: Box<str>,
}

/// How a request is matched with a subject: service accounts are users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubjectKind {
    User,
    Group,
}

impl Binding {
    /// A binding as stored; none if it is not one.
    pub(super) fn parse(namespace: &str, name: &str, object: &Value) -> Option<Binding> {
        let role = RoleRef::deserialize(object.get("roleRef")?).ok()?;
        let subjects = object.get("subjects").and_then(Value::as_array).map(Vec::as_slice);
        let subjects = subjects.unwrap_or_default().iter();
        Some(Binding {
            namespace: namespace.into(),
            name: name.into(),
            role,
            subjects: subjects
                .filter_map(|subject| Subject::deserialize(subject).ok())
                .collect(),
        })
    }

    /// The namespace of the role: a ClusterRole's is empty.
    pub(super) fn role_namespace(&self) -> &str {
        if &*self.role.kind == "Role" {
            &self.namespace
        } else {
            ""
        }
    }

    /// The subject that stands for a user or group.
    pub(super) fn subject(&self, kind: SubjectKind, name: &str) -> Option<&Subject> {
        self.subjects
            .iter()
            .find(|subject| subject.matches().is_some_and(|(k, n)| k == kind && n == name))
    }
}

impl PartialEq for Binding {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Binding {}

impl PartialOrd for Binding {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Binding {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (&self.namespace, &self.name).cmp(&(&other.namespace, &other.name))
    }
}

impl Subject {
    /// The user or group that the subject stands for.
    pub(super) fn matches(&self) -> Option<(SubjectKind, String)> {
        match &*self.kind {
            "User" => Some((SubjectKind::User, self.name.to_string())),
            "Group" => Some((SubjectKind::Group, self.name.to_string())),
            "ServiceAccount" if !self.namespace.is_empty() => {
                let name = format!("{}{}:{}", crate::authn::ACCOUNT_PREFIX, self.namespace, self.name);
                Some((SubjectKind::User, name))
            }
            _ => None,
        }
    }

    /// As reasons of decisions name it.
    pub(super) fn text(&self) -> String {
        match &*self.kind {
            "ServiceAccount" => format!("ServiceAccount {:?}", format!("{}/{}", self.name, self.namespace)),
            kind => format!("{kind} {:?}", self.name),
        }
    }
}
