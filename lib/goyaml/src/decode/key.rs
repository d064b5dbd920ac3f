//! Keys: as text, as a merge, and given twice.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::Fault;
use super::value::Decoder;
use crate::resolve::Scalar;
use crate::tape::{Kind, Node};
use crate::{Dialect, number};

/// The search for repeated keys.
pub(super) struct Keys<'r> {
    found: &'r mut Vec<(String, String, usize)>,
    pub(super) path: Vec<Step>,
}

pub(super) enum Step {
    Field(String),
    Item(usize),
}

impl<'r> Keys<'r> {
    pub(super) fn new(found: &'r mut Vec<(String, String, usize)>) -> Self {
        Self {
            found,
            path: Vec::new(),
        }
    }

    pub(super) fn report(&mut self, key: &Key, offset: usize) {
        let mut path = String::new();
        let last = Step::Field(key.name.clone());
        for step in self.path.iter().chain([&last]) {
            match step {
                Step::Field(name) if path.is_empty() => path.push_str(name),
                Step::Field(name) => path.extend([".", name]),
                Step::Item(index) => path.push_str(&format!("[{index}]")),
            }
        }
        self.found.push((path, key.shown(), offset));
    }
}

/// What stands where a key should.
pub(super) enum Found {
    Key(Key),
    /// Has no JSON form.
    Null,
}

/// A key as text, and what it was.
pub(super) struct Key {
    pub(super) name: String,
    pub(super) is_text: bool,
}

impl Key {
    fn shown(&self) -> String {
        if self.is_text {
            format!("{:?}", self.name)
        } else {
            self.name.clone()
        }
    }
}

/// The keys a mapping itself has so far; merged ones are not its own.
#[derive(Default)]
pub(super) struct Given {
    texts: HashSet<String>,
    others: HashSet<String>,
}

impl Given {
    fn is_own(&self, name: &str) -> bool {
        self.texts.contains(name) || self.others.contains(name)
    }
}

impl Decoder<'_, '_, '_> {
    /// A key as text: what it resolves to, printed as Go prints it.
    pub(super) fn key(&mut self, at: usize) -> Result<Found, Fault> {
        let key = self.target(at).0;
        if key != at && self.tape.after(key) > at {
            return Err(self.fault(at, "anchor value contains itself"));
        }
        if !matches!(self.tape.nodes[key].kind, Kind::Scalar { .. }) {
            let value = self.value(key)?;
            let shown = go_value(&value, self.dialect, true);
            return Err(self.fault(at, format!("invalid map key: {shown}")));
        }
        let name = match self.meaning(key)? {
            Scalar::Null => return Ok(Found::Null),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Int(value) => value.to_string(),
            Scalar::Float(value) if value.is_nan() => ".nan".to_owned(),
            Scalar::Float(value) if value.is_infinite() => if value > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
            // Keys are printed with the precision of a 32-bit float.
            Scalar::Float(value) => number::format_g32(value as f32),
            Scalar::Text => {
                let name = if self.is_binary(key) {
                    self.binary(key)?
                } else {
                    self.text(key)
                };
                return Ok(Found::Key(Key { name, is_text: true }));
            }
        };
        Ok(Found::Key(Key { name, is_text: false }))
    }

    /// Notes the keys of a mapping that are written twice; says whether there are any.
    pub(super) fn complain(&mut self, at: usize, end: usize) -> bool {
        let before = self.complaints.len();
        let mut seen: HashMap<(u8, &str), usize> = HashMap::new();
        let mut next = at + 1;
        while next < end {
            let key = &self.tape.nodes[next];
            // Collections have no text of their own, so any two are alike.
            let written = match &key.kind {
                Kind::Scalar { text, .. } => (0, text.as_ref()),
                Kind::Sequence(_) => (1, ""),
                Kind::Mapping(_) => (2, ""),
                Kind::Alias(_, name) => (3, *name),
            };
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
    pub(super) fn note(&mut self, given: &mut Given, key: &Key, value_at: usize, known: bool) {
        let offset = self.tape.nodes[value_at].offset;
        if let Some(keys) = &mut self.keys {
            let merged = known && !given.is_own(&key.name);
            let seen = if key.is_text {
                &mut given.texts
            } else {
                &mut given.others
            };
            if !seen.insert(key.name.clone()) || merged {
                keys.report(key, offset);
            }
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

const MERGE: &str = "tag:yaml.org,2002:merge";

pub(super) fn is_merge(key: &Node<'_>) -> bool {
    match &key.kind {
        Kind::Scalar { text, plain } => {
            text == "<<" && (*plain && key.tag.is_none() || key.tag.as_deref() == Some(MERGE))
        }
        Kind::Sequence(_) | Kind::Mapping(_) | Kind::Alias(..) => false,
    }
}
