//! Watches on what was deployed: one per kind, of metadata only, restricted to objects that
//! carry a bundle's label. An event that a look at the release has not seen yet puts the bundle
//! deployment into the queue. Holds no objects; a kind that nobody uses is not watched.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fleet_api::labels;
use fleet_deploy::cluster::Kind;
use fleet_deploy::object::split_api_version;
use fleet_runtime::{Queue, chain};
use futures::TryStreamExt;
use kube::api::ApiResource;
use kube::core::{DynamicObject, PartialObjectMeta};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch};
use kube::{Api, ResourceExt};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

type KindKey = (String, String);
type Place = (String, String);
type Versions = BTreeMap<(KindKey, Place), u64>;

/// An object of a release as it was last seen.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) kind: Kind,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Empty if it was not there.
    pub(crate) version: String,
}

#[derive(Default)]
struct State {
    /// Who is told about an object, and in which version it was last seen.
    places: BTreeMap<KindKey, BTreeMap<Place, BTreeMap<String, String>>>,
    /// Who puts this hash on objects right now, and the newest versions that events brought
    /// meanwhile: a change must not fall between the look and the registration.
    hashes: BTreeMap<String, (String, Versions)>,
    running: BTreeMap<KindKey, CancellationToken>,
}

/// All watches of the agent. Clones share them.
#[derive(Clone)]
pub(crate) struct Watches {
    client: kube::Client,
    state: Arc<Mutex<State>>,
    queue: Queue<String>,
    delay: Duration,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Watches {
    pub(crate) fn new(
        client: kube::Client,
        queue: Queue<String>,
        delay: Duration,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            client,
            state: Arc::default(),
            queue,
            delay,
            shutdown,
            tasks: TaskTracker::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The deployment is being worked on: until [`Watches::refresh`], events of objects with
    /// this hash are remembered.
    pub(crate) fn expect(&self, deployment: &str, hash: &str) {
        self.lock()
            .hashes
            .insert(hash.to_owned(), (deployment.to_owned(), BTreeMap::new()));
    }

    /// The deployment's objects as just seen. Starts and stops watches as needed.
    pub(crate) fn refresh(&self, deployment: &str, objects: Vec<Watched>) {
        let mut state = self.lock();
        state.forget_places(deployment);
        let meanwhile = state.take_hash(deployment);
        let mut late = false;
        let mut kinds: BTreeMap<KindKey, Kind> = BTreeMap::new();
        for object in objects {
            let key = (object.kind.api_version.clone(), object.kind.kind.clone());
            let place = (object.namespace, object.name);
            let seen = object.version.parse::<u64>().unwrap_or_default();
            late |= meanwhile
                .get(&(key.clone(), place.clone()))
                .is_some_and(|newest| *newest > seen);
            state
                .places
                .entry(key.clone())
                .or_default()
                .entry(place)
                .or_default()
                .insert(deployment.to_owned(), object.version);
            kinds.insert(key, object.kind);
        }
        if late {
            self.queue.add_after(deployment.to_owned(), self.delay);
        }
        state.stop_unused();
        for (key, kind) in kinds {
            if !state.running.contains_key(&key) {
                let stop = self.shutdown.child_token();
                state.running.insert(key.clone(), stop.clone());
                let watches = self.clone();
                self.tasks.spawn(async move { watches.follow(key, kind, stop).await });
            }
        }
    }

    /// Nobody is told about this deployment's objects any more.
    pub(crate) fn clear(&self, deployment: &str) {
        let mut state = self.lock();
        state.forget_places(deployment);
        state.take_hash(deployment);
        state.stop_unused();
    }

    /// Waits for the watches to end after shutdown.
    pub(crate) async fn closed(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    async fn follow(&self, key: KindKey, kind: Kind, stop: CancellationToken) {
        let (group, version) = split_api_version(&kind.api_version);
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: kind.api_version.clone(),
            kind: kind.kind.clone(),
            plural: kind.plural.clone(),
        };
        let api: Api<PartialObjectMeta<DynamicObject>> = Api::all_with(self.client.clone(), &resource);
        let config = watcher::Config::default()
            .labels(labels::OBJECT_SET_HASH)
            .any_semantic();
        let stream = watch(api, config).default_backoff();
        let mut stream = std::pin::pin!(stream);
        let mut listed: Option<BTreeSet<Place>> = None;
        loop {
            let event = tokio::select! {
                () = stop.cancelled() => return,
                event = stream.try_next() => event,
            };
            match event {
                Ok(Some(Event::Init)) => listed = Some(BTreeSet::new()),
                Ok(Some(Event::InitApply(object))) => {
                    if let Some(listed) = &mut listed {
                        listed.insert(place(&object));
                    }
                    self.changed(&key, &object, false);
                }
                Ok(Some(Event::InitDone)) => self.missing(&key, &listed.take().unwrap_or_default()),
                Ok(Some(Event::Apply(object))) => self.changed(&key, &object, false),
                Ok(Some(Event::Delete(object))) => self.changed(&key, &object, true),
                Ok(None) => return,
                Err(error) => tracing::debug!(kind = kind.kind, error = chain(&error), "watch interrupted"),
            }
        }
    }

    fn changed(&self, key: &KindKey, object: &PartialObjectMeta<DynamicObject>, deleted: bool) {
        let version = object.resource_version().unwrap_or_default();
        let mut affected = BTreeSet::new();
        {
            let mut state = self.lock();
            let hash = object.labels().get(labels::OBJECT_SET_HASH);
            if let Some((_, events)) = hash.and_then(|hash| state.hashes.get_mut(hash)) {
                events.insert((key.clone(), place(object)), version.parse().unwrap_or_default());
            }
            let known = state.places.get(key).and_then(|places| places.get(&place(object)));
            for (deployment, seen) in known.into_iter().flatten() {
                // Seen in this version, or seen to be gone.
                let same = if deleted { seen.is_empty() } else { *seen == version };
                if !same {
                    affected.insert(deployment.clone());
                }
            }
        }
        for deployment in affected {
            self.queue.add_after(deployment, self.delay);
        }
    }

    /// Objects that a list did not bring although they were there.
    fn missing(&self, key: &KindKey, listed: &BTreeSet<Place>) {
        let mut affected = BTreeSet::new();
        for (place, owners) in self.lock().places.get(key).into_iter().flatten() {
            if !listed.contains(place) {
                affected.extend(
                    owners
                        .iter()
                        .filter(|(_, seen)| !seen.is_empty())
                        .map(|(owner, _)| owner.clone()),
                );
            }
        }
        for deployment in affected {
            self.queue.add_after(deployment, self.delay);
        }
    }
}

impl State {
    fn take_hash(&mut self, deployment: &str) -> Versions {
        let hash = self
            .hashes
            .iter()
            .find(|(_, (owner, _))| owner == deployment)
            .map(|(hash, _)| hash.clone());
        hash.and_then(|hash| self.hashes.remove(&hash))
            .map(|(_, events)| events)
            .unwrap_or_default()
    }

    fn forget_places(&mut self, deployment: &str) {
        for places in self.places.values_mut() {
            places.retain(|_, owners| {
                owners.remove(deployment);
                !owners.is_empty()
            });
        }
        self.places.retain(|_, places| !places.is_empty());
    }

    fn stop_unused(&mut self) {
        let places = &self.places;
        self.running.retain(|key, stop| {
            let used = places.contains_key(key);
            if !used {
                stop.cancel();
            }
            used
        });
    }
}

fn place(object: &PartialObjectMeta<DynamicObject>) -> Place {
    (object.namespace().unwrap_or_default(), object.name_any())
}
