//! Environment variables that tests of this crate read.

/// Whether tests write their expectations anew instead of comparing.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub(crate) fn update_expect() -> bool {
    std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1")
}
