//! Executes templates: walks statements, keeps variables and output, and remembers the node it stands at, so that an
//! error can say where.
//!
//! Upstream concept: the state of an execution in `text/template`, with limits that Go does not have.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::ast::{At, Branch, Node, Nodes, Parsed, Place, Variable};
use crate::budget::{Budget, Limits};
use crate::error::Error;
use crate::failure::Failure;
use crate::function::Functions;
use crate::lex::Delims;
use crate::object::Kind;
use crate::parse;
use crate::template::{Templates, Tree};
use crate::value::{Text, Value};
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
    /// Texts that were executed before, parsed.
    texts: HashMap<Text, Arc<Parsed>>,
    /// The name of the set of templates, for errors.
    set: String,
    /// The template that is being executed.
    running: Option<Rc<Tree>>,
    at: At,
    /// Variables of all templates that are being executed, inner ones behind outer ones.
    variables: Vec<(Variable, Slot)>,
    /// Where the variables of the running template begin.
    scope: usize,
    out: String,
    /// Buffers to print into, and for arguments.
    spare: Vec<String>,
    buffers: Vec<Vec<Value>>,
    depth: usize,
}

/// Stack that a level of nesting may need, functions with recursion of their own included, and what is added where
/// less is left.
pub(crate) const LEVEL_STACK: usize = 4 << 20;
pub(crate) const MORE_STACK: usize = 32 << 20;

/// The number of `$` in every text.
const ROOT: Variable = 0;

/// How many texts are kept in parsed form for the next time they are executed, and how long they may be.
const KEPT_TEXTS: usize = 1_000;
const KEPT_TEXT: usize = 4 << 10;

impl<'a> Machine<'a> {
    pub(crate) fn new(functions: Rc<Functions<'a>>, missing: MissingKey, delims: Delims, limits: Limits) -> Self {
        Self {
            functions,
            methods: Rc::default(),
            missing,
            budget: Budget::new(limits),
            delims,
            templates: Rc::new(Templates::default()),
            texts: HashMap::new(),
            set: String::new(),
            running: None,
            at: At::Nothing,
            variables: Vec::new(),
            scope: 0,
            out: String::new(),
            spare: Vec::new(),
            buffers: Vec::new(),
            depth: 0,
        }
    }

    /// Parses `text` under `name`; what it defines is known to every template executed afterwards.
    ///
    /// # Errors
    /// The text is no template.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let parsed = self.parsed(name, text)?;
        self.templates.add(name, &parsed)
    }

    /// [`Self::parse`] for a text that was parsed before. One that another engine parsed, with other functions or
    /// delimiters, is parsed again.
    ///
    /// # Errors
    /// The text is no template for this machine.
    pub fn add(&mut self, name: &str, parsed: &Arc<Parsed>) -> Result<(), Error> {
        if Arc::ptr_eq(&parsed.functions, self.functions.known()) && parsed.delims == self.delims {
            self.templates.add(name, parsed)
        } else {
            self.parse(name, &parsed.text)
        }
    }

    fn parsed(&self, name: &str, text: &str) -> Result<Arc<Parsed>, Error> {
        Ok(Arc::new(parse::parse(name, text, &self.delims, &self.functions)?))
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
        let tree = self.known(name)?;
        self.print_apart(&tree, dot, str::to_owned)
    }

    fn known(&self, name: &str) -> Result<Rc<Tree>, Error> {
        self.templates.find(name).ok_or_else(|| {
            // Go names the set after the template that all others were parsed into.
            let set = quote::quote(&self.set);
            Error::Template {
                message: format!("no template {} associated with template {set}", quote::quote(name)),
            }
        })
    }

    /// What a template prints, apart from what was printed so far.
    fn print_apart<T>(&mut self, tree: &Rc<Tree>, dot: Value, take: impl FnOnce(&str) -> T) -> Result<T, Error> {
        let fresh = self.spare.pop().unwrap_or_default();
        let out = std::mem::replace(&mut self.out, fresh);
        let at = std::mem::replace(&mut self.at, At::Nothing);
        // Nothing given is nothing at all, not an interface that holds nil.
        let dot = if dot.is_nil() { Value::Missing } else { dot };
        let result = self.run_tree(tree, dot);
        let mut printed = std::mem::replace(&mut self.out, out);
        self.at = at;
        let taken = match result {
            Err(Stop::Error(error)) => Err(*error),
            Err(Stop::Break | Stop::Continue) | Ok(()) if self.depth > 0 => Ok(take(&printed)),
            Err(Stop::Break | Stop::Continue) | Ok(()) => Ok(take(&bytes::lossy(&printed))),
        };
        printed.clear();
        self.spare.push(printed);
        taken
    }

    /// Executes a template with variables of its own.
    fn run_tree(&mut self, tree: &Rc<Tree>, dot: Value) -> Result<(), Stop> {
        let outer = self.running.replace(Rc::clone(tree));
        let scope = std::mem::replace(&mut self.scope, self.variables.len());
        self.variables.push((ROOT, dot.clone().into()));
        let result = self.list(&tree.code, &dot.into(), tree.body);
        self.variables.truncate(self.scope);
        self.scope = scope;
        self.running = outer;
        result
    }

    /// Executes the template `name` as a function does that runs templates; the same name inside itself is limited
    /// to `limit` levels.
    ///
    /// # Errors
    /// The execution stopped, or the limit is reached.
    pub fn include(&mut self, name: &str, dot: Value, limit: usize) -> Result<Text, Failure> {
        let tree = self.known(name)?;
        if tree.nested.get() > limit {
            let message = format!("rendering template has a nested reference name: {name}");
            return Err(Failure::new(format!("{message}: unable to execute template")));
        }
        tree.nested.update(|level| level + 1);
        let result = self.print_apart(&tree, dot, |printed: &str| printed.into());
        tree.nested.update(|level| level - 1);
        Ok(result?)
    }

    /// Parses and executes `text` as a template of its own, which sees every known template; what it defines is
    /// forgotten afterwards.
    ///
    /// # Errors
    /// The text is no template, or its execution stopped.
    pub fn execute_text(&mut self, name: &str, text: &str, dot: Value) -> Result<String, Error> {
        self.budget.text(text.len()).map_err(|failure| self.limit(failure))?;
        let parsed = match self.texts.get(text) {
            Some(known) => Arc::clone(known),
            None => {
                let parsed = self.parsed(name, text)?;
                if self.texts.len() < KEPT_TEXTS && text.len() <= KEPT_TEXT {
                    self.texts.insert(text.into(), Arc::clone(&parsed));
                }
                parsed
            }
        };
        let outer = Rc::clone(&self.templates);
        self.templates = Rc::new(Templates::inside(Rc::clone(&outer)));
        let result = self
            .templates
            .add_main(name, &parsed)
            .and_then(|()| self.execute(name, dot));
        self.templates = outer;
        result
    }

    /// The name of the template that is being executed.
    pub fn running(&self) -> &str {
        self.running.as_ref().map_or("", |tree| &tree.name)
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
                name: self.running().to_owned(),
                message,
            },
        }
    }

    pub(crate) fn standing(&self) -> At {
        self.at
    }

    pub(crate) fn stand(&mut self, at: At) {
        self.at = at;
    }

    /// An empty list for arguments.
    pub(crate) fn buffer(&mut self) -> Vec<Value> {
        self.buffers.pop().unwrap_or_default()
    }

    /// Takes a list back, to be used again.
    pub(crate) fn give_back(&mut self, mut buffer: Vec<Value>) {
        buffer.clear();
        self.buffers.push(buffer);
    }

    /// Where the machine stands: `FILE:LINE:COLUMN` and the node's text.
    fn place(&self) -> Option<(String, String)> {
        let tree = self.running.as_ref()?;
        let (pos, text) = tree.code.shown(self.at)?;
        Some((tree.code.location(&tree.file, pos), text))
    }

    /// An error at the node the machine stands at.
    pub(crate) fn fail(&self, message: impl Into<String>) -> Box<Error> {
        self.stopped(message.into(), false, None)
    }

    fn stopped(&self, message: String, by_function: bool, inner: Option<Box<Error>>) -> Box<Error> {
        let Some((location, context)) = self.place() else {
            return Box::new(Error::Template {
                message: format!("{}: {message}", self.running()),
            });
        };
        let template = self.running().to_owned();
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
            .map_or_else(|| self.running().to_owned(), |(location, _)| location);
        Box::new(Error::Raised { location, message })
    }

    pub(crate) fn charge(&mut self, count: u64) -> Result<(), Box<Error>> {
        self.budget.step(count).map_err(|failure| Box::new(self.limit(failure)))
    }

    /// Goes one level deeper, on a stack that is large enough for it. Every way deeper leads through here.
    pub(crate) fn deeper<T, E: From<Box<Error>>>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.depth == self.budget.limits().depth {
            let message = format!("nesting exceeds {} levels", self.depth);
            return Err(E::from(Box::new(Error::Limit {
                name: self.running().to_owned(),
                message,
            })));
        }
        self.depth += 1;
        let result = stacker::maybe_grow(LEVEL_STACK, MORE_STACK, || work(self));
        self.depth -= 1;
        result
    }

    /// The variables of the running template.
    fn variables(&mut self) -> &mut [(Variable, Slot)] {
        self.variables.get_mut(self.scope..).unwrap_or_default()
    }

    pub(crate) fn variable(&mut self, variable: Variable) -> Option<Slot> {
        let mut known = self.variables().iter().rev();
        known
            .find(|(known, _)| *known == variable)
            .map(|(_, slot)| slot.clone())
    }

    pub(crate) fn declare(&mut self, variable: Variable, value: Value) {
        self.variables.push((variable, value.into()));
    }

    /// Sets a variable; false if there is none of that name.
    pub(crate) fn assign(&mut self, variable: Variable, slot: Slot) -> bool {
        let found = self.variables().iter_mut().rev().find(|(known, _)| *known == variable);
        let known = found.is_some();
        if let Some((_, old)) = found {
            *old = slot;
        }
        known
    }

    /// How many variables are declared.
    pub(crate) fn declared(&self) -> usize {
        self.variables.len()
    }

    /// Forgets all variables but the first.
    pub(crate) fn forget(&mut self, from: usize) {
        self.variables.truncate(from);
    }

    /// Sets the variable that was declared so many declarations ago.
    pub(crate) fn reassign(&mut self, at: usize, slot: Slot) {
        if let Some((_, old)) = self.variables.get_mut(at) {
            *old = slot;
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Box<Error>> {
        let grown = self.out.len() + text.len();
        if grown > self.budget.limits().text {
            let message = format!("the output is longer than {} bytes", self.budget.limits().text);
            return Err(Box::new(Error::Limit {
                name: self.running().to_owned(),
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
    pub(crate) fn list(&mut self, code: &Parsed, dot: &Slot, nodes: Nodes) -> Result<(), Stop> {
        self.deeper(|machine| {
            let mut nodes = code.nodes[nodes.range()].iter();
            nodes.try_for_each(|node| machine.node(code, dot, *node))
        })
    }

    fn node(&mut self, code: &Parsed, dot: &Slot, node: Node) -> Result<(), Stop> {
        self.charge(1)?;
        match node {
            Node::Text(part) => Ok(self.write(code.part(part))?),
            Node::Action(pipe) => {
                let value = self.pipeline(code, dot, pipe)?;
                if code.pipe(pipe).declared.len() == 0 {
                    self.print(&value)?;
                }
                Ok(())
            }
            Node::If(branch) => self.condition(code, dot, &code.branches[branch as usize], false),
            Node::With(branch) => self.condition(code, dot, &code.branches[branch as usize], true),
            Node::Range(branch) => self.range(code, dot, &code.branches[branch as usize]),
            Node::Template(call) => self.template(code, dot, call),
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

    fn condition(&mut self, code: &Parsed, dot: &Slot, branch: &Branch, with: bool) -> Result<(), Stop> {
        let scope = self.variables.len();
        let value = self.pipeline(code, dot, branch.pipe)?;
        let result = if value.truth() {
            if with {
                self.list(code, &value.into(), branch.body)
            } else {
                self.list(code, dot, branch.body)
            }
        } else {
            branch.otherwise.map_or(Ok(()), |nodes| self.list(code, dot, nodes))
        };
        self.variables.truncate(scope);
        result
    }

    fn template(&mut self, code: &Parsed, dot: &Slot, call: Place) -> Result<(), Stop> {
        self.stand(At::Call(call));
        let call = &code.calls[call as usize];
        let Some(tree) = self.templates.find(&call.name) else {
            return Err(self
                .fail(format!("template {} not defined", quote::quote(&call.name)))
                .into());
        };
        let dot = match call.pipe {
            Some(pipe) => self.pipeline(code, dot, pipe)?,
            None => Value::Missing,
        };
        self.run_tree(&tree, dot)
    }
}
