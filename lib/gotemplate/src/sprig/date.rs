//! Dates: Go's layouts (`2006-01-02`), durations and time stamps. The zone of "local" times is UTC.

use std::rc::Rc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::layout::{Mistake, format, parse};
use super::number::to_duration;
use super::{any, int, string};
use crate::failure::Failure;
use crate::function::{Native, Signature};
use crate::machine::Machine;
use crate::number::parse_duration;
use crate::object::GoObject;
use crate::value::{Value, Width};

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("now", "", |_, _| Ok(object(now()))),
    ("date", "sa", |_, args| {
        Ok(format(&time(any(args, 1)), string(args, 0)).into())
    }),
    ("dateInZone", "sas", in_zone),
    ("date_in_zone", "sas", in_zone),
    ("htmlDate", "a", |_, args| {
        Ok(format(&time(any(args, 0)), "2006-01-02").into())
    }),
    ("htmlDateInZone", "as", |_, args| {
        Ok(format(&time(any(args, 0)).with_time_zone(zone(string(args, 1))), "2006-01-02").into())
    }),
    ("dateModify", "st", |_, args| {
        Ok(modify(args).unwrap_or_else(|| any(args, 1).clone()))
    }),
    ("date_modify", "st", |_, args| {
        Ok(modify(args).unwrap_or_else(|| any(args, 1).clone()))
    }),
    ("mustDateModify", "st", must_modify),
    ("must_date_modify", "st", must_modify),
    ("toDate", "ss", |_, args| {
        Ok(object(
            parse(string(args, 0), string(args, 1)).unwrap_or_else(|_| zero().to_zoned(TimeZone::UTC)),
        ))
    }),
    ("mustToDate", "ss", |_, args| {
        let (layout, text) = (string(args, 0), string(args, 1));
        let time = parse(layout, text).map_err(|mistake| {
            let (text, layout) = (crate::quote::quote(text), crate::quote::quote(layout));
            Failure::new(match mistake {
                Mistake::Range(what) => format!("parsing time {text}: {what} out of range"),
                Mistake::Extra(rest) => format!("parsing time {text}: extra text: {}", crate::quote::quote(&rest)),
                Mistake::At(rest, word) => format!(
                    "parsing time {text} as {layout}: cannot parse {} as {}",
                    crate::quote::quote(&rest),
                    crate::quote::quote(&word)
                ),
            })
        });
        Ok(object(time?))
    }),
    ("unixEpoch", "t", |_, args| {
        Ok(time(any(args, 0)).timestamp().as_second().to_string().into())
    }),
    ("ago", "a", |_, args| {
        let seconds = now().timestamp().as_second() - time(any(args, 0)).timestamp().as_second();
        Ok(crate::number::duration(seconds.saturating_mul(1_000_000_000)).into())
    }),
];

const RFC3339: &str = "2006-01-02T15:04:05.999999999Z07:00";

fn now() -> Zoned {
    Timestamp::now().to_zoned(TimeZone::UTC)
}

/// Go's zero time: the first of January of the year 1.
fn zero() -> Timestamp {
    Timestamp::from_second(-62_135_596_800).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn zone(name: &str) -> TimeZone {
    match name {
        "" | "UTC" | "Local" => TimeZone::UTC,
        name => TimeZone::get(name).unwrap_or(TimeZone::UTC),
    }
}

fn object(time: Zoned) -> Value {
    Value::Object(Rc::new(TimeObject(time)))
}

/// A time object, or seconds since 1970; anything else is now.
fn time(value: &Value) -> Zoned {
    let seconds = match value {
        Value::Object(object) => match object
            .json()
            .as_ref()
            .and_then(Value::as_str)
            .map(|text| parse(RFC3339, text))
        {
            Some(Ok(time)) => return time,
            _ => return now(),
        },
        other => other.as_integer(),
    };
    let stamp = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    stamp.map_or_else(now, |stamp| stamp.to_zoned(TimeZone::UTC))
}

fn in_zone(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    Ok(format(
        &time(any(args, 1)).with_time_zone(zone(string(args, 2))),
        string(args, 0),
    )
    .into())
}

fn modify(args: &[Value]) -> Option<Value> {
    let nanos = parse_duration(string(args, 0))?;
    let moved = time(any(args, 1))
        .timestamp()
        .checked_add(jiff::SignedDuration::from_nanos(nanos))
        .ok()?;
    Some(object(moved.to_zoned(TimeZone::UTC)))
}

fn must_modify(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let quoted = crate::quote::quote(string(args, 0));
    modify(args).ok_or_else(|| Failure::new(format!("time: invalid duration {quoted}")))
}

/// `time.Time`
struct TimeObject(Zoned);

impl GoObject for TimeObject {
    fn type_name(&self) -> String {
        "time.Time".into()
    }

    fn field(&self, _name: &str) -> Option<Value> {
        None
    }

    fn method(&self, name: &str) -> Option<Signature> {
        match name {
            "Format" => Some(Signature::short("s")),
            "Unix" | "UnixNano" | "UnixMicro" | "UnixMilli" | "Year" | "Month" | "Day" | "Weekday" | "Hour"
            | "Minute" | "Second" | "Nanosecond" | "YearDay" | "UTC" | "Local" | "String" | "IsZero" => {
                Some(Signature::default())
            }
            "Add" | "Sub" | "Equal" | "Before" | "After" | "Compare" | "Truncate" | "Round" => {
                Some(Signature::short("a"))
            }
            "AddDate" => Some(Signature::short("iii")),
            _ => None,
        }
    }

    fn call(&self, _: &mut Machine<'_>, name: &str, args: &[Value]) -> Result<Value, Failure> {
        let time = &self.0;
        let small = |number: i16| Ok(Value::Int(i64::from(number)));
        match name {
            "Format" => Ok(format(time, string(args, 0)).into()),
            "Unix" => Ok(Value::Int64(time.timestamp().as_second())),
            "UnixMilli" => Ok(Value::Int64(time.timestamp().as_millisecond())),
            "UnixNano" => Ok(Value::Int64(
                i64::try_from(time.timestamp().as_nanosecond()).unwrap_or(0),
            )),
            "UnixMicro" => Ok(Value::Int64(time.timestamp().as_microsecond())),
            "Nanosecond" => Ok(Value::Int(i64::from(time.subsec_nanosecond()))),
            "Month" => Ok(Value::Sized(Width::Month, i64::from(time.month()))),
            "Weekday" => Ok(Value::Sized(
                Width::Weekday,
                i64::from(time.weekday().to_sunday_zero_offset()),
            )),
            "IsZero" => Ok((time.timestamp() == zero()).into()),
            "Equal" => Ok((time.timestamp() == self::time(any(args, 0)).timestamp()).into()),
            "Before" => Ok((time.timestamp() < self::time(any(args, 0)).timestamp()).into()),
            "After" => Ok((time.timestamp() > self::time(any(args, 0)).timestamp()).into()),
            "Compare" => {
                let order = time.timestamp().cmp(&self::time(any(args, 0)).timestamp());
                Ok(Value::Int(order as i64))
            }
            "Truncate" | "Round" => {
                let unit = i128::from(to_duration(any(args, 0)));
                if unit <= 0 {
                    return Ok(object(time.clone()));
                }
                // Counted from the year 1, as Go counts.
                let since = time.timestamp().as_nanosecond() - zero().as_nanosecond();
                let mut over = since.rem_euclid(unit);
                if name == "Round" && over * 2 >= unit {
                    over -= unit;
                }
                let moved = Timestamp::from_nanosecond(time.timestamp().as_nanosecond() - over)
                    .map_err(|error| Failure::new(error.to_string()))?;
                Ok(object(moved.to_zoned(time.time_zone().clone())))
            }
            "AddDate" => added(time, int(args, 0), int(args, 1), int(args, 2))
                .map(object)
                .ok_or_else(|| Failure::new("the date is out of range")),
            "Year" => small(time.year()),
            "Day" => small(i16::from(time.day())),
            "Hour" => small(i16::from(time.hour())),
            "Minute" => small(i16::from(time.minute())),
            "Second" => small(i16::from(time.second())),
            "YearDay" => small(time.day_of_year()),
            "UTC" | "Local" => Ok(object(time.with_time_zone(TimeZone::UTC))),
            "String" => Ok(self.display().unwrap_or_default().into()),
            "Add" => {
                let moved = jiff::SignedDuration::from_nanos(to_duration(any(args, 0)));
                let moved = time
                    .checked_add(moved)
                    .map_err(|error| Failure::new(error.to_string()))?;
                Ok(object(moved))
            }
            "Sub" => {
                let nanos = time.timestamp().as_nanosecond() - self::time(any(args, 0)).timestamp().as_nanosecond();
                Ok(Value::Sized(Width::Duration, i64::try_from(nanos).unwrap_or(i64::MAX)))
            }
            _ => Err(Failure::new(format!("no method {name}"))),
        }
    }

    fn display(&self) -> Option<String> {
        Some(format(&self.0, "2006-01-02 15:04:05.999999999 -0700 MST"))
    }

    fn json(&self) -> Option<Value> {
        Some(format(&self.0, RFC3339).into())
    }
}

/// Adds years, months and days; a day that the month lacks runs over into the next one.
fn added(time: &Zoned, years: i64, months: i64, days: i64) -> Option<Zoned> {
    let month = i64::from(time.month()) - 1 + months;
    let year = i64::from(time.year()) + years + month.div_euclid(12);
    let first = jiff::civil::Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month.rem_euclid(12) + 1).ok()?,
        1,
    )
    .ok()?;
    let span = jiff::Span::new().try_days(i64::from(time.day()) - 1 + days).ok()?;
    let date = first.checked_add(span).ok()?;
    date.to_datetime(time.time()).to_zoned(time.time_zone().clone()).ok()
}
