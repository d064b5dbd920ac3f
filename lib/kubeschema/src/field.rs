//! Field errors: what is wrong with which field of an object, worded as a Kubernetes API server words it.
//!
//! Mirrors upstream's `field.Error`: a type, a path, the offending value and a detail. Never decides anything.

use std::fmt;

use serde_json::Value;

/// The kind of a field error; its text is both the start of the message and, shortened, the cause's reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A value that must be there is missing.
    Required,
    /// A value that must not be there.
    Forbidden,
    /// A malformed or out-of-range value.
    Invalid,
    /// A value of the wrong JSON type.
    TypeInvalid,
    /// A value outside an enumeration.
    NotSupported,
    /// A second value where each must be unique.
    Duplicate,
    /// A reference to something that does not exist.
    NotFound,
    /// A text over its length limit.
    TooLong,
    /// A list over its length limit.
    TooMany,
    /// A text under its minimum length.
    TooShort,
    /// A list under its minimum length.
    TooFew,
    /// The server could not decide.
    Internal,
}

impl Kind {
    /// The words a message starts with.
    pub fn text(self) -> &'static str {
        match self {
            Kind::Required => "Required value",
            Kind::Forbidden => "Forbidden",
            Kind::Invalid | Kind::TypeInvalid => "Invalid value",
            Kind::NotSupported => "Unsupported value",
            Kind::Duplicate => "Duplicate value",
            Kind::NotFound => "Not found",
            Kind::TooLong => "Too long",
            Kind::TooMany => "Too many",
            Kind::TooShort => "Too short",
            Kind::TooFew => "Too few",
            Kind::Internal => "Internal error",
        }
    }

    /// The `reason` of a cause in a Status.
    pub fn reason(self) -> &'static str {
        match self {
            Kind::Required => "FieldValueRequired",
            Kind::Forbidden => "FieldValueForbidden",
            Kind::Invalid => "FieldValueInvalid",
            Kind::TypeInvalid => "FieldValueTypeInvalid",
            Kind::NotSupported => "FieldValueNotSupported",
            Kind::Duplicate => "FieldValueDuplicate",
            Kind::NotFound => "FieldValueNotFound",
            Kind::TooLong => "FieldValueTooLong",
            Kind::TooMany => "FieldValueTooMany",
            Kind::TooShort => "FieldValueTooShort",
            Kind::TooFew => "FieldValueTooFew",
            Kind::Internal => "InternalError",
        }
    }

    fn shows_value(self) -> bool {
        !matches!(
            self,
            Kind::Required | Kind::Forbidden | Kind::TooLong | Kind::TooShort | Kind::Internal
        )
    }
}

/// One thing wrong with one field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// What kind of wrong.
    pub kind: Kind,
    /// Path as users write it: `spec.ports[0].name`.
    pub field: String,
    /// The offending value; `None` where upstream omits it.
    pub value: Option<Value>,
    /// The rest of the sentence; may be empty.
    pub detail: String,
}

impl FieldError {
    /// An error of any kind.
    pub fn new(kind: Kind, field: impl Into<String>, value: Option<Value>, detail: impl Into<String>) -> Self {
        FieldError {
            kind,
            field: field.into(),
            value,
            detail: detail.into(),
        }
    }

    /// A malformed value.
    pub fn invalid(field: impl Into<String>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, field, Some(value.into()), detail)
    }

    /// A missing value.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Kind::Required, field, None, detail)
    }

    /// A value that may not be set.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Kind::Forbidden, field, None, detail)
    }

    /// A value outside an enumeration; the choices are listed in the message.
    pub fn not_supported(field: impl Into<String>, value: impl Into<Value>, choices: &[&str]) -> Self {
        let quoted: Vec<String> = choices.iter().map(|c| format!("{c:?}")).collect();
        let detail = if quoted.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", quoted.join(", "))
        };
        Self::new(Kind::NotSupported, field, Some(value.into()), detail)
    }

    /// A repeated value.
    pub fn duplicate(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(Kind::Duplicate, field, Some(value.into()), "")
    }

    /// A text longer than `max` bytes.
    pub fn too_long(field: impl Into<String>, max: usize) -> Self {
        Self::new(Kind::TooLong, field, None, format!("may not be more than {max} bytes"))
    }

    /// A list longer than `max` items.
    pub fn too_many(field: impl Into<String>, actual: usize, max: usize) -> Self {
        Self::new(
            Kind::TooMany,
            field,
            Some(actual.into()),
            format!("must have at most {max} item{}", if max == 1 { "" } else { "s" }),
        )
    }

    /// The message without the field: the text of a cause.
    pub fn body(&self) -> String {
        let mut text = self.kind.text().to_owned();
        if let (true, Some(value)) = (self.kind.shows_value(), &self.value) {
            text.push_str(": ");
            text.push_str(&value.to_string());
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

/// Several errors as one text: alone as it is, several in brackets, repeated texts once. This is what follows
/// `… is invalid: ` in a Status message.
pub fn aggregate(errors: &[FieldError]) -> String {
    let mut texts: Vec<String> = Vec::with_capacity(errors.len());
    for error in errors {
        let text = error.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

/// `parent.child`, or `child` where the parent is the root.
pub fn child(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}.{name}")
    }
}

/// `parent[3]`.
pub fn index(parent: &str, position: usize) -> String {
    format!("{parent}[{position}]")
}

/// `parent[key]`.
pub fn key(parent: &str, name: &str) -> String {
    format!("{parent}[{name}]")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_read_like_upstream() {
        assert_eq!(
            FieldError::invalid("spec.replicas", -1, "must be greater than or equal to 0").to_string(),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
        );
        assert_eq!(FieldError::required("a.b", "").to_string(), "a.b: Required value");
        assert_eq!(
            FieldError::not_supported("type", "X", &["A", "B"]).to_string(),
            r#"type: Unsupported value: "X": supported values: "A", "B""#
        );
        assert_eq!(
            FieldError::invalid("s", json!({"a": ["b"]}), "no").body(),
            r#"Invalid value: {"a":["b"]}: no"#
        );
    }

    #[test]
    fn several_errors_are_bracketed_and_repetitions_dropped() {
        let a = FieldError::required("a", "");
        let b = FieldError::forbidden("b", "no");
        assert_eq!(aggregate(std::slice::from_ref(&a)), "a: Required value");
        assert_eq!(aggregate(&[a.clone(), b, a]), "[a: Required value, b: Forbidden: no]");
    }
}
