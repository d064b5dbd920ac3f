//! A URL's query as the options of a request.
//!
//! Mirrors upstream's `ListOptions`, `CreateOptions` and so on, as far as they come in the query.

/// Decoded pairs in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Reads a query; bad escapes stay as they are.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decode(name, true), decode(value, true))
            })
            .collect();
        Self { pairs }
    }

    /// Adds a term to a comma separated value, as if the client had sent it.
    pub(crate) fn add(&mut self, name: &str, term: &str) {
        match self.pairs.iter_mut().find(|(other, _)| other == name) {
            Some((_, value)) if !value.is_empty() => {
                value.push(',');
                value.push_str(term);
            }
            _ => self.pairs.push((name.to_owned(), term.to_owned())),
        }
    }

    /// First value of a name, empty if there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.pairs
            .iter()
            .find(|(other, _)| other == name)
            .map_or("", |(_, value)| value)
    }

    /// All values of a name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs
            .iter()
            .filter(move |(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether the name occurs.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.pairs.iter().any(|(other, _)| other == name)
    }

    /// A boolean as upstream reads it: anything but `false` and `0` counts as true once the name is there.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.has(name) && !matches!(self.get(name).to_lowercase().as_str(), "false" | "0")
    }

    /// A number, if there is one.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.get(name).parse().ok()
    }
}

/// Undoes percent-encoding, and `+` for a space in queries.
pub(crate) fn decode(text: &str, plus: bool) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' if plus => out.push(b' '),
            b'%' => {
                let mut ahead = bytes.clone();
                let digits = (ahead.next().and_then(hex), ahead.next().and_then(hex));
                if let (Some(high), Some(low)) = digits {
                    out.push(high * 16 + low);
                    bytes = ahead;
                } else {
                    out.push(byte);
                }
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}
