//! Text → the nodes of its documents, one document at a time, by the productions of YAML 1.1 as libyaml and its ports
//! understand them.
//!
//! A reader without tokens: every production looks at the text itself. What makes an implicit key (one line, at most
//! 1024 characters, and only where a key may begin) is decided after the key was read. Nesting is bounded, so that this
//! and later stages may recurse; nothing is resolved here.

mod block;
mod cursor;
mod directive;
mod flow;
mod literal;
mod plain;
mod property;
mod quoted;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::{Finder, Told, named_line};
use crate::tape::{Kind, Node, Tape};
use crate::{Dialect, Error};

/// Deeper documents are refused: JSON readers of the result stop at 128 levels, and every reader may recurse.
pub(crate) const MAX_DEPTH: usize = 125;

/// Reads a stream document by document; what follows a document is not looked at before it is asked for.
pub(crate) struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    dialect: Dialect,
    /// Where reading goes on.
    at: usize,
    /// Where the line of `at` begins.
    line_start: usize,
    /// Whether an implicit key, `-` or `?` may stand here.
    key_allowed: bool,
    /// How many flow collections are open.
    flow: usize,
    depth: usize,
    /// The node read last was a key that nobody looks at any more.
    lost_key: bool,
    /// Where the last search for the colon of a key ended without one.
    search_end: usize,
    /// Indentation of the block collection around the open flow collections.
    flow_indent: isize,
    tags: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    tape: Tape<'a>,
    state: State,
    /// The first character that no text may have.
    forbidden: Option<usize>,
    only_line_feeds: bool,
    /// Kept so that lines of documents are counted once.
    lines: Lines,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first document, or after one that ended without `...`.
    Start {
        first: bool,
    },
    Ended,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(dialect: Dialect, text: &'a str) -> Self {
        let start = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        let survey = cursor::survey(text);
        Self {
            text,
            bytes: text.as_bytes(),
            dialect,
            at: start,
            line_start: start,
            key_allowed: true,
            flow: 0,
            depth: 0,
            flow_indent: -1,
            search_end: 0,
            lost_key: false,
            tags: BTreeMap::new(),
            tape: Tape::new(text),
            state: State::Start { first: true },
            forbidden: survey.forbidden,
            only_line_feeds: survey.only_line_feeds,
            lines: Lines::default(),
        }
    }

    /// The nodes of the next document and its first line (from 1); `None` at the end of the stream.
    pub(crate) fn next_document(&mut self) -> Result<Option<(&Tape<'a>, usize)>, Error> {
        let State::Start { first } = self.state else {
            return Ok(None);
        };
        self.state = State::Ended;
        let found = self.document(first);
        // A reader meets a bad character when it fills its buffer, before it understands what stands before it.
        if let Some(bad) = self.forbidden
            && (bad < self.at + READ_AHEAD || found.is_err())
        {
            let (line, column) = self.place(bad);
            return Err(Error::at(line, column, "control characters are not allowed"));
        }
        let Some(offset) = found? else { return Ok(None) };
        self.state = State::Start { first: false };
        let line = self.line_of(offset);
        Ok(Some((&self.tape, line)))
    }

    /// Reads one document and gives the place it begins.
    fn document(&mut self, first: bool) -> Result<Option<usize>, Error> {
        self.tape.clear();
        self.tags.clear();
        self.key_allowed = true;
        self.skip_to_token();
        if !first {
            while self.is_marker(b"...") {
                self.at += 3;
                self.key_allowed = false;
                self.skip_to_token();
            }
        }
        let begin = self.at;
        if self.is_end() {
            return Ok(None);
        }
        let directives = self.directives()?;
        let explicit = self.is_marker(b"---");
        if explicit {
            self.at += 3;
            self.key_allowed = false;
            self.skip_to_token();
        } else if !first || directives {
            let here = self.at;
            self.token()?;
            return Err(self.parser_error(None, here, "did not find expected <document start>"));
        }
        if self.is_document_edge() && (explicit || !self.is_marker(b"...")) {
            self.check_directive()?;
            self.empty(begin);
        } else if self.is_marker(b"...") {
            return Err(self.parser_error(Some(self.at), self.at, "did not find expected node content"));
        } else {
            self.block_node(-1, false)?;
        }
        self.skip_to_token();
        if self.is_marker(b"...") {
            self.at += 3;
            self.key_allowed = false;
        } else if self.is_document_edge() {
            self.check_directive()?;
        } else if !std::mem::take(&mut self.lost_key) {
            // What follows is no part of this document; a later one will be refused.
            let here = (self.at, self.line_start, self.key_allowed, self.flow);
            self.token()?;
            (self.at, self.line_start, self.key_allowed, self.flow) = here;
        }
        Ok(Some(begin))
    }

    /// Reads the directive that may stand behind a document, for the problem in it: a reader of tokens has met it.
    fn check_directive(&mut self) -> Result<(), Error> {
        if self.byte(0) == b'%' {
            let here = self.at;
            self.directive()?;
            self.at = here;
        }
        Ok(())
    }

    /// Whether nothing more belongs to this document.
    fn is_document_edge(&self) -> bool {
        self.is_end()
            || self.column() == 0 && (self.byte(0) == b'%' || self.is_marker(b"---") || self.is_marker(b"..."))
    }

    /// Pushes a node without content.
    fn empty(&mut self, offset: usize) {
        self.tape.push(Node {
            kind: Kind::EMPTY,
            tag: None,
            offset,
        });
    }

    fn deeper(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let (line, column) = self.place(self.at);
            return Err(Error::at(
                line,
                column,
                format!("nested more than {MAX_DEPTH} levels deep"),
            ));
        }
        Ok(())
    }

    /// A problem with characters. `context` is where that began in which it was found.
    fn scanner_error(&self, context: usize, problem: usize, message: &str) -> Error {
        let (line, _) = self.place(problem);
        self.error(Finder::Scanner, Some(context), problem, line, message)
    }

    /// A problem with the order of nodes.
    fn parser_error(&self, context: Option<usize>, problem: usize, message: &str) -> Error {
        self.error(Finder::Parser, context, problem, self.token_line(problem), message)
    }

    /// A key at `start` has no colon, which shows at `problem`.
    fn missing_colon(&self, start: usize, problem: usize) -> Error {
        let line = if self.place(start).0 == self.place(problem).0 {
            self.token_line(problem)
        } else {
            self.place(problem).0
        };
        self.error(
            Finder::Scanner,
            Some(start),
            problem,
            line,
            "could not find expected ':'",
        )
    }

    /// The line of a token; the end of a text that ends within a line counts as the beginning of the next one.
    fn token_line(&self, offset: usize) -> usize {
        self.place(offset).0 + usize::from(offset >= self.bytes.len() && !self.is_line_start(offset))
    }

    fn error(&self, finder: Finder, context: Option<usize>, problem: usize, told_line: usize, message: &str) -> Error {
        let (line, column) = self.place(problem);
        let context_line = context.map_or(0, |context| self.place(context).0 - 1);
        let told = Told::Yaml(named_line(self.dialect, finder, context_line, told_line - 1));
        Error::told(line, column, message, told)
    }

    /// Line and column of a place, from 1, in characters.
    pub(crate) fn place(&self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.bytes.len());
        let mut line = 1;
        let mut start = 0;
        let mut at = 0;
        while at < offset {
            let width = cursor::break_width(self.bytes, at);
            if width > 0 && at + width <= offset {
                line += 1;
                start = at + width;
            }
            at += width.max(1);
        }
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        (line, column + 1)
    }

    /// The line of a place behind all those asked for before, from 1.
    fn line_of(&mut self, offset: usize) -> usize {
        let mut lines = std::mem::take(&mut self.lines);
        let line = lines.up_to(self, offset);
        self.lines = lines;
        line
    }

    /// The lines of many places, from 1; the text is gone through once.
    pub(crate) fn lines_of(&self, offsets: &[usize]) -> Vec<usize> {
        let mut in_order: Vec<usize> = (0..offsets.len()).collect();
        in_order.sort_unstable_by_key(|at| offsets[*at]);
        let mut lines = Lines::default();
        let mut found = vec![0; offsets.len()];
        for at in in_order {
            found[at] = lines.up_to(self, offsets[at]);
        }
        found
    }
}

/// Line breaks before a place.
#[derive(Default)]
struct Lines {
    breaks: usize,
    counted: usize,
}

impl Lines {
    /// The line of a place behind the last one, from 1.
    fn up_to(&mut self, parser: &Parser<'_>, offset: usize) -> usize {
        if parser.only_line_feeds && self.counted < offset {
            self.breaks += memchr::memchr_iter(b'\n', &parser.bytes[self.counted..offset]).count();
            self.counted = offset;
        }
        while self.counted < offset {
            let width = cursor::break_width(parser.bytes, self.counted);
            self.breaks += usize::from(width > 0);
            self.counted += width.max(1);
        }
        self.breaks + 1
    }
}

/// How far Go's reader looks ahead of what it understands, in bytes.
const READ_AHEAD: usize = 512;
