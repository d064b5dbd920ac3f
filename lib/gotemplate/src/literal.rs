//! Number and character literals.

use crate::ast::Number;
use crate::quote;

/// Reads a number or character literal.
pub(crate) fn number(text: &str) -> Result<Number, String> {
    if text.starts_with('\'') {
        let value = quote::unquote(text).and_then(|inner| {
            let mut chars = inner.chars();
            chars.next().filter(|_| chars.next().is_none())
        });
        let code = value.map(|character| i64::from(u32::from(character)));
        let code = code.ok_or_else(|| format!("malformed character constant: {text}"))?;
        return Ok(Number {
            int: Some(code),
            float: Some(code as f64),
            written_float: false,
        });
    }
    let int = integer(text);
    let hex = text
        .trim_start_matches(['+', '-'])
        .to_ascii_lowercase()
        .starts_with("0x");
    let written_float = !hex && text.contains(['.', 'e', 'E']);
    let float = match int {
        Some(int) => Some(int as f64),
        None => text
            .replace('_', "")
            .parse::<f64>()
            .ok()
            .filter(|float| float.is_finite()),
    };
    if int.is_none() && float.is_none() {
        return Err(format!("bad number syntax: {}", quote::quote(text)));
    }
    // A float that is integral can stand where an integer is wanted.
    let int = int.or_else(|| {
        float
            .filter(|float| written_float && float.fract() == 0.0 && float.abs() < 9e18)
            .map(|float| float as i64)
    });
    if int.is_none() && !written_float {
        return Err(quote::quote(text));
    }
    Ok(Number {
        int,
        float,
        written_float,
    })
}

/// An integer literal with Go's prefixes and underscores.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let digits = digits.to_ascii_lowercase();
    let (radix, digits) = match digits.as_str() {
        d if d.starts_with("0x") => (16, &digits[2..]),
        d if d.starts_with("0b") => (2, &digits[2..]),
        d if d.starts_with("0o") => (8, &digits[2..]),
        d if d.len() > 1 && d.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits.as_str()),
    };
    let digits = digits.replace('_', "");
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from_str_radix(&digits, radix).ok()? * sign;
    i64::try_from(value).ok()
}
