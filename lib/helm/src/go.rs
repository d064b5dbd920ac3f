//! How Go's decoders see JSON data: the names of kinds in their errors, and the scalars that pass for a string.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The kind as `encoding/json` names it.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A scalar where Go has a string field: numbers and booleans of YAML become their text, null the empty one.
///
/// # Errors
/// The kind of what is no scalar.
pub(crate) fn text(value: Option<&Value>) -> Result<String, &'static str> {
    Ok(match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Number(number)) if !number.is_f64() => number.to_string(),
        Some(Value::Number(number)) => number.as_f64().map(goyaml::number::format_g).unwrap_or_default(),
        Some(other) => return Err(kind(other)),
    })
}

/// Reads the fields of a struct and remembers what does not fit, in Go's words.
pub(crate) struct Fields<'v> {
    object: &'v Map<String, Value>,
    /// The struct's name.
    name: &'static str,
    /// The path to it with a dot at its end, or nothing.
    path: String,
    problems: BTreeMap<String, String>,
}

impl<'v> Fields<'v> {
    pub(crate) fn new(object: &'v Map<String, Value>, name: &'static str, path: &str) -> Self {
        Self {
            object,
            name,
            path: path.to_owned(),
            problems: BTreeMap::new(),
        }
    }

    fn wrong(&mut self, key: &str, found: &str, wanted: &str) {
        let (name, path) = (self.name, &self.path);
        let problem =
            format!("json: cannot unmarshal {found} into Go struct field {name}.{path}{key} of type {wanted}");
        self.problems.entry(key.to_owned()).or_insert(problem);
    }

    /// `string`
    pub(crate) fn text(&mut self, key: &str) -> String {
        text(self.object.get(key)).unwrap_or_else(|found| {
            self.wrong(key, found, "string");
            String::new()
        })
    }

    /// `bool`
    pub(crate) fn flag(&mut self, key: &str) -> bool {
        match self.object.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                self.wrong(key, kind(other), "bool");
                false
            }
        }
    }

    /// A slice, whatever it holds.
    pub(crate) fn items(&mut self, key: &str, wanted: &str) -> &'v [Value] {
        match self.object.get(key) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) => items,
            Some(other) => {
                self.wrong(key, kind(other), wanted);
                &[]
            }
        }
    }

    /// `[]string`
    pub(crate) fn texts(&mut self, key: &str) -> Vec<String> {
        let items = self.items(key, "[]string");
        let mut found = Vec::new();
        for item in items {
            match text(Some(item)) {
                Ok(text) => found.push(text),
                Err(kind) => self.wrong(key, kind, "string"),
            }
        }
        found
    }

    /// `map[string]string`
    pub(crate) fn words(&mut self, key: &str) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        match self.object.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::Object(entries)) => {
                for (name, value) in entries {
                    match text(Some(value)) {
                        Ok(text) => {
                            found.insert(name.clone(), text);
                        }
                        Err(kind) => self.wrong(key, kind, "string"),
                    }
                }
            }
            Some(other) => self.wrong(key, kind(other), "map[string]string"),
        }
        found
    }

    /// A slice of pointers to structs; `None` for a null.
    pub(crate) fn objects<T>(
        &mut self,
        key: &str,
        struct_name: &'static str,
        read: impl Fn(&mut Fields<'v>) -> T,
    ) -> Vec<Option<T>> {
        let items = self.items(key, &format!("[]*v2.{struct_name}"));
        let mut found = Vec::new();
        for item in items {
            match item {
                Value::Null => found.push(None),
                Value::Object(object) => {
                    let mut inner = Fields::new(object, struct_name, &format!("{}{key}.", self.path));
                    found.push(Some(read(&mut inner)));
                    if let Some(problem) = inner.finish().err() {
                        self.problems.entry(key.to_owned()).or_insert(problem);
                    }
                }
                other => self.wrong(key, kind(other), &format!("v2.{struct_name}")),
            }
        }
        found
    }

    /// The first problem in the order of the keys, which is the order a decoder meets them in.
    pub(crate) fn finish(self) -> Result<(), String> {
        self.problems.into_values().next().map_or(Ok(()), Err)
    }
}
