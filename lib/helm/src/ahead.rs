//! The templates of a large chart are parsed by two threads: a helper begins while whoever renders still combines
//! values and compiles schemas; once done with that, it takes its share of what is left.
//!
//! Only time changes: what is parsed is kept with its file, and a text that is no template is left to whoever asks for
//! it by name, so that errors are the same and come in the same order. There is one helper in a process, made for the
//! first large chart; while it is busy, others parse alone. Nobody ever waits for it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use gotemplate::Engine;

use crate::chart::{Chart, File};

/// Bytes of templates that are worth waking another thread: parsing them takes several times as long.
const WORTH: usize = 32 << 10;

/// Charts that may wait for the helper. One that waits is soon parsed by whoever renders it.
const WAITING: usize = 1;

/// Templates that nobody has parsed yet, to be taken one after the other by any thread.
pub(crate) struct Ahead(Arc<Work>);

struct Work {
    engine: &'static Engine<'static>,
    files: Vec<(Arc<Vec<File>>, usize)>,
    next: AtomicUsize,
}

impl Ahead {
    /// Begins with the templates of a chart and of the charts inside it, if they are worth it.
    pub(crate) fn begin(engine: &'static Engine<'static>, chart: &Chart) -> Self {
        let mut files = Vec::new();
        let bytes = collect(chart, &mut files);
        let work = Arc::new(Work {
            engine,
            files,
            next: AtomicUsize::new(0),
        });
        if bytes >= WORTH
            && let Some(helper) = helper()
        {
            // A helper that is busy, or died of what it was given, is no help; whoever renders parses then.
            let _ = helper.try_send(Arc::clone(&work));
        }
        Self(work)
    }

    /// Parses what nobody has taken yet.
    pub(crate) fn finish(&self) {
        self.0.parse();
    }
}

impl Work {
    fn parse(&self) {
        while let Some((files, place)) = self.files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(file) = files.get(*place) {
                let _ = file.parsed(self.engine, &file.name);
            }
        }
    }
}

/// The way to the helper; none where no thread can be had.
fn helper() -> Option<&'static SyncSender<Arc<Work>>> {
    static HELPER: OnceLock<Option<SyncSender<Arc<Work>>>> = OnceLock::new();
    let start = || {
        let (sender, receiver) = sync_channel(WAITING);
        let name = "templates".to_owned();
        let started = thread::Builder::new().name(name).spawn(move || help(&receiver));
        started.is_ok().then_some(sender)
    };
    HELPER.get_or_init(start).as_ref()
}

fn help(receiver: &Receiver<Arc<Work>>) {
    while let Ok(work) = receiver.recv() {
        work.parse();
    }
}

/// Collects the templates that are not parsed, and counts their bytes.
fn collect(chart: &Chart, files: &mut Vec<(Arc<Vec<File>>, usize)>) -> usize {
    let mut bytes = 0;
    for (place, file) in chart.templates.iter().enumerate() {
        if file.code.get().is_none() {
            bytes += file.data.len();
            files.push((Arc::clone(&chart.templates), place));
        }
    }
    let inside = chart.dependencies.iter().map(|child| collect(child, files));
    bytes + inside.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> &'static Engine<'static> {
        static ENGINE: OnceLock<Engine<'static>> = OnceLock::new();
        ENGINE.get_or_init(Engine::new)
    }

    fn chart(texts: &[&str]) -> Chart {
        let named = |(place, text): (usize, &&str)| {
            File::new(format!("templates/{place}.yaml"), Arc::new(text.as_bytes().to_vec()))
        };
        Chart {
            templates: Arc::new(texts.iter().enumerate().map(named).collect()),
            ..Chart::default()
        }
    }

    #[test]
    fn broken_texts_are_left_to_whoever_asks_by_name() {
        let inner = chart(&["{{ 3 }}"]);
        let mut chart = chart(&["{{ 1 }}", "{{ broken", "{{ 2 }}"]);
        chart.dependencies.push(inner);
        Ahead::begin(engine(), &chart).finish();
        let all = chart.templates.iter().chain(chart.dependencies[0].templates.iter());
        let parsed: Vec<bool> = all.map(|file| file.code.get().is_some()).collect();
        assert_eq!(parsed, [true, false, true, true]);
        let error = chart.templates[1].parsed(engine(), "chart/name").unwrap_err();
        assert!(error.to_string().contains("chart/name:1"), "{error}");
    }

    #[test]
    fn a_helper_parses_what_is_worth_it_while_nobody_else_does() {
        let large = format!("{{{{ 1 }}}}{}", "x".repeat(WORTH));
        let chart = chart(&[&large, "{{ 2 }}"]);
        let parsed = || chart.templates.iter().all(|file| file.code.get().is_some());
        // The helper may be at another test's chart; it is asked again and again.
        for _ in 0..1_000_000 {
            if parsed() {
                break;
            }
            let _ahead = Ahead::begin(engine(), &chart);
            thread::yield_now();
        }
        assert!(parsed());
    }
}
