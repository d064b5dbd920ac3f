//! Events of the YAML scanner → a tree of nodes with positions, one document at a time.
//!
//! Bounds nesting, so that later stages may recurse; resolves nothing.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;

use libyaml_safer::{Event, EventData, Parser, ScalarStyle};

use crate::{Error, style};

/// Deeper documents are refused: JSON readers of the result stop at 128 levels, and every reader may recurse.
pub(crate) const MAX_DEPTH: usize = 125;

/// One node with the place where it starts (from 1).
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// The explicit tag, resolved (`tag:yaml.org,2002:str`), if one is written.
    pub(crate) tag: Option<String>,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Scalar {
        text: String,
        /// Written without quotes and without a tag: the resolver decides what it is.
        plain: bool,
    },
    Sequence(Vec<Rc<Node>>),
    Mapping(Vec<(Rc<Node>, Rc<Node>)>),
    /// A reference to a node that was complete when the reference was read, and its name.
    Alias(Rc<Node>),
}

/// Reads a stream document by document; what follows a document is not looked at before it is asked for.
pub(crate) struct Composer<'a> {
    parser: Parser<io::BufReader<io::Chain<&'a [u8], &'static [u8]>>>,
    /// The last line of a text that does not end in a line break; the scanner is given a break that is not there.
    unfinished: Option<&'a str>,
    /// Line breaks of such a text.
    breaks: usize,
    anchors: BTreeMap<String, Option<Rc<Node>>>,
    failed: bool,
}

impl<'a> Composer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let finished = text.ends_with(['\n', '\r']);
        let ending: &'static [u8] = if finished { b"" } else { b"\n" };
        let mut parser = Parser::new();
        parser.set_input(io::BufReader::new(text.as_bytes().chain(ending)));
        Self {
            parser,
            unfinished: if finished {
                None
            } else {
                text.rsplit(style::is_break).next()
            },
            breaks: if finished { 0 } else { breaks(text) },
            anchors: BTreeMap::new(),
            failed: false,
        }
    }

    /// The root of the next document and its first line; `None` at the end of the stream.
    pub(crate) fn next_document(&mut self) -> Result<Option<(Rc<Node>, usize)>, Error> {
        if self.failed {
            return Ok(None);
        }
        let found = self.document();
        self.failed = !matches!(found, Ok(Some(_)));
        found
    }

    fn document(&mut self) -> Result<Option<(Rc<Node>, usize)>, Error> {
        loop {
            let event = self.event()?;
            match event.data {
                EventData::StreamEnd => return Ok(None),
                EventData::DocumentStart { .. } => {
                    self.anchors.clear();
                    let line = line_of(&event);
                    let first = self.event()?;
                    let root = self.node(first, 0)?;
                    // The end of the document shows whether the root was all there was to it.
                    self.event()?;
                    return Ok(Some((root, line)));
                }
                _ => {}
            }
        }
    }

    fn event(&mut self) -> Result<Event, Error> {
        // The scanner panics on a few inputs it does not know (a tag directly before a comma). Nothing of it is used
        // after that, so a half-changed state cannot be seen.
        match panic::catch_unwind(AssertUnwindSafe(|| self.parser.parse())) {
            Ok(event) => event.map_err(|error| scanner_error(&error)),
            Err(_) => Err(Error::at(1, 1, "text that the YAML scanner does not understand")),
        }
    }

    fn node(&mut self, event: Event, depth: usize) -> Result<Rc<Node>, Error> {
        let line = line_of(&event);
        let column = event.start_mark.column as usize + 1;
        if depth > MAX_DEPTH {
            return Err(Error::at(
                line,
                column,
                format!("nested more than {MAX_DEPTH} levels deep"),
            ));
        }
        let (anchor, tag, kind) = match event.data {
            EventData::Alias { anchor } => {
                let target = match self.anchors.get(&anchor) {
                    Some(Some(node)) => Rc::clone(node),
                    Some(None) => {
                        return Err(Error::at(
                            line,
                            column,
                            format!("anchor '{anchor}' value contains itself"),
                        ));
                    }
                    None => return Err(Error::at(line, column, format!("unknown anchor '{anchor}' referenced"))),
                };
                (None, None, Kind::Alias(target))
            }
            EventData::Scalar {
                anchor,
                tag,
                mut value,
                plain_implicit,
                style,
                ..
            } => {
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                if block && event.end_mark.line as usize > self.breaks {
                    self.take_back_break(&mut value);
                }
                let plain = plain_implicit && tag.is_none() && style == ScalarStyle::Plain;
                (anchor, tag, Kind::Scalar { text: value, plain })
            }
            EventData::SequenceStart { anchor, tag, .. } => {
                self.open(anchor.as_ref());
                let mut items = Vec::new();
                loop {
                    let next = self.event()?;
                    if matches!(next.data, EventData::SequenceEnd) {
                        break;
                    }
                    items.push(self.node(next, depth + 1)?);
                }
                (anchor, tag, Kind::Sequence(items))
            }
            EventData::MappingStart { anchor, tag, .. } => {
                self.open(anchor.as_ref());
                let mut entries = Vec::new();
                loop {
                    let next = self.event()?;
                    if matches!(next.data, EventData::MappingEnd) {
                        break;
                    }
                    let key = self.node(next, depth + 1)?;
                    let next = self.event()?;
                    entries.push((key, self.node(next, depth + 1)?));
                }
                (anchor, tag, Kind::Mapping(entries))
            }
            EventData::StreamStart { .. }
            | EventData::StreamEnd
            | EventData::DocumentStart { .. }
            | EventData::DocumentEnd { .. }
            | EventData::SequenceEnd
            | EventData::MappingEnd => return Err(Error::at(line, column, "unexpected end of a structure")),
        };
        let tag = tag.filter(|tag| tag != "!");
        let node = Rc::new(Node {
            kind,
            tag,
            line,
            column,
        });
        if let Some(name) = anchor {
            self.anchors.insert(name, Some(Rc::clone(&node)));
        }
        Ok(node)
    }

    /// Removes from a block scalar at the end of the text the line break that only the scanner saw.
    fn take_back_break(&self, value: &mut String) {
        let Some(last_line) = self.unfinished else { return };
        let Some(content) = value.strip_suffix('\n') else {
            return;
        };
        let content_line = content.rsplit('\n').next().unwrap_or_default();
        let blank = |line: &str| line.chars().all(|c| c == ' ');
        // A last line of mere indentation ends nothing, unless all trailing breaks are kept.
        let deeper = blank(content_line) && content_line.len() < last_line.len();
        if content_line.is_empty() || !blank(last_line) || deeper {
            value.pop();
        }
    }

    /// Marks an anchor as begun, so that a reference from inside its own value is noticed.
    fn open(&mut self, anchor: Option<&String>) {
        if let Some(name) = anchor {
            self.anchors.insert(name.clone(), None);
        }
    }
}

/// How many line breaks the scanner counts in a text.
fn breaks(text: &str) -> usize {
    let pairs = text.matches("\r\n").count();
    text.chars().filter(|c| style::is_break(*c)).count() - pairs
}

fn line_of(event: &Event) -> usize {
    event.start_mark.line as usize + 1
}

fn scanner_error(error: &libyaml_safer::Error) -> Error {
    let mark = error.problem_mark().or_else(|| error.context_mark());
    let (line, column) = mark.map_or((1, 1), |mark| (mark.line as usize + 1, mark.column as usize + 1));
    let message = match error.context() {
        Some(context) => format!("{context}: {}", error.problem()),
        None => error.problem().to_owned(),
    };
    Error::at(line, column, message)
}
