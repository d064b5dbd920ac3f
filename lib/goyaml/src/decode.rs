//! Nodes → JSON values, by the rules of `sigs.k8s.io/yaml`: keys become text, numbers go through `float64`, aliases and
//! merge keys are expanded.
//!
//! Must never let a small text become a huge value: expansion of aliases is metered.

use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::compose::{Composer, Kind, Node};
use crate::resolve::{self, Scalar};
use crate::{Dialect, Error, number};

/// One document of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// What it holds.
    pub value: Value,
    /// The line its content or its `---` starts on, from 1.
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
    match Composer::new(text).next_document()? {
        Some((root, _)) => Decoder::new(dialect).value(&root),
        None => Ok(Value::Null),
    }
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
    let mut composer = Composer::new(text);
    let mut documents = Vec::new();
    while let Some((root, line)) = composer.next_document()? {
        let value = Decoder::new(dialect).value(&root)?;
        if !value.is_null() {
            documents.push(Document { value, line });
        }
    }
    Ok(documents)
}

/// How many nodes aliases may add before the share of aliased nodes is limited, and where the limit is tightest.
/// The same figures as go-yaml's, so that what it accepts is accepted here.
const ALIAS_FREE: usize = 400_000;
const ALIAS_TIGHT: usize = 4_000_000;

struct Decoder {
    dialect: Dialect,
    decoded: usize,
    aliased: usize,
    alias_depth: usize,
}

impl Decoder {
    fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            decoded: 0,
            aliased: 0,
            alias_depth: 0,
        }
    }

    fn value(&mut self, node: &Rc<Node>) -> Result<Value, Error> {
        self.meter(node)?;
        match &node.kind {
            Kind::Scalar { text, plain } => self.scalar(node, text, *plain),
            Kind::Sequence(items) => items.iter().map(|item| self.value(item)).collect(),
            Kind::Mapping(entries) => self.mapping(node, entries).map(Value::Object),
            Kind::Alias(target) => {
                self.alias_depth += 1;
                if self.alias_depth > crate::compose::MAX_DEPTH {
                    return Err(error(node, "aliases are nested too deep"));
                }
                let value = self.value(target);
                self.alias_depth -= 1;
                value
            }
        }
    }

    fn meter(&mut self, node: &Node) -> Result<(), Error> {
        self.decoded += 1;
        if self.alias_depth > 0 {
            self.aliased += 1;
        }
        if self.aliased > 100 && self.decoded > 1000 {
            let progress = (self.decoded.saturating_sub(ALIAS_FREE)) as f64 / (ALIAS_TIGHT - ALIAS_FREE) as f64;
            let allowed = 0.99 - 0.89 * progress.min(1.0);
            if self.aliased as f64 / self.decoded as f64 > allowed {
                return Err(error(node, "document contains excessive aliasing"));
            }
        }
        Ok(())
    }

    fn scalar(&mut self, node: &Node, text: &str, plain: bool) -> Result<Value, Error> {
        let scalar = self.meaning(node, text, plain)?;
        match scalar {
            Scalar::Null => Ok(Value::Null),
            Scalar::Bool(value) => Ok(Value::Bool(value)),
            // JSON numbers are floats for Go; the detour is what rounds large integers.
            Scalar::Int(value) => Ok(number::from_f64(value as f64).unwrap_or_default()),
            Scalar::Float(value) => {
                number::from_f64(value).ok_or_else(|| error(node, format!("'{text}' has no JSON form")))
            }
            Scalar::Text if node.tag.as_deref() == Some(BINARY) => binary(node, text).map(Value::String),
            Scalar::Text => Ok(Value::String(text.to_owned())),
        }
    }

    /// What a scalar is, its explicit tag included.
    fn meaning(&self, node: &Node, text: &str, plain: bool) -> Result<Scalar, Error> {
        let Some(tag) = node.tag.as_deref() else {
            return Ok(if plain {
                resolve::resolve(text, self.dialect)
            } else {
                Scalar::Text
            });
        };
        let Some(kind) = tag.strip_prefix(YAML_TAG) else {
            return Ok(Scalar::Text);
        };
        let found = match kind {
            "bool" | "int" | "float" | "null" => resolve::resolve(text, self.dialect),
            _ => return Ok(Scalar::Text),
        };
        match (kind, found) {
            ("bool", found @ Scalar::Bool(_))
            | ("int", found @ Scalar::Int(_))
            | ("float", found @ Scalar::Float(_))
            | ("null", found @ Scalar::Null) => Ok(found),
            ("float", Scalar::Int(value)) => Ok(Scalar::Float(value as f64)),
            _ => Err(error(node, format!("cannot read '{text}' as !!{kind}"))),
        }
    }

    fn mapping(&mut self, node: &Node, entries: &[(Rc<Node>, Rc<Node>)]) -> Result<Map<String, Value>, Error> {
        let mut map = Map::new();
        let mut explicit = Map::new();
        for (key, value) in entries {
            if is_merge(key) {
                self.merge(value, &mut map)?;
                continue;
            }
            let name = self.key(key)?;
            let value = self.value(value)?;
            if self.dialect == Dialect::V3 {
                if explicit.insert(name.clone(), value).is_some() {
                    return Err(error(key, format!("mapping key '{name}' already defined")));
                }
            } else {
                map.insert(name, value);
            }
        }
        let _ = node;
        map.append(&mut explicit);
        Ok(map)
    }

    fn merge(&mut self, value: &Rc<Node>, map: &mut Map<String, Value>) -> Result<(), Error> {
        match &target(value).kind {
            Kind::Mapping(_) => self.merge_mapping(value, map),
            Kind::Sequence(items) if !matches!(value.kind, Kind::Alias(_)) => {
                // The first of a list of mappings wins, so the last is merged first.
                for item in items.iter().rev() {
                    if !matches!(target(item).kind, Kind::Mapping(_)) {
                        return Err(error(item, MERGE_NEEDS));
                    }
                    self.merge_mapping(item, map)?;
                }
                Ok(())
            }
            _ => Err(error(value, MERGE_NEEDS)),
        }
    }

    fn merge_mapping(&mut self, value: &Rc<Node>, map: &mut Map<String, Value>) -> Result<(), Error> {
        if let Value::Object(merged) = self.value(value)? {
            map.extend(merged);
        }
        Ok(())
    }

    /// A key as text: what it resolves to, printed as Go prints it.
    fn key(&mut self, node: &Rc<Node>) -> Result<String, Error> {
        let key = target(node);
        let Kind::Scalar { text, plain } = &key.kind else {
            return Err(error(node, "a mapping key must be a scalar"));
        };
        Ok(match self.meaning(key, text, *plain)? {
            Scalar::Null => return Err(error(node, "a mapping key must not be null")),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Int(value) => value.to_string(),
            Scalar::Float(value) if value.is_nan() => ".nan".to_owned(),
            Scalar::Float(value) if value.is_infinite() => if value > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
            // Keys are printed with the precision of a 32-bit float.
            Scalar::Float(value) => number::format_g32(value as f32),
            Scalar::Text if key.tag.as_deref() == Some(BINARY) => binary(key, text)?,
            Scalar::Text => text.clone(),
        })
    }
}

const YAML_TAG: &str = "tag:yaml.org,2002:";
const BINARY: &str = "tag:yaml.org,2002:binary";
const MERGE: &str = "tag:yaml.org,2002:merge";
const MERGE_NEEDS: &str = "a merge key needs a mapping or a list of mappings";

fn error(node: &Node, message: impl Into<String>) -> Error {
    Error::at(node.line, node.column, message)
}

/// The node an alias stands for; any other node itself.
fn target(node: &Rc<Node>) -> &Rc<Node> {
    match &node.kind {
        Kind::Alias(target) => target,
        _ => node,
    }
}

fn is_merge(key: &Node) -> bool {
    matches!(&key.kind, Kind::Scalar { text, plain } if text == "<<" && (*plain || key.tag.as_deref() == Some(MERGE)))
}

fn binary(node: &Node, text: &str) -> Result<String, Error> {
    let compact: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let bytes = STANDARD
        .decode(compact)
        .map_err(|_| error(node, "!!binary value contains invalid base64 data"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
