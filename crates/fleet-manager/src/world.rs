//! What the manager watches: one feed per kind, a mirror plus the controllers that want to hear of
//! changes. A kind that nobody wants is not watched. Feeds are shared by all controllers of the
//! process, so that a kind is watched once.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use fleet_api::{
    Bundle, BundleDeployment, BundleNamespaceMapping, Cluster, ClusterGroup, ClusterRegistration,
    ClusterRegistrationToken, Content, GitRepo, GitRepoRestriction, HelmOp, Policy,
};
use fleet_runtime::{Change, Context, Mirror, Services, mirror};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, ServiceAccount};
use kube::core::PartialObjectMeta;
use kube::runtime::watcher;
use serde::de::DeserializeOwned;

type Listener<K> = Box<dyn FnMut(&Change<K>) + Send>;

/// One watched kind.
pub(crate) struct Feed<K> {
    mirror: Mirror<K>,
    listeners: Arc<Mutex<Vec<Listener<K>>>>,
    strip: fn(&mut K),
    config: watcher::Config,
    wanted: std::sync::atomic::AtomicBool,
}

impl<K> Feed<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    fn new(strip: fn(&mut K)) -> Self {
        Self::with(strip, watcher::Config::default())
    }

    fn with(strip: fn(&mut K), config: watcher::Config) -> Self {
        Self {
            mirror: Mirror::default(),
            listeners: Arc::default(),
            strip,
            config,
            wanted: false.into(),
        }
    }

    /// The local copy; the kind is watched from now on.
    pub(crate) fn mirror(&self) -> Mirror<K> {
        self.wanted.store(true, std::sync::atomic::Ordering::Relaxed);
        self.mirror.clone()
    }

    /// Calls `listener` for every change, in order, before anything else sees it. Must be
    /// registered before [`World::start`]; must not block.
    pub(crate) fn on(&self, listener: impl FnMut(&Change<K>) + Send + 'static) {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Box::new(listener));
        self.wanted.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    async fn start(&self, name: &'static str, cx: &Context, services: &mut Services) {
        if !self.wanted.load(std::sync::atomic::Ordering::Relaxed) {
            return;
        }
        let (api, config, strip) = (cx.all::<K>(), self.config.clone(), self.strip);
        let (mirror, listeners, shutdown) = (self.mirror.clone(), self.listeners.clone(), services.shutdown());
        let on_change = move |change: Change<K>| {
            for listener in listeners.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
                listener(&change);
            }
        };
        services.spawn(name, async move {
            mirror::follow(api, config, strip, mirror, on_change, shutdown).await;
            Ok::<(), std::convert::Infallible>(())
        });
    }
}

macro_rules! world {
    ($( $(#[$doc:meta])* $field:ident : $kind:ty = $feed:expr; )*) => {
        /// All kinds the manager may watch.
        pub(crate) struct World {
            $( $(#[$doc])* pub(crate) $field: Feed<$kind>, )*
        }

        impl Default for World {
            fn default() -> Self {
                Self { $( $field: $feed, )* }
            }
        }

        impl World {
            /// Starts the watches that are wanted and waits for their first lists.
            pub(crate) async fn start(&self, cx: &Context, services: &mut Services) {
                $( self.$field.start(stringify!($field), cx, services).await; )*
                let shutdown = services.shutdown();
                let ready = async {
                    $( if self.$field.wanted.load(std::sync::atomic::Ordering::Relaxed) { self.$field.mirror.ready().await; } )*
                };
                tokio::select! {
                    () = ready => {}
                    () = shutdown.cancelled() => {}
                }
            }
        }
    };
}

world! {
    clusters: Cluster = Feed::new(|_| {});
    groups: ClusterGroup = Feed::new(|_| {});
    registrations: ClusterRegistration = Feed::new(|_| {});
    tokens: ClusterRegistrationToken = Feed::new(|_| {});
    bundles: Bundle = Feed::new(|_| {});
    deployments: BundleDeployment = Feed::new(|_| {});
    /// Without their content.
    contents: Content = Feed::new(|content| content.content.clear());
    mappings: BundleNamespaceMapping = Feed::new(|_| {});
    policies: Policy = Feed::new(|_| {});
    restrictions: GitRepoRestriction = Feed::new(|_| {});
    repositories: GitRepo = Feed::new(|_| {});
    charts: HelmOp = Feed::new(|_| {});
    namespaces: Namespace = Feed::new(|namespace| namespace.spec = None);
    /// Those that the manager made.
    accounts: ServiceAccount = Feed::with(|_| {}, watcher::Config::default().labels("fleet.cattle.io/managed=true"));
    /// Only that they are there, and when they change.
    secrets: PartialObjectMeta<Secret> = Feed::new(|_| {});
    /// Only that they are there, and when they change.
    config_maps: PartialObjectMeta<ConfigMap> = Feed::new(|_| {});
}
