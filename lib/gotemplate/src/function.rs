//! The table of functions a template may call: what each takes, and what runs.

use std::sync::Arc;

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
#[derive(Clone, Default)]
pub struct Functions<'a> {
    /// Sorted by name. A function's place is its number in parsed templates.
    table: Arc<Vec<(Arc<str>, Function<'a>)>>,
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
    pub fn with_signature(mut self, name: &str, signature: Signature, body: Native) -> Self {
        let body = Body::Native(body);
        self.insert(Arc::from(name), Function { signature, body });
        self
    }

    /// Adds a function that carries state.
    #[must_use]
    pub fn with_closure(mut self, name: &str, signature: &str, body: Closure<'a>) -> Self {
        let signature = Signature::short(signature);
        let body = Body::Closure(body);
        self.insert(Arc::from(name), Function { signature, body });
        self
    }

    /// Leaves functions out.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        Arc::make_mut(&mut self.table).retain(|(name, _)| !names.contains(&&**name));
        self
    }

    /// Adds all of `other`, which replace those of the same name.
    #[must_use]
    pub fn and(self, other: Functions<'a>) -> Self {
        if self.table.is_empty() {
            return other;
        }
        // Both are sorted.
        let mut all = Vec::with_capacity(self.table.len() + other.table.len());
        let mut ours = self.table.iter().peekable();
        for theirs in other.table.iter() {
            while let Some(one) = ours.next_if(|one| one.0 < theirs.0) {
                all.push(one.clone());
            }
            ours.next_if(|one| one.0 == theirs.0);
            all.push(theirs.clone());
        }
        all.extend(ours.cloned());
        Self { table: Arc::new(all) }
    }

    /// Whether there is a function of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.table.iter().map(|(name, _)| &**name)
    }

    pub(crate) fn table(table: &[(&str, &str, Native)]) -> Self {
        let mut functions: Vec<(Arc<str>, Function<'a>)> = table
            .iter()
            .map(|(name, signature, body)| {
                let signature = Signature::short(signature);
                let body = Body::Native(*body);
                (Arc::from(*name), Function { signature, body })
            })
            .collect();
        functions.sort_by(|(left, _), (right, _)| left.cmp(right));
        Self {
            table: Arc::new(functions),
        }
    }

    /// The number of the function of that name, and its name to keep.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, Arc<str>)> {
        let place = self.table.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some((place, Arc::clone(&self.table[place].0)))
    }

    /// The function of that number.
    pub(crate) fn at(&self, place: usize) -> Option<&Function<'a>> {
        self.table.get(place).map(|(_, function)| function)
    }

    fn insert(&mut self, name: Arc<str>, function: Function<'a>) {
        let table = Arc::make_mut(&mut self.table);
        match table.binary_search_by(|(known, _)| known.cmp(&name)) {
            Ok(place) => table[place].1 = function,
            Err(place) => table.insert(place, (name, function)),
        }
    }
}
