//! Anchors, aliases and tags.

use std::borrow::Cow;

use super::Parser;
use crate::{Dialect, Error};

/// What stands before a node.
#[derive(Default)]
pub(super) struct Properties<'a> {
    pub(super) anchor: Option<&'a str>,
    pub(super) tag: Option<Box<Cow<'a, str>>>,
    /// Where the first of them stands.
    pub(super) start: Option<usize>,
}

impl Properties<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.start.is_none()
    }
}

const STANDARD: &str = "tag:yaml.org,2002:";

impl<'a> Parser<'a> {
    /// Reads an anchor or a tag into `properties`; says whether there was one that was not there yet.
    pub(super) fn property(&mut self, properties: &mut Properties<'a>) -> Result<bool, Error> {
        let start = self.at;
        match self.byte(0) {
            b'&' if properties.anchor.is_none() => properties.anchor = Some(self.anchor()?),
            b'!' if properties.tag.is_none() => properties.tag = self.tag_of_node()?.map(Box::new),
            _ => return Ok(false),
        }
        properties.start.get_or_insert(start);
        self.key_allowed = false;
        Ok(true)
    }

    /// The name after `&` or `*`.
    pub(super) fn anchor(&mut self) -> Result<&'a str, Error> {
        let start = self.at;
        self.at += 1;
        let name = self.word();
        let ended = self.is_space(0) || matches!(self.byte(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ended {
            return Err(self.scanner_error(start, self.at, "did not find expected alphabetic or numeric character"));
        }
        Ok(name)
    }

    /// A tag with its handle resolved; none for `!`, which only says that the node is not to be resolved.
    fn tag_of_node(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        let start = self.at;
        let (handle, suffix) = self.tag()?;
        let prefix = match handle {
            // Says nothing to the newer dialect, and "text" to the older.
            "" if self.dialect == Dialect::V3 && suffix == "!" => return Ok(None),
            "" => return Ok(Some(suffix)),
            handle => match self.tags.get(handle) {
                Some(prefix) => prefix.clone(),
                None if handle == "!" => Cow::Borrowed("!"),
                None if handle == "!!" => Cow::Borrowed(STANDARD),
                None => return Err(self.parser_error(Some(start), start, "found undefined tag handle")),
            },
        };
        if prefix == STANDARD {
            // The common ones without allocation.
            let known = ["str", "int", "bool", "float", "null", "binary", "map", "seq"];
            if let Some(at) = known.iter().position(|known| *known == suffix) {
                return Ok(Some(Cow::Borrowed(KNOWN[at])));
            }
        }
        Ok(Some(Cow::Owned(format!("{prefix}{suffix}"))))
    }

    /// Handle and suffix of a tag; the handle is empty where the suffix is the whole tag.
    pub(super) fn tag(&mut self) -> Result<(&'a str, Cow<'a, str>), Error> {
        let start = self.at;
        let found = if self.byte(1) == b'<' {
            self.at += 2;
            let uri = self.tag_uri("", start)?;
            if self.byte(0) != b'>' {
                return Err(self.scanner_error(start, self.at, "did not find the expected '>'"));
            }
            self.at += 1;
            ("", uri)
        } else {
            let handle = self.tag_handle(false, start)?;
            if handle.len() > 1 && handle.ends_with('!') {
                (handle, self.tag_uri("", start)?)
            } else {
                let suffix = self.tag_uri(handle, start)?;
                if suffix.is_empty() {
                    ("", Cow::Borrowed("!"))
                } else {
                    ("!", suffix)
                }
            }
        };
        if !self.is_space(0) {
            return Err(self.scanner_error(start, self.at, "did not find expected whitespace or line break"));
        }
        Ok(found)
    }

    /// `!`, `!!` or `!word!`; in a tag also `!word`, whose word belongs to what follows.
    pub(super) fn tag_handle(&mut self, directive: bool, start: usize) -> Result<&'a str, Error> {
        let first = self.at;
        if self.byte(0) != b'!' {
            return Err(self.scanner_error(start, self.at, "did not find expected '!'"));
        }
        self.at += 1;
        self.word();
        if self.byte(0) == b'!' {
            self.at += 1;
        } else if directive && self.at - first > 1 {
            return Err(self.scanner_error(start, self.at, "did not find expected '!'"));
        }
        Ok(&self.text[first..self.at])
    }

    /// The characters of an address; `head` was read before and belongs to it but for its `!`.
    pub(super) fn tag_uri(&mut self, head: &'a str, start: usize) -> Result<Cow<'a, str>, Error> {
        let first = self.at;
        let head = head.strip_prefix('!').unwrap_or(head);
        let mut escaped: Option<Vec<u8>> = None;
        loop {
            match self.byte(0) {
                b'%' => {
                    let bytes = escaped.get_or_insert_with(|| [head.as_bytes(), &self.bytes[first..self.at]].concat());
                    let mut bytes = std::mem::take(bytes);
                    self.uri_escapes(&mut bytes, start)?;
                    escaped = Some(bytes);
                }
                byte @ (b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-') => self.uri_byte(byte, &mut escaped),
                byte if b";/?:@&=+$,.!~*'()[]".contains(&byte) => self.uri_byte(byte, &mut escaped),
                _ => break,
            }
        }
        let found = match escaped {
            Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
            None if head.is_empty() => Cow::Borrowed(&self.text[first..self.at]),
            // What is left of the handle stands directly before.
            None => Cow::Borrowed(&self.text[first - head.len()..self.at]),
        };
        // A lone `!` is a tag of its own, anything else needs an address.
        if found.is_empty() && !(self.bytes.get(first.wrapping_sub(1)) == Some(&b'!') && first == start + 1) {
            return Err(self.scanner_error(start, self.at, "did not find expected tag URI"));
        }
        Ok(found)
    }

    fn uri_byte(&mut self, byte: u8, escaped: &mut Option<Vec<u8>>) {
        if let Some(bytes) = escaped {
            bytes.push(byte);
        }
        self.at += 1;
    }

    /// One character written as `%XX` per byte.
    fn uri_escapes(&mut self, bytes: &mut Vec<u8>, start: usize) -> Result<(), Error> {
        let mut left = 1;
        let mut first = true;
        while left > 0 {
            let digit = |ahead: usize| char::from(self.byte(ahead)).to_digit(16);
            let (b'%', Some(high), Some(low)) = (self.byte(0), digit(1), digit(2)) else {
                return Err(self.scanner_error(start, self.at, "did not find URI escaped octet"));
            };
            let byte = (high * 16 + low) as u8;
            if first {
                left = match byte {
                    0..=0x7f => 1,
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    0xf0..=0xf7 => 4,
                    _ => return Err(self.scanner_error(start, self.at, "found an incorrect leading UTF-8 octet")),
                };
                first = false;
            } else if byte & 0xc0 != 0x80 {
                return Err(self.scanner_error(start, self.at, "found an incorrect trailing UTF-8 octet"));
            }
            bytes.push(byte);
            self.at += 3;
            left -= 1;
        }
        Ok(())
    }
}

const KNOWN: [&str; 8] = [
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:int",
    "tag:yaml.org,2002:bool",
    "tag:yaml.org,2002:float",
    "tag:yaml.org,2002:null",
    "tag:yaml.org,2002:binary",
    "tag:yaml.org,2002:map",
    "tag:yaml.org,2002:seq",
];
