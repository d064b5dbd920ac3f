//! Go's `fmt`: values become text by `%v`, by `Print`, `Println` and by `Printf` with verbs, flags, width and
//! precision.
//!
//! Upstream concept: package `fmt`, restricted to the types a template can hold. Output is bounded: padding and
//! nested values stop at the given limit.

mod format;
mod number;

use crate::bytes;
use crate::failure::Failure;
use crate::object::Kind;
use crate::quote;
use crate::value::{Element, Value};

/// Values inside values that are printed at most: one that shares its parts could hold any number.
const MAX_NODES: usize = 2_000_000;

/// Nesting at which printing stops following values.
const MAX_DEPTH: usize = 1_000;

/// Bytes that are printed as numbers at a time.
const CHUNK: usize = 1024;

/// A blank and a byte as a number, and how long that is.
static NUMBERS: [([u8; 4], usize); 256] = {
    let mut numbers = [([b' '; 4], 0); 256];
    let mut byte = 0;
    while byte < 256 {
        let digits = [byte / 100, byte / 10 % 10, byte % 10];
        let length = if byte >= 100 {
            3
        } else if byte >= 10 {
            2
        } else {
            1
        };
        let mut place = 0;
        while place < length {
            numbers[byte].0[1 + place] = b'0' + digits[3 - length + place] as u8;
            place += 1;
        }
        numbers[byte].1 = 1 + length;
        byte += 1;
    }
    numbers
};

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
#[derive(Clone, Copy, Default, PartialEq)]
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
    nodes: usize,
    over: bool,
}

impl Printer {
    fn new(limit: usize) -> Self {
        Self {
            out: String::new(),
            limit,
            nodes: 0,
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

    /// A value under a verb it has no form for; flags, width and precision act on the value in there.
    fn bad_verb(&mut self, value: &Value, verb: char, spec: &Spec, depth: usize) {
        self.push("%!");
        self.push(verb.encode_utf8(&mut [0; 4]));
        self.push("(");
        if value.is_nil() {
            self.push("<nil>");
        } else {
            self.push(&value.type_name());
            self.push("=");
            self.value(value, 'v', spec, depth);
        }
        self.push(")");
    }

    fn value(&mut self, value: &Value, verb: char, spec: &Spec, depth: usize) {
        self.nodes += 1;
        if self.over || depth > MAX_DEPTH || self.nodes > MAX_NODES {
            self.over = true;
            return;
        }
        if verb == 'T' {
            let name = value.type_name();
            let most = spec.precision.filter(|_| !value.is_nil());
            let shown = most.map_or(name.len(), |most| most.min(name.len()));
            return self.pad(name.get(..shown).unwrap_or(&name), spec);
        }
        if let Value::Sized(width, number) = value
            && matches!(verb, 'v' | 's' | 'q')
            && !spec.syntax
            && let Some(text) = width.text(*number)
        {
            return self.string(&text, value, verb, spec, depth);
        }
        match value {
            Value::Missing | Value::Nil if depth > 0 && spec.syntax => self.push("interface {}(nil)"),
            Value::Missing | Value::Nil if depth > 0 => self.push("<nil>"),
            Value::Missing | Value::Nil if verb == 'v' => self.pad("<nil>", spec),
            Value::Missing | Value::Nil => self.bad_verb(value, verb, spec, depth),
            Value::Bool(flag) if matches!(verb, 'v' | 't') => self.pad(if *flag { "true" } else { "false" }, spec),
            Value::Bool(_) => self.bad_verb(value, verb, spec, depth),
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
                    return self.string(&bytes::text(&bytes), value, verb, spec, depth);
                }
                let items = list.to_vec();
                if spec.syntax {
                    self.push(list.element().slice_name());
                    self.joined(
                        items.iter().map(|item| (None, item)),
                        ("{", ", ", "}"),
                        (verb, false),
                        spec,
                        depth,
                    );
                } else {
                    self.joined(
                        items.iter().map(|item| (None, item)),
                        ("[", " ", "]"),
                        (verb, false),
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
                    self.joined(entries, ("{", ", ", "}"), (verb, false), spec, depth);
                } else {
                    self.joined(entries, ("map[", " ", "]"), (verb, false), spec, depth);
                }
            }
            Value::Object(object) => {
                if let Some(bytes) = object.bytes().filter(|_| matches!(verb, 's' | 'q' | 'x' | 'X')) {
                    return self.string(&bytes::text(bytes), value, verb, spec, depth);
                }
                if let Some(bytes) = object.bytes().filter(|_| verb == 'v' && *spec == Spec::default()) {
                    return self.numbers(bytes);
                }
                if !spec.syntax
                    && matches!(verb, 'v' | 's' | 'q' | 'x' | 'X')
                    && let Some(text) = object.display()
                {
                    return self.string(&text, value, verb, spec, depth);
                }
                if object.kind() == Kind::Pointer && depth > 0 {
                    // Go shows where the struct lies in memory, which differs from run to run.
                    return self.pad("0xc000010000", spec);
                }
                let entries = object.entries();
                let kind = object.kind();
                let with_keys = kind == Kind::Map || (kind != Kind::Slice && (spec.names || spec.syntax));
                let parts = entries.iter().map(|(key, value)| (with_keys.then_some(key), value));
                let brackets = match kind {
                    _ if spec.syntax => {
                        self.push(&object.type_name());
                        ("{", ", ", "}")
                    }
                    Kind::Map => ("map[", " ", "]"),
                    Kind::Slice => ("[", " ", "]"),
                    Kind::Pointer => ("&{", " ", "}"),
                    Kind::Struct | Kind::Func => ("{", " ", "}"),
                };
                let names = kind == Kind::Struct || kind == Kind::Pointer;
                self.joined(parts, brackets, (verb, names), spec, depth);
            }
        }
    }

    /// A list of bytes, which may be a whole file, as Go prints it: number by number.
    fn numbers(&mut self, bytes: &[u8]) {
        self.nodes = self.nodes.saturating_add(bytes.len());
        if self.nodes > MAX_NODES {
            self.over = true;
            return;
        }
        // Most numbers have two digits or three.
        self.out.reserve((3 * bytes.len()).min(self.limit));
        self.push("[");
        let mut text = [0; 4 * CHUNK];
        for (place, chunk) in bytes.chunks(CHUNK).enumerate() {
            let mut end = 0;
            for byte in chunk {
                let (number, length) = NUMBERS[usize::from(*byte)];
                text[end..end + 4].copy_from_slice(&number);
                end += length;
            }
            // Before the first one there is no blank.
            let text = &text[usize::from(place == 0)..end];
            self.push(std::str::from_utf8(text).unwrap_or_default());
        }
        self.push("]");
    }

    fn joined<'v>(
        &mut self,
        parts: impl Iterator<Item = (Option<&'v Value>, &'v Value)>,
        (open, between, close): (&str, &str, &str),
        (verb, names): (char, bool),
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
                match key {
                    Value::Str(name) if names => self.push(name),
                    _ => self.value(key, verb, spec, depth + 1),
                }
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
                for (index, byte) in bytes::of(text).iter().take(count).enumerate() {
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
            _ => self.bad_verb(value, verb, spec, depth),
        }
    }
}
