//! The templates of a large chart are parsed by two threads: one begins while the other still combines values and
//! compiles schemas, which helps once it is done.
//!
//! Only time changes: what is parsed is kept with its file, and a text that is no template is left to whoever asks for
//! it by name, so that errors are the same and come in the same order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use gotemplate::Engine;

use crate::chart::{Chart, File};

/// Bytes of templates that are worth a thread: parsing them takes several times as long as starting one.
const WORTH: usize = 48 << 10;

/// Templates that nobody has parsed yet, to be taken one after the other by any thread.
pub(crate) struct Ahead<'c> {
    files: Vec<&'c File>,
    next: AtomicUsize,
}

impl<'c> Ahead<'c> {
    /// The templates of a chart and of the charts inside it.
    pub(crate) fn of(chart: &'c Chart) -> Self {
        let mut files = Vec::new();
        collect(chart, &mut files);
        Self {
            files,
            next: AtomicUsize::new(0),
        }
    }

    /// Runs `work`, beside a thread that parses where there is enough to parse.
    pub(crate) fn during<T>(&self, engine: &Engine<'_>, work: impl FnOnce() -> T) -> T {
        let bytes: usize = self.files.iter().map(|file| file.data.len()).sum();
        if bytes < WORTH {
            return work();
        }
        thread::scope(|threads| {
            // Without another thread everything is parsed by this one.
            let other = thread::Builder::new().spawn_scoped(threads, || self.parse(engine));
            let result = work();
            if let Ok(other) = other {
                // What it stumbled over meets this thread too, which tells of it.
                let _ = other.join();
            }
            result
        })
    }

    /// Parses what nobody has taken yet.
    pub(crate) fn parse(&self, engine: &Engine<'_>) {
        while let Some(file) = self.files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let _ = file.parsed(engine, &file.name);
        }
    }
}

fn collect<'c>(chart: &'c Chart, files: &mut Vec<&'c File>) {
    files.extend(chart.templates.iter().filter(|file| file.code.get().is_none()));
    for child in &chart.dependencies {
        collect(child, files);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn chart(texts: &[String]) -> Chart {
        let named = |(place, text): (usize, &String)| {
            File::new(format!("templates/{place}.yaml"), Arc::new(text.clone().into_bytes()))
        };
        Chart {
            templates: Arc::new(texts.iter().enumerate().map(named).collect()),
            ..Chart::default()
        }
    }

    #[test]
    fn what_is_worth_it_is_parsed_by_another_thread_and_broken_texts_are_left() {
        let large = format!("{{{{ 1 }}}}{}", "x".repeat(WORTH));
        let chart = chart(&[large, "{{ broken".to_owned(), "{{ 2 }}".to_owned()]);
        let engine = Engine::new();
        let ahead = Ahead::of(&chart);
        assert_eq!(ahead.during(&engine, || 7), 7);
        let parsed: Vec<bool> = chart.templates.iter().map(|file| file.code.get().is_some()).collect();
        assert_eq!(parsed, [true, false, true]);
        assert!(chart.templates[1].parsed(&engine, "name").is_err());
        // Nothing is left but what is broken.
        assert_eq!(Ahead::of(&chart).files.len(), 1);
    }

    #[test]
    fn a_small_chart_is_left_to_whoever_renders_it() {
        let chart = chart(&["{{ 1 }}".to_owned()]);
        let engine = Engine::new();
        let ahead = Ahead::of(&chart);
        ahead.during(&engine, || assert!(chart.templates[0].code.get().is_none()));
        assert!(chart.templates[0].code.get().is_none());
        ahead.parse(&engine);
        assert!(chart.templates[0].code.get().is_some());
    }
}
