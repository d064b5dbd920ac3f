//! Two outputs become a verdict. What differs between two runs of the real program (random names, keys, times) is no
//! reason for a difference.

/// The first place where outputs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// From 1.
    pub(crate) line: usize,
    /// The `# Source:` it lies under.
    pub(crate) source: String,
    /// The line of the real program.
    pub(crate) real: String,
    /// Ours.
    pub(crate) ours: String,
}

/// Compares ours with one run of the real program, or with several where it prints something else each time.
///
/// The rule: runs of the real program that print equally many lines are laid side by side. A line that is the same in
/// all of them must be the same in ours. In a line that is not, what is left and right of the varying part, up to the
/// next character that is no letter, digit or one of `+/=_-`, must be the same in ours; the varying part must be there.
pub(crate) fn difference(real: &[&str], ours: &str) -> Option<Difference> {
    let (first, others) = real.split_first()?;
    let theirs: Vec<&str> = first.split('\n').collect();
    let others: Vec<Vec<&str>> = others.iter().map(|text| text.split('\n').collect()).collect();
    let mine: Vec<&str> = ours.split('\n').collect();
    let mut source = String::new();
    for line in 0..theirs.len().max(mine.len()) {
        let (expected, found) = (theirs.get(line).copied(), mine.get(line).copied());
        if let Some(path) = expected.and_then(|text| text.strip_prefix("# Source: ")) {
            path.clone_into(&mut source);
        }
        let same = match (expected, found) {
            (Some(expected), Some(found)) => {
                let variants: Vec<&str> = others.iter().filter_map(|other| other.get(line).copied()).collect();
                expected == found || fits(expected, &variants, found)
            }
            _ => false,
        };
        if !same {
            return Some(Difference {
                line: line + 1,
                source,
                real: expected.unwrap_or("(end of output)").to_owned(),
                ours: found.unwrap_or("(end of output)").to_owned(),
            });
        }
    }
    None
}

/// Whether a line is what a varying line allows.
fn fits(expected: &str, variants: &[&str], found: &str) -> bool {
    let mut varies = false;
    let (mut left, mut right) = (expected.len(), expected.len());
    for variant in variants.iter().filter(|variant| **variant != expected) {
        varies = true;
        left = left.min(common(expected.bytes(), variant.bytes()));
        right = right.min(common(expected.bytes().rev(), variant.bytes().rev()));
    }
    if !varies {
        return false;
    }
    let bytes = expected.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte);
    while left > 0 && inner(&bytes[left - 1]) {
        left -= 1;
    }
    let mut right = bytes.len() - right.min(bytes.len() - left);
    while right < bytes.len() && inner(&bytes[right]) {
        right += 1;
    }
    let (prefix, suffix) = (&bytes[..left], &bytes[right..]);
    let found = found.as_bytes();
    found.len() > prefix.len() + suffix.len() && found.starts_with(prefix) && found.ends_with(suffix)
}

fn common(one: impl Iterator<Item = u8>, other: impl Iterator<Item = u8>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_differing_line_is_named_with_its_source() {
        let found = difference(&["---\n# Source: a/b.yaml\nx: 1\n"], "---\n# Source: a/b.yaml\nx: 2\n").unwrap();
        assert_eq!((found.line, found.source.as_str()), (3, "a/b.yaml"));
        assert_eq!((found.real.as_str(), found.ours.as_str()), ("x: 1", "x: 2"));
        assert_eq!(difference(&["a\n"], "a\n"), None);
        assert_eq!(difference(&["a\n"], "a").unwrap().line, 2);
    }

    #[test]
    fn what_varies_between_two_runs_may_vary_in_ours() {
        let runs = [
            "name: x-k3j2h\npassword: \"abc1\"\n",
            "name: x-9sd8f\npassword: \"abd2\"\n",
        ];
        assert_eq!(difference(&runs, "name: x-aaaaa\npassword: \"zzzz\"\n"), None);
        assert_eq!(
            difference(&runs, "other: x-aaaaa\npassword: \"zzzz\"\n").unwrap().line,
            1
        );
        assert_eq!(difference(&runs, "name: x-aaaaa\npassword: \"\"\n").unwrap().line, 2);
        assert_eq!(difference(&runs, "name: x-aaaaa\npassword: zzzz\n").unwrap().line, 2);
    }
}
