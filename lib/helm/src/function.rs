//! The functions Helm adds to sprig: templates inside templates, YAML, JSON and TOML, `required`, `fail`, `lookup`.

use std::sync::Arc;

use gotemplate::json::{self, from_json, given, taken};
use gotemplate::{Failure, Functions, List, Machine, Map, Text, Value, sprig, yaml};

use crate::render::Lookup;
use crate::toml;

/// Levels of one template inside itself.
const MAX_INCLUDE: usize = 1_000;

/// Sprig's and Helm's functions; `lookup` finds nothing.
pub(crate) fn functions() -> Functions<'static> {
    sprig::text()
        .with("include", "sa", include)
        .with("tpl", "sa", tpl)
        .with("required", "sa", |_, args| match args.get(1) {
            Some(Value::Nil | Value::Missing) | None => Err(raised(args)),
            Some(Value::Str(text)) if text.is_empty() => Err(raised(args)),
            Some(value) => Ok(value.clone()),
        })
        .with("fail", "s", |_, args| Err(raised(args)))
        .with("getHostByName", "s", |_, _| Ok("".into()))
        .with("toYaml", "a", |machine, args| {
            Ok(Failure::forgive(to_yaml(machine, args, goyaml::Dialect::V2))?.into())
        })
        .with("mustToYaml", "a", |machine, args| {
            Ok(to_yaml(machine, args, goyaml::Dialect::V2)?.into())
        })
        .with("toYamlPretty", "a", |machine, args| {
            Ok(Failure::forgive(to_yaml(machine, args, goyaml::Dialect::V3))?.into())
        })
        .with("fromYaml", "s", |machine, args| {
            Ok(object(from_yaml(machine, args)?, YAML))
        })
        .with("fromYamlArray", "s", |machine, args| {
            Ok(array(from_yaml(machine, args)?, YAML))
        })
        .with("toJson", "a", |machine, args| {
            Ok(Failure::forgive(json_text(machine, args))?.into())
        })
        .with("fromJson", "s", |machine, args| {
            Ok(object(read(machine, json::parse(string(args)))?, ""))
        })
        .with("fromJsonArray", "s", |machine, args| {
            Ok(array(read(machine, json::parse(string(args)))?, ""))
        })
        .with("toToml", "a", |machine, args| match toml_text(machine, args) {
            Err(Failure::Message(message)) => Ok(message.into()),
            text => Ok(text?.into()),
        })
        .with("mustToToml", "a", |machine, args| Ok(toml_text(machine, args)?.into()))
        .with("fromToml", "s", |machine, args| {
            Ok(object(read(machine, toml::parse(string(args)))?, ""))
        })
        .with("lookup", "ssss", |_, _| Ok(Map::new().into()))
}

/// The `lookup` that asks.
pub(crate) fn asking(lookup: &dyn Lookup) -> Functions<'_> {
    let ask = Arc::new(move |_: &mut Machine<'_>, args: &[Value]| {
        let text = |index: usize| args.get(index).and_then(Value::as_str).unwrap_or("");
        let found = lookup
            .lookup(text(0), text(1), text(2), text(3))
            .map_err(Failure::new)?;
        Ok(if found.is_null() {
            Map::new().into()
        } else {
            from_json(&found)
        })
    });
    Functions::new().with_closure("lookup", "ssss", ask)
}

fn string(args: &[Value]) -> &str {
    args.first().and_then(Value::as_str).unwrap_or("")
}

fn raised(args: &[Value]) -> Failure {
    Failure::Raised(string(args).to_owned())
}

fn include(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let data = args.get(1).cloned().unwrap_or_default();
    Ok(machine.include(string(args), data, MAX_INCLUDE)?.into())
}

fn tpl(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let text = string(args);
    let data = args.get(1).cloned().unwrap_or_default();
    let name = machine.set_name().to_owned();
    match machine.execute_text(&name, text, data) {
        Ok(printed) => Ok(gotemplate::without_missing(printed).into()),
        Err(error) => Err(match error {
            gotemplate::Error::Raised { .. } | gotemplate::Error::Limit { .. } => error.into(),
            gotemplate::Error::Parse { .. } => {
                Failure::new(format!("cannot parse template {}: {error}", gotemplate::quoted(text)))
            }
            _ => {
                let text = gotemplate::quoted(text);
                Failure::new(format!("error during tpl function execution for {text}: {error}"))
            }
        }),
    }
}

fn first(args: &[Value]) -> &Value {
    args.first().unwrap_or(&Value::Nil)
}

fn to_yaml(machine: &mut Machine<'_>, args: &[Value], dialect: goyaml::Dialect) -> Result<Text, Failure> {
    let text = yaml::write(machine, dialect, first(args))?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).into())
}

fn json_text(machine: &mut Machine<'_>, args: &[Value]) -> Result<String, Failure> {
    Ok(goyaml::json::to_string(&given(machine, first(args))?))
}

fn toml_text(machine: &mut Machine<'_>, args: &[Value]) -> Result<String, Failure> {
    toml::write(machine, first(args))
}

/// Steps of a text that its aliases may have made long before it was refused.
const ALIASED: usize = 50_000;

fn from_yaml(machine: &mut Machine<'_>, args: &[Value]) -> Result<Result<Value, String>, Failure> {
    let text = string(args);
    let parsed = yaml::parse(machine, text)?;
    if parsed.is_err() && text.contains('*') && text.contains('&') {
        machine.work(ALIASED)?;
    }
    Ok(parsed.map_err(|error| format!("error converting YAML to JSON: {}", error.as_go_tells())))
}

fn read(
    machine: &mut Machine<'_>,
    parsed: Result<serde_json::Value, String>,
) -> Result<Result<Value, String>, Failure> {
    Ok(match parsed {
        Ok(value) => Ok(taken(machine, &value)?),
        Err(error) => Err(error),
    })
}

/// How the YAML library begins what its JSON half has to say.
const YAML: &str = "error unmarshaling JSON: while decoding JSON: ";

/// A table, or one that holds the error under `Error`.
fn object(parsed: Result<Value, String>, prefix: &str) -> Value {
    let error = match parsed {
        Ok(value @ Value::Map(_)) => return value,
        Ok(Value::Nil) => return Map::new().into(),
        Ok(other) => refused(prefix, &other, "map[string]interface {}"),
        Err(error) => error,
    };
    let map = Map::new();
    map.insert("Error", error);
    map.into()
}

/// A list, or one that holds the error.
fn array(parsed: Result<Value, String>, prefix: &str) -> Value {
    let error = match parsed {
        Ok(value @ Value::List(_)) => return value,
        Ok(Value::Nil) => return List::new(Vec::new()).into(),
        Ok(other) => refused(prefix, &other, "[]interface {}"),
        Err(error) => error,
    };
    vec![Value::from(error)].into()
}

/// What Go's JSON decoder says of a value that is not of the type it was asked for.
fn refused(prefix: &str, found: &Value, wanted: &str) -> String {
    let found = match found {
        Value::Bool(_) => "bool",
        Value::Float(_) => "number",
        Value::Str(_) => "string",
        Value::List(_) => "array",
        _ => "object",
    };
    format!("{prefix}json: cannot unmarshal {found} into Go value of type {wanted}")
}
