//! Tokens become trees: one for the text itself and one per `define` or `block` in it.
//!
//! Upstream concept: the parser of `text/template/parse`: unknown functions, undeclared variables and misplaced
//! keywords are errors here, with the line on which the parser stood.

use std::rc::Rc;
use std::sync::Arc;

use crate::ast::{Branch, Call, Node, Source, Tree};
use crate::error::Error;
use crate::lex::{self, Delims, Keyword, Kind, Token, Tokens};
use crate::quote;

/// Nested blocks and parentheses a template may have; Go has no limit, real charts stay under 30.
const MAX_NESTING: usize = 400;

/// Finds the number of a function, and its name to keep.
pub(crate) type Find<'r> = dyn Fn(&str) -> Option<(usize, Arc<str>)> + 'r;

/// What a parse needs to know.
pub(crate) struct Rules<'r> {
    pub(crate) delims: &'r Delims,
    /// The number of a function, and its name to keep.
    pub(crate) function: &'r Find<'r>,
}

/// Parses `text`; the last tree is that of the text itself, under `name`.
pub(crate) fn parse(name: &str, text: &str, rules: &Rules<'_>) -> Result<Vec<Tree>, Error> {
    let source = Rc::new(Source {
        name: name.to_owned(),
        text: text.to_owned(),
    });
    let mut parser = Parser {
        tokens: lex::tokens(&source.text, rules.delims),
        next: 0,
        rules,
        source: Rc::clone(&source),
        variables: vec![Rc::from("$")],
        trees: Vec::new(),
        ranges: 0,
        nesting: 0,
        action_start: None,
    };
    match parser.file() {
        Ok(body) => {
            parser.add(Tree {
                name: Rc::from(name),
                source: Rc::clone(&source),
                body,
            })?;
            Ok(parser.trees)
        }
        Err(message) => Err(parser.error(message)),
    }
}

pub(crate) type Step<T> = Result<T, String>;

pub(crate) struct Parser<'t, 'r> {
    tokens: Tokens<'t>,
    next: usize,
    pub(crate) rules: &'r Rules<'r>,
    source: Rc<Source>,
    pub(crate) variables: Vec<Rc<str>>,
    trees: Vec<Tree>,
    ranges: usize,
    pub(crate) nesting: usize,
    /// Where the action began that is being read.
    action_start: Option<usize>,
}

/// What ended a list of nodes.
enum Stop {
    End,
    Else,
}

impl<'t> Parser<'t, '_> {
    fn error(&self, message: String) -> Error {
        let token = self.tokens.list.get(self.next.saturating_sub(1));
        let line = token.map_or(1, |token| self.source.line(token.pos));
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

    pub(crate) fn peek(&self) -> Kind {
        self.tokens.list.get(self.next).map_or(Kind::End, |token| token.kind)
    }

    pub(crate) fn take(&mut self) -> Token<'t> {
        let last = self.tokens.list.len() - 1;
        let token = self.tokens.list[self.next.min(last)];
        self.next = (self.next + 1).min(last + 1);
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

    pub(crate) fn skip_space(&mut self) {
        while self.peek() == Kind::Space {
            self.next += 1;
        }
    }

    pub(crate) fn take_word(&mut self) -> Token<'t> {
        self.skip_space();
        self.take()
    }

    pub(crate) fn peek_word(&mut self) -> Token<'t> {
        let token = self.take_word();
        self.back();
        token
    }

    pub(crate) fn unexpected<T>(&self, token: &Token<'_>, context: &str) -> Step<T> {
        if token.kind == Kind::Error {
            let mut text = self.tokens.problem.clone();
            let started = self.action_start.map_or(0, |start| self.source.line(start));
            if started != 0 && started != self.source.line(token.pos) {
                let place = format!(" in action started at {}:{started}", self.source.name);
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

    fn expect(&mut self, kind: Kind, context: &str) -> Step<Token<'t>> {
        let token = self.take_word();
        if token.kind == kind {
            Ok(token)
        } else {
            self.unexpected(&token, context)
        }
    }

    pub(crate) fn deeper(&mut self) -> Step<()> {
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
                Kind::Text => body.push(Node::Text(token.pos, token.pos + token.text.len())),
                Kind::Left => {
                    if self.peek_word().kind == Kind::Keyword(Keyword::Define) {
                        self.take_word();
                        self.definition()?;
                        continue;
                    }
                    self.action_start = Some(token.pos);
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
            Kind::Str | Kind::RawStr => quote::unquote(token.text).ok_or("invalid syntax")?,
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
                Kind::Text => body.push(Node::Text(token.pos, token.pos + token.text.len())),
                Kind::Left => {
                    self.action_start = Some(token.pos);
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
                let name = token.text;
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
            match self.tokens.list[index].kind {
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
            Kind::Str | Kind::RawStr => Ok((token.pos, quote::unquote(token.text).ok_or("invalid syntax")?)),
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
}
