//! Go's `fmt`: values become text by `%v`, by `Print`, `Println` and by `Printf` with verbs, flags, width and
//! precision.
//!
//! Upstream concept: package `fmt`, restricted to the types a template can hold. Output is bounded: padding and
//! nested values stop at the given limit.

use crate::failure::Failure;
use crate::number;
use crate::object::Kind;
use crate::quote;
use crate::value::{Element, Value, Width};

/// Padding wider than this is a mistake or an attack; Go's own limit.
const MAX_WIDTH: i64 = 1_000_000;

/// Nesting at which printing stops following values.
const MAX_DEPTH: usize = 1_000;

/// A value as a template prints it: `%v`, and `<no value>` where there is none.
pub(crate) fn plain(value: &Value, limit: usize) -> Result<String, Failure> {
    if value.is_nil() {
        return Ok("<no value>".into());
    }
    let mut printer = Printer::new(limit);
    printer.value(value, 'v', &Spec::default(), 0);
    printer.finish()
}

/// A value in an error message.
pub(crate) fn shown(value: &Value) -> String {
    shown_up_to(value, 10_000)
}

/// `%v`, cut off at `limit` bytes.
pub(crate) fn shown_up_to(value: &Value, limit: usize) -> String {
    let mut printer = Printer::new(limit);
    printer.value(value, 'v', &Spec::default(), 0);
    printer.out
}

/// `fmt.Sprint`: spaces between operands where neither is a string.
pub(crate) fn sprint(args: &[Value], limit: usize) -> Result<String, Failure> {
    let mut printer = Printer::new(limit);
    let mut after_string = true;
    for (index, arg) in args.iter().enumerate() {
        let is_string = matches!(arg, Value::Str(_));
        if index > 0 && !is_string && !after_string {
            printer.push(" ");
        }
        printer.value(arg, 'v', &Spec::default(), 0);
        after_string = is_string;
    }
    printer.finish()
}

/// `fmt.Sprintln`: spaces between all operands, a newline at the end.
pub(crate) fn sprintln(args: &[Value], limit: usize) -> Result<String, Failure> {
    let mut printer = Printer::new(limit);
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            printer.push(" ");
        }
        printer.value(arg, 'v', &Spec::default(), 0);
    }
    printer.push("\n");
    printer.finish()
}

/// `fmt.Sprintf`.
pub(crate) fn sprintf(format: &str, args: &[Value], limit: usize) -> Result<String, Failure> {
    let mut printer = Printer::new(limit);
    printer.format(format, args);
    printer.finish()
}

/// Flags, width and precision of one verb.
#[derive(Clone, Copy, Default)]
struct Spec {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    /// `%+v`
    names: bool,
    /// `%#v`
    syntax: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

struct Printer {
    out: String,
    limit: usize,
    over: bool,
}

impl Printer {
    fn new(limit: usize) -> Self {
        Self {
            out: String::new(),
            limit,
            over: false,
        }
    }

    fn finish(self) -> Result<String, Failure> {
        if self.over {
            Err(Failure::Limit(format!("a text of more than {} bytes", self.limit)))
        } else {
            Ok(self.out)
        }
    }

    fn push(&mut self, text: &str) {
        if self.out.len() + text.len() > self.limit {
            self.over = true;
        } else {
            self.out.push_str(text);
        }
    }

    /// Writes `text` padded to the width.
    fn pad(&mut self, text: &str, spec: &Spec) {
        let missing = spec.width.map_or(0, |width| width.saturating_sub(text.chars().count()));
        if missing == 0 {
            return self.push(text);
        }
        if spec.minus {
            self.push(text);
            self.push(&" ".repeat(missing));
        } else {
            self.push(&if spec.zero { "0" } else { " " }.repeat(missing));
            self.push(text);
        }
    }

    /// Writes a number: zeros go between sign and digits.
    fn pad_number(&mut self, text: &str, spec: &Spec) {
        let sign = text.len() - text.trim_start_matches(['+', '-', ' ']).len();
        if spec.zero && !spec.minus && sign > 0 {
            self.push(&text[..sign]);
            let width = spec.width.map(|width| width.saturating_sub(sign));
            self.pad(&text[sign..], &Spec { width, ..*spec });
        } else {
            self.pad(text, spec);
        }
    }

    fn bad_verb(&mut self, value: &Value, verb: char, depth: usize) {
        self.push("%!");
        self.push(verb.encode_utf8(&mut [0; 4]));
        self.push("(");
        if value.is_nil() {
            self.push("<nil>");
        } else {
            self.push(&value.type_name());
            self.push("=");
            self.value(value, 'v', &Spec::default(), depth);
        }
        self.push(")");
    }

    fn value(&mut self, value: &Value, verb: char, spec: &Spec, depth: usize) {
        if self.over || depth > MAX_DEPTH {
            self.over = true;
            return;
        }
        if verb == 'T' {
            return self.pad(&value.type_name(), spec);
        }
        match value {
            Value::Missing | Value::Nil if depth > 0 && spec.syntax => self.push("interface {}(nil)"),
            Value::Missing | Value::Nil if verb == 'v' || depth > 0 => self.pad("<nil>", spec),
            Value::Missing | Value::Nil => self.bad_verb(value, verb, depth),
            Value::Bool(flag) if matches!(verb, 'v' | 't') => self.pad(if *flag { "true" } else { "false" }, spec),
            Value::Bool(_) => self.bad_verb(value, verb, depth),
            Value::Sized(Width::Duration, nanos) if matches!(verb, 'v' | 's') && !spec.syntax => {
                self.pad(&number::duration(*nanos), spec);
            }
            Value::Int(number) | Value::Int64(number) | Value::Sized(_, number) => {
                self.integer(i128::from(*number), value, verb, spec, depth);
            }
            Value::Uint(number) => self.integer(i128::from(*number), value, verb, spec, depth),
            Value::Float(number) => self.float(*number, value, verb, spec, depth),
            Value::Str(text) => self.string(text, value, verb, spec, depth),
            Value::List(list) => {
                if list.element() == Element::Byte && matches!(verb, 's' | 'q' | 'x' | 'X') {
                    let bytes: Vec<u8> = list
                        .to_vec()
                        .iter()
                        .filter_map(|item| u8::try_from(item.as_integer()?).ok())
                        .collect();
                    return self.string(&String::from_utf8_lossy(&bytes), value, verb, spec, depth);
                }
                let items = list.to_vec();
                if spec.syntax {
                    self.push(list.element().slice_name());
                    self.joined(
                        items.iter().map(|item| (None, item)),
                        ("{", ", ", "}"),
                        verb,
                        spec,
                        depth,
                    );
                } else {
                    self.joined(
                        items.iter().map(|item| (None, item)),
                        ("[", " ", "]"),
                        verb,
                        spec,
                        depth,
                    );
                }
            }
            Value::Map(map) => {
                let entries: Vec<(Value, Value)> = map
                    .to_vec()
                    .into_iter()
                    .map(|(key, value)| (Value::Str(key), value))
                    .collect();
                let entries = entries.iter().map(|(key, value)| (Some(key), value));
                if spec.syntax {
                    self.push(map.kind().name());
                    self.joined(entries, ("{", ", ", "}"), verb, spec, depth);
                } else {
                    self.joined(entries, ("map[", " ", "]"), verb, spec, depth);
                }
            }
            Value::Object(object) => {
                if let Some(bytes) = object.bytes().filter(|_| matches!(verb, 's' | 'q' | 'x' | 'X')) {
                    return self.string(&String::from_utf8_lossy(bytes), value, verb, spec, depth);
                }
                if let Some(text) = object.display() {
                    return self.string(&text, value, verb, spec, depth);
                }
                if object.kind() == Kind::Pointer && depth > 0 {
                    // Go shows where the struct lies in memory, which differs from run to run.
                    return self.pad("0xc000010000", spec);
                }
                let entries = object.entries();
                let with_keys = object.kind() == Kind::Map || spec.names || spec.syntax;
                let parts = entries.iter().map(|(key, value)| (with_keys.then_some(key), value));
                let brackets = match object.kind() {
                    Kind::Map => ("map[", " ", "]"),
                    Kind::Slice => ("[", " ", "]"),
                    Kind::Pointer => ("&{", " ", "}"),
                    Kind::Struct | Kind::Func => ("{", " ", "}"),
                };
                self.joined(parts, brackets, verb, spec, depth);
            }
        }
    }

    fn joined<'v>(
        &mut self,
        parts: impl Iterator<Item = (Option<&'v Value>, &'v Value)>,
        (open, between, close): (&str, &str, &str),
        verb: char,
        spec: &Spec,
        depth: usize,
    ) {
        self.push(open);
        for (index, (key, value)) in parts.enumerate() {
            if self.over {
                return;
            }
            if index > 0 {
                self.push(between);
            }
            if let Some(key) = key {
                self.value(key, verb, spec, depth + 1);
                self.push(":");
            }
            self.value(value, verb, spec, depth + 1);
        }
        self.push(close);
    }

    fn string(&mut self, text: &str, value: &Value, verb: char, spec: &Spec, depth: usize) {
        let cut: String;
        let text = match spec.precision {
            Some(count) if matches!(verb, 'v' | 's' | 'q') => {
                cut = text.chars().take(count).collect();
                &cut
            }
            _ => text,
        };
        match verb {
            'v' if spec.syntax => self.pad(&quote::quote(text), spec),
            'v' | 's' => self.pad(text, spec),
            'q' if spec.sharp && !text.contains('`') && !text.chars().any(|c| c.is_control() && c != '\t') => {
                self.pad(&format!("`{text}`"), spec);
            }
            'q' => self.pad(&quote::quote_with(text, '"', spec.plus), spec),
            'x' | 'X' => {
                let count = spec.precision.unwrap_or(usize::MAX);
                let mut hex = String::new();
                for (index, byte) in text.bytes().take(count).enumerate() {
                    if spec.space && index > 0 {
                        hex.push(' ');
                    }
                    if spec.sharp && (spec.space || index == 0) {
                        hex.push_str("0x");
                    }
                    hex.push_str(&format!("{byte:02x}"));
                }
                let hex = if verb == 'X' { hex.to_uppercase() } else { hex };
                self.pad(&hex, spec);
            }
            _ => self.bad_verb(value, verb, depth),
        }
    }

    fn integer(&mut self, number: i128, value: &Value, verb: char, spec: &Spec, depth: usize) {
        let magnitude = number.unsigned_abs();
        let (digits, prefix) = match verb {
            'v' if spec.syntax && matches!(value, Value::Uint(_) | Value::Sized(Width::Byte, _)) => {
                (format!("{magnitude:x}"), "0x")
            }
            'v' | 'd' => (magnitude.to_string(), ""),
            'b' => (format!("{magnitude:b}"), if spec.sharp { "0b" } else { "" }),
            'o' => (format!("{magnitude:o}"), if spec.sharp { "0" } else { "" }),
            'O' => (format!("{magnitude:o}"), "0o"),
            'x' => (format!("{magnitude:x}"), if spec.sharp { "0x" } else { "" }),
            'X' => (format!("{magnitude:X}"), if spec.sharp { "0X" } else { "" }),
            'c' | 'q' | 'U' => {
                let code = u32::try_from(number)
                    .ok()
                    .and_then(char::from_u32)
                    .unwrap_or('\u{fffd}');
                let text = match verb {
                    'c' => code.to_string(),
                    'q' => quote::quote_with(code.encode_utf8(&mut [0; 4]), '\'', spec.plus),
                    _ if spec.sharp => quote::code_point(code),
                    _ => format!("U+{magnitude:04X}"),
                };
                return self.pad(&text, &Spec { zero: false, ..*spec });
            }
            _ => return self.bad_verb(value, verb, depth),
        };
        let sign = if number < 0 {
            "-"
        } else if spec.plus {
            "+"
        } else if spec.space {
            " "
        } else {
            ""
        };
        let zeros = match (spec.precision, spec.width) {
            (Some(0), _) if number == 0 => {
                return self.pad("", &Spec { zero: false, ..*spec });
            }
            (Some(precision), _) => precision,
            (None, Some(width)) if spec.zero && !spec.minus => width.saturating_sub(sign.len()),
            _ => 0,
        };
        let fill = "0".repeat(zeros.saturating_sub(digits.len()));
        self.pad(&format!("{sign}{prefix}{fill}{digits}"), &Spec { zero: false, ..*spec });
    }

    fn float(&mut self, number: f64, value: &Value, verb: char, spec: &Spec, depth: usize) {
        let text = match verb {
            'v' if spec.syntax => number::general(number, None),
            'v' | 'g' => number::general(number, spec.precision),
            'G' => number::general(number, spec.precision).to_uppercase(),
            'e' => number::scientific(number, spec.precision.unwrap_or(6)),
            'E' => number::scientific(number, spec.precision.unwrap_or(6)).to_uppercase(),
            'f' | 'F' => number::fixed(number, spec.precision.unwrap_or(6)),
            _ => return self.bad_verb(value, verb, depth),
        };
        let text = match text.strip_prefix('+') {
            Some(inner) if !spec.plus => inner.to_owned(),
            Some(_) => text,
            None if text.starts_with('-') => text,
            None if spec.plus => format!("+{text}"),
            None if spec.space => format!(" {text}"),
            None => text,
        };
        // Go keeps the sign of an infinity.
        let text = if number == f64::INFINITY && !text.starts_with('+') {
            format!("+{}", text.trim())
        } else {
            text
        };
        let spec = if number.is_finite() {
            *spec
        } else {
            Spec { zero: false, ..*spec }
        };
        self.pad_number(&text, &spec);
    }

    fn format(&mut self, format: &str, args: &[Value]) {
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
                if letter == 'v' {
                    spec.names = std::mem::take(&mut spec.plus);
                    spec.syntax = std::mem::take(&mut spec.sharp);
                }
                self.value(value, letter, &spec, 0);
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

    fn number(&mut self) -> Option<i64> {
        let len = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        if digits.is_empty() {
            None
        } else {
            Some(digits.parse().unwrap_or(i64::MAX))
        }
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
                Some(width) if width <= MAX_WIDTH => self.spec.width = usize::try_from(width).ok(),
                Some(_) => self.good = false,
                None => {}
            },
        }
    }

    fn precision(&mut self, printer: &mut Printer) {
        let Some(rest) = self.rest.strip_prefix('.') else {
            return;
        };
        self.rest = rest;
        self.index();
        match self.star() {
            Some(Some(precision)) if precision >= 0 => self.spec.precision = usize::try_from(precision).ok(),
            Some(Some(_)) => {}
            Some(None) => printer.push("%!(BADPREC)"),
            None => match self.number() {
                Some(precision) if precision <= MAX_WIDTH => self.spec.precision = usize::try_from(precision).ok(),
                Some(_) => self.good = false,
                None => self.spec.precision = Some(0),
            },
        }
    }
}
