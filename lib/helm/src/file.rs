//! One file of a chart, and what is made of it once: a template that every copy of the chart executes.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use gotemplate::{Engine, Parsed};

/// A file of a chart.
#[derive(Clone, Debug)]
pub struct File {
    /// The path relative to the chart.
    pub name: String,
    /// The content, which copies of the chart share.
    pub data: Arc<Vec<u8>>,
    /// What the content is as a template, once it was one.
    pub(crate) parsed: OnceLock<Arc<Parsed>>,
}

impl File {
    pub(crate) fn new(name: String, data: Vec<u8>) -> Self {
        Self {
            name,
            data: Arc::new(data),
            parsed: OnceLock::new(),
        }
    }

    /// The content as text; what is no text is replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        text(&self.data)
    }

    /// The file as a template, parsed at first use. `path` is its name in errors.
    ///
    /// # Errors
    /// It is no template.
    pub(crate) fn parsed(&self, engine: &Engine<'_>, path: &str) -> Result<&Arc<Parsed>, gotemplate::Error> {
        if let Some(parsed) = self.parsed.get() {
            return Ok(parsed);
        }
        let parsed = engine.parse(path, &self.text())?;
        Ok(self.parsed.get_or_init(|| Arc::new(parsed)))
    }
}

impl PartialEq for File {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.data == other.data
    }
}

impl Eq for File {}

/// Bytes as text. The plain check is much faster than the one that mends.
pub(crate) fn text(data: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(data).map_or_else(|_| String::from_utf8_lossy(data), Cow::Borrowed)
}
