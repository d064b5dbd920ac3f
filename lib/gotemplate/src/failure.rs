//! Why a function failed, before it is known where in the template it was called.

use crate::error::Error;

/// A function's error.
#[derive(Debug)]
pub enum Failure {
    /// A message of the function's own.
    Message(String),
    /// A template that the function ran failed; Go prints the inner error after the outer one.
    Template(Box<Error>),
    /// The template wants the execution to stop; the error shows only where the outermost template stood.
    Raised(String),
    /// A limit of the machine was reached: nothing may go on.
    Limit(String),
}

impl Failure {
    /// What a function makes of its result that has no `must` in its name: nothing where it failed, unless a limit was
    /// reached.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn forgive<T: Default>(result: Result<T, Failure>) -> Result<T, Failure> {
        match result {
            Err(limit @ Self::Limit(_)) => Err(limit),
            other => Ok(other.unwrap_or_default()),
        }
    }

    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Template(Box::new(error))
    }
}

impl From<goyaml::Error> for Failure {
    fn from(error: goyaml::Error) -> Self {
        Self::Message(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}
