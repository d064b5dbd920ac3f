//! A value inside an object together with its path, so that what is wrong can be said where it is.
//!
//! Mirrors upstream's pairs of a value and its `field.Path`. Never changes a value.

use std::ops::RangeInclusive;

use kubeschema::field::{self, FieldError};
use serde_json::Value;

/// Everything wrong so far.
pub(super) type Errors = Vec<FieldError>;

/// A value, or null where there is none, and the path users know it by.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) value: &'a Value,
    pub(super) path: String,
}

impl<'a> Place<'a> {
    pub(super) fn new(value: &'a Value, path: impl Into<String>) -> Self {
        Self {
            value,
            path: path.into(),
        }
    }

    /// The field `key`.
    pub(super) fn at(&self, key: &str) -> Place<'a> {
        Place::new(&self.value[key], field::child(&self.path, key))
    }

    /// A field of a field.
    pub(super) fn under(&self, outer: &str, inner: &str) -> Place<'a> {
        self.at(outer).at(inner)
    }

    /// The items of a list.
    pub(super) fn items(&self) -> impl Iterator<Item = Place<'a>> + '_ {
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        items
            .iter()
            .enumerate()
            .map(|(position, value)| Place::new(value, field::index(&self.path, position)))
    }

    /// The items of the list `key`.
    pub(super) fn each(&self, key: &str) -> Vec<Place<'a>> {
        self.at(key).items().collect()
    }

    /// The entries of a map.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a String, Place<'a>)> + '_ {
        let map = self.value.as_object().into_iter().flatten();
        map.map(|(key, value)| (key, Place::new(value, field::key(&self.path, key))))
    }

    /// The text of the field `key`; empty if there is none.
    pub(super) fn text(&self, key: &str) -> &'a str {
        self.value[key].as_str().unwrap_or_default()
    }

    /// The number of the field `key`.
    pub(super) fn number(&self, key: &str) -> Option<i64> {
        self.value[key].as_i64()
    }

    /// Its own text; empty if it is none.
    pub(super) fn own(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// Whether the field `key` is there.
    pub(super) fn has(&self, key: &str) -> bool {
        !self.value[key].is_null()
    }

    /// Whether there is nothing: no value, or an empty text, list or map.
    pub(super) fn empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        }
    }

    pub(super) fn invalid(&self, why: impl Into<String>) -> FieldError {
        FieldError::invalid(self.path.as_str(), self.value.clone(), why)
    }

    pub(super) fn required(&self, why: impl Into<String>) -> FieldError {
        FieldError::required(self.path.as_str(), why)
    }

    pub(super) fn forbidden(&self, why: impl Into<String>) -> FieldError {
        FieldError::forbidden(self.path.as_str(), why)
    }

    pub(super) fn not_supported(&self, choices: &[&str]) -> FieldError {
        FieldError::not_supported(self.path.as_str(), self.value.clone(), choices)
    }

    pub(super) fn duplicate(&self) -> FieldError {
        FieldError::duplicate(self.path.as_str(), self.value.clone())
    }

    /// Must be there.
    pub(super) fn want(&self, why: &str, errors: &mut Errors) {
        if self.empty() {
            errors.push(self.required(why));
        }
    }

    /// Its text must follow a rule of names.
    pub(super) fn named(&self, rule: fn(&str) -> Vec<String>, errors: &mut Errors) {
        let complaints = rule(self.own());
        errors.extend(
            complaints
                .into_iter()
                .map(|why| FieldError::invalid(self.path.as_str(), self.own(), why)),
        );
    }

    /// Its text, if there is one, must follow a rule of names.
    pub(super) fn perhaps(&self, rule: fn(&str) -> Vec<String>, errors: &mut Errors) {
        if !self.own().is_empty() {
            self.named(rule, errors);
        }
    }

    /// Must be there and follow a rule of names.
    pub(super) fn must(&self, rule: fn(&str) -> Vec<String>, errors: &mut Errors) {
        self.want("", errors);
        self.perhaps(rule, errors);
    }

    /// Its number, if there is one, must lie in a range.
    pub(super) fn within(&self, range: RangeInclusive<i64>, why: &str, errors: &mut Errors) {
        if self.value.as_i64().is_some_and(|number| !range.contains(&number)) {
            errors.push(self.invalid(why));
        }
    }

    /// Its number may not be negative.
    pub(super) fn natural(&self, errors: &mut Errors) {
        self.within(0..=i64::MAX, "must be greater than or equal to 0", errors);
    }

    /// Its text must be one of a few.
    pub(super) fn choice(&self, choices: &[&str], errors: &mut Errors) {
        if !choices.contains(&self.own()) {
            errors.push(self.not_supported(choices));
        }
    }

    /// Each item of a list must be the only one of its kind; `of` says what is compared.
    pub(super) fn unique(&self, of: impl Fn(&Place<'a>) -> Place<'a>, errors: &mut Errors) {
        let mut seen: Vec<&Value> = Vec::new();
        for item in self.items() {
            let compared = of(&item);
            if seen.contains(&compared.value) {
                errors.push(compared.duplicate());
            } else if !compared.empty() {
                seen.push(compared.value);
            }
        }
    }
}
