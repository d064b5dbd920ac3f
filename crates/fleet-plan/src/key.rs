//! The identities that must not be mixed up: a type per kind of namespace-and-name.

use std::fmt;

macro_rules! key {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            /// Namespace.
            pub namespace: String,
            /// Name.
            pub name: String,
        }

        impl $name {
            /// A key from its parts.
            #[must_use]
            pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
                Self { namespace: namespace.into(), name: name.into() }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}/{}", self.namespace, self.name)
            }
        }
    };
}

key! {
    /// A Cluster; the namespace is the workspace it is registered in.
    ClusterKey
}
key! {
    /// A Bundle.
    BundleKey
}
key! {
    /// A BundleDeployment; the namespace is the cluster's own.
    DeploymentKey
}
key! {
    /// A ClusterGroup.
    GroupKey
}
key! {
    /// A BundleNamespaceMapping.
    MappingKey
}

/// What bundles come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// A GitRepo.
    GitRepo,
    /// A HelmOp.
    HelmOp,
}

/// A GitRepo or HelmOp.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceKey {
    /// Which of the two.
    pub kind: SourceKind,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl SourceKey {
    /// A key from its parts.
    #[must_use]
    pub fn new(kind: SourceKind, namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            kind,
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for SourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
