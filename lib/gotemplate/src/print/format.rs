//! `Printf`: a format's directives, each with flags, width, precision and argument index.

use super::{Printer, Spec};
use crate::value::Value;

/// Width and precision from an argument beyond this are a mistake; Go's own limit.
const MAX_WIDTH: i64 = 1_000_000;

impl Printer {
    pub(super) fn format(&mut self, format: &str, args: &[Value]) {
        let mut rest = format;
        let mut next = 0;
        let mut reordered = false;
        while let Some(at) = rest.find('%') {
            if self.over {
                return;
            }
            self.push(&rest[..at]);
            rest = &rest[at + 1..];
            let mut verb = Verb {
                spec: Spec::default(),
                args,
                next,
                reordered: false,
                good: true,
                rest,
            };
            verb.flags();
            verb.index();
            verb.width(self);
            verb.precision(self);
            verb.index();
            reordered |= verb.reordered;
            next = verb.next;
            rest = verb.rest;
            let (mut spec, good) = (verb.spec, verb.good);
            let Some(letter) = rest.chars().next() else {
                self.push("%!(NOVERB)");
                break;
            };
            rest = &rest[letter.len_utf8()..];
            if letter == '%' {
                self.push("%");
            } else if !good {
                self.push(&format!("%!{letter}(BADINDEX)"));
            } else if let Some(value) = args.get(next) {
                next += 1;
                if matches!(letter, 'v' | 'w') {
                    spec.names = std::mem::take(&mut spec.plus);
                    spec.syntax = std::mem::take(&mut spec.sharp);
                }
                if letter == 'w' {
                    // Only an error could be wrapped, and a value is wrong as a whole, not item by item.
                    self.bad_verb(value, letter, &spec, 0);
                } else {
                    self.value(value, letter, &spec, 0);
                }
            } else {
                self.push(&format!("%!{letter}(MISSING)"));
            }
        }
        self.push(rest);
        if !reordered && next < args.len() {
            self.push("%!(EXTRA ");
            for (index, arg) in args[next..].iter().enumerate() {
                if index > 0 {
                    self.push(", ");
                }
                if arg.is_nil() {
                    self.push("<nil>");
                } else {
                    self.push(&arg.type_name());
                    self.push("=");
                    self.value(arg, 'v', &Spec::default(), 0);
                }
            }
            self.push(")");
        }
    }
}

/// Reads what stands between `%` and the letter.
struct Verb<'f> {
    spec: Spec,
    args: &'f [Value],
    next: usize,
    reordered: bool,
    good: bool,
    rest: &'f str,
}

impl Verb<'_> {
    fn flags(&mut self) {
        loop {
            match self.rest.as_bytes().first() {
                Some(b'#') => self.spec.sharp = true,
                Some(b'0') => self.spec.zero = true,
                Some(b'+') => self.spec.plus = true,
                Some(b'-') => self.spec.minus = true,
                Some(b' ') => self.spec.space = true,
                _ => break,
            }
            self.rest = &self.rest[1..];
        }
        if self.spec.minus {
            self.spec.zero = false;
        }
    }

    /// `[n]`: the argument to use next.
    fn index(&mut self) {
        let Some(inner) = self.rest.strip_prefix('[') else {
            return;
        };
        self.reordered = true;
        let Some(end) = inner.find(']') else {
            self.good = false;
            self.rest = inner;
            return;
        };
        match inner[..end].parse::<usize>() {
            Ok(index) if index >= 1 && index <= self.args.len() => self.next = index - 1,
            _ => self.good = false,
        }
        self.rest = &inner[end + 1..];
    }

    /// A number, if one follows. A far too large one spoils the rest of the format.
    fn number(&mut self) -> Option<Result<usize, ()>> {
        let len = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        if digits.is_empty() {
            return None;
        }
        // Go looks before it reads the next digit, so that the last one may lead beyond its limit.
        let before: i64 = digits[..len - 1].parse().unwrap_or(if len > 1 { i64::MAX } else { 0 });
        if before > MAX_WIDTH {
            return Some(Err(()));
        }
        Some(digits.parse().map_err(|_| ()))
    }

    fn star(&mut self) -> Option<Option<i64>> {
        self.rest = self.rest.strip_prefix('*')?;
        let value = self.args.get(self.next).and_then(Value::as_integer);
        self.next += 1;
        Some(value.filter(|value| value.abs() <= MAX_WIDTH))
    }

    fn width(&mut self, printer: &mut Printer) {
        match self.star() {
            Some(Some(width)) => {
                self.spec.minus |= width < 0;
                if self.spec.minus {
                    self.spec.zero = false;
                }
                self.spec.width = usize::try_from(width.abs()).ok();
            }
            Some(None) => printer.push("%!(BADWIDTH)"),
            None => match self.number() {
                Some(Ok(width)) => self.spec.width = Some(width),
                Some(Err(())) => self.rest = "",
                None => {}
            },
        }
    }

    fn precision(&mut self, printer: &mut Printer) {
        // A point at the very end is the verb.
        let Some(rest) = self.rest.strip_prefix('.').filter(|rest| !rest.is_empty()) else {
            return;
        };
        self.rest = rest;
        self.index();
        match self.star() {
            Some(Some(precision)) if precision >= 0 => self.spec.precision = usize::try_from(precision).ok(),
            Some(_) => printer.push("%!(BADPREC)"),
            None => match self.number() {
                Some(Ok(precision)) => self.spec.precision = Some(precision),
                Some(Err(())) => self.rest = "",
                None => self.spec.precision = Some(0),
            },
        }
    }
}
