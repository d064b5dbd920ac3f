//! kubectl's JSONPath: a path expression and a document → the values it reaches.
//!
//! The dialect of printer columns and `kubectl -o jsonpath`: `.a.b`, `['a.b']`, `[0]`, `[-1]`, `[0:2]`, `[0:6:2]`,
//! `[*]`, `.*`, `..name`, `['a','b']`, `[?(@.type=="Ready")]`, escaped dots (`.a\.b`). Missing keys reach nothing;
//! a path never fails once it is parsed.

use serde_json::{Number, Value};

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
        Ok(Path { steps: steps(text)? })
    }

    /// All values reached, in document order (keys of objects sorted).
    pub fn find<'a>(&self, document: &'a Value) -> Vec<&'a Value> {
        walk(&self.steps, document, document)
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

fn walk<'a>(steps: &[Step], root: &'a Value, start: &'a Value) -> Vec<&'a Value> {
    let mut reached = vec![start];
    for step in steps {
        let mut next = Vec::new();
        for value in reached {
            take(step, root, value, &mut next);
        }
        reached = next;
    }
    reached
}

fn take<'a>(step: &Step, root: &'a Value, value: &'a Value, found: &mut Vec<&'a Value>) {
    match step {
        Step::Field(name) => {
            if let Some(child) = value.get(name.as_str()) {
                found.push(child);
            }
        }
        Step::Wildcard => found.extend(children(value)),
        Step::Descend => descend(value, found),
        Step::Index(index) => {
            if let Some(item) = value
                .as_array()
                .and_then(|list| position(*index, list.len()).and_then(|p| list.get(p)))
            {
                found.push(item);
            }
        }
        Step::Slice { start, end, step } => {
            if let Some(list) = value.as_array() {
                let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
                let absolute = |bound: i64| if bound < 0 { bound + length } else { bound }.clamp(0, length);
                let (from, to) = (absolute(start.unwrap_or(0)), absolute(end.unwrap_or(length)));
                let width = usize::try_from(*step).unwrap_or(1).max(1);
                let from = usize::try_from(from).unwrap_or(0);
                let to = usize::try_from(to).unwrap_or(0);
                found.extend(list.iter().take(to).skip(from).step_by(width));
            }
        }
        Step::Union(parts) => {
            for part in parts {
                take(part, root, value, found);
            }
        }
        Step::Filter { left, comparison } => {
            found.extend(
                children(value)
                    .into_iter()
                    .filter(|child| passes(left, comparison.as_ref(), root, child)),
            );
        }
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(list) => list.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

fn descend<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    found.push(value);
    for child in children(value) {
        descend(child, found);
    }
}

fn position(index: i64, length: usize) -> Option<usize> {
    if index < 0 {
        length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
    } else {
        usize::try_from(index).ok()
    }
}

fn passes(left: &Operand, comparison: Option<&(Comparison, Operand)>, root: &Value, item: &Value) -> bool {
    let left = operand(left, root, item);
    let Some((comparison, right)) = comparison else {
        return left.is_some();
    };
    let (Some(left), Some(right)) = (left, operand(right, root, item)) else {
        return false;
    };
    let order = match (left, right) {
        (Value::Number(a), Value::Number(b)) => a.as_f64().partial_cmp(&b.as_f64()),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        _ => None,
    };
    match comparison {
        Comparison::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
        Comparison::NotEqual => order.is_none_or(std::cmp::Ordering::is_ne),
        Comparison::Less => order.is_some_and(std::cmp::Ordering::is_lt),
        Comparison::LessOrEqual => order.is_some_and(std::cmp::Ordering::is_le),
        Comparison::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
        Comparison::GreaterOrEqual => order.is_some_and(std::cmp::Ordering::is_ge),
    }
}

fn operand<'a>(operand: &'a Operand, root: &'a Value, item: &'a Value) -> Option<&'a Value> {
    match operand {
        Operand::Literal(value) => Some(value),
        Operand::Path(steps, origin) => {
            let start = if *origin == Origin::Root { root } else { item };
            walk(steps, root, start).into_iter().next()
        }
    }
}

fn steps(text: &str) -> Result<Vec<Step>, Error> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut first = true;
    while let Some(character) = rest.chars().next() {
        match character {
            '.' if rest.starts_with("..") => {
                found.push(Step::Descend);
                rest = &rest[2..];
                if !rest.starts_with(['[', '.']) && !rest.is_empty() {
                    rest = name(rest, &mut found);
                }
            }
            '.' => {
                rest = &rest[1..];
                if !rest.starts_with('[') && !rest.is_empty() {
                    rest = name(rest, &mut found);
                }
            }
            '[' => {
                let end = closing(rest)?;
                found.push(bracket(&rest[1..end])?);
                rest = &rest[end + 1..];
            }
            // kubectl accepts a leading name without its dot.
            other if first && (other.is_alphanumeric() || other == '_' || other == '*') => {
                rest = name(rest, &mut found);
            }
            ' ' => rest = &rest[1..],
            other => return Err(Error::Unexpected(other)),
        }
        first = false;
    }
    Ok(found)
}

/// One name up to the next unescaped dot or bracket.
fn name<'a>(text: &'a str, found: &mut Vec<Step>) -> &'a str {
    let mut plain = String::new();
    let mut escaped = false;
    let mut end = text.len();
    for (position, character) in text.char_indices() {
        match character {
            _ if escaped => {
                plain.push(character);
                escaped = false;
            }
            '\\' => escaped = true,
            '.' | '[' | ' ' => {
                end = position;
                break;
            }
            other => plain.push(other),
        }
    }
    found.push(if plain == "*" {
        Step::Wildcard
    } else {
        Step::Field(plain)
    });
    &text[end..]
}

/// The position of the bracket that closes the one `text` starts with; quotes hide brackets.
fn closing(text: &str) -> Result<usize, Error> {
    let (mut depth, mut quote, mut escaped) = (0usize, None, false);
    for (position, character) in text.char_indices() {
        match (character, quote) {
            _ if escaped => escaped = false,
            ('\\', _) => escaped = true,
            (c, Some(q)) if c == q => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"', None) => quote = Some(character),
            ('[', None) => depth += 1,
            (']', None) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Ok(position);
                }
            }
            _ => {}
        }
    }
    Err(Error::Unterminated(if quote.is_some() {
        "quoted string"
    } else {
        "array"
    }))
}

fn bracket(content: &str) -> Result<Step, Error> {
    let content = content.trim();
    if content == "*" {
        return Ok(Step::Wildcard);
    }
    if let Some(filter) = content.strip_prefix('?') {
        let inner = filter.trim().strip_prefix('(').and_then(|f| f.strip_suffix(')'));
        return comparison(inner.ok_or_else(|| Error::Filter(content.to_owned()))?);
    }
    let parts = split_outside_quotes(content, ',');
    if parts.len() > 1 {
        return parts
            .into_iter()
            .map(bracket)
            .collect::<Result<_, _>>()
            .map(Step::Union);
    }
    if let Some(text) = unquoted(content) {
        return Ok(Step::Field(text));
    }
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| Error::Index(content.to_owned()));
    let bound = |text: &str| {
        if text.trim().is_empty() {
            Ok(None)
        } else {
            number(text).map(Some)
        }
    };
    match content.split(':').collect::<Vec<_>>().as_slice() {
        [one] => Ok(Step::Index(number(one)?)),
        [start, end] => Ok(Step::Slice {
            start: bound(start)?,
            end: bound(end)?,
            step: 1,
        }),
        [start, end, step] => {
            let step = bound(step)?.unwrap_or(1);
            if step < 1 {
                return Err(Error::Index(content.to_owned()));
            }
            Ok(Step::Slice {
                start: bound(start)?,
                end: bound(end)?,
                step,
            })
        }
        _ => Err(Error::Index(content.to_owned())),
    }
}

fn comparison(text: &str) -> Result<Step, Error> {
    const OPERATORS: [(&str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    let (mut quote, mut depth) = (None, 0usize);
    for (position, character) in text.char_indices() {
        match (character, quote) {
            (c, Some(q)) if c == q => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"', None) => quote = Some(character),
            ('[' | '(', None) => depth += 1,
            (']' | ')', None) => depth = depth.saturating_sub(1),
            _ if depth == 0 => {
                let rest = &text[position..];
                if let Some((symbol, comparison)) = OPERATORS.iter().find(|(symbol, _)| rest.starts_with(symbol)) {
                    let left = read_operand(&text[..position])?;
                    let right = read_operand(&rest[symbol.len()..])?;
                    return Ok(Step::Filter {
                        left,
                        comparison: Some((*comparison, right)),
                    });
                }
            }
            _ => {}
        }
    }
    Ok(Step::Filter {
        left: read_operand(text)?,
        comparison: None,
    })
}

fn read_operand(text: &str) -> Result<Operand, Error> {
    let text = text.trim();
    if let Some(path) = text.strip_prefix('@') {
        return Ok(Operand::Path(steps(path)?, Origin::Current));
    }
    if let Some(path) = text.strip_prefix('$') {
        return Ok(Operand::Path(steps(path)?, Origin::Root));
    }
    if let Some(literal) = unquoted(text) {
        return Ok(Operand::Literal(Value::String(literal)));
    }
    match text {
        "true" => return Ok(Operand::Literal(Value::Bool(true))),
        "false" => return Ok(Operand::Literal(Value::Bool(false))),
        _ => {}
    }
    if let Ok(integer) = text.parse::<i64>() {
        return Ok(Operand::Literal(Value::from(integer)));
    }
    if let Some(number) = text.parse::<f64>().ok().and_then(Number::from_f64) {
        return Ok(Operand::Literal(Value::Number(number)));
    }
    if text.starts_with('.') {
        return Ok(Operand::Path(steps(text)?, Origin::Current));
    }
    Err(Error::Filter(text.to_owned()))
}

fn unquoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut plain = String::with_capacity(inner.len());
    let mut escaped = false;
    for character in inner.chars() {
        if character == '\\' && !escaped {
            escaped = true;
            continue;
        }
        escaped = false;
        plain.push(character);
    }
    Some(plain)
}

fn split_outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut quote) = (Vec::new(), 0, None);
    for (position, character) in text.char_indices() {
        match (character, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => quote = Some(character),
            (c, None) if c == separator => {
                parts.push(&text[start..position]);
                start = position + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
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
