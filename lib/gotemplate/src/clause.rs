//! Inside an action: pipelines, declarations, commands, operands.

use std::rc::Rc;

use crate::ast::{Command, Expr, ExprKind, Pipe};
use crate::lex::{Keyword, Kind};
use crate::literal;
use crate::parse::{Parser, Step};
use crate::quote;

impl Parser<'_, '_> {
    pub(crate) fn pipeline(&mut self, context: &str, end: Kind) -> Step<Rc<Pipe>> {
        let first = self.peek_word();
        let mut pipe = Pipe {
            pos: first.pos,
            declared: Vec::new(),
            assigns: false,
            commands: Vec::new(),
        };
        self.declarations(&mut pipe, context)?;
        loop {
            let token = self.take_word();
            match token.kind {
                kind if kind == end => {
                    Self::check(&pipe, context)?;
                    return Ok(Rc::new(pipe));
                }
                Kind::Bool
                | Kind::Char
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Keyword(Keyword::Nil)
                | Kind::RawStr
                | Kind::Str
                | Kind::Variable
                | Kind::OpenParen => {
                    self.back();
                    let command = self.command()?;
                    pipe.commands.push(Rc::new(command));
                }
                _ => return self.unexpected(&token, context),
            }
        }
    }

    fn check(pipe: &Pipe, context: &str) -> Step<()> {
        if pipe.commands.is_empty() {
            return Err(format!("missing value for {context}"));
        }
        for (index, command) in pipe.commands.iter().enumerate().skip(1) {
            let literal = command.args.first().is_some_and(|first| {
                matches!(
                    first.kind,
                    ExprKind::Bool(_) | ExprKind::Dot | ExprKind::Nil | ExprKind::Number { .. } | ExprKind::Str { .. }
                )
            });
            if literal {
                return Err(format!("non executable command in pipeline stage {}", index + 1));
            }
        }
        Ok(())
    }

    /// `$x :=`, `$x =`, `$k, $v :=`
    fn declarations(&mut self, pipe: &mut Pipe, context: &str) -> Step<()> {
        loop {
            self.skip_space();
            let start = self.mark();
            if self.peek() != Kind::Variable {
                return Ok(());
            }
            let variable = self.take();
            let next = self.take_word();
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    pipe.assigns = next.kind == Kind::Assign;
                    pipe.declared.push(Rc::from(variable.text));
                    // Assigning to an unknown variable is found out when it happens.
                    if !pipe.assigns {
                        self.variables.extend(pipe.declared.iter().cloned());
                    }
                    return Ok(());
                }
                Kind::Comma => {
                    pipe.declared.push(Rc::from(variable.text));
                    if context == "range" && pipe.declared.len() < 2 {
                        let following = self.peek_word();
                        match following.kind {
                            Kind::Variable | Kind::Right | Kind::CloseParen => continue,
                            _ => return Err("range can only initialize variables".into()),
                        }
                    }
                    return Err(format!("too many declarations in {context}"));
                }
                _ => {
                    self.return_to(start);
                    return Ok(());
                }
            }
        }
    }

    fn known_variable(&self, name: &str) -> Step<Rc<str>> {
        let known = self.variables.iter().find(|known| &***known == name);
        known
            .cloned()
            .ok_or_else(|| format!("undefined variable {}", quote::quote(name)))
    }

    fn command(&mut self) -> Step<Command> {
        let pos = self.peek_word().pos;
        let mut args = Vec::new();
        loop {
            self.skip_space();
            if let Some(operand) = self.operand()? {
                args.push(Rc::new(operand));
            }
            let token = self.take();
            match token.kind {
                Kind::Space => {}
                Kind::Right | Kind::CloseParen => {
                    self.back();
                    break;
                }
                Kind::Pipe => break,
                _ => return self.unexpected(&token, "operand"),
            }
        }
        if args.is_empty() {
            Err("empty command".into())
        } else {
            Ok(Command { pos, args })
        }
    }

    fn operand(&mut self) -> Step<Option<Expr>> {
        let Some(mut term) = self.term()? else {
            return Ok(None);
        };
        if self.peek() != Kind::Field {
            return Ok(Some(term));
        }
        let first = self.take();
        let (pos, mut path) = (first.pos, first.text.to_owned());
        while self.peek() == Kind::Field {
            path.push_str(self.take().text);
        }
        Ok(Some(match &mut term.kind {
            ExprKind::Field(fields) => {
                *fields = format!("{fields}{path}").into();
                Expr { pos, kind: term.kind }
            }
            ExprKind::Variable(_, fields) => {
                *fields = path.into();
                Expr { pos, kind: term.kind }
            }
            ExprKind::Bool(_) | ExprKind::Str { .. } | ExprKind::Number { .. } | ExprKind::Nil | ExprKind::Dot => {
                return Err(format!("unexpected . after term {}", quote::quote(&term.to_string())));
            }
            ExprKind::Function(..) | ExprKind::Pipe(_) | ExprKind::Chain(..) => Expr {
                pos,
                kind: ExprKind::Chain(Rc::new(term), path.into()),
            },
        }))
    }

    fn term(&mut self) -> Step<Option<Expr>> {
        let token = self.take_word();
        let kind = match token.kind {
            Kind::Identifier => {
                let Some((place, name)) = (self.rules.function)(token.text) else {
                    return Err(format!("function {} not defined", quote::quote(token.text)));
                };
                ExprKind::Function(name, place)
            }
            Kind::Dot => ExprKind::Dot,
            Kind::Keyword(Keyword::Nil) => ExprKind::Nil,
            Kind::Variable => ExprKind::Variable(self.known_variable(token.text)?, Box::default()),
            Kind::Field => ExprKind::Field(Box::from(token.text)),
            Kind::Bool => ExprKind::Bool(token.text == "true"),
            Kind::Char | Kind::Number => {
                let value = literal::number(token.text)?;
                ExprKind::Number {
                    value,
                    text: token.text.to_owned(),
                }
            }
            Kind::OpenParen => {
                self.deeper()?;
                let pipe = self.pipeline("parenthesized pipeline", Kind::CloseParen)?;
                self.nesting -= 1;
                ExprKind::Pipe(pipe)
            }
            Kind::Str | Kind::RawStr => {
                let value = quote::unquote(token.text).ok_or("invalid syntax")?;
                ExprKind::Str {
                    value: Rc::from(value),
                    text: token.text.to_owned(),
                }
            }
            _ => {
                self.back();
                return Ok(None);
            }
        };
        Ok(Some(Expr { pos: token.pos, kind }))
    }
}
