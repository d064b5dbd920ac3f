//! Schemas that are combined: all of them, any of them, one of them, and not this one.
//!
//! Mirrors upstream's messages: what is combined has no field of its own, and of several alternatives that do not fit the
//! one that got furthest is told.

use kubeschema::field::FieldError;
use serde_json::Value;

use super::check;
use super::node::Node;

/// What a value breaks of one alternative, and how many values in it were looked at: of several alternatives that do not
/// fit, the one that got furthest is told.
fn attempt(node: &Node, value: &Value, path: &str) -> (Vec<FieldError>, usize) {
    let mut found = Vec::new();
    check::check(node, value, None, path, &mut found);
    (found, reached(node, value))
}

fn reached(node: &Node, value: &Value) -> usize {
    let below: usize = match value {
        Value::Object(map) => map
            .iter()
            .filter_map(|(name, value)| {
                let inner = node.properties.get(name).or(node.additional.as_deref())?;
                Some(reached(inner, value))
            })
            .sum(),
        Value::Array(items) => {
            let inner = node.items.as_deref();
            inner.map_or(0, |inner| items.iter().map(|item| reached(inner, item)).sum())
        }
        _ => 0,
    };
    1 + below
}

/// The faults of the alternative that got furthest, the first of several.
fn furthest(attempts: Vec<(Vec<FieldError>, usize)>) -> Vec<FieldError> {
    let mut best: Option<(Vec<FieldError>, usize)> = None;
    for attempt in attempts {
        if best.as_ref().is_none_or(|best| attempt.1 > best.1) {
            best = Some(attempt);
        }
    }
    best.map(|(faults, _)| faults).unwrap_or_default()
}

/// Judges a value by the schemas that are combined at a node.
pub(super) fn check(node: &Node, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let place = check::body(path);
    let attempts = |alternatives: &[Node]| -> Vec<(Vec<FieldError>, usize)> {
        alternatives.iter().map(|inner| attempt(inner, value, path)).collect()
    };
    let must = |detail: &str| FieldError::invalid("<nil>", "", format!("{place:?} must {detail}"));
    let fitting =
        |attempts: &[(Vec<FieldError>, usize)]| attempts.iter().filter(|(faults, _)| faults.is_empty()).count();
    let any = attempts(&node.any_of);
    if !any.is_empty() && fitting(&any) == 0 {
        errors.push(must("validate at least one schema (anyOf)"));
        errors.extend(furthest(any));
    }
    let one = attempts(&node.one_of);
    match fitting(&one) {
        _ if one.is_empty() => {}
        1 => {}
        0 => {
            errors.push(must("validate one and only one schema (oneOf). Found none valid"));
            errors.extend(furthest(one));
        }
        several => errors.push(must(&format!(
            "validate one and only one schema (oneOf). Found {several} valid alternatives"
        ))),
    }
    let all = attempts(&node.all_of);
    let fit = fitting(&all);
    let wanted = all.len();
    errors.extend(all.into_iter().flat_map(|(faults, _)| faults));
    if fit < wanted {
        let none = if fit == 0 { ". None validated" } else { "" };
        errors.push(must(&format!("validate all the schemas (allOf){none}")));
    }
    if let Some(inner) = &node.not
        && attempt(inner, value, path).0.is_empty()
    {
        errors.push(must("not validate the schema (not)"));
    }
}
