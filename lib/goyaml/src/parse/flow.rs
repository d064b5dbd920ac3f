//! Collections in brackets and braces.

use super::Parser;
use super::property::Properties;
use crate::Error;
use crate::tape::{Kind, Node};

impl<'a> Parser<'a> {
    /// The collection whose opening bracket stands here.
    pub(super) fn flow_collection(&mut self, properties: Properties<'a>) -> Result<(), Error> {
        let start = self.at;
        let list = self.byte(0) == b'[';
        let kind = if list { Kind::Sequence(0) } else { Kind::Mapping(0) };
        let at = self.open(kind, start, properties)?;
        self.flow += 1;
        self.at += 1;
        let close = if list { b']' } else { b'}' };
        let mut first = true;
        loop {
            self.key_allowed = first;
            self.skip_to_token();
            if self.byte(0) == close {
                break;
            }
            if !first {
                if self.byte(0) != b',' {
                    let here = self.at;
                    self.token()?;
                    let expected = if list {
                        "did not find expected ',' or ']'"
                    } else {
                        "did not find expected ',' or '}'"
                    };
                    return Err(self.parser_error(Some(start), here, expected));
                }
                self.at += 1;
                self.key_allowed = true;
                self.skip_to_token();
                if self.byte(0) == close {
                    break;
                }
            }
            first = false;
            self.key_allowed = true;
            if list {
                self.flow_item(close)?;
            } else {
                self.flow_entry(close)?;
            }
        }
        self.at += 1;
        self.flow -= 1;
        self.key_allowed = false;
        self.close(at);
        Ok(())
    }

    /// An item of a list: a node, or a pair that is a mapping of its own.
    fn flow_item(&mut self, close: u8) -> Result<(), Error> {
        let at = self.tape.len();
        let start = self.at;
        let pair = Node {
            kind: Kind::Mapping(0),
            tag: None,
            offset: start,
        };
        if self.is_key() {
            self.deeper()?;
            self.tape.push(pair);
            self.explicit_pair(close)?;
        } else {
            let key = self.key_start();
            let names = self.tape.names();
            self.flow_node()?;
            if !self.ends_key(key)? {
                return Ok(());
            }
            self.deeper()?;
            self.tape.wrap(at, names, pair);
            self.flow_value(close)?;
        }
        self.close(at);
        Ok(())
    }

    /// An entry of a mapping; without a colon its value is empty.
    fn flow_entry(&mut self, close: u8) -> Result<(), Error> {
        if self.is_key() {
            return self.explicit_pair(close);
        }
        let key = self.key_start();
        self.flow_node()?;
        if self.ends_key(key)? {
            return self.flow_value(close);
        }
        self.empty(self.at);
        Ok(())
    }

    /// `? key : value`, both of which may be missing.
    fn explicit_pair(&mut self, close: u8) -> Result<(), Error> {
        self.at += 1;
        self.key_allowed = false;
        self.skip_to_token();
        if self.is_value() || self.byte(0) == b',' || self.byte(0) == close {
            self.empty(self.at);
        } else {
            self.flow_node()?;
            self.skip_to_token();
        }
        if self.is_value() {
            self.flow_value(close)
        } else {
            self.empty(self.at);
            Ok(())
        }
    }

    /// What stands after the colon that stands here.
    fn flow_value(&mut self, close: u8) -> Result<(), Error> {
        self.at += 1;
        self.key_allowed = false;
        self.skip_to_token();
        if self.byte(0) == b',' || self.byte(0) == close {
            self.empty(self.at);
            Ok(())
        } else {
            self.flow_node()
        }
    }

    fn flow_node(&mut self) -> Result<(), Error> {
        let start = self.at;
        let mut properties = Properties::default();
        while self.property(&mut properties)? {
            self.skip_to_token();
        }
        if self.starts_content() {
            return self.content(self.flow_indent, properties);
        }
        if properties.is_empty() {
            let here = self.at;
            self.token()?;
            return Err(self.parser_error(Some(start), here, "did not find expected node content"));
        }
        self.leave_empty(properties)
    }
}
