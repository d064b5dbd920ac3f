//! Quantities: `500m`, `1.5Gi`, `1e3` → a number with its canonical spelling.
//!
//! Mirrors upstream's `resource.Quantity`: precision is 10⁻⁹ (smaller amounts are rounded away from zero), the
//! magnitude is capped at 2⁶³-1, and the canonical form keeps the family of suffixes it was written with.

use std::cmp::Ordering;
use std::fmt;

/// Why a text is no quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text does not follow the grammar.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// The suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// The family of suffixes a quantity is spelled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `n u m k M G T P E`.
    Decimal,
    /// `Ki Mi Gi Ti Pi Ei`.
    Binary,
    /// `e3`.
    Exponent,
}

const NANO: i128 = 1_000_000_000;
const LIMIT: i128 = i64::MAX as i128 * NANO;
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// An amount with the family it is spelled in. Equality is that of the amount alone.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    nano: i128,
    format: Format,
}

impl Quantity {
    /// Reads a quantity.
    ///
    /// # Errors
    /// Where the number is malformed or the suffix unknown.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (negative, digits) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            Some(_) => (false, text),
            None => return Err(Error::Format),
        };
        let end = digits
            .bytes()
            .position(|b| !b.is_ascii_digit() && b != b'.')
            .unwrap_or(digits.len());
        let (number, suffix) = digits.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return Err(Error::Format);
        }
        let (scale, format) = scale_of(suffix)?;
        let mut nano = match scale {
            Scale::Power10(power) => decimal_nano(whole, fraction, power),
            Scale::Power2(power) => binary_nano(whole, fraction, power),
        };
        nano = nano.min(LIMIT);
        let format = if format == Format::Binary && nano > 0 && nano < NANO {
            Format::Decimal
        } else {
            format
        };
        Ok(Quantity {
            nano: if negative { -nano } else { nano },
            format,
        })
    }

    /// A whole number.
    pub fn from_integer(value: i64, format: Format) -> Self {
        Quantity {
            nano: i128::from(value) * NANO,
            format,
        }
    }

    /// The amount in units of 10⁻⁹.
    pub fn nano(&self) -> i128 {
        self.nano
    }

    /// The amount in whole units, rounded away from zero.
    pub fn value(&self) -> i64 {
        i64::try_from(rounded(self.nano, NANO)).unwrap_or(if self.nano < 0 { i64::MIN } else { i64::MAX })
    }

    /// The amount in thousandths, rounded away from zero.
    pub fn milli_value(&self) -> i64 {
        i64::try_from(rounded(self.nano, NANO / 1000)).unwrap_or(if self.nano < 0 { i64::MIN } else { i64::MAX })
    }

    /// The family of suffixes.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.nano == 0
    }

    /// The sum, spelled as the left operand unless that is zero.
    #[must_use]
    pub fn plus(&self, other: &Quantity) -> Quantity {
        let format = if self.nano == 0 { other.format } else { self.format };
        Quantity {
            nano: (self.nano + other.nano).clamp(-LIMIT, LIMIT),
            format,
        }
    }

    /// The difference, spelled as the left operand unless that is zero.
    #[must_use]
    pub fn minus(&self, other: &Quantity) -> Quantity {
        self.plus(&Quantity {
            nano: -other.nano,
            format: other.format,
        })
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nano == 0 {
            return f.write_str("0");
        }
        let small = self.nano.abs() < 1024 * NANO;
        if self.format == Format::Binary && !small {
            let mut amount = rounded(self.nano, NANO);
            let mut power = 0;
            while amount % 1024 == 0 && power < BINARY.len() {
                amount /= 1024;
                power += 1;
            }
            let suffix = if power == 0 { "" } else { BINARY[power - 1] };
            return write!(f, "{amount}{suffix}");
        }
        let mut amount = self.nano;
        let mut exponent = -9;
        while amount % 1000 == 0 && exponent < 18 {
            amount /= 1000;
            exponent += 3;
        }
        if self.format == Format::Exponent {
            return if exponent == 0 {
                write!(f, "{amount}")
            } else {
                write!(f, "{amount}e{exponent}")
            };
        }
        let suffix = match exponent {
            -9 => "n",
            -6 => "u",
            -3 => "m",
            3 => "k",
            6 => "M",
            9 => "G",
            12 => "T",
            15 => "P",
            18 => "E",
            _ => "",
        };
        write!(f, "{amount}{suffix}")
    }
}

/// The canonical spelling of a quantity.
///
/// # Errors
/// As [`Quantity::parse`].
pub fn canonical(text: &str) -> Result<String, Error> {
    Quantity::parse(text).map(|quantity| quantity.to_string())
}

enum Scale {
    Power10(i32),
    Power2(u32),
}

fn scale_of(suffix: &str) -> Result<(Scale, Format), Error> {
    let power = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        other => {
            if let Some(position) = BINARY.iter().position(|b| *b == other) {
                return Ok((
                    Scale::Power2((u32::try_from(position).unwrap_or(0) + 1) * 10),
                    Format::Binary,
                ));
            }
            let exponent = other.strip_prefix(['e', 'E']).ok_or(Error::Suffix)?;
            let power: i32 = exponent.parse().map_err(|_| Error::Suffix)?;
            return Ok((Scale::Power10(power), Format::Exponent));
        }
    };
    Ok((Scale::Power10(power), Format::Decimal))
}

/// `whole.fraction × 10^power` in nano units, rounded up, capped.
fn decimal_nano(whole: &str, fraction: &str, power: i32) -> i128 {
    let digits: String = format!("{whole}{fraction}").trim_start_matches('0').to_owned();
    if digits.is_empty() {
        return 0;
    }
    // The value is digits × 10^shift in nano units.
    let shift = i64::from(power) + 9 - i64::try_from(fraction.len()).unwrap_or(i64::MAX / 2);
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX / 2);
    if length.saturating_add(shift) > 30 {
        return LIMIT;
    }
    if shift >= 0 {
        let zeros = usize::try_from(shift).unwrap_or(0);
        return format!("{digits}{}", "0".repeat(zeros)).parse().unwrap_or(LIMIT);
    }
    let keep = usize::try_from(length + shift).unwrap_or(0);
    let (kept, lost) = digits.split_at(keep.min(digits.len()));
    let amount: i128 = if kept.is_empty() {
        0
    } else {
        kept.parse().unwrap_or(LIMIT)
    };
    amount + i128::from(length + shift < 0 || lost.bytes().any(|b| b != b'0'))
}

/// `whole.fraction × 2^power` in nano units, rounded up, capped.
fn binary_nano(whole: &str, fraction: &str, power: u32) -> i128 {
    let factor = 1i128 << power;
    // 20 digits of whole part are beyond the cap already.
    let whole: i128 = match whole.trim_start_matches('0') {
        "" => 0,
        text if text.len() > 19 => return LIMIT,
        text => text.parse().unwrap_or(LIMIT),
    };
    let mut nano = whole.saturating_mul(factor).saturating_mul(NANO);
    let mut divisor: i128 = 1;
    let mut numerator: i128 = 0;
    let mut inexact = false;
    for (position, digit) in fraction.bytes().enumerate() {
        // More than nine digits cannot be held exactly; the rest only decides the rounding.
        if position < 9 {
            divisor *= 10;
            numerator = numerator * 10 + i128::from(digit - b'0');
        } else {
            inexact |= digit != b'0';
        }
    }
    let part = numerator.saturating_mul(factor).saturating_mul(NANO);
    nano = nano.saturating_add(part / divisor);
    if part % divisor != 0 || inexact {
        nano = nano.saturating_add(1);
    }
    nano
}

fn rounded(nano: i128, unit: i128) -> i128 {
    let whole = nano / unit;
    if nano % unit == 0 { whole } else { whole + nano.signum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_has_no_fraction_and_the_largest_suffix() {
        for (text, canonical_form) in [
            ("0", "0"),
            ("1", "1"),
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1500m", "1500m"),
            ("1.5Gi", "1536Mi"),
            ("1024Ki", "1Mi"),
            ("1024", "1024"),
            ("1000", "1k"),
            ("100Mi", "100Mi"),
            ("0.1Ki", "102400m"),
            ("512Ki", "512Ki"),
            ("1e3", "1e3"),
            ("1E6", "1e6"),
            ("12e1", "120"),
            ("1000000", "1M"),
            ("-5", "-5"),
            ("+2k", "2k"),
            ("0.0000000001", "1n"),
            ("1.", "1"),
            (".5", "500m"),
            ("1Ei", "1Ei"),
            ("9223372036854775807", "9223372036854775807"),
            ("99999999999999999999", "9223372036854775807"),
            ("100u", "100u"),
            ("0Gi", "0"),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(canonical_form), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_quantities() {
        for bad in [
            "", "-", "a", "1x", "1KI", "1.2.3", "e3", "1e", "1 ", " 1", "1mi", ".", "١",
        ] {
            assert!(Quantity::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn amounts_compare_across_spellings() {
        let q = |t| Quantity::parse(t).unwrap();
        assert_eq!(q("1000m"), q("1"));
        assert!(q("1Gi") > q("1G"));
        assert_eq!(q("1001m").value(), 2);
        assert_eq!(q("1.5").milli_value(), 1500);
        assert_eq!(q("1Gi").plus(&q("1Gi")).to_string(), "2Gi");
        assert_eq!(q("2").minus(&q("500m")).to_string(), "1500m");
    }
}
