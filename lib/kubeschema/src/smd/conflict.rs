//! Conflicts and how they are told.

use super::manager::{Entry, Operation};
use super::path;

/// One field that somebody else owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Who: `"one" with subresource "status" using v1`.
    pub owner: String,
    /// Where: `.spec.replicas`.
    pub field: String,
    /// Sorting key of the owner.
    pub(super) identity: String,
    /// The path.
    pub(super) path: Vec<String>,
}

impl Conflict {
    pub(super) fn new(entry: &Entry, path: Vec<String>) -> Self {
        let mut owner = format!("{:?}", entry.manager);
        if !entry.subresource.is_empty() {
            owner.push_str(&format!(" with subresource {:?}", entry.subresource));
        }
        if entry.operation == Operation::Update {
            owner.push_str(&format!(" using {}", entry.api_version));
        }
        Conflict {
            owner,
            field: path::text(&path),
            identity: entry.identity(),
            path,
        }
    }

    /// The message of its cause.
    pub fn cause(&self) -> String {
        format!("conflict with {}", self.owner)
    }
}

/// The message of the whole answer.
pub(super) fn message(conflicts: &[Conflict]) -> String {
    if let [one] = conflicts {
        return format!(
            "Apply failed with 1 conflict: conflict with {}: {}",
            one.owner, one.field
        );
    }
    let mut sorted: Vec<&Conflict> = conflicts.iter().collect();
    sorted.sort_by(|a, b| a.identity.cmp(&b.identity));
    let mut lines: Vec<String> = Vec::new();
    let mut last = "";
    for conflict in sorted {
        if conflict.identity != last {
            lines.push(format!("conflicts with {}:", conflict.owner));
            last = &conflict.identity;
        }
        lines.push(format!("- {}", conflict.field));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}
