//! The parsed template: nodes with byte positions, and each node's text as error messages show it.
//!
//! Upstream concept: `text/template/parse.Node` and its `String` methods.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::value::Value;

/// One parsed text: what is between one pair of `define` and `end`, or a whole file.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The name under which the template is executed.
    pub(crate) name: Rc<str>,
    /// The file's text and name, for positions.
    pub(crate) source: Rc<Source>,
    pub(crate) body: Vec<Node>,
}

#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    /// The text between two byte positions.
    pub(crate) fn part(&self, from: usize, to: usize) -> &str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// The line of a byte position, from 1.
    pub(crate) fn line(&self, pos: usize) -> usize {
        let before = self.text.as_bytes().get(..pos).unwrap_or(self.text.as_bytes());
        1 + memchr::memchr_iter(b'\n', before).count()
    }

    /// `NAME:LINE:COLUMN` of a byte position; lines from 1, columns in bytes from 0.
    pub(crate) fn location(&self, pos: usize) -> String {
        let before = self.text.get(..pos).unwrap_or(&self.text);
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        format!("{}:{}:{column}", self.name, 1 + before.matches('\n').count())
    }
}

impl Tree {
    /// Whether executing it prints nothing but white space: such a definition never replaces another one.
    pub(crate) fn is_blank(&self) -> bool {
        self.body
            .iter()
            .all(|node| matches!(node, Node::Text(from, to) if self.source.part(*from, *to).trim().is_empty()))
    }
}

#[derive(Debug)]
pub(crate) enum Node {
    /// A piece of the source between two byte positions.
    Text(usize, usize),
    Action(Rc<Pipe>),
    If(Rc<Branch>),
    With(Rc<Branch>),
    Range(Rc<Branch>),
    Template(Rc<Call>),
    Break,
    Continue,
}

/// `if`, `with` and `range`.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) word: &'static str,
    pub(crate) pipe: Rc<Pipe>,
    pub(crate) body: Vec<Node>,
    pub(crate) otherwise: Option<Vec<Node>>,
}

/// `{{ template "name" pipe }}`
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) pos: usize,
    pub(crate) name: String,
    pub(crate) pipe: Option<Rc<Pipe>>,
}

#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) pos: usize,
    pub(crate) declared: Vec<Rc<str>>,
    /// `$x = …` rather than `$x := …`.
    pub(crate) assigns: bool,
    pub(crate) commands: Vec<Rc<Command>>,
}

#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) pos: usize,
    pub(crate) args: Vec<Rc<Expr>>,
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) pos: usize,
    pub(crate) kind: ExprKind,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Dot,
    Nil,
    Bool(bool),
    /// The literal, its text, and the float it is where one is expected.
    Number {
        value: Number,
        text: String,
    },
    Str {
        value: Rc<str>,
        text: String,
    },
    /// `.a.b`, as written.
    Field(Box<str>),
    /// `$x.a.b`: the variable with its dollar sign, and the fields as written.
    Variable(Rc<str>, Box<str>),
    /// The name, and the number in the table of functions.
    Function(Arc<str>, usize),
    Pipe(Rc<Pipe>),
    /// `(pipe).a.b`, `f.a`; the fields as written.
    Chain(Rc<Expr>, Box<str>),
}

/// A number literal in all the types it can take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub(crate) int: Option<i64>,
    pub(crate) float: Option<f64>,
    /// Whether it is written as a float (`1.0`, `1e3`), so that an untyped use is a float64.
    pub(crate) written_float: bool,
}

impl Number {
    /// The value where no type is asked for. `None`: the literal does not fit an `int`.
    pub(crate) fn untyped(self) -> Option<Value> {
        match self {
            Self {
                written_float: true,
                float: Some(float),
                ..
            } => Some(Value::Float(float)),
            Self { int: Some(int), .. } => Some(Value::Int(int)),
            _ => None,
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Dot => f.write_str("."),
            ExprKind::Nil => f.write_str("nil"),
            ExprKind::Bool(value) => write!(f, "{value}"),
            ExprKind::Number { text, .. } | ExprKind::Str { text, .. } => f.write_str(text),
            ExprKind::Field(path) => f.write_str(path),
            ExprKind::Variable(name, path) => write!(f, "{name}{path}"),
            ExprKind::Function(name, _) => f.write_str(name),
            ExprKind::Pipe(pipe) => write!(f, "{pipe}"),
            ExprKind::Chain(inner, path) => {
                match inner.kind {
                    ExprKind::Pipe(_) => write!(f, "({inner})")?,
                    _ => write!(f, "{inner}")?,
                }
                f.write_str(path)
            }
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, arg) in self.args.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            match arg.kind {
                ExprKind::Pipe(_) => write!(f, "({arg})")?,
                _ => write!(f, "{arg}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.declared.is_empty() {
            write!(
                f,
                "{} {} ",
                self.declared.join(", "),
                if self.assigns { "=" } else { ":=" }
            )?;
        }
        for (index, command) in self.commands.iter().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            write!(f, "{command}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{template {}", crate::quote::quote(&self.name))?;
        if let Some(pipe) = &self.pipe {
            write!(f, " {pipe}")?;
        }
        f.write_str("}}")
    }
}
