//! YAML in both dialects: what was read and written again is the same, and says the same as JSON; and all readers of a
//! text agree about it.

use goyaml::{Dialect, Error, json, tree};
use kubeschema::strict;
use serde_json::Value;

/// Any bytes as YAML.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for dialect in [Dialect::V2, Dialect::V3] {
        let first = goyaml::parse_with(dialect, text);
        match goyaml::parse_documents_with(dialect, text) {
            Ok(documents) => {
                assert!(
                    first.is_ok(),
                    "{dialect:?}: a stream was read but not its first document: {first:?}"
                );
                let lines = lines(text);
                assert!(documents.iter().all(|document| (1..=lines).contains(&document.line)));
            }
            Err(error) => placed(text, &error),
        }
        match first {
            Ok(value) => round_trip(dialect, &value),
            Err(error) => placed(text, &error),
        }
    }
    with_repeated_keys(text);
    as_trees(text);
}

/// A server's reader differs from [`goyaml::parse`] in the digits of integers alone.
fn with_repeated_keys(text: &str) {
    match (goyaml::parse_with_repeated(text), goyaml::parse(text)) {
        (Ok((value, repeated)), Ok(parsed)) => {
            assert_eq!(
                json::to_string_of_floats(&value),
                json::to_string_of_floats(&parsed),
                "two readers, two values"
            );
            let lines = lines(text);
            assert!(
                repeated.iter().all(|key| (1..=lines).contains(&key.line)),
                "{repeated:?}"
            );
        }
        // The message may show a value, with all its digits or as a float.
        (Err(first), Err(second)) => assert_eq!((first.line, first.column), (second.line, second.column)),
        (first, second) => panic!("once {first:?}, once {second:?}"),
    }
}

fn as_trees(text: &str) {
    match tree::documents(text) {
        Ok(trees) => {
            let lines = lines(text);
            assert!(trees.iter().all(|(_, line)| (1..=lines).contains(line)));
            if let Ok(documents) = goyaml::parse_documents_with(Dialect::V3, text) {
                let begun: Vec<usize> = documents.iter().map(|document| document.line).collect();
                let trees: Vec<usize> = trees.iter().map(|(_, line)| *line).collect();
                assert_eq!(trees, begun, "two readers, two streams");
            }
        }
        Err(error) => placed(text, &error),
    }
}

fn lines(text: &str) -> usize {
    1 + text.matches(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count()
}

/// An error names a place in the text, or the first place after it.
fn placed(text: &str, error: &Error) {
    let lines = lines(text);
    assert!((1..=lines).contains(&error.line), "{error} in a text of {lines} lines");
}

fn round_trip(dialect: Dialect, value: &Value) {
    let text = json::to_string(value);
    let back: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
    assert_eq!(json::to_string(&back), text, "JSON does not read back");
    assert!(strict::scan(&text).duplicates.is_empty(), "a field twice in {text}");
    // Go writes the key of a merge as it stands and reads it back as a merge, a negative zero without its sign, and (the
    // newer dialect) a block that begins with a tab, which it refuses to read.
    let lost = |value: &Value| {
        let begins_with_tab =
            |text: &str| text.trim_start_matches(['\n', ' ']).starts_with('\t') && text.contains('\n');
        is_negative_zero(value)
            || has_merge_key(value)
            || value.as_str().is_some_and(begins_with_tab)
            || value
                .as_object()
                .is_some_and(|entries| entries.keys().any(|key| begins_with_tab(key)))
    };
    if has(value, &lost) {
        return;
    }
    let Ok(yaml) = goyaml::to_yaml_with(dialect, value) else {
        return;
    };
    let again = goyaml::parse_with(dialect, &yaml).unwrap_or_else(|error| panic!("{dialect:?}: {error} in\n{yaml}"));
    // Some texts change on their way through JSON (U+0085); what came back does not change any more.
    if !text.contains('\u{85}') {
        assert_eq!(
            json::to_string(&again),
            text,
            "{dialect:?}: does not read back:\n{yaml}"
        );
    }
    assert_eq!(
        goyaml::to_yaml_with(dialect, &again).as_deref(),
        Ok(yaml.as_str()),
        "{dialect:?}: is written differently the second time"
    );
}

fn has(value: &Value, what: &dyn Fn(&Value) -> bool) -> bool {
    what(value)
        || match value {
            Value::Array(items) => items.iter().any(|item| has(item, what)),
            Value::Object(entries) => entries.values().any(|value| has(value, what)),
            _ => false,
        }
}

fn has_merge_key(value: &Value) -> bool {
    value.as_object().is_some_and(|entries| entries.contains_key("<<"))
}

fn is_negative_zero(value: &Value) -> bool {
    value.is_f64()
        && value
            .as_f64()
            .is_some_and(|number| number == 0.0 && number.is_sign_negative())
}
