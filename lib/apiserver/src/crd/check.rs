//! Values against schemas: every rule a value breaks, with ratcheting: what did not change is not judged again.

use kubeschema::field::{self, FieldError, Kind};
use serde_json::{Map, Value, json};

use super::node::Node;
use super::{alternatives, format, number};
use crate::validation::metadata;

/// Judges an object; `old` is its stored state.
pub(super) fn validate(root: &Node, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check(root, object, old, "", &mut errors);
    if !root.has_rules {
        return errors;
    }
    if errors.iter().any(|error| BLOCKING.contains(&error.kind)) {
        let detail = "some validation rules were not checked because the object was invalid; correct the existing \
                      errors to complete validation";
        errors.push(FieldError::invalid("<nil>", Value::Null, detail));
    } else {
        rules(root, object, old, "", &mut errors);
    }
    errors
}

/// Faults after which rules could not be evaluated safely.
const BLOCKING: [Kind; 5] = [
    Kind::NotSupported,
    Kind::Required,
    Kind::TooLong,
    Kind::TooMany,
    Kind::TypeInvalid,
];

/// Evaluates the rules of a value and of everything in it.
fn rules(node: &Node, value: &Value, old: Option<&Value>, path: &str, errors: &mut Vec<FieldError>) {
    if !node.has_rules || old == Some(value) || (value.is_null() && node.nullable) {
        return;
    }
    if let Some(rules) = &node.rules {
        rules.check(value, old, path, errors);
    }
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                // What has no name of its own in the schema is told as a key.
                let (inner, place) = match (node.properties.get(name), node.additional.as_deref()) {
                    (Some(inner), _) => (inner, field::child(path, name)),
                    (None, Some(inner)) => (inner, field::key(path, name)),
                    (None, None) => continue,
                };
                rules(inner, value, old.and_then(|old| old.get(name)), &place, errors);
            }
        }
        Value::Array(items) => {
            if let Some(inner) = &node.items {
                for (position, item) in items.iter().enumerate() {
                    let before = former(node, item, old);
                    rules(inner, item, before, &field::index(path, position), errors);
                }
            }
        }
        _ => {}
    }
}

/// The former state of an item: only items with keys can be recognised.
fn former<'a>(node: &Node, item: &Value, old: Option<&'a Value>) -> Option<&'a Value> {
    node.list_keys.as_ref()?;
    let name = identity(node, item)?;
    old?.as_array()?
        .iter()
        .find(|other| identity(node, other).as_ref() == Some(&name))
}

/// Judges a value at a path.
pub(super) fn check(node: &Node, value: &Value, old: Option<&Value>, path: &str, errors: &mut Vec<FieldError>) {
    if old == Some(value) {
        return;
    }
    if value.is_null() && node.nullable {
        // An enumeration has to name null as well.
        if !node.choices.is_empty() {
            scalars(node, value, path, errors);
        }
        return;
    }
    kind(node, value, path, errors);
    scalars(node, value, path, errors);
    match value {
        Value::Object(map) => object(node, map, old, path, errors),
        Value::Array(items) => list(node, items, old, path, errors),
        _ => {}
    }
    alternatives::check(node, value, path, errors);
}

/// How a message names a place: `spec.x in body`.
pub(super) fn body(path: &str) -> String {
    if path.is_empty() {
        "<nil>".to_owned()
    } else {
        path.to_owned()
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn kind(node: &Node, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let found = kind_of(value);
    let (fits, wanted) = if node.int_or_string {
        (matches!(found, "integer" | "string"), "integer,string")
    } else {
        let fits = match node.kind.as_str() {
            "" => true,
            "number" => matches!(found, "integer" | "number"),
            other => other == found,
        };
        (fits, node.kind.as_str())
    };
    if !fits {
        let detail = format!("{} in body must be of type {wanted}: \"{found}\"", body(path));
        errors.push(FieldError::new(
            Kind::TypeInvalid,
            body(path),
            Some(json!(found)),
            detail,
        ));
    }
}

/// A choice in quotes, whatever its type.
fn quoted(choice: &Value) -> String {
    match choice {
        Value::String(_) => choice.to_string(),
        other => Value::from(other.to_string()).to_string(),
    }
}

fn scalars(node: &Node, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let place = body(path);
    if !node.choices.is_empty() && !node.choices.contains(value) {
        let choices: Vec<String> = node.choices.iter().map(quoted).collect();
        let detail = format!("supported values: {}", choices.join(", "));
        errors.push(FieldError::new(
            Kind::NotSupported,
            place.as_str(),
            Some(value.clone()),
            detail,
        ));
    }
    let mut invalid = |detail: String| {
        errors.push(FieldError::invalid(
            place.as_str(),
            value.clone(),
            format!("{place} in body {detail}"),
        ));
    };
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            if let Some(least) = node.length.least.filter(|least| length < *least) {
                invalid(format!("should be at least {least} chars long"));
            }
            if let Some((pattern, _)) = node.pattern.as_ref().filter(|(_, regex)| !regex.is_match(text)) {
                invalid(format!("should match '{pattern}'"));
            }
            if let Some(most) = node.length.most.filter(|most| length > *most) {
                errors.push(FieldError::too_long(place.as_str(), most));
            }
            if matches!(node.kind.as_str(), "string" | "") && !format::accepts(&node.format, text) {
                let detail = format!("{place} in body must be of type {}: {value}", node.format);
                errors.push(FieldError::new(Kind::TypeInvalid, place, Some(value.clone()), detail));
            }
        }
        Value::Number(number) => self::number(node, number.as_f64().unwrap_or_default(), value, &place, errors),
        _ => {}
    }
}

fn number(node: &Node, amount: f64, value: &Value, place: &str, errors: &mut Vec<FieldError>) {
    // The bounds of a number have to be numbers of its format as well.
    let bounds = [
        ("Checked", Some(amount)),
        ("MultipleOf", node.multiple_of),
        ("Maximum boundary", node.maximum.map(|(most, _)| most)),
        ("Minimum boundary", node.minimum.map(|(least, _)| least)),
    ];
    for (what, bound) in bounds {
        if bound.is_some_and(|bound| !number::fits(&node.kind, &node.format, bound)) {
            let format = match node.format.as_str() {
                "" => "(default format)".to_owned(),
                format => format!("with format {format}"),
            };
            let detail = format!("{what} value must be of type {} {format} in {place}", node.kind);
            errors.push(FieldError::invalid("<nil>", "", detail));
        }
    }
    let mut invalid = |detail: String| {
        errors.push(FieldError::invalid(
            place,
            value.clone(),
            format!("{place} in body {detail}"),
        ));
    };
    if let Some(factor) = node.multiple_of
        && (amount / factor).fract() != 0.0
    {
        invalid(format!("should be a multiple of {}", number::text(factor)));
    }
    if let Some((most, exclusive)) = node.maximum
        && (amount > most || (exclusive && amount >= most))
    {
        let or = if exclusive { "" } else { "or equal to " };
        invalid(format!("should be less than {or}{}", number::text(most)));
    }
    if let Some((least, exclusive)) = node.minimum
        && (amount < least || (exclusive && amount <= least))
    {
        let or = if exclusive { "" } else { "or equal to " };
        invalid(format!("should be greater than {or}{}", number::text(least)));
    }
}

fn object(node: &Node, map: &Map<String, Value>, old: Option<&Value>, path: &str, errors: &mut Vec<FieldError>) {
    let place = body(path);
    if let Some(most) = node.properties_count.most.filter(|most| map.len() > *most) {
        errors.push(FieldError::too_many(place.as_str(), map.len(), most));
    }
    if let Some(least) = node.properties_count.least.filter(|least| map.len() < *least) {
        let detail = format!("{place} in body should have at least {least} properties");
        errors.push(FieldError::invalid(place, map.len(), detail));
    }
    for name in node.required.iter().filter(|name| !map.contains_key(*name)) {
        errors.push(FieldError::required(field::child(path, name), ""));
    }
    if node.embedded && !path.is_empty() {
        for name in ["apiVersion", "kind"] {
            match map.get(name).and_then(Value::as_str) {
                None => errors.push(FieldError::required(field::child(path, name), "")),
                Some("") => errors.push(FieldError::required(field::child(path, name), "must not be empty")),
                Some(_) => {}
            }
        }
        if let Some(inner) = map.get("metadata") {
            errors.extend(metadata::embedded(inner, &field::child(path, "metadata")));
        }
    }
    for (name, value) in map {
        let inner = node.properties.get(name).or(node.additional.as_deref());
        if let Some(inner) = inner {
            let before = old.and_then(|old| old.get(name));
            check(inner, value, before, &field::child(path, name), errors);
        }
    }
}

fn list(node: &Node, items: &[Value], old: Option<&Value>, path: &str, errors: &mut Vec<FieldError>) {
    let place = body(path);
    if let Some(most) = node.items_count.most.filter(|most| items.len() > *most) {
        errors.push(FieldError::too_many(place.as_str(), items.len(), most));
    }
    if let Some(least) = node.items_count.least.filter(|least| items.len() < *least) {
        let detail = format!("{place} in body should have at least {least} items");
        errors.push(FieldError::invalid(place, items.len(), detail));
    }
    let names: Vec<Option<Value>> = items.iter().map(|item| identity(node, item)).collect();
    for (position, name) in names.iter().enumerate() {
        // However often a name comes again, it is told once.
        if name.is_some() && names.iter().take(position).filter(|other| *other == name).count() == 1 {
            let shown = name.clone().unwrap_or_default();
            errors.push(FieldError::duplicate(field::index(path, position), shown));
        }
    }
    let Some(inner) = &node.items else { return };
    for (position, item) in items.iter().enumerate() {
        check(
            inner,
            item,
            former(node, item, old),
            &field::index(path, position),
            errors,
        );
    }
}

/// What tells an item of a set or map from others.
fn identity(node: &Node, item: &Value) -> Option<Value> {
    let Some(keys) = &node.list_keys else {
        return node.unique.then(|| item.clone());
    };
    let mut found = Map::new();
    for (key, default) in keys {
        if let Some(value) = item.get(key).or(default.as_ref()) {
            found.insert(key.clone(), value.clone());
        }
    }
    (found.len() == keys.len()).then_some(Value::Object(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "fixtures read better by value")]
    fn problems(schema: Value, object: Value, old: Option<Value>) -> Vec<(String, &'static str, String)> {
        validate(&Node::read(&schema), &object, old.as_ref())
            .into_iter()
            .map(|e| (e.field.clone(), e.kind.reason(), e.body()))
            .collect()
    }

    #[expect(clippy::needless_pass_by_value, reason = "fixtures read better by value")]
    fn of_spec(spec: Value) -> Value {
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}})
    }

    #[test]
    fn values_out_of_bounds_are_told_in_upstreams_words() {
        let schema = of_spec(json!({
            "s": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^a+$"},
            "i": {"type": "integer", "minimum": 1, "maximum": 9, "exclusiveMaximum": true, "multipleOf": 2},
            "e": {"type": "string", "enum": ["A", "B"]},
            "l": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
            "ios": {"x-kubernetes-int-or-string": true},
            "i32": {"type": "integer", "format": "int32"},
        }));
        let one = |spec: Value| {
            let found = problems(schema.clone(), json!({ "spec": spec }), None);
            assert_eq!(found.len(), 1, "{found:?}");
            let (field, reason, text) = found.into_iter().next().unwrap();
            format!("{field} {reason} {text}")
        };
        assert_eq!(
            one(json!({"s": "a"})),
            "spec.s FieldValueInvalid Invalid value: \"a\": spec.s in body should be at least 2 chars long"
        );
        assert_eq!(
            one(json!({"s": "aaaaa"})),
            "spec.s FieldValueTooLong Too long: may not be more than 4 bytes"
        );
        assert_eq!(
            one(json!({"s": "bb"})),
            "spec.s FieldValueInvalid Invalid value: \"bb\": spec.s in body should match '^a+$'"
        );
        assert_eq!(
            one(json!({"i": 0})),
            "spec.i FieldValueInvalid Invalid value: 0: spec.i in body should be greater than or equal to 1"
        );
        assert_eq!(
            one(json!({"i": 7})),
            "spec.i FieldValueInvalid Invalid value: 7: spec.i in body should be a multiple of 2"
        );
        assert_eq!(
            one(json!({"e": "C"})),
            "spec.e FieldValueNotSupported Unsupported value: \"C\": supported values: \"A\", \"B\""
        );
        assert_eq!(
            one(json!({"l": ["a", "b", "c"]})),
            "spec.l FieldValueTooMany Too many: 3: must have at most 2 items"
        );
        assert_eq!(
            one(json!({"ios": 1.5})),
            "spec.ios FieldValueTypeInvalid Invalid value: \"number\": spec.ios in body must be of type integer,string: \"number\""
        );
        assert_eq!(
            one(json!({"i32": 5_000_000_000_i64})),
            "<nil> FieldValueInvalid Invalid value: \"\": Checked value must be of type integer with format int32 in spec.i32"
        );
    }

    #[test]
    fn sets_and_maps_refuse_duplicates() {
        let schema = of_spec(json!({
            "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "m": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}},
        }));
        let found = problems(
            schema,
            json!({"spec": {"s": ["x", "y", "x"], "m": [{"k": "x"}, {"k": "x"}, {}]}}),
            None,
        );
        let texts: Vec<String> = found
            .into_iter()
            .map(|(field, _, text)| format!("{field}: {text}"))
            .collect();
        assert_eq!(
            texts,
            [
                "spec.m[1]: Duplicate value: {\"k\":\"x\"}",
                "spec.m[2].k: Required value",
                "spec.s[2]: Duplicate value: \"x\""
            ]
        );
    }

    #[test]
    fn alternatives_are_told_without_a_field() {
        let schema = of_spec(json!({
            "o": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "n": {"type": "string", "not": {"enum": ["bad"]}},
        }));
        let found = problems(schema, json!({"spec": {"o": {"a": 1, "b": 2}, "n": "bad"}}), None);
        let texts: Vec<String> = found
            .into_iter()
            .map(|(field, _, text)| format!("{field}: {text}"))
            .collect();
        assert_eq!(
            texts,
            [
                "<nil>: Invalid value: \"\": \"spec.n\" must not validate the schema (not)",
                "<nil>: Invalid value: \"\": \"spec.o\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
            ]
        );
    }

    #[test]
    fn what_did_not_change_is_not_judged_again() {
        let schema = of_spec(json!({"a": {"type": "string", "maxLength": 3}, "b": {"type": "string"}}));
        let stored = json!({"spec": {"a": "toolong", "b": "x"}});
        assert!(
            problems(
                schema.clone(),
                json!({"spec": {"a": "toolong", "b": "y"}}),
                Some(stored.clone())
            )
            .is_empty()
        );
        assert_eq!(
            problems(schema, json!({"spec": {"a": "longer still"}}), Some(stored)).len(),
            1
        );
    }

    #[test]
    fn rules_see_the_value_and_its_former_state() {
        let schema = of_spec(json!({
            "fixed": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "is immutable"}]},
            "opt": {"type": "string", "x-kubernetes-validations": [{"rule": "oldSelf.hasValue() || self == 'first'", "optionalOldSelf": true, "message": "must begin as first"}]},
            "o": {"type": "object", "properties": {"min": {"type": "integer"}, "max": {"type": "integer"}},
                "x-kubernetes-validations": [{"rule": "self.min <= self.max", "messageExpression": "'min is ' + string(self.min)", "fieldPath": ".min", "reason": "FieldValueForbidden"}]},
        }));
        let spec = |spec: Value| json!({ "spec": spec });
        assert!(problems(schema.clone(), spec(json!({"fixed": "x", "opt": "first"})), None).is_empty());
        let found = problems(schema.clone(), spec(json!({"opt": "second"})), None);
        assert_eq!(found[0].2, "Invalid value: \"second\": must begin as first");
        let found = problems(
            schema.clone(),
            spec(json!({"fixed": "y", "opt": "second"})),
            Some(spec(json!({"fixed": "x", "opt": "first"}))),
        );
        assert_eq!(
            found,
            [(
                "spec.fixed".into(),
                "FieldValueInvalid",
                "Invalid value: \"y\": is immutable".into()
            )]
        );
        let found = problems(schema, spec(json!({"o": {"min": 2, "max": 1}})), None);
        assert_eq!(
            found,
            [("spec.o.min".into(), "FieldValueForbidden", "Forbidden: min is 2".into())]
        );
    }
}
