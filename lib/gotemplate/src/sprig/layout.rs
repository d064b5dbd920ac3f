//! Go's layouts: a time is written and read by the example of 2006-01-02 15:04:05.

use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::value::MONTHS;

const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// The reference words of a layout, longest first where one begins another.
const WORDS: &[&str] = &[
    "January",
    "Jan",
    "Monday",
    "Mon",
    "MST",
    "2006",
    "-07:00:00",
    "-07:00",
    "-070000",
    "-0700",
    "-07",
    "Z07:00:00",
    "Z07:00",
    "Z070000",
    "Z0700",
    "Z07",
    "002",
    "01",
    "02",
    "03",
    "04",
    "05",
    "06",
    "15",
    "__2",
    "_2",
    "PM",
    "pm",
    "1",
    "2",
    "3",
    "4",
    "5",
];

/// The next reference word of a layout: what stands before it, the word, and what follows.
fn next_word(layout: &str) -> Option<(&str, &str, &str)> {
    for (at, _) in layout.char_indices() {
        let rest = &layout[at..];
        if rest.starts_with(['.', ',']) {
            let digit = rest
                .as_bytes()
                .get(1)
                .copied()
                .filter(|byte| matches!(byte, b'0' | b'9'));
            if let Some(digit) = digit {
                let len = 1 + rest[1..].bytes().take_while(|byte| *byte == digit).count();
                if !rest[len..].starts_with(|c: char| c.is_ascii_digit()) {
                    return Some((&layout[..at], &rest[..len], &rest[len..]));
                }
            }
        }
        // "Jan" and "Mon" only count where no other word goes on with them.
        let found = WORDS.iter().find(|word| {
            rest.starts_with(**word)
                && !(matches!(**word, "Jan" | "Mon") && rest[3..].starts_with(|c: char| c.is_ascii_lowercase()))
                && !(**word == "_2" && rest.starts_with("_2006"))
        });
        if let Some(word) = found {
            return Some((&layout[..at], &rest[..word.len()], &rest[word.len()..]));
        }
    }
    None
}

/// Writes a time in a Go layout.
pub(super) fn format(time: &Zoned, layout: &str) -> String {
    let mut out = String::new();
    let mut rest = layout;
    while let Some((before, word, after)) = next_word(rest) {
        out.push_str(before);
        out.push_str(&formatted(time, word));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn formatted(time: &Zoned, word: &str) -> String {
    let hour12 = match time.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    let month = MONTHS
        .get(usize::try_from(time.month() - 1).unwrap_or(0))
        .copied()
        .unwrap_or_default();
    let day = DAYS
        .get(usize::try_from(time.weekday().to_monday_zero_offset()).unwrap_or(0))
        .copied()
        .unwrap_or_default();
    match word {
        "2006" => format!("{:04}", time.year()),
        "06" => format!("{:02}", time.year().rem_euclid(100)),
        "01" => format!("{:02}", time.month()),
        "1" => time.month().to_string(),
        "Jan" => month[..3].to_owned(),
        "January" => month.to_owned(),
        "Mon" => day[..3].to_owned(),
        "Monday" => day.to_owned(),
        "02" => format!("{:02}", time.day()),
        "_2" => format!("{:2}", time.day()),
        "2" => time.day().to_string(),
        "002" => format!("{:03}", time.day_of_year()),
        "__2" => format!("{:3}", time.day_of_year()),
        "15" => format!("{:02}", time.hour()),
        "03" => format!("{hour12:02}"),
        "3" => hour12.to_string(),
        "04" => format!("{:02}", time.minute()),
        "4" => time.minute().to_string(),
        "05" => format!("{:02}", time.second()),
        "5" => time.second().to_string(),
        "PM" => if time.hour() >= 12 { "PM" } else { "AM" }.to_owned(),
        "pm" => if time.hour() >= 12 { "pm" } else { "am" }.to_owned(),
        "MST" => match time.strftime("%Z").to_string() {
            // A zone without a name shows its offset.
            name if name.starts_with(['+', '-']) => offset(time.offset().seconds(), "-0700"),
            name => name,
        },
        word if word.starts_with(['.', ',']) => {
            let digits = format!("{:09}", time.subsec_nanosecond());
            let count = (word.len() - 1).min(9);
            if word.contains('9') {
                let digits = digits[..count].trim_end_matches('0');
                if digits.is_empty() {
                    String::new()
                } else {
                    format!("{}{digits}", &word[..1])
                }
            } else {
                format!("{}{}", &word[..1], &digits[..count])
            }
        }
        word => offset(time.offset().seconds(), word),
    }
}

fn offset(seconds: i32, word: &str) -> String {
    if word.starts_with('Z') && seconds == 0 {
        return "Z".into();
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let total = seconds.unsigned_abs();
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
    match &word[1..] {
        "07:00:00" => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
        "07:00" => format!("{sign}{hours:02}:{minutes:02}"),
        "070000" => format!("{sign}{hours:02}{minutes:02}{seconds:02}"),
        "0700" => format!("{sign}{hours:02}{minutes:02}"),
        _ => format!("{sign}{hours:02}"),
    }
}

/// Why a text is no time.
pub(super) enum Mistake {
    /// A number is too large.
    Range(&'static str),
    /// Something follows.
    Extra(String),
    /// The rest of the text is not the next word of the layout.
    At(String, String),
}

/// Reads a time in a Go layout.
pub(super) fn parse(layout: &str, text: &str) -> Result<Zoned, Mistake> {
    let mut place = (text, layout);
    match read(layout, text, &mut place) {
        Some(result) => result,
        None => Err(Mistake::At(place.0.to_owned(), place.1.to_owned())),
    }
}

/// What does not fit: `None` at the place that `place` names.
fn read<'t>(layout: &'t str, text: &'t str, place: &mut (&'t str, &'t str)) -> Option<Result<Zoned, Mistake>> {
    let (mut year, mut month, mut day) = (0i16, 1i8, 1i8);
    let (mut hour, mut minute, mut second, mut nanos) = (0i8, 0i8, 0i8, 0i32);
    let (mut afternoon, mut shift, mut day_of_year) = (None, 0i32, None);
    let (mut layout, mut text) = (layout, text);
    while let Some((before, word, after)) = next_word(layout) {
        *place = (text, before);
        text = text.strip_prefix(before)?;
        *place = (text, word);
        let mut number = |least: usize, most: usize| -> Option<i16> {
            let len = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
            let (digits, tail) = text.split_at(len);
            text = tail;
            if len < least { None } else { digits.parse().ok() }
        };
        let small = |value: i16| i8::try_from(value).ok();
        match word {
            "2006" => year = number(4, 4)?,
            "002" => day_of_year = Some(number(3, 3)?),
            "06" => year = number(2, 2).map(|year| if year >= 69 { 1900 + year } else { 2000 + year })?,
            "01" => month = small(number(2, 2)?)?,
            "1" => month = small(number(1, 2)?)?,
            "02" => day = small(number(2, 2)?)?,
            "2" => day = small(number(1, 2)?)?,
            "_2" => {
                text = text.trim_start_matches(' ');
                let len = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
                day = text.get(..len)?.parse().ok()?;
                text = &text[len..];
            }
            "15" => hour = small(number(2, 2)?)?,
            "03" => hour = small(number(2, 2)?)?,
            "3" => hour = small(number(1, 2)?)?,
            "04" => minute = small(number(2, 2)?)?,
            "4" => minute = small(number(1, 2)?)?,
            "05" | "5" => {
                second = small(number(if word == "05" { 2 } else { 1 }, 2)?)?;
                // A fraction may follow the seconds even where the layout has none.
                if text.starts_with('.') && !after.starts_with(['.', ',']) {
                    let len = text[1..].bytes().take_while(u8::is_ascii_digit).count();
                    nanos = fraction(text.get(1..=len)?)?;
                    text = &text[1 + len..];
                }
            }
            "PM" | "pm" => {
                afternoon = Some(match text.get(..2)?.to_ascii_uppercase().as_str() {
                    "PM" => true,
                    "AM" => false,
                    _ => return None,
                });
                text = &text[2..];
            }
            "January" | "Jan" => {
                let name = |name: &&str| if word == "Jan" { &name[..3] } else { *name }.to_owned();
                let found = MONTHS.iter().position(|month| text.starts_with(&name(month)))?;
                month = i8::try_from(found + 1).ok()?;
                text = &text[name(&MONTHS[found]).len()..];
            }
            "Monday" | "Mon" => {
                let name = |name: &&str| if word == "Mon" { &name[..3] } else { *name }.to_owned();
                let found = DAYS.iter().find(|day| text.starts_with(&name(day)))?;
                text = &text[name(found).len()..];
            }
            "MST" => text = text.trim_start_matches(|c: char| c.is_ascii_uppercase()),
            word if word.starts_with('Z') && text.starts_with('Z') => text = &text[1..],
            word if word.starts_with(['Z', '-']) => {
                let sign = match text.as_bytes().first()? {
                    b'+' => 1,
                    b'-' => -1,
                    _ => return None,
                };
                let digits: String = text.get(1..word.len())?.chars().filter(char::is_ascii_digit).collect();
                let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), |two| two.parse::<i32>().ok());
                shift = sign * (part(0)? * 3600 + part(2)? * 60 + part(4)?);
                text = text.get(word.len()..)?;
            }
            word if word.starts_with(['.', ',']) => {
                if text.starts_with(['.', ',']) {
                    let len = text[1..].bytes().take_while(u8::is_ascii_digit).count();
                    nanos = fraction(text.get(1..=len)?)?;
                    text = &text[1 + len..];
                }
            }
            _ => return None,
        }
        layout = after;
    }
    *place = (text, layout);
    let extra = text.strip_prefix(layout)?;
    if !extra.is_empty() {
        return Some(Err(Mistake::Extra(extra.to_owned())));
    }
    match afternoon {
        Some(true) if hour < 12 => hour += 12,
        Some(false) if hour == 12 => hour = 0,
        _ => {}
    }
    if let Some(days) = day_of_year {
        let date = jiff::civil::Date::new(year, 1, 1).ok()?;
        let found = date.checked_add(jiff::Span::new().days(days - 1)).ok();
        let Some(date) = found.filter(|date| date.year() == year) else {
            return Some(Err(Mistake::Range("day-of-year")));
        };
        (month, day) = (date.month(), date.day());
    }
    let limits = [
        ("month", (1..=12).contains(&month)),
        ("hour", (0..24).contains(&hour)),
        ("minute", (0..60).contains(&minute)),
        ("second", (0..60).contains(&second)),
        ("day", jiff::civil::Date::new(year, month.clamp(1, 12), day).is_ok()),
    ];
    if let Some((what, _)) = limits.iter().find(|(_, holds)| !holds) {
        return Some(Err(Mistake::Range(what)));
    }
    let civil = jiff::civil::DateTime::new(year, month, day, hour, minute, second, nanos).ok()?;
    let zone = TimeZone::fixed(jiff::tz::Offset::from_seconds(shift).ok()?);
    civil
        .to_zoned(if shift == 0 { TimeZone::UTC } else { zone })
        .ok()
        .map(Ok)
}

fn fraction(digits: &str) -> Option<i32> {
    let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
    nine.parse().ok()
}
