//! CEL rules (`x-kubernetes-validations`) of one node of a schema.

use std::sync::LazyLock;

use kube_cel::{CompiledSchema, Validator, compile_schema};
use kubeschema::field::{self, FieldError, Kind};
use regex::Regex;
use serde_json::{Value, json};

/// The rules of a node, compiled for values with and without a former state.
#[derive(Debug)]
pub(super) struct Rules {
    creating: CompiledSchema,
    updating: CompiledSchema,
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
            shape["x-kubernetes-validations"] = rules.iter().map(|rule| with_old_self(rule, old)).collect();
            compile_schema(&shape)
        };
        Some(Self {
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
            let shown = (!value.is_object() && !value.is_array()).then(|| value.clone());
            errors.push(FieldError::new(kind, place, shown, error.message));
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
