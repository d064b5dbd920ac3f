//! Selectors: a selector's text form selects the same, and an operator's opposite selects everything else.

use kubeschema::selector::{FieldSelector, LabelSelector, Operator, Requirement};
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
            selects_what_its_parts_do(&selector, &labels);
        }
        if let Ok(selector) = FieldSelector::parse(text) {
            fields(&selector, &labels);
        }
    }
    if let Ok(selector) = LabelSelector::from_json(&goyaml::parse(&selector).unwrap_or_default()) {
        selects_what_its_parts_do(&selector, &labels);
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

fn selects_what_its_parts_do(selector: &LabelSelector, labels: &Value) {
    let parts = selector.requirements();
    let all = parts.iter().all(|part| part.matches(labels));
    assert!(
        parts.is_empty() || selector.matches(labels) == all,
        "{selector} is not what its parts say"
    );
    for part in parts {
        let opposite = match part.operator() {
            Operator::In => Operator::NotIn,
            Operator::NotIn => Operator::In,
            Operator::Equals | Operator::DoubleEquals => Operator::NotEquals,
            Operator::NotEquals => Operator::Equals,
            Operator::Exists => Operator::DoesNotExist,
            Operator::DoesNotExist => Operator::Exists,
            // Neither holds for a label that is no number.
            Operator::GreaterThan | Operator::LessThan => continue,
        };
        match Requirement::new(part.key(), opposite, part.values().to_vec()) {
            Ok(opposite) => assert_ne!(
                opposite.matches(labels),
                part.matches(labels),
                "{part} and {opposite} of {labels}"
            ),
            Err(errors) => panic!("{part} has no opposite: {errors:?}"),
        }
    }
}

fn fields(selector: &FieldSelector, values: &Value) {
    let read = |field: &str| values.get(field).and_then(Value::as_str);
    assert!(!selector.is_everything() || selector.matches(read));
    let mut wanted = selector.terms.clone();
    let texts: Vec<String> = wanted
        .iter()
        .map(|term| {
            let value: String = term
                .value
                .chars()
                .flat_map(|letter| {
                    matches!(letter, '\\' | ',' | '=')
                        .then_some('\\')
                        .into_iter()
                        .chain([letter])
                })
                .collect();
            format!("{}{}{value}", term.field, if term.equal { "=" } else { "!=" })
        })
        .collect();
    let text = texts.join(",");
    let again = match FieldSelector::parse(&text) {
        Ok(again) => again,
        Err(error) => panic!("{text:?} cannot be read back: {error}"),
    };
    assert_eq!(
        again.matches(read),
        selector.matches(read),
        "{text} selects something else"
    );
    // The terms are in the order of their text, which has lost its `==`.
    let mut found = again.terms;
    for terms in [&mut found, &mut wanted] {
        terms.sort_by(|left, right| {
            (&left.field, left.equal, &left.value).cmp(&(&right.field, right.equal, &right.value))
        });
    }
    assert_eq!(found, wanted, "{text}");
    for term in wanted.iter().filter(|term| term.equal) {
        assert!(
            selector.exact(&term.field).is_some(),
            "{text} does not ask for {}",
            term.field
        );
    }
}
