//! Go's three ways to print a float: `fmt`'s `%v` (also go-yaml's), `encoding/json`'s, and the digits they share.
//!
//! All of them print the shortest digits that read back as the same number; they differ in when an exponent appears.

use serde_json::{Number, Value};

/// The number as `fmt`'s `%v`, `strconv`'s format `g` and go-yaml print it: positional between 10⁻⁴ and 10⁶, else with
/// an exponent of at least two digits (`1e+06`, `1.2345678e+07`, `1e-05`).
pub fn format_g(value: f64) -> String {
    if let Some(word) = special(value, "NaN", "+Inf", "-Inf") {
        return word.to_owned();
    }
    let digits = Digits::of(value);
    if value != 0.0 && (digits.exponent < -4 || digits.exponent >= SHORTEST_G_PRECISION) {
        digits.scientific(2)
    } else {
        digits.positional()
    }
}

/// The number as `encoding/json` prints it: positional between 10⁻⁶ and 10²¹, else with an exponent without leading
/// zeros (`1e-7`, `1e+21`). Not-a-number and infinities have no JSON form and come out as `null`.
pub fn format_json(value: f64) -> String {
    if !value.is_finite() {
        return "null".to_owned();
    }
    let digits = Digits::of(value);
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        digits.scientific(1)
    } else {
        digits.positional()
    }
}

/// A float as the JSON number that a later reader understands best: integral values within `int64` become integers, so
/// that `1` and `1.0` are the same value. Large ones are the integer that Go's JSON text of the float shows, not its
/// exact value: readers see only that text. Beyond `int64` a number stays a float, as for Kubernetes' readers.
///
/// `None` for not-a-number and infinities.
pub fn from_f64(value: f64) -> Option<Value> {
    of_f64(value).map(Value::Number)
}

/// [`from_f64`] as a number, not yet a value.
pub fn of_f64(value: f64) -> Option<Number> {
    if value.abs() <= EXACT as f64 {
        let whole = value as i64;
        if whole as f64 == value && !(whole == 0 && value.is_sign_negative()) {
            return Some(Number::from(whole));
        }
    } else if let Ok(whole) = format_json(value).parse::<i64>() {
        return Some(Number::from(whole));
    }
    Number::from_f64(value)
}

/// 2⁵³: up to here every integer is a float.
pub(crate) const EXACT: u64 = 1 << 53;

/// `strconv` decides as if six digits had been asked for when it prints the shortest form.
const SHORTEST_G_PRECISION: i32 = 6;

fn special(value: f64, nan: &'static str, positive: &'static str, negative: &'static str) -> Option<&'static str> {
    if value.is_nan() {
        Some(nan)
    } else if value.is_infinite() {
        Some(if value > 0.0 { positive } else { negative })
    } else {
        None
    }
}

/// The shortest digits of a number and the decimal exponent of the first of them.
struct Digits {
    negative: bool,
    digits: String,
    exponent: i32,
}

impl Digits {
    fn of(value: f64) -> Self {
        let shortest = format!("{:e}", value.abs());
        // Two numbers of that length may be equally near; Go takes the one that correct rounding gives.
        let precision = shortest
            .bytes()
            .take_while(|b| *b != b'e')
            .filter(u8::is_ascii_digit)
            .count()
            - 1;
        let rounded = format!("{:.precision$e}", value.abs());
        let text = if rounded.parse() == Ok(value.abs()) {
            rounded
        } else {
            shortest
        };
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        Self {
            negative: value.is_sign_negative(),
            digits: mantissa.chars().filter(char::is_ascii_digit).collect(),
            exponent: exponent.parse().unwrap_or(0),
        }
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    fn scientific(&self, width: usize) -> String {
        let (first, rest) = self.digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if self.exponent < 0 { '-' } else { '+' };
        format!(
            "{}{first}{point}{rest}e{sign}{:0width$}",
            self.sign(),
            self.exponent.unsigned_abs()
        )
    }

    fn positional(&self) -> String {
        let digits = &self.digits;
        let whole = self.exponent + 1;
        if whole <= 0 {
            return format!("{}0.{}{digits}", self.sign(), "0".repeat(whole.unsigned_abs() as usize));
        }
        let whole = whole as usize;
        if digits.len() <= whole {
            format!("{}{digits}{}", self.sign(), "0".repeat(whole - digits.len()))
        } else {
            format!("{}{}.{}", self.sign(), &digits[..whole], &digits[whole..])
        }
    }
}

/// [`format_g`] for a 32-bit float; YAML keys that are floats are printed with that precision.
pub(crate) fn format_g32(value: f32) -> String {
    // The shortest digits of the narrower type, then the same spelling.
    format!("{value:e}")
        .parse()
        .map_or_else(|_| value.to_string(), format_g)
}
