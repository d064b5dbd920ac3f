//! Template text becomes tokens with byte positions: text between actions, and inside actions words, numbers,
//! strings and punctuation. Trim markers and comments are consumed here.
//!
//! Upstream concept: the scanner of Go's `text/template/parse`. It never fails itself: what cannot be read is one last
//! error token, which the parser reports when it gets there.

use memchr::memmem;

use crate::ast::{Part, place};
use crate::literal;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Error,
    Text,
    Left,
    Right,
    OpenParen,
    CloseParen,
    Pipe,
    Dot,
    Field,
    Variable,
    Identifier,
    Bool,
    Number,
    Char,
    Str,
    RawStr,
    Declare,
    Assign,
    Comma,
    Other,
    Keyword(Keyword),
    End,
}

/// Words with a meaning of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Whether white space stands before it.
    pub(crate) spaced: bool,
    /// Where it stands in the template text; empty for an error.
    pub(crate) part: Part,
}

/// What a text was read as.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// The last one is `End` or `Error`.
    pub(crate) list: Vec<Token>,
    /// What the error is, where there is one.
    pub(crate) problem: String,
}

impl Token {
    /// Where it begins.
    pub(crate) fn pos(self) -> u32 {
        self.part.from
    }

    /// The token in the text it was read from.
    pub(crate) fn text(self, input: &str) -> &str {
        input
            .get(self.part.from as usize..self.part.to as usize)
            .unwrap_or_default()
    }

    /// How error messages quote a token.
    pub(crate) fn shown(self, input: &str) -> String {
        let text = self.text(input);
        match self.kind {
            Kind::End => "EOF".into(),
            Kind::Keyword(_) | Kind::Dot => format!("<{text}>"),
            _ if text.len() > 10 => {
                let cut: String = text.chars().take(10).collect();
                format!("{}...", crate::quote::quote(&cut))
            }
            _ => crate::quote::quote(text),
        }
    }
}

/// Delimiters of actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delims {
    pub(crate) left: String,
    pub(crate) right: String,
}

impl Default for Delims {
    fn default() -> Self {
        Self {
            left: "{{".into(),
            right: "}}".into(),
        }
    }
}

/// Reads all tokens of `input`.
pub(crate) fn tokens(input: &str, delims: &Delims) -> Tokens {
    let mut lexer = Lexer {
        input,
        bytes: input.as_bytes(),
        left: delims.left.as_bytes(),
        right: delims.right.as_bytes(),
        pos: 0,
        out: Vec::with_capacity(input.len() / 12 + 8),
        spaced: false,
        parens: 0,
    };
    let mut problem = String::new();
    if let Err(message) = lexer.run() {
        problem = message;
        lexer.pos = lexer.pos.min(input.len());
        lexer.push(Kind::Error, lexer.pos);
    }
    Tokens {
        list: lexer.out,
        problem,
    }
}

struct Lexer<'t, 'd> {
    input: &'t str,
    /// The same as bytes: all that gives a text its structure is ASCII.
    bytes: &'t [u8],
    left: &'d [u8],
    right: &'d [u8],
    pos: usize,
    out: Vec<Token>,
    /// Whether white space stands before the next token.
    spaced: bool,
    parens: usize,
}

type Step<T> = Result<T, String>;

/// What a byte is inside an action, as far as one byte can tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A letter or the underscore.
    Letter,
    Digit,
    Space,
    /// What else may stand right behind a word: one of `.,|:=()`.
    Ends,
    /// Other visible characters.
    Mark,
    Control,
    /// A part of a character that is not ASCII.
    Wide,
}

/// One look-up per byte instead of a chain of comparisons: most of a template is words and spaces.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Control; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | b'\n' => Class::Space,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'.' | b',' | b'|' | b':' | b'=' | b'(' | b')' => Class::Ends,
            b'!'..=b'~' => Class::Mark,
            0x80.. => Class::Wide,
            _ => Class::Control,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

impl Lexer<'_, '_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Whether a delimiter or mark stands at a place.
    fn stands(&self, at: usize, mark: &[u8]) -> bool {
        // Almost every place is none, which its first byte shows; the others are too few to be worth a call.
        let mut others = mark.iter().skip(1).zip(at + 1..);
        self.byte(at) == mark.first().copied() && others.all(|(byte, at)| self.byte(at) == Some(*byte))
    }

    /// Makes what stands between here and `end` a token.
    fn push(&mut self, kind: Kind, end: usize) {
        self.out.push(Token {
            kind,
            spaced: std::mem::take(&mut self.spaced),
            part: Part {
                from: place(self.pos),
                to: place(end),
            },
        });
        self.pos = end;
    }

    /// Where the white space ends that begins at a place.
    fn past_spaces(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(|byte| class(byte) == Class::Space) {
            at += 1;
        }
        at
    }

    /// Where the word ends that begins, or goes on, at a place.
    fn past_word(&self, mut at: usize) -> usize {
        let plain = |byte| matches!(class(byte), Class::Letter | Class::Digit);
        loop {
            while self.byte(at).is_some_and(plain) {
                at += 1;
            }
            if self.byte(at).is_none_or(|byte| class(byte) != Class::Wide) {
                return at;
            }
            match self.character(at).filter(|character| is_word(*character)) {
                Some(wide) => at += wide.len_utf8(),
                None => return at,
            }
        }
    }

    fn character(&self, at: usize) -> Option<char> {
        self.input.get(at..)?.chars().next()
    }

    fn run(&mut self) -> Step<()> {
        loop {
            let Some(found) = self.opening() else {
                if self.pos < self.bytes.len() {
                    self.push(Kind::Text, self.bytes.len());
                }
                self.push(Kind::End, self.bytes.len());
                return Ok(());
            };
            let after = found + self.left.len();
            let trims =
                self.byte(after) == Some(b'-') && self.byte(after + 1).is_some_and(|byte| class(byte) == Class::Space);
            let mut end = found;
            while trims && end > self.pos && class(self.bytes[end - 1]) == Class::Space {
                end -= 1;
            }
            if end > self.pos {
                self.push(Kind::Text, end);
            }
            self.pos = found;
            let inside = if trims { after + 2 } else { after };
            if self.stands(inside, b"/*") {
                self.comment(inside)?;
            } else {
                self.push(Kind::Left, after);
                self.pos = inside;
                self.parens = 0;
                self.action()?;
            }
        }
    }

    /// Where the next action begins.
    fn opening(&self) -> Option<usize> {
        let Some(&first) = self.left.first() else {
            return Some(self.pos);
        };
        // Text holds the first byte seldom without the others, so that looking for it alone is the fastest way.
        let mut from = self.pos;
        loop {
            let found = from + memchr::memchr(first, self.bytes.get(from..)?)?;
            if self.stands(found, self.left) {
                return Some(found);
            }
            from = found + 1;
        }
    }

    /// Passes a comment whose mark stands at a place.
    fn comment(&mut self, mark: usize) -> Step<()> {
        let Some(end) = memmem::find(&self.bytes[mark..], b"*/") else {
            return Err("unclosed comment".into());
        };
        let end = mark + end + 2;
        if let Some(after) = self.trimming(end) {
            self.pos = self.past_spaces(after + self.right.len());
        } else if self.stands(end, self.right) {
            self.pos = end + self.right.len();
        } else {
            self.pos = end;
            return Err("comment ends before closing delimiter".into());
        }
        Ok(())
    }

    /// Where the closing delimiter stands whose trim marker begins, with its space, at a place.
    fn trimming(&self, at: usize) -> Option<usize> {
        let space = self.byte(at).is_some_and(|byte| class(byte) == Class::Space);
        (space && self.byte(at + 1) == Some(b'-') && self.stands(at + 2, self.right)).then_some(at + 2)
    }

    fn action(&mut self) -> Step<()> {
        loop {
            if self.stands(self.pos, self.right) {
                if self.parens > 0 {
                    return Err("unclosed left paren".into());
                }
                self.push(Kind::Right, self.pos + self.right.len());
                return Ok(());
            }
            let Some(first) = self.byte(self.pos) else {
                return Err("unclosed action".into());
            };
            if class(first) != Class::Space {
                self.word(first)?;
                continue;
            }
            let end = self.past_spaces(self.pos);
            // The last space before a trimming delimiter belongs to the delimiter.
            if let Some(delimiter) = self.trimming(end - 1) {
                self.pos = end - 1;
                if self.parens > 0 {
                    return Err("unclosed left paren".into());
                }
                self.pos = delimiter;
                self.push(Kind::Right, delimiter + self.right.len());
                self.pos = self.past_spaces(self.pos);
                return Ok(());
            }
            self.pos = end;
            self.spaced = true;
        }
    }

    fn word(&mut self, first: u8) -> Step<()> {
        let next = self.pos + 1;
        match first {
            b'=' => self.push(Kind::Assign, next),
            b':' => {
                if self.byte(next) != Some(b'=') {
                    self.pos = next;
                    return Err("expected :=".into());
                }
                self.push(Kind::Declare, next + 1);
            }
            b'|' => self.push(Kind::Pipe, next),
            b'"' => self.quoted(b'"', Kind::Str, "unterminated quoted string")?,
            b'\'' => self.quoted(b'\'', Kind::Char, "unterminated character constant")?,
            b'`' => {
                let Some(end) = memchr::memchr(b'`', &self.bytes[next..]) else {
                    return Err("unterminated raw quoted string".into());
                };
                self.push(Kind::RawStr, next + end + 1);
            }
            b'$' => self.name(Kind::Variable, self.past_word(next))?,
            b'.' => {
                let end = self.past_word(next);
                if self.byte(next).is_some_and(|byte| byte.is_ascii_digit()) {
                    self.number()?;
                } else if end > next {
                    self.name(Kind::Field, end)?;
                } else {
                    self.name(Kind::Dot, next)?;
                }
            }
            b'+' | b'-' | b'0'..=b'9' => self.number()?,
            b'(' => {
                self.parens += 1;
                self.push(Kind::OpenParen, next);
            }
            b')' => {
                if self.parens == 0 {
                    self.pos = next;
                    return Err("unexpected right paren".into());
                }
                self.parens -= 1;
                self.push(Kind::CloseParen, next);
            }
            b',' => self.push(Kind::Comma, next),
            _ if class(first) == Class::Mark => self.push(Kind::Other, next),
            _ => {
                let end = self.past_word(self.pos);
                if end == self.pos {
                    let bad = crate::quote::code_point(self.character(end).unwrap_or_default());
                    return Err(format!("unrecognized character in action: {bad}"));
                }
                self.name(known(&self.bytes[self.pos..end]), end)?;
            }
        }
        Ok(())
    }

    /// Makes what stands between here and `end` a token; it must be followed by something that cannot be part of it.
    fn name(&mut self, kind: Kind, end: usize) -> Step<()> {
        let ends = self
            .byte(end)
            .is_none_or(|byte| matches!(class(byte), Class::Space | Class::Ends));
        if ends || self.stands(end, self.right) {
            self.push(kind, end);
            return Ok(());
        }
        self.pos = end;
        let bad = self.character(end).unwrap_or_default();
        Err(format!("bad character {}", crate::quote::code_point(bad)))
    }

    /// A literal between two marks, on one line; a backslash takes the meaning from the mark behind it.
    fn quoted(&mut self, mark: u8, kind: Kind, unterminated: &str) -> Step<()> {
        let mut at = self.pos + 1;
        while let Some(found) = memchr::memchr3(mark, b'\\', b'\n', self.bytes.get(at..).unwrap_or_default()) {
            at += found;
            match self.bytes[at] {
                b'\n' => break,
                b'\\' if self.byte(at + 1).is_some_and(|next| next != b'\n') => at += 2,
                b'\\' => at += 1,
                _ => {
                    self.push(kind, at + 1);
                    return Ok(());
                }
            }
        }
        Err(unterminated.into())
    }

    fn number(&mut self) -> Step<()> {
        let rest = self.input.get(self.pos..).unwrap_or_default();
        let mut len = literal::length(rest);
        if rest[len..].starts_with(['+', '-']) {
            // The start of a complex number, which no function takes.
            len += literal::length(&rest[len..]);
            return Err(format!("bad number syntax: {}", crate::quote::quote(&rest[..len])));
        }
        if let Some(after) = rest[len..].chars().next()
            && is_word(after)
        {
            let shown = &rest[..len + after.len_utf8()];
            return Err(format!("bad number syntax: {}", crate::quote::quote(shown)));
        }
        self.push(Kind::Number, self.pos + len);
        Ok(())
    }
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// What a word is that stands alone.
fn known(word: &[u8]) -> Kind {
    Kind::Keyword(match word {
        [b'i', b'f'] => Keyword::If,
        [b'e', b'n', b'd'] => Keyword::End,
        [b'n', b'i', b'l'] => Keyword::Nil,
        [b'e', b'l', b's', b'e'] => Keyword::Else,
        [b'w', b'i', b't', b'h'] => Keyword::With,
        [b't', b'r', b'u', b'e'] | [b'f', b'a', b'l', b's', b'e'] => return Kind::Bool,
        [b'b', b'l', b'o', b'c', b'k'] => Keyword::Block,
        [b'b', b'r', b'e', b'a', b'k'] => Keyword::Break,
        [b'r', b'a', b'n', b'g', b'e'] => Keyword::Range,
        [b'd', b'e', b'f', b'i', b'n', b'e'] => Keyword::Define,
        [b'c', b'o', b'n', b't', b'i', b'n', b'u', b'e'] => Keyword::Continue,
        [b't', b'e', b'm', b'p', b'l', b'a', b't', b'e'] => Keyword::Template,
        _ => return Kind::Identifier,
    })
}
