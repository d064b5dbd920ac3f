//! Inside an action: pipelines, declarations, commands, operands.

use crate::ast::{Command, Expr, ExprKind, Part, Pipe, Place, Places, place};
use crate::lex::{Keyword, Kind};
use crate::literal;
use crate::parse::{Parser, Step, add, close};
use crate::quote;

impl Parser<'_, '_> {
    pub(crate) fn pipeline(&mut self, context: &str, end: Kind) -> Step<Place> {
        let pos = self.peek().pos();
        let (declared, assigns) = self.declarations(context)?;
        let mark = self.open.commands.len();
        loop {
            let token = self.peek();
            match token.kind {
                kind if kind == end => {
                    self.take();
                    let commands = close(&mut self.open.commands, mark, &mut self.out.commands);
                    self.check(commands, context)?;
                    let pipe = Pipe {
                        pos,
                        declared,
                        assigns,
                        commands,
                    };
                    return Ok(add(&mut self.out.pipes, pipe));
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
                    let command = self.command()?;
                    self.open.commands.push(command);
                }
                _ => {
                    self.take();
                    return self.unexpected(token, context);
                }
            }
        }
    }

    fn check(&self, commands: Places, context: &str) -> Step<()> {
        if commands.len() == 0 {
            return Err(format!("missing value for {context}"));
        }
        for (index, command) in self.out.commands[commands.range()].iter().enumerate().skip(1) {
            let first = command.args.first().map(|first| self.out.expr(first).kind);
            if matches!(
                first,
                Some(ExprKind::Bool(_) | ExprKind::Dot | ExprKind::Nil | ExprKind::Number(..) | ExprKind::Str(..))
            ) {
                return Err(format!("non executable command in pipeline stage {}", index + 1));
            }
        }
        Ok(())
    }

    /// `$x :=`, `$x =`, `$k, $v :=`: the variables, and whether they are only assigned to.
    fn declarations(&mut self, context: &str) -> Step<(Places, bool)> {
        let from = self.out.declared.len();
        let variables = |parser: &Self| Places::new(from, parser.out.declared.len());
        loop {
            let start = self.mark();
            if self.peek().kind != Kind::Variable {
                return Ok((variables(self), false));
            }
            let variable = self.take();
            let next = self.take();
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    let assigns = next.kind == Kind::Assign;
                    let number = self.number(self.token_text(variable));
                    self.out.declared.push(number);
                    // Assigning to an unknown variable is found out when it happens.
                    if !assigns {
                        for at in from..self.out.declared.len() {
                            self.show(self.out.declared[at]);
                        }
                    }
                    return Ok((variables(self), assigns));
                }
                Kind::Comma => {
                    let number = self.number(self.token_text(variable));
                    self.out.declared.push(number);
                    if context == "range" && self.out.declared.len() - from < 2 {
                        match self.peek().kind {
                            Kind::Variable | Kind::Right | Kind::CloseParen => continue,
                            _ => return Err("range can only initialize variables".into()),
                        }
                    }
                    return Err(format!("too many declarations in {context}"));
                }
                _ => {
                    self.return_to(start);
                    return Ok((variables(self), false));
                }
            }
        }
    }

    fn command(&mut self) -> Step<Command> {
        let pos = self.peek().pos();
        let mark = self.open.exprs.len();
        loop {
            let operand = self.operand()?;
            let found = operand.is_some();
            self.open.exprs.extend(operand);
            let token = self.peek();
            match token.kind {
                Kind::Right | Kind::CloseParen => break,
                Kind::Pipe => {
                    self.take();
                    break;
                }
                // What stands apart may be the next operand.
                _ if found && token.spaced => {}
                _ => {
                    self.take();
                    return self.unexpected(token, "operand");
                }
            }
        }
        let args = close(&mut self.open.exprs, mark, &mut self.out.exprs);
        if args.len() == 0 {
            Err("empty command".into())
        } else {
            Ok(Command { pos, args })
        }
    }

    fn operand(&mut self) -> Step<Option<Expr>> {
        let Some(term) = self.term()? else {
            return Ok(None);
        };
        let first = self.peek();
        if first.kind != Kind::Field || first.spaced {
            return Ok(Some(term));
        }
        let mut path = self.take().part;
        while self.peek().kind == Kind::Field && !self.peek().spaced {
            path.to = self.take().part.to;
        }
        let pos = path.from;
        Ok(Some(match term.kind {
            ExprKind::Field(fields) => Expr {
                pos,
                kind: ExprKind::Field(Part {
                    from: fields.from,
                    ..path
                }),
            },
            ExprKind::Variable(variable, _) => Expr {
                pos,
                kind: ExprKind::Variable(variable, path),
            },
            ExprKind::Bool(_) | ExprKind::Str(..) | ExprKind::Number(..) | ExprKind::Nil | ExprKind::Dot => {
                let text = self.part(Part {
                    from: term.pos,
                    to: path.from,
                });
                return Err(format!("unexpected . after term {}", quote::quote(text)));
            }
            ExprKind::Function(..) | ExprKind::Pipe(_) | ExprKind::Chain(..) => Expr {
                pos,
                kind: ExprKind::Chain(add(&mut self.out.exprs, term), path),
            },
        }))
    }

    fn term(&mut self) -> Step<Option<Expr>> {
        let token = self.take();
        let text = self.token_text(token);
        let kind = match token.kind {
            Kind::Identifier => {
                let Some(number) = self.functions.find(text) else {
                    return Err(format!("function {} not defined", quote::quote(text)));
                };
                ExprKind::Function(place(number), token.part)
            }
            Kind::Dot => ExprKind::Dot,
            Kind::Keyword(Keyword::Nil) => ExprKind::Nil,
            Kind::Variable => ExprKind::Variable(self.known_variable(text)?, Part::default()),
            Kind::Field => ExprKind::Field(token.part),
            Kind::Bool => ExprKind::Bool(text == "true"),
            Kind::Char | Kind::Number => {
                let value = literal::number(text)?;
                ExprKind::Number(add(&mut self.out.numbers, value), token.part)
            }
            Kind::OpenParen => {
                let pipe = self.deeper(|parser| parser.pipeline("parenthesized pipeline", Kind::CloseParen))?;
                ExprKind::Pipe(pipe)
            }
            Kind::Str | Kind::RawStr => {
                let value = quote::unquote(text).ok_or("invalid syntax")?;
                ExprKind::Str(add(&mut self.out.strings, value.into()), token.part)
            }
            _ => {
                self.back();
                return Ok(None);
            }
        };
        Ok(Some(Expr { pos: token.pos(), kind }))
    }
}
