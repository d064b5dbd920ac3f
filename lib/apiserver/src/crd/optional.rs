//! Optional selections in CEL (`self.?a`, `self.list[?0]`, `x.optMap(v, e)`), rewritten to what the evaluator reads.
//!
//! The evaluator knows optional values and their methods but not the syntax that makes them. Indexing an optional value
//! gives another one, empty where nothing is there, so `a.?b.c` means what `optional.of(a)["b"]["c"]` means: after the
//! first question mark every selection of the same chain is optional.

/// The expression without optional syntax; the same text where there is none.
pub(crate) fn plain(expression: &str) -> String {
    let mut text: Vec<char> = expression.chars().collect();
    while let Some(at) = question(&text) {
        let start = operand(&text, at);
        let base: String = text[start..at].iter().collect();
        let (chain, end) = chain(&text, at);
        let rest: String = text[end..].iter().collect();
        let before: String = text[..start].iter().collect();
        text = format!("{before}optional.of({}){chain}{rest}", base.trim())
            .chars()
            .collect();
    }
    while let Some((at, flat)) = mapping(&text) {
        let Some((variable, body, end)) = arguments(&text, at) else {
            break;
        };
        let start = operand(&text, at);
        let base: String = text[start..at].iter().collect();
        let base = base.trim();
        let mapped = format!("[{base}.value()].map({variable}, {body})[0]");
        let some = if flat { mapped } else { format!("optional.of({mapped})") };
        let rest: String = text[end..].iter().collect();
        let before: String = text[..start].iter().collect();
        text = format!("{before}({base}.hasValue() ? {some} : optional.none()){rest}")
            .chars()
            .collect();
    }
    text.into_iter().collect()
}

/// For every character whether it stands in a string literal (its quotes included).
fn quoted(text: &[char]) -> Vec<bool> {
    let mut inside = vec![false; text.len()];
    let mut quote = None;
    let mut at = 0;
    while let Some(letter) = text.get(at) {
        match quote {
            None if matches!(letter, '"' | '\'') => {
                quote = Some(*letter);
                inside[at] = true;
            }
            None => {}
            Some(end) => {
                inside[at] = true;
                if *letter == '\\' {
                    at += 1;
                    if let Some(escaped) = inside.get_mut(at) {
                        *escaped = true;
                    }
                } else if *letter == end {
                    quote = None;
                }
            }
        }
        at += 1;
    }
    inside
}

fn word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Where the first optional selection begins: its dot or bracket.
fn question(text: &[char]) -> Option<usize> {
    let inside = quoted(text);
    (1..text.len().saturating_sub(1)).find(|at| {
        if inside[*at] || text[at + 1] != '?' {
            return false;
        }
        let before = text[..*at].iter().rfind(|letter| !letter.is_whitespace());
        match text[*at] {
            '.' => true,
            // An opening bracket after an operator begins a list, whose elements may be optional too.
            '[' => before.is_some_and(|letter| word(*letter) || matches!(letter, ')' | ']')),
            _ => false,
        }
    })
}

/// Where `optMap` or `optFlatMap` is called (at its dot), and whether it is the latter.
fn mapping(text: &[char]) -> Option<(usize, bool)> {
    let inside = quoted(text);
    (0..text.len()).filter(|at| !inside[*at]).find_map(|at| {
        let rest: String = text[at..].iter().take(12).collect();
        match () {
            () if rest.starts_with(".optMap(") => Some((at, false)),
            () if rest.starts_with(".optFlatMap(") => Some((at, true)),
            () => None,
        }
    })
}

/// Where the operand that ends before `at` begins: names, calls, brackets and literals joined by dots.
fn operand(text: &[char], at: usize) -> usize {
    let inside = quoted(text);
    let mut start = at;
    loop {
        while start > 0 && text[start - 1].is_whitespace() {
            start -= 1;
        }
        let Some(last) = start.checked_sub(1) else {
            return start;
        };
        if inside[last] {
            while start > 0 && inside[start - 1] {
                start -= 1;
            }
        } else if word(text[last]) {
            start = name(text, start);
        } else if matches!(text[last], ')' | ']' | '}') {
            start = opening(text, &inside, last);
            // What is called or indexed belongs to it.
            if start > 0 && (word(text[start - 1]) || matches!(text[start - 1], ')' | ']')) {
                continue;
            }
        } else {
            return start;
        }
        let before = text[..start].iter().rposition(|letter| !letter.is_whitespace());
        match before {
            Some(dot) if text[dot] == '.' => start = dot,
            _ => return start,
        }
    }
}

fn name(text: &[char], end: usize) -> usize {
    text[..end]
        .iter()
        .rposition(|letter| !word(*letter))
        .map_or(0, |at| at + 1)
}

/// The bracket that the one at `end` closes.
fn opening(text: &[char], inside: &[bool], end: usize) -> usize {
    let mut depth = 0_usize;
    for at in (0..=end).rev() {
        match text[at] {
            _ if inside[at] => {}
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    0
}

/// The bracket that closes the one at `start`.
fn closing(text: &[char], start: usize) -> Option<usize> {
    let inside = quoted(text);
    let mut depth = 0_usize;
    for at in start..text.len() {
        match text[at] {
            _ if inside[at] => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The selections that begin at `at`, as indexes, and where they end: at a method or at an operator.
fn chain(text: &[char], mut at: usize) -> (String, usize) {
    let mut indexes = String::new();
    loop {
        let optional = text.get(at + 1) == Some(&'?');
        let first = if optional { at + 2 } else { at + 1 };
        match text.get(at) {
            Some('.') => {
                let end = (first..text.len()).find(|at| !word(text[*at])).unwrap_or(text.len());
                if end == first || text.get(end) == Some(&'(') {
                    return (indexes, at);
                }
                let field: String = text[first..end].iter().collect();
                indexes.push_str(&format!("[\"{field}\"]"));
                at = end;
            }
            Some('[') => {
                let Some(end) = closing(text, at) else {
                    return (indexes, at);
                };
                let key: String = text[first..end].iter().collect();
                indexes.push_str(&format!("[{}]", plain(key.trim())));
                at = end + 1;
            }
            _ => return (indexes, at),
        }
    }
}

/// The variable and the body of a mapping called at `at`, and where the call ends.
fn arguments(text: &[char], at: usize) -> Option<(String, String, usize)> {
    let open = (at..text.len()).find(|at| text[*at] == '(')?;
    let close = closing(text, open)?;
    let comma = (open..close).find(|at| text[*at] == ',')?;
    let part = |from: usize, to: usize| text[from..to].iter().collect::<String>().trim().to_owned();
    Some((part(open + 1, comma), part(comma + 1, close), close + 1))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn optional_selections_become_indexes_of_optional_values() {
        for (expression, wanted) in [
            ("self.a == 1", "self.a == 1"),
            ("self.?a.orValue(1) == 1", r#"optional.of(self)["a"].orValue(1) == 1"#),
            (
                "!self.?a.b.?c.hasValue()",
                r#"!optional.of(self)["a"]["b"]["c"].hasValue()"#,
            ),
            ("self.l[?0].orValue('')", "optional.of(self.l)[0].orValue('')"),
            (
                "size(self.f(x).?a['.?'].value()) > 0 || y.?b.hasValue()",
                r#"size(optional.of(self.f(x))["a"]['.?'].value()) > 0 || optional.of(y)["b"].hasValue()"#,
            ),
            ("'a.?b' in self", "'a.?b' in self"),
            ("self.c ? [?x] : []", "self.c ? [?x] : []"),
            (
                "self.?a.optMap(v, v + 1).orValue(0)",
                r#"(optional.of(self)["a"].hasValue() ? optional.of([optional.of(self)["a"].value()].map(v, v + 1)[0]) : optional.none()).orValue(0)"#,
            ),
        ] {
            assert_eq!(plain(expression), wanted, "{expression}");
        }
    }
}
