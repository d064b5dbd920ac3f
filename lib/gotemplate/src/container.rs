//! Lists and maps, shared and mutable: one handed to a function is the same that everybody else holds.
//!
//! They take themselves apart iteratively when dropped, so that a deeply nested value made by a hostile template cannot
//! exhaust the stack.

use std::cell::RefCell;
use std::rc::Rc;

use crate::entries::Entries;
use crate::value::{Text, Value};

/// What a slice holds, which shows in `%T` and in which functions accept it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `[]interface {}`
    Any,
    /// `[]string`
    Str,
    /// `[]int`
    Int,
    /// `[]uint8`
    Byte,
}

/// A shared slice.
#[derive(Clone)]
pub struct List {
    element: Element,
    /// Whether it is no slice but a nil one, which shows in JSON only.
    absent: bool,
    items: Rc<Items>,
}

struct Items(RefCell<Vec<Value>>);

/// What a map holds, which shows in `%T` and in what a missing key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapType {
    /// `map[string]interface {}`
    Any,
    /// `map[string]string`
    Str,
    /// A named Go type over `map[string]interface {}`, such as `chartutil.Values`.
    Named(&'static str),
}

/// A shared map, ordered by key bytes.
#[derive(Clone)]
pub struct Map {
    kind: MapType,
    entries: Rc<Shared>,
}

struct Shared(RefCell<Entries>);

impl Drop for Items {
    fn drop(&mut self) {
        dismantle(std::mem::take(self.0.get_mut()));
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let values = std::mem::take(self.0.get_mut()).into_values();
        dismantle(values.filter(is_container).collect());
    }
}

/// Whether a value may hold others. Any other is dropped at once, and ties no circle.
fn is_container(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_))
}

/// Drops nested containers with a work list instead of recursion.
fn dismantle(mut work: Vec<Value>) {
    while let Some(value) = work.pop() {
        match value {
            Value::List(list) => {
                if let Ok(mut items) = Rc::try_unwrap(list.items) {
                    work.append(items.0.get_mut());
                }
            }
            Value::Map(map) => {
                if let Ok(mut entries) = Rc::try_unwrap(map.entries) {
                    let values = std::mem::take(entries.0.get_mut()).into_values();
                    work.extend(values.filter(is_container));
                }
            }
            _ => {}
        }
    }
}

impl List {
    /// A new `[]interface {}`.
    pub fn new(items: Vec<Value>) -> Self {
        Self::typed(Element::Any, items)
    }

    /// A new slice of another element type.
    pub fn typed(element: Element, items: Vec<Value>) -> Self {
        Self {
            element,
            absent: false,
            items: Rc::new(Items(RefCell::new(items))),
        }
    }

    /// A nil `[]string`.
    pub fn no_strings() -> Self {
        Self {
            absent: true,
            ..Self::typed(Element::Str, Vec::new())
        }
    }

    /// Whether it is a nil slice.
    pub fn is_absent(&self) -> bool {
        self.absent
    }

    /// A new `[]string`.
    pub fn strings<S: AsRef<str>>(items: impl IntoIterator<Item = S>) -> Self {
        Self::typed(
            Element::Str,
            items.into_iter().map(|item| Value::str(item.as_ref())).collect(),
        )
    }

    /// The element type.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.0.borrow().len()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at `index`.
    pub fn get(&self, index: usize) -> Option<Value> {
        self.items.0.borrow().get(index).cloned()
    }

    /// The items as they are now.
    pub fn to_vec(&self) -> Vec<Value> {
        self.items.0.borrow().clone()
    }

    /// What is made of each item.
    pub(crate) fn each<T>(&self, make: impl FnMut(&Value) -> T) -> Vec<T> {
        self.items.0.borrow().iter().map(make).collect()
    }

    /// Whether both are the same slice.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.items, &other.items)
    }
}

impl Map {
    /// A new empty `map[string]interface {}`.
    pub fn new() -> Self {
        Self::typed(MapType::Any)
    }

    /// A new empty map of another type.
    pub fn typed(kind: MapType) -> Self {
        Self {
            kind,
            entries: Rc::new(Shared(RefCell::default())),
        }
    }

    /// The same entries under another type.
    #[must_use]
    pub fn retyped(&self, kind: MapType) -> Self {
        Self {
            kind,
            entries: Rc::clone(&self.entries),
        }
    }

    /// The map's type.
    pub fn kind(&self) -> MapType {
        self.kind
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.0.borrow().len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.entries.0.borrow().get(key).cloned()
    }

    /// Whether `key` is there.
    pub fn contains(&self, key: &str) -> bool {
        self.entries.0.borrow().get(key).is_some()
    }

    /// Sets `key`, for everybody who holds this map.
    pub fn insert(&self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        if is_container(&value) {
            crate::budget::note_cycle_risk(self);
        }
        self.entries.0.borrow_mut().insert(key, value);
    }

    /// Removes `key`.
    pub fn remove(&self, key: &str) {
        let gone = self.entries.0.borrow_mut().remove(key);
        drop(gone);
    }

    /// Removes everything.
    pub fn clear(&self) {
        let gone = std::mem::take(&mut *self.entries.0.borrow_mut());
        drop(gone);
    }

    /// The keys in order.
    pub fn keys(&self) -> Vec<Text> {
        self.entries.0.borrow().iter().map(|(key, _)| key.clone()).collect()
    }

    /// The entries as they are now, in order.
    pub fn to_vec(&self) -> Vec<(Text, Value)> {
        self.entries
            .0
            .borrow()
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// What is made of each entry, in order.
    pub(crate) fn each<T>(&self, mut make: impl FnMut(&Text, &Value) -> T) -> Vec<T> {
        let entries = self.entries.0.borrow();
        entries.iter().map(|(key, value)| make(key, value)).collect()
    }

    /// Whether both are the same map.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.entries, &other.entries)
    }
}

/// A new `map[string]interface {}`; of entries with the same key the last one stays.
impl FromIterator<(Text, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Text, Value)>>(entries: I) -> Self {
        Self {
            kind: MapType::Any,
            entries: Rc::new(Shared(RefCell::new(entries.into_iter().collect()))),
        }
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::new()
    }
}

impl Element {
    /// `[]T`
    pub fn slice_name(self) -> &'static str {
        match self {
            Self::Any => "[]interface {}",
            Self::Str => "[]string",
            Self::Int => "[]int",
            Self::Byte => "[]uint8",
        }
    }
}

impl MapType {
    /// The Go name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "map[string]interface {}",
            Self::Str => "map[string]string",
            Self::Named(name) => name,
        }
    }
}
