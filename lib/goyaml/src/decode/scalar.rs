//! Scalars: what they are, and what JSON makes of that.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Number;

use super::Fault;
use super::build::Build;
use super::value::Walk;
use crate::number;
use crate::resolve::{self, Scalar};
use crate::tape::Kind;

const YAML_TAG: &str = "tag:yaml.org,2002:";
const BINARY: &str = "tag:yaml.org,2002:binary";

impl Walk<'_> {
    /// Makes a value of a scalar.
    pub(super) fn scalar<B: Build>(&self, at: usize, build: &mut B) -> Result<B::Value, Fault> {
        let number = match self.meaning(at)? {
            Scalar::Null => return Ok(build.null()),
            Scalar::Bool(value) => return Ok(build.bool(value)),
            Scalar::Text if self.is_binary(at) => return Ok(build.text(&self.binary(at)?)),
            Scalar::Text => return Ok(build.text(self.tape.text(at))),
            Scalar::Int(value) => self.whole(value),
            Scalar::Float(value) => number::of_f64(value).ok_or_else(|| {
                let name = if value.is_nan() {
                    "NaN"
                } else if value > 0.0 {
                    "+Inf"
                } else {
                    "-Inf"
                };
                Fault::bare(self.tape.nodes[at].offset, format!("json: unsupported value: {name}"))
            })?,
        };
        Ok(build.number(number))
    }

    fn whole(&self, value: i128) -> Number {
        if let Ok(small) = i64::try_from(value)
            && (self.keys.is_some() || small.unsigned_abs() <= number::EXACT)
        {
            return Number::from(small);
        }
        if self.keys.is_some() {
            return u64::try_from(value).map_or_else(|_| Number::from(0), Number::from);
        }
        // JSON numbers are floats for Go; the detour is what rounds large integers.
        number::of_f64(value as f64).unwrap_or_else(|| Number::from(0))
    }

    /// What a scalar is: by its tag, or by its text if it has neither tag nor quotes.
    pub(super) fn meaning(&self, at: usize) -> Result<Scalar, Fault> {
        let node = &self.tape.nodes[at];
        let Kind::Scalar { plain, .. } = node.kind else {
            return Ok(Scalar::Text);
        };
        let text = self.tape.text(at);
        let Some(tag) = node.tag() else {
            return Ok(if plain {
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

    pub(super) fn binary(&self, at: usize) -> Result<String, Fault> {
        let compact: String = self
            .tape
            .text(at)
            .chars()
            .filter(|c| !matches!(c, '\r' | '\n'))
            .collect();
        let bytes = STANDARD
            .decode(compact)
            .map_err(|_| self.fault(at, "!!binary value contains invalid base64 data"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether a scalar is written in base64.
    pub(super) fn is_binary(&self, at: usize) -> bool {
        self.tape.nodes[at].tag() == Some(BINARY)
    }
}
