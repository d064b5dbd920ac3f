//! Template text becomes tokens with byte positions: text between actions, and inside actions words, numbers,
//! strings and punctuation. Trim markers and comments are consumed here.
//!
//! Upstream concept: the scanner of Go's `text/template/parse`. It never fails itself: what cannot be read is one last
//! error token, which the parser reports when it gets there.

use memchr::memmem;

use crate::ast::{Part, place};

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
        delims,
        left: memmem::Finder::new(&delims.left),
        pos: 0,
        out: Vec::with_capacity(input.len() / 12 + 8),
        spaced: false,
        parens: 0,
    };
    let mut problem = String::new();
    if let Err(message) = lexer.run() {
        problem = message;
        lexer.pos = lexer.pos.min(input.len());
        lexer.push(Kind::Error, 0);
    }
    Tokens {
        list: lexer.out,
        problem,
    }
}

struct Lexer<'t, 'd> {
    input: &'t str,
    delims: &'d Delims,
    left: memmem::Finder<'d>,
    pos: usize,
    out: Vec<Token>,
    /// Whether white space stands before the next token.
    spaced: bool,
    parens: usize,
}

type Step<T> = Result<T, String>;

const SPACES: &[char] = &[' ', '\t', '\r', '\n'];

/// Length of the white space at the start.
fn spaces(text: &str) -> usize {
    text.bytes()
        .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        .unwrap_or(text.len())
}

impl<'t> Lexer<'t, '_> {
    fn rest(&self) -> &'t str {
        self.input.get(self.pos..).unwrap_or("")
    }

    /// Makes the next `len` bytes a token.
    fn push(&mut self, kind: Kind, len: usize) {
        let from = self.pos;
        self.pos += len;
        self.out.push(Token {
            kind,
            spaced: std::mem::take(&mut self.spaced),
            part: Part {
                from: place(from),
                to: place(self.pos),
            },
        });
    }

    fn run(&mut self) -> Step<()> {
        loop {
            let rest = self.rest();
            let Some(found) = self.left.find(rest.as_bytes()) else {
                if !rest.is_empty() {
                    self.push(Kind::Text, rest.len());
                }
                self.push(Kind::End, 0);
                return Ok(());
            };
            let after = &rest[found + self.delims.left.len()..];
            let trims = has_left_trim(after);
            let text = &rest[..found];
            let kept = if trims { text.trim_end_matches(SPACES) } else { text };
            if !kept.is_empty() {
                self.push(Kind::Text, kept.len());
            }
            self.pos += text.len() - kept.len();
            let marker = if trims { 2 } else { 0 };
            if after[marker..].starts_with("/*") {
                self.comment(self.delims.left.len() + marker)?;
            } else {
                let left = self.delims.left.len();
                self.push(Kind::Left, left);
                self.pos += marker;
                self.parens = 0;
                self.action()?;
            }
        }
    }

    fn comment(&mut self, skip: usize) -> Step<()> {
        let start = self.pos;
        self.pos += skip;
        let rest = self.rest();
        let Some(end) = memmem::find(rest.as_bytes(), b"*/") else {
            self.pos = start;
            return Err("unclosed comment".into());
        };
        self.pos += end + 2;
        match self.right_delim() {
            Some((len, trims)) => {
                self.pos += len;
                if trims {
                    self.skip_spaces();
                }
                Ok(())
            }
            None => Err("comment ends before closing delimiter".into()),
        }
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.pos += spaces(rest);
    }

    /// Length of a closing delimiter here (with its trim marker), and whether it trims.
    fn right_delim(&self) -> Option<(usize, bool)> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let right = self.delims.right.as_bytes();
        if matches!(bytes, [b' ' | b'\t' | b'\r' | b'\n', b'-', ..]) && bytes[2..].starts_with(right) {
            return Some((2 + right.len(), true));
        }
        // Almost every place is no delimiter, which its first byte shows.
        (bytes.first() == right.first() && bytes.starts_with(right)).then_some((right.len(), false))
    }

    fn action(&mut self) -> Step<()> {
        loop {
            if let Some((len, trims)) = self.right_delim() {
                if self.parens > 0 {
                    return Err("unclosed left paren".into());
                }
                if trims {
                    self.pos += 2;
                    self.push(Kind::Right, len - 2);
                    self.skip_spaces();
                } else {
                    self.push(Kind::Right, len);
                }
                return Ok(());
            }
            self.word()?;
        }
    }

    fn word(&mut self) -> Step<()> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Err("unclosed action".into());
        };
        match first {
            ' ' | '\t' | '\r' | '\n' => {
                let mut len = spaces(rest);
                // A space before a trimming delimiter belongs to the delimiter.
                if rest[len..]
                    .strip_prefix('-')
                    .is_some_and(|tail| tail.starts_with(self.delims.right.as_str()))
                {
                    len -= 1;
                }
                self.pos += len;
                self.spaced |= len > 0;
            }
            '=' => self.push(Kind::Assign, 1),
            ':' => {
                if !rest.starts_with(":=") {
                    self.pos += 1;
                    return Err("expected :=".into());
                }
                self.push(Kind::Declare, 2);
            }
            '|' => self.push(Kind::Pipe, 1),
            '"' => self.quoted(rest)?,
            '`' => {
                let Some(end) = rest[1..].find('`') else {
                    return Err("unterminated raw quoted string".into());
                };
                self.push(Kind::RawStr, end + 2);
            }
            '$' => {
                let len = 1 + word_len(&rest[1..]);
                self.end_of_word(len)?;
                self.push(Kind::Variable, len);
            }
            '\'' => self.character(rest)?,
            '.' => match rest[1..].chars().next() {
                Some(next) if next.is_ascii_digit() => self.number(rest)?,
                Some(next) if is_word(next) => {
                    let len = 1 + word_len(&rest[1..]);
                    self.end_of_word(len)?;
                    self.push(Kind::Field, len);
                }
                _ => {
                    self.end_of_word(1)?;
                    self.push(Kind::Dot, 1);
                }
            },
            '+' | '-' | '0'..='9' => self.number(rest)?,
            '(' => {
                self.parens += 1;
                self.push(Kind::OpenParen, 1);
            }
            ')' => {
                if self.parens == 0 {
                    self.pos += 1;
                    return Err("unexpected right paren".into());
                }
                self.parens -= 1;
                self.push(Kind::CloseParen, 1);
            }
            first if is_word(first) => {
                let len = word_len(rest);
                self.end_of_word(len)?;
                let kind = match &rest[..len] {
                    "true" | "false" => Kind::Bool,
                    word => keyword(word).map_or(Kind::Identifier, Kind::Keyword),
                };
                self.push(kind, len);
            }
            ',' => self.push(Kind::Comma, 1),
            first if first.is_ascii_graphic() => self.push(Kind::Other, 1),
            first => {
                return Err(format!(
                    "unrecognized character in action: {}",
                    crate::quote::code_point(first)
                ));
            }
        }
        Ok(())
    }

    /// A word must be followed by something that cannot be part of one.
    fn end_of_word(&mut self, len: usize) -> Step<()> {
        let after = &self.rest()[len..];
        match after.as_bytes().first() {
            None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'.' | b',' | b'|' | b':' | b'=' | b')' | b'(') => Ok(()),
            _ if after.starts_with(self.delims.right.as_str()) => Ok(()),
            Some(_) => {
                self.pos += len;
                let bad = after.chars().next().unwrap_or_default();
                Err(format!("bad character {}", crate::quote::code_point(bad)))
            }
        }
    }

    fn quoted(&mut self, rest: &str) -> Step<()> {
        let mut escaped = false;
        for (at, character) in rest.char_indices().skip(1) {
            match character {
                '\n' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    self.push(Kind::Str, at + 1);
                    return Ok(());
                }
                _ => {}
            }
        }
        Err("unterminated quoted string".into())
    }

    fn character(&mut self, rest: &str) -> Step<()> {
        let mut escaped = false;
        for (at, character) in rest.char_indices().skip(1) {
            match character {
                '\n' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '\'' => {
                    self.push(Kind::Char, at + 1);
                    return Ok(());
                }
                _ => {}
            }
        }
        Err("unterminated character constant".into())
    }

    fn number(&mut self, rest: &str) -> Step<()> {
        let mut len = number_len(rest);
        if rest[len..].starts_with(['+', '-']) {
            // The start of a complex number, which no function takes.
            len += number_len(&rest[len..]);
            return Err(format!("bad number syntax: {}", crate::quote::quote(&rest[..len])));
        }
        if rest[len..].chars().next().is_some_and(is_word) {
            let shown = &rest[..len + rest[len..].chars().next().map_or(0, char::len_utf8)];
            return Err(format!("bad number syntax: {}", crate::quote::quote(shown)));
        }
        self.push(Kind::Number, len);
        Ok(())
    }
}

fn number_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let mut pos = usize::from(matches!(at(0), b'+' | b'-'));
    let mut digits: fn(u8) -> bool = |byte| byte.is_ascii_digit() || byte == b'_';
    let mut exponents: &[u8] = b"eE";
    if at(pos) == b'0' {
        pos += 1;
        match at(pos) {
            b'x' | b'X' => {
                digits = |byte| byte.is_ascii_hexdigit() || byte == b'_';
                exponents = b"pP";
                pos += 1;
            }
            b'o' | b'O' => {
                digits = |byte| matches!(byte, b'0'..=b'7' | b'_');
                pos += 1;
            }
            b'b' | b'B' => {
                digits = |byte| matches!(byte, b'0' | b'1' | b'_');
                pos += 1;
            }
            _ => {}
        }
    }
    while digits(at(pos)) {
        pos += 1;
    }
    if at(pos) == b'.' {
        pos += 1;
        while digits(at(pos)) {
            pos += 1;
        }
    }
    if exponents.contains(&at(pos)) {
        pos += 1;
        if matches!(at(pos), b'+' | b'-') {
            pos += 1;
        }
        while at(pos).is_ascii_digit() || at(pos) == b'_' {
            pos += 1;
        }
    }
    pos.max(1)
}

/// Whether `{{-` is followed by a space, which makes it a trim marker.
fn has_left_trim(after: &str) -> bool {
    after.strip_prefix('-').is_some_and(|tail| tail.starts_with(SPACES))
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn word_len(text: &str) -> usize {
    let plain = text
        .bytes()
        .position(|byte| byte != b'_' && !byte.is_ascii_alphanumeric())
        .unwrap_or(text.len());
    if text.as_bytes().get(plain).is_none_or(u8::is_ascii) {
        return plain;
    }
    text.find(|character| !is_word(character)).unwrap_or(text.len())
}

fn keyword(word: &str) -> Option<Keyword> {
    Some(match word {
        "block" => Keyword::Block,
        "break" => Keyword::Break,
        "continue" => Keyword::Continue,
        "define" => Keyword::Define,
        "else" => Keyword::Else,
        "end" => Keyword::End,
        "if" => Keyword::If,
        "nil" => Keyword::Nil,
        "range" => Keyword::Range,
        "template" => Keyword::Template,
        "with" => Keyword::With,
        _ => return None,
    })
}
