//! The one error of this crate: a message and the place it is about.

/// Why a text is not acceptable YAML, or a value has no YAML form.
///
/// `line` and `column` count from 1; both are 0 where there is no text to point into (writing).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", position(*.line, *.column))]
pub struct Error {
    /// Line of the problem, from 1; 0 if there is none.
    pub line: usize,
    /// Column of the problem in characters, from 1; 0 if there is none.
    pub column: usize,
    /// What is wrong, lower case, without the position.
    pub message: String,
}

impl Error {
    pub(crate) fn at(line: usize, column: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            column,
            message: message.into(),
        }
    }
}

fn position(line: usize, column: usize) -> String {
    if line == 0 {
        String::new()
    } else {
        format!("line {line}, column {column}: ")
    }
}
