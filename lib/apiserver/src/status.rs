//! Kubernetes' `Status` object: what every refused request gets as its body.
//!
//! Mirrors upstream's `metav1.Status` and the constructors of `apimachinery/api/errors`. The texts are an interface:
//! clients search for them.

use serde_json::{Map, Value, json};

/// A failure as the client sees it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// HTTP status code.
    pub code: u16,
    /// Machine readable reason, for example `NotFound`; may be empty.
    pub reason: &'static str,
    /// Text for people.
    pub message: String,
    /// What it is about.
    pub details: Option<Details>,
    /// Warnings that come with the refusal, as headers.
    pub warnings: Vec<String>,
}

/// The object a [`Status`] is about, and the single causes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Details {
    /// Name of the object.
    pub name: String,
    /// API group.
    pub group: String,
    /// Plural resource name, or the kind for invalid objects.
    pub kind: String,
    /// Uid of the object.
    pub uid: String,
    /// What is wrong in particular.
    pub causes: Vec<Cause>,
    /// Seconds after which to try again.
    pub retry_after: Option<u32>,
}

/// One thing that is wrong, usually with one field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cause {
    /// For example `FieldValueRequired`, `FieldValueInvalid`, `FieldManagerConflict`.
    pub reason: &'static str,
    /// What is wrong, for example `Required value` or `Invalid value: "x": must be …`.
    pub message: String,
    /// Path of the field, for example `spec.replicas`.
    pub field: String,
}

impl Cause {
    /// A cause about one field.
    pub fn new(reason: &'static str, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            field: field.into(),
        }
    }
}

impl Status {
    /// A bare failure.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: None,
            warnings: Vec::new(),
        }
    }

    /// Puts warnings before those there are.
    #[must_use]
    pub fn warned(mut self: Box<Self>, warnings: &[String]) -> Box<Self> {
        self.warnings.splice(0..0, warnings.iter().cloned());
        self
    }

    /// Adds what it is about.
    #[must_use]
    pub fn about(mut self, group: &str, kind: &str, name: &str) -> Self {
        let details = self.details.get_or_insert_with(Details::default);
        group.clone_into(&mut details.group);
        kind.clone_into(&mut details.kind);
        name.clone_into(&mut details.name);
        self
    }

    /// 400 `BadRequest`.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 401 `Unauthorized`.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 404 of one object, `resource.group "name" not found`.
    #[must_use]
    pub fn not_found(group: &str, resource: &str, name: &str) -> Self {
        let what = qualified(resource, group);
        Self::new(404, "NotFound", format!("{what} \"{name}\" not found")).about(group, resource, name)
    }

    /// 404 of a path that is not served.
    #[must_use]
    pub fn no_such_path() -> Self {
        let mut status = Self::new(404, "NotFound", "the server could not find the requested resource");
        status.details = Some(Details::default());
        status
    }

    /// 409 `AlreadyExists`.
    #[must_use]
    pub fn already_exists(group: &str, resource: &str, name: &str) -> Self {
        let what = qualified(resource, group);
        Self::new(409, "AlreadyExists", format!("{what} \"{name}\" already exists")).about(group, resource, name)
    }

    /// 409 `Conflict` with the standard sentence around its cause.
    #[must_use]
    pub fn conflict(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let what = qualified(resource, group);
        Self::new(
            409,
            "Conflict",
            format!("Operation cannot be fulfilled on {what} \"{name}\": {why}"),
        )
        .about(group, resource, name)
    }

    /// 409 for a stale resourceVersion.
    #[must_use]
    pub fn modified(group: &str, resource: &str, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(group, resource, name, why)
    }

    /// 403 `Forbidden` with the standard sentence around its cause.
    #[must_use]
    pub fn forbidden(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let what = qualified(resource, group);
        let subject = if name.is_empty() {
            format!("{what} is forbidden")
        } else {
            format!("{what} \"{name}\" is forbidden")
        };
        Self::new(403, "Forbidden", format!("{subject}: {why}")).about(group, resource, name)
    }

    /// 422 `Invalid` with one cause per wrong field.
    #[must_use]
    pub fn invalid(group: &str, kind: &str, name: &str, causes: Vec<Cause>) -> Self {
        let what = qualified(kind, group);
        let texts: Vec<String> = causes
            .iter()
            .map(|cause| {
                if cause.field.is_empty() {
                    cause.message.clone()
                } else {
                    format!("{}: {}", cause.field, cause.message)
                }
            })
            .collect();
        let text = match texts.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let mut status =
            Self::new(422, "Invalid", format!("{what} \"{name}\" is invalid: {text}")).about(group, kind, name);
        if let Some(details) = &mut status.details {
            details.causes = causes;
        }
        status
    }

    /// 405 `MethodNotAllowed`.
    #[must_use]
    pub fn method_not_allowed() -> Self {
        let mut status = Self::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
        status.details = Some(Details::default());
        status
    }

    /// 500 `InternalError`.
    pub fn internal(why: impl std::fmt::Display) -> Self {
        let mut status = Self::new(500, "InternalError", format!("Internal error occurred: {why}"));
        status.details = Some(Details {
            causes: vec![Cause::new("", "", why.to_string())],
            ..Details::default()
        });
        status
    }

    /// 410 `Expired`.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// The JSON body.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut body = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            body["reason"] = self.reason.into();
        }
        if let Some(details) = &self.details {
            body["details"] = details.to_value();
        }
        body
    }
}

impl Details {
    fn to_value(&self) -> Value {
        let mut object = Map::new();
        for (key, text) in [
            ("name", &self.name),
            ("group", &self.group),
            ("kind", &self.kind),
            ("uid", &self.uid),
        ] {
            if !text.is_empty() {
                object.insert(key.to_owned(), text.as_str().into());
            }
        }
        if !self.causes.is_empty() {
            object.insert("causes".to_owned(), self.causes.iter().map(Cause::to_value).collect());
        }
        if let Some(seconds) = self.retry_after {
            object.insert("retryAfterSeconds".to_owned(), seconds.into());
        }
        Value::Object(object)
    }
}

impl Cause {
    fn to_value(&self) -> Value {
        let mut object = Map::new();
        for (key, text) in [
            ("reason", self.reason),
            ("message", self.message.as_str()),
            ("field", self.field.as_str()),
        ] {
            if !text.is_empty() {
                object.insert(key.to_owned(), text.into());
            }
        }
        Value::Object(object)
    }
}

/// `deployments.apps`, or `secrets` in the core group.
#[must_use]
pub fn qualified(resource: &str, group: &str) -> String {
    if group.is_empty() {
        resource.to_owned()
    } else {
        format!("{resource}.{group}")
    }
}

/// The result of handling a request: an answer, or the refusal.
pub type Result<T> = std::result::Result<T, Box<Status>>;

impl From<kubeschema::field::FieldError> for Cause {
    fn from(error: kubeschema::field::FieldError) -> Self {
        let message = error.body();
        Self {
            reason: error.kind.reason(),
            message,
            field: error.field,
        }
    }
}
