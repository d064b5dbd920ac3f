//! The parsed template: nodes with byte positions, and each node's text as error messages show it.
//!
//! Upstream concept: `text/template/parse.Node` and its `String` methods. All nodes of one text stand in a few lists
//! and name each other by their place in them: a text is parsed with few allocations, freed at once, executed without
//! counting references, and can be shared between threads.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::lex::Delims;
use crate::value::{Text, Value};

/// A template text that was parsed once. It knows the functions of the engine that parsed it, but not under which name
/// it will be executed; it can be kept, shared and added to many machines.
#[derive(Debug)]
pub struct Parsed {
    pub(crate) text: String,
    pub(crate) delims: Delims,
    /// Names of the functions that calls name by their number.
    pub(crate) functions: Arc<[Arc<str>]>,
    /// What stands between `define` and `end`, in the order in which they end.
    pub(crate) definitions: Vec<Definition>,
    /// The text itself.
    pub(crate) body: Nodes,
    /// Whether executing it prints nothing but white space: such a text never replaces another one.
    pub(crate) blank: bool,
    pub(crate) nodes: Vec<Node>,
    pub(crate) branches: Vec<Branch>,
    pub(crate) calls: Vec<Call>,
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) commands: Vec<Command>,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) strings: Vec<Text>,
    pub(crate) numbers: Vec<Number>,
    /// Names of variables; the first is `$`.
    pub(crate) variables: Vec<Text>,
    /// Variables that pipelines declare, one pipeline's side by side.
    pub(crate) declared: Vec<Variable>,
}

/// The template between one pair of `define` and `end`.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: Text,
    pub(crate) body: Nodes,
    /// As for the whole text.
    pub(crate) blank: bool,
}

/// A piece of the text between two byte positions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// Places in a list, side by side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places {
    from: u32,
    to: u32,
}

/// Places of nodes.
pub(crate) type Nodes = Places;

/// The number of a variable's name.
pub(crate) type Variable = u32;

/// The place of a node of that kind in its list.
pub(crate) type Place = u32;

/// No text is longer; so no list is either.
pub(crate) const MAX_TEXT: usize = u32::MAX as usize / 2;

/// A position or place as it is kept; [`MAX_TEXT`] keeps it in range, so that nothing is cut off.
pub(crate) fn place(at: usize) -> u32 {
    at as u32
}

impl Places {
    pub(crate) fn new(from: usize, to: usize) -> Self {
        Self {
            from: place(from),
            to: place(to),
        }
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }

    pub(crate) fn len(self) -> usize {
        (self.to - self.from) as usize
    }

    /// The first of them.
    pub(crate) fn first(self) -> Option<Place> {
        (self.from < self.to).then_some(self.from)
    }

    /// All but the first.
    pub(crate) fn rest(self) -> Self {
        Self {
            from: (self.from + 1).min(self.to),
            to: self.to,
        }
    }

    pub(crate) fn places(self) -> Range<Place> {
        self.from..self.to
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    Text(Part),
    Action(Place),
    If(Place),
    With(Place),
    Range(Place),
    Template(Place),
    Break,
    Continue,
}

/// `if`, `with` and `range`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    pub(crate) pipe: Place,
    pub(crate) body: Nodes,
    pub(crate) otherwise: Option<Nodes>,
}

/// `{{ template "name" pipe }}`
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) pos: u32,
    pub(crate) name: Text,
    pub(crate) pipe: Option<Place>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pipe {
    pub(crate) pos: u32,
    pub(crate) declared: Places,
    /// `$x = …` rather than `$x := …`.
    pub(crate) assigns: bool,
    pub(crate) commands: Places,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    pub(crate) pos: u32,
    /// Expressions.
    pub(crate) args: Places,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Expr {
    pub(crate) pos: u32,
    pub(crate) kind: ExprKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ExprKind {
    Dot,
    Nil,
    Bool(bool),
    /// The literal's number in the list of numbers, and its text.
    Number(Place, Part),
    /// The literal's number in the list of strings, and its text.
    Str(Place, Part),
    /// `.a.b`, as written.
    Field(Part),
    /// `$x.a.b`: the variable, and the fields as written.
    Variable(Variable, Part),
    /// The number in the table of functions, and the name.
    Function(Place, Part),
    Pipe(Place),
    /// `(pipe).a.b`, `f.a`; the fields as written.
    Chain(Place, Part),
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

/// The node an execution stands at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    Nothing,
    Pipe(Place),
    Command(Place),
    Expr(Place),
    Call(Place),
}

impl Parsed {
    /// The text between two byte positions.
    pub(crate) fn part(&self, part: Part) -> &str {
        self.text.get(part.from as usize..part.to as usize).unwrap_or_default()
    }

    pub(crate) fn pipe(&self, at: Place) -> &Pipe {
        &self.pipes[at as usize]
    }

    pub(crate) fn expr(&self, at: Place) -> &Expr {
        &self.exprs[at as usize]
    }

    /// The variables that a pipeline declares or assigns.
    pub(crate) fn declared(&self, pipe: &Pipe) -> &[Variable] {
        &self.declared[pipe.declared.range()]
    }

    pub(crate) fn variable(&self, variable: Variable) -> &str {
        &self.variables[variable as usize]
    }

    /// `NAME:LINE:COLUMN` of a byte position; lines from 1, columns in bytes from 0.
    pub(crate) fn location(&self, name: &str, pos: u32) -> String {
        let before = self.text.get(..pos as usize).unwrap_or(&self.text);
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        format!("{name}:{}:{column}", line(&self.text, pos))
    }

    /// Position and text of the node at a place.
    pub(crate) fn shown(&self, at: At) -> Option<(u32, String)> {
        match at {
            At::Nothing => None,
            At::Pipe(at) => Some((self.pipe(at).pos, self.show_pipe(at))),
            At::Command(at) => Some((self.commands[at as usize].pos, self.show_command(at))),
            At::Expr(at) => Some((self.expr(at).pos, self.show_expr(at))),
            At::Call(at) => {
                let call = &self.calls[at as usize];
                Some((call.pos, self.show(|out| self.write_call(out, call))))
            }
        }
    }

    pub(crate) fn show_expr(&self, at: Place) -> String {
        self.show(|out| self.write_expr(out, at))
    }

    pub(crate) fn show_pipe(&self, at: Place) -> String {
        self.show(|out| self.write_pipe(out, at))
    }

    fn show_command(&self, at: Place) -> String {
        self.show(|out| self.write_command(out, at))
    }

    fn show(&self, write: impl FnOnce(&mut String) -> fmt::Result) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = write(&mut out);
        out
    }

    fn write_expr(&self, out: &mut String, at: Place) -> fmt::Result {
        use fmt::Write as _;
        match self.expr(at).kind {
            ExprKind::Dot => out.push('.'),
            ExprKind::Nil => out.push_str("nil"),
            ExprKind::Bool(value) => write!(out, "{value}")?,
            ExprKind::Number(_, part)
            | ExprKind::Str(_, part)
            | ExprKind::Field(part)
            | ExprKind::Function(_, part) => out.push_str(self.part(part)),
            ExprKind::Variable(name, path) => {
                out.push_str(self.variable(name));
                out.push_str(self.part(path));
            }
            ExprKind::Pipe(pipe) => self.write_pipe(out, pipe)?,
            ExprKind::Chain(inner, path) => {
                self.write_operand(out, inner)?;
                out.push_str(self.part(path));
            }
        }
        Ok(())
    }

    /// An expression inside another one: a pipeline stands in parentheses.
    fn write_operand(&self, out: &mut String, at: Place) -> fmt::Result {
        let is_pipe = matches!(self.expr(at).kind, ExprKind::Pipe(_));
        if is_pipe {
            out.push('(');
        }
        self.write_expr(out, at)?;
        if is_pipe {
            out.push(')');
        }
        Ok(())
    }

    fn write_command(&self, out: &mut String, at: Place) -> fmt::Result {
        for (index, arg) in self.commands[at as usize].args.places().enumerate() {
            if index > 0 {
                out.push(' ');
            }
            self.write_operand(out, arg)?;
        }
        Ok(())
    }

    fn write_pipe(&self, out: &mut String, at: Place) -> fmt::Result {
        let pipe = self.pipe(at);
        for (index, variable) in self.declared(pipe).iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            out.push_str(self.variable(*variable));
        }
        if pipe.declared.len() > 0 {
            out.push_str(if pipe.assigns { " = " } else { " := " });
        }
        for (index, command) in pipe.commands.places().enumerate() {
            if index > 0 {
                out.push_str(" | ");
            }
            self.write_command(out, command)?;
        }
        Ok(())
    }

    fn write_call(&self, out: &mut String, call: &Call) -> fmt::Result {
        use fmt::Write as _;
        write!(out, "{{{{template {}", crate::quote::quote(&call.name))?;
        if let Some(pipe) = call.pipe {
            out.push(' ');
            self.write_pipe(out, pipe)?;
        }
        out.push_str("}}");
        Ok(())
    }
}

/// The line of a byte position, from 1.
pub(crate) fn line(text: &str, pos: u32) -> usize {
    let before = text.as_bytes().get(..pos as usize).unwrap_or(text.as_bytes());
    1 + memchr::memchr_iter(b'\n', before).count()
}
