//! An error and all its causes as one line: `a: b: c`. The only place where causes are joined,
//! because no `Display` of ours repeats its source. A cause that the text already ends with is
//! left out (libraries do repeat theirs).

/// The messages of `error` and of its sources, joined by `: `.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let message = cause.to_string();
        if !message.is_empty() && !text.ends_with(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::chain;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] Inner);
    #[derive(Debug, thiserror::Error)]
    #[error("inner")]
    struct Inner;
    #[derive(Debug, thiserror::Error)]
    #[error("library: inner")]
    struct Repeats(#[source] Inner);

    #[test]
    fn causes_are_joined_once() {
        assert_eq!(chain(&Outer(Inner)), "outer: inner");
        assert_eq!(chain(&Repeats(Inner)), "library: inner");
    }
}
