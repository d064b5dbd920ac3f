//! Selectors: a selector's text form selects the same.

use kubeschema::selector::{FieldSelector, LabelSelector};
use serde_json::{Value, json};

use crate::section;

/// A selector's text, then a LabelSelector and labels as YAML.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let [text, selector, labels] = section::parts(text);
    let labels = goyaml::parse(&labels).unwrap_or_default();
    let labels = if labels.is_object() {
        labels
    } else {
        json!({"a": "b", "n": "5"})
    };
    for text in [text.as_str(), text.trim_end()] {
        if let Ok(selector) = LabelSelector::parse(text) {
            same_text_form(&selector, &labels);
        }
        if let Ok(selector) = FieldSelector::parse(text) {
            let read = |field: &str| labels.get(field).and_then(Value::as_str);
            assert_eq!(selector.matches(read), selector.matches(read));
            assert!(!selector.is_everything() || selector.matches(read));
        }
    }
    if let Ok(selector) = LabelSelector::from_json(&goyaml::parse(&selector).unwrap_or_default()) {
        let _ = selector.matches(&labels);
        if !selector.requirements().is_empty() {
            same_text_form(&selector, &labels);
        }
    }
}

fn same_text_form(selector: &LabelSelector, labels: &Value) {
    let text = selector.to_string();
    match LabelSelector::parse(&text) {
        Ok(again) => {
            assert_eq!(again.to_string(), text, "another text form the second time");
            assert_eq!(
                again.matches(labels),
                selector.matches(labels),
                "{text} selects something else"
            );
        }
        Err(error) => panic!("{text:?} cannot be read back: {error}"),
    }
    assert!(!selector.is_everything() || selector.matches(labels));
}
