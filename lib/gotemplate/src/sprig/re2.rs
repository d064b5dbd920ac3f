//! Patterns in Go's syntax become patterns of the `regex` crate, which differs in details: Go's `\d`, `\w`, `\s` and
//! `\b` know ASCII only, a class has no operators, and a brace that begins no repetition is a brace.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex::{Regex, RegexBuilder};

/// Bytes of a compiled pattern; a larger one is refused, as Go refuses what repeats too much.
const SIZE: usize = 2 << 20;

/// Bytes of the tables a search may build.
const TABLES: usize = 256 << 10;

/// Compiled patterns that are kept, and the longest of them: charts use the same few again and again.
const KEPT: usize = 64;
const LONGEST_KEPT: usize = 256;

/// The compiled pattern; errors are in Go's words where the mistake is a common one.
pub(super) fn compile(pattern: &str) -> Result<Arc<Regex>, String> {
    static CACHE: OnceLock<Mutex<BTreeMap<String, Arc<Regex>>>> = OnceLock::new();
    let cache = CACHE.get_or_init(Mutex::default);
    if let Some(known) = cache.lock().unwrap_or_else(PoisonError::into_inner).get(pattern) {
        // Not a copy: that would begin with empty tables.
        return Ok(Arc::clone(known));
    }
    let translated = Translator::new(pattern)
        .run()
        .map_err(|mistake| format!("error parsing regexp: {mistake}"))?;
    let regex = RegexBuilder::new(&translated)
        .size_limit(SIZE)
        .dfa_size_limit(TABLES)
        .build()
        .map_err(|error| format!("error parsing regexp: {}", reason(pattern, &error)))?;
    let regex = Arc::new(regex);
    if pattern.len() <= LONGEST_KEPT {
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= KEPT {
            cache.clear();
        }
        cache.insert(pattern.to_owned(), Arc::clone(&regex));
    }
    Ok(regex)
}

/// Copies of what a repetition repeats that Go allows.
const MOST_REPEATS: usize = 1_000;

/// Classes that have a name.
const CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

struct Translator<'p> {
    pattern: &'p str,
    pos: usize,
    out: String,
    /// Where the repetition began that was read last, if nothing followed it.
    repetition: Option<usize>,
    /// Whether there is something to repeat.
    repeatable: bool,
    /// Groups that are not closed yet.
    open: usize,
}

impl<'p> Translator<'p> {
    fn new(pattern: &'p str) -> Self {
        Self {
            pattern,
            pos: 0,
            out: String::with_capacity(pattern.len() + 16),
            repetition: None,
            repeatable: false,
            open: 0,
        }
    }

    fn rest(&self) -> &'p str {
        self.pattern.get(self.pos..).unwrap_or_default()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.pos += next.len_utf8();
        Some(next)
    }

    fn run(mut self) -> Result<String, String> {
        let mut start = self.pos;
        while let Some(character) = self.next() {
            let mut repeatable = true;
            match character {
                '\\' => self.escape(start, false)?,
                '[' => self.class(start)?,
                '*' | '+' | '?' => {
                    self.repeat(start)?;
                    start = self.pos;
                    continue;
                }
                '{' if repetition_len(self.rest()).is_some() => {
                    self.pos += repetition_len(self.rest()).unwrap_or(0);
                    let counts = &self.pattern[start..self.pos];
                    if !counts_fit(counts) {
                        return Err(format!("invalid repeat count: `{counts}`"));
                    }
                    self.repeat(start)?;
                    start = self.pos;
                    continue;
                }
                '{' | '}' => {
                    self.out.push('\\');
                    self.out.push(character);
                }
                '(' => {
                    repeatable = false;
                    self.group(start)?;
                }
                ')' => {
                    self.open = self.open.checked_sub(1).ok_or_else(|| self.unexpected_end())?;
                    self.out.push(')');
                }
                '|' => {
                    repeatable = false;
                    self.out.push('|');
                }
                other => self.out.push(other),
            }
            self.repeatable = repeatable;
            self.repetition = None;
            start = self.pos;
        }
        Ok(self.out)
    }

    fn unexpected_end(&self) -> String {
        format!("unexpected ): `{}`", self.pattern)
    }

    /// What lies between `start` and here repeats what stands before it.
    fn repeat(&mut self, start: usize) -> Result<(), String> {
        if self.rest().starts_with('?') {
            self.pos += 1;
        }
        let operator = &self.pattern[start..self.pos];
        let before = self.repetition.map_or(start, |before| before);
        if self.repetition.is_some() {
            let both = &self.pattern[before..self.pos];
            return Err(format!("invalid nested repetition operator: `{both}`"));
        }
        if !self.repeatable {
            return Err(format!("missing argument to repetition operator: `{operator}`"));
        }
        self.out.push_str(operator);
        self.repetition = Some(start);
        Ok(())
    }

    /// After an opening parenthesis: a name or flags, which are those that Go knows, are taken too.
    fn group(&mut self, start: usize) -> Result<(), String> {
        self.out.push('(');
        self.open += 1;
        let Some(flags) = self.rest().strip_prefix('?') else {
            return Ok(());
        };
        if flags.starts_with("P<") || (flags.starts_with('<') && !flags.starts_with("<=") && !flags.starts_with("<!")) {
            return match flags.find('>') {
                Some(end) => self.head(end + 1),
                None => Err(format!("invalid named capture: `{}`", &self.pattern[start..])),
            };
        }
        for (at, flag) in flags.char_indices() {
            match flag {
                'i' | 'm' | 's' | 'U' | '-' => {}
                ':' => return self.head(at + 1),
                ')' => {
                    self.open -= 1;
                    return self.head(at + 1);
                }
                other => {
                    let end = start + 2 + at + other.len_utf8();
                    let shown = self.pattern.get(start..end).unwrap_or(self.pattern);
                    return Err(format!("invalid or unsupported Perl syntax: `{shown}`"));
                }
            }
        }
        let shown = &self.pattern[start..];
        Err(format!("invalid or unsupported Perl syntax: `{shown}`"))
    }

    /// Takes a question mark and the `length` bytes behind it as they are.
    fn head(&mut self, length: usize) -> Result<(), String> {
        let head = &self.rest()[..=length];
        self.out.push_str(head);
        self.pos += head.len();
        Ok(())
    }

    /// After an opening bracket. A hyphen means a range only between two single characters.
    fn class(&mut self, start: usize) -> Result<(), String> {
        self.out.push('[');
        if self.rest().starts_with('^') {
            self.pos += 1;
            self.out.push('^');
        }
        let mut first = true;
        while first || !self.rest().starts_with(']') {
            first = false;
            if self.named_class()? || self.class_of_characters()? {
                continue;
            }
            let at = self.pos;
            let low = self.class_character(start)?;
            self.push_character(low);
            let Some(after) = self.rest().strip_prefix('-') else {
                continue;
            };
            if after.starts_with(']') {
                continue;
            }
            self.pos += 1;
            let high = self.class_character(start)?;
            if high < low {
                let range = &self.pattern[at..self.pos];
                return Err(format!("invalid character class range: `{range}`"));
            }
            self.out.push('-');
            self.push_character(high);
        }
        self.pos += 1;
        self.out.push(']');
        Ok(())
    }

    /// A class such as `[:alpha:]` inside of another one, if it stands here.
    fn named_class(&mut self) -> Result<bool, String> {
        let Some(length) = self.rest().strip_prefix("[:").and_then(|name| name.find(":]")) else {
            return Ok(false);
        };
        let class = &self.rest()[..length + 4];
        let name = class.trim_start_matches("[:").trim_end_matches(":]");
        if !CLASSES.contains(&name.strip_prefix('^').unwrap_or(name)) {
            return Err(format!("invalid character class range: `{class}`"));
        }
        self.out.push_str(class);
        self.pos += class.len();
        Ok(true)
    }

    /// An escape inside of a class that stands for several characters, if one stands here.
    fn class_of_characters(&mut self) -> Result<bool, String> {
        let several = self
            .rest()
            .strip_prefix('\\')
            .is_some_and(|tail| tail.starts_with(['d', 'w', 's', 'D', 'W', 'S', 'p', 'P']));
        if several {
            let start = self.pos;
            self.pos += 1;
            self.escape(start, true)?;
        }
        Ok(several)
    }

    /// One character of a class that began at `start`.
    fn class_character(&mut self, start: usize) -> Result<char, String> {
        let at = self.pos;
        match self.next() {
            None => Err(format!("missing closing ]: `{}`", &self.pattern[start..])),
            Some('\\') => self.escaped_character(at),
            Some(other) => Ok(other),
        }
    }

    fn push_character(&mut self, character: char) {
        if character.is_ascii_alphanumeric() {
            self.out.push(character);
        } else {
            self.out.push_str(&format!("\\x{{{:x}}}", u32::from(character)));
        }
    }

    /// After a backslash at `start` that stands before one character, in whatever way it is written.
    fn escaped_character(&mut self, start: usize) -> Result<char, String> {
        let Some(escaped) = self.next() else {
            return Err("trailing backslash at end of expression: ``".into());
        };
        let found = match escaped {
            '0'..='7' => {
                let more = self.digits(2, 8);
                let alone = escaped != '0' && more == 0;
                self.pos += more;
                let code = u32::from_str_radix(&self.pattern[start + 1..self.pos], 8).ok();
                code.filter(|_| !alone).and_then(char::from_u32)
            }
            'x' => self.hexadecimal(),
            'a' => Some('\x07'),
            'f' => Some('\x0c'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\x0b'),
            other if other.is_ascii() && !other.is_ascii_alphanumeric() => Some(other),
            _ => None,
        };
        found.ok_or_else(|| format!("invalid escape sequence: `{}`", &self.pattern[start..self.pos]))
    }

    /// Two digits, or as many as stand in braces.
    fn hexadecimal(&mut self) -> Option<char> {
        let braces = self.rest().starts_with('{');
        self.pos += usize::from(braces);
        let length = self.digits(if braces { usize::MAX } else { 2 }, 16);
        let code = u32::from_str_radix(&self.rest()[..length], 16).ok();
        self.pos += length;
        let whole = if braces { self.next() == Some('}') } else { length == 2 };
        code.filter(|_| whole).and_then(char::from_u32)
    }

    /// How many digits of that base stand here, `most` at most.
    fn digits(&self, most: usize, base: u32) -> usize {
        self.rest()
            .bytes()
            .take(most)
            .take_while(|byte| char::from(*byte).is_digit(base))
            .count()
    }

    /// After a backslash at `start`.
    fn escape(&mut self, start: usize, in_class: bool) -> Result<(), String> {
        let Some(escaped) = self.next() else {
            return Err("trailing backslash at end of expression: ``".into());
        };
        match escaped {
            'd' | 'w' | 's' | 'D' | 'W' | 'S' => {
                let class = match escaped.to_ascii_lowercase() {
                    'd' => "0-9",
                    'w' => "0-9A-Za-z_",
                    _ => "\\t\\n\\f\\r ",
                };
                let opposite = escaped.is_ascii_uppercase();
                if in_class && !opposite {
                    self.out.push_str(class);
                } else {
                    self.out.push_str(if opposite { "[^" } else { "[" });
                    self.out.push_str(class);
                    self.out.push(']');
                }
            }
            'b' | 'B' if !in_class => {
                self.out.push_str("(?-u:\\");
                self.out.push(escaped);
                self.out.push(')');
            }
            'Q' if !in_class => {
                let rest = self.rest();
                let literal = rest.find("\\E").map_or(rest, |end| &rest[..end]);
                self.out.push_str(&regex::escape(literal));
                self.pos += (literal.len() + 2).min(rest.len());
            }
            'E' if !in_class => {}
            'A' | 'z' => {
                self.out.push('\\');
                self.out.push(escaped);
            }
            'p' | 'P' => {
                let rest = self.rest();
                let length = if rest.starts_with('{') {
                    rest.find('}').map_or(rest.len(), |end| end + 1)
                } else {
                    rest.chars().next().map_or(0, char::len_utf8)
                };
                self.pos += length;
                let property = &self.pattern[start..self.pos];
                if Regex::new(property).is_err() {
                    return Err(format!("invalid character class range: `{property}`"));
                }
                self.out.push_str(property);
            }
            _ => {
                self.pos = start + 1;
                let character = self.escaped_character(start)?;
                self.push_character(character);
            }
        }
        Ok(())
    }
}

/// Whether the numbers of a repetition in braces are small enough, and in order.
fn counts_fit(counts: &str) -> bool {
    let mut counts = counts.trim_matches(['{', '}']).split(',').map(str::parse::<usize>);
    let least = counts.next().and_then(Result::ok).unwrap_or(usize::MAX);
    // None at all, or no number behind the comma, means no other bound.
    let most = counts.next().and_then(Result::ok);
    least <= MOST_REPEATS && most.is_none_or(|most| most <= MOST_REPEATS && least <= most)
}

/// The length of `n}`, `n,}` or `n,m}` behind a brace.
fn repetition_len(tail: &str) -> Option<usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(tail);
    let after = tail.get(first..).filter(|_| first > 0)?;
    if after.starts_with('}') {
        return Some(first + 1);
    }
    let second = after.strip_prefix(',')?;
    let length = digits(second);
    second[length..].starts_with('}').then_some(first + length + 2)
}

/// RE2's words for the mistakes that are made most.
fn reason(pattern: &str, error: &regex::Error) -> String {
    if matches!(error, regex::Error::CompiledTooBig(_)) {
        return "expression too large".into();
    }
    let text = error.to_string();
    let text = text
        .lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned();
    match text.as_str() {
        "unclosed group" => format!("missing closing ): `{pattern}`"),
        "unopened group" => format!("unexpected ): `{pattern}`"),
        text => format!("{text}: `{pattern}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_ascii() {
        assert!(!compile(r"^\d$").unwrap().is_match("٣"));
        assert!(!compile(r"^[\w]$").unwrap().is_match("é"));
        assert!(compile(r"^\W$").unwrap().is_match("é"));
        assert!(compile(r"^.$").unwrap().is_match("é"));
    }

    #[test]
    fn braces_and_brackets_that_mean_nothing_stand_for_themselves() {
        for (pattern, text) in [
            ("^a{$", "a{"),
            ("^{{x}}$", "{{x}}"),
            ("^a{,5}$", "a{,5}"),
            ("^a{2}$", "aa"),
            ("^[[a]$", "["),
            ("^[&&]$", "&"),
            ("^[+--]$", ","),
            ("^[a-]$", "-"),
            ("^[]a]$", "]"),
            ("^[[:alpha:]]$", "x"),
            (r"^\Qa.b\E$", "a.b"),
            (r"^\<$", "<"),
            (r"^[\w-\.]+$", "a-."),
            (r"^[\w-a]+$", "a-"),
            (r"^[\d-x]+$", "1-x"),
            (r"^[a-\x63]+$", "abc"),
            (r"^[\x{61}-c]+$", "abc"),
            (r"^[*-\-]+$", "*+,-"),
            (r"^[\101\n-]+$", "A\n-"),
        ] {
            assert!(compile(pattern).unwrap().is_match(text), "{pattern}");
        }
    }

    #[test]
    fn groups_may_have_flags_and_names() {
        for (pattern, text) in [
            ("(?i)^abc$", "ABC"),
            ("^(?:a|b)+$", "abab"),
            ("^(?i:a)b$", "Ab"),
            ("(?s)^a.b$", "a\nb"),
            ("(?m-i)^b$", "a\nb"),
            ("^(?P<n>a)(?<m>b)?$", "ab"),
            ("^((?:a)*)$", "aa"),
        ] {
            assert!(compile(pattern).unwrap().is_match(text), "{pattern}");
        }
        assert!(!compile("^(?i:a)b$").unwrap().is_match("AB"));
        for (pattern, reason) in [
            ("(?*)", "invalid or unsupported Perl syntax: `(?*`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("a(?i", "invalid or unsupported Perl syntax: `(?i`"),
            ("a(?P<n", "invalid named capture: `(?P<n`"),
            ("(?:*a)", "missing argument to repetition operator: `*`"),
        ] {
            assert_eq!(
                compile(pattern).unwrap_err(),
                format!("error parsing regexp: {reason}"),
                "{pattern}"
            );
        }
    }

    #[test]
    fn a_pattern_that_explodes_is_refused() {
        assert_eq!(
            compile("((a{1000}){1000}){1000}").unwrap_err(),
            "error parsing regexp: expression too large"
        );
    }
}
