//! Keys: as text, as a merge, and given twice.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::Fault;
use super::build::Build;
use super::value::{Decoder, Walk};
use crate::resolve::Scalar;
use crate::tape::Kind;
use crate::{Dialect, number};

/// The search for repeated keys.
#[derive(Default)]
pub(super) struct Keys {
    /// Path, key and place of each.
    pub(super) found: Vec<(String, String, usize)>,
    pub(super) path: Vec<Step>,
}

pub(super) enum Step {
    Field(String),
    Item(usize),
}

impl Keys {
    fn report(&mut self, name: &str, is_text: bool, offset: usize) {
        let mut path = String::new();
        let last = Step::Field(name.to_owned());
        for step in self.path.iter().chain([&last]) {
            match step {
                Step::Field(name) if path.is_empty() => path.push_str(name),
                Step::Field(name) => path.extend([".", name]),
                Step::Item(index) => path.push_str(&format!("[{index}]")),
            }
        }
        let shown = if is_text { format!("{name:?}") } else { name.to_owned() };
        self.found.push((path, shown, offset));
    }
}

/// What stands where a key should.
pub(super) enum Found<'t> {
    Key(Key<'t>),
    /// Has no JSON form.
    Null,
}

/// A key as text, and what it was.
pub(super) struct Key<'t> {
    pub(super) name: Cow<'t, str>,
    is_text: bool,
}

/// The keys a mapping has so far: its own by what they were, and merged ones.
#[derive(Default)]
pub(super) struct Given {
    texts: HashSet<String>,
    others: HashSet<String>,
    merged: HashSet<String>,
}

impl Given {
    fn is_own(&self, name: &str) -> bool {
        self.texts.contains(name) || self.others.contains(name)
    }
}

impl<'t, B: Build> Decoder<'_, 't, B> {
    /// A key as text: what it resolves to, printed as Go prints it.
    pub(super) fn key(&mut self, at: usize) -> Result<Found<'t>, Fault> {
        let tape = self.walk.tape;
        let key = tape.target(at);
        if key != at && tape.after(key) > at {
            return Err(self.walk.fault(at, "anchor value contains itself"));
        }
        if !matches!(tape.nodes[key].kind, Kind::Scalar { .. }) {
            let value = self.json(key)?;
            let shown = go_value(&value, self.walk.dialect, true);
            return Err(self.walk.fault(at, format!("invalid map key: {shown}")));
        }
        let name = match self.walk.meaning(key)? {
            Scalar::Null => return Ok(Found::Null),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Int(value) => value.to_string(),
            Scalar::Float(value) if value.is_nan() => ".nan".to_owned(),
            Scalar::Float(value) if value.is_infinite() => if value > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
            // Keys are printed with the precision of a 32-bit float.
            Scalar::Float(value) => number::format_g32(value as f32),
            Scalar::Text => {
                let name = if self.walk.is_binary(key) {
                    Cow::Owned(self.walk.binary(key)?)
                } else {
                    Cow::Borrowed(tape.text(key))
                };
                return Ok(Found::Key(Key { name, is_text: true }));
            }
        };
        let name = Cow::Owned(name);
        Ok(Found::Key(Key { name, is_text: false }))
    }
}

impl Walk<'_> {
    /// Notes the keys of a mapping that are written twice; says whether there are any.
    pub(super) fn complain(&mut self, at: usize, end: usize) -> bool {
        let before = self.complaints.len();
        let mut seen: HashMap<(u8, &str), usize> = HashMap::new();
        let mut next = at + 1;
        while next < end {
            let key = &self.tape.nodes[next];
            // Collections have no text of their own, so any two are alike.
            let sort = match key.kind {
                Kind::Scalar { .. } => 0,
                Kind::Sequence(_) => 1,
                Kind::Mapping(_) => 2,
                Kind::Alias(..) => 3,
            };
            let written = (sort, self.tape.text(next));
            match seen.entry(written) {
                Entry::Vacant(free) => {
                    free.insert(key.offset);
                }
                Entry::Occupied(first) => {
                    self.complaints
                        .push((format!("{:?}", written.1), *first.get(), key.offset));
                }
            }
            next = self.tape.after(self.tape.after(next));
        }
        self.complaints.len() > before
    }

    /// Remembers a key, and reports it if the mapping has it; `1` and `"1"` are two keys.
    pub(super) fn note(&mut self, given: &mut Given, key: &Key<'_>, value_at: usize) {
        let offset = self.tape.nodes[value_at].offset;
        if let Some(keys) = &mut self.keys {
            let merged = given.merged.contains(key.name.as_ref()) && !given.is_own(&key.name);
            let seen = if key.is_text {
                &mut given.texts
            } else {
                &mut given.others
            };
            if !seen.insert(key.name.clone().into_owned()) || merged {
                keys.report(&key.name, key.is_text, offset);
            }
        }
    }

    /// The same for the keys of a mapping that is merged.
    pub(super) fn note_merged(&mut self, given: &mut Given, names: &[&str], at: usize) {
        let offset = self.tape.nodes[at].offset;
        for name in names {
            if let Some(keys) = &mut self.keys
                && (given.is_own(name) || given.merged.contains(*name))
            {
                keys.report(name, true, offset);
            }
            given.merged.insert((*name).to_owned());
        }
    }
}

/// A value as `%#v` prints what go-yaml made of it.
pub(super) fn go_value(value: &Value, dialect: Dialect, outermost: bool) -> String {
    match value {
        Value::Null if outermost => "<nil>".to_owned(),
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| go_value(item, dialect, false)).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{key:?}:{}", go_value(value, dialect, false)))
                .collect();
            let kind = match dialect {
                Dialect::V2 => "interface {}",
                Dialect::V3 => "string",
            };
            format!("map[{kind}]interface {{}}{{{}}}", entries.join(", "))
        }
    }
}
