//! Integers and floats under every verb that takes them.

use super::{Printer, Spec};
use crate::number;
use crate::quote;
use crate::value::{Value, Width};

impl Printer {
    /// Writes a number: zeros go between sign and digits.
    fn pad_number(&mut self, text: &str, spec: &Spec) {
        let sign = text.len() - text.trim_start_matches(['+', '-', ' ']).len();
        if spec.zero && !spec.minus && sign > 0 {
            self.push(&text[..sign]);
            let width = spec.width.map(|width| width.saturating_sub(sign));
            self.pad(&text[sign..], &Spec { width, ..*spec });
        } else {
            self.pad(text, spec);
        }
    }

    pub(super) fn integer(&mut self, number: i128, value: &Value, verb: char, spec: &Spec, depth: usize) {
        let magnitude = number.unsigned_abs();
        let (digits, prefix) = match verb {
            'v' if spec.syntax && matches!(value, Value::Uint(_) | Value::Sized(Width::Byte, _)) => {
                (format!("{magnitude:x}"), "0x")
            }
            'v' | 'd' => (magnitude.to_string(), ""),
            'b' => (format!("{magnitude:b}"), if spec.sharp { "0b" } else { "" }),
            'o' => (
                format!("{magnitude:o}"),
                if spec.sharp && magnitude != 0 { "0" } else { "" },
            ),
            'O' if spec.sharp && magnitude != 0 => (format!("0{magnitude:o}"), "0o"),
            'O' => (format!("{magnitude:o}"), "0o"),
            'x' => (format!("{magnitude:x}"), if spec.sharp { "0x" } else { "" }),
            'X' => (format!("{magnitude:X}"), if spec.sharp { "0X" } else { "" }),
            'c' | 'q' | 'U' => {
                let text = character(number, verb, spec);
                let zero = spec.zero && verb != 'U';
                return self.pad(&text, &Spec { zero, ..*spec });
            }
            _ => return self.bad_verb(value, verb, spec, depth),
        };
        let sign = if number < 0 {
            "-"
        } else if spec.plus {
            "+"
        } else if spec.space {
            " "
        } else {
            ""
        };
        let zeros = match (spec.precision, spec.width) {
            (Some(0), _) if number == 0 => {
                return self.pad("", &Spec { zero: false, ..*spec });
            }
            (Some(precision), _) => precision,
            (None, Some(width)) if spec.zero && !spec.minus => width.saturating_sub(sign.len()),
            _ => 0,
        };
        let fill = "0".repeat(zeros.saturating_sub(digits.len()));
        self.pad(&format!("{sign}{prefix}{fill}{digits}"), &Spec { zero: false, ..*spec });
    }

    pub(super) fn float(&mut self, number: f64, value: &Value, verb: char, spec: &Spec, depth: usize) {
        let text = match verb {
            'v' => number::general(number, if spec.syntax { None } else { spec.precision }),
            'g' => number::general(number, spec.precision),
            'G' => number::general(number, spec.precision).to_uppercase(),
            'e' => number::scientific(number, spec.precision.unwrap_or(6)),
            'E' => number::scientific(number, spec.precision.unwrap_or(6)).to_uppercase(),
            'f' | 'F' => number::fixed(number, spec.precision.unwrap_or(6)),
            'x' => number::hexadecimal(number, spec.precision),
            'X' => number::hexadecimal(number, spec.precision).to_uppercase(),
            'b' => number::binary(number),
            _ => return self.bad_verb(value, verb, spec, depth),
        };
        let text = if spec.sharp && verb != 'b' && number.is_finite() {
            with_point(&text, verb, spec.precision)
        } else {
            text
        };
        let text = match text.strip_prefix('+') {
            Some(inner) if !spec.plus => inner.to_owned(),
            Some(_) => text,
            None if text.starts_with('-') => text,
            None if spec.plus => format!("+{text}"),
            None if spec.space => format!(" {text}"),
            None => text,
        };
        // Go keeps the sign of an infinity.
        let text = if number == f64::INFINITY && !text.starts_with('+') {
            format!("+{}", text.trim())
        } else {
            text
        };
        let spec = if number.is_finite() {
            *spec
        } else {
            Spec { zero: false, ..*spec }
        };
        self.pad_number(&text, &spec);
    }
}

/// `%c`, `%q` and `%U` of a number.
fn character(number: i128, verb: char, spec: &Spec) -> String {
    let known = u32::try_from(number).ok().and_then(char::from_u32);
    let shown = known.unwrap_or('\u{fffd}');
    match verb {
        'c' => shown.to_string(),
        'q' => quote::quote_with(shown.encode_utf8(&mut [0; 4]), '\'', spec.plus),
        _ => match known {
            Some(known) if spec.sharp => quote::code_point(known),
            _ => {
                // A negative number wraps around.
                let code = number as u64;
                format!("U+{code:0width$X}", width = spec.precision.unwrap_or(4).max(4))
            }
        },
    }
}

/// The flag `#`: there is always a decimal point, and trailing zeros stay.
fn with_point(text: &str, verb: char, precision: Option<usize>) -> String {
    let hexadecimal = matches!(verb, 'x' | 'X');
    let exponents: &[char] = if hexadecimal { &['p', 'P'] } else { &['e', 'E'] };
    let (mantissa, exponent) = text.split_at(text.find(exponents).unwrap_or(text.len()));
    let mut out = mantissa.to_owned();
    let wanted = match verb {
        'v' | 'g' | 'G' | 'x' | 'X' => precision.unwrap_or(6),
        _ => 0,
    };
    let digits = mantissa.trim_start_matches(['+', '-']);
    // The letter of `0x` counts as a digit to Go.
    let significant = digits.trim_start_matches(['0', '.']).replace('.', "").len();
    let lone_zero = !digits.contains('.') && digits == "0";
    if !mantissa.contains('.') {
        out.push('.');
    }
    let missing = wanted.saturating_sub(significant + usize::from(lone_zero));
    out.push_str(&"0".repeat(missing));
    out.push_str(exponent);
    out
}
