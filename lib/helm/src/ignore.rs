//! `.helmignore`: which files of a chart's directory are no part of the chart.
//!
//! Upstream concept: Helm's ignore rules. They look like git's but are not: patterns are shell patterns, `**` is
//! refused, and a negated pattern takes away everything that it does not match.

use crate::pattern::Pattern;

/// Why rules are refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// `**`
    #[error("double-star (**) syntax is not supported")]
    DoubleStar,
    /// A pattern that can never be matched.
    #[error("syntax error in pattern")]
    Pattern,
}

/// The rules of one chart; they hold for the charts inside it too.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    /// None matches nothing.
    pattern: Option<Pattern>,
    part: Part,
    negated: bool,
    directories_only: bool,
}

/// What of a path a pattern is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The last element.
    Base,
    /// All of it.
    Path,
}

impl Rules {
    /// Reads a `.helmignore`, or an empty text where there is none: hidden files in `templates/` are always ignored.
    ///
    /// # Errors
    /// A line is no pattern.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut rules = Vec::new();
        for line in text.lines() {
            rules.extend(rule(line)?);
        }
        rules.extend(rule("templates/.?*")?);
        Ok(Self(rules))
    }

    /// Whether a path, relative to the chart, is left out.
    #[must_use]
    pub fn ignores(&self, path: &str, directory: bool) -> bool {
        let base = path.rsplit('/').next().unwrap_or(path);
        for rule in &self.0 {
            let subject = match rule.part {
                Part::Base => base,
                Part::Path => path,
            };
            let matched = rule.pattern.as_ref().is_some_and(|pattern| pattern.matches(subject));
            if rule.negated {
                if (rule.directories_only && !directory) || !matched {
                    return true;
                }
                continue;
            }
            if matched && (directory || !rule.directories_only) {
                return true;
            }
        }
        false
    }
}

fn rule(line: &str) -> Result<Option<Rule>, Error> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if line.contains("**") {
        return Err(Error::DoubleStar);
    }
    if Pattern::parse(line).is_none() {
        return Err(Error::Pattern);
    }
    let (negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (directories_only, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
    let (part, line) = match line.strip_prefix('/') {
        Some(rest) => (Part::Path, rest),
        None if line.contains('/') => (Part::Path, line),
        None => (Part::Base, line),
    };
    Ok(Some(Rule {
        pattern: Pattern::parse(line),
        part,
        negated,
        directories_only,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_choose_by_base_by_path_and_by_kind() {
        let rules = Rules::parse("# comment\n*.md\n/top.txt\nci/\ndocs/*.png\n").unwrap();
        for (path, directory, ignored) in [
            ("README.md", false, true),
            ("sub/README.md", false, true),
            ("top.txt", false, true),
            ("sub/top.txt", false, false),
            ("ci", true, true),
            ("ci", false, false),
            ("a/ci", true, true),
            ("docs/x.png", false, true),
            ("a/docs/x.png", false, false),
            ("templates/.hidden", false, true),
            ("templates/x.yaml", false, false),
            ("values.yaml", false, false),
        ] {
            assert_eq!(rules.ignores(path, directory), ignored, "{path}");
        }
    }

    #[test]
    fn a_negated_rule_takes_away_what_it_does_not_match() {
        let rules = Rules::parse("!*.yaml").unwrap();
        assert!(rules.ignores("README.md", false));
        assert!(!rules.ignores("values.yaml", false));
    }

    #[test]
    fn broken_rules_are_refused() {
        assert_eq!(Rules::parse("a/**/b").unwrap_err(), Error::DoubleStar);
        assert_eq!(Rules::parse("[").unwrap_err(), Error::Pattern);
    }
}
