//! The small texts that cells are made of.

use std::fmt::Write;

use jiff::{SignedDuration, Timestamp};
use kubeschema::selector::LabelSelector;
use serde_json::{Value, json};

/// What stands for nothing.
pub(super) const NONE: &str = "<none>";

/// A length of time in two units at most, as people read it.
pub(super) fn duration(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    let two = |large: i64, large_unit: &str, small: i64, small_unit: &str| {
        if small == 0 {
            format!("{large}{large_unit}")
        } else {
            format!("{large}{large_unit}{small}{small_unit}")
        }
    };
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, "h", minutes % 60, "m"),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 24 * 8 => two(hours / 24, "d", hours % 24, "h"),
        _ if hours < 24 * 365 * 2 => format!("{}d", hours / 24),
        _ if hours < 24 * 365 * 8 => two(hours / 24 / 365, "y", (hours / 24) % 365, "d"),
        _ => format!("{}y", hours / 24 / 365),
    }
}

/// How long ago a time was; `<unknown>` without one, `<invalid>` for text that is no time.
pub(super) fn since(time: &str, now: Timestamp) -> String {
    if time.is_empty() {
        return "<unknown>".to_owned();
    }
    time.parse::<Timestamp>()
        .map_or_else(|_| "<invalid>".to_owned(), |time| duration(now.duration_since(time)))
}

/// Names and images of a list of containers, each joined by commas.
pub(super) fn containers(list: &Value) -> [Value; 2] {
    let join = |field: &str| {
        let texts = list
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| item[field].as_str().unwrap_or_default());
        Value::from(texts.collect::<Vec<_>>().join(","))
    };
    [join("name"), join("image")]
}

/// A map of labels as `k=v,l=w`, or `<none>`.
pub(super) fn labels(map: &Value) -> String {
    let pairs: Vec<String> = map
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
        .collect();
    if pairs.is_empty() {
        NONE.to_owned()
    } else {
        pairs.join(",")
    }
}

/// A LabelSelector as text, or `<none>`.
pub(super) fn selector(selector: &Value) -> String {
    let text = LabelSelector::from_json(selector)
        .map(|selector| selector.to_string())
        .unwrap_or_default();
    if selector.is_null() || text.is_empty() {
        NONE.to_owned()
    } else {
        text
    }
}

/// Text, or `<none>` for nothing.
pub(super) fn or_none(text: &str) -> Value {
    if text.is_empty() { NONE.into() } else { text.into() }
}

/// A boolean in Go's `%v`, capitalised as Python would; upstream prints some so.
pub(super) fn capital(flag: bool) -> Value {
    if flag { "True".into() } else { "False".into() }
}

/// The first few texts and how many more there are.
pub(super) fn first(texts: &[String], most: usize) -> String {
    let mut out = texts.iter().take(most).cloned().collect::<Vec<_>>().join(",");
    if texts.len() > most {
        // Writing into a string cannot fail.
        let _ = write!(out, " + {} more...", texts.len() - most);
    }
    out
}

/// A number, zero where there is none.
pub(super) fn number(value: &Value) -> Value {
    json!(value.as_i64().unwrap_or_default())
}
