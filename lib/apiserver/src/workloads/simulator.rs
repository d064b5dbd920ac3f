//! The simulator's engine: every change of a workload makes it due, and what is due gets the status it should have by now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::controllers::Api;
use crate::controllers::api::{Error, OBJECT, optional};
use crate::controllers::feed::{Change, Form, follow};
use crate::controllers::graph::{Graph, Uid};
use crate::controllers::object::{Key, Meta, Resource};
use crate::controllers::queue::Queue;
use crate::options::Clock;
use crate::workloads::pod::{self, Phase};
use crate::workloads::status::{self, Counts, Facts, replicas};
use crate::workloads::{Detail, FAIL, Workloads, children};

const WORKERS: usize = 4;
const CHANGES: usize = 1024;

/// Reason shown where the annotation gives none.
const FAULT: &str = "CrashLoopBackOff";

/// What is simulated: group, plural, kind.
const KINDS: [(&str, &str, &str); 8] = [
    ("apps", "deployments", "Deployment"),
    ("apps", "replicasets", "ReplicaSet"),
    ("apps", "statefulsets", "StatefulSet"),
    ("apps", "daemonsets", "DaemonSet"),
    ("batch", "jobs", "Job"),
    ("", "pods", "Pod"),
    ("", "persistentvolumeclaims", "PersistentVolumeClaim"),
    ("", "services", "Service"),
];

/// Simulates the workloads of one server.
pub struct Simulator {
    context: Arc<Context>,
}

/// What the simulator has at hand.
pub(super) struct Context {
    pub(super) api: Api,
    pub(super) workloads: Workloads,
    clock: Arc<dyn Clock>,
    queue: Queue<Key>,
    resources: HashMap<&'static str, Arc<Resource>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    graph: Graph,
    /// Since when something is what it is; what that is says the text.
    since: HashMap<Key, (String, Instant)>,
}

/// When to look again; none when all is said.
type Next = Result<Option<Duration>, Error>;

impl Simulator {
    /// A simulator that works through `api`, which must act as an administrator.
    #[must_use]
    pub fn new(api: Api, workloads: Workloads, clock: Arc<dyn Clock>) -> Self {
        let resources = KINDS.into_iter().map(|(group, plural, kind)| {
            let resource = Resource {
                group: group.to_owned(),
                version: "v1".to_owned(),
                plural: plural.to_owned(),
                kind: kind.to_owned(),
                namespaced: true,
            };
            (kind, Arc::new(resource))
        });
        let context = Context {
            api,
            workloads,
            clock,
            queue: Queue::new(),
            resources: resources.collect(),
            state: Mutex::default(),
        };
        Self {
            context: Arc::new(context),
        }
    }

    /// Runs until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        let context = self.context;
        let (sender, mut changes) = mpsc::channel(CHANGES);
        let mut tasks = JoinSet::new();
        for resource in context.resources.values() {
            let form = Form {
                list: OBJECT,
                watch: OBJECT,
            };
            tasks.spawn(follow(context.api.clone(), Arc::clone(resource), form, sender.clone()));
        }
        for _ in 0..WORKERS {
            tasks.spawn(work(Arc::clone(&context)));
        }
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                Some(change) = changes.recv() => context.observe(change),
            }
        }
    }
}

impl std::fmt::Debug for Simulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulator")
            .field("workloads", &self.context.workloads)
            .finish_non_exhaustive()
    }
}

async fn work(context: Arc<Context>) {
    loop {
        let key = context.queue.next().await;
        match context.simulate(&key).await {
            Ok(next) => {
                context.queue.done(&key);
                if let Some(delay) = next {
                    context.queue.add_after(key, delay);
                }
            }
            Err(error) => {
                tracing::debug!(path = key.path(), error = %error, "simulation will be tried again");
                context.queue.failed(&key);
            }
        }
    }
}

impl Context {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observe(&self, change: Change) {
        let (resource, object, gone) = match change {
            Change::Present(resource, object) => (resource, object, false),
            Change::Gone(resource, object) => (resource, object, true),
            Change::Listed(_) => return,
        };
        let meta = Meta(&object);
        let key = Key {
            resource,
            namespace: meta.namespace().into(),
            name: meta.name().into(),
        };
        let owners = meta.owners();
        for owner in &owners {
            if let Some(key) = self.key(&owner.kind, meta.namespace(), &owner.name) {
                self.queue.add(key);
            }
        }
        let mut state = self.state();
        if gone {
            state.graph.remove(&key);
            state.since.remove(&key);
        } else {
            state.graph.set(key.clone(), &owners);
            drop(state);
            self.queue.add(key);
        }
    }

    /// Where an object of a simulated kind is.
    pub(super) fn key(&self, kind: &str, namespace: &str, name: &str) -> Option<Key> {
        let resource = Arc::clone(self.resources.get(kind)?);
        Some(Key {
            resource,
            namespace: namespace.into(),
            name: name.into(),
        })
    }

    /// The objects of a kind that name an owner, as far as was seen.
    pub(super) fn owned(&self, owner: &Value, kind: &str) -> Vec<Key> {
        let uid = Uid::of(Meta(owner).uid());
        let mut keys = self.state().graph.dependents(uid);
        keys.retain(|key| key.resource.kind == kind);
        keys
    }

    async fn simulate(&self, key: &Key) -> Next {
        let Some(object) = optional(self.api.get(&key.path(), OBJECT).await)? else {
            self.state().graph.remove(key);
            return Ok(None);
        };
        if Meta(&object).deleting() {
            if key.resource.kind == "Pod" && Meta(&object).finalizers().is_empty() {
                let now = serde_json::json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0});
                optional(self.api.delete(&key.path(), &now).await)?;
            }
            return Ok(None);
        }
        match (key.resource.kind.as_str(), self.workloads.detail) {
            ("Pod", _) => self.pod(key, object).await,
            ("Service", _) => self.service(key, object).await,
            ("PersistentVolumeClaim", _) => self.claim(key, object).await,
            ("Job", _) => self.job(key, object).await,
            (_, Detail::Status) => self.by_time(key, object).await,
            ("Deployment", Detail::Pods) => {
                let (counts, replica_set) = children::replica_sets(self, &object).await?;
                let status = status::deployment(&self.facts(&object, counts), &replica_set);
                self.write(key, object, status).await
            }
            (kind, Detail::Pods) => {
                let counts = children::pods(self, &object, kind).await?;
                let status = self.workload_status(kind, &object, counts);
                self.write(key, object, status).await
            }
        }
    }

    /// A workload whose pods are imagined: after the delay they are ready, unless they shall fail.
    async fn by_time(&self, key: &Key, object: Value) -> Next {
        let kind = key.resource.kind.as_str();
        let desired = if kind == "DaemonSet" { 1 } else { replicas(&object) };
        let all = Counts {
            desired,
            current: desired,
            updated: desired,
            ready: desired,
        };
        let broken = Counts { ready: 0, ..all };
        let last = self.workload_status(kind, &object, if fault(&object).is_some() { broken } else { all });
        let was_ready = |field: &str| object.pointer(field).and_then(Value::as_i64).unwrap_or_default();
        let before = was_ready("/status/readyReplicas")
            .max(was_ready("/status/numberReady"))
            .min(desired);
        let started = object.pointer("/status/observedGeneration").is_some();
        let meanwhile = Counts {
            desired,
            current: desired,
            updated: if started { 0 } else { desired },
            ready: before,
        };
        let meanwhile = self.workload_status(kind, &object, meanwhile);
        self.after_delay(key, object, meanwhile, last).await
    }

    fn workload_status(&self, kind: &str, object: &Value, counts: Counts) -> Value {
        let facts = self.facts(object, counts);
        let revision = || format!("{}-{}", Meta(object).name(), children::template_hash(object));
        match kind {
            "Deployment" => status::deployment(&facts, &revision()),
            "StatefulSet" => status::stateful_set(&facts, &revision()),
            "DaemonSet" => status::daemon_set(&facts),
            _ => status::replica_set(&facts),
        }
    }

    async fn job(&self, key: &Key, object: Value) -> Next {
        let conditions = object
            .pointer("/status/conditions")
            .and_then(Value::as_array)
            .map(Vec::as_slice);
        let ended = |condition: &Value| condition["type"] == "Complete" || condition["type"] == "Failed";
        if conditions.unwrap_or_default().iter().any(ended) {
            return Ok(None);
        }
        if self.workloads.detail == Detail::Pods {
            children::pods(self, &object, "Job").await?;
        }
        let facts = self.facts(&object, Counts::default());
        let (meanwhile, last) = (status::job(&facts, false), status::job(&facts, true));
        self.after_delay(key, object, meanwhile, last).await
    }

    async fn pod(&self, key: &Key, object: Value) -> Next {
        let now = self.now();
        let of_job = Meta(&object).owners().iter().any(|owner| owner.kind == "Job");
        let phase = match fault(&object) {
            Some(reason) => Phase::Broken(reason),
            None if of_job => Phase::Succeeded,
            None => Phase::Ready,
        };
        let last = pod::status(&object, phase, &now);
        let meanwhile = pod::status(&object, Phase::Starting, &now);
        self.after_delay(key, object, meanwhile, last).await
    }

    async fn claim(&self, key: &Key, object: Value) -> Next {
        let (meanwhile, last) = (
            status::claim(&object, false),
            status::claim(&object, fault(&object).is_none()),
        );
        self.after_delay(key, object, meanwhile, last).await
    }

    async fn service(&self, key: &Key, object: Value) -> Next {
        if object.pointer("/spec/type").and_then(Value::as_str) != Some("LoadBalancer") || fault(&object).is_some() {
            return Ok(None);
        }
        let mut last = object.get("status").cloned().unwrap_or_default();
        last["loadBalancer"] = status::load_balancer(&object)["loadBalancer"].take();
        let meanwhile = object.get("status").cloned().unwrap_or_default();
        self.after_delay(key, object, meanwhile, last).await
    }

    /// Writes one status now and the other once the delay since the last change of the spec (or of the wish to fail)
    /// is over.
    async fn after_delay(&self, key: &Key, object: Value, meanwhile: Value, last: Value) -> Next {
        if object.get("status") == Some(&last) {
            return Ok(None);
        }
        let left = self.left(key, &object);
        if left.is_zero() {
            return self.write(key, object, last).await;
        }
        self.write(key, object, meanwhile).await?;
        Ok(Some(left))
    }

    fn left(&self, key: &Key, object: &Value) -> Duration {
        let delay = self.workloads.delay;
        if delay.is_zero() {
            return delay;
        }
        let generation = object
            .pointer("/metadata/generation")
            .and_then(Value::as_i64)
            .unwrap_or_default();
        let what = format!(
            "{} {generation} {}",
            Meta(object).uid(),
            fault(object).unwrap_or_default()
        );
        let mut state = self.state();
        let since = state
            .since
            .entry(key.clone())
            .or_insert_with(|| (what.clone(), Instant::now()));
        if since.0 != what {
            *since = (what, Instant::now());
        }
        delay.saturating_sub(since.1.elapsed())
    }

    async fn write(&self, key: &Key, mut object: Value, status: Value) -> Next {
        if object.get("status") != Some(&status) {
            object["status"] = status;
            optional(self.api.replace(&format!("{}/status", key.path()), &object).await)?;
        }
        Ok(None)
    }

    fn facts<'a>(&self, object: &'a Value, counts: Counts) -> Facts<'a> {
        Facts {
            object,
            counts,
            fault: fault(object),
            now: self.now(),
        }
    }

    fn now(&self) -> String {
        self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

/// Why an object shall fail, if it shall: the annotation of itself or of its pods.
pub(super) fn fault(object: &Value) -> Option<&str> {
    let found = ["/metadata/annotations", "/spec/template/metadata/annotations"]
        .into_iter()
        .find_map(|place| object.pointer(place)?.get(FAIL)?.as_str())?;
    Some(if found.is_empty() || found == "true" {
        FAULT
    } else {
        found
    })
}
