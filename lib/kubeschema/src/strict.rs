//! The parts of a JSON text that a parsed value no longer shows: fields given twice, and the order of fields.
//!
//! A strict decoder reports problems in the order in which it meets them; [`scan`] gives that order.

use std::collections::BTreeMap;

/// What a JSON text says about its fields besides their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Paths of fields that occur again in the same object, in the order of the text.
    pub duplicates: Vec<String>,
    order: BTreeMap<String, usize>,
}

impl Scan {
    /// Sorts paths of fields by where they stand in the text; unknown paths last.
    pub fn sort(&self, paths: &mut [String]) {
        paths.sort_by_key(|path| self.order.get(path).copied().unwrap_or(usize::MAX));
    }
}

/// Deeper than this nothing is looked at.
const MAXIMUM_DEPTH: usize = 200;

/// Scans a JSON text. A malformed one is scanned as far as it goes.
pub fn scan(text: &str) -> Scan {
    let mut reader = Reader {
        rest: text.as_bytes(),
        found: Scan::default(),
    };
    let _ = reader.value("", 0);
    reader.found
}

struct Reader<'a> {
    rest: &'a [u8],
    found: Scan,
}

impl Reader<'_> {
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

    fn value(&mut self, path: &str, depth: usize) -> Option<()> {
        if depth > MAXIMUM_DEPTH {
            return None;
        }
        match self.next()? {
            b'{' => self.object(path, depth),
            b'[' => self.list(path, depth),
            b'"' => self.string().map(|_| ()),
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

    fn object(&mut self, path: &str, depth: usize) -> Option<()> {
        self.take()?;
        let mut seen: Vec<String> = Vec::new();
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
                    let name = self.string()?;
                    let here = crate::field::child(path, &name);
                    let position = self.found.order.len();
                    self.found.order.entry(here.clone()).or_insert(position);
                    if seen.contains(&name) {
                        self.found.duplicates.push(here.clone());
                    }
                    seen.push(name);
                    (self.take()? == b':').then_some(())?;
                    self.value(&here, depth + 1)?;
                }
                _ => return None,
            }
        }
    }

    fn list(&mut self, path: &str, depth: usize) -> Option<()> {
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
                _ => self.value(&crate::field::index(path, position), depth + 1)?,
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        self.next()?;
        let mut escaped = false;
        let end = self.rest.iter().skip(1).position(|byte| {
            let closes = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            closes
        })?;
        let (text, rest) = self.rest.split_at_checked(end + 2)?;
        self.rest = rest;
        serde_json::from_slice(text).ok()
    }
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
