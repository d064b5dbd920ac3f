//! Numbers of a schema's formats, and how Go writes them.

/// Whether a number is one of a type and format; formats that bound nothing accept every number.
pub(super) fn fits(kind: &str, format: &str, number: f64) -> bool {
    // The first number above is no longer one of the format, but can be told exactly.
    let whole = |least: f64, above: f64| number.fract() == 0.0 && number >= least && number < above;
    let power = |bits: i32| 2.0_f64.powi(bits);
    match (kind, format) {
        ("integer", "int32") => whole(-power(31), power(31)),
        ("integer", "uint32") => whole(0.0, power(32)),
        ("integer", "uint64") => whole(0.0, power(64)),
        ("integer", _) => whole(-power(63), power(63)),
        (_, "float" | "float32") => number.abs() <= f64::from(f32::MAX),
        _ => true,
    }
}

/// A number as Go's `%v` writes floats.
pub(super) fn text(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..LONG).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Exponents from here on are written as such.
const LONG: i32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_bound_numbers() {
        for (kind, format, good, bad) in [
            ("integer", "int32", 2_147_483_647.0, 2_147_483_648.0),
            ("integer", "int64", 9_007_199_254_740_993.0, 9_223_372_036_854_775_807.0),
            ("integer", "", 1.0, 1.5),
            ("number", "float", 1.0e38, 1.0e300),
        ] {
            assert!(fits(kind, format, good), "{kind} {format} {good}");
            assert!(!fits(kind, format, bad), "{kind} {format} {bad}");
        }
        assert!(fits("number", "double", 1.0e300) && fits("", "int32", 1.5));
    }

    #[test]
    fn large_numbers_have_exponents() {
        for (number, shown) in [
            (5.0, "5"),
            (-1.5, "-1.5"),
            (123_456.0, "123456"),
            (1_000_000.0, "1e+06"),
            (4_294_967_295.0, "4.294967295e+09"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
        ] {
            assert_eq!(text(number), shown);
        }
    }
}
