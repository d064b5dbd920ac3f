//! Lists.

use super::default::{deep_equal, empty};
use super::{any, int, rest};
use crate::failure::Failure;
use crate::function::Native;
use crate::machine::Machine;
use crate::value::{List, Value};

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("list", "a*", |_, args| Ok(args.to_vec().into())),
    ("tuple", "a*", |_, args| Ok(args.to_vec().into())),
    ("first", "a", |_, args| {
        Ok(items(any(args, 0), "first")?.first().cloned().unwrap_or(Value::Nil))
    }),
    ("mustFirst", "a", |_, args| {
        Ok(items(any(args, 0), "first")?.first().cloned().unwrap_or(Value::Nil))
    }),
    ("last", "a", |_, args| {
        Ok(items(any(args, 0), "last")?.last().cloned().unwrap_or(Value::Nil))
    }),
    ("mustLast", "a", |_, args| {
        Ok(items(any(args, 0), "last")?.last().cloned().unwrap_or(Value::Nil))
    }),
    ("rest", "a", rest_of),
    ("mustRest", "a", rest_of),
    ("initial", "a", initial),
    ("mustInitial", "a", initial),
    ("append", "aa", append),
    ("push", "aa", append),
    ("mustAppend", "aa", append),
    ("mustPush", "aa", append),
    ("prepend", "aa", prepend),
    ("mustPrepend", "aa", prepend),
    ("reverse", "a", reverse),
    ("mustReverse", "a", reverse),
    ("uniq", "a", uniq),
    ("mustUniq", "a", uniq),
    ("without", "aa*", without),
    ("mustWithout", "aa*", without),
    ("has", "aa", has),
    ("mustHas", "aa", has),
    ("compact", "a", compact),
    ("mustCompact", "a", compact),
    ("slice", "aa*", slice),
    ("mustSlice", "aa*", slice),
    ("concat", "a*", concat),
    ("chunk", "ia", chunk),
    ("mustChunk", "ia", chunk),
];

fn items(value: &Value, action: &str) -> Result<Vec<Value>, Failure> {
    match value {
        Value::List(list) => Ok(list.to_vec()),
        Value::Missing | Value::Nil => Err("runtime error: invalid memory address or nil pointer dereference".into()),
        other => Err(Failure::new(format!(
            "Cannot find {action} on type {}",
            other.kind_name()
        ))),
    }
}

fn items_to(value: &Value, action: &str) -> Result<Vec<Value>, Failure> {
    match value {
        Value::List(list) => Ok(list.to_vec()),
        Value::Missing | Value::Nil => Err("runtime error: invalid memory address or nil pointer dereference".into()),
        other => Err(Failure::new(format!("Cannot {action} on type {}", other.kind_name()))),
    }
}

fn rest_of(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let items = items(any(args, 0), "rest")?;
    Ok(items.get(1..).unwrap_or_default().to_vec().into())
}

fn initial(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let mut items = items(any(args, 0), "initial")?;
    items.pop();
    Ok(items.into())
}

fn append(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let mut items = items_to(any(args, 0), "push")?;
    items.push(any(args, 1).clone());
    Ok(items.into())
}

fn prepend(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let mut items = items_to(any(args, 0), "prepend")?;
    items.insert(0, any(args, 1).clone());
    Ok(items.into())
}

fn reverse(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let mut items = items(any(args, 0), "reverse")?;
    items.reverse();
    Ok(items.into())
}

fn contains(machine: &mut Machine<'_>, items: &[Value], wanted: &Value) -> Result<bool, Failure> {
    for item in items {
        if deep_equal(machine, item, wanted, 0)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn uniq(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let mut unique = Vec::new();
    for item in items(any(args, 0), "uniq")? {
        if !contains(machine, &unique, &item)? {
            unique.push(item);
        }
    }
    Ok(unique.into())
}

fn without(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let mut kept = Vec::new();
    for item in items(any(args, 0), "without")? {
        if !contains(machine, rest(args, 1), &item)? {
            kept.push(item);
        }
    }
    Ok(kept.into())
}

fn has(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    if any(args, 1).is_nil() {
        return Ok(false.into());
    }
    let items = items(any(args, 1), "has")?;
    Ok(contains(machine, &items, any(args, 0))?.into())
}

fn compact(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let items = items_to(any(args, 0), "compact")?;
    Ok(items.into_iter().filter(|item| !empty(item)).collect::<Vec<_>>().into())
}

fn slice(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let Value::List(list) = any(args, 0) else {
        if any(args, 0).is_nil() {
            return Err("runtime error: invalid memory address or nil pointer dereference".into());
        }
        return Err(Failure::new(format!(
            "list should be type of slice or array but {}",
            any(args, 0).kind_name()
        )));
    };
    let items = list.to_vec();
    if items.is_empty() {
        return Ok(Value::Nil);
    }
    let bound = |index: usize, other: usize| {
        args.get(index).map_or(Ok(other), |value| {
            let number = super::number::to_int64(value);
            usize::try_from(number).map_err(|_| Failure::new("reflect.Value.Slice: slice index out of bounds"))
        })
    };
    let (from, to) = (bound(1, 0)?, bound(2, items.len())?);
    match items.get(from..to) {
        Some(part) => Ok(List::typed(list.element(), part.to_vec()).into()),
        None => Err("reflect.Value.Slice: slice index out of bounds".into()),
    }
}

fn concat(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let mut all = Vec::new();
    for arg in args {
        match arg {
            Value::List(list) => all.extend(list.to_vec()),
            Value::Missing | Value::Nil => {
                return Err("runtime error: invalid memory address or nil pointer dereference".into());
            }
            other => {
                return Err(Failure::new(format!(
                    "Cannot concat type {} as list",
                    other.kind_name()
                )));
            }
        }
    }
    Ok(all.into())
}

fn chunk(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let items = match any(args, 1) {
        Value::List(list) => list.to_vec(),
        Value::Missing | Value::Nil => {
            return Err("runtime error: invalid memory address or nil pointer dereference".into());
        }
        other => return Err(Failure::new(format!("Cannot chunk type {}", other.kind_name()))),
    };
    let size = usize::try_from(int(args, 0)).unwrap_or(0);
    if size == 0 {
        return Err("runtime error: makeslice: len out of range".into());
    }
    Ok(items
        .chunks(size)
        .map(|part| Value::from(part.to_vec()))
        .collect::<Vec<_>>()
        .into())
}
