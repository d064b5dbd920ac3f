//! Whether a text looks like a YAML timestamp. go-yaml reads such texts as text but writes them in quotes.

/// `2006-1-2`, optionally followed by a time: after `T` or `t` with a zone (`Z` or `+07:00`), after a space without one.
pub(crate) fn is_timestamp(text: &str) -> bool {
    parse(text.as_bytes()).is_some()
}

fn parse(text: &[u8]) -> Option<()> {
    let (year, rest) = number(text, 4, 4)?;
    let (month, rest) = number(rest.strip_prefix(b"-")?, 1, 2)?;
    let (day, rest) = number(rest.strip_prefix(b"-")?, 1, 2)?;
    if !(1..=12).contains(&month) || day < 1 || day > days(year, month) {
        return None;
    }
    let (separator, rest) = match rest.split_first() {
        None => return Some(()),
        Some((separator, rest)) => (*separator, rest),
    };
    let (hour, rest) = number(rest, 1, 2)?;
    let (minute, rest) = number(rest.strip_prefix(b":")?, 1, 2)?;
    let (second, rest) = number(rest.strip_prefix(b":")?, 1, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let zone = fraction(rest);
    let complete = match separator {
        b'T' | b't' => is_zone(zone),
        b' ' => zone.is_empty(),
        _ => false,
    };
    complete.then_some(())
}

/// A number of `least` to `most` digits and what follows it.
fn number(text: &[u8], least: usize, most: usize) -> Option<(u32, &[u8])> {
    let length = text.iter().take(most).take_while(|b| b.is_ascii_digit()).count();
    let value = text[..length]
        .iter()
        .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    (length >= least).then_some((value, &text[length..]))
}

/// What follows an optional fraction of a second.
fn fraction(text: &[u8]) -> &[u8] {
    match text {
        [b'.' | b',', digits @ ..] => {
            let length = digits.iter().take_while(|b| b.is_ascii_digit()).count();
            if length == 0 { text } else { &digits[length..] }
        }
        _ => text,
    }
}

fn is_zone(text: &[u8]) -> bool {
    match text {
        b"Z" => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            let digits = [h1, h2, m1, m2];
            digits.iter().all(|d| d.is_ascii_digit()) && (h1 - b'0') * 10 + (h2 - b'0') <= 24 && *m1 <= b'6'
        }
        _ => false,
    }
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
