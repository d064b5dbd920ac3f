//! Go's own template functions besides comparison: printing, escaping, `len`, `index`, `slice` and `call`.

use std::sync::OnceLock;

use crate::bytes;
use crate::compare;
use crate::failure::Failure;
use crate::function::{Functions, Native};
use crate::machine::Machine;
use crate::object::Kind;
use crate::print;
use crate::value::{List, MapType, Value, Width};

const TABLE: &[(&str, &str, Native)] = &[
    ("print", "a*", |machine, args| {
        Ok(print::sprint(args, machine.text_limit())?.into())
    }),
    ("println", "a*", |machine, args| {
        Ok(print::sprintln(args, machine.text_limit())?.into())
    }),
    ("printf", "sa*", |machine, args| {
        let format = args.first().and_then(Value::as_str).unwrap_or("");
        Ok(print::sprintf(format, args.get(1..).unwrap_or(&[]), machine.text_limit())?.into())
    }),
    ("html", "a*", |machine, args| Ok(html(&text_of(machine, args)?).into())),
    ("js", "a*", |machine, args| Ok(js(&text_of(machine, args)?).into())),
    ("urlquery", "a*", |machine, args| {
        Ok(query_escape(&text_of(machine, args)?).into())
    }),
    ("len", "r", len),
    ("index", "rr*", index),
    ("slice", "rr*", slice),
    ("call", "rr*", call),
];

/// The functions every template has.
pub(crate) fn functions() -> Functions<'static> {
    static OWN: OnceLock<Functions<'static>> = OnceLock::new();
    OWN.get_or_init(|| Functions::table(TABLE).and(compare::functions()))
        .clone()
}

/// The one string, or all arguments printed as `Sprint` does.
fn text_of(machine: &mut Machine<'_>, args: &[Value]) -> Result<String, Failure> {
    if let [Value::Str(text)] = args {
        return Ok(text.to_string());
    }
    let shown = |value: &Value| {
        if value.is_nil() {
            Value::str("<no value>")
        } else {
            value.clone()
        }
    };
    let args: Vec<Value> = args.iter().map(shown).collect();
    print::sprint(&args, machine.text_limit())
}

/// Escapes what HTML gives a meaning to.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\0' => out.push('\u{fffd}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(character),
        }
    }
    out
}

fn js(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' => out.push_str("\\u003C"),
            '>' => out.push_str("\\u003E"),
            '&' => out.push_str("\\u0026"),
            '=' => out.push_str("\\u003D"),
            '\0'..=' ' if character != ' ' => out.push_str(&format!("\\u{:04X}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out
}

/// Escapes a query parameter.
pub(crate) fn query_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in bytes::of(text).iter().copied() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn len(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let count = match args.first() {
        None | Some(Value::Missing) => return Err("reflect: call of reflect.Value.Type on zero Value".into()),
        Some(Value::Nil) => return Err("len of nil pointer".into()),
        Some(Value::Str(text)) => bytes::len(text),
        Some(Value::List(list)) => list.len(),
        Some(Value::Map(map)) => map.len(),
        Some(Value::Object(object)) if matches!(object.kind(), Kind::Map | Kind::Slice) => object.entries().len(),
        Some(other) => return Err(Failure::new(format!("len of type {}", other.type_name()))),
    };
    Ok(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))
}

/// An index argument: an integer within `0..=limit`.
fn position(index: &Value, limit: usize, name: &str) -> Result<usize, Failure> {
    let Some(number) = index.as_integer() else {
        if index.is_nil() {
            return Err(Failure::new(format!("cannot {name} slice/array with nil")));
        }
        return Err(Failure::new(format!(
            "cannot {name} slice/array with type {}",
            index.type_name()
        )));
    };
    usize::try_from(number)
        .ok()
        .filter(|position| *position <= limit)
        .ok_or_else(|| Failure::new(format!("index out of range: {number}")))
}

fn index(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let Some((first, path)) = args.split_first() else {
        return Err("index of untyped nil".into());
    };
    let mut current = first.clone();
    if current.is_nil() {
        return Err("index of untyped nil".into());
    }
    for step in path {
        current = match &current {
            Value::Missing | Value::Nil => return Err("index of nil pointer".into()),
            Value::Str(text) => {
                let text = bytes::of(text);
                let at = position(step, text.len(), "index")?;
                let byte = text.get(at).ok_or("reflect: string index out of range")?;
                Value::Sized(Width::Byte, i64::from(*byte))
            }
            Value::List(list) => {
                let at = position(step, list.len(), "index")?;
                list.get(at).ok_or("reflect: slice index out of range")?
            }
            Value::Map(map) => {
                let key = key_of(step)?;
                map.get(key).unwrap_or(if map.kind() == MapType::Str {
                    Value::str("")
                } else {
                    Value::Nil
                })
            }
            Value::Object(object) if object.kind() == Kind::Map => object.field(key_of(step)?).unwrap_or(Value::Nil),
            Value::Object(object) if object.kind() == Kind::Slice => {
                let entries = object.entries();
                let at = position(step, entries.len(), "index")?;
                entries
                    .get(at)
                    .map(|(_, value)| value.clone())
                    .ok_or("reflect: slice index out of range")?
            }
            other => return Err(Failure::new(format!("can't index item of type {}", other.type_name()))),
        };
    }
    Ok(current)
}

fn key_of(key: &Value) -> Result<&str, Failure> {
    match key {
        Value::Str(text) => Ok(text),
        Value::Missing | Value::Nil => Err("value is nil; should be of type string".into()),
        other => Err(Failure::new(format!(
            "value has type {}; should be string",
            other.type_name()
        ))),
    }
}

fn slice(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let Some((item, indexes)) = args.split_first() else {
        return Err("slice of untyped nil".into());
    };
    if item.is_nil() {
        return Err("slice of untyped nil".into());
    }
    if indexes.len() > 3 {
        return Err(Failure::new(format!("too many slice indexes: {}", indexes.len())));
    }
    let size = match item {
        Value::Str(_) if indexes.len() == 3 => return Err("cannot 3-index slice a string".into()),
        Value::Str(text) => bytes::len(text),
        Value::List(list) => list.len(),
        other => return Err(Failure::new(format!("can't slice item of type {}", other.type_name()))),
    };
    let mut bounds = [0, size, size];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        *bound = position(index, size, "slice")?;
    }
    let [from, to, end] = bounds;
    if from > to {
        return Err(Failure::new(format!("invalid slice index: {from} > {to}")));
    }
    if indexes.len() == 3 && to > end {
        return Err(Failure::new(format!("invalid slice index: {to} > {end}")));
    }
    Ok(match item {
        Value::Str(text) => {
            let bytes = bytes::of(text);
            bytes::text(bytes.get(from..to).unwrap_or_default()).into()
        }
        Value::List(list) => {
            let items = list.to_vec().get(from..to).unwrap_or_default().to_vec();
            List::typed(list.element(), items).into()
        }
        _ => Value::Nil,
    })
}

fn call(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    match args.split_first() {
        None | Some((Value::Missing | Value::Nil, _)) => Err("call of nil".into()),
        Some((Value::Object(object), rest)) if object.kind() == Kind::Func => {
            std::rc::Rc::clone(object).call(machine, "", rest)
        }
        Some((other, _)) => Err(Failure::new(format!("non-function of type {}", other.type_name()))),
    }
}
