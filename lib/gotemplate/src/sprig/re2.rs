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

struct Translator<'p> {
    pattern: &'p str,
    pos: usize,
    out: String,
    /// Where the repetition began that was read last, if nothing followed it.
    repetition: Option<usize>,
    /// Whether there is something to repeat.
    repeatable: bool,
}

impl<'p> Translator<'p> {
    fn new(pattern: &'p str) -> Self {
        Self {
            pattern,
            pos: 0,
            out: String::with_capacity(pattern.len() + 16),
            repetition: None,
            repeatable: false,
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

    /// What lies between `start` and here repeats what stands before it.
    fn repeat(&mut self, start: usize) -> Result<(), String> {
        let operator = &self.pattern[start..self.pos];
        let before = self.repetition.map_or(start, |before| before);
        if self.repetition.is_some() {
            let both = &self.pattern[before..self.pos];
            return Err(format!("invalid nested repetition operator: `{both}`"));
        }
        if !self.repeatable {
            return Err(format!("missing argument to repetition operator: `{operator}`"));
        }
        let mut counts = operator.trim_matches(['{', '}']).split(',');
        if counts.any(|count| count.parse::<usize>().is_ok_and(|count| count > MOST_REPEATS)) {
            return Err(format!("invalid repeat count: `{operator}`"));
        }
        self.out.push_str(operator);
        if self.rest().starts_with('?') {
            self.pos += 1;
            self.out.push('?');
        }
        self.repetition = Some(start);
        Ok(())
    }

    /// After an opening parenthesis: a name or flags, which are those that Go knows, are taken too.
    fn group(&mut self, start: usize) -> Result<(), String> {
        self.out.push('(');
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
                ':' | ')' => return self.head(at + 1),
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

    fn class(&mut self, start: usize) -> Result<(), String> {
        let unclosed = || format!("missing closing ]: `{}`", &self.pattern[start..]);
        let unclosed = unclosed();
        self.out.push('[');
        if self.rest().starts_with('^') {
            self.pos += 1;
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let at = self.pos;
            match self.next().ok_or_else(|| unclosed.clone())? {
                ']' if !first => {
                    self.out.push(']');
                    return Ok(());
                }
                '\\' => self.escape(at, true)?,
                '[' => {
                    // Only the name of a class such as [:alpha:] is more than a bracket.
                    let name = self.rest().strip_prefix(':').and_then(|name| name.find(":]"));
                    match name {
                        Some(length) => {
                            self.pos += length + 3;
                            self.out.push_str(&self.pattern[at..self.pos]);
                        }
                        None => self.out.push_str("\\["),
                    }
                }
                special @ (']' | '&' | '~') => {
                    self.out.push('\\');
                    self.out.push(special);
                }
                '-' if self.rest().starts_with('-') => self.out.push_str("\\-"),
                other => {
                    let high = self.rest().strip_prefix('-').and_then(|tail| tail.chars().next());
                    if let Some(high) = high.filter(|high| !matches!(high, ']' | '[' | '\\')) {
                        if high < other {
                            return Err(format!("invalid character class range: `{other}-{high}`"));
                        }
                        self.pos += 1 + high.len_utf8();
                        self.out.push(other);
                        self.out.push('-');
                        self.out.push_str(&regex::escape(&high.to_string()));
                        first = false;
                        continue;
                    }
                    self.out.push(other);
                }
            }
            first = false;
        }
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
            '0'..='7' => {
                let rest = self.rest();
                let more = rest
                    .bytes()
                    .take(2)
                    .take_while(|byte| matches!(byte, b'0'..=b'7'))
                    .count();
                if escaped != '0' && more == 0 {
                    return Err(format!("invalid escape sequence: `\\{escaped}`"));
                }
                let code = u32::from_str_radix(&self.pattern[start + 1..self.pos + more], 8).unwrap_or(0);
                self.pos += more;
                self.out.push_str(&format!("\\x{{{code:x}}}"));
            }
            'A' | 'z' | 'b' | 'B' | 'a' | 'f' | 'n' | 'r' | 't' | 'v' | 'p' | 'P' | 'x' => {
                self.out.push('\\');
                self.out.push(escaped);
                if matches!(escaped, 'x' | 'p' | 'P') && self.rest().starts_with('{') {
                    let end = self.rest().find('}').map_or(self.rest().len(), |end| end + 1);
                    self.out.push_str(&self.rest()[..end]);
                    self.pos += end;
                }
            }
            letter if letter.is_ascii_alphanumeric() => {
                return Err(format!("invalid escape sequence: `\\{letter}`"));
            }
            '<' | '>' => self.out.push(escaped),
            other if other.is_ascii() => {
                self.out.push('\\');
                self.out.push(other);
            }
            other => return Err(format!("invalid escape sequence: `\\{other}`")),
        }
        Ok(())
    }
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
