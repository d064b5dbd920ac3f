//! What the agent's reconcilers share: both clusters, the mirror of bundle deployments, the
//! queue, the content cache and the watches.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use fleet_api::BundleDeployment;
use fleet_deploy::cluster::Cluster;
use fleet_deploy::content::Resource;
use fleet_runtime::{Mirror, Queue};
use helm::cache::Cache;
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::echo::Echoes;
use crate::patience::Patience;
use crate::settings::Settings;
use crate::unreported::Unreported;
use crate::upstream::Upstream;
use crate::watch::Watches;

/// Bytes of unpacked content kept for the next deployment that uses it.
const CACHE: usize = 4 * 1024 * 1024;

/// Shared by all calls of the reconciler.
pub(crate) struct Context {
    pub(crate) settings: Settings,
    pub(crate) upstream: Upstream,
    pub(crate) local: Cluster,
    pub(crate) deployments: Mirror<BundleDeployment>,
    pub(crate) queue: Queue<String>,
    pub(crate) watches: Watches,
    pub(crate) contents: Contents,
    /// What was made of the templates of charts.
    pub(crate) charts: Arc<Cache>,
    pub(crate) patience: Patience,
    pub(crate) unreported: Unreported,
    pub(crate) echoes: Echoes,
    /// Something may have been left behind: the collector should look.
    pub(crate) litter: Arc<Notify>,
}

impl Context {
    pub(crate) fn now(&self) -> Timestamp {
        self.settings.clock.now()
    }
}

/// Recently used content, by id. Content never changes under its id.
#[derive(Default)]
pub(crate) struct Contents {
    kept: Mutex<VecDeque<(String, Arc<Vec<Resource>>)>>,
}

impl Contents {
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Vec<Resource>>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter()
            .find(|(known, _)| known == id)
            .map(|(_, resources)| resources.clone())
    }

    pub(crate) fn keep(&self, id: &str, resources: Arc<Vec<Resource>>) {
        let size = |resources: &[Resource]| resources.iter().map(|resource| resource.data.len()).sum::<usize>();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front((id.to_owned(), resources));
        let mut total = 0;
        kept.retain(|(_, resources)| {
            total += size(resources);
            total <= CACHE
        });
    }
}
