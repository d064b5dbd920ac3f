//! kubectl's JSONPath: a path expression and a document → the values it reaches.
//!
//! The dialect of printer columns and `kubectl -o jsonpath`: `.a.b`, `['a.b']`, `[0]`, `[-1]`, `[0:2]`, `[0:6:2]`,
//! `[*]`, `.*`, `..name`, `['a','b']`, `[?(@.type=="Ready")]`, escaped dots (`.a\.b`). Missing keys reach nothing;
//! a path never fails once it is parsed.

mod parse;
mod walk;

use serde_json::Value;

/// Why a path cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A bracket or quote is not closed.
    #[error("unterminated {0}")]
    Unterminated(&'static str),
    /// Something that cannot stand where it stands.
    #[error("unrecognized character in path: {0:?}")]
    Unexpected(char),
    /// The content of brackets is no index, slice, name or filter.
    #[error("invalid array index {0}")]
    Index(String),
    /// A filter cannot be read.
    #[error("invalid filter {0:?}")]
    Filter(String),
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Wildcard,
    Descend,
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Index(i64),
    Union(Vec<Step>),
    Filter {
        left: Operand,
        comparison: Option<(Comparison, Operand)>,
    },
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Path(Vec<Step>, Origin),
    Literal(Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Root,
    Current,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A parsed path.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    steps: Vec<Step>,
}

impl Path {
    /// Reads a path, with or without the surrounding braces and the leading `$`.
    ///
    /// # Errors
    /// Where the text leaves the grammar.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let text = text
            .strip_prefix('{')
            .and_then(|t| t.strip_suffix('}'))
            .unwrap_or(text)
            .trim();
        let text = text.strip_prefix(['$', '@']).unwrap_or(text);
        Ok(Path {
            steps: parse::steps(text)?,
        })
    }

    /// All values reached, in document order (keys of objects sorted).
    pub fn find<'a>(&self, document: &'a Value) -> Vec<&'a Value> {
        walk::walk(&self.steps, document, document)
    }

    /// The first value reached, as text: what a printer column of type `string` shows.
    pub fn text(&self, document: &Value) -> Option<String> {
        self.find(document).first().map(|value| text(value))
    }

    /// The names of a path that is nothing but fields (`.spec.replicas`), as a scale subresource requires.
    pub fn fields(&self) -> Option<Vec<&str>> {
        self.steps
            .iter()
            .map(|step| match step {
                Step::Field(name) => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }
}

/// A value as kubectl prints it: texts bare, objects and lists as JSON.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str) -> Value {
        let document = json!({
            "spec": {"n": 3, "a.b": "dotted", "list": [1, 2, 3, 4]},
            "status": {"conditions": [
                {"type": "Ready", "status": "True", "message": "all fine", "n": 1},
                {"type": "Stalled", "status": "False", "n": 2},
            ]},
        });
        Path::parse(path)
            .unwrap()
            .find(&document)
            .into_iter()
            .cloned()
            .collect()
    }

    #[test]
    fn paths_reach_what_kubectl_reaches() {
        for (path, reached) in [
            (".spec.n", json!([3])),
            ("{.spec.n}", json!([3])),
            ("$.spec.n", json!([3])),
            ("spec.n", json!([3])),
            (r".spec.a\.b", json!(["dotted"])),
            (".spec['a.b']", json!(["dotted"])),
            (".spec.missing.deeper", json!([])),
            (".spec.list[0]", json!([1])),
            (".spec.list[-1]", json!([4])),
            (".spec.list[9]", json!([])),
            (".spec.list[]", json!([1])),
            (".status.conditions[].type", json!(["Ready"])),
            (".spec.list[1:3]", json!([2, 3])),
            (".spec.list[:-1]", json!([1, 2, 3])),
            (".spec.list[::2]", json!([1, 3])),
            (".spec.list[0,2]", json!([1, 3])),
            (".spec.list[*]", json!([1, 2, 3, 4])),
            (".status.conditions[*].type", json!(["Ready", "Stalled"])),
            (r#".status.conditions[?(@.type=="Ready")].message"#, json!(["all fine"])),
            (r".status.conditions[?(@.type=='Stalled')].status", json!(["False"])),
            (r#".status.conditions[?(@.type!="Ready")].n"#, json!([2])),
            (".status.conditions[?(@.n>1)].type", json!(["Stalled"])),
            (".status.conditions[?(@.message)].type", json!(["Ready"])),
            ("..type", json!(["Ready", "Stalled"])),
            (".status.conditions[0]['type','status']", json!(["Ready", "True"])),
        ] {
            assert_eq!(found(path), reached, "{path}");
        }
    }

    #[test]
    fn malformed_paths_are_refused() {
        for bad in [".a[", ".a[x]", ".a[?(@.b==)]", ".a[?@.b]", ".a['x]", ".a[0:1:0]", "-"] {
            assert!(Path::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn text_is_bare_for_strings_and_json_for_the_rest() {
        let document = json!({"a": "x", "b": {"c": [1]}, "d": true});
        let show = |path: &str| Path::parse(path).unwrap().text(&document);
        assert_eq!(show(".a").as_deref(), Some("x"));
        assert_eq!(show(".b").as_deref(), Some(r#"{"c":[1]}"#));
        assert_eq!(show(".d").as_deref(), Some("true"));
        assert_eq!(show(".e"), None);
    }

    #[test]
    fn only_plain_field_paths_list_their_fields() {
        assert_eq!(
            Path::parse(".spec.replicas").unwrap().fields(),
            Some(vec!["spec", "replicas"])
        );
        assert_eq!(Path::parse(".spec[0]").unwrap().fields(), None);
    }
}
