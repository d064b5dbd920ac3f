//! Equality, order and truth: `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `and`, `or`, `not`.
//!
//! Upstream concept: template comparison works on basic kinds; integers compare across signs, but an integer never
//! equals a float, and comparing the two is an error.

use std::cmp::Ordering;

use crate::failure::Failure;
use crate::function::{Functions, Native};
use crate::machine::Machine;
use crate::object::Kind;
use crate::print;
use crate::value::Value;

const TABLE: &[(&str, &str, Native)] = &[
    ("eq", "rr*", equal),
    ("ne", "rr", |machine, args| {
        equal(machine, args).map(|result| Value::Bool(!result.truth()))
    }),
    ("lt", "rr", |_, args| ordered(args, Ordering::is_lt)),
    ("le", "rr", |_, args| ordered(args, Ordering::is_le)),
    ("gt", "rr", |_, args| ordered(args, Ordering::is_gt)),
    ("ge", "rr", |_, args| ordered(args, Ordering::is_ge)),
    ("not", "r", |_, args| {
        Ok(Value::Bool(!args.first().is_some_and(Value::truth)))
    }),
    // Evaluated by the machine, which stops at the first argument that decides.
    ("and", "rr*", |_, _| Ok(Value::Missing)),
    ("or", "rr*", |_, _| Ok(Value::Missing)),
];

pub(crate) fn functions() -> Functions<'static> {
    Functions::table(TABLE)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Basic {
    Bool,
    Integer,
    Float,
    Str,
}

fn basic(value: &Value) -> Option<Basic> {
    match value {
        Value::Bool(_) => Some(Basic::Bool),
        Value::Int(_) | Value::Int64(_) | Value::Sized(..) | Value::Uint(_) => Some(Basic::Integer),
        Value::Float(_) => Some(Basic::Float),
        Value::Str(_) => Some(Basic::Str),
        _ => None,
    }
}

fn wide(value: &Value) -> i128 {
    match value {
        Value::Uint(number) => i128::from(*number),
        other => other.as_integer().map_or(0, i128::from),
    }
}

fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Str(left), Value::Str(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        _ => Some(wide(left).cmp(&wide(right))),
    }
}

fn equal(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let Some((first, others)) = args.split_first() else {
        return Err("missing argument for comparison".into());
    };
    if others.is_empty() {
        return Err("missing argument for comparison".into());
    }
    for other in others {
        if equals(first, other)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn equals(left: &Value, right: &Value) -> Result<bool, Failure> {
    match (basic(left), basic(right)) {
        (Some(a), Some(b)) if a == b => Ok(compare(left, right) == Some(Ordering::Equal)),
        (a, b) if a != b => {
            if left.is_nil() || right.is_nil() {
                return Ok(false);
            }
            Err(incompatible(left, right))
        }
        _ => {
            if left.is_nil() || right.is_nil() {
                return Ok(left.is_nil() == right.is_nil());
            }
            // Structs such as times are compared field by field.
            if let (Value::Object(one), Value::Object(other)) = (left, right)
                && one.kind() == Kind::Struct
                && one.type_name() == other.type_name()
            {
                return Ok(print::shown(left) == print::shown(right));
            }
            // Go formats the values with `%s`, which shows in the numbers, and one with `%v`.
            let shown = |value: &Value| print::sprintf("%s", std::slice::from_ref(value), 100_000).unwrap_or_default();
            if left.kind_name() != right.kind_name() {
                return Err(Failure::new(format!(
                    "non-comparable types {}: {}, {}: {}",
                    shown(left),
                    left.type_name(),
                    right.type_name(),
                    print::shown(right)
                )));
            }
            Err(Failure::new(format!(
                "non-comparable type {}: {}",
                shown(right),
                right.type_name()
            )))
        }
    }
}

fn ordered(args: &[Value], holds: fn(Ordering) -> bool) -> Result<Value, Failure> {
    let [left, right] = args else {
        return Err("missing argument for comparison".into());
    };
    let (Some(a), Some(b)) = (basic(left), basic(right)) else {
        return Err("invalid type for comparison".into());
    };
    if a != b {
        return Err(incompatible(left, right));
    }
    if a == Basic::Bool {
        return Err("invalid type for comparison".into());
    }
    Ok(Value::Bool(compare(left, right).is_some_and(holds)))
}

fn incompatible(left: &Value, right: &Value) -> Failure {
    let (left, right) = (left.type_name(), right.type_name());
    Failure::new(format!("incompatible types for comparison: {left} and {right}"))
}
