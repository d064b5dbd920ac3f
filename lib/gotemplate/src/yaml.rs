//! Values to and from YAML text, without a detour through JSON data.
//!
//! Upstream concept: `yaml.Marshal`, and `yaml.Unmarshal` into an `interface {}`: numbers are float64, as everything
//! that comes from JSON.

use std::borrow::Cow;
use std::vec::Drain;

use goyaml::{Build, Dialect, Error};
use serde_json::Number;

use crate::failure::Failure;
use crate::json::{self, NODES_PER_STEP, number};
use crate::machine::Machine;
use crate::part::{Node, Seen};
use crate::value::{Map, Text, Value};

/// Reads the first document of a text for a function, which is charged for what it holds.
///
/// # Errors
/// The limit of steps is reached; inside, that the text is no YAML.
pub fn parse(machine: &mut Machine<'_>, text: &str) -> Result<Result<Value, Error>, Failure> {
    let mut values = Values::default();
    let parsed = goyaml::parse_as(Dialect::V2, text, &mut values);
    if parsed.is_ok() {
        machine.work(values.made / NODES_PER_STEP)?;
    }
    Ok(parsed)
}

/// A value as text, for a function, which is charged for it.
///
/// # Errors
/// As [`json::given`]; or a text has characters that YAML cannot carry.
pub fn write(machine: &mut Machine<'_>, dialect: Dialect, value: &Value) -> Result<String, Failure> {
    let seen = Seen::default();
    let written = goyaml::to_yaml_of(dialect, Node::root(value, &seen));
    if written.is_err() {
        // Upstream goes through JSON: what that complains of comes first.
        json::given(machine, value)?;
    } else {
        machine.work(seen.nodes() / NODES_PER_STEP)?;
    }
    written
}

/// Makes template values, and counts them: also those that a repeated key replaces.
#[derive(Default)]
struct Values {
    made: usize,
}

impl Values {
    fn made(&mut self, value: Value) -> Value {
        self.made += 1;
        value
    }
}

impl Build for Values {
    type Value = Value;

    fn null(&mut self) -> Value {
        self.made(Value::Nil)
    }

    fn bool(&mut self, value: bool) -> Value {
        self.made(Value::Bool(value))
    }

    fn number(&mut self, value: Number) -> Value {
        self.made(number(&value))
    }

    fn text(&mut self, text: &str) -> Value {
        self.made(Value::str(text))
    }

    fn list(&mut self, items: Drain<'_, Value>) -> Value {
        self.made(items.collect::<Vec<_>>().into())
    }

    fn map(&mut self, entries: Drain<'_, (Cow<'_, str>, Value)>) -> Value {
        let entries = entries.map(|(key, value)| (Text::from(key), value));
        self.made(entries.collect::<Map>().into())
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;

    use super::*;
    use crate::budget::Limits;
    use crate::engine::Engine;
    use crate::object::Bytes;
    use crate::value::{Element, List, Width};

    fn within<T: Send>(steps: u64, work: impl FnOnce(&mut Machine<'_>) -> T + Send) -> T {
        let limits = Limits {
            steps,
            ..Limits::default()
        };
        let engine = Engine::new().limits(limits);
        engine.run(|machine| Ok(work(machine))).unwrap()
    }

    #[test]
    fn values_are_those_of_the_same_data_as_json() {
        let text = "a: [1, 1.5, 0x10, yes, ~, text]\nb: {c: 2001-01-01, d: {}, a long key that is not inline: []}\na: &x [2]\ne: *x\n";
        let shown = within(1_000, |machine| {
            let value = parse(machine, text).unwrap().unwrap();
            let same = json::from_json(&goyaml::parse(text).unwrap());
            let shown = |value: &Value| crate::print::sprintf("%#v", std::slice::from_ref(value), 10_000).unwrap();
            (shown(&value), shown(&same))
        });
        assert!(shown.0.contains("[]interface {}{2}"), "{}", shown.0);
        assert_eq!(shown.0, shown.1);
    }

    #[test]
    fn a_function_is_charged_for_every_value() {
        let text = format!("list: [{}]", "{a: x}, ".repeat(2_000));
        let read = |steps| within(steps, |machine| parse(machine, &text).is_ok());
        assert!(read(1_001));
        assert!(!read(999));
        let broken = format!("{text}]");
        assert!(within(999, |machine| matches!(parse(machine, &broken), Ok(Err(_)))));
    }

    /// What is written of a value, within these steps.
    fn written(steps: u64, make: impl FnOnce() -> Value + Send) -> Result<String, Failure> {
        within(steps, |machine| write(machine, Dialect::V2, &make()))
    }

    fn everything() -> Value {
        let bytes = [1, 2].map(|byte| Value::Sized(Width::Byte, byte));
        let parts = vec![
            Value::Missing,
            Value::Bool(true),
            Value::Int(-1),
            Value::Uint(u64::MAX),
            Value::Float(3.0),
            Value::Float(0.5),
            crate::bytes::text(&[b'a', 0xff]).into(),
            Value::from(Vec::new()),
            Value::from(List::no_strings()),
            Value::from(List::typed(Element::Byte, bytes.to_vec())),
            Value::Object(Rc::new(Bytes(Arc::new(b"picture".to_vec())))),
        ];
        let map = Map::new();
        map.insert("b", parts);
        map.insert("a10", "x");
        map.insert("a9", Map::new());
        map.into()
    }

    #[test]
    fn what_is_written_is_the_same_as_of_json() {
        let text = written(100, everything).unwrap();
        let lines = "a9: {}\na10: x\nb:\n- null\n- true\n- -1\n- 18446744073709551615\n- 3\n- 0.5\n- a\u{fffd}\n- []\n\
                     - null\n- AQI=\n- cGljdHVyZQ==\n";
        assert_eq!(text, lines);
        let json = json::to_json(&everything()).unwrap();
        assert_eq!(text, goyaml::to_yaml(&json).unwrap());
    }

    #[test]
    fn what_has_no_end_is_not_written() {
        let circle = || {
            let circle = Map::new();
            circle.insert("self", circle.clone());
            circle.into()
        };
        let refused = |make: fn() -> Value| match written(1_000_000, make) {
            Err(Failure::Message(message) | Failure::Limit(message)) => message,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(circle), "json: unsupported value: encountered a cycle");
        let nodes = || doubled(Value::Nil, 20);
        assert_eq!(refused(nodes), "a value of more than 1000000 nodes");
        let text = || doubled("x".repeat(1 << 10).into(), 16);
        assert_eq!(refused(text), "a value of more than 67108864 bytes of text");
        let deep = || (0..200).fold(Value::Nil, |inner, _| vec![inner].into());
        assert_eq!(refused(deep), "nested more than 125 levels deep");
        let both = || vec!["\u{7f}".into(), f64::NAN.into()].into();
        assert_eq!(refused(both), "json: unsupported value: NaN");
        assert_eq!(refused(|| "\u{7f}".into()), "control character U+007F is not allowed");
    }

    /// A list of two of the same, so often inside itself.
    fn doubled(leaf: Value, times: usize) -> Value {
        (0..times).fold(leaf, |inner, _| vec![inner.clone(), inner].into())
    }

    #[test]
    fn a_function_is_charged_for_what_it_writes() {
        let list = || (0..4_000).map(Value::Int).collect::<Vec<_>>().into();
        assert!(written(1_000, list).is_ok());
        assert!(matches!(written(999, list), Err(Failure::Limit(_))));
    }
}
