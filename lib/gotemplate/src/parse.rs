//! Tokens become one [`Parsed`] text: its own nodes and those of each `define` or `block` in it.
//!
//! Upstream concept: the parser of `text/template/parse`: unknown functions, undeclared variables and misplaced
//! keywords are errors here, with the line on which the parser stood.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::ast::{
    Branch, Call, Command, Definition, Expr, MAX_TEXT, Node, Nodes, Parsed, Part, Place, Places, Variable, line, place,
};
use crate::error::Error;
use crate::function::Functions;
use crate::lex::{self, Delims, Keyword, Kind, Token, Tokens};
use crate::quote;
use crate::value::Text;

/// Nested blocks and parentheses a template may have; Go has no limit, real charts stay under 30.
const MAX_NESTING: usize = 400;

/// Stack that a level of nesting may need, and what is added where less is left.
const LEVEL_STACK: usize = 128 << 10;
const MORE_STACK: usize = 2 << 20;

/// Parses `text`. Only errors show its name.
pub(crate) fn parse(name: &str, text: &str, delims: &Delims, functions: &Functions<'_>) -> Result<Parsed, Error> {
    if text.len() > MAX_TEXT {
        return Err(Error::Limit {
            name: name.to_owned(),
            message: format!("a text of more than {MAX_TEXT} bytes"),
        });
    }
    let tokens = lex::tokens(text, delims);
    let mut parser = Parser {
        text,
        out: Parsed {
            text: String::new(),
            delims: delims.clone(),
            functions: Arc::clone(functions.known()),
            definitions: Vec::new(),
            body: Nodes::default(),
            blank: false,
            nodes: Vec::with_capacity(tokens.list.len() / 8),
            branches: Vec::new(),
            calls: Vec::new(),
            pipes: Vec::with_capacity(tokens.list.len() / 8),
            commands: Vec::with_capacity(tokens.list.len() / 8),
            exprs: Vec::with_capacity(tokens.list.len() / 3),
            strings: Vec::new(),
            numbers: Vec::new(),
            variables: Vec::new(),
            declared: Vec::new(),
        },
        tokens,
        next: 0,
        functions,
        name,
        open: Open::default(),
        numbers: HashMap::default(),
        visible: Vec::new(),
        ranges: 0,
        nesting: 0,
        action_start: None,
    };
    let root = parser.number("$");
    parser.show(root);
    match parser.file() {
        Ok(body) => {
            parser.out.body = body;
            parser.out.blank = parser.is_blank(body);
            text.clone_into(&mut parser.out.text);
            Ok(parser.out)
        }
        Err(message) => Err(parser.error(message)),
    }
}

pub(crate) type Step<T> = Result<T, String>;

pub(crate) struct Parser<'t, 'r> {
    text: &'t str,
    pub(crate) out: Parsed,
    tokens: Tokens,
    next: usize,
    pub(crate) functions: &'r Functions<'r>,
    name: &'r str,
    pub(crate) open: Open,
    /// Variables by their name.
    numbers: HashMap<&'t str, Variable, RandomState>,
    /// Variables declared in the blocks around the place that is being read.
    visible: Vec<Variable>,
    ranges: usize,
    pub(crate) nesting: usize,
    /// Where the action began that is being read.
    action_start: Option<u32>,
}

/// What belongs to lists that are not complete yet, inner ones behind outer ones.
#[derive(Default)]
pub(crate) struct Open {
    nodes: Vec<Node>,
    pub(crate) commands: Vec<Command>,
    pub(crate) exprs: Vec<Expr>,
}

/// Moves what was put on the stack since `mark` to the end of a list, where it stays.
pub(crate) fn close<T: Copy>(open: &mut Vec<T>, mark: usize, list: &mut Vec<T>) -> Places {
    let from = list.len();
    list.extend_from_slice(&open[mark..]);
    open.truncate(mark);
    Places::new(from, list.len())
}

/// Adds to a list and tells the place.
pub(crate) fn add<T>(list: &mut Vec<T>, item: T) -> Place {
    list.push(item);
    place(list.len() - 1)
}

/// What ended a list of nodes.
enum Stop {
    End,
    Else,
}

impl<'t> Parser<'t, '_> {
    fn error(&self, message: String) -> Error {
        let token = self.tokens.list.get(self.next.saturating_sub(1));
        let line = token.map_or(1, |token| line(self.text, token.pos()));
        Error::Parse {
            name: self.name.to_owned(),
            line,
            message,
        }
    }

    fn define(&mut self, name: String, body: Nodes) -> Step<()> {
        let definition = Definition {
            name: name.into(),
            body,
            blank: self.is_blank(body),
        };
        let known = &mut self.out.definitions;
        if let Some(old) = known.iter_mut().find(|old| old.name == definition.name) {
            if old.blank {
                *old = definition;
            } else if !definition.blank {
                return Err(format!(
                    "multiple definition of template {}",
                    quote::quote(&definition.name)
                ));
            }
        } else {
            known.push(definition);
        }
        Ok(())
    }

    /// Whether these nodes print nothing but white space.
    fn is_blank(&self, nodes: Nodes) -> bool {
        self.out.nodes[nodes.range()]
            .iter()
            .all(|node| matches!(node, Node::Text(part) if self.part(*part).trim().is_empty()))
    }

    pub(crate) fn part(&self, part: Part) -> &'t str {
        let text: &'t str = self.text;
        text.get(part.from as usize..part.to as usize).unwrap_or_default()
    }

    pub(crate) fn token_text(&self, token: Token) -> &'t str {
        self.part(token.part)
    }

    /// The number of a variable of that name.
    pub(crate) fn number(&mut self, name: &'t str) -> Variable {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = add(&mut self.out.variables, Text::from(name));
        self.numbers.insert(name, number);
        number
    }

    /// Declares a variable.
    pub(crate) fn show(&mut self, variable: Variable) {
        self.visible.push(variable);
    }

    pub(crate) fn known_variable(&self, name: &str) -> Step<Variable> {
        let number = self.numbers.get(name).copied();
        number
            .filter(|number| self.visible.contains(number))
            .ok_or_else(|| format!("undefined variable {}", quote::quote(name)))
    }

    /// Reads what sees no variable but `$`, and no loop around it.
    fn apart<T>(&mut self, read: impl FnOnce(&mut Self) -> Step<T>) -> Step<T> {
        let visible = std::mem::replace(&mut self.visible, vec![0]);
        let ranges = std::mem::take(&mut self.ranges);
        let result = read(self);
        self.visible = visible;
        self.ranges = ranges;
        result
    }

    pub(crate) fn peek(&self) -> Token {
        let last = self.tokens.list.len() - 1;
        self.tokens.list[self.next.min(last)]
    }

    pub(crate) fn take(&mut self) -> Token {
        let token = self.peek();
        self.next = (self.next + 1).min(self.tokens.list.len());
        token
    }

    /// Where the next token stands in the order of tokens.
    pub(crate) fn mark(&self) -> usize {
        self.next
    }

    pub(crate) fn return_to(&mut self, mark: usize) {
        self.next = mark;
    }

    pub(crate) fn back(&mut self) {
        self.next = self.next.saturating_sub(1);
    }

    pub(crate) fn unexpected<T>(&self, token: Token, context: &str) -> Step<T> {
        if token.kind == Kind::Error {
            let mut text = self.tokens.problem.clone();
            let started = self.action_start.map_or(0, |start| line(self.text, start));
            if started != 0 && started != line(self.text, token.pos()) {
                let place = format!(" in action started at {}:{started}", self.name);
                let tail = if text.ends_with(" action") {
                    &place[" in action".len()..]
                } else {
                    place.as_str()
                };
                text.push_str(tail);
            }
            return Err(text);
        }
        Err(format!("unexpected {} in {context}", token.shown(self.text)))
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Step<Token> {
        let token = self.take();
        if token.kind == kind {
            Ok(token)
        } else {
            self.unexpected(token, context)
        }
    }

    /// Reads one more level, on a stack that is large enough for it.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Step<T>) -> Step<T> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(format!("nesting exceeds {MAX_NESTING} levels"));
        }
        let result = stacker::maybe_grow(LEVEL_STACK, MORE_STACK, || read(self));
        self.nesting -= 1;
        result
    }

    fn file(&mut self) -> Step<Nodes> {
        loop {
            let token = self.take();
            match token.kind {
                Kind::End => return Ok(close(&mut self.open.nodes, 0, &mut self.out.nodes)),
                Kind::Text => self.open.nodes.push(Node::Text(token.part)),
                Kind::Left => {
                    if self.peek().kind == Kind::Keyword(Keyword::Define) {
                        self.take();
                        self.definition()?;
                        continue;
                    }
                    self.action_start = Some(token.pos());
                    match self.action()? {
                        Ok(node) => self.open.nodes.push(node),
                        Err(Stop::End) => return Err("unexpected {{end}}".into()),
                        Err(Stop::Else) => return Err("unexpected {{else}}".into()),
                    }
                }
                _ => return self.unexpected(token, "input"),
            }
        }
    }

    fn definition(&mut self) -> Step<()> {
        let context = "define clause";
        let (_, name) = self.template_name(context)?;
        self.expect(Kind::Right, context)?;
        let (body, stop) = self.apart(Self::list)?;
        if matches!(stop, Stop::Else) {
            return Err(format!("unexpected {{{{else}}}} in {context}"));
        }
        self.define(name, body)
    }

    /// Nodes up to `{{end}}` or `{{else}}`; of the latter, what follows the word is still to be read.
    fn list(&mut self) -> Step<(Nodes, Stop)> {
        let mark = self.open.nodes.len();
        let stop = self.deeper(Self::nodes)?;
        let nodes = close(&mut self.open.nodes, mark, &mut self.out.nodes);
        Ok((nodes, stop))
    }

    fn nodes(&mut self) -> Step<Stop> {
        loop {
            let token = self.take();
            match token.kind {
                Kind::Text => self.open.nodes.push(Node::Text(token.part)),
                Kind::Left => {
                    self.action_start = Some(token.pos());
                    match self.action()? {
                        Ok(node) => self.open.nodes.push(node),
                        Err(stop) => return Ok(stop),
                    }
                }
                Kind::End => return Err("unexpected EOF".into()),
                _ => return self.unexpected(token, "input"),
            }
        }
    }

    fn action(&mut self) -> Step<Result<Node, Stop>> {
        let token = self.take();
        let Kind::Keyword(word) = token.kind else {
            self.back();
            let pipe = self.pipeline("command", Kind::Right)?;
            return Ok(Ok(Node::Action(pipe)));
        };
        Ok(Ok(match word {
            Keyword::Block => self.block()?,
            Keyword::Break | Keyword::Continue => {
                let name = self.token_text(token);
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
                if !matches!(self.peek().kind, Kind::Keyword(Keyword::If | Keyword::With)) {
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

    fn branch(&mut self, word: &'static str) -> Step<Place> {
        let scope = self.visible.len();
        let pipe = self.pipeline(word, Kind::Right)?;
        let is_range = word == "range";
        self.ranges += usize::from(is_range);
        let (body, stop) = self.list()?;
        self.ranges -= usize::from(is_range);
        let mut otherwise = None;
        if matches!(stop, Stop::Else) {
            let chained = match self.peek().kind {
                Kind::Keyword(Keyword::If) if word == "if" && self.after_else() => Some("if"),
                Kind::Keyword(Keyword::With) if word == "with" && self.after_else() => Some("with"),
                _ => None,
            };
            if let Some(chained) = chained {
                // The chained block shares our `end`.
                self.take();
                let inner = self.deeper(|parser| parser.branch(chained))?;
                let node = if chained == "if" {
                    Node::If(inner)
                } else {
                    Node::With(inner)
                };
                let at = self.out.nodes.len();
                self.out.nodes.push(node);
                otherwise = Some(Nodes::new(at, at + 1));
            } else {
                let (body, stop) = self.list()?;
                if matches!(stop, Stop::Else) {
                    return Err("expected end; found {{else}}".into());
                }
                otherwise = Some(body);
            }
        }
        self.visible.truncate(scope);
        Ok(add(&mut self.out.branches, Branch { pipe, body, otherwise }))
    }

    /// Whether the parser stands right behind the word `else`, inside its action.
    fn after_else(&self) -> bool {
        let before = self.next.checked_sub(1).and_then(|before| self.tokens.list.get(before));
        before.is_some_and(|token| token.kind == Kind::Keyword(Keyword::Else))
    }

    fn template_name(&mut self, context: &str) -> Step<(u32, String)> {
        let token = self.take();
        match token.kind {
            Kind::Str | Kind::RawStr => {
                let name = quote::unquote(self.token_text(token)).ok_or("invalid syntax")?;
                Ok((token.pos(), name.into_owned()))
            }
            _ => self.unexpected(token, context),
        }
    }

    fn block(&mut self) -> Step<Node> {
        let context = "block clause";
        let (pos, name) = self.template_name(context)?;
        let pipe = self.pipeline(context, Kind::Right)?;
        let (body, stop) = self.apart(Self::list)?;
        if matches!(stop, Stop::Else) {
            return Err(format!("unexpected {{{{else}}}} in {context}"));
        }
        self.define(name.clone(), body)
            .map_err(|message| self.error(message).to_string())?;
        Ok(self.calling(pos, name, Some(pipe)))
    }

    fn call(&mut self) -> Step<Node> {
        let context = "template clause";
        let (pos, name) = self.template_name(context)?;
        let mut pipe = None;
        if self.peek().kind == Kind::Right {
            self.take();
        } else {
            pipe = Some(self.pipeline(context, Kind::Right)?);
        }
        Ok(self.calling(pos, name, pipe))
    }

    fn calling(&mut self, pos: u32, name: String, pipe: Option<Place>) -> Node {
        let name = name.into();
        Node::Template(add(&mut self.out.calls, Call { pos, name, pipe }))
    }
}
