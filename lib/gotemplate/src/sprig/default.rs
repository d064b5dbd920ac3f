//! Defaults, emptiness, choice, and asking for types.

use super::{any, rest, string};
use crate::budget;
use crate::failure::Failure;
use crate::function::Native;
use crate::machine::Machine;
use crate::object::Kind;
use crate::value::{List, Map, Value};

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("hello", "", |_, _| Ok("Hello!".into())),
    ("default", "aa*", |_, args| {
        let given = rest(args, 1).first();
        Ok(given.filter(|given| !empty(given)).unwrap_or(any(args, 0)).clone())
    }),
    ("empty", "a", |_, args| Ok(empty(any(args, 0)).into())),
    ("coalesce", "a*", |_, args| {
        Ok(args.iter().find(|value| !empty(value)).cloned().unwrap_or(Value::Nil))
    }),
    ("all", "a*", |_, args| Ok((!args.iter().any(empty)).into())),
    ("any", "a*", |_, args| Ok(args.iter().any(|value| !empty(value)).into())),
    ("ternary", "aab", |_, args| {
        Ok(any(args, if any(args, 2).truth() { 0 } else { 1 }).clone())
    }),
    ("fail", "s", |_, args| Err(string(args, 0).into())),
    ("typeOf", "a", |_, args| Ok(any(args, 0).type_name().into())),
    ("typeIs", "sa", |_, args| {
        Ok((any(args, 1).type_name() == string(args, 0)).into())
    }),
    ("typeIsLike", "sa", |_, args| {
        let name = any(args, 1).type_name();
        let wanted = string(args, 0);
        Ok((name == wanted || name.strip_prefix('*') == Some(wanted)).into())
    }),
    ("kindOf", "a", |_, args| Ok(any(args, 0).kind_name().into())),
    ("kindIs", "sa", |_, args| {
        Ok((any(args, 1).kind_name() == string(args, 0)).into())
    }),
    ("deepEqual", "aa", |machine, args| {
        Ok(deep_equal(machine, any(args, 0), any(args, 1), 0)?.into())
    }),
    ("deepCopy", "a", deep_copy_of),
    ("mustDeepCopy", "a", deep_copy_of),
];

/// Whether `default` would replace the value.
pub(super) fn empty(value: &Value) -> bool {
    match value {
        Value::Object(object) if matches!(object.kind(), Kind::Struct | Kind::Pointer | Kind::Func) => false,
        other => !other.truth(),
    }
}

/// Nesting at which comparing and copying give up.
const MAX_DEPTH: usize = 1_000;

pub(super) fn deep_equal(
    machine: &mut Machine<'_>,
    left: &Value,
    right: &Value,
    depth: usize,
) -> Result<bool, Failure> {
    machine.work(1)?;
    if depth > MAX_DEPTH {
        return Err(Failure::Limit(format!("values nested more than {MAX_DEPTH} levels")));
    }
    Ok(match (left, right) {
        (Value::Missing | Value::Nil, Value::Missing | Value::Nil) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(left), Value::Int(right)) | (Value::Int64(left), Value::Int64(right)) => left == right,
        (Value::Sized(left, a), Value::Sized(right, b)) => left == right && a == b,
        (Value::Uint(left), Value::Uint(right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::Str(left), Value::Str(right)) => left == right,
        (Value::List(left), Value::List(right)) => {
            if left.element() != right.element() || left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.to_vec().iter().zip(right.to_vec().iter()) {
                if !deep_equal(machine, left, right, depth + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(left), Value::Map(right)) => {
            if left.kind() != right.kind() || left.len() != right.len() {
                return Ok(false);
            }
            for ((key, left), (other, right)) in left.to_vec().iter().zip(right.to_vec().iter()) {
                if key != other || !deep_equal(machine, left, right, depth + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        _ => false,
    })
}

fn deep_copy_of(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    if any(args, 0).is_nil() {
        return Err("reflect: call of reflect.Value.Type on zero Value".into());
    }
    deep_copy(machine, any(args, 0), 0)
}

/// A copy that shares no map or list with the original.
pub(super) fn deep_copy(machine: &mut Machine<'_>, value: &Value, depth: usize) -> Result<Value, Failure> {
    machine.work(1)?;
    if depth > MAX_DEPTH {
        return Err(Failure::Limit(format!("values nested more than {MAX_DEPTH} levels")));
    }
    Ok(match value {
        Value::List(list) => {
            machine.reserve(budget::of_list(list.len()))?;
            let items = list.to_vec();
            let items = items
                .iter()
                .map(|item| deep_copy(machine, item, depth + 1))
                .collect::<Result<_, _>>()?;
            List::typed(list.element(), items).into()
        }
        Value::Map(map) => {
            machine.reserve(budget::of_map(map.len()))?;
            let copy = Map::typed(map.kind());
            for (key, value) in map.to_vec() {
                copy.insert(&key, deep_copy(machine, &value, depth + 1)?);
            }
            copy.into()
        }
        other => other.clone(),
    })
}
