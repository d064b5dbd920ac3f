//! The one error of this crate: which file, which field, what.

/// Why a kustomization cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {}{message}", field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default())]
pub struct Error {
    /// The file, relative to the root of the files.
    pub file: String,
    /// The field of the kustomization, such as `patches[0].path`; absent if the file as a whole is wrong.
    pub field: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl Error {
    pub(crate) fn file(file: &str, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            field: None,
            message: message.into(),
        }
    }

    pub(crate) fn field(file: &str, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            field: Some(field.into()),
            message: message.into(),
        }
    }
}
