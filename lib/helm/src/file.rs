//! One file of a chart, and what is made of it once: a template that every copy of the chart executes, or what a schema
//! checks values with.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use gotemplate::{Engine, Parsed};
use jsonschema::Validator;

use crate::cache::Home;
use crate::schema;

/// A file of a chart.
#[derive(Clone, Debug)]
pub struct File {
    /// The path relative to the chart.
    pub name: String,
    /// The content, which copies of the chart share.
    pub data: Arc<Vec<u8>>,
    /// What is made of the content. Files of equal content may share it.
    pub(crate) code: Arc<Code>,
}

/// What a text is as a template or as a schema, once it was one. It does not know whose text that is.
#[derive(Debug, Default)]
pub(crate) struct Code {
    parsed: OnceLock<Arc<Parsed>>,
    validator: OnceLock<Result<Box<Validator>, String>>,
    home: Home,
}

impl Code {
    /// The same, but a cache is told when it comes to be.
    pub(crate) fn at(&self, home: &Home) -> Self {
        Self {
            parsed: self.parsed.clone(),
            validator: OnceLock::new(),
            home: home.clone(),
        }
    }

    pub(crate) fn get(&self) -> Option<&Arc<Parsed>> {
        self.parsed.get()
    }

    pub(crate) fn is_compiled(&self) -> bool {
        self.validator.get().is_some()
    }

    /// What checks values, made at first use. Waits if another thread is at it.
    pub(crate) fn compile(&self, text: &[u8]) -> Result<&Validator, &str> {
        let made = self.validator.get_or_init(|| schema::validator(text).map(Box::new));
        made.as_deref().map_err(String::as_str)
    }

    /// What it is parsed to, at first use; `path` is its name in errors.
    pub(crate) fn parse(
        &self,
        engine: &Engine<'_>,
        text: &Arc<Vec<u8>>,
        path: &str,
    ) -> Result<&Arc<Parsed>, gotemplate::Error> {
        if let Some(parsed) = self.parsed.get() {
            return Ok(parsed);
        }
        let parsed = Arc::new(engine.parse(path, &self::text(text))?);
        let parsed = self.parsed.get_or_init(|| parsed);
        self.home.grown(text);
        Ok(parsed)
    }
}

impl File {
    pub(crate) fn new(name: String, data: Arc<Vec<u8>>) -> Self {
        Self {
            name,
            data,
            code: Arc::default(),
        }
    }

    /// The content as text; what is no text is replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        text(&self.data)
    }

    /// The file as a template, parsed at first use. `path` is its name in errors. A template that another engine
    /// parsed before is none for a machine of this one, which notices.
    ///
    /// # Errors
    /// It is no template. That is never remembered: the next file of this content has another name.
    pub(crate) fn parsed(&self, engine: &Engine<'_>, path: &str) -> Result<&Arc<Parsed>, gotemplate::Error> {
        self.code.parse(engine, &self.data, path)
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
