//! Semantic versions and constraints on them, as Helm understands them.
//!
//! Upstream concept: Masterminds/semver v3: lenient versions (`v1.2`), constraints with `,`, spaces and `||`, partial
//! versions and wildcards, and pre-releases that only match constraints which name one.

use std::cmp::Ordering;
use std::fmt;

/// A version text that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is no version.
    #[error("invalid semantic version")]
    ParseVersion,
    /// A numeric part of a pre-release has a zero in front.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// The text is no constraint.
    #[error("improper constraint: \"{0}\"")]
    ParseConstraint(String),
}

/// A version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// First number.
    pub major: u64,
    /// Second number.
    pub minor: u64,
    /// Third number.
    pub patch: u64,
    /// What follows `-`.
    pub pre: String,
    /// What follows `+`; it does not count in comparisons.
    pub metadata: String,
    /// The text it was read from.
    pub original: String,
}

impl Version {
    /// Reads a version; a `v` in front and missing numbers are tolerated.
    ///
    /// # Errors
    /// The text is no version.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (numbers, pre, metadata) = split(text).ok_or(Error::ParseVersion)?;
        let mut parts = [0u64; 3];
        for (count, number) in numbers.split('.').enumerate() {
            let slot = parts.get_mut(count).ok_or(Error::ParseVersion)?;
            if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(Error::ParseVersion);
            }
            *slot = number.parse().map_err(|_| Error::ParseVersion)?;
        }
        let well_formed = |text: &str| {
            text.split('.')
                .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
        };
        if [pre, metadata].into_iter().flatten().any(|text| !well_formed(text)) {
            return Err(Error::ParseVersion);
        }
        let padded = |part: &str| part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit());
        if pre.is_some_and(|pre| pre.split('.').any(padded)) {
            return Err(Error::LeadingZero);
        }
        Ok(Self {
            major: parts[0],
            minor: parts[1],
            patch: parts[2],
            pre: pre.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        })
    }

    /// Orders two versions; metadata does not count.
    pub fn compare(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| compare_pre(&self.pre, &other.pre))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

/// Numbers, pre-release and metadata of a version text.
fn split(text: &str) -> Option<(&str, Option<&str>, Option<&str>)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (rest, metadata) = match text.split_once('+') {
        Some((rest, metadata)) => (rest, Some(metadata)),
        None => (text, None),
    };
    let (numbers, pre) = match rest.split_once('-') {
        Some((numbers, pre)) => (numbers, Some(pre)),
        None => (rest, None),
    };
    (!numbers.is_empty()).then_some((numbers, pre, metadata))
}

fn compare_pre(left: &str, right: &str) -> Ordering {
    match (left.is_empty(), right.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(left), Some(right)) => match (left.parse::<u64>(), right.parse::<u64>()) {
                (Ok(left), Ok(right)) => left.cmp(&right),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => left.cmp(right),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Tilde,
    Caret,
}

/// One comparison with a version of which parts may be left open.
#[derive(Clone, Debug)]
struct Comparison {
    operator: Operator,
    version: Version,
    /// Every number is left open.
    open_major: bool,
    /// The minor number is left open (then the patch number is too).
    open_minor: bool,
    open_patch: bool,
    /// Anything is left open.
    open: bool,
}

/// A constraint: alternatives of comparisons that must all hold.
#[derive(Clone, Debug)]
pub struct Constraint {
    alternatives: Vec<Vec<Comparison>>,
}

impl Constraint {
    /// Reads a constraint.
    ///
    /// # Errors
    /// The text is no constraint.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = &with_ranges_as_bounds(text);
        let improper = || Error::ParseConstraint(text.clone());
        let mut alternatives = Vec::new();
        for alternative in text.split("||") {
            let mut words = Words { rest: alternative };
            let mut comparisons = Vec::new();
            while let Some((operator, version)) = words.next().map_err(|()| improper())? {
                comparisons.push(Comparison::parse(operator, version).ok_or_else(improper)?);
            }
            if comparisons.is_empty() {
                return Err(improper());
            }
            alternatives.push(comparisons);
        }
        Ok(Self { alternatives })
    }

    /// Whether a version satisfies the constraint.
    pub fn allows(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|all| {
            // A pre-release only matches where the alternative speaks of pre-releases.
            let speaks = all.iter().any(|comparison| !comparison.version.pre.is_empty());
            (version.pre.is_empty() || speaks) && all.iter().all(|comparison| comparison.allows(version))
        })
    }
}

/// Writes ranges such as `1.2 - 2.0` as two bounds. What stands before a range, an operator even, stays before them.
fn with_ranges_as_bounds(text: &str) -> String {
    let is_version = |c: char| c.is_ascii_alphanumeric() || ".*+-".contains(c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(" - ") {
        let (lead, lower) = before
            .trim_end()
            .split_at(before.trim_end().trim_end_matches(is_version).len());
        let after = after.trim_start();
        let (upper, tail) = after.split_at(after.find(|c| !is_version(c)).unwrap_or(after.len()));
        if lower.is_empty() || upper.is_empty() {
            break;
        }
        out.push_str(lead.trim_end());
        out.push_str(&format!(">= {lower}, <= {upper} "));
        rest = tail.trim_start();
    }
    out.push_str(rest);
    out
}

/// Reads operator and version, one pair after the other.
struct Words<'t> {
    rest: &'t str,
}

impl<'t> Words<'t> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }

    fn next(&mut self) -> Result<Option<(Operator, &'t str)>, ()> {
        self.skip();
        if self.rest.is_empty() {
            return Ok(None);
        }
        let len = self
            .rest
            .find(|c: char| !"=!<>~^".contains(c))
            .unwrap_or(self.rest.len());
        let operator = match &self.rest[..len] {
            "" | "=" | "==" if len < 2 => Operator::Equal,
            "!=" => Operator::NotEqual,
            ">" => Operator::Greater,
            "<" => Operator::Less,
            ">=" | "=>" => Operator::GreaterEqual,
            "<=" | "=<" => Operator::LessEqual,
            "~" | "~>" => Operator::Tilde,
            "^" => Operator::Caret,
            _ => return Err(()),
        };
        self.rest = self.rest[len..].trim_start();
        let len = self
            .rest
            .find(|c: char| c.is_whitespace() || c == ',' || "=!<>~^|".contains(c))
            .unwrap_or(self.rest.len());
        let (version, rest) = self.rest.split_at(len);
        self.rest = rest;
        if version.is_empty() {
            Err(())
        } else {
            Ok(Some((operator, version)))
        }
    }
}

impl Comparison {
    fn parse(operator: Operator, text: &str) -> Option<Self> {
        let (numbers, pre, metadata) = split(text)?;
        let wild = |part: &str| matches!(part, "x" | "X" | "*");
        let parts: Vec<&str> = numbers.split('.').collect();
        if parts.len() > 3 {
            return None;
        }
        let open_at = parts.iter().position(|part| wild(part)).unwrap_or(parts.len()).min(3);
        let tail = match (pre, metadata) {
            (Some(pre), Some(metadata)) => format!("-{pre}+{metadata}"),
            (Some(pre), None) => format!("-{pre}"),
            (None, Some(metadata)) => format!("+{metadata}"),
            (None, None) => String::new(),
        };
        let fixed = |index: usize| {
            if index < open_at {
                parts.get(index).copied().unwrap_or("0")
            } else {
                "0"
            }
        };
        if parts
            .iter()
            .any(|part| !wild(part) && !part.bytes().all(|byte| byte.is_ascii_digit()))
        {
            return None;
        }
        let version = Version::parse(&format!("{}.{}.{}{tail}", fixed(0), fixed(1), fixed(2))).ok()?;
        let operator = if open_at == 0 && matches!(operator, Operator::Equal | Operator::Tilde) {
            Operator::GreaterEqual
        } else {
            operator
        };
        Some(Self {
            operator,
            version,
            open_major: open_at == 0,
            open_minor: open_at < 2,
            open_patch: open_at < 3,
            open: open_at < 3,
        })
    }

    fn allows(&self, version: &Version) -> bool {
        let bound = &self.version;
        let order = version.compare(bound);
        match self.operator {
            Operator::Equal if self.open => self.tilde(version),
            Operator::Equal => order.is_eq(),
            Operator::NotEqual if self.open => {
                // Where even the first number is open, the version is taken for 0.0.0.
                if self.open_major {
                    return order.is_ne();
                }
                version.major != bound.major || (!self.open_minor && version.minor != bound.minor)
            }
            Operator::NotEqual => order.is_ne(),
            Operator::Greater if self.open => {
                if version.major != bound.major {
                    version.major > bound.major
                } else {
                    !self.open_minor && version.minor > bound.minor
                }
            }
            Operator::Greater => order.is_gt(),
            Operator::Less => order.is_lt(),
            Operator::GreaterEqual => order.is_ge(),
            Operator::LessEqual if self.open => {
                version.major < bound.major
                    || (version.major == bound.major && (self.open_minor || version.minor <= bound.minor))
            }
            Operator::LessEqual => order.is_le(),
            Operator::Tilde => self.tilde(version),
            Operator::Caret => self.caret(version),
        }
    }

    fn tilde(&self, version: &Version) -> bool {
        let bound = &self.version;
        if version.compare(bound).is_lt() {
            return false;
        }
        if (bound.major, bound.minor, bound.patch) == (0, 0, 0) && !self.open {
            return true;
        }
        version.major == bound.major && (self.open_minor || version.minor == bound.minor)
    }

    fn caret(&self, version: &Version) -> bool {
        let bound = &self.version;
        if version.compare(bound).is_lt() || version.major != bound.major {
            return false;
        }
        if bound.major > 0 || self.open_minor && !self.open_major {
            return true;
        }
        if version.minor != bound.minor {
            return false;
        }
        bound.minor > 0 || self.open_patch && !self.open_major || version.patch == bound.patch
    }
}
