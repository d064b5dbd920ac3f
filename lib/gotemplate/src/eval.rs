//! Evaluates pipelines, commands, fields and calls.
//!
//! Upstream concept: the expression half of `text/template`'s execution: how a field is found, when an argument fits
//! a parameter, and what the error says when it does not.

use std::rc::Rc;

use crate::ast::{At, ExprKind, Parsed, Place, Places};
use crate::budget;
use crate::error::Error;
use crate::failure::Failure;
use crate::function::{Body, Function, Param, Signature};
use crate::machine::{Machine, MissingKey, Slot};
use crate::object::Kind;
use crate::quote;
use crate::value::{Element, List, Map, MapType, Value};

type Step<T> = Result<T, Box<Error>>;

/// What is called, and where an error of the call stands.
struct Callee<'c> {
    name: &'c str,
    at: At,
    signature: &'c Signature,
}

impl<'a> Machine<'a> {
    pub(crate) fn pipeline(&mut self, code: &Parsed, dot: &Slot, at: Place) -> Step<Value> {
        self.deeper(|machine| machine.commands(code, dot, at))
    }

    fn commands(&mut self, code: &Parsed, dot: &Slot, at: Place) -> Step<Value> {
        self.stand(At::Pipe(at));
        let pipe = code.pipe(at);
        let mut value = None;
        for command in pipe.commands.places() {
            let mut result = self.command(code, dot, command, value.take())?.value;
            if matches!(result, Value::Nil) {
                result = Value::Missing;
            }
            value = Some(result);
        }
        let value = value.unwrap_or_default();
        for variable in code.declared(pipe) {
            if !pipe.assigns {
                self.declare(*variable, value.clone());
            } else if !self.assign(*variable, value.clone().into()) {
                return Err(self.fail(format!("undefined variable: {}", code.variable(*variable))));
            }
        }
        Ok(value)
    }

    fn command(&mut self, code: &Parsed, dot: &Slot, at: Place, last: Option<Value>) -> Step<Slot> {
        self.charge(1)?;
        let args = code.commands[at as usize].args;
        let Some(first) = args.first() else {
            return Ok(Value::Missing.into());
        };
        match code.expr(first).kind {
            ExprKind::Field(_) | ExprKind::Chain(..) => self.operand(code, dot, first, args.rest(), last),
            ExprKind::Variable(_, path) if !code.part(path).is_empty() => {
                self.operand(code, dot, first, args.rest(), last)
            }
            ExprKind::Function(place, name) => {
                self.stand(At::Expr(first));
                let name = code.part(name);
                self.function(code, dot, (name, place), At::Command(at), (args.rest(), last))
                    .map(Slot::from)
            }
            ExprKind::Pipe(pipe) => {
                self.no_arguments(code, first, args.rest(), last.as_ref())?;
                self.pipeline(code, dot, pipe).map(Slot::from)
            }
            kind => {
                self.stand(At::Expr(first));
                self.no_arguments(code, first, args.rest(), last.as_ref())?;
                match kind {
                    ExprKind::Nil => Err(self.fail("nil is not a command")),
                    _ => self.operand(code, dot, first, Places::default(), None),
                }
            }
        }
    }

    fn no_arguments(&self, code: &Parsed, first: Place, args: Places, last: Option<&Value>) -> Step<()> {
        if args.len() == 0 && last.is_none() {
            return Ok(());
        }
        let shown = code.show_expr(first);
        Err(self.fail(format!("can't give argument to non-function {shown}")))
    }

    /// The value of an expression that is not a whole command.
    fn operand(&mut self, code: &Parsed, dot: &Slot, at: Place, args: Places, last: Option<Value>) -> Step<Slot> {
        self.stand(At::Expr(at));
        match code.expr(at).kind {
            ExprKind::Dot => Ok(dot.clone()),
            ExprKind::Nil => Ok(Value::Nil.into()),
            ExprKind::Bool(value) => Ok(Value::Bool(value).into()),
            ExprKind::Str(value, _) => Ok(Value::Str(code.strings[value as usize].clone()).into()),
            ExprKind::Number(value, text) => match code.numbers[value as usize].untyped() {
                Some(value) => Ok(value.into()),
                None => Err(self.fail(format!("{} overflows int", code.part(text)))),
            },
            ExprKind::Field(path) => self.fields(code, dot, dot.clone(), (at, code.part(path)), (args, last)),
            ExprKind::Variable(variable, path) => {
                let Some(slot) = self.variable(variable) else {
                    return Err(self.fail(format!("undefined variable: {}", code.variable(variable))));
                };
                let path = code.part(path);
                if path.is_empty() {
                    Ok(slot)
                } else {
                    self.fields(code, dot, slot, (at, path), (args, last))
                }
            }
            ExprKind::Function(place, name) => self
                .function(code, dot, (code.part(name), place), At::Expr(at), (args, last))
                .map(Slot::from),
            ExprKind::Pipe(pipe) => self.pipeline(code, dot, pipe).map(Slot::from),
            ExprKind::Chain(inner, path) => {
                if matches!(code.expr(inner).kind, ExprKind::Nil) {
                    return Err(self.fail("indirection through explicit nil"));
                }
                let value = self.argument(code, dot, Param::Raw, inner)?;
                // Go stands at the last part of the inner expression then.
                self.fields(code, dot, value.into(), (at, code.part(path)), (args, last))
            }
        }
    }

    /// Follows a path of names; the machine stands where it should for errors.
    fn fields(
        &mut self,
        code: &Parsed,
        dot: &Slot,
        receiver: Slot,
        (at, path): (Place, &str),
        (args, last): (Places, Option<Value>),
    ) -> Step<Slot> {
        let mut receiver = receiver;
        let mut path = path.get(1..).unwrap_or_default();
        // Names are short: a plain loop finds their end sooner than a search that is made for long texts.
        while let Some(end) = path.bytes().position(|byte| byte == b'.') {
            receiver = self.field(code, dot, &receiver, (at, &path[..end]), (Places::default(), None))?;
            path = &path[end + 1..];
        }
        self.field(code, dot, &receiver, (at, path), (args, last))
    }

    fn field(
        &mut self,
        code: &Parsed,
        dot: &Slot,
        receiver: &Slot,
        (at, name): (Place, &str),
        (args, last): (Places, Option<Value>),
    ) -> Step<Slot> {
        let has_arguments = args.len() > 0 || last.is_some();
        match &receiver.value {
            Value::Missing if self.missing == MissingKey::Error => {
                Err(self.fail(format!("nil data; no entry for key {}", quote::quote(name))))
            }
            Value::Missing => Ok(Value::Missing.into()),
            Value::Nil => Err(self.fail(format!("nil pointer evaluating interface {{}}.{name}"))),
            Value::Object(object) => {
                if let Some(signature) = object.method(name) {
                    let callee = Callee {
                        name,
                        at: At::Expr(at),
                        signature: &signature,
                    };
                    let args = self.arguments(code, dot, &callee, args, last)?;
                    let before = self.standing();
                    self.stand(callee.at);
                    let result = object.call(self, name, &args);
                    return self.finish(name, result, before).map(Slot::from);
                }
                match (object.field(name), object.kind()) {
                    (_, Kind::Map) if has_arguments => {
                        Err(self.fail(format!("{name} is not a method but has arguments")))
                    }
                    (Some(_), _) if has_arguments => {
                        Err(self.fail(format!("{name} has arguments but cannot be invoked as function")))
                    }
                    (Some(value), _) => Ok(value.into()),
                    (None, Kind::Map) => self.absent(name, Value::Nil),
                    (None, _) => {
                        let type_name = if receiver.boxed {
                            "interface {}".into()
                        } else {
                            object.type_name()
                        };
                        Err(self.fail(format!("can't evaluate field {name} in type {type_name}")))
                    }
                }
            }
            Value::Map(map) => {
                if let MapType::Named(type_name) = map.kind()
                    && let Some(method) = self.method(type_name, name)
                {
                    let callee = Callee {
                        name,
                        at: At::Expr(at),
                        signature: &method.signature,
                    };
                    let mut args = self.arguments(code, dot, &callee, args, last)?;
                    args.insert(0, receiver.value.clone());
                    let before = self.standing();
                    self.stand(callee.at);
                    let result = self.run(&method.body, &args);
                    return self.finish(name, result, before).map(Slot::from);
                }
                if has_arguments {
                    return Err(self.fail(format!("{name} is not a method but has arguments")));
                }
                match map.get(name) {
                    Some(Value::Missing) => Ok(Slot {
                        value: Value::Nil,
                        boxed: true,
                    }),
                    Some(value) => Ok(Slot {
                        value,
                        boxed: map.kind() != MapType::Str,
                    }),
                    None if map.kind() == MapType::Str => self.absent(name, Value::str("")),
                    None => self.absent(name, Value::Nil),
                }
            }
            other => {
                let type_name = if receiver.boxed {
                    "interface {}".into()
                } else {
                    other.type_name()
                };
                Err(self.fail(format!("can't evaluate field {name} in type {type_name}")))
            }
        }
    }

    fn absent(&self, name: &str, zero: Value) -> Step<Slot> {
        match self.missing {
            MissingKey::Default => Ok(Value::Missing.into()),
            MissingKey::Zero => Ok(Slot {
                value: zero,
                boxed: true,
            }),
            MissingKey::Error => Err(self.fail(format!("map has no entry for key {}", quote::quote(name)))),
        }
    }

    fn function(
        &mut self,
        code: &Parsed,
        dot: &Slot,
        (name, place): (&str, Place),
        at: At,
        (args, last): (Places, Option<Value>),
    ) -> Step<Value> {
        let functions = Rc::clone(&self.functions);
        let Some(function) = functions.at(place as usize) else {
            return Err(self.fail(format!("{} is not a defined function", quote::quote(name))));
        };
        let callee = Callee {
            name,
            at,
            signature: &function.signature,
        };
        if name == "and" || name == "or" {
            return self.short_circuit(code, dot, &callee, args, last);
        }
        let values = self.arguments(code, dot, &callee, args, last)?;
        self.charge(values.iter().map(cost).sum())?;
        let before = self.standing();
        self.stand(at);
        if name == "call"
            && let Some(other) = values
                .first()
                .filter(|value| !matches!(value, Value::Object(_)) && !value.is_nil())
        {
            let shown = args.first().map(|first| code.show_expr(first)).unwrap_or_default();
            let message = format!("non-function {shown} of type {}", other.type_name());
            return Err(self.call_failed(name, Failure::new(message)));
        }
        let result = self.run(&function.body, &values);
        self.give_back(values);
        self.stand(at);
        self.finish(name, result, before)
    }

    fn run(&mut self, body: &Body<'a>, args: &[Value]) -> Result<Value, Failure> {
        match body {
            Body::Native(native) => native(self, args),
            Body::Closure(closure) => closure(self, args),
        }
    }

    /// The method of a named map type.
    fn method(&self, type_name: &str, name: &str) -> Option<Function<'a>> {
        // Go calls nothing that is not exported.
        if name.starts_with(|first: char| first.is_ascii_lowercase()) {
            return None;
        }
        let (_, methods) = self.methods.iter().find(|(known, _)| *known == type_name)?;
        methods.at(methods.find(name)?).cloned()
    }

    /// The machine stands at the call only if that failed; else where its last argument left it.
    fn finish(&mut self, name: &str, result: Result<Value, Failure>, before: At) -> Step<Value> {
        let value = result.map_err(|failure| self.call_failed(name, failure))?;
        let made = match &value {
            Value::Str(text) => text.len(),
            Value::List(list) => budget::of_list(list.len()),
            Value::Map(map) => budget::of_map(map.len()),
            _ => 0,
        };
        self.budget
            .text(made)
            .map_err(|failure| self.call_failed(name, failure))?;
        self.stand(before);
        Ok(value)
    }

    fn short_circuit(
        &mut self,
        code: &Parsed,
        dot: &Slot,
        callee: &Callee<'_>,
        args: Places,
        last: Option<Value>,
    ) -> Step<Value> {
        self.count(callee, args.len(), last.is_some())?;
        let mut value = Value::Missing;
        for arg in args.places() {
            value = self.argument(code, dot, Param::Raw, arg)?;
            if value.truth() == (callee.name == "or") {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    fn count(&self, callee: &Callee<'_>, written: usize, piped: bool) -> Step<()> {
        let given = written + usize::from(piped);
        let fixed = callee.signature.params.len();
        let name = callee.name;
        if callee.signature.rest.is_some() {
            if given < fixed {
                return Err(self.fail(format!(
                    "wrong number of args for {name}: want at least {fixed} got {written}"
                )));
            }
        } else if given != fixed {
            return Err(self.fail(format!("wrong number of args for {name}: want {fixed} got {given}")));
        }
        Ok(())
    }

    fn arguments(
        &mut self,
        code: &Parsed,
        dot: &Slot,
        callee: &Callee<'_>,
        args: Places,
        last: Option<Value>,
    ) -> Step<Vec<Value>> {
        self.count(callee, args.len(), last.is_some())?;
        let mut values = self.buffer();
        let param = |index: usize| {
            callee
                .signature
                .params
                .get(index)
                .copied()
                .or(callee.signature.rest)
                .unwrap_or(Param::Any)
        };
        for (index, arg) in args.places().enumerate() {
            values.push(self.argument(code, dot, param(index), arg)?);
        }
        if let Some(last) = last {
            values.push(self.fit(last, param(args.len()))?);
        }
        Ok(values)
    }

    /// Evaluates an argument for a parameter.
    fn argument(&mut self, code: &Parsed, dot: &Slot, param: Param, at: Place) -> Step<Value> {
        self.stand(At::Expr(at));
        match code.expr(at).kind {
            ExprKind::Nil => match param {
                Param::Str
                | Param::Int
                | Param::Int64
                | Param::Uint32
                | Param::Float
                | Param::Bool
                | Param::Struct(_) => Err(self.fail(format!("cannot assign nil to {}", param.name()))),
                Param::Raw => Ok(Value::Missing),
                _ => Ok(Value::Nil),
            },
            ExprKind::Bool(_) | ExprKind::Str(..) | ExprKind::Number(..) => self.literal(code, param, at),
            _ => {
                let value = self.operand(code, dot, at, Places::default(), None)?.value;
                self.fit(value, param)
            }
        }
    }

    fn literal(&mut self, code: &Parsed, param: Param, at: Place) -> Step<Value> {
        let number = |place: Place| code.numbers[place as usize];
        let wanted = match (param, code.expr(at).kind) {
            (Param::Any | Param::Raw | Param::Bool, ExprKind::Bool(value)) => {
                return Ok(Value::Bool(value));
            }
            (Param::Any | Param::Raw | Param::Str, ExprKind::Str(value, _)) => {
                return Ok(Value::Str(code.strings[value as usize].clone()));
            }
            (Param::Any | Param::Raw, ExprKind::Number(value, text)) => {
                return number(value)
                    .untyped()
                    .ok_or_else(|| self.fail(format!("{} overflows int", code.part(text))));
            }
            (Param::Int | Param::Int64, ExprKind::Number(value, _)) => {
                if let Some(int) = number(value).int {
                    return Ok(if param == Param::Int {
                        Value::Int(int)
                    } else {
                        Value::Int64(int)
                    });
                }
                "integer"
            }
            (Param::Float, ExprKind::Number(value, _)) => {
                if let Some(float) = number(value).float {
                    return Ok(Value::Float(float));
                }
                "float"
            }
            (Param::Uint32, ExprKind::Number(value, _)) => {
                if let Some(int) = number(value).int.filter(|int| *int >= 0) {
                    return Ok(Value::Uint(int.unsigned_abs()));
                }
                "unsigned integer"
            }
            (Param::Uint32, _) => "unsigned integer",
            (Param::Bool, _) => "bool",
            (Param::Str, _) => "string",
            (Param::Int | Param::Int64, _) => "integer",
            (Param::Float, _) => "float",
            _ => {
                let shown = code.show_expr(at);
                return Err(self.fail(format!("can't handle {shown} for arg of type {}", param.name())));
            }
        };
        Err(self.fail(format!("expected {wanted}; found {}", code.show_expr(at))))
    }

    /// Whether a value may be passed for a parameter.
    fn fit(&mut self, value: Value, param: Param) -> Step<Value> {
        let fits = match (&value, param) {
            (Value::Missing, Param::Any) => return Ok(Value::Nil),
            (_, Param::Any | Param::Raw) => true,
            (Value::Missing, Param::Map | Param::StrMap) => return Ok(Map::new().into()),
            (Value::Missing, Param::List) => return Ok(List::new(Vec::new()).into()),
            (Value::Missing, Param::Strs) => return Ok(List::typed(Element::Str, Vec::new()).into()),
            (Value::Missing, Param::Never) => return Ok(Value::Nil),
            (Value::Missing, _) => {
                return Err(self.fail(format!("invalid value; expected {}", param.name())));
            }
            (Value::Nil, _) => {
                let message = format!("wrong type for value; expected {}; got interface {{}}", param.name());
                return Err(self.fail(message));
            }
            (Value::Str(_), Param::Str)
            | (Value::Int(_), Param::Int)
            | (Value::Int64(_), Param::Int64)
            | (Value::Float(_), Param::Float)
            | (Value::Bool(_), Param::Bool) => true,
            (Value::Map(map), Param::Map) => map.kind() != MapType::Str,
            (Value::Map(map), Param::StrMap) => map.kind() == MapType::Str,
            (Value::List(list), Param::List) => list.element() == Element::Any,
            (Value::List(list), Param::Strs) => list.element() == Element::Str,
            (Value::Object(object), Param::Struct(name)) => object.type_name() == name,
            _ => false,
        };
        if fits {
            return Ok(value);
        }
        let got = value.type_name();
        Err(self.fail(format!("wrong type for value; expected {}; got {got}", param.name())))
    }
}

/// Units of work that reading an argument may cost a function.
fn cost(value: &Value) -> u64 {
    match value {
        Value::Str(text) => text.len() as u64 / 64,
        Value::List(list) => list.len() as u64 / 8,
        Value::Map(map) => map.len() as u64 / 8,
        _ => 0,
    }
}
