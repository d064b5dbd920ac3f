//! Formats of texts in schemas: whether a text is a date, an address, a UUID and so on.

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Whether a text has the format; formats nobody knows accept everything.
pub(super) fn accepts(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "datetime" => text.parse::<jiff::Timestamp>().is_ok(),
        "date" => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
        "duration" => is_duration(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_network(text),
        "mac" => is_mac(text),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some('3')),
        "uuid4" => is_uuid(text, Some('4')),
        "uuid5" => is_uuid(text, Some('5')),
        "byte" => STANDARD.decode(text).is_ok(),
        "uri" => is_uri(text),
        "email" => text
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && is_hostname(host)),
        "hostname" => is_hostname(text),
        "hexcolor" => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
        }
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
        _ => true,
    }
}

/// Go's durations (`1h30m`, `-1.5s`) and the words the reference also takes (`5 minutes`).
fn is_duration(text: &str) -> bool {
    let plain = text.strip_prefix(['-', '+']).unwrap_or(text);
    if plain == "0" {
        return true;
    }
    go_duration(plain) || worded_duration(text)
}

fn go_duration(mut rest: &str) -> bool {
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let number = &rest[..digits];
        if number.parse::<f64>().is_err() {
            return false;
        }
        rest = &rest[digits..];
        let Some(unit) = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"]
            .iter()
            .find(|unit| rest.starts_with(**unit))
        else {
            return false;
        };
        rest = &rest[unit.len()..];
    }
    true
}

fn worded_duration(text: &str) -> bool {
    const UNITS: [&str; 8] = ["nano", "micro", "milli", "second", "minute", "hour", "day", "week"];
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let unit = text[digits..].trim().trim_end_matches('s').to_lowercase();
    digits > 0 && (UNITS.contains(&unit.as_str()) || matches!(unit.as_str(), "d" | "w" | "sec" | "min" | "hr"))
}

fn is_network(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let Ok(bits) = bits.parse::<u8>() else {
        return false;
    };
    (address.parse::<Ipv4Addr>().is_ok() && bits <= 32) || (address.parse::<Ipv6Addr>().is_ok() && bits <= 128)
}

fn is_mac(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '-']).collect();
    matches!(parts.len(), 6 | 8 | 20)
        && parts
            .iter()
            .all(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_uuid(text: &str, version: Option<char>) -> bool {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let dashes_fit = text.len() == 32 || text.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    digits.len() == 32
        && digits.bytes().all(|b| b.is_ascii_hexdigit())
        && dashes_fit
        && version.is_none_or(|version| digits.chars().nth(12) == Some(version))
}

/// What Go's `url.ParseRequestURI` takes: an absolute URI or an absolute path.
fn is_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|b| b.is_ascii_control() || b == b' ') {
        return false;
    }
    if text.starts_with('/') {
        return true;
    }
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    })
}

fn is_hostname(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 255
        && text.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_accept_and_refuse() {
        for (format, good, bad) in [
            ("date-time", "2020-01-01T00:00:00Z", "yesterday"),
            ("date", "2020-01-01", "2020-13-01"),
            ("duration", "1h30m", "long"),
            ("duration", "5 minutes", "5 lightyears"),
            ("ipv4", "192.0.2.1", "::1"),
            ("ipv6", "::1", "192.0.2.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("mac", "00:11:22:33:44:55", "00:11"),
            ("uuid", "00000000-0000-4000-8000-000000000000", "x"),
            (
                "uuid4",
                "00000000-0000-4000-8000-000000000000",
                "00000000-0000-3000-8000-000000000000",
            ),
            ("byte", "YQ==", "%"),
            ("uri", "http://x", "not a uri"),
            ("email", "a@example.com", "a"),
            ("hostname", "example.com", "-x"),
        ] {
            assert!(accepts(format, good), "{format} {good}");
            assert!(!accepts(format, bad), "{format} {bad}");
        }
        assert!(accepts("unheard-of", "anything"));
    }
}
