//! Backend that keeps everything in memory and forgets it at the end; for tests, demos and simulated clusters.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};

use futures::FutureExt;
use futures::future::BoxFuture;

use super::history::within;
use super::{Entry, Error, Event, Expect, History, Page, Scan, Store, Write};

#[derive(Debug, Default)]
struct State {
    revision: u64,
    entries: BTreeMap<Arc<str>, Entry>,
}

/// The store in memory.
#[derive(Debug)]
pub struct Memory {
    state: RwLock<State>,
    history: Arc<History>,
}

impl Memory {
    /// An empty store at revision 1 that keeps `history` events.
    #[must_use]
    pub fn new(history: usize) -> Self {
        let state = State {
            revision: 1,
            ..State::default()
        };
        Self {
            state: RwLock::new(state),
            history: Arc::new(History::new(1, history)),
        }
    }

    fn commit(&self, write: Write) -> Result<u64, Error> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let previous = state.entries.get(&write.key).cloned();
        check(write.expect, previous.as_ref())?;
        let revision = state.revision + 1;
        let entry = write.value.map(|value| Entry {
            value,
            created: previous.as_ref().map_or(revision, |entry| entry.created),
            modified: revision,
        });
        match &entry {
            Some(entry) => state.entries.insert(Arc::clone(&write.key), entry.clone()),
            None => state.entries.remove(&write.key),
        };
        state.revision = revision;
        // Under the lock, so that events come in the order of their revisions.
        self.history.publish([Event::new(write.key, revision, entry, previous)]);
        Ok(revision)
    }
}

/// Whether a precondition holds for what a key holds.
///
/// # Errors
/// [`Error::Conflict`] with what it holds.
pub fn check(expect: Expect, current: Option<&Entry>) -> Result<(), Error> {
    let holds = match expect {
        Expect::Absent => current.is_none(),
        Expect::Revision(revision) => current.is_some_and(|entry| entry.modified == revision),
    };
    if holds {
        Ok(())
    } else {
        Err(Error::Conflict(current.cloned()))
    }
}

impl Store for Memory {
    fn revision(&self) -> u64 {
        self.state.read().unwrap_or_else(PoisonError::into_inner).revision
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, Error> {
        Ok(self
            .state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .entries
            .get(key)
            .cloned())
    }

    fn scan(&self, scan: &Scan<'_>) -> Result<Page, Error> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let revision = scan.at.unwrap_or(state.revision);
        let then = if revision < state.revision {
            self.history.overlay(scan.scope, revision)?
        } else {
            BTreeMap::new()
        };
        let start = scan.after.map_or(Bound::Included(scan.scope), Bound::Excluded);
        let now = state
            .entries
            .range::<str, _>((start, Bound::Unbounded))
            .take_while(|(key, _)| within(key, scan.scope))
            .map(|(key, entry)| (Arc::clone(key), entry.clone()));
        Ok(page(now, then, scan, revision))
    }

    fn write(&self, write: Write) -> BoxFuture<'static, Result<u64, Error>> {
        std::future::ready(self.commit(write)).boxed()
    }

    fn history(&self) -> &Arc<History> {
        &self.history
    }
}

/// Makes a page out of what is stored now (in key order, from behind `scan.after`) and what [`History::overlay`] says
/// was different at the revision wanted. Shared by the backends.
pub fn page(
    now: impl Iterator<Item = (Arc<str>, Entry)>,
    then: BTreeMap<Arc<str>, Option<Entry>>,
    scan: &Scan<'_>,
    revision: u64,
) -> Page {
    let mut page = Page {
        revision,
        ..Page::default()
    };
    let mut add = |key: Arc<str>, entry: Entry| {
        if scan.limit == 0 || page.entries.len() < scan.limit {
            page.entries.push((key, entry));
        } else {
            page.more = true;
            page.remaining += 1;
        }
    };
    let mut then = then
        .into_iter()
        .filter(|(key, _)| scan.after.is_none_or(|after| **key > *after))
        .peekable();
    for (key, entry) in now {
        while let Some((earlier, old)) = then.next_if(|(other, _)| *other < key) {
            if let Some(old) = old {
                add(earlier, old);
            }
        }
        match then.next_if(|(other, _)| *other == key) {
            Some((_, Some(old))) => add(key, old),
            Some((_, None)) => {}
            None => add(key, entry),
        }
    }
    for (key, old) in then {
        if let Some(old) = old {
            add(key, old);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    async fn put(store: &Memory, key: &str, expect: Expect, value: &'static str) -> Result<u64, Error> {
        store
            .write(Write {
                key: key.into(),
                expect,
                value: Some(Bytes::from_static(value.as_bytes())),
            })
            .await
    }

    fn shown(page: &Page) -> Vec<(String, String)> {
        let text = |value: &Bytes| String::from_utf8_lossy(value).into_owned();
        page.entries
            .iter()
            .map(|(key, entry)| (key.to_string(), text(&entry.value)))
            .collect()
    }

    #[tokio::test]
    async fn a_write_happens_only_if_its_expectation_holds() {
        let store = Memory::new(10);
        let first = put(&store, "/a", Expect::Absent, "1").await.unwrap();
        assert!(matches!(
            put(&store, "/a", Expect::Absent, "2").await,
            Err(Error::Conflict(Some(_)))
        ));
        let second = put(&store, "/a", Expect::Revision(first), "2").await.unwrap();
        assert!(matches!(
            put(&store, "/a", Expect::Revision(first), "3").await,
            Err(Error::Conflict(Some(_)))
        ));
        let entry = store.get("/a").unwrap().unwrap();
        assert_eq!((entry.created, entry.modified), (first, second));
    }

    #[tokio::test]
    async fn the_past_can_be_read_page_by_page() {
        let store = Memory::new(10);
        let a = put(&store, "/x/a", Expect::Absent, "1").await.unwrap();
        put(&store, "/x/c", Expect::Absent, "1").await.unwrap();
        let then = put(&store, "/x/d", Expect::Absent, "1").await.unwrap();
        put(&store, "/x/a", Expect::Revision(a), "2").await.unwrap();
        put(&store, "/x/b", Expect::Absent, "2").await.unwrap();
        store
            .write(Write {
                key: "/x/d".into(),
                expect: Expect::Revision(then),
                value: None,
            })
            .await
            .unwrap();
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let first = store
            .scan(&Scan {
                scope: "/x/",
                at: Some(then),
                limit: 2,
                after: None,
                left: 0,
            })
            .unwrap();
        assert_eq!(shown(&first), [pair("/x/a", "1"), pair("/x/c", "1")]);
        assert_eq!((first.more, first.remaining, first.revision), (true, 1, then));
        let second = store
            .scan(&Scan {
                scope: "/x/",
                at: Some(then),
                limit: 2,
                after: Some("/x/c"),
                left: 0,
            })
            .unwrap();
        assert_eq!(shown(&second), [pair("/x/d", "1")]);
        assert!(!second.more);
        let now = store
            .scan(&Scan {
                scope: "/x/",
                ..Scan::default()
            })
            .unwrap();
        assert_eq!(shown(&now), [pair("/x/a", "2"), pair("/x/b", "2"), pair("/x/c", "1")]);
    }
}
