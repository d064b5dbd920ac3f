//! `values.schema.json`: whether the final values are what the chart and the charts inside it expect.
//!
//! Upstream concept: Helm's check of values, with its validator's wording. References to other places than the schema
//! itself are never followed: what a schema on the web says is not checked (ADR 12), a file is refused. Patterns run in
//! linear time.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::chart::{Chart, File};
use crate::file::Code;
use crate::overlay::{self, Node, Numbers, Table};
use crate::values::Values;

/// Why values are refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A schema is broken or a value does not meet it: chart by chart, place by place.
    #[error("values don't meet the specifications of the schema(s) in the following chart(s):\n{0}")]
    Meet(String),
}

/// A schema; what checks values is made of it once, at first use.
pub struct Schema {
    pub(crate) text: Arc<Vec<u8>>,
    pub(crate) code: Arc<Code>,
}

impl Schema {
    pub(crate) fn new(file: File) -> Self {
        Self {
            text: file.data,
            code: file.code,
        }
    }

    /// `values.schema.json`
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    fn check(&self, values: &Value) -> Result<(), String> {
        let validator = self.code.compile(&self.text)?;
        // The plain question is much cheaper than the one for reasons.
        if validator.is_valid(values) {
            return Ok(());
        }
        let mut errors: Vec<_> = validator.iter_errors(values).collect();
        errors.sort_by_key(|error| error.instance_path().to_string());
        let problems = listed(&errors.iter().collect::<Vec<_>>(), 0, values);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema")
            .field(&String::from_utf8_lossy(&self.text))
            .finish()
    }
}

/// Checks the values of a chart and of every chart inside it.
///
/// # Errors
/// A schema is broken or a value does not meet it; the message lists every chart and place.
pub fn check(chart: &Chart, values: &Values) -> Result<(), Error> {
    check_table(chart, &overlay::given(values), Numbers::Floats)
}

/// As [`check`]. Only what has a schema becomes JSON.
pub(crate) fn check_table(chart: &Chart, values: &Table<'_>, numbers: Numbers) -> Result<(), Error> {
    let mut report = String::new();
    find(chart, values, numbers, &mut report);
    if report.is_empty() {
        Ok(())
    } else {
        Err(Error::Meet(report))
    }
}

/// Looks for the charts with a schema, outermost first.
fn find(chart: &Chart, values: &Table<'_>, numbers: Numbers, report: &mut String) {
    if chart.schema.is_some() {
        let values = Value::Object(overlay::to_json(values, numbers));
        return collect(chart, &values, report);
    }
    for child in &chart.dependencies {
        match values.get(child.name()) {
            Some(Node::Table(inner)) => find(child, inner, numbers, report),
            Some(lent) if lent.is_table() => collect(child, &lent.to_json(numbers), report),
            _ => find(child, &Table::new(), numbers, report),
        }
    }
}

fn collect(chart: &Chart, values: &Value, report: &mut String) {
    if let Some(schema) = &chart.schema
        && let Err(problems) = schema.check(values)
    {
        let _ = write!(report, "{}:\n{problems}", chart.name());
    }
    let empty = Value::Object(Values::new());
    for child in &chart.dependencies {
        let inner = values.get(child.name()).filter(|inner| inner.is_object());
        collect(child, inner.unwrap_or(&empty), report);
    }
}

pub(crate) fn validator(schema: &[u8]) -> Result<Validator, String> {
    let mut schema: Value = serde_json::from_slice(schema).map_err(|error| {
        if error.is_eof() {
            "unexpected EOF".to_owned()
        } else {
            error.to_string()
        }
    })?;
    let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
    let mut built = options.build(&schema);
    if built.as_ref().is_err_and(refers_elsewhere) {
        leave_unchecked(&mut schema);
        built = options.build(&schema);
    }
    built.map_err(|error| {
        if let (true, Some(place)) = (refers_elsewhere(&error), elsewhere(&schema)) {
            return format!("failing loading {place:?}: other places than the schema itself are never read");
        }
        let mut text = String::from("\"file:///values.schema.json#\" is not valid against metaschema: ");
        let _ = write!(text, "{}", message(&error, &schema));
        format!("{text} at '{}'", error.instance_path())
    })
}

fn refers_elsewhere(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Referencing(_))
}

/// Lets everything pass where a schema refers to the web.
fn leave_unchecked(schema: &mut Value) {
    // Up to draft 7 nothing beside a reference counts but what others may refer to.
    let dialect = schema["$schema"].as_str().unwrap_or_default();
    let alone = ["draft-04", "draft-06", "draft-07"]
        .iter()
        .any(|old| dialect.contains(old));
    let mut names = BTreeSet::new();
    collect_names(schema, &mut names);
    let cut = Cut { names, alone };
    cut.at(schema, false);
}

/// What parts of a schema are called by other parts.
fn collect_names(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(entries) => {
            if let Some(Value::String(name)) = entries.get("$id") {
                names.insert(place(name).to_owned());
            }
            entries.values().for_each(|inner| collect_names(inner, names));
        }
        Value::Array(items) => items.iter().for_each(|inner| collect_names(inner, names)),
        _ => {}
    }
}

/// Takes references to the web out of a schema.
struct Cut {
    /// What the schema itself answers for.
    names: BTreeSet<String>,
    /// Whether nothing beside a reference counts.
    alone: bool,
}

impl Cut {
    /// `below_web`: what is around this part is called by an address on the web, to which others are relative.
    fn at(&self, schema: &mut Value, below_web: bool) {
        match schema {
            Value::Object(entries) => {
                let name = entries.get("$id").and_then(Value::as_str);
                let below_web = name.map_or(below_web, |name| is_web(name, below_web));
                let wanted = entries.get("$ref").and_then(Value::as_str);
                if wanted.is_some_and(|wanted| is_web(wanted, below_web) && !self.is_known(wanted)) {
                    entries.remove("$ref");
                    if self.alone {
                        entries.retain(|key, _| ["$schema", "$id", "$defs", "definitions"].contains(&key.as_str()));
                    }
                }
                entries.values_mut().for_each(|inner| self.at(inner, below_web));
            }
            Value::Array(items) => items.iter_mut().for_each(|inner| self.at(inner, below_web)),
            _ => {}
        }
    }

    fn is_known(&self, wanted: &str) -> bool {
        let place = place(wanted);
        place.is_empty() || place.contains("://json-schema.org/") || self.names.contains(place)
    }
}

/// Whether a reference, or a name, is an address on the web, or relative to one.
fn is_web(reference: &str, below_web: bool) -> bool {
    match reference.split_once("://") {
        Some((scheme, _)) => ["http", "https"].contains(&scheme),
        None => below_web,
    }
}

/// The document that a reference is to.
fn place(reference: &str) -> &str {
    reference.split_once('#').map_or(reference, |(place, _)| place)
}

/// The first place outside of a schema that it refers to.
fn elsewhere(schema: &Value) -> Option<&str> {
    match schema {
        Value::Object(entries) => entries.iter().find_map(|(key, value)| match value {
            Value::String(wanted) if key == "$ref" && !wanted.starts_with('#') => Some(place(wanted)),
            value => elsewhere(value),
        }),
        Value::Array(items) => items.iter().find_map(elsewhere),
        _ => None,
    }
}

/// One line per problem. Several properties that one object lacks are one problem.
fn listed(errors: &[&ValidationError<'_>], depth: usize, root: &Value) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut missing: Vec<(String, Vec<String>)> = Vec::new();
    for error in errors {
        let place = error.instance_path().to_string();
        if let Kind::Required { property } = error.kind() {
            let name = quoted(property.as_str().unwrap_or_default());
            match missing.iter_mut().find(|(known, _)| *known == place) {
                Some((_, names)) => names.push(name),
                None => {
                    missing.push((place.clone(), vec![name]));
                    // The place in the list; the text follows when all names are known.
                    lines.push((place, String::new()));
                }
            }
            continue;
        }
        let nested = match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                listed(&context.iter().flatten().collect::<Vec<_>>(), depth + 1, root)
            }
            Kind::PropertyNames { error } => listed(&[error], depth + 1, root),
            _ => String::new(),
        };
        lines.push((place, format!("{}\n{nested}", message(error, root))));
    }
    let indent = "  ".repeat(depth);
    let mut text = String::new();
    for (place, line) in lines {
        let line = if line.is_empty() {
            let found = missing.iter().find(|(known, _)| *known == place);
            let names = found.map(|(_, names)| names.as_slice()).unwrap_or_default();
            let word = if names.len() == 1 { "property" } else { "properties" };
            format!("missing {word} {}\n", names.join(", "))
        } else {
            line
        };
        let _ = write!(text, "{indent}- at {}: {line}", quoted(&place));
    }
    text
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "\\'"))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(entries) => entries.len(),
        _ => 0,
    }
}

/// The order in which the kinds of a type list are named.
const ORDER: &[&str] = &["null", "boolean", "number", "integer", "string", "array", "object"];

/// What is wrong at one place.
fn message(error: &ValidationError<'_>, root: &Value) -> String {
    let found = error.instance();
    let compared =
        |limit: &dyn std::fmt::Display, got: String| format!("{}: got {got}, want {limit}", error.kind().keyword());
    match error.kind() {
        Kind::Type { kind: wanted } => {
            let wanted = match wanted {
                TypeKind::Single(one) => one.to_string(),
                TypeKind::Multiple(several) => {
                    let mut names: Vec<String> = several.iter().map(|one| one.to_string()).collect();
                    let rank = |name: &String| ORDER.iter().position(|known| known == name);
                    names.sort_by_key(rank);
                    names.join(" or ")
                }
            };
            format!("got {}, want {wanted}", kind(found))
        }
        Kind::Required { property } => format!("missing property {}", shown(property)),
        Kind::Enum { options } => match options.as_array().map(Vec::as_slice) {
            Some([only]) => format!("value must be {}", shown(only)),
            Some(several) => {
                let several: Vec<String> = several.iter().map(shown).collect();
                format!("value must be one of {}", several.join(", "))
            }
            None => "'enum' failed".to_owned(),
        },
        Kind::Constant { expected_value } => match &**expected_value {
            Value::Array(_) | Value::Object(_) => "'const' failed".to_owned(),
            plain => format!("value must be {}", shown(plain)),
        },
        Kind::Pattern { pattern } => format!("{} does not match pattern {}", shown(found), quoted(pattern)),
        Kind::Minimum { limit }
        | Kind::Maximum { limit }
        | Kind::ExclusiveMinimum { limit }
        | Kind::ExclusiveMaximum { limit } => compared(limit, found.to_string()),
        Kind::MultipleOf { multiple_of } => compared(multiple_of, found.to_string()),
        Kind::MinLength { limit }
        | Kind::MaxLength { limit }
        | Kind::MinItems { limit }
        | Kind::MaxItems { limit }
        | Kind::MinProperties { limit }
        | Kind::MaxProperties { limit } => compared(limit, size(found).to_string()),
        Kind::AdditionalProperties { unexpected } => {
            let names: Vec<String> = unexpected.iter().map(|name| quoted(name)).collect();
            format!("additional properties {} not allowed", names.join(", "))
        }
        Kind::UniqueItems => {
            let items = found.as_array().map(Vec::as_slice).unwrap_or_default();
            let pair = items.iter().enumerate().find_map(|(later, item)| {
                let earlier = items.iter().take(later).position(|other| other == item)?;
                Some((earlier, later))
            });
            let (earlier, later) = pair.unwrap_or_default();
            format!("items at {earlier} and {later} are equal")
        }
        Kind::AnyOf { .. } => "'anyOf' failed".to_owned(),
        Kind::OneOfNotValid { .. } => "'oneOf' failed, none matched".to_owned(),
        Kind::OneOfMultipleValid { context } => {
            let matched: Vec<String> = context
                .iter()
                .enumerate()
                .filter(|(_, errors)| errors.is_empty())
                .map(|(index, _)| index.to_string())
                .collect();
            format!("'oneOf' failed, subschemas {} matched", matched.join(", "))
        }
        Kind::Not { .. } => "'not' failed".to_owned(),
        Kind::FalseSchema if error.schema_path().to_string().ends_with("/additionalProperties") => {
            let names: Vec<String> = root
                .pointer(error.instance_path().as_str())
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(name, _)| quoted(name))
                .collect();
            format!("additional properties {} not allowed", names.join(", "))
        }
        Kind::FalseSchema => "false schema".to_owned(),
        Kind::Contains => "no items match contains schema".to_owned(),
        Kind::PropertyNames { error } => format!("invalid propertyName {}", shown(error.instance())),
        Kind::Format { format } => format!("{} is not valid {format}", shown(found)),
        Kind::UnevaluatedProperties { .. } => "false schema".to_owned(),
        _ => error.to_string(),
    }
}
