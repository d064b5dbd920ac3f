//! Fields that a JSON text names twice: parsers take the last one, clients want to know.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads JSON and notes the paths of repeated fields.
///
/// # Errors
/// Text that is no JSON.
pub(super) fn parse(text: &str) -> Result<(Value, Vec<String>), serde_json::Error> {
    let mut repeated = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Reader {
        path: String::new(),
        repeated: &mut repeated,
    }
    .deserialize(&mut reader)?;
    reader.end()?;
    Ok((value, repeated))
}

struct Reader<'a> {
    path: String,
    repeated: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let path = format!("{}[{}]", self.path, values.len());
            match list.next_element_seed(Reader {
                path,
                repeated: &mut *self.repeated,
            })? {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let path = if self.path.is_empty() {
                name.clone()
            } else {
                format!("{}.{name}", self.path)
            };
            if fields.contains_key(&name) && !self.repeated.contains(&path) {
                self.repeated.push(path.clone());
            }
            let value = map.next_value_seed(Reader {
                path,
                repeated: &mut *self.repeated,
            });
            fields.insert(name, value.map_err(A::Error::custom)?);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse;

    #[test]
    fn the_last_one_wins_and_the_path_is_told() {
        let (value, repeated) = parse(r#"{"a":{"k":1,"k":2},"l":[{"x":1},{"x":1,"x":2,"x":3}]}"#).unwrap();
        assert_eq!(value, json!({"a": {"k": 2}, "l": [{"x": 1}, {"x": 3}]}));
        assert_eq!(repeated, ["a.k", "l[1].x"]);
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        assert!(parse("{").is_err());
        assert!(parse("{} {}").is_err());
    }
}
