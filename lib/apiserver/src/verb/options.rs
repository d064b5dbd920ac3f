//! What a write's query asks for beside its object: dry run, field manager, strictness, force.
//!
//! Mirrors upstream's create, update and patch options: every fault of them is told at once, before the body is read.

use super::{Media, Request};
use crate::status::{Cause, Result, Status};

/// Longest name of a field manager.
const LONGEST_MANAGER: usize = 128;

/// Judges the options of a write called `kind` in messages; whether it is a dry run.
///
/// # Errors
/// 422 with a cause per option.
pub(super) fn read(request: &Request, kind: &'static str) -> Result<bool> {
    let query = &request.query;
    let mut causes = Vec::new();
    let manager = query.get("fieldManager");
    if kind == "PatchOptions" {
        force(request, manager, &mut causes);
    }
    if manager.len() > LONGEST_MANAGER {
        let message = format!("Too long: may not be more than {LONGEST_MANAGER} bytes");
        causes.push(Cause::new("FieldValueTooLong", "fieldManager", message));
    }
    for letter in manager.chars().filter(|letter| letter.is_control()) {
        let message = format!("Invalid value: {letter:?}: should only contain printable characters");
        causes.push(Cause::new("FieldValueInvalid", "fieldManager", message));
    }
    let dry_run: Vec<&str> = query.all("dryRun").collect();
    causes.extend(not_all(&dry_run));
    let strictness = query.get("fieldValidation");
    if !matches!(strictness, "" | "Ignore" | "Warn" | "Strict") {
        let message =
            format!("Unsupported value: \"{strictness}\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
        causes.push(Cause::new("FieldValueNotSupported", "fieldValidation", message));
    }
    if causes.is_empty() {
        Ok(!dry_run.is_empty())
    } else {
        Err(Box::new(Status::invalid("meta.k8s.io", kind, "", causes)))
    }
}

/// Applying needs a manager; nothing else may be forced.
fn force(request: &Request, manager: &str, causes: &mut Vec<Cause>) {
    let applies = request.media == Media::ApplyPatch;
    if applies && manager.is_empty() {
        let message = "Required value: is required for apply patch";
        causes.push(Cause::new("FieldValueRequired", "fieldManager", message));
    }
    if !applies && request.query.has("force") {
        let message = "Forbidden: may not be specified for non-apply patch";
        causes.push(Cause::new("FieldValueForbidden", "force", message));
    }
}

/// What is wrong with stages of a dry run other than all of them.
pub(super) fn not_all(values: &[&str]) -> Option<Cause> {
    if values.iter().all(|value| *value == "All") {
        return None;
    }
    let list: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    let message = format!("Unsupported value: [{}]: supported values: \"All\"", list.join(","));
    Some(Cause::new("FieldValueNotSupported", "dryRun", message))
}
