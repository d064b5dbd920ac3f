//! The functions Helm adds to sprig: templates inside templates, YAML, JSON and TOML, `required`, `fail`, `lookup`.

use std::sync::Arc;

use gotemplate::json::{from_json, to_json};
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
        .with("toYaml", "a", |_, args| {
            Ok(to_yaml(args, goyaml::Dialect::V2).unwrap_or_default().into())
        })
        .with("mustToYaml", "a", |_, args| {
            Ok(to_yaml(args, goyaml::Dialect::V2)?.into())
        })
        .with("toYamlPretty", "a", |_, args| {
            Ok(to_yaml(args, goyaml::Dialect::V3).unwrap_or_default().into())
        })
        .with("fromYaml", "s", |_, args| Ok(object(yaml(args), YAML)))
        .with("fromYamlArray", "s", |_, args| Ok(array(yaml(args), YAML)))
        .with("toJson", "a", |_, args| Ok(json_text(args).unwrap_or_default().into()))
        .with("fromJson", "s", |_, args| Ok(object(json(args), "")))
        .with("fromJsonArray", "s", |_, args| Ok(array(json(args), "")))
        .with("toToml", "a", |_, args| {
            Ok(toml_text(args).unwrap_or_else(|failure| message(&failure)).into())
        })
        .with("mustToToml", "a", |_, args| Ok(toml_text(args)?.into()))
        .with("fromToml", "s", |_, args| Ok(object(toml::parse(string(args)), "")))
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

fn message(failure: &Failure) -> String {
    match failure {
        Failure::Message(message) | Failure::Raised(message) | Failure::Limit(message) => message.clone(),
        Failure::Template(error) => error.to_string(),
    }
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

fn first(args: &[Value]) -> Result<serde_json::Value, Failure> {
    to_json(args.first().unwrap_or(&Value::Nil))
}

fn to_yaml(args: &[Value], dialect: goyaml::Dialect) -> Result<String, Failure> {
    let text = goyaml::to_yaml_with(dialect, &first(args)?).map_err(|error| Failure::new(error.to_string()))?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

fn json_text(args: &[Value]) -> Result<String, Failure> {
    Ok(goyaml::json::to_string(&first(args)?))
}

fn toml_text(args: &[Value]) -> Result<String, Failure> {
    toml::write(args.first().unwrap_or(&Value::Nil)).map_err(Failure::new)
}

fn yaml(args: &[Value]) -> Result<serde_json::Value, String> {
    goyaml::parse(string(args)).map_err(|error| format!("error converting YAML to JSON: {}", error.as_go_tells()))
}

fn json(args: &[Value]) -> Result<serde_json::Value, String> {
    gotemplate::json::parse(string(args))
}

/// How the YAML library begins what its JSON half has to say.
const YAML: &str = "error unmarshaling JSON: while decoding JSON: ";

/// A table, or one that holds the error under `Error`.
fn object(parsed: Result<serde_json::Value, String>, prefix: &str) -> Value {
    let wrong = |error: String| {
        let map = Map::new();
        map.insert("Error", error);
        Value::Map(map)
    };
    match parsed {
        Ok(value @ serde_json::Value::Object(_)) => from_json(&value),
        Ok(serde_json::Value::Null) => Map::new().into(),
        Ok(other) => wrong(format!(
            "{prefix}json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            kind(&other)
        )),
        Err(error) => wrong(error),
    }
}

/// A list, or one that holds the error.
fn array(parsed: Result<serde_json::Value, String>, prefix: &str) -> Value {
    match parsed {
        Ok(value @ serde_json::Value::Array(_)) => from_json(&value),
        Ok(serde_json::Value::Null) => List::new(Vec::new()).into(),
        Ok(other) => Value::from(vec![Value::from(format!(
            "{prefix}json: cannot unmarshal {} into Go value of type []interface {{}}",
            kind(&other)
        ))]),
        Err(error) => Value::from(vec![Value::from(error)]),
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
