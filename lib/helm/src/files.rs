//! `.Files`: the chart's other files, as templates read them.

use std::rc::Rc;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gotemplate::object::{Bytes, Kind};
use gotemplate::sprig::path;
use gotemplate::{Failure, GoObject, List, Machine, Map, Signature, Value, bytes};
use regex::Regex;

use crate::chart::File;

/// `engine.files`, in the order of names.
pub(crate) struct Files(pub(crate) Arc<Vec<File>>);

impl Files {
    fn data(&self, name: &str) -> Option<&Arc<Vec<u8>>> {
        let place = self.0.binary_search_by(|file| file.name.as_str().cmp(name)).ok()?;
        Some(&self.0.get(place)?.data)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.data(name).map(|data| bytes::text(data))
    }

    /// Files by their last path element.
    fn by_base(&self, content: impl Fn(&[u8]) -> String) -> String {
        let map: serde_json::Map<String, serde_json::Value> = self
            .0
            .iter()
            .map(|file| {
                let text = serde_json::Value::String(content(&file.data));
                (path::base(&file.name).to_owned(), text)
            })
            .collect();
        let text = goyaml::to_yaml(&serde_json::Value::Object(map)).unwrap_or_default();
        text.trim_end_matches('\n').to_owned()
    }
}

impl GoObject for Files {
    fn type_name(&self) -> String {
        "engine.files".into()
    }

    fn kind(&self) -> Kind {
        Kind::Map
    }

    fn field(&self, name: &str) -> Option<Value> {
        let data = self.data(name).cloned().unwrap_or_default();
        Some(Value::Object(Rc::new(Bytes(data))))
    }

    fn method(&self, name: &str) -> Option<Signature> {
        match name {
            "Get" | "GetBytes" | "Glob" | "Lines" => Some(Signature::short("s")),
            "AsConfig" | "AsSecrets" => Some(Signature::default()),
            _ => None,
        }
    }

    fn call(&self, machine: &mut Machine<'_>, name: &str, args: &[Value]) -> Result<Value, Failure> {
        let path = args.first().and_then(Value::as_str).unwrap_or("");
        machine.work(self.0.len() / 16)?;
        Ok(match name {
            "Get" => self.text(path).unwrap_or_default().into(),
            "GetBytes" => return Ok(self.field(path).unwrap_or_default()),
            "Glob" => {
                // Helm takes a broken pattern for one that matches everything.
                let pattern = glob(path).or_else(|| glob("**"));
                let chosen = |file: &&File| pattern.as_ref().is_some_and(|pattern| pattern.is_match(&file.name));
                let found = self.0.iter().filter(chosen).cloned().collect();
                Value::Object(Rc::new(Files(Arc::new(found))))
            }
            "Lines" => match self.text(path) {
                None => List::strings::<&str>([]).into(),
                Some(text) if text.is_empty() => List::strings::<&str>([]).into(),
                Some(text) => List::strings(text.strip_suffix('\n').unwrap_or(&text).split('\n')).into(),
            },
            "AsConfig" => self.by_base(|data| String::from_utf8_lossy(data).into_owned()).into(),
            "AsSecrets" => self.by_base(|data| STANDARD.encode(data)).into(),
            _ => return Err(Failure::new(format!("no method {name}"))),
        })
    }

    fn entries(&self) -> Vec<(Value, Value)> {
        let bytes = |file: &File| Value::Object(Rc::new(Bytes(Arc::clone(&file.data))));
        self.0
            .iter()
            .map(|file| (Value::str(&file.name), bytes(file)))
            .collect()
    }

    fn json(&self) -> Option<Value> {
        let map = Map::new();
        for file in self.0.iter() {
            map.insert(&file.name, STANDARD.encode(file.data.as_slice()));
        }
        Some(map.into())
    }
}

/// A glob as Helm's library reads it: `*` stays within a path element, `**` does not, braces hold alternatives.
pub(crate) fn glob(pattern: &str) -> Option<Regex> {
    let mut regex = String::from("(?s)^");
    let mut braces = 0usize;
    let mut chars = pattern.chars().peekable();
    while let Some(character) = chars.next() {
        match character {
            '*' if chars.peek() == Some(&'*') => {
                while chars.peek() == Some(&'*') {
                    chars.next();
                }
                regex.push_str(".*");
            }
            '*' => regex.push_str("[^/]*"),
            '?' => regex.push_str("[^/]"),
            '[' => {
                regex.push('[');
                if chars.peek() == Some(&'!') {
                    chars.next();
                    regex.push('^');
                }
                loop {
                    match chars.next()? {
                        ']' => break,
                        '\\' => {
                            regex.push('\\');
                            regex.push(chars.next()?);
                        }
                        inner @ ('[' | '&' | '~' | '^') => {
                            regex.push('\\');
                            regex.push(inner);
                        }
                        inner => regex.push(inner),
                    }
                }
                regex.push(']');
            }
            '{' => {
                braces += 1;
                regex.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                regex.push(')');
            }
            ',' if braces > 0 => regex.push('|'),
            '\\' => regex.push_str(&regex::escape(&chars.next()?.to_string())),
            other => regex.push_str(&regex::escape(&other.to_string())),
        }
    }
    regex.push('$');
    Regex::new(&regex).ok()
}
