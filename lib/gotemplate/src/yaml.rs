//! YAML text becomes values without a detour through JSON data.
//!
//! Upstream concept: `yaml.Unmarshal` into an `interface {}`: numbers are float64, as everything that comes from JSON.

use std::borrow::Cow;
use std::vec::Drain;

use goyaml::{Build, Dialect, Error};
use serde_json::Number;

use crate::failure::Failure;
use crate::json::{NODES_PER_STEP, number};
use crate::machine::Machine;
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
    use super::*;
    use crate::budget::Limits;
    use crate::engine::Engine;
    use crate::json;

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
}
