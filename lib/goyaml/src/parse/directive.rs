//! `%YAML` and `%TAG` before a document.

use std::borrow::Cow;

use super::Parser;
use super::cursor::is_blank;
use crate::Error;
use crate::tape::is_word;

/// What a directive says.
pub(super) enum Directive<'a> {
    Version { major: u32, minor: u32 },
    Tag { handle: Cow<'a, str>, prefix: Cow<'a, str> },
}

impl<'a> Parser<'a> {
    /// Reads all directives here; says whether there were any.
    pub(super) fn directives(&mut self) -> Result<bool, Error> {
        let mut version = false;
        let mut any = false;
        while self.column() == 0 && self.byte(0) == b'%' {
            any = true;
            let start = self.at;
            match self.directive()? {
                Directive::Version { .. } if version => {
                    return Err(self.parser_error(None, start, "found duplicate %YAML directive"));
                }
                Directive::Version { major: 1, minor: 1 } => version = true,
                Directive::Version { .. } => {
                    return Err(self.parser_error(None, start, "found incompatible YAML document"));
                }
                Directive::Tag { handle, prefix } => {
                    if self.tags.insert(handle, prefix).is_some() {
                        return Err(self.parser_error(None, start, "found duplicate %TAG directive"));
                    }
                }
            }
            self.key_allowed = false;
            self.skip_to_token();
        }
        Ok(any)
    }

    /// Reads one directive up to the end of its line.
    pub(super) fn directive(&mut self) -> Result<Directive<'a>, Error> {
        let start = self.at;
        self.at += 1;
        let name = self.word();
        if name.is_empty() {
            return Err(self.scanner_error(start, self.at, "could not find expected directive name"));
        }
        if !self.is_space(0) {
            return Err(self.scanner_error(start, self.at, "found unexpected non-alphabetical character"));
        }
        let found = match name {
            "YAML" => {
                self.pass_blanks();
                let major = self.version(start)?;
                if self.byte(0) != b'.' {
                    return Err(self.scanner_error(start, self.at, "did not find expected digit or '.' character"));
                }
                self.at += 1;
                let minor = self.version(start)?;
                Directive::Version { major, minor }
            }
            "TAG" => {
                self.pass_blanks();
                let handle = self.tag_handle(true, start)?;
                if !is_blank(self.byte(0)) {
                    return Err(self.scanner_error(start, self.at, "did not find expected whitespace"));
                }
                self.pass_blanks();
                let prefix = self.tag_uri("", start)?;
                if !self.is_space(0) {
                    return Err(self.scanner_error(start, self.at, "did not find expected whitespace or line break"));
                }
                Directive::Tag {
                    handle: Cow::Borrowed(handle),
                    prefix,
                }
            }
            _ => return Err(self.scanner_error(start, self.at, "found unknown directive name")),
        };
        self.pass_blanks();
        if self.byte(0) == b'#' {
            self.pass_line();
        }
        if !self.is_end() && !self.is_break(0) {
            return Err(self.scanner_error(start, self.at, "did not find expected comment or line break"));
        }
        Ok(found)
    }

    /// Letters, digits, `-` and `_`.
    pub(super) fn word(&mut self) -> &'a str {
        let start = self.at;
        while is_word(self.byte(0)) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    pub(super) fn pass_blanks(&mut self) {
        while is_blank(self.byte(0)) {
            self.at += 1;
        }
    }

    fn version(&mut self, start: usize) -> Result<u32, Error> {
        /// More digits than any version has.
        const LONGEST: usize = 2;
        let first = self.at;
        let mut value = 0;
        while self.byte(0).is_ascii_digit() {
            if self.at - first >= LONGEST {
                return Err(self.scanner_error(start, self.at, "found extremely long version number"));
            }
            value = value * 10 + u32::from(self.byte(0) - b'0');
            self.at += 1;
        }
        if self.at == first {
            return Err(self.scanner_error(start, self.at, "did not find expected version number"));
        }
        Ok(value)
    }
}
