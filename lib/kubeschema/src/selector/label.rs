//! Label selectors: requirements on labels, all of which must hold.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::{Error, parse};
use crate::field::{self, FieldError};
use crate::name;

/// Anything labels can be read from.
pub trait Labels {
    /// The value of a label.
    fn label(&self, key: &str) -> Option<&str>;
}

impl Labels for BTreeMap<String, String> {
    fn label(&self, key: &str) -> Option<&str> {
        self.get(key).map(String::as_str)
    }
}

impl Labels for Map<String, Value> {
    fn label(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }
}

impl Labels for Value {
    fn label(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }
}

impl<L: Labels + ?Sized> Labels for &L {
    fn label(&self, key: &str) -> Option<&str> {
        (**self).label(key)
    }
}

impl<L: Labels> Labels for Option<L> {
    fn label(&self, key: &str) -> Option<&str> {
        self.as_ref().and_then(|labels| labels.label(key))
    }
}

/// How a requirement compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// The label is there with one of the values.
    In,
    /// The label is absent or has none of the values.
    NotIn,
    /// `=`.
    Equals,
    /// `==`, the same as `=`.
    DoubleEquals,
    /// `!=`: absent or different.
    NotEquals,
    /// The label is there.
    Exists,
    /// The label is not there.
    DoesNotExist,
    /// The label is an integer above the value.
    GreaterThan,
    /// The label is an integer below the value.
    LessThan,
}

/// One condition on one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

impl Requirement {
    /// Checks and makes a requirement; `values` are sorted and made unique.
    ///
    /// # Errors
    /// Every rule the key, the number of values or a value breaks.
    pub fn new(key: &str, operator: Operator, values: Vec<String>) -> Result<Self, Vec<FieldError>> {
        let mut errors = Vec::new();
        let problems = name::qualified(key);
        if !problems.is_empty() {
            errors.push(FieldError::invalid("key", key, problems.join("; ")));
        }
        let mut complain = |detail: &str| {
            let shown = if values.is_empty() {
                Value::Null
            } else {
                Value::from(values.clone())
            };
            errors.push(FieldError::invalid("values", shown, detail));
        };
        match operator {
            Operator::In | Operator::NotIn if values.is_empty() => {
                complain("for 'in', 'notin' operators, values set can't be empty");
            }
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals if values.len() != 1 => {
                complain("exact-match compatibility requires one single value");
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                complain("values set must be empty for exists and does not exist");
            }
            Operator::GreaterThan | Operator::LessThan => {
                if values.len() != 1 {
                    complain("for 'Gt', 'Lt' operators, exactly one value is required");
                }
                for (position, value) in values.iter().enumerate() {
                    if value.parse::<i64>().is_err() {
                        let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                        errors.push(FieldError::invalid(
                            field::index("values", position),
                            value.as_str(),
                            detail,
                        ));
                    }
                }
            }
            _ => {}
        }
        for (position, value) in values.iter().enumerate() {
            let problems = name::label_value(value);
            if !problems.is_empty() {
                let path = field::key(&field::index("values", position), key);
                errors.push(FieldError::invalid(path, value.as_str(), problems.join("; ")));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut values = values;
        values.sort();
        values.dedup();
        Ok(Requirement {
            key: key.to_owned(),
            operator,
            values,
        })
    }

    /// The label's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How it compares.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values compared with, sorted.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether the labels satisfy this requirement.
    pub fn matches(&self, labels: &(impl Labels + ?Sized)) -> bool {
        let label = labels.label(&self.key);
        let listed = |value: &str| self.values.iter().any(|v| v == value);
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => label.is_some_and(listed),
            Operator::NotIn | Operator::NotEquals => !label.is_some_and(listed),
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
            Operator::GreaterThan | Operator::LessThan => {
                let bound = self.values.first().and_then(|v| v.parse::<i64>().ok());
                let (Some(value), Some(bound)) = (label.and_then(|v| v.parse::<i64>().ok()), bound) else {
                    return false;
                };
                if self.operator == Operator::GreaterThan {
                    value > bound
                } else {
                    value < bound
                }
            }
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let values = self.values.join(",");
        match self.operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}

/// Requirements that must all hold, sorted by key; `None` inside means it picks nothing at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Option<Vec<Requirement>>,
}

impl LabelSelector {
    /// Picks every object.
    pub fn everything() -> Self {
        LabelSelector {
            requirements: Some(Vec::new()),
        }
    }

    /// Picks no object.
    pub fn nothing() -> Self {
        LabelSelector { requirements: None }
    }

    /// All the given requirements.
    pub fn all(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        LabelSelector {
            requirements: Some(requirements),
        }
    }

    /// Reads the text form: `a=b,c!=d,e in (x,y),!f,g`. The empty text picks everything.
    ///
    /// # Errors
    /// Where the text leaves the grammar, or a key or value is malformed.
    pub fn parse(text: &str) -> Result<Self, Error> {
        parse::parse(text).map(Self::all)
    }

    /// Reads the JSON of a LabelSelector (`matchLabels`, `matchExpressions`). `null` picks nothing, `{}` everything.
    ///
    /// # Errors
    /// For unknown operators, malformed keys or values, or JSON of another shape.
    pub fn from_json(selector: &Value) -> Result<Self, Error> {
        let selector = match selector {
            Value::Null => return Ok(Self::nothing()),
            Value::Object(map) => map,
            _ => return Err(Error::Shape("body")),
        };
        let mut requirements = Vec::new();
        match selector.get("matchLabels") {
            None | Some(Value::Null) => {}
            Some(Value::Object(labels)) => {
                for (key, value) in labels {
                    let value = match value {
                        Value::String(text) => text.clone(),
                        Value::Null => String::new(),
                        _ => return Err(Error::Shape("matchLabels")),
                    };
                    requirements
                        .push(Requirement::new(key, Operator::Equals, vec![value]).map_err(Error::Requirement)?);
                }
            }
            Some(_) => return Err(Error::Shape("matchLabels")),
        }
        match selector.get("matchExpressions") {
            None | Some(Value::Null) => {}
            Some(Value::Array(expressions)) => {
                for expression in expressions {
                    requirements.push(requirement_from_json(expression)?);
                }
            }
            Some(_) => return Err(Error::Shape("matchExpressions")),
        }
        Ok(Self::all(requirements))
    }

    /// The requirements; empty also for a selector that picks nothing.
    pub fn requirements(&self) -> &[Requirement] {
        self.requirements.as_deref().unwrap_or_default()
    }

    /// Whether every object is picked.
    pub fn is_everything(&self) -> bool {
        self.requirements.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether an object with these labels is picked.
    pub fn matches(&self, labels: &(impl Labels + ?Sized)) -> bool {
        self.requirements
            .as_ref()
            .is_some_and(|all| all.iter().all(|r| r.matches(labels)))
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, requirement) in self.requirements().iter().enumerate() {
            if position > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

fn requirement_from_json(expression: &Value) -> Result<Requirement, Error> {
    let text = |name: &str| expression.get(name).and_then(Value::as_str).unwrap_or_default();
    let operator = match text("operator") {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        other => return Err(Error::Operator(other.to_owned())),
    };
    let values = match expression.get("values") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(values)) => values
            .iter()
            .map(|v| v.as_str().map(str::to_owned).ok_or(Error::Shape("values")))
            .collect::<Result<_, _>>()?,
        Some(_) => return Err(Error::Shape("values")),
    };
    Requirement::new(text("key"), operator, values).map_err(Error::Requirement)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn picks(selector: &str, labels: &Value) -> bool {
        LabelSelector::parse(selector).unwrap().matches(labels)
    }

    #[test]
    fn every_operator_picks_what_it_says() {
        let l = json!({"env": "prod", "n": "5"});
        for yes in [
            "",
            "env=prod",
            "env==prod",
            "env!=dev",
            "env",
            "!x",
            "env in (prod,dev)",
            "env notin (dev)",
            "x notin (a)",
            "n>4",
            "n<6",
            " env = prod , n ",
            "x!=a",
            "x notin ()",
        ] {
            assert!(picks(yes, &l), "{yes}");
        }
        for no in [
            "env=dev",
            "env=",
            "!env",
            "x",
            "env in ()",
            "n>5",
            "env>1",
            "env notin (prod,)",
            "env=prod,x",
        ] {
            assert!(!picks(no, &l), "{no}");
        }
    }

    #[test]
    fn texts_outside_the_grammar_are_refused_in_upstreams_words() {
        for (text, words) in [
            (
                "env===x",
                "unable to parse requirement: found '=', expected: identifier",
            ),
            ("env in prod", "unable to parse requirement: found 'prod' expected: '('"),
            (
                "a b",
                "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
            ),
            ("=x", "found '=', expected: !, identifier, or 'end of string'"),
            ("!env=x", "found '=', expected: ',' or 'end of string'"),
            ("a,", "found '', expected: identifier after ','"),
            (
                "env in (a",
                "unable to parse requirement: found '', expected: ',' or ')'",
            ),
        ] {
            assert_eq!(LabelSelector::parse(text).unwrap_err().to_string(), words, "{text}");
        }
        let bad = LabelSelector::parse("env=-").unwrap_err().to_string();
        assert!(
            bad.starts_with("unable to parse requirement: values[0][env]: Invalid value: \"-\": a valid label"),
            "{bad}"
        );
        assert!(
            LabelSelector::parse("n>x")
                .unwrap_err()
                .to_string()
                .contains("must be an integer")
        );
    }

    #[test]
    fn json_selectors_follow_the_same_rules() {
        let picks = |s: Value, l: Value| LabelSelector::from_json(&s).unwrap().matches(&l);
        assert!(!picks(Value::Null, json!({})));
        assert!(picks(json!({}), json!({})));
        assert!(picks(json!({"matchLabels": {"a": "b"}}), json!({"a": "b"})));
        assert!(picks(
            json!({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}, {"key": "c", "operator": "In", "values": ["d"]}]}),
            json!({"c": "d"})
        ));
        assert_eq!(
            LabelSelector::from_json(&json!({"matchExpressions": [{"key": "a", "operator": "Is"}]}))
                .unwrap_err()
                .to_string(),
            "\"Is\" is not a valid label selector operator"
        );
        assert_eq!(
            LabelSelector::from_json(&json!({"matchExpressions": [{"key": "a", "operator": "In"}]}))
                .unwrap_err()
                .to_string(),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
        );
        assert!(LabelSelector::from_json(&json!([])).is_err());
    }

    #[test]
    fn the_text_form_is_sorted_and_reads_back() {
        let selector = LabelSelector::parse("z!=1,a in (y,x),!m,k").unwrap();
        assert_eq!(selector.to_string(), "a in (x,y),k,!m,z!=1");
        assert_eq!(LabelSelector::parse(&selector.to_string()).unwrap(), selector);
    }
}
