//! Executes templates: walks statements, keeps variables and output, and remembers the node it stands at, so that an
//! error can say where.
//!
//! Upstream concept: the state of an execution in `text/template`, with limits that Go does not have.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ast::{Branch, Call, Command, Expr, Node, Pipe, Source, Tree};
use crate::budget::{Budget, Limits};
use crate::error::Error;
use crate::failure::Failure;
use crate::function::Functions;
use crate::lex::Delims;
use crate::object::Kind;
use crate::parse::{self, Rules};
use crate::template::Templates;
use crate::value::Value;
use crate::{bytes, print, quote};

/// What a missing map key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MissingKey {
    /// No value; it prints as `<no value>` and its fields are missing too.
    #[default]
    Default,
    /// The zero value of the map's element type; a field of it is a nil pointer error.
    Zero,
    /// An error.
    Error,
}

/// Why the execution of a list of nodes ended early.
pub(crate) enum Stop {
    Error(Box<Error>),
    Break,
    Continue,
}

impl From<Box<Error>> for Stop {
    fn from(error: Box<Error>) -> Self {
        Self::Error(error)
    }
}

/// The node the machine stands at.
#[derive(Clone)]
pub(crate) enum At {
    Nothing,
    Pipe(Rc<Pipe>),
    Command(Rc<Command>),
    Expr(Rc<Expr>),
    Call(Rc<Call>),
}

/// A value and whether Go would hold it as an `interface {}` here, which shows in error messages.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) value: Value,
    pub(crate) boxed: bool,
}

impl From<Value> for Slot {
    fn from(value: Value) -> Self {
        Self { value, boxed: false }
    }
}

/// One execution.
pub struct Machine<'a> {
    pub(crate) functions: Rc<Functions<'a>>,
    /// Methods of named map types.
    pub(crate) methods: Rc<Vec<(&'static str, Functions<'a>)>>,
    pub(crate) missing: MissingKey,
    pub(crate) budget: Budget,
    delims: Delims,
    templates: Rc<Templates>,
    /// The name of the set of templates, for errors.
    set: String,
    running: Rc<str>,
    source: Rc<Source>,
    at: At,
    pub(crate) variables: Vec<(Rc<str>, Slot)>,
    out: String,
    depth: usize,
    nested: BTreeMap<String, usize>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(functions: Rc<Functions<'a>>, missing: MissingKey, delims: Delims, limits: Limits) -> Self {
        Self {
            functions,
            methods: Rc::default(),
            missing,
            budget: Budget::new(limits),
            delims,
            templates: Rc::new(Templates::default()),
            set: String::new(),
            running: Rc::from(""),
            source: Rc::new(Source {
                name: String::new(),
                text: String::new(),
            }),
            at: At::Nothing,
            variables: Vec::new(),
            out: String::new(),
            depth: 0,
            nested: BTreeMap::new(),
        }
    }

    /// Parses `text` under `name`; what it defines is known to every template executed afterwards.
    ///
    /// # Errors
    /// The text is no template.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<(), Error> {
        for tree in self.trees(name, text)? {
            self.templates.add(tree);
        }
        Ok(())
    }

    fn trees(&self, name: &str, text: &str) -> Result<Vec<Tree>, Error> {
        let rules = Rules {
            delims: &self.delims,
            function: &|function| self.functions.find(function),
        };
        parse::parse(name, text, &rules)
    }

    /// Names the set of templates, as errors about unknown templates show it.
    pub fn name_set(&mut self, name: &str) {
        name.clone_into(&mut self.set);
    }

    /// The name of the set of templates.
    pub fn set_name(&self) -> &str {
        &self.set
    }

    /// Whether a template of that name is known.
    pub fn defines(&self, name: &str) -> bool {
        self.templates.find(name).is_some()
    }

    /// Executes the template `name` with `dot` and returns what it prints.
    ///
    /// # Errors
    /// The execution stopped; what it had printed is gone.
    pub fn execute(&mut self, name: &str, dot: Value) -> Result<String, Error> {
        let Some(tree) = self.templates.find(name) else {
            // Go names the set after the template that all others were parsed into.
            let set = quote::quote(&self.set);
            return Err(Error::Template {
                message: format!("no template {} associated with template {set}", quote::quote(name)),
            });
        };
        let running = std::mem::replace(&mut self.running, Rc::clone(&tree.name));
        let source = std::mem::replace(&mut self.source, Rc::clone(&tree.source));
        let at = std::mem::replace(&mut self.at, At::Nothing);
        let out = std::mem::take(&mut self.out);
        // Nothing given is nothing at all, not an interface that holds nil.
        let dot = if dot.is_nil() { Value::Missing } else { dot };
        let first = vec![(Rc::from("$"), Slot::from(dot.clone()))];
        let variables = std::mem::replace(&mut self.variables, first);
        let result = self.list(&Slot::from(dot), &tree.body);
        let printed = std::mem::replace(&mut self.out, out);
        self.running = running;
        self.source = source;
        self.at = at;
        self.variables = variables;
        match result {
            Err(Stop::Error(error)) => Err(*error),
            Err(Stop::Break | Stop::Continue) | Ok(()) if self.depth > 0 => Ok(printed),
            Err(Stop::Break | Stop::Continue) | Ok(()) => Ok(bytes::lossy(printed)),
        }
    }

    /// Executes the template `name` as a function does that runs templates; the same name inside itself is limited
    /// to `limit` levels.
    ///
    /// # Errors
    /// The execution stopped, or the limit is reached.
    pub fn include(&mut self, name: &str, dot: Value, limit: usize) -> Result<String, Failure> {
        let level = self.nested.entry(name.to_owned()).or_insert(0);
        if *level > limit {
            let message = format!("rendering template has a nested reference name: {name}");
            return Err(Failure::new(format!("{message}: unable to execute template")));
        }
        *level += 1;
        let result = self.execute(name, dot);
        if let Some(level) = self.nested.get_mut(name) {
            *level -= 1;
        }
        Ok(result?)
    }

    /// Parses and executes `text` as a template of its own, which sees every known template; what it defines is
    /// forgotten afterwards.
    ///
    /// # Errors
    /// The text is no template, or its execution stopped.
    pub fn execute_text(&mut self, name: &str, text: &str, dot: Value) -> Result<String, Error> {
        self.budget.text(text.len()).map_err(|failure| self.limit(failure))?;
        let outer = Rc::clone(&self.templates);
        self.templates = Rc::new(Templates::inside(Rc::clone(&outer)));
        let result = self.trees(name, text).and_then(|trees| {
            for tree in trees {
                if *tree.name == *name {
                    self.templates.add_main(tree);
                } else {
                    self.templates.add(tree);
                }
            }
            self.execute(name, dot)
        });
        self.templates = outer;
        result
    }

    /// The name of the template that is being executed.
    pub fn running(&self) -> &str {
        &self.running
    }

    /// Accounts for a text of `bytes` that a function is about to make.
    ///
    /// # Errors
    /// A limit is reached.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), Failure> {
        self.budget.text(bytes)
    }

    /// Accounts for `count` units of work.
    ///
    /// # Errors
    /// The limit of steps is reached.
    pub fn work(&mut self, count: usize) -> Result<(), Failure> {
        self.budget.step(count as u64)
    }

    /// The longest text a function may make.
    pub fn text_limit(&self) -> usize {
        self.budget.limits().text
    }

    fn limit(&self, failure: Failure) -> Error {
        match failure {
            Failure::Template(error) => *error,
            Failure::Message(message) | Failure::Raised(message) | Failure::Limit(message) => Error::Limit {
                name: self.running.to_string(),
                message,
            },
        }
    }

    pub(crate) fn standing(&self) -> At {
        self.at.clone()
    }

    pub(crate) fn stand(&mut self, at: At) {
        self.at = at;
    }

    /// Where the machine stands: byte position and the node's text.
    fn place(&self) -> Option<(usize, String)> {
        match &self.at {
            At::Nothing => None,
            At::Pipe(pipe) => Some((pipe.pos, pipe.to_string())),
            At::Command(command) => Some((command.pos, command.to_string())),
            At::Expr(expr) => Some((expr.pos, expr.to_string())),
            At::Call(call) => Some((call.pos, call.to_string())),
        }
    }

    /// An error at the node the machine stands at.
    pub(crate) fn fail(&self, message: impl Into<String>) -> Box<Error> {
        self.stopped(message.into(), false, None)
    }

    fn stopped(&self, message: String, by_function: bool, inner: Option<Box<Error>>) -> Box<Error> {
        let Some((pos, context)) = self.place() else {
            return Box::new(Error::Template {
                message: format!("{}: {message}", self.running),
            });
        };
        let location = self.source.location(pos);
        let template = self.running.to_string();
        Box::new(Error::Execute {
            location,
            template,
            context,
            message,
            by_function,
            inner,
        })
    }

    /// Turns a function's failure into the error of its call.
    pub(crate) fn call_failed(&self, name: &str, failure: Failure) -> Box<Error> {
        match failure {
            Failure::Message(message) => self.stopped(format!("error calling {name}: {message}"), true, None),
            Failure::Template(error) => match *error {
                Error::Limit { .. } => error,
                Error::Raised { message, .. } => self.raised(message),
                _ => self.stopped(format!("error calling {name}: "), false, Some(error)),
            },
            Failure::Raised(message) => self.raised(message),
            Failure::Limit(_) => Box::new(self.limit(failure)),
        }
    }

    fn raised(&self, message: String) -> Box<Error> {
        let location = self
            .place()
            .map_or_else(|| self.running.to_string(), |(pos, _)| self.source.location(pos));
        Box::new(Error::Raised { location, message })
    }

    pub(crate) fn charge(&mut self, count: u64) -> Result<(), Box<Error>> {
        self.budget.step(count).map_err(|failure| Box::new(self.limit(failure)))
    }

    pub(crate) fn enter(&mut self) -> Result<(), Box<Error>> {
        self.depth += 1;
        if self.depth > self.budget.limits().depth {
            let message = format!("nesting exceeds {} levels", self.budget.limits().depth);
            return Err(Box::new(Error::Limit {
                name: self.running.to_string(),
                message,
            }));
        }
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn variable(&self, name: &str) -> Option<Slot> {
        self.variables
            .iter()
            .rev()
            .find(|(known, _)| &**known == name)
            .map(|(_, slot)| slot.clone())
    }

    pub(crate) fn declare(&mut self, name: &Rc<str>, value: Value) {
        self.variables.push((Rc::clone(name), value.into()));
    }

    /// Sets a variable; false if there is none of that name.
    pub(crate) fn assign(&mut self, name: &str, slot: Slot) -> bool {
        let found = self.variables.iter_mut().rev().find(|(known, _)| &**known == name);
        let known = found.is_some();
        if let Some((_, old)) = found {
            *old = slot;
        }
        known
    }

    fn write(&mut self, text: &str) -> Result<(), Box<Error>> {
        let grown = self.out.len() + text.len();
        if grown > self.budget.limits().text {
            let message = format!("the output is longer than {} bytes", self.budget.limits().text);
            return Err(Box::new(Error::Limit {
                name: self.running.to_string(),
                message,
            }));
        }
        self.budget
            .text(text.len())
            .map_err(|failure| Box::new(self.limit(failure)))?;
        self.out.push_str(text);
        Ok(())
    }

    /// Executes nodes in a scope of their own.
    pub(crate) fn list(&mut self, dot: &Slot, nodes: &[Node]) -> Result<(), Stop> {
        self.enter()?;
        let result = nodes.iter().try_for_each(|node| self.node(dot, node));
        self.leave();
        result
    }

    fn node(&mut self, dot: &Slot, node: &Node) -> Result<(), Stop> {
        self.charge(1)?;
        match node {
            Node::Text(from, to) => {
                let source = Rc::clone(&self.source);
                Ok(self.write(source.part(*from, *to))?)
            }
            Node::Action(pipe) => {
                let value = self.pipeline(dot, pipe)?;
                if pipe.declared.is_empty() {
                    Ok(self.print(&value)?)
                } else {
                    Ok(())
                }
            }
            Node::If(branch) | Node::With(branch) => self.condition(dot, branch),
            Node::Range(branch) => self.range(dot, branch),
            Node::Template(call) => self.template(dot, call),
            Node::Break => Err(Stop::Break),
            Node::Continue => Err(Stop::Continue),
        }
    }

    fn print(&mut self, value: &Value) -> Result<(), Box<Error>> {
        if let Value::Object(object) = value
            && object.kind() == Kind::Func
        {
            return Err(self.fail(format!(
                "can't print {} of type {}",
                print::shown(value),
                object.type_name()
            )));
        }
        if let Value::Str(text) = value {
            return self.write(text);
        }
        let limit = self.budget.limits().text;
        let text = print::plain(value, limit).map_err(|failure| Box::new(self.limit(failure)))?;
        self.write(&text)
    }

    fn condition(&mut self, dot: &Slot, branch: &Rc<Branch>) -> Result<(), Stop> {
        let scope = self.variables.len();
        let value = self.pipeline(dot, &branch.pipe)?;
        let result = if value.truth() {
            if branch.word == "with" {
                self.list(&value.into(), &branch.body)
            } else {
                self.list(dot, &branch.body)
            }
        } else {
            branch.otherwise.as_ref().map_or(Ok(()), |nodes| self.list(dot, nodes))
        };
        self.variables.truncate(scope);
        result
    }

    fn template(&mut self, dot: &Slot, call: &Rc<Call>) -> Result<(), Stop> {
        self.stand(At::Call(Rc::clone(call)));
        let Some(tree) = self.templates.find(&call.name) else {
            return Err(self
                .fail(format!("template {} not defined", quote::quote(&call.name)))
                .into());
        };
        let dot = match &call.pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Value::Missing,
        };
        let running = std::mem::replace(&mut self.running, Rc::clone(&tree.name));
        let source = std::mem::replace(&mut self.source, Rc::clone(&tree.source));
        let first = vec![(Rc::from("$"), Slot::from(dot.clone()))];
        let variables = std::mem::replace(&mut self.variables, first);
        let result = self.list(&dot.into(), &tree.body);
        self.running = running;
        self.source = source;
        self.variables = variables;
        result
    }
}
