//! Maps. They are changed in place: everybody who holds the map sees it.

use super::default::empty;
use super::{any, rest, string, text_of};
use crate::failure::Failure;
use crate::function::Native;
use crate::machine::Machine;
use crate::value::{List, Map, MapType, Value};

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("dict", "a*", |_, args| {
        let map = Map::new();
        for pair in args.chunks(2) {
            map.insert(
                &text_of(any(pair, 0)),
                pair.get(1).cloned().unwrap_or_else(|| "".into()),
            );
        }
        Ok(map.into())
    }),
    ("get", "ms", |_, args| {
        Ok(map(args, 0).get(string(args, 1)).unwrap_or_else(|| "".into()))
    }),
    ("set", "msa", |_, args| {
        if any(args, 0).is_nil() {
            return Err("assignment to entry in nil map".into());
        }
        map(args, 0).insert(string(args, 1), any(args, 2).clone());
        Ok(any(args, 0).clone())
    }),
    ("unset", "ms", |_, args| {
        let map = map(args, 0);
        map.remove(string(args, 1));
        Ok(map.into())
    }),
    ("hasKey", "ms", |_, args| {
        Ok(map(args, 0).contains(string(args, 1)).into())
    }),
    ("pluck", "sm*", |_, args| {
        let found = rest(args, 1).iter().filter_map(|value| match value {
            Value::Map(map) => map.get(string(args, 0)),
            _ => None,
        });
        Ok(found.collect::<Vec<_>>().into())
    }),
    ("keys", "m*", |_, args| {
        let keys = (0..args.len()).flat_map(|index| map(args, index).keys());
        Ok(List::strings(keys).into())
    }),
    ("values", "m", |_, args| {
        Ok(map(args, 0)
            .to_vec()
            .into_iter()
            .map(|(_, value)| value)
            .collect::<Vec<_>>()
            .into())
    }),
    ("pick", "ms*", |_, args| {
        let picked = Map::new();
        for key in rest(args, 1).iter().filter_map(Value::as_str) {
            if let Some(value) = map(args, 0).get(key) {
                picked.insert(key, value);
            }
        }
        Ok(picked.into())
    }),
    ("omit", "ms*", |_, args| {
        let kept = Map::new();
        for (key, value) in map(args, 0).to_vec() {
            if !rest(args, 1).iter().any(|name| name.as_str() == Some(&key)) {
                kept.insert(&key, value);
            }
        }
        Ok(kept.into())
    }),
    ("merge", "mm*", |machine, args| merged(machine, args, false)),
    ("mustMerge", "mm*", |machine, args| merged(machine, args, false)),
    ("mergeOverwrite", "mm*", |machine, args| merged(machine, args, true)),
    ("mustMergeOverwrite", "mm*", |machine, args| merged(machine, args, true)),
    ("dig", "a*", dig),
];

fn map(args: &[Value], index: usize) -> Map {
    match any(args, index) {
        Value::Map(map) => map.clone(),
        _ => Map::new(),
    }
}

fn merged(machine: &mut Machine<'_>, args: &[Value], over: bool) -> Result<Value, Failure> {
    let target = map(args, 0);
    for index in 1..args.len() {
        merge_into(machine, &target, &map(args, index), over, 0)?;
    }
    Ok(target.into())
}

/// Fills what is missing or empty in `target` from `source`.
///
/// # Errors
/// A limit of the machine is reached.
pub fn merge(machine: &mut Machine<'_>, target: &Map, source: &Map) -> Result<(), Failure> {
    merge_into(machine, target, source, false, 0)
}

/// Lets what is not empty in `source` win.
///
/// # Errors
/// A limit of the machine is reached.
pub fn merge_over(machine: &mut Machine<'_>, target: &Map, source: &Map) -> Result<(), Failure> {
    merge_into(machine, target, source, true, 0)
}

fn merge_into(machine: &mut Machine<'_>, target: &Map, source: &Map, over: bool, depth: usize) -> Result<(), Failure> {
    if depth > 1_000 {
        return Err(Failure::Limit("values nested more than 1000 levels".into()));
    }
    for (key, value) in source.to_vec() {
        machine.work(1)?;
        match (target.get(&key), &value) {
            (Some(Value::Map(inner)), Value::Map(value)) if !inner.is_empty() => {
                if !inner.is(value) {
                    merge_into(machine, &inner, value, over, depth + 1)?;
                }
            }
            (Some(old), _) if !over && !empty(&old) => {}
            (_, Value::Nil) if !over => {}
            // The target holds the source's own maps and lists from now on.
            _ => target.insert(&key, value),
        }
    }
    Ok(())
}

fn dig(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    if args.len() < 3 {
        return Err("dig needs at least three arguments".into());
    }
    let (path, tail) = args.split_at(args.len() - 2);
    let (default, source) = (any(tail, 0), any(tail, 1));
    let is_plain = |value: &Value| matches!(value, Value::Map(map) if map.kind() == MapType::Any);
    let Some(source) = (match source {
        Value::Map(map) if is_plain(source) => Some(map),
        _ => None,
    }) else {
        let kind = if source.is_nil() {
            "nil".into()
        } else {
            source.type_name()
        };
        return Err(Failure::new(format!(
            "interface conversion: interface {{}} is {kind}, not map[string]interface {{}}"
        )));
    };
    let mut current = source.clone();
    for (index, key) in path.iter().enumerate() {
        let Some(name) = key.as_str() else {
            let kind = key.type_name();
            return Err(Failure::new(format!(
                "interface conversion: interface {{}} is {kind}, not string"
            )));
        };
        let Some(value) = current.get(name) else {
            return Ok(default.clone());
        };
        if index + 1 == path.len() {
            return Ok(value);
        }
        match value {
            Value::Map(ref inner) if is_plain(&value) => current = inner.clone(),
            other => {
                let kind = if other.is_nil() {
                    "nil".into()
                } else {
                    other.type_name()
                };
                return Err(Failure::new(format!(
                    "interface conversion: interface {{}} is {kind}, not map[string]interface {{}}"
                )));
            }
        }
    }
    Ok(default.clone())
}
