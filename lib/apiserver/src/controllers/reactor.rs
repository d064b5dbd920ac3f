//! The engine of housekeeping: changes come in, pieces of work become due, workers do them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::authn::Tokens;
use crate::controllers::api::{Api, Error, METADATA, METADATA_LIST, OBJECT};
use crate::controllers::feed::{Change, Form, follow};
use crate::controllers::graph::Graph;
use crate::controllers::object::{Key, Meta, Resource};
use crate::controllers::queue::Queue;
use crate::controllers::{Switches, account, aggregation, discovery, garbage, namespace, token_secret};
use crate::options::Clock;

/// Pieces of work done side by side.
const WORKERS: usize = 8;

/// Changes that may wait for the reactor, over all feeds.
const CHANGES: usize = 1024;

/// A piece of work, named by what it is about and not by what caused it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Work {
    /// Find out which resources there are.
    Discover,
    /// See whether an object's owners still exist.
    Check(Key),
    /// Let an object go that waits for its dependents.
    Foreground(Key),
    /// Take an object's dependents away from it, then let it go.
    Orphan(Key),
    /// Empty a namespace that is being deleted.
    Empty(Box<str>),
    /// Make what every namespace has.
    Defaults(Box<str>),
    /// Fill the token secret of that namespace and name, or delete it.
    Token(Box<str>, Box<str>),
    /// Fill the ClusterRoles that aggregate others.
    Aggregate,
}

/// Names of token secrets by namespace and account.
pub(crate) type TokenSecrets = HashMap<(Box<str>, Box<str>), HashSet<Box<str>>>;

/// What the controllers remember between changes.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// By group and kind.
    pub(crate) resources: HashMap<(String, String), Arc<Resource>>,
    /// Resources that were listed at least once.
    pub(crate) listed: HashSet<Arc<Resource>>,
    pub(crate) graph: Graph,
    /// Namespaces that are being deleted.
    pub(crate) terminating: HashSet<Box<str>>,
    pub(crate) token_secrets: TokenSecrets,
    pub(crate) roles: aggregation::Roles,
}

/// What workers have at hand.
pub(crate) struct Context {
    pub(crate) api: Api,
    pub(crate) tokens: Arc<Tokens>,
    /// The PEM by which clients recognise the server.
    pub(crate) authority: String,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) queue: Queue<Work>,
    pub(crate) switches: Switches,
    state: Mutex<State>,
    discovered: mpsc::Sender<Vec<Resource>>,
}

impl Context {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The housekeeping controllers of one server.
pub struct Housekeeping {
    api: Api,
    tokens: Arc<Tokens>,
    authority: String,
    clock: Arc<dyn Clock>,
    switches: Switches,
}

impl Housekeeping {
    /// Controllers that work through `api`, which must act as an administrator. `authority` is the server's CA (PEM),
    /// handed out to accounts; `tokens` signs for them.
    #[must_use]
    pub fn new(api: Api, tokens: Arc<Tokens>, authority: String, clock: Arc<dyn Clock>, switches: Switches) -> Self {
        Self {
            api,
            tokens,
            authority,
            clock,
            switches,
        }
    }

    /// Runs until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        let (changes_in, mut changes) = mpsc::channel(CHANGES);
        let (discovered, mut resources) = mpsc::channel(1);
        let context = Arc::new(Context {
            api: self.api,
            tokens: self.tokens,
            authority: self.authority,
            clock: self.clock,
            queue: Queue::new(),
            switches: self.switches,
            state: Mutex::default(),
            discovered,
        });
        let mut tasks = JoinSet::new();
        for _ in 0..WORKERS {
            tasks.spawn(work(Arc::clone(&context)));
        }
        context.queue.add(Work::Discover);
        let mut feeds: HashMap<Arc<Resource>, AbortHandle> = HashMap::new();
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                Some(change) = changes.recv() => observe(&context, change),
                Some(found) = resources.recv() => {
                    let found: HashSet<Arc<Resource>> = found.into_iter().map(Arc::new).collect();
                    feeds.retain(|resource, feed| {
                        let stays = found.contains(resource);
                        if !stays {
                            feed.abort();
                        }
                        stays
                    });
                    for resource in found {
                        if !feeds.contains_key(&resource) && context.wants(&resource) {
                            let feed = follow(
                                context.api.clone(), Arc::clone(&resource), form(&resource), changes_in.clone(),
                            );
                            feeds.insert(resource, tasks.spawn(feed));
                        }
                    }
                }
            }
        }
    }
}

impl std::fmt::Debug for Housekeeping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Housekeeping")
            .field("switches", &self.switches)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// Whether any controller cares about a resource.
    fn wants(&self, resource: &Resource) -> bool {
        let Switches {
            garbage,
            namespaces,
            tokens,
            accounts,
            aggregation,
        } = self.switches;
        // Events come and go in masses and own nothing.
        let ordinary = !resource.is_core("events");
        (ordinary && (garbage || namespaces))
            || is_definition(resource)
            || (resource.is_core("namespaces") && accounts)
            || (resource.is_core("serviceaccounts") && (tokens || accounts))
            || (resource.is_core("secrets") && tokens)
            || (resource.is_core("configmaps") && accounts)
            || (aggregation::is_role(resource) && aggregation)
    }
}

fn form(resource: &Resource) -> Form {
    if aggregation::is_role(resource) {
        Form {
            list: OBJECT,
            watch: OBJECT,
        }
    } else {
        Form {
            list: METADATA_LIST,
            watch: METADATA,
        }
    }
}

fn is_definition(resource: &Resource) -> bool {
    resource.group == "apiextensions.k8s.io" && resource.plural == "customresourcedefinitions"
}

/// Lets each controller see a change.
fn observe(context: &Context, change: Change) {
    let mut state = context.state();
    if let Change::Present(resource, _) | Change::Gone(resource, _) = &change
        && is_definition(resource)
    {
        context.queue.add(Work::Discover);
    }
    if let Change::Present(_, object) | Change::Gone(_, object) = &change {
        let namespace = Meta(object).namespace();
        if !namespace.is_empty() && state.terminating.contains(namespace) {
            context.queue.add(Work::Empty(namespace.into()));
        }
    }
    let Switches {
        garbage,
        namespaces,
        tokens,
        accounts,
        aggregation,
    } = context.switches;
    let mut due = Vec::new();
    if namespaces {
        namespace::observe(&mut state, &change, &mut due);
    }
    if garbage {
        garbage::observe(&mut state, &change, &mut due);
    }
    if tokens {
        token_secret::observe(&mut state, &change, &mut due);
    }
    if accounts {
        account::observe(&change, &mut due);
    }
    if aggregation {
        aggregation::observe(&mut state, change, &mut due);
    }
    drop(state);
    for work in due {
        context.queue.add(work);
    }
}

/// What a piece of work left to do.
pub(crate) enum Outcome {
    /// Nothing.
    Done,
    /// To look again after a while, even if nothing is heard of a change.
    Again(Duration),
}

async fn work(context: Arc<Context>) {
    loop {
        let work = context.queue.next().await;
        match perform(&context, &work).await {
            Ok(Outcome::Done) => context.queue.done(&work),
            Ok(Outcome::Again(delay)) => {
                context.queue.done(&work);
                context.queue.add_after(work, delay);
            }
            Err(error) => {
                // Conflicts are part of the game: somebody else wrote first.
                tracing::debug!(work = ?work, error = %error, "housekeeping will be tried again");
                context.queue.failed(&work);
            }
        }
    }
}

async fn perform(context: &Context, work: &Work) -> Result<Outcome, Error> {
    match work {
        Work::Discover => {
            let found = discovery::resources(&context.api).await?;
            context.state().resources = found
                .iter()
                .map(|resource| {
                    (
                        (resource.group.clone(), resource.kind.clone()),
                        Arc::new(resource.clone()),
                    )
                })
                .collect();
            // Without a receiver the engine is stopping.
            let _ = context.discovered.send(found).await;
            Ok(Outcome::Done)
        }
        Work::Check(key) => garbage::check(context, key).await,
        Work::Foreground(key) => garbage::foreground(context, key).await,
        Work::Orphan(key) => garbage::orphan(context, key).await,
        Work::Empty(name) => namespace::empty(context, name).await,
        Work::Defaults(name) => account::defaults(context, name).await,
        Work::Token(namespace, name) => token_secret::fill(context, namespace, name).await,
        Work::Aggregate => aggregation::fill(context).await,
    }
}
