//! The walk over the nodes of a document.
//!
//! Must never let a small text become a huge value: expansion of aliases is metered, and so is the depth of what comes
//! out.

use std::borrow::Cow;

use serde_json::Value;

use super::Fault;
use super::build::{Build, Json, Nothing};
use super::key::{Found, Given, Keys, Step, go_value};
use crate::Dialect;
use crate::parse::MAX_DEPTH;
use crate::tape::{Kind, Tape};

/// How many nodes aliases may add before the share of aliased nodes is limited, and where the limit is tightest.
/// The same figures as go-yaml's, so that what it accepts is accepted here.
const ALIAS_FREE: usize = 400_000;
const ALIAS_TIGHT: usize = 4_000_000;

/// How far a walk has come, whatever is made on the way.
pub(super) struct Walk<'t> {
    pub(super) dialect: Dialect,
    pub(super) tape: &'t Tape<'t>,
    decoded: usize,
    aliased: usize,
    alias_depth: usize,
    /// Levels of the value so far, expanded aliases included.
    depth: usize,
    /// Looks for repeated keys, if they are wanted.
    pub(super) keys: Option<Keys>,
    /// Repeated keys where they are an error: the key, the first place, the second.
    pub(super) complaints: Vec<(String, usize, usize)>,
    /// The first key that has no JSON form.
    pub(super) null_key: Option<Fault>,
}

impl<'t> Walk<'t> {
    pub(super) fn new(dialect: Dialect, tape: &'t Tape<'t>, keys: Option<Keys>) -> Self {
        Self {
            dialect,
            tape,
            decoded: 0,
            aliased: 0,
            alias_depth: 0,
            depth: 0,
            keys,
            complaints: Vec::new(),
            null_key: None,
        }
    }

    pub(super) fn fault(&self, at: usize, message: impl Into<String>) -> Fault {
        Fault::new(self.tape.nodes[at].offset, message)
    }

    fn meter(&mut self, at: usize) -> Result<(), Fault> {
        self.decoded += 1;
        if self.alias_depth == 0 {
            return Ok(());
        }
        self.aliased += 1;
        if self.aliased > 100 && self.decoded > 1000 {
            let progress = (self.decoded.saturating_sub(ALIAS_FREE)) as f64 / (ALIAS_TIGHT - ALIAS_FREE) as f64;
            let allowed = 0.99 - 0.89 * progress.min(1.0);
            if self.aliased as f64 / self.decoded as f64 > allowed {
                return Err(self.fault(at, "document contains excessive aliasing"));
            }
        }
        Ok(())
    }
}

/// Makes values of nodes.
pub(super) struct Decoder<'w, 't, B: Build> {
    pub(super) walk: &'w mut Walk<'t>,
    build: &'w mut B,
    /// The only keys of the outermost mapping that are made something of, if not all.
    wanted: Option<&'w [&'w str]>,
    /// Items and entries of all collections that are not complete yet, inner ones last.
    items: Vec<B::Value>,
    entries: Vec<(Cow<'t, str>, B::Value)>,
}

impl<'w, 't, B: Build> Decoder<'w, 't, B> {
    pub(super) fn new(walk: &'w mut Walk<'t>, build: &'w mut B) -> Self {
        Self {
            walk,
            build,
            wanted: None,
            items: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// With the keys of the outermost mapping that something is made of; what others hold is checked only.
    pub(super) fn only(self, wanted: Option<&'w [&'w str]>) -> Self {
        Self { wanted, ..self }
    }

    pub(super) fn value(&mut self, at: usize) -> Result<B::Value, Fault> {
        self.visit(at, Self::content)
    }

    /// A node as JSON, for a message.
    pub(super) fn json(&mut self, at: usize) -> Result<Value, Fault> {
        Decoder::new(self.walk, &mut Json).value(at)
    }

    /// Reads a node, or what it stands for.
    fn visit<R>(&mut self, at: usize, read: fn(&mut Self, usize) -> Result<R, Fault>) -> Result<R, Fault> {
        self.walk.meter(at)?;
        // Aliases may put deep values into deep values.
        self.walk.depth += 1;
        if self.walk.depth > MAX_DEPTH + 1 {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(self.walk.fault(at, message));
        }
        let found = if let Kind::Alias(target, _) = self.walk.tape.nodes[at].kind {
            self.alias(at, target, read)
        } else {
            read(self, at)
        };
        self.walk.depth -= 1;
        found
    }

    fn alias<R>(
        &mut self,
        at: usize,
        target: usize,
        read: fn(&mut Self, usize) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let tape = self.walk.tape;
        if tape.after(target) > at {
            let message = format!("anchor '{}' value contains itself", tape.text(at));
            return Err(self.walk.fault(at, message));
        }
        self.walk.alias_depth += 1;
        self.walk.depth -= 1;
        let found = self.visit(target, read);
        self.walk.depth += 1;
        self.walk.alias_depth -= 1;
        found
    }

    fn content(&mut self, at: usize) -> Result<B::Value, Fault> {
        match self.walk.tape.nodes[at].kind {
            Kind::Sequence(end) => {
                let start = self.items.len();
                let mut item = at + 1;
                while item < end {
                    let index = self.items.len() - start;
                    self.enter(|| Step::Item(index));
                    let value = self.value(item)?;
                    self.items.push(value);
                    self.leave();
                    item = self.walk.tape.after(item);
                }
                Ok(self.build.list(self.items.drain(start..)))
            }
            Kind::Mapping(_) => {
                let start = self.entries.len();
                self.mapping(at)?;
                Ok(self.build.map(self.entries.drain(start..)))
            }
            Kind::Scalar { .. } | Kind::Alias(..) => self.walk.scalar(at, self.build),
        }
    }

    fn enter(&mut self, step: impl FnOnce() -> Step) {
        if let Some(keys) = &mut self.walk.keys {
            keys.path.push(step());
        }
    }

    fn leave(&mut self) {
        if let Some(keys) = &mut self.walk.keys {
            keys.path.pop();
        }
    }

    /// Adds the entries of a mapping, later ones winning; anything else has none.
    fn mapping(&mut self, at: usize) -> Result<(), Fault> {
        let tape = self.walk.tape;
        let Kind::Mapping(end) = tape.nodes[at].kind else {
            return Ok(());
        };
        if self.walk.dialect == Dialect::V3 && self.walk.complain(at, end) {
            return Ok(());
        }
        let start = self.entries.len();
        // Of the newer dialect: what merge keys bring loses to every key that is written.
        let mut merged = Vec::new();
        let mut given = self.walk.keys.is_some().then(Given::default);
        let mut next = at + 1;
        while next < end {
            let (key_at, value_at) = (next, tape.after(next));
            next = tape.after(value_at);
            if tape.is_merge(key_at) {
                let before = self.entries.len();
                self.merge(value_at, &mut given)?;
                if self.walk.dialect == Dialect::V3 {
                    merged.extend(self.entries.drain(before..));
                }
                continue;
            }
            let key = match self.key(key_at)? {
                Found::Key(key) => key,
                Found::Null => {
                    let value = self.json(value_at)?;
                    let shown = go_value(&value, self.walk.dialect, true);
                    self.walk.null_key.get_or_insert_with(|| {
                        let message = format!("unsupported map key of type: %!s(<nil>), key: <nil>, value: {shown}");
                        Fault::bare(tape.nodes[key_at].offset, message)
                    });
                    continue;
                }
            };
            if at == 0 && self.wanted.is_some_and(|wanted| !wanted.contains(&key.name.as_ref())) {
                Decoder::new(self.walk, &mut Nothing).value(value_at)?;
                continue;
            }
            self.enter(|| Step::Field(key.name.clone().into_owned()));
            let value = self.value(value_at)?;
            self.leave();
            if let Some(given) = &mut given {
                self.walk.note(given, &key, value_at);
            }
            self.entries.push((key.name, value));
        }
        if !merged.is_empty() {
            self.entries.splice(start..start, merged);
        }
        Ok(())
    }

    fn merge(&mut self, at: usize, given: &mut Option<Given>) -> Result<(), Fault> {
        let tape = self.walk.tape;
        let is_mapping = |at| matches!(tape.nodes[tape.target(at)].kind, Kind::Mapping(_));
        match tape.nodes[at].kind {
            _ if is_mapping(at) => self.merge_mapping(at, given),
            Kind::Sequence(end) => {
                let mut items = Vec::new();
                let mut item = at + 1;
                while item < end {
                    items.push(item);
                    item = tape.after(item);
                }
                // The first of a list of mappings wins, so the last is merged first.
                for item in items.into_iter().rev() {
                    if !is_mapping(item) {
                        return Err(self.walk.fault(item, MERGE_NEEDS));
                    }
                    self.merge_mapping(item, given)?;
                }
                Ok(())
            }
            _ => Err(self.walk.fault(at, MERGE_NEEDS)),
        }
    }

    fn merge_mapping(&mut self, at: usize, given: &mut Option<Given>) -> Result<(), Fault> {
        let before = self.entries.len();
        self.visit(at, Self::mapping)?;
        if let Some(given) = given {
            let mut names: Vec<&str> = self.entries[before..].iter().map(|(name, _)| name.as_ref()).collect();
            names.sort_unstable();
            names.dedup();
            self.walk.note_merged(given, &names, at);
        }
        Ok(())
    }
}

const MERGE_NEEDS: &str = "map merge requires map or sequence of maps as the value";
