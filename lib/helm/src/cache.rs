//! Charts become charts that share with others, loaded before, what is made of equal texts: each template is parsed
//! once, and each schema compiled once, however many charts have it and however often they are loaded.
//!
//! Nothing but the work changes: texts are equal when all of their bytes are, errors name the chart's own files, and a
//! text that is no template is looked at anew each time. Upstream has no counterpart: Helm parses everything for every
//! rendering.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use foldhash::fast::RandomState;

use crate::chart::Chart;
use crate::file::Code;
use crate::schema::Schema;

/// What charts share: texts, and what was made of them. Many threads may use it at once; it is never locked while
/// something is parsed.
///
/// A chart is shared once, after it was loaded: `cache.share(&mut chart)`.
pub struct Cache {
    kept: Arc<Mutex<Kept>>,
}

/// What a cache did so far, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Templates and schemas of shared charts whose text was known.
    pub known: u64,
    /// Those whose text was not.
    pub new: u64,
    /// How often a shared template was parsed; twice for one text only if two threads needed it at once, or if it was
    /// given up in between.
    pub parsed: u64,
    /// Texts that are kept.
    pub texts: usize,
    /// Bytes that the texts and what was made of them take.
    pub bytes: usize,
}

/// Bytes that a cache keeps where nobody says otherwise: the templates of some ten large charts, or of every chart of
/// most clusters.
const KEPT: usize = 8 << 20;

/// The part of a cache that one text may take, with what is made of it: an eighth.
const PART: usize = 8;

/// Bytes of what a schema is compiled to, for each byte of its text.
const COMPILED: usize = 10;

/// Bytes that an entry takes besides the text and what is made of it, with the free places of the map.
const PLACE: usize = 2 * (size_of::<(Arc<Vec<u8>>, Made)>()) + size_of::<Code>() + size_of::<Schema>() + 64;

pub(crate) struct Kept {
    texts: HashMap<Arc<Vec<u8>>, Made, RandomState>,
    limit: usize,
    bytes: usize,
    /// Grows with every use of a text, so that those that were not used for long are known.
    uses: u64,
    known: u64,
    new: u64,
    parsed: u64,
}

/// What is made of one text.
#[derive(Default)]
struct Made {
    code: Option<Arc<Code>>,
    schema: Option<Arc<Schema>>,
    used: u64,
    bytes: usize,
}

impl Made {
    fn weigh(&self, text: &[u8]) -> usize {
        let code = self.code.as_ref().and_then(|code| code.get());
        let schema = self.schema.as_ref().map_or(0, |_| COMPILED * text.len());
        PLACE + text.len() + code.map_or(0, |parsed| parsed.size()) + schema
    }
}

impl Cache {
    /// An empty one that keeps at most so many bytes alive: texts and what was made of them. When it is full, what was
    /// not used for the longest time goes first.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let kept = Kept {
            texts: HashMap::default(),
            limit: bytes,
            bytes: 0,
            uses: 0,
            known: 0,
            new: 0,
            parsed: 0,
        };
        Self {
            kept: Arc::new(Mutex::new(kept)),
        }
    }

    /// Gives the chart, and the charts inside it, what is known of their templates and schemas, and keeps what is not
    /// known for the next one. To be called before the chart is rendered or copied.
    pub fn share(&self, chart: &mut Chart) {
        let home = Home(Arc::downgrade(&self.kept));
        let mut kept = lock(&self.kept);
        kept.share(chart, &home);
        let old = kept.shrink();
        // Taking apart what nobody needs any more is no business of those who wait.
        drop(kept);
        drop(old);
    }

    /// What it did so far, and what it holds.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let kept = lock(&self.kept);
        Stats {
            known: kept.known,
            new: kept.new,
            parsed: kept.parsed,
            texts: kept.texts.len(),
            bytes: kept.bytes,
        }
    }
}

/// A cache of eight mebibytes.
impl Default for Cache {
    fn default() -> Self {
        Self::new(KEPT)
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    fn share(&mut self, chart: &mut Chart, home: &Home) {
        for file in Arc::make_mut(&mut chart.templates) {
            self.exchange(&mut file.data, |made| {
                let code = made.code.get_or_insert_with(|| Arc::new(file.code.at(home)));
                file.code = Arc::clone(code);
            });
        }
        if let Some(schema) = &mut chart.schema {
            self.exchange(&mut Arc::clone(&schema.text), |made| {
                *schema = Arc::clone(made.schema.get_or_insert_with(|| Arc::clone(schema)));
            });
        }
        for child in &mut chart.dependencies {
            self.share(child, home);
        }
    }

    /// Makes a text the one that is kept, and hands out what was made of it.
    fn exchange(&mut self, text: &mut Arc<Vec<u8>>, with: impl FnOnce(&mut Made)) {
        if text.len() > self.limit / PART {
            return;
        }
        let made = match self.texts.entry(Arc::clone(text)) {
            Entry::Occupied(entry) => {
                self.known += 1;
                *text = Arc::clone(entry.key());
                entry.into_mut()
            }
            Entry::Vacant(entry) => {
                self.new += 1;
                entry.insert(Made::default())
            }
        };
        with(made);
        self.uses += 1;
        made.used = self.uses;
        self.weigh(text);
    }

    /// Counts what became of a text, and forgets it if that is too much.
    fn weigh(&mut self, text: &Arc<Vec<u8>>) {
        let Some(made) = self.texts.get_mut(text) else { return };
        let bytes = made.weigh(text);
        self.bytes = self.bytes - made.bytes + bytes;
        made.bytes = bytes;
        if bytes > self.limit / PART {
            self.bytes -= bytes;
            self.texts.remove(text);
        }
    }

    /// Takes out what was not used for the longest time, and a little more than needed: that is not to be done for
    /// every chart.
    fn shrink(&mut self) -> Vec<(Arc<Vec<u8>>, Made)> {
        if self.bytes <= self.limit {
            return Vec::new();
        }
        let mut uses: Vec<(u64, usize)> = self.texts.values().map(|made| (made.used, made.bytes)).collect();
        uses.sort_unstable();
        let mut last = 0;
        for (used, bytes) in uses {
            if self.bytes <= self.limit / 8 * 7 {
                break;
            }
            last = used;
            self.bytes -= bytes;
        }
        self.texts.extract_if(|_, made| made.used <= last).collect()
    }
}

/// Where a text is kept, if it is. Weak: what is made of a text does not keep the cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct Home(Weak<Mutex<Kept>>);

impl Home {
    /// Says that a template was parsed.
    pub(crate) fn grown(&self, text: &Arc<Vec<u8>>) {
        let Some(kept) = self.0.upgrade() else { return };
        let mut kept = lock(&kept);
        kept.parsed += 1;
        kept.weigh(text);
        let old = kept.shrink();
        drop(kept);
        drop(old);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::capabilities::Capabilities;
    use crate::render::{ReleaseOptions, render};
    use crate::values::Values;

    fn chart(name: &str, template: &str) -> Chart {
        let metadata = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
        let files = [
            ("Chart.yaml", metadata.as_str()),
            ("values.schema.json", r#"{"type": "object"}"#),
            ("templates/a.yaml", template),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        Chart::from_files(BTreeMap::from(files)).unwrap()
    }

    /// What the template prints, or why it does not.
    fn printed(cache: &Cache, name: &str, template: &str) -> Result<String, String> {
        let mut chart = chart(name, template);
        cache.share(&mut chart);
        let release = ReleaseOptions::default();
        let rendered = render(&chart, &Values::new(), &release, &Capabilities::default(), None);
        let mut rendered = rendered.map_err(|error| error.to_string())?;
        Ok(rendered.manifests.remove(0).text)
    }

    #[test]
    fn a_template_of_many_charts_is_parsed_once() {
        let cache = Cache::default();
        let text = "name: {{ .Chart.Name }}";
        assert_eq!(printed(&cache, "one", text).unwrap(), "name: one");
        assert_eq!(printed(&cache, "two", text).unwrap(), "name: two");
        let stats = cache.stats();
        assert_eq!((stats.known, stats.new, stats.parsed, stats.texts), (2, 2, 1, 2));
        assert!(stats.bytes > text.len());
    }

    #[test]
    fn an_error_names_the_chart_it_is_in() {
        let cache = Cache::default();
        for name in ["one", "two"] {
            let error = printed(&cache, name, "{{ broken").unwrap_err();
            assert!(error.contains(&format!("{name}/templates/a.yaml:1")), "{error}");
            let error = printed(&cache, name, "{{ fail .Chart.Name }}").unwrap_err();
            assert!(
                error.contains(&format!("{name}/templates/a.yaml:1:3): {name}")),
                "{error}"
            );
        }
    }

    #[test]
    fn what_was_not_used_for_the_longest_time_goes_first() {
        let text = |place: usize| format!("{place}: {}", "x".repeat(1_000));
        let cache = Cache::new(64 << 10);
        printed(&cache, "first", &text(0)).unwrap();
        for place in 1..100 {
            printed(&cache, "other", &text(place)).unwrap();
            printed(&cache, "first", &text(0)).unwrap();
            assert!(cache.stats().bytes <= 64 << 10);
        }
        let stats = cache.stats();
        assert_eq!(stats.parsed, 100, "the one that is used stays parsed");
        assert!(stats.texts < 60);
        // A text that would take too much of it is never kept.
        printed(&cache, "large", &"x".repeat(10_000)).unwrap();
        assert_eq!(cache.stats().texts, stats.texts);
    }
}
