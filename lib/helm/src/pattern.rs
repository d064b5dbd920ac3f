//! Shell patterns over paths: whether a name matches.
//!
//! Upstream concept: Go's `path/filepath.Match`, which `.helmignore` and `--show-only` use: `*` and `?` stay within a
//! path element, `[a-z]` and `[^a-z]` are classes, a backslash takes the next character as it is.

/// Whether the whole name matches. `None` where the pattern is broken.
pub(crate) fn matches(pattern: &str, name: &str) -> Option<bool> {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    well_formed(&pattern).then(|| run(&pattern, &name))
}

/// Takes one element after the other; on a mismatch the last star takes one character more. Linear in memory,
/// quadratic in time at worst.
fn run(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut pos) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, pos));
            at += 1;
            continue;
        }
        let step = match (pattern.get(at), name.get(pos)) {
            (None, None) => return true,
            (Some(_), Some(found)) => one(pattern, at, *found),
            _ => None,
        };
        match (step, star) {
            (Some(width), _) => {
                at += width;
                pos += 1;
            }
            // What the star would have to swallow must be there and must not be a separator.
            (None, Some((back, from))) if name.get(from).is_some_and(|next| *next != '/') => {
                star = Some((back, from + 1));
                at = back + 1;
                pos = from + 1;
            }
            (None, _) => return false,
        }
    }
}

/// The width of the pattern's element at `at` if it takes the character.
fn one(pattern: &[char], at: usize, found: char) -> Option<usize> {
    match pattern.get(at)? {
        '?' => (found != '/').then_some(1),
        '[' => {
            let (end, inside) = class(pattern, at, found)?;
            inside.then_some(end - at)
        }
        '\\' => (*pattern.get(at + 1)? == found).then_some(2),
        plain => (*plain == found).then_some(1),
    }
}

/// Where a class ends, and whether it holds the character. `None` where it is broken.
fn class(pattern: &[char], at: usize, found: char) -> Option<(usize, bool)> {
    let mut at = at + 1;
    let negated = pattern.get(at) == Some(&'^');
    if negated {
        at += 1;
    }
    let mut inside = false;
    let mut ranges = 0;
    loop {
        if pattern.get(at) == Some(&']') && ranges > 0 {
            return Some((at + 1, inside != negated));
        }
        let (low, next) = member(pattern, at)?;
        at = next;
        let mut high = low;
        if pattern.get(at) == Some(&'-') {
            (high, at) = member(pattern, at + 1)?;
        }
        inside |= (low..=high).contains(&found);
        ranges += 1;
    }
}

fn member(pattern: &[char], at: usize) -> Option<(char, usize)> {
    match pattern.get(at)? {
        '-' | ']' => None,
        '\\' => Some((*pattern.get(at + 1)?, at + 2)),
        plain => Some((*plain, at + 1)),
    }
}

fn well_formed(pattern: &[char]) -> bool {
    let mut at = 0;
    while let Some(character) = pattern.get(at) {
        at = match character {
            '[' => match class(pattern, at, '\0') {
                Some((end, _)) => end,
                None => return false,
            },
            '\\' if at + 1 >= pattern.len() => return false,
            '\\' => at + 2,
            _ => at + 1,
        };
    }
    true
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
