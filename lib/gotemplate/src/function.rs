//! The table of functions a template may call: what each takes, and what runs.

use std::collections::BTreeMap;
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
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Signature {
    /// The fixed ones.
    pub params: Vec<Param>,
    /// The type of the variable ones that follow.
    pub rest: Option<Param>,
}

impl Signature {
    /// Reads the short form used in tables: one letter per parameter, `*` after the last one makes it variable.
    /// `a` any, `r` raw, `s` string, `i` int, `I` int64, `f` float64, `b` bool, `m` map, `M` string map, `l` list,
    /// `S` string list, `u` uint32.
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
                _ => params.push(Param::Never),
            }
        }
        Self { params, rest }
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

/// Functions a template may call, by name.
#[derive(Clone, Default)]
pub struct Functions<'a> {
    table: BTreeMap<String, Arc<Function<'a>>>,
}

impl<'a> Functions<'a> {
    /// No function.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function; `signature` is the short form of [`Signature::short`].
    #[must_use]
    pub fn with(mut self, name: &str, signature: &str, body: Native) -> Self {
        self.insert(name, signature, Body::Native(body));
        self
    }

    /// Adds a function whose parameters the short form has no letters for.
    #[must_use]
    pub fn with_signature(mut self, name: &str, signature: Signature, body: Native) -> Self {
        let body = Body::Native(body);
        self.table
            .insert(name.to_owned(), Arc::new(Function { signature, body }));
        self
    }

    /// Adds a function that carries state.
    #[must_use]
    pub fn with_closure(mut self, name: &str, signature: &str, body: Closure<'a>) -> Self {
        self.insert(name, signature, Body::Closure(body));
        self
    }

    /// Leaves functions out.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        for name in names {
            self.table.remove(*name);
        }
        self
    }

    /// Adds all of `other`, which replace those of the same name.
    #[must_use]
    pub fn and(mut self, other: Functions<'a>) -> Self {
        self.table.extend(other.table);
        self
    }

    /// Whether there is a function of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.table.keys().map(String::as_str)
    }

    pub(crate) fn table(table: &[(&str, &str, Native)]) -> Self {
        let mut functions = Self::default();
        for (name, signature, body) in table {
            functions.insert(name, signature, Body::Native(*body));
        }
        functions
    }

    pub(crate) fn find(&self, name: &str) -> Option<Arc<Function<'a>>> {
        self.table.get(name).cloned()
    }

    fn insert(&mut self, name: &str, signature: &str, body: Body<'a>) {
        let function = Function {
            signature: Signature::short(signature),
            body,
        };
        self.table.insert(name.to_owned(), Arc::new(function));
    }
}
