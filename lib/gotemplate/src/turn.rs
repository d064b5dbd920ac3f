//! `range`: what can be gone through, and the turns of its loop.

use crate::ast::{Branch, Parsed};
use crate::machine::{Machine, Slot, Stop};
use crate::object::Kind;
use crate::print;
use crate::value::{Element, MapType, Value};

/// Key and value of each turn of a loop.
type Turns = Box<dyn Iterator<Item = (Value, Slot)>>;

impl Machine<'_> {
    pub(crate) fn range(&mut self, code: &Parsed, dot: &Slot, branch: &Branch) -> Result<(), Stop> {
        let scope = self.declared();
        let value = self.pipeline(code, dot, branch.pipe)?;
        let inner = self.declared();
        let mut turns = 0;
        let result = self.turns(code, &value, branch, inner, &mut turns);
        let result = match result {
            Ok(()) if turns == 0 => {
                self.forget(inner);
                branch.otherwise.map_or(Ok(()), |nodes| self.list(code, dot, nodes))
            }
            other => other,
        };
        self.forget(scope);
        result
    }

    fn turns(
        &mut self,
        code: &Parsed,
        value: &Value,
        branch: &Branch,
        scope: usize,
        turns: &mut usize,
    ) -> Result<(), Stop> {
        let pipe = code.pipe(branch.pipe);
        let declared = code.declared(pipe);
        let entries: Turns = match value {
            Value::List(list) => {
                let boxed = list.element() == Element::Any;
                let list = list.clone();
                let count = list.len();
                Box::new((0..count).map_while(move |index| {
                    let value = list.get(index)?;
                    Some((Value::Int(i64::try_from(index).ok()?), Slot { value, boxed }))
                }))
            }
            Value::Map(map) => {
                let boxed = map.kind() != MapType::Str;
                Box::new(
                    map.to_vec()
                        .into_iter()
                        .map(move |(key, value)| (Value::Str(key), Slot { value, boxed })),
                )
            }
            Value::Int(_) | Value::Int64(_) | Value::Sized(..) | Value::Uint(_) if declared.len() > 1 => {
                let shown = print::shown(value);
                return Err(self
                    .fail(format!("can't use {shown} to iterate over more than one variable"))
                    .into());
            }
            Value::Int(count) => counted(0..*count, Value::Int),
            Value::Int64(count) => counted(0..*count, Value::Int64),
            Value::Uint(count) => counted(0..*count, Value::Uint),
            Value::Sized(width, count) => {
                let width = *width;
                counted(0..*count, move |index| Value::Sized(width, index))
            }
            Value::Object(object) if matches!(object.kind(), Kind::Map | Kind::Slice) => {
                Box::new(object.entries().into_iter().map(|(key, value)| (key, value.into())))
            }
            Value::Missing | Value::Nil => return Ok(()),
            other => {
                let shown = print::shown(other);
                return Err(self.fail(format!("range can't iterate over {shown}")).into());
            }
        };
        for (key, slot) in entries {
            *turns += 1;
            self.charge(1)?;
            match (declared, pipe.assigns) {
                ([only], true) => {
                    self.assign(*only, slot.clone());
                }
                ([first, second], true) => {
                    self.assign(*first, key.into());
                    self.assign(*second, slot.clone());
                }
                ([_], false) => self.reassign(scope - 1, slot.clone()),
                ([_, _], false) => {
                    self.reassign(scope - 1, slot.clone());
                    self.reassign(scope - 2, key.into());
                }
                _ => {}
            }
            let result = self.list(code, &slot, branch.body);
            self.forget(scope);
            match result {
                Ok(()) | Err(Stop::Continue) => {}
                Err(Stop::Break) => break,
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }
}

/// The turns of a loop over a number.
fn counted<T>(numbers: std::ops::Range<T>, value: impl Fn(T) -> Value + 'static) -> Turns
where
    T: 'static,
    std::ops::Range<T>: Iterator<Item = T>,
{
    Box::new(numbers.map(move |index| {
        let value = value(index);
        (value.clone(), value.into())
    }))
}
