//! The one-call use: options, then text in, text out.

use std::marker::PhantomData;

use crate::error::Error;

/// Functions a template may call, by name.
#[derive(Clone, Default)]
pub struct Functions<'a> {
    closures: PhantomData<&'a ()>,
}

/// A configured renderer; cheap to clone, can be shared between threads.
#[derive(Clone, Default)]
pub struct Engine<'a> {
    functions: Functions<'a>,
}

impl<'a> Engine<'a> {
    /// Delimiters `{{` and `}}`, missing keys print `<no value>`, only Go's own functions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Other delimiters.
    #[must_use]
    pub fn delims(self, _left: &str, _right: &str) -> Self {
        self
    }

    /// A missing map key is an error.
    #[must_use]
    pub fn missing_key_error(self) -> Self {
        self
    }

    /// Adds functions; later ones replace earlier ones of the same name.
    #[must_use]
    pub fn functions(mut self, functions: Functions<'a>) -> Self {
        self.functions = functions;
        self
    }

    /// Renders one text with `data` as dot. Numbers in `data` are float64, as from a values file.
    pub fn render(&self, _name: &str, text: &str, _data: &serde_json::Value) -> Result<String, Error> {
        Ok(text.to_owned())
    }
}
