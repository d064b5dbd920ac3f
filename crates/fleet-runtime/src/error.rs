//! Failed calls of the Kubernetes API as typed errors: what was being done to which object, and
//! the server's answer. Wraps the client's errors once, because their `Display` repeats the
//! source.

use crate::disposition::Failure;

/// A failed call.
#[derive(Debug, thiserror::Error)]
#[error("{action} {object}")]
pub struct Error {
    /// Verb, e.g. `create`.
    pub action: &'static str,
    /// Kind and name, e.g. `secret 'ns/name'`.
    pub object: String,
    /// What came back.
    #[source]
    pub cause: Cause,
}

/// What came back from a call.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The server refused.
    #[error("{}", .0.message)]
    Refused(Box<kube::core::Status>),
    /// The call did not get through, or its answer is not understood.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// A failure with a message of our own.
    #[must_use]
    pub fn new(action: &'static str, object: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            action,
            object: object.into(),
            cause: Cause::Failed(message.into()),
        }
    }

    /// HTTP status code; 0 if there was no answer.
    #[must_use]
    pub fn code(&self) -> u16 {
        match &self.cause {
            Cause::Refused(status) => status.code,
            Cause::Failed(_) => 0,
        }
    }

    /// The object (or its namespace) does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.code() == 404
    }

    /// A create met an existing object.
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        matches!(&self.cause, Cause::Refused(status) if status.code == 409 && status.reason == "AlreadyExists")
    }

    /// Somebody wrote in between.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.code() == 409 && !self.is_already_exists()
    }

    /// The account lacks a right.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.code() == 403
    }

    /// The object itself is refused; the same write cannot succeed later.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        matches!(self.code(), 400 | 422)
    }
}

impl Failure for Error {}

impl From<kube::Error> for Cause {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Refused(status),
            other => Self::Failed(crate::chain(&other)),
        }
    }
}

/// Says what was being done when a call failed.
pub trait ResultExt<T> {
    /// Wraps the error. `object` is made only on failure.
    ///
    /// # Errors
    /// The wrapped error.
    fn doing<S: Into<String>>(self, action: &'static str, object: impl FnOnce() -> S) -> Result<T, Error>;
    /// The same, with "not there" as `None`.
    ///
    /// # Errors
    /// The wrapped error, except 404.
    fn unless_missing<S: Into<String>>(
        self,
        action: &'static str,
        object: impl FnOnce() -> S,
    ) -> Result<Option<T>, Error>;
}

impl<T> ResultExt<T> for Result<T, kube::Error> {
    fn doing<S: Into<String>>(self, action: &'static str, object: impl FnOnce() -> S) -> Result<T, Error> {
        self.map_err(|error| Error {
            action,
            object: object().into(),
            cause: error.into(),
        })
    }

    fn unless_missing<S: Into<String>>(
        self,
        action: &'static str,
        object: impl FnOnce() -> S,
    ) -> Result<Option<T>, Error> {
        match self.doing(action, object) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16, reason: &str) -> Error {
        let status = kube::core::Status::failure("no", reason).with_code(code);
        Err::<(), _>(kube::Error::Api(Box::new(status)))
            .doing("create", || "thing 'a'")
            .unwrap_err()
    }

    #[test]
    fn answers_are_told_apart_by_code_and_reason() {
        assert!(refused(409, "AlreadyExists").is_already_exists());
        assert!(!refused(409, "AlreadyExists").is_conflict());
        assert!(refused(409, "Conflict").is_conflict());
        assert!(refused(404, "NotFound").is_not_found());
        assert_eq!(crate::chain(&refused(403, "Forbidden")), "create thing 'a': no");
    }
}
