//! A JSON schema, read once, with everything that judges values.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use super::pattern;
use super::rules::Rules;

/// One node of a schema.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) kind: String,
    pub(super) nullable: bool,
    pub(super) int_or_string: bool,
    pub(super) embedded: bool,
    pub(super) format: String,
    pub(super) pattern: Option<(String, Regex)>,
    pub(super) choices: Vec<Value>,
    pub(super) minimum: Option<(f64, bool)>,
    pub(super) maximum: Option<(f64, bool)>,
    pub(super) multiple_of: Option<f64>,
    pub(super) length: Range,
    pub(super) items_count: Range,
    pub(super) properties_count: Range,
    pub(super) unique: bool,
    pub(super) required: Vec<String>,
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) additional: Option<Box<Node>>,
    pub(super) items: Option<Box<Node>>,
    pub(super) list_keys: Option<Vec<(String, Option<Value>)>>,
    pub(super) all_of: Vec<Node>,
    pub(super) any_of: Vec<Node>,
    pub(super) one_of: Vec<Node>,
    pub(super) not: Option<Box<Node>>,
    pub(super) rules: Option<Rules>,
    /// Whether this node or one below it has rules.
    pub(super) has_rules: bool,
}

/// A number of characters, items or properties.
#[derive(Debug, Default)]
pub(super) struct Range {
    pub(super) least: Option<usize>,
    pub(super) most: Option<usize>,
}

impl Node {
    /// Reads a schema; what is malformed in it was refused when its definition was admitted.
    pub(super) fn read(schema: &Value) -> Self {
        let text = |key: &str| schema[key].as_str().unwrap_or_default().to_owned();
        let list = |key: &str| schema[key].as_array().map(|list| list.iter().map(Self::read).collect());
        let size = |key: &str| schema[key].as_u64().and_then(|size| usize::try_from(size).ok());
        let limit = |key: &str, exclusive: &str| schema[key].as_f64().map(|limit| (limit, schema[exclusive] == true));
        let child = |key: &str| {
            schema
                .get(key)
                .filter(|s| s.is_object())
                .map(|s| Box::new(Self::read(s)))
        };
        let properties = schema["properties"].as_object().into_iter().flatten();
        let mut node = Self {
            kind: text("type"),
            nullable: schema["nullable"] == true,
            int_or_string: schema["x-kubernetes-int-or-string"] == true,
            embedded: schema["x-kubernetes-embedded-resource"] == true,
            format: text("format"),
            pattern: schema["pattern"]
                .as_str()
                .and_then(|p| Some((p.to_owned(), pattern::compile(p).ok()?))),
            choices: schema["enum"].as_array().cloned().unwrap_or_default(),
            minimum: limit("minimum", "exclusiveMinimum"),
            maximum: limit("maximum", "exclusiveMaximum"),
            multiple_of: schema["multipleOf"].as_f64().filter(|factor| *factor != 0.0),
            length: Range {
                least: size("minLength"),
                most: size("maxLength"),
            },
            items_count: Range {
                least: size("minItems"),
                most: size("maxItems"),
            },
            properties_count: Range {
                least: size("minProperties"),
                most: size("maxProperties"),
            },
            unique: schema["uniqueItems"] == true || schema["x-kubernetes-list-type"] == "set",
            required: texts(&schema["required"]),
            properties: properties
                .map(|(name, schema)| (name.clone(), Self::read(schema)))
                .collect(),
            additional: child("additionalProperties"),
            items: child("items"),
            list_keys: (schema["x-kubernetes-list-type"] == "map").then(|| {
                let default = |key: &str| schema["items"]["properties"][key].get("default").cloned();
                let keys = texts(&schema["x-kubernetes-list-map-keys"]);
                keys.into_iter().map(|key| (key.clone(), default(&key))).collect()
            }),
            all_of: list("allOf").unwrap_or_default(),
            any_of: list("anyOf").unwrap_or_default(),
            one_of: list("oneOf").unwrap_or_default(),
            not: child("not"),
            rules: Rules::read(schema),
            has_rules: false,
        };
        let below = node
            .properties
            .values()
            .chain(node.additional.as_deref())
            .chain(node.items.as_deref());
        node.has_rules = node.rules.is_some() || below.into_iter().any(|inner| inner.has_rules);
        node
    }
}

fn texts(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
