//! Field selectors: equality conditions on single fields (`metadata.name=x,spec.nodeName!=y`).
//!
//! Which fields may be selected is a matter of the kind; this module only reads the text.

use super::Error;

/// One condition on one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTerm {
    /// Path of the field as it was written.
    pub field: String,
    /// The value compared with, unescaped.
    pub value: String,
    /// True for `=` and `==`, false for `!=`.
    pub equal: bool,
}

/// Conditions that must all hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSelector {
    /// The conditions, in the order of their text.
    pub terms: Vec<FieldTerm>,
}

impl FieldSelector {
    /// Reads the text form; the empty text picks everything.
    ///
    /// # Errors
    /// For a term without an operator and for bad escapes in values.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut parts = split(text);
        parts.sort_unstable();
        let mut terms = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let Some((field, equal, value)) = term(part) else {
                return Err(Error::Term {
                    selector: text.to_owned(),
                    term: part.to_owned(),
                });
            };
            terms.push(FieldTerm {
                field: field.to_owned(),
                value: unescape(value)?,
                equal,
            });
        }
        Ok(FieldSelector { terms })
    }

    /// Whether an object is picked, whose fields `read` answers; an absent field counts as the empty text.
    pub fn matches<'a>(&self, read: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.terms
            .iter()
            .all(|term| (read(&term.field).unwrap_or_default() == term.value) == term.equal)
    }

    /// The value that `field` must have, if a term says so.
    pub fn exact(&self, field: &str) -> Option<&str> {
        self.terms
            .iter()
            .find(|term| term.equal && term.field == field)
            .map(|term| term.value.as_str())
    }

    /// Whether there are no conditions.
    pub fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }
}

/// At commas that are not escaped.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (position, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                parts.push(&text[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn term(part: &str) -> Option<(&str, bool, &str)> {
    let position = part.char_indices().map(|(i, _)| i).find(|i| {
        let rest = &part[*i..];
        rest.starts_with("!=") || rest.starts_with('=')
    })?;
    let rest = &part[position..];
    let (equal, value) = match rest.strip_prefix("!=") {
        Some(value) => (false, value),
        None => (true, rest.strip_prefix("==").or_else(|| rest.strip_prefix('='))?),
    };
    Some((&part[..position], equal, value))
}

fn unescape(value: &str) -> Result<String, Error> {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                Some(other) => return Err(Error::Escape(format!("\\{other}"))),
                None => return Err(Error::Escape("\\".to_owned())),
            },
            ',' | '=' => return Err(Error::Unescaped(character)),
            other => plain.push(other),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks(selector: &str, name: &str) -> bool {
        FieldSelector::parse(selector)
            .unwrap()
            .matches(|field| (field == "metadata.name").then_some(name))
    }

    #[test]
    fn terms_compare_for_equality() {
        assert!(picks("", "a"));
        assert!(picks("metadata.name=a", "a") && picks("metadata.name==a", "a") && !picks("metadata.name=b", "a"));
        assert!(picks("metadata.name!=b", "a") && !picks("metadata.name!=a", "a"));
        assert!(picks("spec.x=", "a") && !picks("spec.x=y", "a"));
    }

    #[test]
    fn commas_and_equal_signs_in_values_need_a_backslash() {
        assert!(picks(r"metadata.name=a\,b\=c", "a,b=c"));
        assert_eq!(FieldSelector::parse("a=b=c"), Err(Error::Unescaped('=')));
        assert_eq!(FieldSelector::parse(r"a=\x"), Err(Error::Escape(r"\x".to_owned())));
        assert_eq!(
            FieldSelector::parse("a=b,c").unwrap_err().to_string(),
            "invalid selector: 'a=b,c'; can't understand 'c'"
        );
    }

    #[test]
    fn the_exact_value_of_a_field_can_be_asked() {
        let selector = FieldSelector::parse("metadata.name=a,metadata.namespace!=b").unwrap();
        assert_eq!(selector.exact("metadata.name"), Some("a"));
        assert_eq!(selector.exact("metadata.namespace"), None);
    }
}
