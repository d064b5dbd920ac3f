//! Nodes → JSON values, by the rules of `sigs.k8s.io/yaml`: keys become text, numbers go through `float64`, aliases and
//! merge keys are expanded.
//!
//! Must never let a small text become a huge value: expansion of aliases is metered.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::mem;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::error::Told;
use crate::parse::{MAX_DEPTH, Parser};
use crate::resolve::{self, Scalar};
use crate::tape::{Kind, Node, Tape};
use crate::{Dialect, Error, number};

/// One document of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// What it holds.
    pub value: Value,
    /// The line its content or its `---` starts on, from 1.
    pub line: usize,
}

/// A key that a mapping already had; the later value was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// Where, as Kubernetes writes paths: `spec.containers[0].name`.
    pub path: String,
    /// The key as Go prints it in its complaint: a text in quotes, anything else bare.
    pub key: String,
    /// The line of the repetition, from 1.
    pub line: usize,
}

/// Reads the first document of a text as Kubernetes, Helm and Fleet do; later documents are not looked at. An empty
/// text is null.
///
/// # Errors
/// Where the text is not YAML or has no JSON form (null keys, infinities), with line and column.
pub fn parse(text: &str) -> Result<Value, Error> {
    parse_with(Dialect::V2, text)
}

/// [`parse`] by the rules of a dialect.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(dialect: Dialect, text: &str) -> Result<Value, Error> {
    let mut parser = Parser::new(dialect, text);
    Ok(next(dialect, &mut parser, None)?.map_or(Value::Null, |document| document.value))
}

/// What a server makes of a YAML body: as [`parse`], but integers keep all their digits (`YAMLToJSON` goes through
/// text, not through floats), and the keys that were given more than once are reported, which strict readers refuse.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_repeated(text: &str) -> Result<(Value, Vec<Repeated>), Error> {
    let mut parser = Parser::new(Dialect::V2, text);
    let mut found = Vec::new();
    let document = next(Dialect::V2, &mut parser, Some(&mut found))?;
    let repeated = found
        .into_iter()
        .map(|(path, key, offset)| Repeated {
            path,
            key,
            line: parser.place(offset).0,
        })
        .collect();
    Ok((document.map_or(Value::Null, |document| document.value), repeated))
}

/// Reads every document of a stream. Documents that hold nothing (empty, comments only, null) are left out.
///
/// # Errors
/// As [`parse`]; one bad document makes the whole stream fail.
pub fn parse_documents(text: &str) -> Result<Vec<Document>, Error> {
    parse_documents_with(Dialect::V2, text)
}

/// [`parse_documents`] by the rules of a dialect.
///
/// # Errors
/// As [`parse_documents`].
pub fn parse_documents_with(dialect: Dialect, text: &str) -> Result<Vec<Document>, Error> {
    let mut parser = Parser::new(dialect, text);
    let mut documents = Vec::new();
    while let Some(document) = next(dialect, &mut parser, None)? {
        if !document.value.is_null() {
            documents.push(document);
        }
    }
    Ok(documents)
}

fn next(
    dialect: Dialect,
    parser: &mut Parser<'_>,
    repeated: Option<&mut Vec<(String, String, usize)>>,
) -> Result<Option<Document>, Error> {
    let Some((tape, line)) = parser.next_document()? else {
        return Ok(None);
    };
    let mut decoder = Decoder {
        dialect,
        tape,
        decoded: 0,
        aliased: 0,
        alias_depth: 0,
        depth: 0,
        keys: repeated.map(Keys::new),
        complaints: Vec::new(),
        null_key: None,
    };
    let decoded = decoder.value(0);
    let complaints = mem::take(&mut decoder.complaints);
    let null_key = decoder.null_key.take();
    let decoded = match (decoded, null_key) {
        // Found only when what was read becomes JSON.
        (Ok(_), Some(fault)) => Err(fault),
        (decoded, _) => decoded,
    };
    match decoded {
        Ok(_) if !complaints.is_empty() => Err(already_defined(parser, &complaints)),
        Ok(value) => Ok(Some(Document { value, line })),
        Err(fault) => {
            let (line, column) = parser.place(fault.offset);
            Err(Error::told(line, column, fault.message, fault.told))
        }
    }
}

/// All keys that were given twice, as go-yaml v3 lists them.
fn already_defined(parser: &Parser<'_>, complaints: &[(String, usize, usize)]) -> Error {
    let lines: Vec<String> = complaints
        .iter()
        .map(|(key, first, second)| {
            let (first, second) = (parser.place(*first).0, parser.place(*second).0);
            format!("\n  line {second}: mapping key {key} already defined at line {first}")
        })
        .collect();
    let (line, column) = complaints
        .first()
        .map_or((1, 1), |(_, _, second)| parser.place(*second));
    let message = format!("unmarshal errors:{}", lines.concat());
    Error::told(line, column, message, Told::Yaml(0))
}

/// How many nodes aliases may add before the share of aliased nodes is limited, and where the limit is tightest.
/// The same figures as go-yaml's, so that what it accepts is accepted here.
const ALIAS_FREE: usize = 400_000;
const ALIAS_TIGHT: usize = 4_000_000;

struct Decoder<'t, 'a, 'r> {
    dialect: Dialect,
    tape: &'t mut Tape<'a>,
    decoded: usize,
    aliased: usize,
    alias_depth: usize,
    /// Levels of the value so far, expanded aliases included.
    depth: usize,
    /// Looks for repeated keys, if they are wanted.
    keys: Option<Keys<'r>>,
    /// Repeated keys where they are an error: the key, the first place, the second.
    complaints: Vec<(String, usize, usize)>,
    /// The first key that has no JSON form.
    null_key: Option<Fault>,
}

/// A problem and its place.
struct Fault {
    offset: usize,
    message: String,
    told: Told,
}

impl Fault {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        Self {
            offset,
            message: message.into(),
            told: Told::Yaml(0),
        }
    }

    fn bare(offset: usize, message: impl Into<String>) -> Self {
        Self {
            told: Told::Bare,
            ..Self::new(offset, message)
        }
    }
}

/// The search for repeated keys.
struct Keys<'r> {
    found: &'r mut Vec<(String, String, usize)>,
    path: Vec<Step>,
}

enum Step {
    Field(String),
    Item(usize),
}

impl<'r> Keys<'r> {
    fn new(found: &'r mut Vec<(String, String, usize)>) -> Self {
        Self {
            found,
            path: Vec::new(),
        }
    }

    fn report(&mut self, key: &Key, offset: usize) {
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
enum Found {
    Key(Key),
    /// Has no JSON form.
    Null,
}

/// A key as text, and what it was.
struct Key {
    name: String,
    is_text: bool,
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

impl<'a> Decoder<'_, 'a, '_> {
    fn value(&mut self, at: usize) -> Result<Value, Fault> {
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

    fn enter(&mut self, step: impl FnOnce() -> Step) {
        if let Some(keys) = &mut self.keys {
            keys.path.push(step());
        }
    }

    fn leave(&mut self) {
        if let Some(keys) = &mut self.keys {
            keys.path.pop();
        }
    }

    fn fault(&self, at: usize, message: impl Into<String>) -> Fault {
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

    /// The text of a scalar, taken out of the tape where nothing can ask for it again.
    fn text(&mut self, at: usize) -> String {
        let again = self.tape.has_alias;
        match &mut self.tape.nodes[at].kind {
            Kind::Scalar { text, .. } if again => text.clone().into_owned(),
            Kind::Scalar { text, .. } => mem::replace(text, Cow::Borrowed("")).into_owned(),
            Kind::Sequence(_) | Kind::Mapping(_) | Kind::Alias(..) => String::new(),
        }
    }

    fn scalar(&mut self, at: usize) -> Result<Value, Fault> {
        match self.meaning(at)? {
            Scalar::Null => Ok(Value::Null),
            Scalar::Bool(value) => Ok(Value::Bool(value)),
            // JSON numbers are floats for Go; the detour is what rounds large integers.
            Scalar::Int(value) if self.keys.is_none() => Ok(number::from_f64(value as f64).unwrap_or_default()),
            Scalar::Int(value) => Ok(i64::try_from(value)
                .map(Value::from)
                .or_else(|_| u64::try_from(value).map(Value::from))
                .unwrap_or_default()),
            Scalar::Float(value) => number::from_f64(value).ok_or_else(|| {
                let name = if value.is_nan() {
                    "NaN"
                } else if value > 0.0 {
                    "+Inf"
                } else {
                    "-Inf"
                };
                Fault::bare(self.tape.nodes[at].offset, format!("json: unsupported value: {name}"))
            }),
            Scalar::Text if self.tape.nodes[at].tag.as_deref() == Some(BINARY) => self.binary(at).map(Value::String),
            Scalar::Text => Ok(Value::String(self.text(at))),
        }
    }

    /// What a scalar is: by its tag, or by its text if it has neither tag nor quotes.
    fn meaning(&self, at: usize) -> Result<Scalar, Fault> {
        let node = &self.tape.nodes[at];
        let Kind::Scalar { text, plain } = &node.kind else {
            return Ok(Scalar::Text);
        };
        let Some(tag) = &node.tag else {
            return Ok(if *plain {
                resolve::resolve(text, self.dialect)
            } else {
                Scalar::Text
            });
        };
        let found = match tag.strip_prefix(YAML_TAG) {
            Some("bool" | "int" | "float" | "null") => resolve::resolve(text, self.dialect),
            _ => return Ok(Scalar::Text),
        };
        let kind = &tag[YAML_TAG.len()..];
        match (kind, found) {
            ("bool", found @ Scalar::Bool(_))
            | ("int", found @ Scalar::Int(_))
            | ("float", found @ Scalar::Float(_))
            | ("null", found @ Scalar::Null) => Ok(found),
            ("float", Scalar::Int(value)) => Ok(Scalar::Float(value as f64)),
            (_, found) => {
                let is = match found {
                    Scalar::Null => "null",
                    Scalar::Bool(_) => "bool",
                    Scalar::Int(_) => "int",
                    Scalar::Float(_) => "float",
                    Scalar::Text => "str",
                };
                Err(self.fault(at, format!("cannot decode !!{is} `{text}` as a !!{kind}")))
            }
        }
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

    /// Notes the keys of a mapping that are written twice; says whether there are any.
    fn complain(&mut self, at: usize, end: usize) -> bool {
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
    fn note(&mut self, given: &mut Given, key: &Key, value_at: usize, known: bool) {
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
    fn target(&self, at: usize) -> (usize, &Kind<'a>) {
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

    /// A key as text: what it resolves to, printed as Go prints it.
    fn key(&mut self, at: usize) -> Result<Found, Fault> {
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
                let name = if self.tape.nodes[key].tag.as_deref() == Some(BINARY) {
                    self.binary(key)?
                } else {
                    self.text(key)
                };
                return Ok(Found::Key(Key { name, is_text: true }));
            }
        };
        Ok(Found::Key(Key { name, is_text: false }))
    }

    fn binary(&mut self, at: usize) -> Result<String, Fault> {
        let compact: String = self.text(at).chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        let bytes = STANDARD
            .decode(compact)
            .map_err(|_| self.fault(at, "!!binary value contains invalid base64 data"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The keys a mapping itself has so far; merged ones are not its own.
#[derive(Default)]
struct Given {
    texts: HashSet<String>,
    others: HashSet<String>,
}

impl Given {
    fn is_own(&self, name: &str) -> bool {
        self.texts.contains(name) || self.others.contains(name)
    }
}

/// A value as `%#v` prints what go-yaml made of it.
fn go_value(value: &Value, dialect: Dialect, outermost: bool) -> String {
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

const YAML_TAG: &str = "tag:yaml.org,2002:";
const BINARY: &str = "tag:yaml.org,2002:binary";
const MERGE: &str = "tag:yaml.org,2002:merge";
const MERGE_NEEDS: &str = "map merge requires map or sequence of maps as the value";

fn is_merge(key: &Node<'_>) -> bool {
    match &key.kind {
        Kind::Scalar { text, plain } => {
            text == "<<" && (*plain && key.tag.is_none() || key.tag.as_deref() == Some(MERGE))
        }
        Kind::Sequence(_) | Kind::Mapping(_) | Kind::Alias(..) => false,
    }
}
