//! Templates and schemas of a large chart are made ready by two threads: a helper begins while the chart is still being
//! read and its values combined; whoever renders takes what is left, from the other end.
//!
//! Only time changes: what is made is kept with its file, and a text that is no template is left to whoever asks for
//! it by name, so that errors are the same and come in the same order. There is one helper in a process, made for the
//! first large chart; while it is busy, others go on alone. A template is never waited for, a schema only while it is
//! being compiled.

use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock, Weak};
use std::thread;

use gotemplate::Engine;

use crate::chart::{Chart, Role};
use crate::file::Code;

/// Bytes of texts that are worth waking another thread: parsing them takes several times as long.
const WORTH: usize = 32 << 10;

/// Batches that may wait for the helper: the templates of the largest charts.
const WAITING: usize = 64;

/// What compiling a byte of a schema takes, in bytes of templates to be parsed.
const SCHEMA: usize = 4;

/// What the helper may begin with, until it is worth it.
pub(crate) struct Ahead {
    engine: &'static Engine<'static>,
    batch: Vec<Task>,
    bytes: usize,
}

/// A text, and where what is made of it goes. Nothing is made for a chart that is gone.
struct Task {
    role: Role,
    text: Arc<Vec<u8>>,
    code: Weak<Code>,
}

impl Ahead {
    pub(crate) fn new(engine: &'static Engine<'static>) -> Self {
        Self {
            engine,
            batch: Vec::new(),
            bytes: 0,
        }
    }

    /// Begins with what a chart and the charts inside it have, schemas first: values are checked before anything is
    /// printed.
    pub(crate) fn begin(engine: &'static Engine<'static>, chart: &Chart) {
        let mut ahead = Self::new(engine);
        ahead.schemas(chart);
        ahead.templates(chart);
    }

    fn schemas(&mut self, chart: &Chart) {
        if let Some(schema) = &chart.schema {
            self.offer(Role::Schema, &schema.text, &schema.code);
        }
        for child in &chart.dependencies {
            self.schemas(child);
        }
    }

    fn templates(&mut self, chart: &Chart) {
        for file in chart.templates.iter() {
            self.offer(Role::Template, &file.data, &file.code);
        }
        for child in &chart.dependencies {
            self.templates(child);
        }
    }

    /// Begins with a text, together with those before it, unless it is made ready.
    pub(crate) fn offer(&mut self, role: Role, text: &Arc<Vec<u8>>, code: &Arc<Code>) {
        let (is_made, bytes) = match role {
            Role::Template => (code.get().is_some(), text.len()),
            Role::Schema => (code.is_compiled(), SCHEMA * text.len()),
        };
        if is_made {
            return;
        }
        let (text, code) = (Arc::clone(text), Arc::downgrade(code));
        self.batch.push(Task { role, text, code });
        self.bytes += bytes;
        if self.bytes < WORTH {
            return;
        }
        self.bytes = 0;
        let batch = mem::take(&mut self.batch);
        if let Some(helper) = helper(self.engine) {
            // A helper that is busy, or died of what it was given, is no help; whoever renders does it then.
            let _ = helper.try_send(batch);
        }
    }
}

impl Task {
    fn run(&self, engine: &Engine<'_>) {
        let Some(code) = self.code.upgrade() else { return };
        match self.role {
            Role::Template => drop(code.parse(engine, &self.text, "")),
            Role::Schema => drop(code.compile(&self.text)),
        }
    }
}

/// The way to the helper; none where no thread can be had.
fn helper(engine: &'static Engine<'static>) -> Option<&'static SyncSender<Vec<Task>>> {
    static HELPER: OnceLock<Option<SyncSender<Vec<Task>>>> = OnceLock::new();
    let start = || {
        let (sender, receiver) = sync_channel(WAITING);
        let name = "templates".to_owned();
        let started = thread::Builder::new().name(name).spawn(move || help(&receiver, engine));
        started.is_ok().then_some(sender)
    };
    HELPER.get_or_init(start).as_ref()
}

fn help(receiver: &Receiver<Vec<Task>>, engine: &Engine<'_>) {
    while let Ok(batch) = receiver.recv() {
        for task in batch {
            task.run(engine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::File;
    use crate::schema::Schema;

    fn engine() -> &'static Engine<'static> {
        static ENGINE: OnceLock<Engine<'static>> = OnceLock::new();
        ENGINE.get_or_init(Engine::new)
    }

    fn chart(texts: &[&str]) -> Chart {
        let named = |(place, text): (usize, &&str)| {
            File::new(format!("templates/{place}.yaml"), Arc::new(text.as_bytes().to_vec()))
        };
        Chart {
            schema: Some(Arc::new(Schema::new(File::new(
                String::new(),
                Arc::new(b"{}".to_vec()),
            )))),
            templates: Arc::new(texts.iter().enumerate().map(named).collect()),
            ..Chart::default()
        }
    }

    #[test]
    fn a_helper_does_what_is_worth_it_while_nobody_else_does_and_leaves_broken_texts_alone() {
        let large = format!("{{{{ 1 }}}}{}", "x".repeat(WORTH));
        let mut chart = chart(&["{{ broken", "{{ 2 }}", &large]);
        chart.dependencies.push(self::chart(&["{{ 3 }}", &large]));
        let inner = &chart.dependencies[0];
        let parsed = |chart: &Chart| -> Vec<bool> {
            let templates = chart.templates.iter();
            templates.map(|file| file.code.get().is_some()).collect()
        };
        Ahead::begin(engine(), &chart);
        // Batches are done one after the other: with the last template everything before it is done.
        let begin = std::time::Instant::now();
        while inner.templates[1].code.get().is_none() {
            assert!(begin.elapsed().as_secs() < 60, "the helper does nothing");
            thread::yield_now();
        }
        assert_eq!(
            (parsed(&chart), parsed(inner)),
            (vec![false, true, true], vec![true, true])
        );
        for chart in [&chart, inner] {
            assert!(chart.schema.as_ref().is_some_and(|schema| schema.code.is_compiled()));
        }
        let error = chart.templates[0].parsed(engine(), "chart/name").unwrap_err();
        assert!(error.to_string().contains("chart/name:1"), "{error}");
    }

    #[test]
    fn what_is_not_worth_it_waits_for_whoever_renders() {
        let mut ahead = Ahead::new(engine());
        let chart = chart(&["{{ 1 }}"]);
        let file = &chart.templates[0];
        ahead.offer(Role::Template, &file.data, &file.code);
        assert_eq!((ahead.batch.len(), ahead.bytes), (1, 7));
    }
}
