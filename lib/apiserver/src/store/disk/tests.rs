//! The store on disk against what every store promises, over restarts and kills.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use fjall::AbstractTree as _;
use futures::executor::block_on;

use super::Disk;
use crate::store::{Error, Expect, Page, Scan, Store, Write};

/// A directory that goes away.
struct Directory(std::path::PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("apiserver-disk-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn write(store: &impl Store, key: &str, expect: Expect, value: Option<&str>) -> Result<u64, Error> {
    let value = value.map(|value| Bytes::from(value.to_owned()));
    block_on(store.write(Write {
        key: key.into(),
        expect,
        value,
    }))
}

fn put(store: &impl Store, key: &str, value: &str) -> u64 {
    let expect = store
        .get(key)
        .unwrap()
        .map_or(Expect::Absent, |entry| Expect::Revision(entry.modified));
    write(store, key, expect, Some(value)).unwrap()
}

fn shown(page: &Page) -> Vec<String> {
    let text = |value: &Bytes| String::from_utf8(value.to_vec()).unwrap();
    page.entries
        .iter()
        .map(|(key, entry)| format!("{key}={}", text(&entry.value)))
        .collect()
}

#[test]
fn a_write_needs_what_it_expects() {
    let directory = Directory::new("expect");
    let store = Disk::open(&directory.0, 10).unwrap();
    let first = write(&store, "/a/b/c", Expect::Absent, Some("1")).unwrap();
    assert_eq!(store.revision(), first);
    let Err(Error::Conflict(Some(held))) = write(&store, "/a/b/c", Expect::Absent, Some("2")) else {
        panic!()
    };
    assert_eq!(
        (&held.value[..], held.created, held.modified),
        (&b"1"[..], first, first)
    );
    assert!(matches!(
        write(&store, "/a/b/c", Expect::Revision(first + 1), None),
        Err(Error::Conflict(Some(_)))
    ));
    assert!(matches!(
        write(&store, "/a/b/d", Expect::Revision(first), None),
        Err(Error::Conflict(None))
    ));
    let second = write(&store, "/a/b/c", Expect::Revision(first), Some("2")).unwrap();
    let entry = store.get("/a/b/c").unwrap().unwrap();
    assert_eq!((entry.created, entry.modified), (first, second));
    write(&store, "/a/b/c", Expect::Revision(second), None).unwrap();
    assert_eq!(store.get("/a/b/c").unwrap(), None);
}

#[test]
fn pages_show_one_revision_in_order() {
    let directory = Directory::new("pages");
    let store = Disk::open(&directory.0, 100).unwrap();
    for name in ["c", "a", "b", "d"] {
        put(&store, &format!("/g/r/{name}"), name);
    }
    put(&store, "/g/r2/x", "other");
    let first = store
        .scan(&Scan {
            scope: "/g/r/",
            limit: 2,
            ..Scan::default()
        })
        .unwrap();
    assert_eq!(shown(&first), ["/g/r/a=a", "/g/r/b=b"]);
    assert_eq!((first.more, first.remaining), (true, 2));

    put(&store, "/g/r/c", "changed");
    put(&store, "/g/r/bb", "new");
    write(
        &store,
        "/g/r/d",
        Expect::Revision(store.get("/g/r/d").unwrap().unwrap().modified),
        None,
    )
    .unwrap();
    let scan = Scan {
        scope: "/g/r/",
        after: Some("/g/r/b"),
        limit: 2,
        at: Some(first.revision),
        left: first.remaining,
    };
    let second = store.scan(&scan).unwrap();
    assert_eq!(shown(&second), ["/g/r/c=c", "/g/r/d=d"]);
    assert!(!second.more);
    let scan = Scan { limit: 1, ..scan };
    let second = store.scan(&scan).unwrap();
    assert_eq!((shown(&second), second.more), (vec!["/g/r/c=c".to_owned()], true));

    let now = store
        .scan(&Scan {
            scope: "/g/r/",
            ..Scan::default()
        })
        .unwrap();
    assert_eq!(shown(&now), ["/g/r/a=a", "/g/r/b=b", "/g/r/bb=new", "/g/r/c=changed"]);
    assert_eq!(
        shown(
            &store
                .scan(&Scan {
                    scope: "/g/r2/x",
                    ..Scan::default()
                })
                .unwrap()
        ),
        ["/g/r2/x=other"]
    );
    assert_eq!(store.scan(&Scan::default()).unwrap().entries.len(), 5);
}

#[test]
fn a_listing_goes_on_where_the_history_has_forgotten_its_revision() {
    let directory = Directory::new("pins");
    let store = Disk::open(&directory.0, 2).unwrap();
    for name in ["a", "b", "c", "d"] {
        put(&store, &format!("/g/r/{name}"), name);
    }
    let page = |after: Option<&str>, at, left| {
        store.scan(&Scan {
            scope: "/g/r/",
            after,
            limit: 2,
            at,
            left,
        })
    };
    let first = page(None, None, 0).unwrap();
    assert_eq!(first.remaining, 2);
    for round in 0..10 {
        put(&store, "/g/r/c", &format!("changed {round}"));
    }
    let second = page(Some("/g/r/b"), Some(first.revision), first.remaining).unwrap();
    assert_eq!(shown(&second), ["/g/r/c=c", "/g/r/d=d"]);
    assert_eq!((second.more, second.revision), (false, first.revision));
    // A revision that no listing goes on with is gone with the history.
    assert!(matches!(
        page(None, Some(first.revision + 1), 0),
        Err(Error::Expired { .. })
    ));
}

#[test]
fn what_is_left_of_a_listing_is_counted_once() {
    let directory = Directory::new("left");
    let store = Disk::open(&directory.0, 100).unwrap();
    for number in 0..9 {
        put(&store, &format!("/g/r/{number}"), "x");
    }
    let page = |after, left| {
        let scan = Scan {
            scope: "/g/r/",
            after,
            limit: 2,
            at: None,
            left,
        };
        store.scan(&scan).unwrap().remaining
    };
    assert_eq!(page(None, 0), 7);
    assert_eq!(page(Some("/g/r/1"), 7), 5);
    // A number that is used up is counted again.
    assert_eq!(page(Some("/g/r/3"), 2), 3);
    assert_eq!(page(Some("/g/r/6"), 3), 0);
}

#[test]
fn events_come_in_the_order_of_revisions_and_are_readable() {
    let directory = Directory::new("events");
    let store = Arc::new(Disk::open(&directory.0, 1000).unwrap());
    let mut events = store.history().subscribe("/g/r/", store.revision()).unwrap();
    let writes: Vec<_> = (0..200)
        .map(|number| {
            let key = format!("/g/r/{number}").into();
            store.write(Write {
                key,
                expect: Expect::Absent,
                value: Some(Bytes::from_static(b"x")),
            })
        })
        .collect();
    let mut last = 1;
    for _ in 0..200 {
        let event = block_on(events.next()).unwrap();
        assert_eq!(event.revision, last + 1);
        assert!(store.revision() >= event.revision);
        assert_eq!(store.get(&event.key).unwrap().unwrap().modified, event.revision);
        last = event.revision;
    }
    for write in writes {
        block_on(write).unwrap();
    }
}

#[test]
fn a_restart_goes_on_with_the_next_revision() {
    let directory = Directory::new("restart");
    let store = Disk::open(&directory.0, 10).unwrap();
    put(&store, "/g/r/a", "1");
    let kept = put(&store, "/g/r/b", "2");
    let last = put(&store, "/g/r/c", "3");
    let deleted = write(&store, "/g/r/c", Expect::Revision(last), None).unwrap();
    drop(store);

    let store = Disk::open(&directory.0, 10).unwrap();
    assert_eq!(store.revision(), deleted);
    assert_eq!(store.get("/g/r/b").unwrap().unwrap().modified, kept);
    assert_eq!(store.get("/g/r/c").unwrap(), None);
    assert!(matches!(
        store.history().subscribe("", kept),
        Err(Error::Expired { .. })
    ));
    assert_eq!(put(&store, "/g/r/a", "4"), deleted + 1);
}

#[test]
fn a_directory_serves_one_store_at_a_time() {
    let directory = Directory::new("twice");
    let _store = Disk::open(&directory.0, 10).unwrap();
    assert!(matches!(Disk::open(&directory.0, 10), Err(Error::Backend { .. })));
}

#[test]
fn what_was_written_last_lies_compressed_on_disk_too() {
    let directory = Directory::new("compressed");
    let store = Disk::open(&directory.0, 10).unwrap();
    let value = "server.pool.connections.maximum=16\n".repeat(32);
    for at in 0..100 {
        put(&store, &format!("/core/configmaps/default/settings-{at}"), &value);
    }
    store.shared.objects.rotate_memtable_and_wait().unwrap();
    assert_eq!(store.shared.objects.table_count(), 1);
    let (kept, written) = (store.shared.objects.disk_space(), 100 * value.len() as u64);
    assert!(kept * 4 < written, "{kept} bytes for {written}");
}

#[test]
fn memory_for_new_writes_grows_with_the_store_within_bounds() {
    assert_eq!(super::memtable(0), 16 << 20);
    assert_eq!(super::memtable(1 << 30), 64 << 20);
    assert_eq!(super::memtable(1 << 40), 128 << 20);

    let directory = Directory::new("sorted");
    let store = Disk::open(&directory.0, 10).unwrap();
    let value = "x".repeat(1 << 20);
    for at in 0..16 {
        put(&store, &format!("/g/r/{at}"), &value);
    }
    // The committer makes room behind the write that fills the memtable, before it takes the next one.
    put(&store, "/g/r/next", "1");
    let held = store.shared.objects.tree.active_memtable().size();
    assert!(held < 1 << 20, "{held} bytes");
    assert_eq!(store.get("/g/r/0").unwrap().unwrap().value.len(), value.len());
}

/// Tells the test binary, started again, to be the child that is killed.
const CHILD: &str = "APISERVER_DISK_CHILD";

/// Writes without end and prints the key and revision of each acknowledged write.
fn write_until_killed(directory: &Path) {
    let store = Arc::new(Disk::open(directory, 10).unwrap());
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let store = Arc::clone(&store);
            std::thread::spawn(move || {
                for number in 0_u64.. {
                    let key = format!("/g/r/{writer}-{number}");
                    let revision = put(&*store, &key, &key);
                    writeln!(std::io::stdout().lock(), "acknowledged {key} {revision}").unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
}

#[test]
fn no_acknowledged_write_is_lost_when_the_process_is_killed() {
    #[expect(clippy::disallowed_methods, reason = "how a test passes an argument to itself")]
    if let Some(directory) = std::env::var_os(CHILD) {
        return write_until_killed(Path::new(&directory));
    }
    let directory = Directory::new("kill");
    let mut acknowledged = Vec::new();
    // Twice, so that a recovered store is killed, too.
    for round in 1..=2 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "store::disk::tests::no_acknowledged_write_is_lost_when_the_process_is_killed",
            ])
            .arg("--nocapture")
            .env(CHILD, &directory.0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        for line in lines {
            let Some(rest) = line.strip_prefix("acknowledged ") else {
                continue;
            };
            // The last line may be cut.
            let Some((key, revision)) = rest.split_once(' ') else {
                continue;
            };
            acknowledged.push((key.to_owned(), revision.parse::<u64>().unwrap_or_default()));
            if acknowledged.len() == round * 300 {
                child.kill().unwrap();
            }
        }
        assert!(!child.wait().unwrap().success());
        assert!(acknowledged.len() >= round * 300, "{}", acknowledged.len());
        let store = Disk::open(&directory.0, 10).unwrap();
        for (key, revision) in &acknowledged {
            let entry = store.get(key).unwrap().unwrap_or_else(|| panic!("{key} is lost"));
            assert_eq!(entry.value, key.as_bytes());
            assert!(entry.modified >= *revision && store.revision() >= *revision);
        }
    }
}
