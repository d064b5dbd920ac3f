//! The grammar of label selectors: text → requirements.
//!
//! `in` and `notin` are keywords only where an operator may stand; anywhere else they are plain words.

use super::Error;
use super::label::{Operator, Requirement};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    End,
    Word,
    Comma,
    Open,
    Close,
    Bang,
    Equals,
    DoubleEquals,
    NotEquals,
    Greater,
    Less,
}

struct Reader<'a> {
    tokens: Vec<(Token, &'a str)>,
    position: usize,
}

fn is_symbol(byte: u8) -> bool {
    matches!(byte, b'=' | b'!' | b'(' | b')' | b',' | b'>' | b'<')
}

fn symbol(text: &str) -> Option<Token> {
    Some(match text {
        ")" => Token::Close,
        "," => Token::Comma,
        "!" => Token::Bang,
        "==" => Token::DoubleEquals,
        "=" => Token::Equals,
        ">" => Token::Greater,
        "<" => Token::Less,
        "!=" => Token::NotEquals,
        "(" => Token::Open,
        _ => return None,
    })
}

fn tokens(text: &str) -> Vec<(Token, &str)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        if matches!(bytes[start], b' ' | b'\t' | b'\r' | b'\n') {
            start += 1;
        } else if is_symbol(bytes[start]) {
            // Longest match: two characters where they are one symbol, else one.
            let pair = text.get(start..start + 2).and_then(symbol).map(|token| (token, 2));
            let (token, length) = pair.unwrap_or_else(|| (symbol(&text[start..=start]).unwrap_or(Token::End), 1));
            found.push((token, &text[start..start + length]));
            start += length;
        } else {
            let rest = &bytes[start..];
            let length = rest
                .iter()
                .position(|b| is_symbol(*b) || matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
                .unwrap_or(rest.len());
            found.push((Token::Word, &text[start..start + length]));
            start += length;
        }
    }
    found
}

pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, Error> {
    let mut reader = Reader {
        tokens: tokens(text),
        position: 0,
    };
    let mut requirements = Vec::new();
    loop {
        match reader.peek() {
            (Token::Word | Token::Bang, _) => requirements.push(reader.requirement()?),
            (Token::End, _) => return Ok(requirements),
            (_, found) => {
                return Err(Error::Syntax(format!(
                    "found '{found}', expected: !, identifier, or 'end of string'"
                )));
            }
        }
        match reader.next() {
            (Token::End, _) => return Ok(requirements),
            (Token::Comma, _) => {
                let (token, found) = reader.peek();
                if !matches!(token, Token::Word | Token::Bang) {
                    return Err(Error::Syntax(format!(
                        "found '{found}', expected: identifier after ','"
                    )));
                }
            }
            (_, found) => {
                return Err(Error::Syntax(format!(
                    "found '{found}', expected: ',' or 'end of string'"
                )));
            }
        }
    }
}

impl<'a> Reader<'a> {
    fn peek(&self) -> (Token, &'a str) {
        self.tokens.get(self.position).copied().unwrap_or((Token::End, ""))
    }

    fn next(&mut self) -> (Token, &'a str) {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, Error> {
        let absent = self.peek().0 == Token::Bang;
        if absent {
            self.next();
        }
        let (token, key) = self.next();
        if token != Token::Word {
            return Err(unexpected(key, ", expected: identifier"));
        }
        if absent {
            return Requirement::new(key, Operator::DoesNotExist, Vec::new()).map_err(Error::Parsed);
        }
        // A malformed key is reported before a missing operator.
        let exists = Requirement::new(key, Operator::Exists, Vec::new()).map_err(Error::Parsed)?;
        if matches!(self.peek().0, Token::End | Token::Comma) {
            return Ok(exists);
        }
        let operator = match self.next() {
            (Token::Word, "in") => Operator::In,
            (Token::Word, "notin") => Operator::NotIn,
            (Token::Equals, _) => Operator::Equals,
            (Token::DoubleEquals, _) => Operator::DoubleEquals,
            (Token::NotEquals, _) => Operator::NotEquals,
            (Token::Greater, _) => Operator::GreaterThan,
            (Token::Less, _) => Operator::LessThan,
            (_, found) => return Err(unexpected(found, ", expected: in, notin, =, ==, !=, gt, lt")),
        };
        let values = match operator {
            Operator::In | Operator::NotIn => self.list()?,
            _ => vec![self.value()?],
        };
        Requirement::new(key, operator, values).map_err(Error::Parsed)
    }

    fn value(&mut self) -> Result<String, Error> {
        match self.peek() {
            (Token::End | Token::Comma, _) => Ok(String::new()),
            (Token::Word, text) => {
                self.next();
                Ok(text.to_owned())
            }
            (_, found) => Err(unexpected(found, ", expected: identifier")),
        }
    }

    /// `(a,b)`; an empty place between commas or brackets is the empty value.
    fn list(&mut self) -> Result<Vec<String>, Error> {
        let (token, found) = self.next();
        if token != Token::Open {
            return Err(unexpected(found, " expected: '('"));
        }
        let mut values: Vec<String> = Vec::new();
        let mut vacant = true;
        loop {
            match self.next() {
                (Token::Word, text) if vacant => {
                    values.push(text.to_owned());
                    vacant = false;
                }
                (token @ (Token::Comma | Token::Close), _) => {
                    if vacant {
                        values.push(String::new());
                    }
                    vacant = true;
                    if token == Token::Close {
                        values.sort();
                        values.dedup();
                        return Ok(values);
                    }
                }
                (_, found) if vacant && values.is_empty() => {
                    return Err(unexpected(found, ", expected: ',', ')' or identifier"));
                }
                (_, found) if vacant => return Err(unexpected(found, ", expected: ',', or identifier")),
                (_, found) => return Err(unexpected(found, ", expected: ',' or ')'")),
            }
        }
    }
}

fn unexpected(found: &str, expected: &str) -> Error {
    Error::Syntax(format!("unable to parse requirement: found '{found}'{expected}"))
}
