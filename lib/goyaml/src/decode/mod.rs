//! Nodes → JSON values, by the rules of `sigs.k8s.io/yaml`: keys become text, numbers go through `float64`, aliases and
//! merge keys are expanded.

mod build;
mod key;
mod scalar;
mod value;

use serde_json::Value;

pub use self::build::Build;
use self::build::Json;
use self::key::Keys;
use self::value::{Decoder, Walk};
use crate::error::Told;
use crate::parse::Parser;
use crate::{Dialect, Error};

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
    parse_as(dialect, text, &mut Json)
}

/// [`parse`] of which only some keys are wanted: if the document is a mapping, others are missing from it. What they
/// hold is checked all the same, so this fails where [`parse`] does, but nothing is made of it.
///
/// # Errors
/// As [`parse`].
pub fn parse_keys(text: &str, keys: &[&str]) -> Result<Value, Error> {
    let mut parser = Parser::new(Dialect::V2, text);
    let found = next(Dialect::V2, &mut parser, Some(keys), &mut None, &mut Json)?;
    Ok(found.map_or(Value::Null, |(value, _)| value))
}

/// [`parse_with`] into values that the caller makes.
///
/// # Errors
/// As [`parse`].
pub fn parse_as<B: Build>(dialect: Dialect, text: &str, build: &mut B) -> Result<B::Value, Error> {
    let mut parser = Parser::new(dialect, text);
    Ok(match next(dialect, &mut parser, None, &mut None, build)? {
        Some((value, _)) => value,
        None => build.null(),
    })
}

/// What a server makes of a YAML body: as [`parse`], but integers keep all their digits (`YAMLToJSON` goes through
/// text, not through floats), and the keys that were given more than once are reported, which strict readers refuse.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_repeated(text: &str) -> Result<(Value, Vec<Repeated>), Error> {
    let mut parser = Parser::new(Dialect::V2, text);
    let mut keys = Some(Keys::default());
    let document = next(Dialect::V2, &mut parser, None, &mut keys, &mut Json)?;
    let found = keys.unwrap_or_default().found;
    let offsets: Vec<usize> = found.iter().map(|(_, _, offset)| *offset).collect();
    let lines = parser.lines_of(&offsets);
    let repeated = found
        .into_iter()
        .zip(lines)
        .map(|((path, key, _), line)| Repeated { path, key, line })
        .collect();
    Ok((document.map_or(Value::Null, |(value, _)| value), repeated))
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
    while let Some((value, line)) = next(dialect, &mut parser, None, &mut None, &mut Json)? {
        if !value.is_null() {
            documents.push(Document { value, line });
        }
    }
    Ok(documents)
}

/// The next document and its line. `wanted` are the only keys that something is made of, if not all; `keys` takes the
/// repeated keys, if they are looked for.
fn next<B: Build>(
    dialect: Dialect,
    parser: &mut Parser<'_>,
    wanted: Option<&[&str]>,
    keys: &mut Option<Keys>,
    build: &mut B,
) -> Result<Option<(B::Value, usize)>, Error> {
    let Some((tape, line)) = parser.next_document()? else {
        return Ok(None);
    };
    let mut walk = Walk::new(dialect, tape, keys.take());
    let decoded = Decoder::new(&mut walk, build).only(wanted).value(0);
    *keys = walk.keys;
    let complaints = walk.complaints;
    let decoded = match (decoded, walk.null_key) {
        // Found only when what was read becomes JSON.
        (Ok(_), Some(fault)) => Err(fault),
        (decoded, _) => decoded,
    };
    match decoded {
        Ok(_) if !complaints.is_empty() => Err(already_defined(parser, &complaints)),
        Ok(value) => Ok(Some((value, line))),
        Err(fault) => {
            let (line, column) = parser.place(fault.offset);
            Err(Error::told(line, column, fault.message, fault.told))
        }
    }
}

/// All keys that were given twice, as go-yaml v3 lists them.
fn already_defined(parser: &Parser<'_>, complaints: &[(String, usize, usize)]) -> Error {
    let offsets: Vec<usize> = complaints
        .iter()
        .flat_map(|(_, first, second)| [*first, *second])
        .collect();
    let lines = parser.lines_of(&offsets);
    let told = complaints.iter().zip(lines.chunks_exact(2)).map(|((key, ..), lines)| {
        let (first, second) = (lines[0], lines[1]);
        format!("\n  line {second}: mapping key {key} already defined at line {first}")
    });
    let told: String = told.collect();
    let (line, column) = complaints
        .first()
        .map_or((1, 1), |(_, _, second)| parser.place(*second));
    let message = format!("unmarshal errors:{told}");
    Error::told(line, column, message, Told::Yaml(0))
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
