//! Protobuf request bodies as JSON: what kubectl and helm send for built-in kinds.
//!
//! Field numbers and types are a table made from Kubernetes' published definitions (`examples/protobuf_table.rs`).
//! Nothing is written in this format. Mirrors upstream's protobuf serializer with its `runtime.Unknown` envelope.

mod wire;

use std::collections::HashMap;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use self::wire::{Fields, Raw};

/// What every body starts with.
const MAGIC: &[u8] = b"k8s\0";

/// Messages deeper than this are no Kubernetes objects.
const DEEPEST: usize = 64;

/// Messages whose fields stand in their parent's place in JSON.
const INLINE: &[&str] = &[
    "deviceConfiguration",
    "ephemeralContainerCommon",
    "handler",
    "ingressRuleValue",
    "localObjectReference",
    "persistentVolumeSource",
    "rule",
    "ruleWithOperations",
    "volumeSource",
];

/// Why a body cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// Not Kubernetes' envelope.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    Prefix,
    /// The bytes end too early or make no sense.
    #[error("unexpected EOF")]
    Broken,
    /// A kind that has no message.
    #[error("no kind {kind:?} is registered for version {version:?}")]
    Kind {
        /// The kind.
        kind: String,
        /// The version.
        version: String,
    },
}

/// How a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    One,
    List,
    Map,
}

#[derive(Debug)]
struct Field {
    name: &'static str,
    kind: &'static str,
    shape: Shape,
}

type Message = HashMap<u64, Field>;

static MESSAGES: LazyLock<HashMap<&'static str, Message>> = LazyLock::new(|| {
    let lines = include_str!("table.txt").lines();
    lines
        .map(|line| {
            let mut words = line.split(' ');
            (words.next().unwrap_or_default(), words.filter_map(field).collect())
        })
        .collect()
});

fn field(word: &'static str) -> Option<(u64, Field)> {
    let mut parts = word.split(':');
    let (name, number, kind) = (parts.next()?, parts.next()?, parts.next()?);
    let (shape, kind) = match kind.as_bytes().first()? {
        b'*' => (Shape::List, &kind[1..]),
        b'%' => (Shape::Map, &kind[1..]),
        _ => (Shape::One, kind),
    };
    Some((number.parse().ok()?, Field { name, kind, shape }))
}

/// Reads a body.
///
/// # Errors
/// When it is no message of a known kind.
pub(crate) fn decode(body: &[u8]) -> Result<Value, Error> {
    let envelope = body.strip_prefix(MAGIC).ok_or(Error::Prefix)?;
    let (mut kind, mut version, mut raw) = (String::new(), String::new(), &[][..]);
    for field in Fields::new(envelope) {
        match field? {
            (1, Raw::Bytes(meta)) => {
                for field in Fields::new(meta) {
                    match field? {
                        (1, Raw::Bytes(text)) => version = String::from_utf8_lossy(text).into_owned(),
                        (2, Raw::Bytes(text)) => kind = String::from_utf8_lossy(text).into_owned(),
                        _ => {}
                    }
                }
            }
            (2, Raw::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let name = message_name(&version, &kind);
    let message = MESSAGES
        .get(name.as_str())
        .or_else(|| MESSAGES.get(format!("meta.v1.{kind}").as_str()));
    let Some(message) = message else {
        return Err(Error::Kind { kind, version });
    };
    let mut object = read(message, raw, 0)?;
    object.insert("apiVersion".to_owned(), version.into());
    object.insert("kind".to_owned(), kind.into());
    Ok(Value::Object(object))
}

fn message_name(version: &str, kind: &str) -> String {
    let (group, version) = version.split_once('/').unwrap_or(("core", version));
    let group = group.split('.').next().unwrap_or_default();
    format!("{group}.{version}.{kind}")
}

fn read(message: &Message, bytes: &[u8], depth: usize) -> Result<Map<String, Value>, Error> {
    if depth > DEEPEST {
        return Err(Error::Broken);
    }
    let mut object = Map::new();
    for entry in Fields::new(bytes) {
        let (number, raw) = entry?;
        let Some(field) = message.get(&number) else { continue };
        match field.shape {
            Shape::One if INLINE.contains(&field.name) => {
                if let Value::Object(inner) = value(field.kind, &raw, depth)? {
                    object.extend(inner);
                }
            }
            Shape::One => {
                let value = value(field.kind, &raw, depth)?;
                if !value.is_null() {
                    object.insert(field.name.to_owned(), value);
                }
            }
            Shape::List => {
                let value = value(field.kind, &raw, depth)?;
                let list = object.entry(field.name).or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(list) = list {
                    list.push(value);
                }
            }
            Shape::Map => {
                let (key, value) = pair(field.kind, &raw, depth)?;
                let map = object.entry(field.name).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(map) = map {
                    map.insert(key, value);
                }
            }
        }
    }
    Ok(object)
}

fn pair(kind: &'static str, raw: &Raw<'_>, depth: usize) -> Result<(String, Value), Error> {
    let Raw::Bytes(bytes) = raw else {
        return Err(Error::Broken);
    };
    let (mut key, mut found) = (String::new(), zero(kind));
    for field in Fields::new(bytes) {
        match field? {
            (1, Raw::Bytes(text)) => key = text_of(text)?,
            (2, raw) => found = value(kind, &raw, depth)?,
            _ => {}
        }
    }
    Ok((key, found))
}

/// What a map's value is when it is not written.
fn zero(kind: &str) -> Value {
    match kind {
        "string" | "bytes" => "".into(),
        "bool" => false.into(),
        _ => Value::Null,
    }
}

fn text_of(bytes: &[u8]) -> Result<String, Error> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Error::Broken)
}

fn value(kind: &'static str, raw: &Raw<'_>, depth: usize) -> Result<Value, Error> {
    Ok(match (kind, raw) {
        ("string", Raw::Bytes(bytes)) => text_of(bytes)?.into(),
        ("bytes", Raw::Bytes(bytes)) => STANDARD.encode(bytes).into(),
        ("bool", Raw::Number(number)) => (*number != 0).into(),
        #[expect(
            clippy::cast_possible_wrap,
            reason = "negative numbers are written as their two's complement"
        )]
        ("int32" | "int64", Raw::Number(number)) => (*number as i64).into(),
        ("uint32" | "uint64", Raw::Number(number)) => (*number).into(),
        ("double", Raw::Fixed(bits)) => f64::from_bits(*bits).into(),
        ("meta.v1.Time", Raw::Bytes(bytes)) => time(bytes, false)?,
        ("meta.v1.MicroTime", Raw::Bytes(bytes)) => time(bytes, true)?,
        ("meta.v1.Duration", Raw::Bytes(bytes)) => first_number(bytes)?.into(),
        ("api.resource.Quantity", Raw::Bytes(bytes)) => first_text(bytes)?.into(),
        ("util.intstr.IntOrString", Raw::Bytes(bytes)) => int_or_string(bytes)?,
        ("runtime.RawExtension" | "meta.v1.FieldsV1", Raw::Bytes(bytes)) => {
            serde_json::from_str(&first_text(bytes)?).map_err(|_| Error::Broken)?
        }
        (name, Raw::Bytes(bytes)) => match MESSAGES.get(name) {
            // A message that only wraps a list is a list in JSON.
            Some(message) if wraps_list(name) => read(message, bytes, depth + 1)?.remove("items").unwrap_or_default(),
            Some(message) => Value::Object(read(message, bytes, depth + 1)?),
            None => return Err(Error::Broken),
        },
        _ => return Err(Error::Broken),
    })
}

fn wraps_list(name: &str) -> bool {
    matches!(
        name,
        "authentication.v1.ExtraValue" | "authorization.v1.ExtraValue" | "certificates.v1.ExtraValue" | "meta.v1.Verbs"
    )
}

fn first_text(bytes: &[u8]) -> Result<String, Error> {
    for field in Fields::new(bytes) {
        if let (1, Raw::Bytes(text)) = field? {
            return text_of(text);
        }
    }
    Ok(String::new())
}

fn first_number(bytes: &[u8]) -> Result<u64, Error> {
    for field in Fields::new(bytes) {
        if let (1, Raw::Number(number)) = field? {
            return Ok(number);
        }
    }
    Ok(0)
}

fn int_or_string(bytes: &[u8]) -> Result<Value, Error> {
    let (mut is_text, mut number, mut text) = (false, 0_i64, String::new());
    for field in Fields::new(bytes) {
        match field? {
            (1, Raw::Number(kind)) => is_text = kind == 1,
            #[expect(
                clippy::cast_possible_wrap,
                reason = "negative numbers are written as their two's complement"
            )]
            (2, Raw::Number(value)) => number = value as i64,
            (3, Raw::Bytes(bytes)) => text = text_of(bytes)?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { number.into() })
}

/// A time as text; null for the zero time, which is written as an empty message.
fn time(bytes: &[u8], micro: bool) -> Result<Value, Error> {
    let (mut seconds, mut nanos) = (None, 0_u64);
    for field in Fields::new(bytes) {
        match field? {
            #[expect(
                clippy::cast_possible_wrap,
                reason = "negative numbers are written as their two's complement"
            )]
            (1, Raw::Number(value)) => seconds = Some(value as i64),
            (2, Raw::Number(value)) => nanos = value,
            _ => {}
        }
    }
    let Some(seconds) = seconds else { return Ok(Value::Null) };
    let nanos = i32::try_from(nanos).map_err(|_| Error::Broken)?;
    let at = Timestamp::new(seconds, nanos)
        .map_err(|_| Error::Broken)?
        .to_zoned(TimeZone::UTC);
    let format = if micro {
        "%Y-%m-%dT%H:%M:%S.%6fZ"
    } else {
        "%Y-%m-%dT%H:%M:%SZ"
    };
    Ok(at.strftime(format).to_string().into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(number: u8, text: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2, u8::try_from(text.len()).unwrap()];
        out.extend_from_slice(text);
        out
    }

    fn envelope(version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let meta = [text(1, version.as_bytes()), text(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), text(1, &meta), text(2, raw)].concat()
    }

    #[test]
    fn a_config_map_is_read() {
        let pair = [text(1, b"k"), text(2, b"v")].concat();
        let raw = [text(1, &text(1, b"a")), text(2, &pair)].concat();
        let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
        assert_eq!(decode(&envelope("v1", "ConfigMap", &raw)), Ok(expected));
    }

    #[test]
    fn inlined_messages_stand_in_their_parents_place() {
        let volume = [text(1, b"v"), text(2, &text(2, b""))].concat();
        let spec = text(1, &volume);
        let pod = decode(&envelope("v1", "Pod", &text(2, &spec))).unwrap();
        assert_eq!(pod["spec"]["volumes"], json!([{"name": "v", "emptyDir": {}}]));
    }

    #[test]
    fn bytes_that_make_no_sense_are_refused() {
        assert_eq!(decode(b"\0\0\0\0"), Err(Error::Prefix));
        assert_eq!(decode(&envelope("v1", "ConfigMap", &[10, 200])), Err(Error::Broken));
        let unknown = Error::Kind {
            kind: "Widget".into(),
            version: "example.com/v1".into(),
        };
        assert_eq!(decode(&envelope("example.com/v1", "Widget", &[])), Err(unknown));
    }
}
