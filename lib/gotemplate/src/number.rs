//! Go's number and duration texts.

/// `%v` and `%g` of a float: the shortest digits (or `precision` significant ones), with an exponent below 10⁻⁴ and
/// from 10⁶ (from 10 to the precision, where one is given) on, unless the digits reach further.
pub(crate) fn general(number: f64, precision: Option<usize>) -> String {
    if let Some(special) = special(number) {
        return special;
    }
    let shortest = precision.is_none();
    let text = match precision {
        None => format!("{number:e}"),
        Some(precision) => format!("{number:.*e}", precision.max(1) - 1),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mantissa = if mantissa.contains('.') {
        mantissa.trim_end_matches('0').trim_end_matches('.')
    } else {
        mantissa
    };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // `strconv` decides the shortest form as if six digits had been asked for.
    let mut limit = precision.map_or(6, |precision| i32::try_from(precision.max(1)).unwrap_or(i32::MAX));
    if !shortest && limit > count && count > exponent {
        limit = count;
    }
    if number != 0.0 && (exponent < -4 || exponent >= limit) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let negative = if number.is_sign_negative() { "-" } else { "" };
    if exponent < 0 {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("{negative}0.{}{digits}", "0".repeat(zeros));
    }
    let whole = usize::try_from(exponent).unwrap_or(0) + 1;
    if digits.len() <= whole {
        return format!("{negative}{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{negative}{}.{}", &digits[..whole], &digits[whole..])
}

/// `%e`
pub(crate) fn scientific(number: f64, precision: usize) -> String {
    if let Some(special) = special(number) {
        return special;
    }
    let text = format!("{number:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!(
        "{mantissa}e{}{:02}",
        if exponent < 0 { '-' } else { '+' },
        exponent.abs()
    )
}

/// `%f`
pub(crate) fn fixed(number: f64, precision: usize) -> String {
    special(number).unwrap_or_else(|| format!("{number:.precision$}"))
}

/// The mantissa as an integer and the power of two it is multiplied with.
fn parts(number: f64) -> (u64, i32) {
    let bits = number.to_bits();
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    }
}

fn sign(number: f64) -> &'static str {
    if number.is_sign_negative() { "-" } else { "" }
}

/// `%b`: mantissa and power of two.
pub(crate) fn binary(number: f64) -> String {
    special(number).unwrap_or_else(|| {
        let (mantissa, exponent) = parts(number);
        format!("{}{mantissa}p{exponent:+}", sign(number))
    })
}

/// `%x`: the mantissa in hexadecimal, normalised to begin with 1.
pub(crate) fn hexadecimal(number: f64, precision: Option<usize>) -> String {
    if let Some(special) = special(number) {
        return special;
    }
    let (mut mantissa, mut exponent) = parts(number);
    exponent += 52;
    if mantissa == 0 {
        exponent = 0;
    }
    while mantissa != 0 && mantissa < 1 << 52 {
        mantissa <<= 1;
        exponent -= 1;
    }
    // Thirteen digits follow the point.
    if let Some(precision) = precision.filter(|precision| *precision < 13) {
        let dropped = 4 * (13 - precision);
        let half = 1u64 << (dropped - 1);
        let rest = mantissa & ((1 << dropped) - 1);
        mantissa >>= dropped;
        if rest > half || (rest == half && mantissa & 1 == 1) {
            mantissa += 1;
        }
        mantissa <<= dropped;
        if mantissa >= 1 << 53 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let digits = format!("{:013x}", mantissa & ((1 << 52) - 1));
    let digits = match precision {
        None => digits.trim_end_matches('0').to_owned(),
        Some(precision) => format!("{digits:0<precision$}")[..precision].to_owned(),
    };
    let point = if digits.is_empty() { "" } else { "." };
    let power = if exponent < 0 { '-' } else { '+' };
    format!(
        "{}0x{}{point}{digits}p{power}{:02}",
        sign(number),
        mantissa >> 52,
        exponent.abs()
    )
}

fn special(number: f64) -> Option<String> {
    if number.is_nan() {
        return Some("NaN".into());
    }
    number
        .is_infinite()
        .then(|| if number > 0.0 { "+Inf".into() } else { "-Inf".into() })
}

/// A `time.Duration` in nanoseconds as its `String` method prints it: `1h30m0s`, `1.5s`, `2ms`.
pub fn duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let total = nanos.unsigned_abs();
    if total == 0 {
        return "0s".into();
    }
    let fraction = |value: u64, unit: u64| {
        let digits = format!("{:0width$}", value % unit, width = unit.ilog10() as usize);
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() {
            (value / unit).to_string()
        } else {
            format!("{}.{digits}", value / unit)
        }
    };
    match total {
        0..1_000 => format!("{sign}{total}ns"),
        1_000..1_000_000 => format!("{sign}{}µs", fraction(total, 1_000)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", fraction(total, 1_000_000)),
        _ => {
            let minutes = total / 60_000_000_000;
            let seconds = fraction(total % 60_000_000_000, 1_000_000_000);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{sign}{seconds}s"),
                (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

/// Reads a duration as `time.ParseDuration` does: `1h30m`, `1.5s`, `-2ms`; in nanoseconds.
pub fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0f64;
    let mut whole = 0i128;
    while !rest.is_empty() {
        let len = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let digits = &rest[..len];
        rest = &rest[len..];
        let unit_len = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let unit: i128 = match &rest[..unit_len] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        rest = &rest[unit_len..];
        match digits.parse::<i64>() {
            Ok(value) => whole += i128::from(value) * unit,
            Err(_) => {
                let value: f64 = digits.parse().ok()?;
                whole += value.trunc() as i128 * unit;
                total += (value.fract() * unit as f64).round();
            }
        }
    }
    let nanos = i64::try_from(whole + total as i128).ok()?;
    Some(if negative { -nanos } else { nanos })
}
