//! `status.conditions` of any object → conditions, or why they are none.

use serde_json::Value;

/// One condition; what is absent is empty.
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
    /// Since when it has this status, RFC 3339.
    pub(super) since: &'a str,
}

/// All conditions, in their order.
pub(super) struct Conditions<'a>(Vec<Condition<'a>>);

impl<'a> Conditions<'a> {
    /// Reads them. No status and no conditions are no fault; a list of anything else is.
    pub(super) fn of(object: &'a Value) -> Result<Self, String> {
        let list = match object.get("status").map(|status| (status, status.get("conditions"))) {
            None | Some((Value::Null, _) | (Value::Object(_), None | Some(Value::Null))) => {
                return Ok(Self(Vec::new()));
            }
            Some((Value::Object(_), Some(Value::Array(list)))) => list,
            Some(_) => return Err("status.conditions is no list".to_owned()),
        };
        list.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Condition<'a>> {
        self.0.iter()
    }

    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Condition<'a>> {
        self.0.iter().filter(move |found| found.kind == kind)
    }

    /// Whether one of this kind is true.
    pub(super) fn holds(&self, kind: &str) -> bool {
        self.of_kind(kind).any(|found| found.status == "True")
    }
}

fn read(value: &Value) -> Result<Condition<'_>, String> {
    if !value.is_object() && !value.is_null() {
        return Err("a condition is no object".to_owned());
    }
    let text = |key: &str| match value.get(key) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(format!("{key} of a condition is no text")),
    };
    Ok(Condition {
        kind: text("type")?,
        status: text("status")?,
        reason: text("reason")?,
        message: text("message")?,
        since: text("lastTransitionTime")?,
    })
}
