//! The walk over the nodes of a document.
//!
//! Must never let a small text become a huge value: expansion of aliases is metered, and so is the depth of what comes
//! out.

use serde_json::{Map, Value};

use super::Fault;
use super::key::{Found, Given, Key, Keys, Step, go_value, is_merge};
use crate::Dialect;
use crate::parse::MAX_DEPTH;
use crate::tape::{Kind, Tape};

/// How many nodes aliases may add before the share of aliased nodes is limited, and where the limit is tightest.
/// The same figures as go-yaml's, so that what it accepts is accepted here.
const ALIAS_FREE: usize = 400_000;
const ALIAS_TIGHT: usize = 4_000_000;

pub(super) struct Decoder<'t, 'a, 'r> {
    pub(super) dialect: Dialect,
    pub(super) tape: &'t mut Tape<'a>,
    decoded: usize,
    aliased: usize,
    alias_depth: usize,
    /// Levels of the value so far, expanded aliases included.
    depth: usize,
    /// Looks for repeated keys, if they are wanted.
    pub(super) keys: Option<Keys<'r>>,
    /// Repeated keys where they are an error: the key, the first place, the second.
    pub(super) complaints: Vec<(String, usize, usize)>,
    /// The first key that has no JSON form.
    pub(super) null_key: Option<Fault>,
}

impl<'t, 'a, 'r> Decoder<'t, 'a, 'r> {
    /// `repeated` takes the repeated keys, if they are wanted.
    pub(super) fn new(
        dialect: Dialect,
        tape: &'t mut Tape<'a>,
        repeated: Option<&'r mut Vec<(String, String, usize)>>,
    ) -> Self {
        Self {
            dialect,
            tape,
            decoded: 0,
            aliased: 0,
            alias_depth: 0,
            depth: 0,
            keys: repeated.map(Keys::new),
            complaints: Vec::new(),
            null_key: None,
        }
    }
}

impl<'a> Decoder<'_, 'a, '_> {
    pub(super) fn value(&mut self, at: usize) -> Result<Value, Fault> {
        self.meter(at)?;
        // Aliases may put deep values into deep values.
        self.depth += 1;
        if self.depth > MAX_DEPTH + 1 {
            return Err(self.fault(at, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let value = self.content(at);
        self.depth -= 1;
        value
    }

    fn content(&mut self, at: usize) -> Result<Value, Fault> {
        match self.tape.nodes[at].kind {
            Kind::Scalar { .. } => self.scalar(at),
            Kind::Sequence(end) => {
                let mut items = Vec::new();
                let mut item = at + 1;
                while item < end {
                    self.enter(|| Step::Item(items.len()));
                    items.push(self.value(item)?);
                    self.leave();
                    item = self.tape.after(item);
                }
                Ok(Value::Array(items))
            }
            Kind::Mapping(end) => self.mapping(at, end).map(Value::Object),
            Kind::Alias(target, name) => {
                if self.tape.after(target) > at {
                    return Err(self.fault(at, format!("anchor '{name}' value contains itself")));
                }
                self.alias_depth += 1;
                self.depth -= 1;
                let value = self.value(target);
                self.depth += 1;
                self.alias_depth -= 1;
                value
            }
        }
    }

    pub(super) fn enter(&mut self, step: impl FnOnce() -> Step) {
        if let Some(keys) = &mut self.keys {
            keys.path.push(step());
        }
    }

    pub(super) fn leave(&mut self) {
        if let Some(keys) = &mut self.keys {
            keys.path.pop();
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

    fn mapping(&mut self, at: usize, end: usize) -> Result<Map<String, Value>, Fault> {
        // What merge keys bring; go-yaml v2 treats it as if it stood there.
        let mut map = Map::new();
        let mut explicit = Map::new();
        let mut given = self.keys.is_some().then(Given::default);
        if self.dialect == Dialect::V3 && self.complain(at, end) {
            return Ok(map);
        }
        let mut next = at + 1;
        while next < end {
            let (key_at, value_at) = (next, self.tape.after(next));
            next = self.tape.after(value_at);
            if is_merge(&self.tape.nodes[key_at]) {
                self.merge(value_at, &mut map)?;
                continue;
            }
            let key = match self.key(key_at)? {
                Found::Key(key) => key,
                Found::Null => {
                    let value = self.value(value_at)?;
                    self.null_key.get_or_insert_with(|| {
                        let shown = go_value(&value, self.dialect, true);
                        let message = format!("unsupported map key of type: %!s(<nil>), key: <nil>, value: {shown}");
                        Fault::bare(self.tape.nodes[key_at].offset, message)
                    });
                    continue;
                }
            };
            self.enter(|| Step::Field(key.name.clone()));
            let value = self.value(value_at)?;
            self.leave();
            if self.dialect == Dialect::V2 {
                if let Some(given) = &mut given {
                    self.note(given, &key, value_at, map.contains_key(&key.name));
                }
                map.insert(key.name, value);
            } else {
                explicit.insert(key.name, value);
            }
        }
        map.append(&mut explicit);
        Ok(map)
    }

    fn merge(&mut self, at: usize, map: &mut Map<String, Value>) -> Result<(), Fault> {
        match self.target(at) {
            (_, Kind::Mapping(_)) => self.merge_mapping(at, map),
            (items, Kind::Sequence(end)) if items == at => {
                let end = *end;
                let mut items = Vec::new();
                let mut item = at + 1;
                while item < end {
                    items.push(item);
                    item = self.tape.after(item);
                }
                // The first of a list of mappings wins, so the last is merged first.
                for item in items.into_iter().rev() {
                    if !matches!(self.target(item).1, Kind::Mapping(_)) {
                        return Err(self.fault(item, MERGE_NEEDS));
                    }
                    self.merge_mapping(item, map)?;
                }
                Ok(())
            }
            _ => Err(self.fault(at, MERGE_NEEDS)),
        }
    }

    /// The node an alias stands for and its position; any other node itself.
    pub(super) fn target(&self, at: usize) -> (usize, &Kind<'a>) {
        match &self.tape.nodes[at].kind {
            Kind::Alias(target, _) => (*target, &self.tape.nodes[*target].kind),
            kind => (at, kind),
        }
    }

    fn merge_mapping(&mut self, at: usize, map: &mut Map<String, Value>) -> Result<(), Fault> {
        if let Value::Object(merged) = self.value(at)? {
            let offset = self.tape.nodes[at].offset;
            if let Some(keys) = &mut self.keys {
                for name in merged.keys().filter(|name| map.contains_key(*name)) {
                    let key = Key {
                        name: name.clone(),
                        is_text: true,
                    };
                    keys.report(&key, offset);
                }
            }
            map.extend(merged);
        }
        Ok(())
    }
}

const MERGE_NEEDS: &str = "map merge requires map or sequence of maps as the value";
