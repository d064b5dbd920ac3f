//! What users said is no difference: rules in the bundle that take fields out of both sides, and
//! that hide objects which are not there. Mirrors upstream's `comparePatches`.

use fleet_api::{ComparePatch, DiffOptions};
use kubeschema::patch::json;
use regex::Regex;
use serde_json::{Value, json};

use crate::object::{self, ObjectKey};

const IGNORE: &str = "ignore";

fn rules(options: Option<&DiffOptions>) -> &[ComparePatch] {
    options
        .map(|options| options.compare_patches.as_slice())
        .unwrap_or_default()
}

/// Takes out of both sides what the rules for this object name.
pub(super) fn ignore(options: Option<&DiffOptions>, key: &ObjectKey, desired: &mut Value, live: &mut Value) {
    for side in [desired, live] {
        for rule in rules(options).iter().filter(|rule| is_near(rule, key)) {
            for pointer in &rule.json_pointers {
                // A field that is not there needs no removing.
                let _ = json::apply(side, &json!([{"op": "remove", "path": pointer}]));
            }
        }
        operate(rules(options), key, side);
    }
}

/// Applies the operations of all rules for exactly this object: one that fails takes the others
/// with it.
fn operate(rules: &[ComparePatch], key: &ObjectKey, side: &mut Value) {
    let operations: Vec<Value> = rules
        .iter()
        .filter(|rule| is_exact(rule, key) && rule.name == key.name)
        .flat_map(|rule| &rule.operations)
        .filter(|operation| operation.op != IGNORE)
        .map(|operation| {
            // A value that is no JSON is text.
            let value: Value =
                serde_json::from_str(&operation.value).unwrap_or_else(|_| operation.value.clone().into());
            json!({"op": operation.op, "path": operation.path, "value": value})
        })
        .collect();
    let _ = json::apply(side, &Value::Array(operations));
}

/// Whether the absence of an object is no difference.
#[must_use]
pub fn absence_is_ignored(key: &ObjectKey, options: Option<&DiffOptions>) -> bool {
    rules(options).iter().any(|rule| {
        rule.operations.iter().any(|operation| operation.op == IGNORE)
            && is_exact(rule, key)
            && (rule.name.is_empty()
                || rule.name == key.name
                || Regex::new(&rule.name).is_ok_and(|expression| expression.is_match(&key.name)))
    })
}

/// Kind and namespace, letter by letter.
fn is_exact(rule: &ComparePatch, key: &ObjectKey) -> bool {
    rule.api_version == key.api_version && rule.kind == key.kind && rule.namespace == key.namespace
}

/// Group and kind as patterns, in any version; name and namespace where the rule gives them.
fn is_near(rule: &ComparePatch, key: &ObjectKey) -> bool {
    let given = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
    glob(object::split_api_version(&rule.api_version).0, key.group_version().0)
        && glob(&rule.kind, &key.kind)
        && given(&rule.namespace, &key.namespace)
        && given(&rule.name, &key.name)
}

/// A pattern of `*`, `?`, `[abc]`, `[!abc]` and `{one,other}`. One that cannot be read matches
/// itself alone.
fn glob(pattern: &str, text: &str) -> bool {
    let mut expression = String::from("^");
    let mut depth = 0_usize;
    let mut class = false;
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                let next = characters.next().unwrap_or(character);
                expression.push_str(&regex::escape(&next.to_string()));
            }
            ']' if class => {
                class = false;
                expression.push(']');
            }
            other if class => expression.push(other),
            '*' => expression.push_str(".*"),
            '?' => expression.push('.'),
            '[' => {
                class = true;
                expression.push('[');
                if characters.next_if_eq(&'!').is_some() {
                    expression.push('^');
                }
            }
            '{' => {
                depth += 1;
                expression.push_str("(?:");
            }
            '}' if depth > 0 => {
                depth -= 1;
                expression.push(')');
            }
            ',' if depth > 0 => expression.push('|'),
            other => expression.push_str(&regex::escape(&other.to_string())),
        }
    }
    expression.push('$');
    Regex::new(&expression).map_or(pattern == text, |expression| expression.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_words() {
        for (pattern, text, matches) in [
            ("*", "", true),
            ("*", "apps", true),
            ("Config*", "ConfigMap", true),
            ("Config", "ConfigMap", false),
            ("?aemonSet", "DaemonSet", true),
            ("[DS]*Set", "StatefulSet", true),
            ("[!D]*Set", "DaemonSet", false),
            ("{Deployment,StatefulSet}", "StatefulSet", true),
            ("{Deployment,StatefulSet}", "DaemonSet", false),
            ("*.cattle.io", "fleet.cattle.io", true),
            ("*.cattle.io", "fleetxcattle.io", false),
            ("[", "[", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
        ] {
            assert_eq!(glob(pattern, text), matches, "{pattern} {text}");
        }
    }
}
