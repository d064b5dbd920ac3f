//! Rules that belong to a type wherever it occurs: a probe is judged alike in a Pod, a Deployment and a CronJob.
//!
//! A walk along the schema meets every value outside of `metadata` and `status` with the type it has; enumerations come
//! from the schema, everything else from [`super::rules`]. Mirrors upstream's habit of one validating function per type.

use kubeschema::field::{self, FieldError};
use kubeschema::schema::{Field, Type};
use serde_json::Value;

use super::place::{Errors, Place};
use super::rules;

/// Judges everything in an object that is judged by its type.
pub(super) fn check(schema: &Type, object: &Value, errors: &mut Errors) {
    if let Some(name) = schema.name() {
        rules::check(short(name), &Place::new(object, ""), errors);
    }
    let owner = schema.name().map(short).unwrap_or_default();
    for (name, value) in object.as_object().into_iter().flatten() {
        if let (false, Some(inner)) = (name == "metadata" || name == "status", schema.field(name)) {
            field_value(owner, name, inner, value, name, errors);
        }
    }
}

/// `core.v1.Pod` of `io.k8s.api.core.v1.Pod`.
fn short(name: &str) -> &str {
    name.strip_prefix("io.k8s.api.").unwrap_or(name)
}

fn field_value(owner: &str, name: &str, inner: &Field, value: &Value, path: &str, errors: &mut Errors) {
    if rules::judges(owner, name) {
        return;
    }
    if let (Some(text), false) = (value.as_str(), inner.choices.is_empty()) {
        let choices: Vec<&str> = inner.choices.iter().map(String::as_str).collect();
        // A text that is always written is merely missing when it is empty; whoever needs it says so.
        let missing = text.is_empty() && !inner.zero.pointer;
        if !missing && !choices.contains(&text) {
            errors.push(FieldError::not_supported(path, text, &choices));
        }
        return;
    }
    walk(&inner.schema, value, path, errors);
}

fn walk(schema: &Type, value: &Value, path: &str, errors: &mut Errors) {
    let owner = schema.name().map(short).unwrap_or_default();
    match (schema.resolve(), value) {
        (Type::Object(object), Value::Object(map)) => {
            for (name, value) in map {
                if name == "metadata" || (name == "status" && value.is_object()) {
                    continue;
                }
                if let Some(inner) = object.fields.get(name) {
                    field_value(owner, name, inner, value, &field::child(path, name), errors);
                } else if let Some(rest) = &object.rest {
                    walk(rest, value, &field::key(path, name), errors);
                }
            }
            if !object.fields.is_empty() {
                rules::check(owner, &Place::new(value, path), errors);
            }
        }
        (Type::List(list), Value::Array(items)) => {
            for (position, item) in items.iter().enumerate() {
                walk(&list.item, item, &field::index(path, position), errors);
            }
        }
        _ => {}
    }
}
