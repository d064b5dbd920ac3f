//! TOML as Go's library writes it: plain values first, then tables, indented by two spaces per level.
//!
//! Reading covers what charts use: tables, arrays of tables, dotted keys, strings, numbers, booleans, arrays and inline
//! tables.

use gotemplate::{Failure, Machine, Value};
use serde_json::{Map, Number, Value as Json};

/// Values written while the machine takes one step.
const VALUES_PER_STEP: usize = 4;

/// Values at which writing gives up.
const MAX_VALUES: usize = 1_000_000;

/// Nesting at which writing gives up.
const MAX_DEPTH: usize = 200;

/// Writes a table, or a single value or list as it stands behind a key.
///
/// # Errors
/// Something in it has no form in TOML, or a limit of the machine is reached.
pub(crate) fn write(machine: &mut Machine<'_>, value: &Value) -> Result<String, Failure> {
    let mut writer = Writer {
        machine,
        out: String::new(),
        values: 0,
    };
    match value {
        Value::Map(_) => writer.table(value, &mut Vec::new(), 0)?,
        Value::Missing | Value::Nil => return Err("reflect: call of reflect.Value.Type on zero Value".into()),
        value if is_table_array(value) => return Err("toml: top-level values must be Go maps or structs".into()),
        value => writer.plain(value, 0)?,
    }
    Ok(writer.out)
}

struct Writer<'w, 'm> {
    machine: &'w mut Machine<'m>,
    out: String,
    values: usize,
}

fn is_table(value: &Value) -> bool {
    matches!(value, Value::Map(_))
}

fn is_table_array(value: &Value) -> bool {
    matches!(value, Value::List(list) if !list.is_empty() && list.to_vec().iter().all(is_table))
}

fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            character if character.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

impl Writer<'_, '_> {
    /// Accounts for a value. One that shares its parts could go on for ever.
    fn count(&mut self) -> Result<(), Failure> {
        self.values += 1;
        if self.values.is_multiple_of(VALUES_PER_STEP) {
            self.machine.work(1)?;
        }
        if self.values > MAX_VALUES {
            return Err(Failure::Limit(format!("a value of more than {MAX_VALUES} values")));
        }
        if self.out.len() > self.machine.text_limit() {
            // More than may be made: this says so.
            self.machine.reserve(self.out.len())?;
        }
        Ok(())
    }

    fn table(&mut self, value: &Value, path: &mut Vec<String>, depth: usize) -> Result<(), Failure> {
        if depth > MAX_DEPTH {
            return Err("toml: tables are nested too deeply".into());
        }
        self.count()?;
        let Value::Map(map) = value else {
            return Ok(());
        };
        let indent = "  ".repeat(path.len().saturating_sub(1));
        let inner = if path.is_empty() {
            String::new()
        } else {
            format!("{indent}  ")
        };
        let entries: Vec<_> = map.to_vec().into_iter().filter(|(_, value)| !value.is_nil()).collect();
        for (name, value) in entries
            .iter()
            .filter(|(_, value)| !is_table(value) && !is_table_array(value))
        {
            self.out.push_str(&format!("{inner}{} = ", key(name)));
            self.plain(value, depth)?;
            self.out.push('\n');
        }
        for (name, value) in entries
            .iter()
            .filter(|(_, value)| is_table(value) || is_table_array(value))
        {
            path.push(key(name));
            let head = path.join(".");
            let indent = "  ".repeat(path.len() - 1);
            // A table begins with a blank line where it stands at the top; an array's tables always do.
            if path.len() == 1 && !self.out.is_empty() && is_table(value) {
                self.out.push('\n');
            }
            match value {
                Value::List(list) => {
                    for item in &list.to_vec() {
                        if !self.out.is_empty() {
                            self.out.push('\n');
                        }
                        self.out.push_str(&format!("{indent}[[{head}]]\n"));
                        self.table(item, path, depth + 1)?;
                    }
                }
                value => {
                    self.out.push_str(&format!("{indent}[{head}]\n"));
                    self.table(value, path, depth + 1)?;
                }
            }
            path.pop();
        }
        Ok(())
    }

    fn plain(&mut self, value: &Value, depth: usize) -> Result<(), Failure> {
        if depth > MAX_DEPTH {
            return Err("toml: values are nested too deeply".into());
        }
        self.count()?;
        match value {
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Str(text) => self.out.push_str(&quoted(text)),
            Value::Float(number) => self.out.push_str(&float(*number)),
            Value::List(list) => {
                self.out.push('[');
                for (place, item) in list.to_vec().iter().enumerate() {
                    if place > 0 {
                        self.out.push_str(", ");
                    }
                    self.plain(item, depth + 1)?;
                }
                self.out.push(']');
            }
            Value::Map(map) => {
                self.out.push('{');
                for (place, (name, value)) in map.to_vec().iter().enumerate() {
                    if place > 0 {
                        self.out.push_str(", ");
                    }
                    self.out.push_str(&format!("{} = ", key(name)));
                    self.plain(value, depth + 1)?;
                }
                self.out.push('}');
            }
            Value::Missing | Value::Nil => return Err("toml: cannot encode array with nil element".into()),
            other => match other.as_integer() {
                Some(number) => self.out.push_str(&number.to_string()),
                None => return Err(Failure::new(format!("unsupported type: {}", other.type_name()))),
            },
        }
        Ok(())
    }
}

/// A float in the fewest digits: with an exponent from a million on and below a ten thousandth, else with a point.
fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".into();
    }
    if number.is_infinite() {
        return number.to_string();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>().unwrap_or(0) {
        -4..6 => {
            let plain = number.to_string();
            if plain.contains('.') { plain } else { plain + ".0" }
        }
        exponent => format!(
            "{digits}e{}{:02}",
            if exponent < 0 { '-' } else { '+' },
            exponent.unsigned_abs()
        ),
    }
}

/// Reads a document.
pub(crate) fn parse(text: &str) -> Result<Json, String> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut root = Map::new();
    let mut path: Vec<String> = Vec::new();
    loop {
        reader.blank_lines();
        if reader.rest.is_empty() {
            return Ok(Json::Object(root));
        }
        if reader.take("[[") {
            path = reader.keys()?;
            reader.expect("]]")?;
            let (last, parents) = path.split_last().ok_or_else(|| reader.error("expected a key"))?;
            let table = descend(&mut root, parents).ok_or_else(|| reader.error("key already defined"))?;
            let list = table.entry(last.clone()).or_insert_with(|| Json::Array(Vec::new()));
            let Json::Array(list) = list else {
                return Err(reader.error("key already defined"));
            };
            list.push(Json::Object(Map::new()));
        } else if reader.take("[") {
            path = reader.keys()?;
            reader.expect("]")?;
            descend(&mut root, &path).ok_or_else(|| reader.error("key already defined"))?;
        } else {
            let mut keys = path.clone();
            keys.extend(reader.keys()?);
            reader.expect("=")?;
            let value = reader.value(0)?;
            let (last, parents) = keys.split_last().ok_or_else(|| reader.error("expected a key"))?;
            let table = descend(&mut root, parents).ok_or_else(|| reader.error("key already defined"))?;
            table.insert(last.clone(), value);
        }
        reader.end_of_line()?;
    }
}

/// The table at a path, made where missing; of an array of tables, the last one.
fn descend<'t>(root: &'t mut Map<String, Json>, path: &[String]) -> Option<&'t mut Map<String, Json>> {
    let mut table = root;
    for name in path {
        let next = table.entry(name.clone()).or_insert_with(|| Json::Object(Map::new()));
        table = match next {
            Json::Object(inner) => inner,
            Json::Array(list) => list.last_mut()?.as_object_mut()?,
            _ => return None,
        };
    }
    Some(table)
}

struct Reader<'t> {
    rest: &'t str,
    line: usize,
}

impl Reader<'_> {
    fn error(&self, message: &str) -> String {
        format!("toml: line {}: {message}", self.line)
    }

    fn advance(&mut self, count: usize) {
        let (passed, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.line += passed.matches('\n').count();
        self.rest = rest;
    }

    fn spaces(&mut self) {
        let len = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len();
        self.advance(len);
    }

    fn blank_lines(&mut self) {
        loop {
            let len = self.rest.len() - self.rest.trim_start().len();
            self.advance(len);
            if !self.rest.starts_with('#') {
                return;
            }
            let len = self.rest.find('\n').unwrap_or(self.rest.len());
            self.advance(len);
        }
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest.starts_with(text);
        if found {
            self.advance(text.len());
        }
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        self.spaces();
        if self.take(text) {
            Ok(())
        } else {
            Err(self.error(&format!("expected '{text}'")))
        }
    }

    fn end_of_line(&mut self) -> Result<(), String> {
        self.spaces();
        if self.rest.starts_with('#') {
            let len = self.rest.find('\n').unwrap_or(self.rest.len());
            self.advance(len);
        }
        if self.rest.is_empty() || self.take("\n") || self.take("\r\n") {
            Ok(())
        } else {
            Err(self.error("expected the end of the line"))
        }
    }

    fn keys(&mut self) -> Result<Vec<String>, String> {
        let mut keys = Vec::new();
        loop {
            self.spaces();
            let name = if self.rest.starts_with(['"', '\'']) {
                self.string()?
            } else {
                let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                let len = self.rest.find(|c: char| !bare(c)).unwrap_or(self.rest.len());
                let name = self.rest[..len].to_owned();
                self.advance(len);
                name
            };
            if name.is_empty() {
                return Err(self.error("expected a key"));
            }
            keys.push(name);
            self.spaces();
            if !self.take(".") {
                return Ok(keys);
            }
            if keys.len() > 100 {
                return Err(self.error("too many key parts"));
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        for mark in ["\"\"\"", "'''"] {
            if self.take(mark) {
                let end = self.rest.find(mark).ok_or_else(|| self.error("unterminated string"))?;
                let raw = self.rest[..end].to_owned();
                self.advance(end + 3);
                let raw = raw.strip_prefix('\n').unwrap_or(&raw).to_owned();
                return if mark == "'''" { Ok(raw) } else { self.unescaped(&raw) };
            }
        }
        let mark = if self.rest.starts_with('"') { '"' } else { '\'' };
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, c)| {
            let ends = (*c == mark && !escaped) || *c == '\n';
            escaped = mark == '"' && *c == '\\' && !escaped;
            ends
        });
        let Some((end, found)) = end else {
            return Err(self.error("unterminated string"));
        };
        if found == '\n' {
            return Err(self.error("strings cannot contain newlines"));
        }
        let raw = self.rest[1..end].to_owned();
        self.advance(end + 1);
        if mark == '"' { self.unescaped(&raw) } else { Ok(raw) }
    }

    fn unescaped(&self, raw: &str) -> Result<String, String> {
        let mut out = String::with_capacity(raw.len());
        let mut chars = raw.chars();
        while let Some(character) = chars.next() {
            if character != '\\' {
                out.push(character);
                continue;
            }
            let digits = match chars.next() {
                Some('n') => "\n",
                Some('t') => "\t",
                Some('r') => "\r",
                Some('b') => "\u{8}",
                Some('f') => "\u{c}",
                Some('e') => "\u{1b}",
                Some('"') => "\"",
                Some('\\') => "\\",
                Some(unicode @ ('u' | 'U')) => {
                    let hex: String = chars.by_ref().take(if unicode == 'u' { 4 } else { 8 }).collect();
                    let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                    out.push(code.ok_or_else(|| self.error("invalid escape"))?);
                    continue;
                }
                Some('\n') => {
                    let rest = chars.as_str().trim_start();
                    chars = rest.chars();
                    continue;
                }
                _ => return Err(self.error("invalid escape")),
            };
            out.push_str(digits);
        }
        Ok(out)
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        self.spaces();
        if depth > 100 {
            return Err(self.error("values are nested too deeply"));
        }
        if self.rest.starts_with(['"', '\'']) {
            return self.string().map(Json::String);
        }
        if self.take("[") {
            let mut items = Vec::new();
            loop {
                self.blank_lines();
                if self.take("]") {
                    return Ok(Json::Array(items));
                }
                items.push(self.value(depth + 1)?);
                self.blank_lines();
                if !self.take(",") {
                    self.expect("]")?;
                    return Ok(Json::Array(items));
                }
            }
        }
        if self.take("{") {
            let mut table = Map::new();
            loop {
                self.spaces();
                if self.take("}") {
                    return Ok(Json::Object(table));
                }
                let keys = self.keys()?;
                self.expect("=")?;
                let value = self.value(depth + 1)?;
                if let Some((last, parents)) = keys.split_last() {
                    let inner = descend(&mut table, parents).ok_or_else(|| self.error("key already defined"))?;
                    inner.insert(last.clone(), value);
                }
                self.spaces();
                if !self.take(",") {
                    self.expect("}")?;
                    return Ok(Json::Object(table));
                }
            }
        }
        let len = self
            .rest
            .find([',', ']', '}', '#', '\n', '\r'])
            .unwrap_or(self.rest.len());
        let word = self.rest[..len].trim().to_owned();
        self.advance(len);
        self.scalar(&word)
    }

    fn scalar(&self, word: &str) -> Result<Json, String> {
        match word {
            "true" => return Ok(Json::Bool(true)),
            "false" => return Ok(Json::Bool(false)),
            "" => return Err(self.error("unexpected EOF; expected value")),
            _ => {}
        }
        let digits = word.replace('_', "");
        let integer = if let Some(hex) = digits.strip_prefix("0x") {
            i64::from_str_radix(hex, 16).ok()
        } else if let Some(octal) = digits.strip_prefix("0o") {
            i64::from_str_radix(octal, 8).ok()
        } else if let Some(binary) = digits.strip_prefix("0b") {
            i64::from_str_radix(binary, 2).ok()
        } else {
            digits.parse::<i64>().ok()
        };
        if let Some(integer) = integer {
            return Ok(Json::from(integer));
        }
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-')
            && digits.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
        if let Some(number) = digits
            .parse::<f64>()
            .ok()
            .filter(|_| is_number)
            .and_then(Number::from_f64)
        {
            return Ok(Json::Number(number));
        }
        // A date or time stays text.
        if word.as_bytes().first().is_some_and(u8::is_ascii_digit) && (word.contains('-') || word.contains(':')) {
            return Ok(Json::String(word.to_owned()));
        }
        Err(self.error(&format!("expected value but found \"{word}\" instead")))
    }
}
