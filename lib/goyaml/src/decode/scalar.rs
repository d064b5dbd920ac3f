//! Scalars: what they are, and what JSON makes of that.

use std::borrow::Cow;
use std::mem;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::Fault;
use super::value::Decoder;
use crate::number;
use crate::resolve::{self, Scalar};
use crate::tape::Kind;

const YAML_TAG: &str = "tag:yaml.org,2002:";
const BINARY: &str = "tag:yaml.org,2002:binary";

impl Decoder<'_, '_, '_> {
    /// The text of a scalar, taken out of the tape where nothing can ask for it again.
    pub(super) fn text(&mut self, at: usize) -> String {
        let again = self.tape.has_alias;
        match &mut self.tape.nodes[at].kind {
            Kind::Scalar { text, .. } if again => text.clone().into_owned(),
            Kind::Scalar { text, .. } => mem::replace(text, Cow::Borrowed("")).into_owned(),
            Kind::Sequence(_) | Kind::Mapping(_) | Kind::Alias(..) => String::new(),
        }
    }

    pub(super) fn scalar(&mut self, at: usize) -> Result<Value, Fault> {
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
            Scalar::Text if self.is_binary(at) => self.binary(at).map(Value::String),
            Scalar::Text => Ok(Value::String(self.text(at))),
        }
    }

    /// What a scalar is: by its tag, or by its text if it has neither tag nor quotes.
    pub(super) fn meaning(&self, at: usize) -> Result<Scalar, Fault> {
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

    pub(super) fn binary(&mut self, at: usize) -> Result<String, Fault> {
        let compact: String = self.text(at).chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        let bytes = STANDARD
            .decode(compact)
            .map_err(|_| self.fault(at, "!!binary value contains invalid base64 data"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether a scalar is written in base64.
    pub(super) fn is_binary(&self, at: usize) -> bool {
        self.tape.nodes[at].tag.as_deref() == Some(BINARY)
    }
}
