//! The values a template works on: shared, mutable, and typed as Go's are.
//!
//! Upstream concept: `reflect.Value` as `text/template` sees it. A map or list handed to a function is the same map
//! or list everybody else holds; `int`, `int64` and `float64` print, compare and convert differently.
//!
//! Maps and lists take themselves apart iteratively when dropped, so that a deeply nested value made by a hostile
//! template cannot exhaust the stack.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::entries::Entries;
use crate::object::GoObject;

/// A shared, unchanging string; a short one lies in place.
pub type Text = ecow::EcoString;

/// One value.
#[derive(Clone, Default)]
pub enum Value {
    /// No value at all: a missing key, an empty pipeline. Prints `<no value>`.
    #[default]
    Missing,
    /// An interface that holds nil.
    Nil,
    /// `bool`
    Bool(bool),
    /// `int`: literals in templates, results of `len`, loop indexes.
    Int(i64),
    /// `int64`: results of sprig's arithmetic.
    Int64(i64),
    /// Another integer type.
    Sized(Width, i64),
    /// `uint64`
    Uint(u64),
    /// `float64`: every number of a values file.
    Float(f64),
    /// `string`
    Str(Text),
    /// A slice.
    List(List),
    /// A map with string keys.
    Map(Map),
    /// A Go value with fields and methods.
    Object(Rc<dyn GoObject>),
}

/// Integer types that occur rarely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// `uint8`: a byte of a string.
    Byte,
    /// `int32`: a rune.
    Rune,
    /// `time.Duration`
    Duration,
    /// `time.Month`
    Month,
    /// `time.Weekday`
    Weekday,
}

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

impl Width {
    /// What the type's `String` method makes of a value, where it has one.
    pub(crate) fn text(self, value: i64) -> Option<String> {
        let named = |names: &[&str], place: i64| {
            let name = usize::try_from(place).ok().and_then(|place| names.get(place))?;
            Some((*name).to_owned())
        };
        match self {
            Self::Byte | Self::Rune => None,
            Self::Duration => Some(crate::number::duration(value)),
            Self::Month => named(&MONTHS, value - 1),
            Self::Weekday => named(&WEEKDAYS, value),
        }
    }
}

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

impl Value {
    /// A string value.
    pub fn str(text: &str) -> Self {
        Self::Str(text.into())
    }

    /// The concrete type as Go's `%T` prints it; `<nil>` for none.
    pub fn type_name(&self) -> String {
        match self {
            Self::Missing | Self::Nil => "<nil>".into(),
            Self::Bool(_) => "bool".into(),
            Self::Int(_) => "int".into(),
            Self::Int64(_) => "int64".into(),
            Self::Sized(Width::Byte, _) => "uint8".into(),
            Self::Sized(Width::Rune, _) => "int32".into(),
            Self::Sized(Width::Duration, _) => "time.Duration".into(),
            Self::Sized(Width::Month, _) => "time.Month".into(),
            Self::Sized(Width::Weekday, _) => "time.Weekday".into(),
            Self::Uint(_) => "uint64".into(),
            Self::Float(_) => "float64".into(),
            Self::Str(_) => "string".into(),
            Self::List(list) => list.element.slice_name().into(),
            Self::Map(map) => map.kind.name().into(),
            Self::Object(object) => object.type_name(),
        }
    }

    /// The kind as Go's `reflect.Kind` prints it.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Missing | Self::Nil => "invalid",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Sized(Width::Month | Width::Weekday, _) => "int",
            Self::Int64(_) | Self::Sized(Width::Duration, _) => "int64",
            Self::Sized(Width::Byte, _) => "uint8",
            Self::Sized(Width::Rune, _) => "int32",
            Self::Uint(_) => "uint64",
            Self::Float(_) => "float64",
            Self::Str(_) => "string",
            Self::List(_) => "slice",
            Self::Map(_) => "map",
            Self::Object(object) => object.kind().name(),
        }
    }

    /// Whether a condition holds, by Go's rule: not the zero value, not an empty container.
    pub fn truth(&self) -> bool {
        match self {
            Self::Missing | Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(value) | Self::Int64(value) | Self::Sized(_, value) => *value != 0,
            Self::Uint(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Str(value) => !value.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Object(object) => object.truth(),
        }
    }

    /// Whether there is neither a value nor an interface with one.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Missing | Self::Nil)
    }

    /// The string inside, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The integer inside, of whatever integer type.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Int(value) | Self::Int64(value) | Self::Sized(_, value) => Some(*value),
            Self::Uint(value) => i64::try_from(*value).ok(),
            _ => None,
        }
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

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::str(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text.into())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::Str(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::List(List::new(items))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Str(text) => write!(f, "{text:?}"),
            Self::Missing => f.write_str("<missing>"),
            other => write!(f, "{}", other.type_name()),
        }
    }
}
