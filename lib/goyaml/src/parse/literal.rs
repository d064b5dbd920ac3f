//! Block scalars: `|` keeps lines, `>` folds them.

use super::Parser;
use super::cursor::is_blank;
use crate::Error;
use crate::tape::Kind;

/// What becomes of the line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}

impl Parser<'_> {
    pub(super) fn block_scalar(&mut self, parent: isize) -> Result<Kind, Error> {
        let start = self.at;
        let literal = self.byte(0) == b'|';
        self.at += 1;
        let (chomp, increment) = self.block_header(start)?;
        self.pass_break();

        let first = self.tape.made.len();
        let mut indent = increment.map_or(0, |increment| parent.max(0) + increment);
        // Where the breaks begin that are not yet known to be inside the text, and where the last line's own ends.
        let (mut breaks, mut own_end) = (self.at, self.at);
        self.block_breaks(&mut indent, parent, start)?;
        // A line that is more indented than others is not joined with its neighbours.
        let mut foldable = false;
        while self.column() == indent && !self.is_end() {
            let more_indented = is_blank(self.byte(0));
            if foldable && !more_indented {
                self.fold(breaks, self.at);
            } else {
                self.make_breaks(breaks, self.at);
            }
            foldable = !literal && !more_indented;
            let from = self.at;
            self.pass_line();
            self.make(from, self.at);
            breaks = self.at;
            self.pass_break();
            own_end = self.at;
            self.block_breaks(&mut indent, parent, start)?;
        }
        if chomp != Chomp::Strip {
            self.make_breaks(breaks, own_end);
        }
        if chomp == Chomp::Keep {
            self.make_breaks(own_end, self.at);
        }
        self.key_allowed = true;
        Ok(Kind::Scalar {
            start: first,
            end: self.tape.made.len(),
            made: true,
            plain: false,
            folded: !literal,
        })
    }

    /// What stands on the line of the indicator: how to end, and how much deeper than its parent the text is.
    fn block_header(&mut self, start: usize) -> Result<(Chomp, Option<isize>), Error> {
        let mut chomp = None;
        let mut increment = None;
        for _ in 0..2 {
            match self.byte(0) {
                b'+' if chomp.is_none() => chomp = Some(Chomp::Keep),
                b'-' if chomp.is_none() => chomp = Some(Chomp::Strip),
                b'0' if increment.is_none() => {
                    return Err(self.scanner_error(start, self.at, "found an indentation indicator equal to 0"));
                }
                digit @ b'1'..=b'9' if increment.is_none() => increment = Some(isize::from(digit - b'0')),
                _ => break,
            }
            self.at += 1;
        }
        self.pass_blanks();
        if self.byte(0) == b'#' {
            self.pass_line();
        }
        if !self.is_end() && !self.is_break(0) {
            return Err(self.scanner_error(start, self.at, "did not find expected comment or line break"));
        }
        Ok((chomp.unwrap_or(Chomp::Clip), increment))
    }

    /// Goes over empty lines and the indentation of the next one; finds out the indentation if it is not known yet (0).
    fn block_breaks(&mut self, indent: &mut isize, parent: isize, start: usize) -> Result<(), Error> {
        let mut deepest = 0;
        loop {
            let first = self.at;
            self.pass_spaces();
            if *indent > 0 && self.column() > *indent {
                // What is more than the indentation belongs to the text.
                self.at = first.max(self.line_start + indent.unsigned_abs());
            }
            deepest = deepest.max(self.column());
            if (*indent == 0 || self.column() < *indent) && self.byte(0) == b'\t' {
                return Err(self.scanner_error(
                    start,
                    self.at,
                    "found a tab character where an indentation space is expected",
                ));
            }
            if !self.is_break(0) {
                break;
            }
            self.pass_break();
        }
        if *indent == 0 {
            *indent = deepest.max(parent + 1).max(1);
        }
        Ok(())
    }
}
