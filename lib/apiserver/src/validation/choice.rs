//! Enumerations: fields whose schema lists the values they may have.

use kubeschema::field::{self, FieldError};
use kubeschema::schema::Type;
use serde_json::Value;

/// Checks every enumerated field outside of `status`.
pub(super) fn check(schema: &Type, object: &Value, errors: &mut Vec<FieldError>) {
    for (name, value) in object.as_object().into_iter().flatten() {
        if let (false, Some(inner)) = (name == "status" || name == "metadata", schema.field(name)) {
            field_value(inner, value, name, errors);
        }
    }
}

fn field_value(field: &kubeschema::schema::Field, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if let (Some(text), false) = (value.as_str(), field.choices.is_empty()) {
        if !text.is_empty() && !field.choices.iter().any(|choice| choice == text) {
            // The strategy of a Deployment is refused as a whole.
            let path = path
                .strip_suffix("strategy.type")
                .map_or(path.to_owned(), |parent| format!("{parent}strategy"));
            let choices: Vec<&str> = field.choices.iter().map(String::as_str).collect();
            errors.push(FieldError::not_supported(path, text, &choices));
        }
        return;
    }
    walk(&field.schema, value, path, errors);
}

fn walk(schema: &Type, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    match (schema.resolve(), value) {
        (Type::Object(object), Value::Object(map)) => {
            for (name, value) in map {
                if let Some(inner) = object.fields.get(name) {
                    field_value(inner, value, &field::child(path, name), errors);
                } else if let Some(rest) = &object.rest {
                    walk(rest, value, &field::key(path, name), errors);
                }
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
