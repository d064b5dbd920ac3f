//! Name rules: whether a text may be an object's name, a label's key or value, a port's name and so on.
//!
//! Each function returns the list of complaints, empty when the text is fine, in upstream's wording
//! (`apimachinery/util/validation`). Never changes a name.

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_TEXT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const SUBDOMAIN_TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const LABEL_1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const LABEL_1035_TEXT: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const QUALIFIED: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const QUALIFIED_TEXT: &str =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const VALUE: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const VALUE_TEXT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const CONFIG_KEY: &str = "[-._a-zA-Z0-9]+";
const CONFIG_KEY_TEXT: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";

fn with_expression(text: &str, expression: &str, examples: &[&str]) -> String {
    if examples.is_empty() {
        return format!("{text} (regex used for validation is '{expression}')");
    }
    let examples: Vec<String> = examples.iter().map(|e| format!("'{e}', ")).collect();
    format!(
        "{text} (e.g. {}regex used for validation is '{expression}')",
        examples.join(" or ")
    )
}

fn over(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

fn is_lower_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

fn is_qualified_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// DNS label (RFC 1123), at most 63 characters: names of namespaces.
pub fn dns_label(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(over(63));
    }
    if !is_lower_label(text) {
        if !text.is_empty() && text.split('.').all(is_lower_label) {
            problems.push("must not contain dots".to_owned());
        } else {
            problems.push(with_expression(LABEL_TEXT, LABEL, &["my-name", "123-abc"]));
        }
    }
    problems
}

/// DNS subdomain (RFC 1123), at most 253 characters: names of most objects.
pub fn dns_subdomain(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 253 {
        problems.push(over(253));
    }
    if !text.split('.').all(is_lower_label) {
        problems.push(with_expression(SUBDOMAIN_TEXT, SUBDOMAIN, &["example.com"]));
    }
    problems
}

/// DNS label (RFC 1035: starts with a letter), at most 63 characters.
pub fn dns_1035_label(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(over(63));
    }
    if !is_lower_label(text) || !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        problems.push(with_expression(LABEL_1035_TEXT, LABEL_1035, &["my-name", "abc-123"]));
    }
    problems
}

/// A text that can be one segment of a URL path: names of RBAC objects.
pub fn path_segment(text: &str) -> Vec<String> {
    if text == "." || text == ".." {
        return vec![format!("may not be '{text}'")];
    }
    ["/", "%"]
        .iter()
        .filter(|bad| text.contains(**bad))
        .map(|bad| format!("may not contain '{bad}'"))
        .collect()
}

/// The key of a label or annotation: an optional DNS prefix, a slash, a name of at most 63 characters.
pub fn qualified(text: &str) -> Vec<String> {
    let examples = ["MyName", "my.name", "123-abc"];
    let parts: Vec<&str> = text.split('/').collect();
    let mut problems = Vec::new();
    let name = match parts.as_slice() {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_owned());
            } else {
                problems.extend(dns_subdomain(prefix).into_iter().map(|p| format!("prefix part {p}")));
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                with_expression(QUALIFIED_TEXT, QUALIFIED, &examples)
            )];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        problems.push(format!("name part {}", over(63)));
    }
    if !is_qualified_part(name) {
        problems.push(format!(
            "name part {}",
            with_expression(QUALIFIED_TEXT, QUALIFIED, &examples)
        ));
    }
    problems
}

/// The value of a label: empty or at most 63 characters.
pub fn label_value(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(over(63));
    }
    if !text.is_empty() && !is_qualified_part(text) {
        problems.push(with_expression(VALUE_TEXT, VALUE, &["MyValue", "my_value", "12345"]));
    }
    problems
}

/// A key of a ConfigMap's or Secret's data.
pub fn config_key(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 253 {
        problems.push(over(253));
    }
    if text.is_empty()
        || !text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    {
        problems.push(with_expression(
            CONFIG_KEY_TEXT,
            CONFIG_KEY,
            &["key.name", "KEY_NAME", "key-name"],
        ));
    } else if text == "." {
        problems.push("must not be '.'".to_owned());
    } else if text == ".." {
        problems.push("must not be '..'".to_owned());
    } else if text.starts_with("..") {
        problems.push("must not start with '..'".to_owned());
    }
    problems
}

/// The name of a container's or Service's port (IANA service name).
pub fn port_name(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 15 {
        problems.push("must be no more than 15 characters".to_owned());
    }
    if !text
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    {
        problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.bytes().any(|b| b.is_ascii_lowercase()) {
        problems.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        problems.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        problems.push("must not begin or end with a hyphen".to_owned());
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subdomains_allow_dots_but_not_empty_parts() {
        for good in ["a", "a.b", "a-b.c0", "0"] {
            assert!(dns_subdomain(good).is_empty(), "{good}");
        }
        for bad in ["", "A", "a..b", ".a", "a.", "-a", "a-", "a_b", "é"] {
            assert_eq!(dns_subdomain(bad).len(), 1, "{bad}");
        }
        assert_eq!(dns_subdomain(&"a".repeat(254)), ["must be no more than 253 characters"]);
    }

    #[test]
    fn dots_in_a_label_get_their_own_words() {
        assert_eq!(dns_label("a.b"), ["must not contain dots"]);
        assert!(dns_label("A.b")[0].starts_with("a lowercase RFC 1123 label"));
    }

    #[test]
    fn label_keys_have_an_optional_prefix() {
        for good in ["a", "A_b.c-d", "example.com/A"] {
            assert!(qualified(good).is_empty(), "{good}");
        }
        assert_eq!(qualified("/a"), ["prefix part must be non-empty"]);
        assert_eq!(qualified("").len(), 2);
        assert!(qualified("a/b/c")[0].contains("optional DNS subdomain prefix"));
    }

    #[test]
    fn label_values_may_be_empty() {
        assert!(label_value("").is_empty());
        assert!(!label_value("a b").is_empty());
        assert!(!label_value("-a").is_empty());
        assert!(!label_value(&"a".repeat(64)).is_empty());
    }
}
