//! Watches: what is there, then what happens, as a stream of items.
//!
//! Mirrors upstream's watch cache: initial events, bookmarks, selector transitions (an object that leaves the
//! selection is DELETED, with its state before), 410 as an ERROR event.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::selection::Selection;
use super::{Answer, Content, Request, list};
use crate::cluster::Cluster;
use crate::registry::Resource;
use crate::status::{Cause, Result, Status};
use crate::store::{Entry, Error, Event, Scan, Subscription};

/// How often a client that asked for bookmarks hears how far it is.
const BOOKMARK: Duration = Duration::from_secs(60);

/// Shortest time a watch without `timeoutSeconds` lasts; upstream takes up to twice as long.
const SHORTEST: Duration = Duration::from_secs(1800);

/// What happened to an object, as far as the selection is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    Modified,
    Deleted,
}

/// One element of a watch.
pub(crate) enum Item {
    /// An object, and the event it comes from if it is not an initial one.
    Object(Change, Entry, Option<Arc<Event>>),
    /// Everything up to the revision has been sent; `true` at the end of the initial events.
    Bookmark(u64, bool),
    /// The last element.
    Error(Box<Status>),
}

/// A running watch.
pub(crate) struct Watch {
    pub(crate) resource: Arc<Resource>,
    selection: Selection,
    initial: VecDeque<Entry>,
    /// Announce the end of the initial events at this revision.
    announce: Option<u64>,
    subscription: Option<Subscription>,
    error: Option<Box<Status>>,
    bookmarks: Option<Interval>,
    deadline: Instant,
}

/// Starts a watch.
pub(crate) fn watch(cluster: &Cluster, request: &Request) -> Result<Answer> {
    let selection = Selection::read(request)?;
    let query = &request.query;
    let stream = initial_events(request)?;
    let bookmarks = query.flag("allowWatchBookmarks");
    let version = list::version(request).map_err(|status| {
        let message = status.message.trim_start_matches("invalid resource version: ");
        Box::new(Status {
            details: None,
            ..Status::new(500, "", message)
        })
    })?;
    let seconds = query
        .number("timeoutSeconds")
        .and_then(|seconds| u64::try_from(seconds).ok())
        .filter(|seconds| *seconds > 0);
    let deadline = Instant::now() + seconds.map_or(SHORTEST, Duration::from_secs);
    let mut watch = Watch {
        resource: Arc::clone(&request.resource),
        initial: VecDeque::new(),
        announce: None,
        subscription: None,
        error: None,
        bookmarks: bookmarks.then(bookmark_timer),
        deadline,
        selection,
    };
    let scope = watch.selection.scope(&request.namespace);
    let version = version.filter(|version| *version > 0);
    if let Some(version) = version.filter(|_| stream != Some(true)) {
        watch.follow(cluster, &scope, version);
    } else if stream == Some(false) {
        watch.follow(cluster, &scope, cluster.store.revision());
    } else {
        list::not_from_the_future(cluster, version)?;
        watch.show(cluster, &scope);
        watch.announce = watch.announce.filter(|_| stream == Some(true) && bookmarks);
    }
    Ok(Answer::new(200, Content::Watch(Box::new(watch))))
}

fn initial_events(request: &Request) -> Result<Option<bool>> {
    let query = &request.query;
    let matching = query.get("resourceVersionMatch");
    let wanted = query.has("sendInitialEvents").then(|| query.flag("sendInitialEvents"));
    let cause = match (wanted, matching) {
        (Some(_), "NotOlderThan") | (None, "") => return Ok(wanted),
        (Some(_), _) => Cause::new(
            "FieldValueForbidden",
            "resourceVersionMatch",
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (None, _) => Cause::new(
            "FieldValueForbidden",
            "resourceVersionMatch",
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
    };
    Err(Box::new(Status::invalid("meta.k8s.io", "ListOptions", "", vec![cause])))
}

fn bookmark_timer() -> Interval {
    let mut timer = tokio::time::interval_at(Instant::now() + BOOKMARK, BOOKMARK);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    timer
}

impl Watch {
    /// Follows from behind a revision.
    fn follow(&mut self, cluster: &Cluster, scope: &str, version: u64) {
        let current = cluster.store.revision();
        if version < self.resource.since {
            self.error = Some(too_old(version, current));
            return;
        }
        match cluster.store.history().subscribe(scope, version) {
            Ok(subscription) => self.subscription = Some(subscription),
            Err(Error::Expired { .. }) => self.error = Some(too_old(version, current)),
            Err(error) => self.error = Some(crate::cluster::failure(&error)),
        }
    }

    /// Shows what is there and follows from then on.
    fn show(&mut self, cluster: &Cluster, scope: &str) {
        match cluster.scan(&Scan {
            scope,
            ..Scan::default()
        }) {
            Ok(page) => {
                let selection = &self.selection;
                let shown = page.entries.into_iter().map(|(_, entry)| entry);
                self.initial = shown.filter(|entry| selection.matches(entry)).collect();
                self.announce = Some(page.revision);
                self.follow(cluster, scope, page.revision);
            }
            Err(error) => self.error = Some(crate::cluster::failure(&error)),
        }
    }

    /// The next item; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Item> {
        if let Some(entry) = self.initial.pop_front() {
            return Some(Item::Object(Change::Added, entry, None));
        }
        if let Some(revision) = self.announce.take() {
            return Some(Item::Bookmark(revision, true));
        }
        if let Some(error) = self.error.take() {
            return Some(Item::Error(error));
        }
        let subscription = self.subscription.as_mut()?;
        loop {
            let tick = async {
                match &mut self.bookmarks {
                    Some(timer) => timer.tick().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                event = subscription.next() => {
                    let event = event?;
                    if let Some((change, entry)) = seen(&self.selection, &event) {
                        return Some(Item::Object(change, entry, Some(event)));
                    }
                }
                () = tokio::time::sleep_until(self.deadline) => return None,
                _ = tick => {
                    let revision = subscription.published();
                    while let Some(event) = subscription.ready() {
                        if let Some((change, entry)) = seen(&self.selection, &event) {
                            return Some(Item::Object(change, entry, Some(event)));
                        }
                    }
                    return Some(Item::Bookmark(revision, false));
                }
            }
        }
    }

    /// An item that is there without waiting, so that several can be sent together.
    pub(crate) fn ready(&mut self) -> Option<Item> {
        if let Some(entry) = self.initial.pop_front() {
            return Some(Item::Object(Change::Added, entry, None));
        }
        if let Some(revision) = self.announce.take() {
            return Some(Item::Bookmark(revision, true));
        }
        let subscription = self.subscription.as_mut()?;
        while let Some(event) = subscription.ready() {
            if let Some((change, entry)) = seen(&self.selection, &event) {
                return Some(Item::Object(change, entry, Some(event)));
            }
        }
        None
    }

    /// Whether items depend on nothing but event, form and change, so that encodings can be shared.
    pub(crate) fn is_plain(&self) -> bool {
        self.selection.is_everything()
    }
}

/// What an event means for a selection.
fn seen(selection: &Selection, event: &Event) -> Option<(Change, Entry)> {
    let before = event.previous.as_ref().filter(|entry| selection.matches(entry));
    let after = event.entry.as_ref().filter(|entry| selection.matches(entry));
    match (before, after) {
        (None, Some(entry)) => Some((Change::Added, entry.clone())),
        (Some(_), Some(entry)) => Some((Change::Modified, entry.clone())),
        (Some(entry), None) => Some((
            Change::Deleted,
            Entry {
                modified: event.revision,
                ..entry.clone()
            },
        )),
        (None, None) => None,
    }
}

fn too_old(version: u64, current: u64) -> Box<Status> {
    Box::new(Status::expired(format!(
        "too old resource version: {version} ({current})"
    )))
}
