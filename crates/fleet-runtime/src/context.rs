//! What every reconciler is given: a client, a clock, the name under which it writes.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Api;

use crate::clock::{Clock, SystemClock};

/// Client, clock and field manager. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// Connection to the API server.
    pub client: kube::Client,
    /// Source of time.
    pub clock: Arc<dyn Clock>,
    /// Field manager of all writes.
    pub manager: Arc<str>,
}

impl Context {
    /// A context with the machine's clock.
    #[must_use]
    pub fn new(client: kube::Client, manager: &str) -> Self {
        Self {
            client,
            clock: Arc::new(SystemClock),
            manager: manager.into(),
        }
    }

    /// The same with another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The present moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Objects of one namespace.
    #[must_use]
    pub fn namespaced<K>(&self, namespace: &str) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// Cluster-scoped objects, or those of all namespaces.
    #[must_use]
    pub fn all<K: kube::Resource<DynamicType = ()>>(&self) -> Api<K> {
        Api::all(self.client.clone())
    }

    /// Cluster-scoped objects.
    #[must_use]
    pub fn cluster<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = ClusterResourceScope>,
    {
        Api::all(self.client.clone())
    }
}
