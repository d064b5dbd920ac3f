//! `--set` and its relatives: `a.b[0]=x,c={1,2}` becomes values, over what is there.
//!
//! Upstream concept: Helm's command line values. A number without a leading zero is an `int64` (JSON numbers of values
//! files are floats); `true`, `false` and `null` are themselves; `\` takes the next character as it is. Indexes and
//! depth are limited.

use serde_json::Value;

use crate::values::Values;

/// The highest index of a list.
const MAX_INDEX: usize = 65_536;

/// Names inside names.
const MAX_DEPTH: usize = 30;

/// Why an expression is refused. The texts are Helm's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing follows a key.
    #[error("key \"{0}\" has no value")]
    NoValue(String),
    /// A comma follows a key.
    #[error("key \"{0}\" has no value (cannot end with ,)")]
    Comma(String),
    /// A dot follows a key, then nothing.
    #[error("key map \"{0}\" has no value")]
    NoMap(String),
    /// Names are nested too deep.
    #[error("value name nested level is greater than maximum supported nested level of {MAX_DEPTH}")]
    Depth,
    /// An index is no number.
    #[error("error parsing index: strconv.Atoi: parsing \"{0}\": invalid syntax")]
    Index(String),
    /// An index is negative.
    #[error("negative {0} index not allowed")]
    Negative(i64),
    /// An index is too large.
    #[error("index of {0} is greater than maximum supported index of {MAX_INDEX}")]
    LargeIndex(i64),
    /// An index is followed by something else than `=`, `.` or `[`.
    #[error("unexpected data at end of array index: [{0}]")]
    AfterIndex(String),
    /// A `{` without its `}`.
    #[error("list must terminate with '}}'")]
    OpenList,
    /// A key leads through something that is no table or list.
    #[error("unable to parse key: interface conversion: interface {{}} is {found}, not {wanted}")]
    Through {
        /// What is there.
        found: &'static str,
        /// What would have to be.
        wanted: &'static str,
    },
    /// A value is no JSON.
    #[error("{0}")]
    Json(String),
    /// A file that a value names cannot be read.
    #[error("{0}")]
    File(String),
}

/// How the text of a value becomes a value.
pub enum Mode<'f> {
    /// `--set`: numbers, booleans and null are recognised.
    Typed,
    /// `--set-string`: always a string.
    Text,
    /// `--set-literal`: everything after the first `=` is the string.
    Literal,
    /// `--set-json`: JSON.
    Json,
    /// `--set-file`: the value names a file, which this reads.
    File(&'f dyn Fn(&str) -> Result<String, String>),
}

/// Puts what an expression says into `values`.
///
/// # Errors
/// Where the expression is wrong, or leads through a value that is no table or list.
pub fn set(values: &mut Values, expression: &str, mode: &Mode<'_>) -> Result<(), Error> {
    if matches!(mode, Mode::Json) && expression.trim_start().starts_with('{') {
        let Ok(Value::Object(given)) = serde_json::from_str::<Value>(expression) else {
            return Err(Error::Json(format!("JSON: {expression}")));
        };
        let given = crate::values::floats(given);
        *values = crate::values::merge(std::mem::take(values), given);
        return Ok(());
    }
    let mut parser = Parser { rest: expression, mode };
    loop {
        match parser.key(values, 0) {
            Ok(()) if parser.rest.is_empty() => return Ok(()),
            Ok(()) => {}
            Err(Stop::End) => return Ok(()),
            Err(Stop::Wrong(_)) if matches!(mode, Mode::Json) => return Err(Error::Json(expression.to_owned())),
            Err(Stop::Wrong(error)) => return Err(error),
        }
    }
}

struct Parser<'p> {
    rest: &'p str,
    mode: &'p Mode<'p>,
}

/// Why reading stopped.
enum Stop {
    /// The text is over where nothing more is needed.
    End,
    /// It is wrong.
    Wrong(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Wrong(error)
    }
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let found = chars.next();
        self.rest = chars.as_str();
        found
    }

    /// Text up to one of the stop characters, which is taken too and returned.
    fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let mut text = String::new();
        while let Some(found) = self.next() {
            if stops.contains(&found) {
                return (text, Some(found));
            }
            if found == '\\' && !matches!(self.mode, Mode::Literal) {
                match self.next() {
                    Some(taken) => text.push(taken),
                    None => break,
                }
            } else {
                text.push(found);
            }
        }
        (text, None)
    }

    fn key(&mut self, table: &mut Values, depth: usize) -> Result<(), Stop> {
        let stops: &[char] = match self.mode {
            Mode::Literal => &['=', '[', '.'],
            _ => &['=', '[', ',', '.'],
        };
        let (name, stop) = self.until(stops);
        match stop {
            None if name.is_empty() => Err(Stop::End),
            None => Err(Error::NoValue(name).into()),
            Some(',') => Err(Error::Comma(name).into()),
            Some('[') => {
                let index = self.index()?;
                let list = match table.get_mut(&name) {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::Array(list)) => std::mem::take(list),
                    Some(other) => return Err(through(other, "[]interface {}").into()),
                };
                let list = self.item(list, index, depth)?;
                insert(table, name, Value::Array(list));
                Ok(())
            }
            Some('.') => {
                if depth + 1 > MAX_DEPTH {
                    return Err(Error::Depth.into());
                }
                let mut inner = match table.get_mut(&name) {
                    None | Some(Value::Null) => Values::new(),
                    Some(Value::Object(inner)) => std::mem::take(inner),
                    Some(other) => return Err(through(other, "map[string]interface {}").into()),
                };
                let result = self.key(&mut inner, depth + 1);
                if inner.is_empty() && !matches!(result, Err(Stop::Wrong(_))) {
                    return Err(Error::NoMap(name).into());
                }
                insert(table, name, Value::Object(inner));
                result
            }
            Some(_) => {
                let value = self.value()?;
                insert(table, name, value);
                Ok(())
            }
        }
    }

    /// The number up to `]`.
    fn index(&mut self) -> Result<i64, Stop> {
        let (text, stop) = self.until(&[']']);
        if stop.is_none() {
            return Err(Stop::End);
        }
        Ok(text.parse().map_err(|_| Error::Index(text))?)
    }

    /// What follows `[index]`; the list with it.
    fn item(&mut self, mut list: Vec<Value>, index: i64, depth: usize) -> Result<Vec<Value>, Stop> {
        if index < 0 {
            return Err(Error::Negative(index).into());
        }
        let place = usize::try_from(index)
            .ok()
            .filter(|place| *place <= MAX_INDEX)
            .ok_or(Error::LargeIndex(index))?;
        let (text, stop) = self.until(&['[', '.', '=']);
        if !text.is_empty() {
            let shown: Vec<String> = text.chars().map(|found| format!("'{found}'")).collect();
            return Err(Error::AfterIndex(shown.join(" ")).into());
        }
        let existing = list.get_mut(place).map(Value::take);
        let value = match stop {
            None => return Ok(list),
            Some('=') => self.value()?,
            Some('[') => {
                let next = self.index()?;
                let inner = match existing {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::Array(inner)) => inner,
                    Some(other) => return Err(through(&other, "[]interface {}").into()),
                };
                if depth + 1 > MAX_DEPTH {
                    return Err(Error::Depth.into());
                }
                Value::Array(self.item(inner, next, depth + 1)?)
            }
            Some(_) => {
                if depth + 1 > MAX_DEPTH {
                    return Err(Error::Depth.into());
                }
                let mut inner = match existing {
                    Some(Value::Object(inner)) => inner,
                    _ => Values::new(),
                };
                match self.key(&mut inner, depth + 1) {
                    Ok(()) | Err(Stop::End) => {}
                    Err(wrong) => return Err(wrong),
                }
                Value::Object(inner)
            }
        };
        if place >= list.len() {
            list.resize(place + 1, Value::Null);
        }
        if let Some(slot) = list.get_mut(place) {
            *slot = value;
        }
        Ok(list)
    }

    fn value(&mut self) -> Result<Value, Stop> {
        match self.mode {
            Mode::Json => return self.json(),
            Mode::Literal => return Ok(Value::from(std::mem::take(&mut self.rest))),
            Mode::Typed | Mode::Text | Mode::File(_) => {}
        }
        let Some(mut rest) = self.rest.strip_prefix('{') else {
            let (text, _) = self.until(&[',']);
            return Ok(self.typed(&text)?);
        };
        std::mem::swap(&mut self.rest, &mut rest);
        let mut list = Vec::new();
        loop {
            let (text, stop) = self.until(&[',', '}']);
            if stop.is_none() {
                return Err(Error::OpenList.into());
            }
            list.push(self.typed(&text)?);
            if stop == Some('}') {
                self.rest = self.rest.strip_prefix(',').unwrap_or(self.rest);
                return Ok(Value::Array(list));
            }
        }
    }

    fn json(&mut self) -> Result<Value, Stop> {
        let skip = |text: &mut &str| {
            *text = text.trim_start();
            match text.strip_prefix(',') {
                Some(rest) => {
                    *text = rest;
                    true
                }
                None => text.is_empty(),
            }
        };
        if skip(&mut self.rest) {
            return Ok(Value::Null);
        }
        let mut stream = serde_json::Deserializer::from_str(self.rest).into_iter::<Value>();
        let value = match stream.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => return Err(Error::Json(error.to_string()).into()),
            None => Value::Null,
        };
        self.rest = self.rest.get(stream.byte_offset()..).unwrap_or("");
        skip(&mut self.rest);
        Ok(crate::values::float(value))
    }

    fn typed(&self, text: &str) -> Result<Value, Error> {
        if let Mode::File(read) = self.mode {
            return read(text).map(Value::String).map_err(Error::File);
        }
        if matches!(self.mode, Mode::Text) {
            return Ok(Value::from(text));
        }
        Ok(match text.to_ascii_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            "0" => Value::from(0),
            word if word.starts_with('0') => Value::from(text),
            word => word.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
        })
    }
}

fn insert(table: &mut Values, name: String, value: Value) {
    // A key of nothing is dropped.
    if !name.is_empty() {
        table.insert(name, value);
    }
}

fn through(found: &Value, wanted: &'static str) -> Error {
    let found = match found {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    Error::Through { found, wanted }
}
