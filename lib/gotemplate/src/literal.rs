//! Number and character literals: how far they go, and what they are.

use crate::ast::Number;
use crate::quote;

/// Reads a number or character literal.
pub(crate) fn number(text: &str) -> Result<Number, String> {
    if text.starts_with('\'') {
        let Some(inner) = quote::unquote(text).filter(|inner| !inner.is_empty()) else {
            return Err("invalid syntax".into());
        };
        let mut chars = inner.chars();
        let code = chars.next().filter(|_| chars.next().is_none());
        let code = code.ok_or_else(|| format!("malformed character constant: {text}"))?;
        let code = match crate::bytes::stood_in(code) {
            Some(byte) => i64::from(byte),
            None => i64::from(u32::from(code)),
        };
        return Ok(Number {
            int: Some(code),
            float: Some(code as f64),
            written_float: false,
        });
    }
    // Nearly all literals are a few plain digits.
    if let [b'1'..=b'9', rest @ ..] = text.as_bytes()
        && rest.len() < 15
        && rest.iter().all(u8::is_ascii_digit)
    {
        let int: Option<i64> = text.parse().ok();
        return Ok(Number {
            int,
            float: int.map(|int| int as f64),
            written_float: false,
        });
    }
    let int = integer(text);
    let hex = text
        .trim_start_matches(['+', '-'])
        .to_ascii_lowercase()
        .starts_with("0x");
    let exponents: &[char] = if hex { &['.', 'p', 'P'] } else { &['.', 'e', 'E'] };
    let written_float = text.contains(exponents);
    let float = match int {
        Some(int) => Some(int as f64),
        None if hex => hex_float(text),
        None => text.replace('_', "").parse::<f64>().ok(),
    }
    .filter(|float| float.is_finite());
    if int.is_none() && float.is_none() {
        return Err(format!("bad number syntax: {}", quote::quote(text)));
    }
    // An integer beyond 64 bits is found out where an `int` is wanted; one beyond even the unsigned is none.
    if int.is_none() && !written_float && (text.starts_with('-') || unsigned(text).is_none()) {
        return Err(format!("integer overflow: {}", quote::quote(text)));
    }
    // A float that is integral can stand where an integer is wanted.
    let int = int.or_else(|| {
        float
            .filter(|float| written_float && float.fract() == 0.0 && float.abs() < 9e18)
            .map(|float| float as i64)
    });
    Ok(Number {
        int,
        float,
        written_float,
    })
}

/// How many bytes at the start of a text look like a number; at least one.
pub(crate) fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let mut pos = usize::from(matches!(at(0), b'+' | b'-'));
    let mut digits: fn(u8) -> bool = |byte| byte.is_ascii_digit() || byte == b'_';
    let mut exponents: &[u8] = b"eE";
    if at(pos) == b'0' {
        pos += 1;
        match at(pos) {
            b'x' | b'X' => {
                digits = |byte| byte.is_ascii_hexdigit() || byte == b'_';
                exponents = b"pP";
                pos += 1;
            }
            b'o' | b'O' => {
                digits = |byte| matches!(byte, b'0'..=b'7' | b'_');
                pos += 1;
            }
            b'b' | b'B' => {
                digits = |byte| matches!(byte, b'0' | b'1' | b'_');
                pos += 1;
            }
            _ => {}
        }
    }
    while digits(at(pos)) {
        pos += 1;
    }
    if at(pos) == b'.' {
        pos += 1;
        while digits(at(pos)) {
            pos += 1;
        }
    }
    if exponents.contains(&at(pos)) {
        pos += 1;
        if matches!(at(pos), b'+' | b'-') {
            pos += 1;
        }
        while at(pos).is_ascii_digit() || at(pos) == b'_' {
            pos += 1;
        }
    }
    pos.max(1)
}

/// `0x1.8p3`
fn hex_float(text: &str) -> Option<f64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.replace('_', "").to_ascii_lowercase();
    let (mantissa, exponent) = digits.strip_prefix("0x")?.split_once('p')?;
    let mut exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0f64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    exponent = exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    let value = value * 2f64.powi(exponent.clamp(-2000, 2000));
    Some(if negative { -value } else { value })
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

/// An integer literal that only fits without a sign.
fn unsigned(text: &str) -> Option<u64> {
    let digits = text.trim_start_matches('+').replace('_', "").to_ascii_lowercase();
    match digits.split_at_checked(2) {
        Some(("0x", hex)) => u64::from_str_radix(hex, 16).ok(),
        Some(("0b", binary)) => u64::from_str_radix(binary, 2).ok(),
        Some(("0o", octal)) => u64::from_str_radix(octal, 8).ok(),
        _ => digits.parse().ok(),
    }
}
