//! The one error of this crate: a message and the place it is about.

use crate::Dialect;

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
    told: Told,
}

/// How Go's libraries tell the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// `yaml: line N: …`; without a line if that is 0. Their lines are not always the problem's.
    Yaml(usize),
    /// The message alone.
    Bare,
}

impl Error {
    pub(crate) fn at(line: usize, column: usize, message: impl Into<String>) -> Self {
        Self::told(line, column, message, Told::Yaml(0))
    }

    pub(crate) fn told(line: usize, column: usize, message: impl Into<String>, told: Told) -> Self {
        Self {
            line,
            column,
            message: message.into(),
            told,
        }
    }

    /// The words of go-yaml (or of `sigs.k8s.io/yaml` where that refuses): `yaml: line 3: could not find expected ':'`.
    /// Its line is often not the one where the problem is; use this only where the words are compared.
    #[must_use]
    pub fn as_go_tells(&self) -> String {
        match self.told {
            Told::Yaml(0) => format!("yaml: {}", self.message),
            Told::Yaml(line) => format!("yaml: line {line}: {}", self.message),
            Told::Bare => self.message.clone(),
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

/// Which half of a reader found a problem; go-yaml counts lines differently in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finder {
    Scanner,
    Parser,
}

/// The line that go-yaml names for a problem at line `problem` in something that began at line `context` (both from 0).
pub(crate) fn named_line(dialect: Dialect, finder: Finder, context: usize, problem: usize) -> usize {
    let extra = usize::from(finder == Finder::Scanner);
    match dialect {
        Dialect::V2 if problem != 0 => problem + extra,
        Dialect::V2 => context,
        Dialect::V3 if context != 0 => context + extra,
        Dialect::V3 if problem != 0 => problem + extra,
        Dialect::V3 => 0,
    }
}
