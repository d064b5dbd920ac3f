//! Durations as `metav1.Duration` writes them: `1h30m0s`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A Go duration, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub i64);

const UNITS: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("h", 3600e9),
];

impl Duration {
    /// Reads `1h30m`, `1.5h`, `-2s`, `0`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, mut rest) = match text.as_bytes().first()? {
            b'-' => (-1.0, &text[1..]),
            b'+' => (1.0, &text[1..]),
            _ => (1.0, text),
        };
        if rest == "0" {
            return Some(Self(0));
        }
        if rest.is_empty() {
            return None;
        }
        let mut total = 0.0;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let number: f64 = rest[..digits].parse().ok()?;
            rest = &rest[digits..];
            let end = rest
                .find(|c: char| c.is_ascii_digit() || c == '.')
                .unwrap_or(rest.len());
            let (_, scale) = UNITS.iter().find(|(unit, _)| *unit == &rest[..end])?;
            total += number * scale;
            rest = &rest[end..];
        }
        (total.abs() < 9.223_372_036_854_775e18).then_some(Self((sign * total) as i64))
    }

    /// As a `std` duration; negative ones are zero.
    #[must_use]
    pub fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_nanos(u64::try_from(self.0).unwrap_or(0))
    }
}

impl std::fmt::Display for Duration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nanos = self.0.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let fraction = |value: u64, scale: u64| {
            let text = format!(
                "{}.{:0width$}",
                value / scale,
                value % scale,
                width = scale.ilog10() as usize
            );
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        match nanos {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{nanos}ns"),
            1_000..1_000_000 => write!(f, "{}µs", fraction(nanos, 1_000)),
            1_000_000..1_000_000_000 => write!(f, "{}ms", fraction(nanos, 1_000_000)),
            _ => {
                let seconds = nanos / 1_000_000_000;
                let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
                if hours > 0 {
                    write!(f, "{hours}h")?;
                }
                if hours > 0 || minutes > 0 {
                    write!(f, "{minutes}m")?;
                }
                write!(f, "{}s", fraction(nanos % 60_000_000_000, 1_000_000_000))
            }
        }
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("invalid duration {text:?}")))
    }
}
