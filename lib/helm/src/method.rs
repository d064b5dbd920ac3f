//! What templates can call on values: `.Values.Table "a.b"`, `.Values.PathValue "a.b"`, `.Values.YAML`,
//! `.Values.AsMap`.
//!
//! Upstream concept: the exported methods of Helm's `common.Values`. Only maps of that type have them: the top of the
//! values, and what `Table` returns.

use gotemplate::value::MapType;
use gotemplate::{Failure, Functions, Map, Value, json};

/// The type the methods belong to.
pub(crate) const VALUES: &str = "common.Values";

/// The methods; the map itself is the first argument of each.
pub(crate) fn values() -> Functions<'static> {
    Functions::new()
        .with("AsMap", "", |_, args| Ok(receiver(args).retyped(MapType::Any).into()))
        .with("PathValue", "s", |_, args| path_value(&receiver(args), path(args)))
        .with("Table", "s", |_, args| Ok(table(&receiver(args), path(args))?.into()))
        .with("YAML", "", |machine, args| {
            let data = json::given(machine, &receiver(args).into())?;
            let text = goyaml::to_yaml(&data).map_err(|error| Failure::new(error.to_string()))?;
            Ok(text.into())
        })
}

fn receiver(args: &[Value]) -> Map {
    match args.first() {
        Some(Value::Map(map)) => map.clone(),
        _ => Map::new(),
    }
}

fn path(args: &[Value]) -> &str {
    args.get(1).and_then(Value::as_str).unwrap_or_default()
}

/// The table at a path of names with dots between them.
fn table(values: &Map, path: &str) -> Result<Map, Failure> {
    let mut current = values.clone();
    for name in path.split('.') {
        current = match current.get(name) {
            Some(Value::Map(inner)) => inner,
            _ => return Err(Failure::new(format!("{} is not a table", gotemplate::quoted(name)))),
        };
    }
    Ok(current.retyped(MapType::Named(VALUES)))
}

/// What is at a path and no table.
fn path_value(values: &Map, path: &str) -> Result<Value, Failure> {
    if path.is_empty() {
        return Err("YAML path cannot be empty".into());
    }
    let (parent, name) = match path.rsplit_once('.') {
        None => (Some(values.clone()), path),
        Some((parent, name)) => (table(values, parent).ok(), name),
    };
    match parent.and_then(|parent| parent.get(name)) {
        None | Some(Value::Map(_)) => Err(Failure::new(format!("{} is not a value", gotemplate::quoted(name)))),
        Some(value) => Ok(value),
    }
}
