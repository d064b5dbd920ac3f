//! Objects while they are edited: maps that keep the order of their text, scalars that keep their spelling.
//!
//! Decoded only when something needs a value (a JSON patch, the content hash, the output), because kustomize compares
//! and edits texts: `0777` is found by its four characters, and `key:` is not the same as `key: null`.

use goyaml::tree::{Number, Tree};
pub(crate) use goyaml::tree::{Scalar, Tag};
use indexmap::IndexMap;
use serde_json::Value;

/// Entries by key, in the order of the text.
pub(crate) type Map = IndexMap<String, Node>;

/// An object or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Map),
}

impl Node {
    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::tagged(text, Tag::Text)
    }

    pub(crate) fn tagged(text: impl Into<String>, tag: Tag) -> Self {
        Self::Scalar(Scalar { text: text.into(), tag })
    }

    /// What an unquoted text would be.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        let text = text.into();
        let tag = goyaml::tree::tag_of(&text);
        Self::tagged(text, tag)
    }

    pub(crate) fn map() -> Self {
        Self::Map(Map::new())
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Scalar(scalar) if scalar.tag == Tag::Null)
    }

    /// Nothing, or nothing inside.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.tag == Tag::Null,
            Self::List(items) => items.is_empty(),
            Self::Map(map) => map.is_empty(),
        }
    }

    /// The spelling of a scalar.
    pub(crate) fn spelling(&self) -> Option<&str> {
        match self {
            Self::Scalar(scalar) => Some(&scalar.text),
            Self::List(_) | Self::Map(_) => None,
        }
    }

    /// What it is, for messages.
    pub(crate) fn shape(&self) -> &'static str {
        match self {
            Self::Scalar(_) => "a single value",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Self::Map(map) => map.get(key),
            Self::Scalar(_) | Self::List(_) => None,
        }
    }

    /// The value at a way of keys.
    pub(crate) fn at(&self, way: &[&str]) -> Option<&Node> {
        way.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The spelling at a way of keys; empty if there is none.
    pub(crate) fn spelling_at(&self, way: &[&str]) -> &str {
        self.at(way).and_then(Node::spelling).unwrap_or_default()
    }

    pub(crate) fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            Self::Scalar(_) | Self::List(_) => None,
        }
    }

    pub(crate) fn as_map_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Map(map) => Some(map),
            Self::Scalar(_) | Self::List(_) => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Node]> {
        match self {
            Self::List(items) => Some(items),
            Self::Scalar(_) | Self::Map(_) => None,
        }
    }

    /// The map under `key`, made if it is not there; `None` if this is no map or something else is in the way.
    pub(crate) fn map_under(&mut self, key: &str) -> Option<&mut Map> {
        let slot = self.as_map_mut()?.entry(key.to_owned()).or_insert_with(Node::map);
        if slot.is_null() {
            *slot = Node::map();
        }
        slot.as_map_mut()
    }

    /// How many values this is, itself included.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Scalar(scalar) => 1 + scalar.text.len() / 64,
            Self::List(items) => 1 + items.iter().map(Node::size).sum::<usize>(),
            Self::Map(map) => 1 + map.values().map(Node::size).sum::<usize>(),
        }
    }

    /// A tree as it was read.
    ///
    /// # Errors
    /// Inner keys that are no texts: they have no JSON form.
    pub(crate) fn read(tree: Tree) -> Result<Self, String> {
        Self::from_tree(tree, true)
    }

    fn from_tree(tree: Tree, root: bool) -> Result<Self, String> {
        Ok(match tree {
            Tree::Scalar(scalar) => Self::Scalar(scalar),
            Tree::List(items) => {
                let items: Result<_, _> = items.into_iter().map(|item| Self::from_tree(item, false)).collect();
                Self::List(items?)
            }
            Tree::Map(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for (key, value) in entries {
                    if !root && key.tag != Tag::Text {
                        return Err(format!("key '{}' is not a text", key.text));
                    }
                    map.insert(key.text, Self::from_tree(value, false)?);
                }
                Self::Map(map)
            }
        })
    }

    /// A value as JSON text would be read.
    pub(crate) fn of(value: Value) -> Self {
        match value {
            Value::Null => Self::tagged("null", Tag::Null),
            Value::Bool(value) => Self::tagged(value.to_string(), Tag::Bool),
            Value::Number(number) => {
                let tag = if number.is_f64() { Tag::Float } else { Tag::Int };
                let text = match number.as_f64().filter(|_| number.is_f64()) {
                    Some(float) => goyaml::number::format_json(float),
                    None => number.to_string(),
                };
                Self::tagged(text, tag)
            }
            Value::String(text) => Self::text(text),
            Value::Array(items) => Self::List(items.into_iter().map(Self::of).collect()),
            Value::Object(map) => Self::Map(map.into_iter().map(|(key, value)| (key, Self::of(value))).collect()),
        }
    }

    /// What the texts mean.
    ///
    /// # Errors
    /// A text that is not what its tag says.
    pub(crate) fn value(&self) -> Result<Value, String> {
        match self {
            Self::Scalar(scalar) => value_of(scalar),
            Self::List(items) => items.iter().map(Node::value).collect(),
            Self::Map(map) => {
                let entries = map.iter().map(|(key, node)| Ok((key.clone(), node.value()?)));
                Ok(Value::Object(entries.collect::<Result<_, String>>()?))
            }
        }
    }
}

fn value_of(scalar: &Scalar) -> Result<Value, String> {
    let text = scalar.text.as_str();
    let wrong = |kind: &str| format!("'{text}' is not {kind}");
    let number = || goyaml::tree::number_of(text);
    match scalar.tag {
        Tag::Text => Ok(Value::String(text.to_owned())),
        Tag::Null => Ok(Value::Null),
        Tag::Bool if goyaml::tree::tag_of(text) == Tag::Bool => Ok(Value::Bool(text.eq_ignore_ascii_case("true"))),
        Tag::Bool => Err(wrong("true or false")),
        Tag::Int => match number() {
            Some(Number::Int(value)) => Ok(i64::try_from(value)
                .map(Value::from)
                .or_else(|_| u64::try_from(value).map(Value::from))
                .unwrap_or_default()),
            _ => Err(wrong("an integer")),
        },
        Tag::Float => {
            let float = match number() {
                Some(Number::Int(value)) => value as f64,
                Some(Number::Float(value)) => value,
                None => return Err(wrong("a number")),
            };
            goyaml::number::from_f64(float).ok_or_else(|| format!("'{text}' has no JSON form"))
        }
        Tag::Time => Ok(Value::String(time(text))),
        Tag::Binary => {
            use base64::Engine as _;
            let compact: String = text.split_whitespace().collect();
            let bytes = base64::engine::general_purpose::STANDARD
                .decode(compact)
                .map_err(|_| wrong("base64"))?;
            Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned()))
        }
    }
}

/// A date or time as Go's JSON writes it: RFC 3339, without zeros at the end of the fraction.
fn time(text: &str) -> String {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], text[at + 1..].trim()),
        None => (text, ""),
    };
    let padded = |part: &str, width: usize| format!("{part:0>width$}");
    let date: Vec<String> = date.split('-').map(|part| padded(part, 2)).collect();
    let date = date.join("-");
    if time.is_empty() {
        return format!("{date}T00:00:00Z");
    }
    let zone_at = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone_at);
    let zone = if matches!(zone, "" | "Z" | "+00:00") { "Z" } else { zone };
    let (clock, fraction) = clock.trim().split_once(['.', ',']).unwrap_or((clock.trim(), ""));
    let clock: Vec<String> = clock.split(':').map(|part| padded(part, 2)).collect();
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{date}T{}{point}{fraction}{zone}", clock.join(":"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Result<Value, String> {
        let tree = goyaml::tree::documents(text).unwrap().remove(0).0;
        Node::read(tree)?.value()
    }

    #[test]
    fn texts_mean_what_go_yaml_v3_says() {
        let read = value(
            "[1.10, 0777, 0o17, 12345678901234567, 1e3, yes, ~, 1_000, 18446744073709551615, 1.0, True, 2020-01-02, \
             2001-12-14t21:59:43.10-05:00, 2001-12-14 21:59:43, !!binary aGVsbG8=]",
        );
        let expected = json!([
            1.1,
            511,
            15,
            12_345_678_901_234_567_i64,
            1000,
            "yes",
            null,
            1000,
            18_446_744_073_709_551_615_u64,
            1,
            true,
            "2020-01-02T00:00:00Z",
            "2001-12-14T21:59:43.1-05:00",
            "2001-12-14T21:59:43Z",
            "hello"
        ]);
        assert_eq!(read.unwrap(), expected);
    }

    #[test]
    fn keys_inside_must_be_texts() {
        assert_eq!(value("data: {80: x}").unwrap_err(), "key '80' is not a text");
        assert!(value("80: x").is_ok());
    }

    #[test]
    fn a_text_that_is_not_what_its_tag_says_is_an_error() {
        assert!(Node::tagged("x", Tag::Int).value().is_err());
        assert!(Node::tagged("1.5", Tag::Int).value().is_err());
        assert_eq!(Node::tagged("8", Tag::Float).value().unwrap(), json!(8));
    }
}
