//! The parts of a JSON text that a parsed value no longer shows: fields given twice, and the order of fields.
//!
//! A strict decoder reports problems in the order in which it meets them; [`scan`] gives that order.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a JSON text says about its fields besides their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Paths of fields that occur again in the same object, in the order of the text.
    pub duplicates: Vec<String>,
    /// The text, for the rare case that its order is asked for.
    text: String,
}

impl Scan {
    /// Sorts paths of fields by where they stand in the text; unknown paths last.
    pub fn sort(&self, paths: &mut [String]) {
        if paths.len() < 2 {
            return;
        }
        let mut reader = Reader::new(&self.text);
        reader.order = Some(BTreeMap::new());
        let _ = reader.value();
        let order = reader.order.unwrap_or_default();
        paths.sort_by_key(|path| order.get(path).copied().unwrap_or(usize::MAX));
    }
}

/// Deeper than this nothing is looked at.
const MAXIMUM_DEPTH: usize = 200;

/// Scans a JSON text. A malformed one is scanned as far as it goes.
pub fn scan(text: &str) -> Scan {
    let mut reader = Reader::new(text);
    let _ = reader.value();
    Scan {
        duplicates: reader.duplicates,
        text: text.to_owned(),
    }
}

/// Every write is scanned, so nothing is written down before there is something to tell.
struct Reader<'a> {
    rest: &'a [u8],
    path: Vec<Step<'a>>,
    duplicates: Vec<String>,
    order: Option<BTreeMap<String, usize>>,
}

enum Step<'a> {
    Field(Cow<'a, str>),
    Item(usize),
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text.as_bytes(),
            path: Vec::new(),
            duplicates: Vec::new(),
            order: None,
        }
    }

    fn next(&mut self) -> Option<u8> {
        let space = self.rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.rest = self.rest.get(space..)?;
        self.rest.first().copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.next()?;
        self.rest = self.rest.get(1..)?;
        Some(byte)
    }

    fn value(&mut self) -> Option<()> {
        if self.path.len() > MAXIMUM_DEPTH {
            return None;
        }
        match self.next()? {
            b'{' => self.object(),
            b'[' => self.list(),
            b'"' => self.string().map(drop),
            _ => {
                let length = self
                    .rest
                    .iter()
                    .take_while(|b| !matches!(b, b',' | b'}' | b']') && !b.is_ascii_whitespace())
                    .count();
                self.rest = self.rest.get(length.max(1)..)?;
                Some(())
            }
        }
    }

    fn object(&mut self) -> Option<()> {
        self.take()?;
        let mut seen: Vec<Cow<'a, str>> = Vec::new();
        loop {
            match self.next()? {
                b'}' => {
                    self.take()?;
                    return Some(());
                }
                b',' => {
                    self.take()?;
                }
                b'"' => {
                    let name = name(self.string()?)?;
                    let again = seen.contains(&name);
                    seen.push(name.clone());
                    self.path.push(Step::Field(name));
                    self.note(again);
                    (self.take()? == b':').then_some(())?;
                    self.value()?;
                    self.path.pop();
                }
                _ => return None,
            }
        }
    }

    /// Writes down the field at hand where that is wanted.
    fn note(&mut self, again: bool) {
        if again {
            self.duplicates.push(self.here());
        }
        if self.order.is_some() {
            let here = self.here();
            if let Some(order) = &mut self.order {
                let position = order.len();
                order.entry(here).or_insert(position);
            }
        }
    }

    fn here(&self) -> String {
        self.path.iter().fold(String::new(), |path, step| match step {
            Step::Field(name) => crate::field::child(&path, name),
            Step::Item(position) => crate::field::index(&path, *position),
        })
    }

    fn list(&mut self) -> Option<()> {
        self.take()?;
        let mut position = 0;
        loop {
            match self.next()? {
                b']' => {
                    self.take()?;
                    return Some(());
                }
                b',' => {
                    self.take()?;
                    position += 1;
                }
                _ => {
                    self.path.push(Step::Item(position));
                    self.value()?;
                    self.path.pop();
                }
            }
        }
    }

    /// A string with its quotes, as it is spelled.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.next()?;
        let mut escaped = false;
        let end = self.rest.iter().skip(1).position(|byte| {
            let closes = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            closes
        })?;
        let (text, rest) = self.rest.split_at_checked(end + 2)?;
        self.rest = rest;
        Some(text)
    }
}

/// What a quoted name says.
fn name(quoted: &[u8]) -> Option<Cow<'_, str>> {
    if quoted.contains(&b'\\') {
        return serde_json::from_slice::<String>(quoted).ok().map(Cow::Owned);
    }
    let inner = quoted.get(1..quoted.len().checked_sub(1)?)?;
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_fields_are_found_where_they_repeat() {
        let scan = scan(r#"{"a":{"k":"1","k":"2","x\"y":[]},"b":[{"c":1,"c":2},{"c":3}],"a":null}"#);
        assert_eq!(scan.duplicates, ["a.k", "b[0].c", "a"]);
    }

    #[test]
    fn paths_are_sorted_as_in_the_text() {
        let scan = scan(r#"{"metadata":{"labls":{}}, "dta":{}, "data":{}}"#);
        let mut paths = [
            "dta".to_owned(),
            "data".to_owned(),
            "metadata.labls".to_owned(),
            "none".to_owned(),
        ];
        scan.sort(&mut paths);
        assert_eq!(paths, ["metadata.labls", "dta", "data", "none"]);
    }

    #[test]
    fn malformed_texts_do_no_harm() {
        for text in [
            "",
            "{",
            "{\"a\"",
            "{\"a\":",
            "[1,",
            "nonsense",
            "{\"a\":\"\\",
            &"[".repeat(100_000),
        ] {
            scan(text);
        }
    }
}
