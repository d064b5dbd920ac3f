//! Shell patterns over paths: whether a name matches.
//!
//! Upstream concept: Go's `path/filepath.Match`, which `.helmignore` and `--show-only` use: `*` and `?` stay within a
//! path element, `[a-z]` and `[^a-z]` are classes, a backslash takes the next character as it is.

use std::ops::RangeInclusive;
use std::str::Chars;

/// Whether the whole name matches. `None` where the pattern is broken.
pub(crate) fn matches(pattern: &str, name: &str) -> Option<bool> {
    Some(Pattern::parse(pattern)?.matches(name))
}

/// A pattern that is held against many names.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    elements: Vec<Element>,
    /// The plain characters at the end: most names are told by them.
    tail: String,
}

#[derive(Clone, Debug)]
enum Element {
    /// `*`
    Star,
    /// `?`
    Any,
    /// `[…]`
    Class {
        negated: bool,
        ranges: Vec<RangeInclusive<char>>,
    },
    Plain(char),
}

impl Pattern {
    /// Reads a pattern. `None` where it is broken.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rest = text.chars();
        let mut elements = Vec::new();
        while let Some(character) = rest.next() {
            elements.push(match character {
                '*' => Element::Star,
                '?' => Element::Any,
                '[' => class(&mut rest)?,
                '\\' => Element::Plain(rest.next()?),
                plain => Element::Plain(plain),
            });
        }
        let plain = |element: &Element| match element {
            Element::Plain(character) => Some(*character),
            _ => None,
        };
        let mut tail: Vec<char> = elements.iter().rev().map_while(plain).collect();
        tail.reverse();
        Some(Self {
            elements,
            tail: tail.into_iter().collect(),
        })
    }

    /// Whether the whole name matches. Takes one element after the other; on a mismatch the last star takes one
    /// character more. Quadratic in time at worst.
    pub(crate) fn matches(&self, name: &str) -> bool {
        if !name.ends_with(&self.tail) {
            return false;
        }
        let (mut at, mut rest) = (0, name);
        let mut star: Option<(usize, &str)> = None;
        loop {
            if let Some(Element::Star) = self.elements.get(at) {
                at += 1;
                star = Some((at, rest));
                continue;
            }
            let mut characters = rest.chars();
            let fits = match (self.elements.get(at), characters.next()) {
                (None, None) => return true,
                (Some(element), Some(found)) => element.takes(found),
                _ => false,
            };
            if fits {
                at += 1;
                rest = characters.as_str();
                continue;
            }
            // What the star would have to swallow must be there and must not be a separator.
            let Some((back, from)) = star else { return false };
            let mut swallowed = from.chars();
            if swallowed.next().is_none_or(|next| next == '/') {
                return false;
            }
            at = back;
            rest = swallowed.as_str();
            star = Some((back, rest));
        }
    }
}

impl Element {
    fn takes(&self, found: char) -> bool {
        match self {
            Self::Star => false,
            Self::Any => found != '/',
            Self::Class { negated, ranges } => ranges.iter().any(|range| range.contains(&found)) != *negated,
            Self::Plain(plain) => *plain == found,
        }
    }
}

/// A class, from behind its bracket. `None` where it is broken.
fn class(rest: &mut Chars<'_>) -> Option<Element> {
    let mut negated = false;
    if let Some(inside) = rest.as_str().strip_prefix('^') {
        negated = true;
        *rest = inside.chars();
    }
    let mut ranges = Vec::new();
    loop {
        if let Some(behind) = rest.as_str().strip_prefix(']')
            && !ranges.is_empty()
        {
            *rest = behind.chars();
            return Some(Element::Class { negated, ranges });
        }
        let low = member(rest)?;
        let mut high = low;
        if let Some(behind) = rest.as_str().strip_prefix('-') {
            *rest = behind.chars();
            high = member(rest)?;
        }
        ranges.push(low..=high);
    }
}

fn member(rest: &mut Chars<'_>) -> Option<char> {
    match rest.next()? {
        '-' | ']' => None,
        '\\' => rest.next(),
        plain => Some(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_path_element() {
        for (pattern, name, expected) in [
            ("*.yaml", "a.yaml", Some(true)),
            ("*.yaml", "d/a.yaml", Some(false)),
            ("d/*", "d/a", Some(true)),
            ("d/*", "d/a/b", Some(false)),
            ("a*b*c", "aXbYbZc", Some(true)),
            ("a?c", "a/c", Some(false)),
            ("[a-c]x", "bx", Some(true)),
            ("[^a-c]x", "bx", Some(false)),
            ("\\*", "*", Some(true)),
            ("**", "a/b", Some(false)),
            ("", "", Some(true)),
            ("*", "", Some(true)),
            ("[", "x", None),
            ("a\\", "a", None),
            ("[]a]", "a", None),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
