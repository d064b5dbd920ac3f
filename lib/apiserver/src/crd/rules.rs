//! CEL rules (`x-kubernetes-validations`) of one node of a schema.

use std::sync::LazyLock;

use kube_cel::{CompiledSchema, ErrorKind, Validator, compile_schema};
use kubeschema::field::{self, FieldError, Kind};
use regex::Regex;
use serde_json::{Value, json};

use crate::crd::optional;

/// The rules of a node, compiled for values with and without a former state.
#[derive(Debug)]
pub(super) struct Rules {
    creating: CompiledSchema,
    updating: CompiledSchema,
    /// What is said about a rule: its message, or itself.
    words: Vec<(String, String)>,
    kind: String,
}

static OLD_SELF: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\boldSelf\b").ok());

thread_local! {
    static VALIDATOR: Validator = Validator::new();
}

impl Rules {
    /// Reads the rules of a node, if it has any.
    pub(super) fn read(schema: &Value) -> Option<Self> {
        let rules = schema["x-kubernetes-validations"]
            .as_array()
            .filter(|rules| !rules.is_empty())?;
        let mut shape = schema.clone();
        without_rules(&mut shape);
        let compiled = |old: &str| {
            let mut shape = shape.clone();
            shape["x-kubernetes-validations"] = rules.iter().map(|rule| readable(with_old_self(rule, old))).collect();
            compile_schema(&shape)
        };
        let text = |rule: &Value, key: &str| rule[key].as_str().unwrap_or_default().trim().to_owned();
        let words = rules
            .iter()
            .map(|rule| {
                let message = text(rule, "message");
                let own = text(rule, "rule");
                (optional::plain(&own), if message.is_empty() { own } else { message })
            })
            .collect();
        Some(Self {
            words,
            kind: text(schema, "type"),
            creating: compiled("optional.none()"),
            updating: compiled("optional.of(oldSelf)"),
        })
    }

    /// What the rules say against a value at `path`.
    pub(super) fn check(&self, value: &Value, old: Option<&Value>, path: &str, errors: &mut Vec<FieldError>) {
        let compiled = if old.is_some() { &self.updating } else { &self.creating };
        let found = VALIDATOR.with(|validator| validator.validate_compiled(compiled, value, old));
        for error in found
            .err()
            .map(kube_cel::ValidationErrors::into_vec)
            .unwrap_or_default()
        {
            let field = error.field_path.trim_start_matches('.');
            let place = match (path.is_empty(), field.is_empty()) {
                (true, true) => "<nil>".to_owned(),
                (_, true) => path.to_owned(),
                _ => field::child(path, field),
            };
            let kind = match error.reason.as_deref() {
                Some("FieldValueForbidden") => Kind::Forbidden,
                Some("FieldValueRequired") => Kind::Required,
                Some("FieldValueDuplicate") => Kind::Duplicate,
                _ => Kind::Invalid,
            };
            if error.kind == ErrorKind::EvaluationError {
                // The expression as it was written says less than its message.
                let rule = error.rule.trim();
                let words = self
                    .words
                    .iter()
                    .find(|(own, _)| own == rule)
                    .map_or(rule, |(_, words)| words);
                let detail = format!("{} evaluating rule: {words}", failure(&error.message, value));
                errors.push(FieldError::invalid(place, self.kind.as_str(), detail));
                continue;
            }
            let shown = (!value.is_object() && !value.is_array()).then(|| value.clone());
            errors.push(FieldError::new(kind, place, shown, error.message));
        }
    }
}

/// Why an expression has no value, in the words of the reference.
fn failure(message: &str, value: &Value) -> String {
    let message = message.strip_prefix("rule evaluation error: ").unwrap_or(message);
    let called = message
        .strip_prefix("Error executing function '")
        .and_then(|rest| rest.split_once('\''));
    let from_text = |wanted: &str| format!("type conversion error from 'string' to '{wanted}'");
    match called {
        Some(("int" | "uint" | "double" | "bool", _)) => from_text(called.map_or("", |(name, _)| name)),
        Some(("duration", _)) => from_text("google.protobuf.Duration"),
        Some(("timestamp", _)) => from_text("google.protobuf.Timestamp"),
        Some(("url", _)) => match value.as_str() {
            Some(text) => {
                format!("URL parse error during conversion from string: parse {text:?}: invalid URI for request")
            }
            None => "URL parse error during conversion from string".to_owned(),
        },
        Some((_, why)) => why.trim_start_matches(": ").to_owned(),
        None if message.starts_with("Division by zero") => "division by zero".to_owned(),
        None if message.starts_with("Remainder by zero") => "modulus by zero".to_owned(),
        None => {
            let mut letters = message.chars();
            let first = letters.next().map(|c| c.to_ascii_lowercase());
            first.into_iter().chain(letters).collect()
        }
    }
}

/// A rule whose former state is optional, rewritten to what `oldSelf` is now.
fn with_old_self(rule: &Value, old: &str) -> Value {
    let mut rule = rule.clone();
    if let (true, Some(name)) = (rule["optionalOldSelf"] == true, OLD_SELF.as_ref()) {
        for key in ["rule", "messageExpression"] {
            if let Some(text) = rule[key].as_str() {
                rule[key] = json!(name.replace_all(text, old));
            }
        }
        rule["optionalOldSelf"] = json!(false);
    }
    rule
}

/// A rule as the evaluator reads it; what is said about it keeps the words in which it was written.
fn readable(mut rule: Value) -> Value {
    for key in ["rule", "messageExpression"] {
        let Some(written) = rule[key].as_str().map(str::to_owned) else {
            continue;
        };
        let plain = optional::plain(&written);
        if plain == written {
            continue;
        }
        if key == "rule" && rule["message"].as_str().unwrap_or_default().is_empty() {
            rule["message"] = json!(format!("failed rule: {}", written.trim()));
        }
        rule[key] = json!(plain);
    }
    rule
}

fn without_rules(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.remove("x-kubernetes-validations");
            for (_, inner) in map.iter_mut() {
                without_rules(inner);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_rules),
        _ => {}
    }
}
