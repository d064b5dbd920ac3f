//! The authorizer: the index behind a lock, fed by the store's events before each question.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use futures::FutureExt;
use serde_json::Value;

use crate::access::{Attributes, Authorizer, Decision, User};
use crate::authz::MASTERS;
use crate::authz::binding::{Binding, PREFIX, Place, Subject, SubjectKind};
use crate::authz::index::{About, Index};
use crate::authz::rule::Rule;
use crate::store::{Error, Event, Scan, Store, Subscription};

/// Entries read at once while the index is built.
const PAGE: usize = 1000;

/// Missing roles that a refusal lists.
const SHOWN: usize = 10;

/// Decides by the roles and bindings of a store.
pub struct Rbac {
    store: Arc<dyn Store>,
    index: RwLock<Index>,
    feed: Mutex<Feed>,
}

struct Feed {
    subscription: Subscription,
    /// Everything up to here is in the index.
    seen: u64,
}

/// A binding that names the caller, and the rules of its role unless that role does not exist.
pub(super) struct Grant {
    pub(super) binding: Arc<Binding>,
    pub(super) rules: Option<Arc<[Rule]>>,
    subject: Subject,
}

impl Rbac {
    /// An authorizer for the roles and bindings of `store`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn new(store: Arc<dyn Store>) -> Result<Self, Error> {
        let (index, feed) = build(&store)?;
        Ok(Self {
            store,
            index: RwLock::new(index),
            feed: Mutex::new(feed),
        })
    }

    /// Everything the caller was granted in a namespace (empty: cluster scope): the cluster's bindings, then the
    /// namespace's. Not for every request: some accounts have very many.
    pub(super) fn grants(&self, user: &User, namespace: &str) -> Vec<Grant> {
        let mut grants = Vec::new();
        visit(&self.current(), user, namespace, About::Everything, |grant| {
            grants.push(grant);
            ControlFlow::Continue(())
        });
        grants
    }

    /// The rules of a role; an empty namespace means a ClusterRole.
    pub(super) fn rules_of_role(&self, namespace: &str, name: &str) -> Option<Arc<[Rule]>> {
        self.current().rules(namespace, name).cloned()
    }

    /// The index with every published event in it.
    fn current(&self) -> RwLockReadGuard<'_, Index> {
        let mut feed = self.feed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = self.catch_up(&mut feed) {
            // The index keeps what it knew; the next question tries again.
            tracing::error!(error = %error, "cannot bring the roles up to date");
        }
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn catch_up(&self, feed: &mut Feed) -> Result<(), Error> {
        let mut resumed = false;
        loop {
            match feed.subscription.next().now_or_never() {
                None => return Ok(()),
                Some(Some(event)) => {
                    feed.seen = event.revision;
                    self.take(&event);
                }
                // Too slow: go on from where we were, or from scratch if that is too long ago.
                Some(None) if resumed => return Ok(()),
                Some(None) => {
                    resumed = true;
                    match self.store.history().subscribe(PREFIX, feed.seen) {
                        Ok(subscription) => feed.subscription = subscription,
                        Err(Error::Expired { .. }) => {
                            let (index, new) = build(&self.store)?;
                            *feed = new;
                            *self.index.write().unwrap_or_else(PoisonError::into_inner) = index;
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
        }
    }

    fn take(&self, event: &Event) {
        let Some(place) = Place::of(&event.key) else { return };
        let object = event.entry.as_ref().and_then(|entry| parse(&entry.value));
        self.index
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .apply(&place, object.as_ref());
    }
}

/// Shows the bindings that name the caller, until told to stop.
fn visit(index: &Index, user: &User, namespace: &str, about: About<'_>, mut see: impl FnMut(Grant) -> ControlFlow<()>) {
    let scopes = if namespace.is_empty() {
        &[""][..]
    } else {
        &["", namespace]
    };
    for scope in scopes {
        let users = std::iter::once((SubjectKind::User, &user.name));
        let groups = user.groups.iter().map(|group| (SubjectKind::Group, group));
        for (kind, name) in users.chain(groups) {
            for (binding, subject) in index.bindings(scope, kind, name, about) {
                let rules = index.rules(binding.role_namespace(), &binding.role.name).cloned();
                let grant = Grant {
                    binding: Arc::clone(binding),
                    rules,
                    subject: subject.clone(),
                };
                if see(grant).is_break() {
                    return;
                }
            }
        }
    }
}

fn build(store: &Arc<dyn Store>) -> Result<(Index, Feed), Error> {
    // Subscribed first: what is written while scanning comes again as an event.
    let seen = store.history().revision();
    let subscription = store.history().subscribe(PREFIX, seen)?;
    let mut index = Index::default();
    let mut after: Option<Arc<str>> = None;
    loop {
        let scan = Scan {
            scope: PREFIX,
            after: after.as_deref(),
            limit: PAGE,
            at: None,
            // Nobody asks how many there are.
            left: u64::MAX,
        };
        let page = store.scan(&scan)?;
        for (key, entry) in &page.entries {
            if let Some(place) = Place::of(key) {
                index.apply(&place, parse(&entry.value).as_ref());
            }
        }
        after = page.entries.last().map(|(key, _)| Arc::clone(key));
        if !page.more || after.is_none() {
            return Ok((index, Feed { subscription, seen }));
        }
    }
}

fn parse(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok()
}

impl Authorizer for Rbac {
    fn authorize(&self, user: &User, attributes: &Attributes) -> Decision {
        if user.groups.iter().any(|group| group == MASTERS) {
            return Decision {
                allowed: true,
                reason: String::new(),
            };
        }
        let mut missing = Vec::new();
        let mut allowed = None;
        let about = About::Object(&attributes.name);
        visit(&self.current(), user, &attributes.namespace, about, |grant| {
            match &grant.rules {
                Some(rules) if rules.iter().any(|rule| rule.allows(attributes)) => {
                    allowed = Some(format!("RBAC: allowed by {}", grant.text()));
                    return ControlFlow::Break(());
                }
                Some(_) => {}
                None => {
                    let role = grant.missing_role();
                    if missing.len() < SHOWN && !missing.contains(&role) {
                        missing.push(role);
                    }
                }
            }
            ControlFlow::Continue(())
        });
        if let Some(reason) = allowed {
            return Decision { allowed: true, reason };
        }
        let reason = match missing.as_slice() {
            [] => String::new(),
            [one] => format!("RBAC: {one}"),
            many => format!("RBAC: [{}]", many.join(", ")),
        };
        Decision { allowed: false, reason }
    }
}

impl Grant {
    /// That the role of the binding does not exist.
    fn missing_role(&self) -> String {
        let role = &self.binding.role;
        format!(
            "{}.{} {:?} not found",
            role.kind.to_lowercase(),
            crate::authz::GROUP,
            role.name
        )
    }

    fn text(&self) -> String {
        let Binding {
            namespace, name, role, ..
        } = &*self.binding;
        let binding = if namespace.is_empty() {
            format!("ClusterRoleBinding {name:?}")
        } else {
            format!("RoleBinding {:?}", format!("{name}/{namespace}"))
        };
        let subject = self.subject.text();
        format!("{binding} of {} {:?} to {subject}", role.kind, role.name)
    }
}

/// The roles that grants name and that do not exist, as texts in order, once each.
pub(super) fn missing_roles(grants: &[Grant]) -> Vec<String> {
    let missing = grants
        .iter()
        .filter(|grant| grant.rules.is_none())
        .map(Grant::missing_role);
    missing.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

impl std::fmt::Debug for Rbac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rbac").finish_non_exhaustive()
    }
}
