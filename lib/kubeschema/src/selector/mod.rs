//! Selectors: which labels or fields an object must have to be picked, from text (`a=b,c in (d)`) and from the JSON
//! of a LabelSelector.
//!
//! Mirrors upstream's `labels.Selector`, `fields.Selector` and `metav1.LabelSelectorAsSelector`, error texts included.

mod field;
mod label;
mod parse;

pub use self::field::{FieldSelector, FieldTerm};
pub use self::label::{LabelSelector, Labels, Operator, Requirement};

/// Why a selector cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The text does not follow the grammar.
    #[error("{0}")]
    Syntax(String),
    /// A requirement is malformed where it stands in a text.
    #[error("unable to parse requirement: {}", crate::field::aggregate(.0))]
    Parsed(Vec<crate::field::FieldError>),
    /// A requirement is malformed.
    #[error("{}", crate::field::aggregate(.0))]
    Requirement(Vec<crate::field::FieldError>),
    /// `matchExpressions` names an operator that does not exist.
    #[error("{0:?} is not a valid label selector operator")]
    Operator(String),
    /// The JSON is not shaped like a LabelSelector.
    #[error("label selector has a malformed {0}")]
    Shape(&'static str),
    /// A field selector's term has no operator.
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Term {
        /// The whole selector.
        selector: String,
        /// The part that has no operator.
        term: String,
    },
    /// A field selector's value has a bad escape.
    #[error("invalid field selector: invalid escape sequence: {0}")]
    Escape(String),
    /// A field selector's value has a character that must be escaped.
    #[error("invalid field selector: unescaped character in value: {0}")]
    Unescaped(char),
}
