//! What a plain scalar means: null, boolean, number or string, by the resolver rules of go-yaml.
//!
//! Works on the text alone; quoting and explicit tags are the caller's business.

use crate::Dialect;

/// The meaning of a scalar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    /// An integer within `int64` or `uint64`.
    Int(i128),
    /// Anything else numeric; may be infinite or not a number when written as such.
    Float(f64),
    Text,
}

/// Resolves the text of a plain scalar.
pub(crate) fn resolve(text: &str, dialect: Dialect) -> Scalar {
    let Some(first) = text.chars().next() else {
        return Scalar::Null;
    };
    match first {
        'y' | 'Y' | 'n' | 'N' | 't' | 'T' | 'f' | 'F' | 'o' | 'O' | '~' => word(text, dialect),
        '.' => match word(text, dialect) {
            Scalar::Text => float(text),
            found => found,
        },
        '+' | '-' | '0'..='9' => match word(text, dialect) {
            Scalar::Text => number(text),
            found => found,
        },
        _ => Scalar::Text,
    }
}

fn word(text: &str, dialect: Dialect) -> Scalar {
    match text {
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" if dialect == Dialect::V2 => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" if dialect == Dialect::V2 => Scalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => Scalar::Text,
    }
}

/// A number that starts with a sign or a digit. Underscores between digits are ignored.
fn number(text: &str) -> Scalar {
    let stripped;
    let text = if text.contains('_') {
        stripped = text.replace('_', "");
        &stripped
    } else {
        text
    };
    integer(text).map_or_else(|| float(text), Scalar::Int)
}

/// Go's `ParseInt` and `ParseUint` with base 0: prefixes `0x`, `0o`, `0b` and a leading zero for octal.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let signed = digits.len() != text.len();
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let size = i128::from_str_radix(digits, radix).ok()?;
    let value = if negative { -size } else { size };
    // Only an unsigned spelling may use the upper half of 64 bits.
    let highest = if signed {
        i128::from(i64::MAX)
    } else {
        i128::from(u64::MAX)
    };
    (i128::from(i64::MIN)..=highest).contains(&value).then_some(value)
}

/// A decimal float: sign, digits with at most one point, exponent. Out of range means it is not a number.
fn float(text: &str) -> Scalar {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (mantissa, ""),
    };
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let exponent_digits = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    if !(all_digits(whole) && all_digits(fraction) && whole.len() + fraction.len() > 0)
        || exponent_digits.is_some_and(|e| e.is_empty() || !all_digits(e))
    {
        return Scalar::Text;
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Scalar::Float(value),
        _ => Scalar::Text,
    }
}

/// Whether YAML 1.1 readers would take the text for a base-60 number (`1:30`); go-yaml reads it as text but quotes it.
pub(crate) fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut groups = unsigned.split(':');
    let first = groups.next().unwrap_or_default();
    if !first.starts_with(|c: char| c.is_ascii_digit()) || !first.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return false;
    }
    let rest: Vec<&str> = groups.collect();
    let Some((last, middle)) = rest.split_last() else {
        return false;
    };
    let sixty = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [tens, digit] => (b'0'..=b'5').contains(tens) && digit.is_ascii_digit(),
        _ => false,
    };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    middle.iter().all(|part| sixty(part)) && sixty(last) && fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}
