//! Formats of texts in schemas: whether a text is a date, an address, a UUID and so on.

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeschema::name;

use super::numbers;

/// Whether a text has the format; formats nobody knows accept everything.
pub(super) fn accepts(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "datetime" => is_time(text),
        "date" => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
        "duration" => is_duration(text),
        "ipv4" => address(text) && text.contains('.'),
        "ipv6" => address(text) && text.contains(':'),
        "cidr" => is_network(text),
        "mac" => is_mac(text),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some('3')),
        "uuid4" => is_uuid(text, Some('4')),
        "uuid5" => is_uuid(text, Some('5')),
        "byte" => !text.is_empty() && STANDARD.decode(text).is_ok(),
        "uri" => is_uri(text),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "k8s-short-name" => name::dns_label(text).is_empty(),
        "k8s-long-name" => name::dns_subdomain(text).is_empty(),
        "hexcolor" => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
        }
        "rgbcolor" => is_rgb(text),
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
        "isbn" => numbers::is_isbn10(text) || numbers::is_isbn13(text),
        "isbn10" => numbers::is_isbn10(text),
        "isbn13" => numbers::is_isbn13(text),
        "creditcard" => numbers::is_card(text),
        "ssn" => numbers::is_ssn(text),
        _ => true,
    }
}

/// RFC 3339 with seconds, `T` and a zone.
fn is_time(text: &str) -> bool {
    let separated = text.as_bytes().get(10).is_some_and(|b| b.eq_ignore_ascii_case(&b't'));
    let zoned = text.ends_with(['Z', 'z'])
        || text
            .get(text.len().saturating_sub(6)..)
            .is_some_and(|zone| zone.starts_with(['+', '-']) && zone.as_bytes().get(3) == Some(&b':'));
    let seconds = text.as_bytes().get(16) == Some(&b':');
    separated && zoned && seconds && text.parse::<jiff::Timestamp>().is_ok()
}

/// An address, leading zeros allowed, without a zone.
fn address(text: &str) -> bool {
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().is_ok();
    }
    text.split('.').count() == 4
        && text
            .split('.')
            .all(|part| part.bytes().all(|b| b.is_ascii_digit()) && part.parse::<u8>().is_ok())
}

/// Formats of texts that are checked, or known to need no check.
const OF_TEXTS: &[&str] = &[
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "date-time",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8s-long-name",
    "k8s-short-name",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// Whether a format means something for values of a type; an empty type is any.
pub(super) fn known(kind: &str, format: &str) -> bool {
    match kind {
        "string" => OF_TEXTS.contains(&format),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        "" => OF_TEXTS.contains(&format),
        _ => false,
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
    let given = text[digits..].trim().to_lowercase();
    let unit = given.trim_end_matches('s');
    let short = ["n", "u", "µ", "m", "", "sec", "min", "h", "hr", "d", "w"];
    digits > 0 && !given.is_empty() && (UNITS.contains(&unit) || short.contains(&unit))
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

/// Six, eight or twenty bytes in hexadecimal, in pairs or fours, or just digits.
fn is_mac(text: &str) -> bool {
    let hex = |part: &&str| part.bytes().all(|b| b.is_ascii_hexdigit());
    let grouped = |separator: char, width: usize| {
        let parts: Vec<&str> = text.split(separator).collect();
        matches!(parts.len() * width, 12 | 16 | 40) && parts.iter().all(|part| part.len() == width && hex(part))
    };
    grouped(':', 2) || grouped('-', 2) || grouped('.', 4) || (matches!(text.len(), 12 | 16 | 40) && hex(&text))
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

/// One label, or labels under a domain of two or more letters. Letters and symbols of any script count.
fn is_hostname(text: &str) -> bool {
    const LONGEST: usize = 63;
    let plain = |c: char| c.is_alphanumeric() && (c.is_ascii() || !c.is_numeric()) || is_symbol(c);
    let fits = |label: &str, inner: fn(char) -> bool| {
        let (first, last) = (label.chars().next(), label.chars().next_back());
        label.chars().count() <= LONGEST
            && first.is_some_and(plain)
            && last.is_some_and(plain)
            && label.chars().all(|c| plain(c) || inner(c))
    };
    match text.rsplit_once('.') {
        // A single label may have a dash behind its first character only.
        None => {
            let second = text.chars().nth(1) == Some('-');
            fits(text, |c| c == '-') && text.matches('-').count() == usize::from(second)
        }
        Some((labels, domain)) => {
            (2..=LONGEST).contains(&domain.len())
                && domain.bytes().all(|b| b.is_ascii_alphabetic())
                && labels.split('.').all(|label| fits(label, |c| c == '-'))
        }
    }
}

fn is_symbol(character: char) -> bool {
    matches!(character, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~')
}

/// A mailbox, with or without a name before it.
fn is_email(text: &str) -> bool {
    let mailbox = text
        .trim()
        .strip_suffix('>')
        .and_then(|named| named.rsplit_once('<'))
        .map_or(text.trim(), |(_, mailbox)| mailbox);
    let Some((user, host)) = mailbox.rsplit_once('@') else {
        return false;
    };
    let atoms = |text: &str| {
        text.split('.').all(|atom| {
            !atom.is_empty()
                && atom
                    .chars()
                    .all(|c| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c))
        })
    };
    let quoted = user
        .strip_prefix('"')
        .and_then(|user| user.strip_suffix('"'))
        .is_some_and(|user| !user.is_empty() && !user.contains('"'));
    (atoms(user) || quoted) && atoms(host)
}

fn is_rgb(text: &str) -> bool {
    let inner = text.strip_prefix("rgb(").and_then(|text| text.strip_suffix(')'));
    inner.is_some_and(|inner| {
        let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
        parts.len() == 3
            && parts
                .iter()
                .all(|part| part.bytes().all(|b| b.is_ascii_digit()) && part.parse::<u8>().is_ok())
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
            ("duration", "10 ms", "10"),
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
            ("email", "user@localhost", "mailto:x@y"),
            ("email", "\"a b\"@c.d", "a b@c"),
            ("hostname", "example.com", "-x"),
            ("hostname", "YQ==", "1.2.3"),
            ("hostname", "localhost", "123-45-6789"),
            ("date-time", "2020-01-01t00:00:00.5z", "2020-01-01 00:00:00Z"),
            ("ipv4", "01.2.3.4", "1.2.3"),
            ("ipv4", "::ffff:1.2.3.4", "::1"),
            ("ipv6", "::ffff:1.2.3.4", "fe80::1%eth0"),
            ("mac", "4111111111111111", "aa:bb"),
            ("mac", "aabb.ccdd.eeff", "aabb.ccdd"),
            ("rgbcolor", "rgb(1, 2,3)", "rgb(1,2,300)"),
            ("k8s-short-name", "a-b", "a.b"),
            ("k8s-long-name", "a.b", "A"),
            ("byte", "YQ==", ""),
        ] {
            assert!(accepts(format, good), "{format} {good}");
            assert!(!accepts(format, bad), "{format} {bad}");
        }
        assert!(accepts("unheard-of", "anything"));
    }
}
