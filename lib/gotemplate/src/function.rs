//! The table of functions a template may call: what each takes, and what runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::failure::Failure;
use crate::machine::Machine;
use crate::value::Value;

/// What a parameter accepts; an argument of another type is refused before the call, in Go's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// `interface {}`
    Any,
    /// `reflect.Value`: like `Any`, but a missing value stays missing.
    Raw,
    /// `string`
    Str,
    /// `int`
    Int,
    /// `int64`
    Int64,
    /// `float64`
    Float,
    /// `bool`
    Bool,
    /// `map[string]interface {}`
    Map,
    /// `map[string]string`
    StrMap,
    /// `[]interface {}`
    List,
    /// `[]string`
    Strs,
    /// `uint32`
    Uint32,
    /// A Go struct of this type.
    Struct(&'static str),
    /// `error`
    Never,
}

impl Param {
    /// The Go type's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::Raw => "reflect.Value",
            Self::Str => "string",
            Self::Int => "int",
            Self::Int64 => "int64",
            Self::Float => "float64",
            Self::Bool => "bool",
            Self::Map => "map[string]interface {}",
            Self::StrMap => "map[string]string",
            Self::List => "[]interface {}",
            Self::Strs => "[]string",
            Self::Uint32 => "uint32",
            Self::Struct(name) => name,
            Self::Never => "error",
        }
    }
}

/// The parameters of a function or method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The fixed ones.
    pub params: Arc<[Param]>,
    /// The type of the variable ones that follow.
    pub rest: Option<Param>,
}

impl Default for Signature {
    fn default() -> Self {
        Self {
            params: Arc::from([]),
            rest: None,
        }
    }
}

impl Signature {
    /// Reads the short form used in tables: one letter per parameter, `*` after the last one makes it variable.
    /// `a` any, `r` raw, `s` string, `i` int, `I` int64, `f` float64, `b` bool, `m` map, `M` string map, `l` list,
    /// `S` string list, `u` uint32, `t` time.Time.
    pub fn short(text: &str) -> Self {
        let mut params = Vec::new();
        let mut rest = None;
        for letter in text.chars() {
            match letter {
                '*' => rest = params.pop(),
                'a' => params.push(Param::Any),
                'r' => params.push(Param::Raw),
                's' => params.push(Param::Str),
                'i' => params.push(Param::Int),
                'I' => params.push(Param::Int64),
                'f' => params.push(Param::Float),
                'b' => params.push(Param::Bool),
                'm' => params.push(Param::Map),
                'M' => params.push(Param::StrMap),
                'l' => params.push(Param::List),
                'S' => params.push(Param::Strs),
                'u' => params.push(Param::Uint32),
                't' => params.push(Param::Struct("time.Time")),
                _ => params.push(Param::Never),
            }
        }
        Self {
            params: params.into(),
            rest,
        }
    }
}

/// A function without state of its own.
pub type Native = fn(&mut Machine<'_>, &[Value]) -> Result<Value, Failure>;

/// A function that carries state.
pub type Closure<'a> = Arc<dyn Fn(&mut Machine<'_>, &[Value]) -> Result<Value, Failure> + Send + Sync + 'a>;

#[derive(Clone)]
pub(crate) enum Body<'a> {
    Native(Native),
    Closure(Closure<'a>),
}

#[derive(Clone)]
pub(crate) struct Function<'a> {
    pub(crate) signature: Signature,
    pub(crate) body: Body<'a>,
}

/// Functions a template may call, by name. Cheap to clone.
#[derive(Clone)]
pub struct Functions<'a> {
    /// Sorted. A function's place is its number in parsed templates.
    names: Arc<[Arc<str>]>,
    /// The place of each name: templates ask for little else.
    places: Arc<FxHashMap<Arc<str>, usize>>,
    /// In the order of the names.
    bodies: Arc<Vec<Function<'a>>>,
}

impl Default for Functions<'_> {
    fn default() -> Self {
        Self {
            names: Arc::from([]),
            places: Arc::default(),
            bodies: Arc::default(),
        }
    }
}

impl<'a> Functions<'a> {
    /// No function.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function; `signature` is the short form of [`Signature::short`].
    #[must_use]
    pub fn with(self, name: &str, signature: &str, body: Native) -> Self {
        self.with_signature(name, Signature::short(signature), body)
    }

    /// Adds a function whose parameters the short form has no letters for.
    #[must_use]
    pub fn with_signature(self, name: &str, signature: Signature, body: Native) -> Self {
        let body = Body::Native(body);
        self.with_function(name, Function { signature, body })
    }

    /// Adds a function that carries state.
    #[must_use]
    pub fn with_closure(self, name: &str, signature: &str, body: Closure<'a>) -> Self {
        let signature = Signature::short(signature);
        let body = Body::Closure(body);
        self.with_function(name, Function { signature, body })
    }

    /// Leaves functions out.
    #[must_use]
    pub fn without(self, names: &[&str]) -> Self {
        self.into_entries()
            .filter(|(name, _)| !names.contains(&&**name))
            .collect()
    }

    /// Adds all of `other`, which replace those of the same name.
    #[must_use]
    pub fn and(mut self, other: Functions<'a>) -> Self {
        if other.names.iter().all(|name| self.contains(name)) {
            // Templates that were parsed with these names stay good.
            let bodies = Arc::make_mut(&mut self.bodies);
            for (name, function) in other.into_entries() {
                if let Some(place) = self.places.get(&name) {
                    bodies[*place] = function;
                }
            }
            return self;
        }
        self.into_entries().chain(other.into_entries()).collect()
    }

    fn into_entries(self) -> impl Iterator<Item = (Arc<str>, Function<'a>)> {
        let bodies = Arc::unwrap_or_clone(self.bodies);
        let names: Vec<Arc<str>> = self.names.iter().cloned().collect();
        names.into_iter().zip(bodies)
    }

    /// Whether there is a function of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    pub(crate) fn table(table: &[(&str, &str, Native)]) -> Self {
        table
            .iter()
            .map(|(name, signature, body)| {
                let signature = Signature::short(signature);
                let body = Body::Native(*body);
                (Arc::from(*name), Function { signature, body })
            })
            .collect()
    }

    /// The names as parsed templates keep them.
    pub(crate) fn known(&self) -> &Arc<[Arc<str>]> {
        &self.names
    }

    /// The number of the function of that name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The function of that number.
    pub(crate) fn at(&self, place: usize) -> Option<&Function<'a>> {
        self.bodies.get(place)
    }

    fn with_function(self, name: &str, function: Function<'a>) -> Self {
        let one = Self::from_iter([(Arc::from(name), function)]);
        self.and(one)
    }
}

/// Of two functions of one name the later one stays.
impl<'a> FromIterator<(Arc<str>, Function<'a>)> for Functions<'a> {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Function<'a>)>>(entries: I) -> Self {
        let sorted: BTreeMap<Arc<str>, Function<'a>> = entries.into_iter().collect();
        let (names, bodies): (Vec<_>, Vec<_>) = sorted.into_iter().unzip();
        let places = names.iter().cloned().zip(0..).collect();
        Self {
            names: names.into(),
            places: Arc::new(places),
            bodies: Arc::new(bodies),
        }
    }
}
