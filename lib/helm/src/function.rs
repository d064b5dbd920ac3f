//! The functions Helm adds to sprig: templates inside templates, YAML, JSON and TOML, `required`, `fail`, `lookup`.

use std::sync::Arc;

use gotemplate::json::{from_json, given, taken};
use gotemplate::{Failure, Functions, List, Machine, Map, Value, sprig};

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
            let parsed = yaml(machine, args)?;
            object(machine, parsed, YAML)
        })
        .with("fromYamlArray", "s", |machine, args| {
            let parsed = yaml(machine, args)?;
            array(machine, parsed, YAML)
        })
        .with("toJson", "a", |machine, args| {
            Ok(Failure::forgive(json_text(machine, args))?.into())
        })
        .with("fromJson", "s", |machine, args| object(machine, json(args), ""))
        .with("fromJsonArray", "s", |machine, args| array(machine, json(args), ""))
        .with("toToml", "a", |machine, args| match toml_text(machine, args) {
            Err(Failure::Message(message)) => Ok(message.into()),
            text => Ok(text?.into()),
        })
        .with("mustToToml", "a", |machine, args| Ok(toml_text(machine, args)?.into()))
        .with("fromToml", "s", |machine, args| {
            object(machine, toml::parse(string(args)), "")
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

fn first(machine: &mut Machine<'_>, args: &[Value]) -> Result<serde_json::Value, Failure> {
    given(machine, args.first().unwrap_or(&Value::Nil))
}

fn to_yaml(machine: &mut Machine<'_>, args: &[Value], dialect: goyaml::Dialect) -> Result<String, Failure> {
    let value = first(machine, args)?;
    let text = goyaml::to_yaml_with(dialect, &value).map_err(|error| Failure::new(error.to_string()))?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

fn json_text(machine: &mut Machine<'_>, args: &[Value]) -> Result<String, Failure> {
    Ok(goyaml::json::to_string(&first(machine, args)?))
}

fn toml_text(machine: &mut Machine<'_>, args: &[Value]) -> Result<String, Failure> {
    toml::write(machine, args.first().unwrap_or(&Value::Nil))
}

/// Steps of a text that its aliases may have made long before it was refused.
const ALIASED: usize = 50_000;

fn yaml(machine: &mut Machine<'_>, args: &[Value]) -> Result<Result<serde_json::Value, String>, Failure> {
    let text = string(args);
    let parsed = goyaml::parse(text);
    if parsed.is_err() && text.contains('*') && text.contains('&') {
        machine.work(ALIASED)?;
    }
    Ok(parsed.map_err(|error| format!("error converting YAML to JSON: {}", error.as_go_tells())))
}

fn json(args: &[Value]) -> Result<serde_json::Value, String> {
    gotemplate::json::parse(string(args))
}

/// How the YAML library begins what its JSON half has to say.
const YAML: &str = "error unmarshaling JSON: while decoding JSON: ";

/// A table, or one that holds the error under `Error`.
fn object(
    machine: &mut Machine<'_>,
    parsed: Result<serde_json::Value, String>,
    prefix: &str,
) -> Result<Value, Failure> {
    let wrong = |error: String| {
        let map = Map::new();
        map.insert("Error", error);
        Ok(Value::Map(map))
    };
    match parsed {
        Ok(value @ serde_json::Value::Object(_)) => taken(machine, &value),
        Ok(serde_json::Value::Null) => Ok(Map::new().into()),
        Ok(other) => wrong(format!(
            "{prefix}json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            kind(&other)
        )),
        Err(error) => wrong(error),
    }
}

/// A list, or one that holds the error.
fn array(machine: &mut Machine<'_>, parsed: Result<serde_json::Value, String>, prefix: &str) -> Result<Value, Failure> {
    let wrong = |error: String| Ok(Value::from(vec![Value::from(error)]));
    match parsed {
        Ok(value @ serde_json::Value::Array(_)) => taken(machine, &value),
        Ok(serde_json::Value::Null) => Ok(List::new(Vec::new()).into()),
        Ok(other) => wrong(format!(
            "{prefix}json: cannot unmarshal {} into Go value of type []interface {{}}",
            kind(&other)
        )),
        Err(error) => wrong(error),
    }
}

fn kind(value: &serde_json::Value) -> &'static str {
    match value {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "bool",
        serde_json::Value::Number(_) => "number",
        serde_json::Value::String(_) => "string",
        serde_json::Value::Array(_) => "array",
        serde_json::Value::Object(_) => "object",
    }
}
