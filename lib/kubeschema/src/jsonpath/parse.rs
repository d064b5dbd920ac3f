//! The text of a path → its steps.

use serde_json::{Number, Value};

use super::{Comparison, Error, Operand, Origin, Step};

pub(super) fn steps(text: &str) -> Result<Vec<Step>, Error> {
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
        // Empty brackets are the first item, and nothing where there is none.
        [""] => Ok(Step::Index(0)),
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
