//! The one-call use: options, then text in, text out.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use crate::ast::Parsed;
use crate::budget::{self, Limits};
use crate::builtin;
use crate::error::Error;
use crate::function::Functions;
use crate::json;
use crate::lex::Delims;
use crate::machine::{LEVEL_STACK, MORE_STACK, Machine, MissingKey};
use crate::parse;

/// A configured renderer; cheap to clone, can be shared between threads.
#[derive(Clone)]
pub struct Engine<'a> {
    delims: Delims,
    missing: MissingKey,
    functions: Functions<'a>,
    methods: Vec<(&'static str, Functions<'a>)>,
    limits: Limits,
}

impl Default for Engine<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Engine<'a> {
    /// Delimiters `{{` and `}}`, missing keys print `<no value>`, only Go's own functions.
    pub fn new() -> Self {
        Self {
            delims: Delims::default(),
            missing: MissingKey::Default,
            functions: builtin::functions(),
            methods: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Other delimiters.
    #[must_use]
    pub fn delims(mut self, left: &str, right: &str) -> Self {
        self.delims = Delims {
            left: left.into(),
            right: right.into(),
        };
        self
    }

    /// A missing map key is an error.
    #[must_use]
    pub fn missing_key_error(self) -> Self {
        self.missing_key(MissingKey::Error)
    }

    /// What a missing map key is.
    #[must_use]
    pub fn missing_key(mut self, missing: MissingKey) -> Self {
        self.missing = missing;
        self
    }

    /// Adds functions; later ones replace earlier ones of the same name.
    #[must_use]
    pub fn functions(mut self, functions: Functions<'a>) -> Self {
        self.functions = self.functions.and(functions);
        self
    }

    /// Gives maps of a named type methods: functions whose first argument is the map, which their signatures leave out.
    #[must_use]
    pub fn methods(mut self, type_name: &'static str, methods: Functions<'a>) -> Self {
        self.methods.push((type_name, methods));
        self
    }

    /// Other limits than the default ones.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Renders one text with `data` as dot. Numbers in `data` are float64, as from a values file.
    ///
    /// # Errors
    /// The text is no template, or its execution stopped.
    pub fn render(&self, name: &str, text: &str, data: &serde_json::Value) -> Result<String, Error> {
        if !text.contains(&self.delims.left) {
            return Ok(text.to_owned());
        }
        self.run(|machine| {
            machine.parse(name, text)?;
            machine.execute(name, json::from_json(data))
        })
    }

    /// Parses a text, to be kept and executed many times. Only errors show its name.
    ///
    /// # Errors
    /// The text is no template.
    pub fn parse(&self, name: &str, text: &str) -> Result<Parsed, Error> {
        parse::parse(name, text, &self.delims, &self.functions)
    }

    /// Runs `work` with a fresh machine. Values made inside do not outlive it.
    ///
    /// # Errors
    /// What `work` returns.
    pub fn run<T: Send>(&self, work: impl FnOnce(&mut Machine<'a>) -> Result<T, Error> + Send) -> Result<T, Error>
    where
        Self: Sync,
    {
        let body = || {
            budget::without_leaks(|| {
                let functions = Rc::new(self.functions.clone());
                let mut machine = Machine::new(functions, self.missing, self.delims.clone(), self.limits);
                machine.methods = Rc::new(self.methods.clone());
                work(&mut machine)
            })
        };
        // A mistake of ours must not take the caller down with it.
        // At once what the first levels need, rather than for each of them.
        let body = || stacker::maybe_grow(LEVEL_STACK / 2 * 3, MORE_STACK, body);
        std::panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
            Err(Error::Template {
                message: "the execution stopped".into(),
            })
        })
    }
}
