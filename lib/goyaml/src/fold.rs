//! A folded text becomes what is left of it once go-yaml v3 has written it folded and read it again.
//!
//! A line break of the text is written as an empty line, because a single break would be read as a blank. go-yaml writes
//! the empty line before lines that begin with a blank too, where breaks stay as they are, and none at all where the
//! whole text begins with a blank.

use crate::style;

/// What a folded text says after it was written and read once.
pub(crate) fn written_and_read(text: &str) -> String {
    if !text.contains('\n') || !style::fits_block(text) {
        return text.to_owned();
    }
    let content = text.trim_start_matches('\n');
    let mut out = text[..text.len() - content.len()].to_owned();
    let doubles = !begins_blank(content);
    let mut rest = content;
    while let Some(end) = rest.find('\n') {
        let (line, tail) = rest.split_at(end);
        rest = tail.trim_start_matches('\n');
        out.push_str(line);
        let breaks = tail.len() - rest.len();
        let written = breaks + usize::from(doubles && !begins_blank(line));
        if rest.is_empty() {
            // One break at the end is cut to one, more of them are kept.
            out.extend(std::iter::repeat_n('\n', if breaks > 1 { written } else { 1 }));
        } else if begins_blank(line) || begins_blank(rest) {
            out.extend(std::iter::repeat_n('\n', written));
        } else if written == 1 {
            out.push(' ');
        } else {
            out.extend(std::iter::repeat_n('\n', written - 1));
        }
    }
    out.push_str(rest);
    out
}

fn begins_blank(text: &str) -> bool {
    text.starts_with([' ', '\t'])
}
