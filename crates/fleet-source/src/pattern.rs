//! Shell patterns as Go's `path/filepath` reads them: `*`, `?`, `[a-z]`, `[^a]` and `\`, none of
//! which crosses a `/`. Used for paths of a repository, `.fleetignore` and credentials by path.

/// A pattern with an unfinished class or a dangling backslash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("syntax error in pattern")]
pub struct BadPattern;

/// True if the pattern contains anything but literal characters.
#[must_use]
pub fn has_meta(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '\\'])
}

/// Whether the whole name matches.
///
/// # Errors
/// A malformed pattern, as far as the match got to see it.
pub fn matches(pattern: &str, name: &str) -> Result<bool, BadPattern> {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    step(&pattern, &name)
}

fn step(pattern: &[char], name: &[char]) -> Result<bool, BadPattern> {
    // Backtracks to the last star only, which is enough and keeps the work quadratic.
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let advanced = match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
                true
            }
            Some('?') => match name.get(n) {
                Some(c) if *c != '/' => {
                    (p, n) = (p + 1, n + 1);
                    true
                }
                _ => false,
            },
            Some('[') => {
                let (end, hit) = class(pattern, p + 1, name.get(n).copied())?;
                if hit {
                    (p, n) = (end, n + 1);
                }
                hit
            }
            Some('\\') => {
                let c = pattern.get(p + 1).ok_or(BadPattern)?;
                let hit = name.get(n) == Some(c);
                if hit {
                    (p, n) = (p + 2, n + 1);
                }
                hit
            }
            Some(c) => {
                let hit = name.get(n) == Some(c);
                if hit {
                    (p, n) = (p + 1, n + 1);
                }
                hit
            }
            None if n == name.len() => return Ok(true),
            None => false,
        };
        if advanced {
            continue;
        }
        match star {
            Some((at, from)) if from < name.len() && name[from] != '/' => {
                star = Some((at, from + 1));
                (p, n) = (at + 1, from + 1);
            }
            _ => return Ok(false),
        }
    }
}

/// Reads a class from after its `[`: where it ends, and whether the character is in it.
fn class(pattern: &[char], mut at: usize, c: Option<char>) -> Result<(usize, bool), BadPattern> {
    let negated = pattern.get(at) == Some(&'^');
    if negated {
        at += 1;
    }
    let mut hit = false;
    let mut first = true;
    loop {
        match pattern.get(at) {
            Some(']') if !first => {
                at += 1;
                break;
            }
            None => return Err(BadPattern),
            Some(_) => {
                let low = member(pattern, &mut at)?;
                let high = if pattern.get(at) == Some(&'-') {
                    at += 1;
                    member(pattern, &mut at)?
                } else {
                    low
                };
                hit |= c.is_some_and(|c| low <= c && c <= high);
                first = false;
            }
        }
    }
    Ok((at, c.is_some_and(|c| c != '/') && hit != negated))
}

fn member(pattern: &[char], at: &mut usize) -> Result<char, BadPattern> {
    let c = match pattern.get(*at) {
        None | Some('-' | ']') => return Err(BadPattern),
        Some('\\') => {
            *at += 1;
            *pattern.get(*at).ok_or(BadPattern)?
        }
        Some(c) => *c,
    };
    *at += 1;
    Ok(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, name, expected) in [
            ("*", "abc", true),
            ("a*", "a/b", false),
            ("a?c", "abc", true),
            ("[a-c]x", "bx", true),
            ("[^a]x", "ax", false),
            ("a*b*c", "axxbyyc", true),
            ("\\*", "*", true),
            ("*/x", "a/x", true),
            ("**/x", "a/x", true),
            ("**/x", "a/b/x", false),
            ("", "", true),
            ("a", "b", false),
            ("*x", "xxx", true),
        ] {
            assert_eq!(matches(pattern, name), Ok(expected), "{pattern} {name}");
        }
        assert_eq!(matches("[", "a"), Err(BadPattern));
        assert_eq!(matches("[]a]", "]"), Err(BadPattern));
        assert_eq!(matches("a\\", "a"), Err(BadPattern));
    }
}
