//! Tokens become trees: one for the text itself and one per `define` or `block` in it.
//!
//! Upstream concept: the parser of `text/template/parse`: unknown functions, undeclared variables and misplaced
//! keywords are errors here, with the line on which the parser stood.

use std::rc::Rc;

use crate::ast::{Branch, Call, Command, Expr, ExprKind, Node, Number, Pipe, Source, Tree};
use crate::error::Error;
use crate::lex::{self, Delims, Keyword, Kind, Token};
use crate::quote;

/// Nested blocks and parentheses a template may have; Go has no limit, real charts stay under 30.
const MAX_NESTING: usize = 400;

/// What a parse needs to know.
pub(crate) struct Rules<'r> {
    pub(crate) delims: &'r Delims,
    pub(crate) known_function: &'r dyn Fn(&str) -> bool,
}

/// Parses `text`; the last tree is that of the text itself, under `name`.
pub(crate) fn parse(name: &str, text: &str, rules: &Rules<'_>) -> Result<Vec<Tree>, Error> {
    let source = Rc::new(Source {
        name: name.to_owned(),
        text: text.to_owned(),
    });
    let mut parser = Parser {
        tokens: lex::tokens(text, rules.delims),
        next: 0,
        rules,
        source: Rc::clone(&source),
        variables: vec![Rc::from("$")],
        trees: Vec::new(),
        ranges: 0,
        nesting: 0,
        action_line: 0,
    };
    match parser.file() {
        Ok(body) => {
            parser.add(Tree {
                name: Rc::from(name),
                source,
                body,
            })?;
            Ok(parser.trees)
        }
        Err(message) => Err(parser.error(message)),
    }
}

type Step<T> = Result<T, String>;

struct Parser<'r> {
    tokens: Vec<Token>,
    next: usize,
    rules: &'r Rules<'r>,
    source: Rc<Source>,
    variables: Vec<Rc<str>>,
    trees: Vec<Tree>,
    ranges: usize,
    nesting: usize,
    action_line: usize,
}

/// What ended a list of nodes.
enum Stop {
    End,
    Else,
}

impl Parser<'_> {
    fn error(&self, message: String) -> Error {
        let line = self
            .tokens
            .get(self.next.saturating_sub(1))
            .map_or(1, |token| token.line);
        Error::Parse {
            name: self.source.name.clone(),
            line,
            message,
        }
    }

    fn add(&mut self, tree: Tree) -> Result<(), Error> {
        if let Some(old) = self.trees.iter_mut().find(|old| old.name == tree.name) {
            if old.is_blank() {
                *old = tree;
            } else if !tree.is_blank() {
                let message = format!("multiple definition of template {}", quote::quote(&tree.name));
                return Err(self.error(message));
            }
            return Ok(());
        }
        self.trees.push(tree);
        Ok(())
    }

    fn peek(&self) -> Kind {
        self.tokens.get(self.next).map_or(Kind::End, |token| token.kind)
    }

    fn take(&mut self) -> Token {
        let last = self.tokens.len() - 1;
        let token = self.tokens[self.next.min(last)].clone();
        self.next = (self.next + 1).min(last + 1);
        token
    }

    fn back(&mut self) {
        self.next = self.next.saturating_sub(1);
    }

    fn skip_space(&mut self) {
        while self.peek() == Kind::Space {
            self.next += 1;
        }
    }

    fn take_word(&mut self) -> Token {
        self.skip_space();
        self.take()
    }

    fn peek_word(&mut self) -> Token {
        let token = self.take_word();
        self.back();
        token
    }

    fn unexpected<T>(&self, token: &Token, context: &str) -> Step<T> {
        if token.kind == Kind::Error {
            let mut text = token.text.clone();
            if self.action_line != 0 && self.action_line != token.line {
                let place = format!(" in action started at {}:{}", self.source.name, self.action_line);
                let tail = if text.ends_with(" action") {
                    &place[" in action".len()..]
                } else {
                    place.as_str()
                };
                text.push_str(tail);
            }
            return Err(text);
        }
        Err(format!("unexpected {} in {context}", token.shown()))
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Step<Token> {
        let token = self.take_word();
        if token.kind == kind {
            Ok(token)
        } else {
            self.unexpected(&token, context)
        }
    }

    fn deeper(&mut self) -> Step<()> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            Err(format!("nesting exceeds {MAX_NESTING} levels"))
        } else {
            Ok(())
        }
    }

    fn file(&mut self) -> Step<Vec<Node>> {
        let mut body = Vec::new();
        loop {
            let token = self.take();
            match token.kind {
                Kind::End => return Ok(body),
                Kind::Text => body.push(Node::Text(token.text)),
                Kind::Left => {
                    if self.peek_word().kind == Kind::Keyword(Keyword::Define) {
                        self.take_word();
                        self.definition()?;
                        continue;
                    }
                    self.action_line = token.line;
                    match self.action()? {
                        Ok(node) => body.push(node),
                        Err(Stop::End) => return Err("unexpected {{end}}".into()),
                        Err(Stop::Else) => return Err("unexpected {{else}}".into()),
                    }
                }
                _ => return self.unexpected(&token, "input"),
            }
        }
    }

    fn definition(&mut self) -> Step<()> {
        let context = "define clause";
        let token = self.take_word();
        let name = match token.kind {
            Kind::Str | Kind::RawStr => quote::unquote(&token.text).ok_or("invalid syntax")?,
            _ => return self.unexpected(&token, context),
        };
        self.expect(Kind::Right, context)?;
        let outer = std::mem::replace(&mut self.variables, vec![Rc::from("$")]);
        let ranges = std::mem::take(&mut self.ranges);
        let (body, stop) = self.list()?;
        if matches!(stop, Stop::Else) {
            return Err(format!("unexpected {{{{else}}}} in {context}"));
        }
        self.variables = outer;
        self.ranges = ranges;
        let tree = Tree {
            name: Rc::from(name),
            source: Rc::clone(&self.source),
            body,
        };
        self.add(tree).map_err(|error| match error {
            Error::Parse { message, .. } => message,
            other => other.to_string(),
        })
    }

    /// Nodes up to `{{end}}` or `{{else}}`; of the latter, what follows the word is still to be read.
    fn list(&mut self) -> Step<(Vec<Node>, Stop)> {
        self.deeper()?;
        let mut body = Vec::new();
        loop {
            let token = self.take();
            match token.kind {
                Kind::Text => body.push(Node::Text(token.text)),
                Kind::Left => {
                    self.action_line = token.line;
                    match self.action()? {
                        Ok(node) => body.push(node),
                        Err(stop) => {
                            self.nesting -= 1;
                            return Ok((body, stop));
                        }
                    }
                }
                Kind::End => return Err("unexpected EOF".into()),
                _ => return self.unexpected(&token, "input"),
            }
        }
    }

    fn action(&mut self) -> Step<Result<Node, Stop>> {
        let token = self.take_word();
        let Kind::Keyword(word) = token.kind else {
            self.back();
            let pipe = self.pipeline("command", Kind::Right)?;
            return Ok(Ok(Node::Action(pipe)));
        };
        Ok(Ok(match word {
            Keyword::Block => self.block()?,
            Keyword::Break | Keyword::Continue => {
                let name = token.text.as_str();
                self.expect(Kind::Right, &format!("{{{{{name}}}}}"))?;
                if self.ranges == 0 {
                    return Err(format!("{{{{{name}}}}} outside {{{{range}}}}"));
                }
                if word == Keyword::Break {
                    Node::Break
                } else {
                    Node::Continue
                }
            }
            Keyword::Else => {
                // `else if` and `else with` are read by the block they belong to.
                if !matches!(self.peek_word().kind, Kind::Keyword(Keyword::If | Keyword::With)) {
                    self.expect(Kind::Right, "else")?;
                }
                return Ok(Err(Stop::Else));
            }
            Keyword::End => {
                self.expect(Kind::Right, "end")?;
                return Ok(Err(Stop::End));
            }
            Keyword::If => Node::If(self.branch("if")?),
            Keyword::With => Node::With(self.branch("with")?),
            Keyword::Range => Node::Range(self.branch("range")?),
            Keyword::Template => self.call()?,
            Keyword::Define | Keyword::Nil => {
                self.back();
                let pipe = self.pipeline("command", Kind::Right)?;
                Node::Action(pipe)
            }
        }))
    }

    fn branch(&mut self, word: &'static str) -> Step<Rc<Branch>> {
        let scope = self.variables.len();
        let pipe = self.pipeline(word, Kind::Right)?;
        let is_range = word == "range";
        self.ranges += usize::from(is_range);
        let (body, stop) = self.list()?;
        self.ranges -= usize::from(is_range);
        let mut otherwise = None;
        if matches!(stop, Stop::Else) {
            let next = self.peek_word();
            let chained = match next.kind {
                Kind::Keyword(Keyword::If) if word == "if" && self.after_else() => Some("if"),
                Kind::Keyword(Keyword::With) if word == "with" && self.after_else() => Some("with"),
                _ => None,
            };
            if let Some(chained) = chained {
                // The chained block shares our `end`.
                self.take_word();
                self.deeper()?;
                let inner = self.branch(chained)?;
                self.nesting -= 1;
                otherwise = Some(vec![if chained == "if" {
                    Node::If(inner)
                } else {
                    Node::With(inner)
                }]);
            } else {
                if self.after_else() {
                    self.take_word();
                    return self.unexpected(&next, "else");
                }
                let (body, stop) = self.list()?;
                if matches!(stop, Stop::Else) {
                    return Err("expected end; found {{else}}".into());
                }
                otherwise = Some(body);
            }
        }
        self.variables.truncate(scope);
        Ok(Rc::new(Branch {
            word,
            pipe,
            body,
            otherwise,
        }))
    }

    /// Whether the parser stands right behind the word `else`, inside its action.
    fn after_else(&self) -> bool {
        let mut index = self.next;
        while index > 0 {
            index -= 1;
            match self.tokens[index].kind {
                Kind::Space => {}
                Kind::Keyword(Keyword::Else) => return true,
                _ => return false,
            }
        }
        false
    }

    fn template_name(&mut self, context: &str) -> Step<(usize, String)> {
        let token = self.take_word();
        match token.kind {
            Kind::Str | Kind::RawStr => Ok((token.pos, quote::unquote(&token.text).ok_or("invalid syntax")?)),
            _ => self.unexpected(&token, context),
        }
    }

    fn block(&mut self) -> Step<Node> {
        let context = "block clause";
        let (pos, name) = self.template_name(context)?;
        let pipe = self.pipeline(context, Kind::Right)?;
        let outer = std::mem::replace(&mut self.variables, vec![Rc::from("$")]);
        let ranges = std::mem::take(&mut self.ranges);
        let (body, stop) = self.list()?;
        if matches!(stop, Stop::Else) {
            return Err(format!("unexpected {{{{else}}}} in {context}"));
        }
        self.variables = outer;
        self.ranges = ranges;
        let tree = Tree {
            name: Rc::from(name.as_str()),
            source: Rc::clone(&self.source),
            body,
        };
        self.add(tree).map_err(|error| error.to_string())?;
        Ok(Node::Template(Rc::new(Call {
            pos,
            name,
            pipe: Some(pipe),
        })))
    }

    fn call(&mut self) -> Step<Node> {
        let context = "template clause";
        let (pos, name) = self.template_name(context)?;
        let mut pipe = None;
        if self.peek_word().kind == Kind::Right {
            self.take_word();
        } else {
            pipe = Some(self.pipeline(context, Kind::Right)?);
        }
        Ok(Node::Template(Rc::new(Call { pos, name, pipe })))
    }

    fn pipeline(&mut self, context: &str, end: Kind) -> Step<Rc<Pipe>> {
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
            let start = self.next;
            if self.peek() != Kind::Variable {
                return Ok(());
            }
            let variable = self.take();
            let next = self.take_word();
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    pipe.assigns = next.kind == Kind::Assign;
                    pipe.declared.push(Rc::from(variable.text.as_str()));
                    // Assigning to an unknown variable is found out when it happens.
                    if !pipe.assigns {
                        self.variables.extend(pipe.declared.iter().cloned());
                    }
                    return Ok(());
                }
                Kind::Comma => {
                    pipe.declared.push(Rc::from(variable.text.as_str()));
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
                    self.next = start;
                    return Ok(());
                }
            }
        }
    }

    fn known_variable(&self, name: &str) -> Step<()> {
        if self.variables.iter().any(|known| &**known == name) {
            Ok(())
        } else {
            Err(format!("undefined variable {}", quote::quote(name)))
        }
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
        let pos = self.tokens[self.next].pos;
        let mut names = Vec::new();
        while self.peek() == Kind::Field {
            let token = self.take();
            names.push(Rc::from(&token.text[1..]));
        }
        Ok(Some(match &mut term.kind {
            ExprKind::Field(fields) => {
                fields.extend(names);
                Expr { pos, kind: term.kind }
            }
            ExprKind::Variable(_, fields) => {
                fields.extend(names);
                Expr { pos, kind: term.kind }
            }
            ExprKind::Bool(_) | ExprKind::Str { .. } | ExprKind::Number { .. } | ExprKind::Nil | ExprKind::Dot => {
                return Err(format!("unexpected . after term {}", quote::quote(&term.to_string())));
            }
            ExprKind::Function(_) | ExprKind::Pipe(_) | ExprKind::Chain(..) => Expr {
                pos,
                kind: ExprKind::Chain(Rc::new(term), names),
            },
        }))
    }

    fn term(&mut self) -> Step<Option<Expr>> {
        let token = self.take_word();
        let kind = match token.kind {
            Kind::Identifier => {
                if !(self.rules.known_function)(&token.text) {
                    return Err(format!("function {} not defined", quote::quote(&token.text)));
                }
                ExprKind::Function(Rc::from(token.text.as_str()))
            }
            Kind::Dot => ExprKind::Dot,
            Kind::Keyword(Keyword::Nil) => ExprKind::Nil,
            Kind::Variable => {
                self.known_variable(&token.text)?;
                ExprKind::Variable(Rc::from(token.text.as_str()), Vec::new())
            }
            Kind::Field => ExprKind::Field(vec![Rc::from(&token.text[1..])]),
            Kind::Bool => ExprKind::Bool(token.text == "true"),
            Kind::Char | Kind::Number => {
                let value = number(&token.text)?;
                ExprKind::Number {
                    value,
                    text: token.text,
                }
            }
            Kind::OpenParen => {
                self.deeper()?;
                let pipe = self.pipeline("parenthesized pipeline", Kind::CloseParen)?;
                self.nesting -= 1;
                ExprKind::Pipe(pipe)
            }
            Kind::Str | Kind::RawStr => {
                let value = quote::unquote(&token.text).ok_or("invalid syntax")?;
                ExprKind::Str {
                    value: Rc::from(value),
                    text: token.text,
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

/// Reads a number or character literal.
fn number(text: &str) -> Step<Number> {
    if text.starts_with('\'') {
        let value = quote::unquote(text).and_then(|inner| {
            let mut chars = inner.chars();
            chars.next().filter(|_| chars.next().is_none())
        });
        let code = value.map(|character| i64::from(u32::from(character)));
        let code = code.ok_or_else(|| format!("malformed character constant: {text}"))?;
        return Ok(Number {
            int: Some(code),
            float: Some(code as f64),
            written_float: false,
        });
    }
    let int = integer(text);
    let hex = text
        .trim_start_matches(['+', '-'])
        .to_ascii_lowercase()
        .starts_with("0x");
    let written_float = !hex && text.contains(['.', 'e', 'E']);
    let float = match int {
        Some(int) => Some(int as f64),
        None => text
            .replace('_', "")
            .parse::<f64>()
            .ok()
            .filter(|float| float.is_finite()),
    };
    if int.is_none() && float.is_none() {
        return Err(format!("bad number syntax: {}", quote::quote(text)));
    }
    // A float that is integral can stand where an integer is wanted.
    let int = int.or_else(|| {
        float
            .filter(|float| written_float && float.fract() == 0.0 && float.abs() < 9e18)
            .map(|float| float as i64)
    });
    if int.is_none() && !written_float {
        return Err(quote::quote(text));
    }
    Ok(Number {
        int,
        float,
        written_float,
    })
}

/// An integer literal with Go's prefixes and underscores.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let digits = digits.to_ascii_lowercase();
    let (radix, digits) = match digits.as_str() {
        d if d.starts_with("0x") => (16, &digits[2..]),
        d if d.starts_with("0b") => (2, &digits[2..]),
        d if d.starts_with("0o") => (8, &digits[2..]),
        d if d.len() > 1 && d.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits.as_str()),
    };
    let digits = digits.replace('_', "");
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from_str_radix(&digits, radix).ok()? * sign;
    i64::try_from(value).ok()
}
