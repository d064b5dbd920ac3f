//! Tables of values laid over each other without a copy: what is taken over whole is lent, and only tables that two
//! sides have a part in are put together anew. At the end the whole becomes a template's values or JSON, once.
//!
//! Upstream concept: the tables that Helm's coalescing changes in place.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gotemplate::{Map, json};
use serde_json::Value;

use crate::values::{self, Null, Values};

/// Values by their name.
pub(crate) type Table<'v> = BTreeMap<&'v str, Node<'v>>;

/// One value on its way.
#[derive(Clone, Debug)]
pub(crate) enum Node<'v> {
    /// As it stands in a source.
    Lent(Lent<'v>),
    /// Put together.
    Table(Table<'v>),
}

/// A value of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lent<'v> {
    value: &'v Value,
    /// Whether a chart gives it, not the user.
    default: bool,
    /// Whether the nulls in its tables count for nothing.
    cleaned: bool,
}

/// What the numbers of values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// All are floats, however they are kept.
    Floats,
    /// A chart's are floats; the user's are floats or, where they are kept as integers, `int64`.
    Typed,
}

/// The values of a user.
pub(crate) fn given(values: &Values) -> Table<'_> {
    lent(values, false)
}

/// The values of a chart.
pub(crate) fn defaults(values: &Values) -> Table<'_> {
    lent(values, true)
}

fn lent(values: &Values, default: bool) -> Table<'_> {
    let node = |value| {
        Node::Lent(Lent {
            value,
            default,
            cleaned: false,
        })
    };
    values.iter().map(|(key, value)| (key.as_str(), node(value))).collect()
}

impl<'v> Lent<'v> {
    fn get(self, key: &str) -> Option<Self> {
        let value = self.value.as_object()?.get(key)?;
        (!self.cleaned || !value.is_null()).then_some(Self { value, ..self })
    }

    /// The entries of a table; none of what is no table.
    fn entries(self) -> impl Iterator<Item = (&'v str, Self)> {
        let entries = self.value.as_object().into_iter().flatten();
        entries
            .filter(move |(_, value)| !self.cleaned || !value.is_null())
            .map(move |(key, value)| (key.as_str(), Self { value, ..self }))
    }

    fn at(self, path: &str) -> Option<Self> {
        path.split('.').try_fold(self, Self::get)
    }
}

impl<'v> Node<'v> {
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Lent(lent) if lent.value.is_null())
    }

    pub(crate) fn is_table(&self) -> bool {
        match self {
            Self::Table(_) => true,
            Self::Lent(lent) => lent.value.is_object(),
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Table(_) => None,
            Self::Lent(lent) => lent.value.as_bool(),
        }
    }

    /// The table, ready to be changed; `None` of what is no table.
    pub(crate) fn open(&mut self) -> Option<&mut Table<'v>> {
        if let Self::Lent(lent) = self
            && lent.value.is_object()
        {
            *self = Self::Table(lent.entries().map(|(key, lent)| (key, Self::Lent(lent))).collect());
        }
        match self {
            Self::Table(table) => Some(table),
            Self::Lent(_) => None,
        }
    }

    /// As [`open`](Self::open), for a table that is the caller's own.
    ///
    /// # Errors
    /// It is no table.
    pub(crate) fn into_table(mut self) -> Result<Table<'v>, Self> {
        match self.open().map(std::mem::take) {
            Some(table) => Ok(table),
            None => Err(self),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<Cow<'_, Self>> {
        match self {
            Self::Table(table) => table.get(key).map(Cow::Borrowed),
            Self::Lent(lent) => lent.get(key).map(|lent| Cow::Owned(Self::Lent(lent))),
        }
    }

    /// Shows every entry of a table to `visit`.
    pub(crate) fn each(&self, mut visit: impl FnMut(&'v str, &Self)) {
        match self {
            Self::Table(table) => table.iter().for_each(|(key, node)| visit(key, node)),
            Self::Lent(lent) => lent.entries().for_each(|(key, lent)| visit(key, &Self::Lent(lent))),
        }
    }

    /// Without the nulls in its tables.
    pub(crate) fn cleaned(&self) -> Self {
        match self {
            Self::Lent(lent) => Self::Lent(Lent { cleaned: true, ..*lent }),
            Self::Table(table) => {
                let kept = table.iter().filter(|(_, node)| !node.is_null());
                Self::Table(kept.map(|(key, node)| (*key, node.cleaned())).collect())
            }
        }
    }

    /// Whether both are one value of one source.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Lent(one), Self::Lent(other)) => {
                std::ptr::eq(one.value, other.value) && one.cleaned == other.cleaned && one.default == other.default
            }
            _ => false,
        }
    }

    /// As JSON. Typed numbers come as JSON readers know them, whole ones as integers.
    pub(crate) fn to_json(&self, numbers: Numbers) -> Value {
        match self {
            Self::Table(table) => Value::Object(to_json(table, numbers)),
            Self::Lent(lent) => {
                let value = if lent.cleaned {
                    without_nulls(lent.value)
                } else {
                    lent.value.clone()
                };
                match (numbers, lent.default) {
                    (Numbers::Floats, _) => value,
                    (Numbers::Typed, true) => values::plain(values::float(value)),
                    (Numbers::Typed, false) => values::plain(value),
                }
            }
        }
    }

    fn to_value(&self, numbers: Numbers) -> gotemplate::Value {
        match self {
            Self::Table(table) => to_map(table, numbers).into(),
            Self::Lent(lent) => template(lent.value, lent.cleaned, numbers == Numbers::Typed && !lent.default),
        }
    }
}

/// The values as JSON.
pub(crate) fn to_json(table: &Table<'_>, numbers: Numbers) -> Values {
    let entries = table.iter();
    entries
        .map(|(key, node)| ((*key).to_owned(), node.to_json(numbers)))
        .collect()
}

/// The values as templates see them.
pub(crate) fn to_map(table: &Table<'_>, numbers: Numbers) -> Map {
    let map = Map::new();
    for (key, node) in table {
        map.insert(key, node.to_value(numbers));
    }
    map
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(table) => {
            let kept = table.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        other => other.clone(),
    }
}

/// A source's value for templates. Nulls inside lists always stay.
fn template(value: &Value, cleaned: bool, integers: bool) -> gotemplate::Value {
    match value {
        Value::Number(number) if integers => number
            .as_i64()
            .map_or_else(|| json::from_json(value), gotemplate::Value::Int64),
        Value::Array(items) if integers => {
            let items = items.iter().map(|item| template(item, false, true));
            gotemplate::Value::from(items.collect::<Vec<_>>())
        }
        Value::Object(table) if integers || cleaned => {
            let map = Map::new();
            for (key, value) in table.iter().filter(|(_, value)| !cleaned || !value.is_null()) {
                map.insert(key, template(value, cleaned, integers));
            }
            map.into()
        }
        other => json::from_json(other),
    }
}

/// Lays `high` over `low`.
pub(crate) fn lay<'v>(high: &mut Table<'v>, low: &Node<'v>, null: Null) {
    low.each(|key, value| match high.get_mut(key) {
        None => {
            high.insert(key, value.clone());
        }
        Some(own) if own.is_null() && null == Null::Removes => {
            high.remove(key);
        }
        Some(own) if value.is_table() => {
            if let Some(inner) = own.open() {
                lay(inner, value, null);
            }
        }
        Some(_) => {}
    });
}

/// Lets the parent's `global` flow into a child's; the parent wins. What is no table on either side stops it.
pub(crate) fn globals<'v>(child: &mut Table<'v>, parent: &Table<'v>) {
    let given = parent.get(GLOBAL);
    if given.is_some_and(|given| !given.is_table()) {
        return;
    }
    let Some(own) = child.get_mut(GLOBAL) else {
        let given = given.cloned();
        child.insert(GLOBAL, given.unwrap_or_else(|| Node::Table(Table::new())));
        return;
    };
    let (Some(own), Some(given)) = (own.open(), given) else {
        return;
    };
    given.each(|key, value| {
        let below = own.get(key).filter(|below| below.is_table());
        let merged = match (value.is_table(), below) {
            (true, Some(below)) if value.is(below) => return,
            (true, Some(below)) => {
                let mut merged = value.clone();
                if let Some(table) = merged.open() {
                    lay(table, below, Null::Stays);
                }
                merged
            }
            // A plain value does not replace a table.
            (false, Some(_)) => return,
            (_, None) => value.clone(),
        };
        own.insert(key, merged);
    });
}

/// Tables inside the parent's global tables take over what the child added there. Helm does so by accident (parent and
/// child hold the same table); templates can see it, so this does too.
pub(crate) fn share<'v>(parent: &mut Table<'v>, child: &Table<'v>) {
    let (Some(global), Some(below)) = (parent.get_mut(GLOBAL), child.get(GLOBAL)) else {
        return;
    };
    if global.is(below) {
        return;
    }
    for (key, table) in global.open().into_iter().flatten() {
        let Some(below) = below.get(key).filter(|below| !table.is(below) && below.is_table()) else {
            continue;
        };
        for (name, inner) in table.open().into_iter().flatten() {
            if inner.is_table()
                && let Some(below) = below.get(name).filter(|below| below.is_table())
            {
                *inner = below.into_owned();
            }
        }
    }
}

const GLOBAL: &str = "global";

/// What is at a dotted path.
pub(crate) fn at<'v>(values: &Table<'v>, path: &str) -> Option<Node<'v>> {
    let (first, rest) = path
        .split_once('.')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    match (values.get(first)?, rest) {
        (node, None) => Some(node.clone()),
        (Node::Table(table), Some(rest)) => at(table, rest),
        (Node::Lent(lent), Some(rest)) => lent.at(rest).map(Node::Lent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Values {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn only_tables_that_both_sides_fill_are_put_together() {
        let high = values(r#"{"both": {"a": 1, "gone": null}, "own": {"x": 1}}"#);
        let low = values(r#"{"both": {"a": 2, "b": 3, "gone": 4}, "else": {"y": null}}"#);
        let mut table = given(&high);
        lay(&mut table, &Node::Table(defaults(&low)), Null::Removes);
        let lent: Vec<&str> = table
            .iter()
            .filter(|(_, node)| matches!(node, Node::Lent(_)))
            .map(|(key, _)| *key)
            .collect();
        assert_eq!(lent, ["else", "own"]);
        let expected = values(r#"{"both": {"a": 1, "b": 3}, "else": {"y": null}, "own": {"x": 1}}"#);
        assert_eq!(to_json(&table, Numbers::Floats), expected);
    }

    #[test]
    fn nulls_of_defaults_vanish_from_tables_but_not_from_lists() {
        let source = values(r#"{"t": {"a": null, "b": {"c": null}, "d": [null, {"e": null}]}}"#);
        let cleaned = Node::Table(defaults(&source)).cleaned();
        let expected = r#"{"t":{"b":{},"d":[null,{"e":null}]}}"#;
        assert_eq!(cleaned.to_json(Numbers::Floats).to_string(), expected);
        let Node::Table(table) = &cleaned else { unreachable!() };
        let seen = gotemplate::json::to_json(&to_map(table, Numbers::Floats).into()).unwrap();
        assert_eq!(seen.to_string(), expected);
        assert!(at(table, "t.a").is_none());
        assert!(at(table, "t.b").is_some());
    }

    #[test]
    fn only_the_integers_of_users_stay_integers() {
        let source = values(r#"{"a": [1, {"b": 2}]}"#);
        let shown = |table| match gotemplate::Value::Map(to_map(&table, Numbers::Typed)) {
            gotemplate::Value::Map(map) => match map.get("a") {
                Some(gotemplate::Value::List(list)) => list.get(0).unwrap().type_name(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        assert_eq!(shown(given(&source)), "int64");
        assert_eq!(shown(defaults(&source)), "float64");
    }
}
