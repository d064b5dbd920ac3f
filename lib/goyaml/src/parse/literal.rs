//! Block scalars: `|` keeps lines, `>` folds them.

use std::borrow::Cow;

use super::Parser;
use super::cursor::is_blank;
use crate::Error;

/// What becomes of the line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}

impl<'a> Parser<'a> {
    pub(super) fn block_scalar(&mut self, parent: isize) -> Result<Cow<'a, str>, Error> {
        let start = self.at;
        let literal = self.byte(0) == b'|';
        self.at += 1;
        let (chomp, increment) = self.block_header(start)?;
        self.pass_break();

        let mut indent = increment.map_or(0, |increment| parent.max(0) + increment);
        // Breaks not yet known to be inside the text, and whether the line before them was more indented.
        let mut breaks = String::new();
        self.block_breaks(&mut indent, parent, &mut breaks, start)?;
        let mut text = String::new();
        let mut last_break = String::new();
        let mut more_indented = false;
        while self.column() == indent && !self.is_end() {
            let blank = is_blank(self.byte(0));
            if !literal && last_break == "\n" && !more_indented && !blank {
                if breaks.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(&last_break);
            }
            last_break.clear();
            text.push_str(&breaks);
            breaks.clear();
            more_indented = blank;
            let from = self.at;
            self.pass_line();
            text.push_str(&self.text[from..self.at]);
            self.take_break(&mut last_break);
            self.block_breaks(&mut indent, parent, &mut breaks, start)?;
        }
        if chomp != Chomp::Strip {
            text.push_str(&last_break);
        }
        if chomp == Chomp::Keep {
            text.push_str(&breaks);
        }
        self.key_allowed = true;
        Ok(Cow::Owned(text))
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
    fn block_breaks(
        &mut self,
        indent: &mut isize,
        parent: isize,
        breaks: &mut String,
        start: usize,
    ) -> Result<(), Error> {
        let mut deepest = 0;
        loop {
            while (*indent == 0 || self.column() < *indent) && self.byte(0) == b' ' {
                self.at += 1;
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
            self.take_break(breaks);
        }
        if *indent == 0 {
            *indent = deepest.max(parent + 1).max(1);
        }
        Ok(())
    }
}
