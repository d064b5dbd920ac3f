//! Reading numbers out of anything, with the rules of Go's `cast` library: what cannot be read is 0.

use crate::number::parse_duration;
use crate::value::{Value, Width};

/// As `int64`. Strings may have Go's prefixes; decimals only if they are zeros.
pub(super) fn to_int64(value: &Value) -> i64 {
    match value {
        Value::Int(number) | Value::Int64(number) | Value::Sized(_, number) => *number,
        Value::Uint(number) => i64::try_from(*number).unwrap_or(0),
        Value::Float(number) => truncated(*number),
        Value::Bool(flag) => i64::from(*flag),
        Value::Str(text) => crate::literal::integer(without_zero_decimals(text)).unwrap_or(0),
        _ => 0,
    }
}

/// As `float64`.
pub(super) fn to_float(value: &Value) -> f64 {
    match value {
        Value::Int(number) | Value::Int64(number) | Value::Sized(_, number) => *number as f64,
        Value::Uint(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::Str(text) => parse_float(text).unwrap_or(0.0),
        _ => 0.0,
    }
}

/// A duration in nanoseconds; a string of digits counts seconds where `seconds`, else a text as `1h30m`.
pub(super) fn to_duration(value: &Value) -> i64 {
    match value {
        Value::Str(text) => parse_duration(text).unwrap_or(0),
        Value::Sized(Width::Duration, nanos) => *nanos,
        other => to_int64(other),
    }
}

fn parse_float(text: &str) -> Option<f64> {
    if text.trim() != text {
        return None;
    }
    text.replace('_', "x").parse().ok()
}

/// Go converts a float that does not fit to the smallest number on amd64.
fn truncated(number: f64) -> i64 {
    if number.is_nan() || number.abs() >= 9_223_372_036_854_775_808.0 {
        i64::MIN
    } else {
        number as i64
    }
}

fn without_zero_decimals(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, decimals)) if !decimals.is_empty() && decimals.bytes().all(|byte| byte == b'0') => whole,
        _ => text,
    }
}
